"""The roles and bindings that every cluster begins with.

Goes out: documents of ClusterRole, ClusterRoleBinding, Role and RoleBinding. The scheduler has the permissions of a
cluster in which the gates GenericWorkload and DRADeviceTaintRules are on, since their kinds are served here; admin,
edit and view are not aggregated and list the kinds that are served.
"""

# upstream: plugin/pkg/auth/authorizer/rbac/bootstrappolicy/{policy,namespace_policy}.go (v1.36)

from collections.abc import Iterable

from kubesched_controlplane.access.identities import AUTHENTICATED, MASTERS, UNAUTHENTICATED
from kubesched_controlplane.access.policy import GROUP
from kubesched_controlplane.access.rules import EVERYTHING, Rule, document_of
from kubesched_controlplane.api.documents import Document

SYSTEM = "kube-system"
SCHEDULER = "system:kube-scheduler"
CONTROLLERS = "system:kube-controller-manager"
AUTHENTICATION_CONFIG = "extension-apiserver-authentication"

_READ = "get list watch"
_CHANGE = "update patch"
_READ_UPDATE = f"{_READ} {_CHANGE}"
_WRITE = "create update patch delete deletecollection"
_READ_WRITE = f"{_READ} {_WRITE}"

_CORE = ""
_LEASES = "coordination.k8s.io"
_AUTHENTICATION, _AUTHORIZATION = "authentication.k8s.io", "authorization.k8s.io"
_DEVICES, _SCHEDULING, _STORAGE = "resource.k8s.io", "scheduling.k8s.io", "storage.k8s.io"


def _on(group: str | tuple[str, ...], resources: str, verbs: str, names: str = "") -> Rule:
    groups = (group,) if isinstance(group, str) else group
    return Rule(_words(verbs), groups, _words(resources), _words(names))


def _at(paths: str) -> Rule:
    return Rule(("get",), paths=_words(paths))


def _words(text: str) -> tuple[str, ...]:
    return tuple(sorted(text.split()))


_WRITES_EVENTS = _on((_CORE, "events.k8s.io"), "events", "create update patch")
_REVIEWS_TOKENS = _on(_AUTHENTICATION, "tokenreviews", "create")
_REVIEWS_ACCESS = _on(_AUTHORIZATION, "subjectaccessreviews", "create")
_LOCKS = tuple(_on(_LEASES, kind, "get watch list create update") for kind in ("leases", "leasecandidates"))

_VIEW = (
    _on(_CORE, "pods pods/status bindings configmaps endpoints serviceaccounts services services/status", _READ),
    _on(_CORE, "pods/log", _READ),
    _on(_CORE, "replicationcontrollers replicationcontrollers/scale replicationcontrollers/status", _READ),
    _on(_CORE, "namespaces namespaces/status persistentvolumeclaims persistentvolumeclaims/status", _READ),
    _on(_CORE, "limitranges resourcequotas resourcequotas/status", _READ),
    _on((_CORE, "events.k8s.io"), "events", _READ),
    _on("apps", "controllerrevisions daemonsets daemonsets/status", _READ),
    _on("apps", "deployments deployments/scale deployments/status", _READ),
    _on("apps", "replicasets replicasets/scale replicasets/status", _READ),
    _on("apps", "statefulsets statefulsets/scale statefulsets/status", _READ),
    _on("autoscaling", "horizontalpodautoscalers horizontalpodautoscalers/status", _READ),
    _on("batch", "cronjobs cronjobs/status jobs jobs/status", _READ),
    _on("discovery.k8s.io", "endpointslices", _READ),
    _on("networking.k8s.io", "ingresses ingresses/status networkpolicies", _READ),
    _on("policy", "poddisruptionbudgets poddisruptionbudgets/status", _READ),
    _on(_DEVICES, "resourceclaims resourceclaims/status resourceclaimtemplates", _READ),
    _on(_SCHEDULING, "podgroups podgroups/status workloads", _READ),
)
_EDIT = (
    *_VIEW,
    _on(_CORE, "secrets", _READ_WRITE),
    _on(_CORE, "serviceaccounts", "impersonate"),
    _on(_CORE, "serviceaccounts/token", "create"),
    _on(_CORE, "pods configmaps persistentvolumeclaims serviceaccounts services", _WRITE),
    _on(_CORE, "replicationcontrollers replicationcontrollers/scale", _WRITE),
    _on(_CORE, "pods/eviction", "create"),
    _on(_CORE, "pods/attach pods/exec pods/portforward pods/proxy", _READ_WRITE),
    _on(_CORE, "services/proxy", _READ_WRITE),
    _on((_CORE, "events.k8s.io"), "events", _WRITE),
    _on("apps", "daemonsets deployments deployments/scale", _WRITE),
    _on("apps", "replicasets replicasets/scale statefulsets statefulsets/scale", _WRITE),
    _on("autoscaling", "horizontalpodautoscalers", _WRITE),
    _on("batch", "cronjobs jobs", _WRITE),
    _on("networking.k8s.io", "ingresses networkpolicies", _WRITE),
    _on("policy", "poddisruptionbudgets", _WRITE),
    _on(_DEVICES, "resourceclaims resourceclaimtemplates", _WRITE),
    _on(_SCHEDULING, "podgroups workloads", _WRITE),
    _on(_LEASES, "leases", _READ_WRITE),
)
_ADMIN = (
    *_EDIT,
    _on(_AUTHORIZATION, "localsubjectaccessreviews", "create"),
    _on(GROUP, "roles rolebindings", _READ_WRITE),
)

_SCHEDULER = (
    _WRITES_EVENTS,
    # leader election
    _on(_LEASES, "leases", "create"),
    _on(_LEASES, "leases", "get update list watch", "kube-scheduler"),
    _on(_LEASES, "leasecandidates", _READ_WRITE),
    # nodes, and pods to bind to them
    _on(_CORE, "nodes", _READ),
    _on(_CORE, "pods", f"{_READ} delete"),
    _on(_CORE, "pods/binding bindings", "create"),
    _on(_CORE, "pods/status", _CHANGE),
    # kinds that select pods, and kinds that pods refer to
    _on(_CORE, "services replicationcontrollers", _READ),
    _on(("apps", "extensions"), "replicasets", _READ),
    _on("apps", "statefulsets", _READ),
    _on("policy", "poddisruptionbudgets", _READ),
    _on(_CORE, "persistentvolumeclaims persistentvolumes", _READ),
    _REVIEWS_TOKENS,
    _REVIEWS_ACCESS,
    _on(_STORAGE, "csinodes", _READ),
    _on(_STORAGE, "volumeattachments", _READ),
    _on(_CORE, "namespaces", _READ),
    _on(_STORAGE, "csidrivers", _READ),
    _on(_STORAGE, "csistoragecapacities", _READ),
    # devices
    _on(_DEVICES, "deviceclasses", _READ),
    _on(_DEVICES, "resourceclaims", _READ_UPDATE),
    _on(_DEVICES, "resourceclaims/status", _READ_UPDATE),
    _on(_CORE, "pods/finalizers", "update"),
    _on(_DEVICES, "resourceslices", _READ),
    _on(_DEVICES, "resourceclaims", "create delete"),
    _on(_DEVICES, "devicetaintrules", _READ),
    _on(_DEVICES, "resourceclaims/binding", _CHANGE),
    # pod groups
    _on(_SCHEDULING, "podgroups", _READ),
    _on(_SCHEDULING, "podgroups/status", _CHANGE),
)
_VOLUME_SCHEDULER = (
    _on(_CORE, "persistentvolumes", _READ_UPDATE),
    _on(_STORAGE, "storageclasses", _READ),
    _on(_CORE, "persistentvolumeclaims", _READ_UPDATE),
)
_NODE = (
    _REVIEWS_TOKENS,
    _on(_AUTHORIZATION, "subjectaccessreviews localsubjectaccessreviews", "create"),
    _on(_CORE, "services", _READ),
    _on(_CORE, "nodes", f"create {_READ}"),
    _on(_CORE, "nodes/status", _CHANGE),
    _on(_CORE, "nodes", _CHANGE),
    _WRITES_EVENTS,
    _on(_CORE, "pods", _READ),
    _on(_CORE, "pods", "create delete"),
    _on(_CORE, "pods/status", _CHANGE),
    _on(_CORE, "pods/eviction", "create"),
    _on(_CORE, "secrets configmaps", _READ),
    _on(_CORE, "persistentvolumeclaims persistentvolumes", "get"),
    _on(_CORE, "endpoints", "get"),
    _on("certificates.k8s.io", "certificatesigningrequests", f"create {_READ}"),
    _on(_LEASES, "leases", "get create update patch delete"),
    _on(_STORAGE, "volumeattachments", "get"),
    _on(_CORE, "serviceaccounts/token", "create"),
    _on(_CORE, "persistentvolumeclaims/status", f"get {_CHANGE}"),
    _on(_STORAGE, "csidrivers", _READ),
    _on(_STORAGE, "csinodes", "get create update patch delete"),
    _on("node.k8s.io", "runtimeclasses", _READ),
    _on(_DEVICES, "resourceclaims", "get"),
    _on(_DEVICES, "resourceslices", "deletecollection"),
    _on(_CORE, "serviceaccounts", "get"),
)

_CLUSTER_ROLES: dict[str, tuple[Rule, ...]] = {
    "cluster-admin": EVERYTHING,
    "admin": _ADMIN,
    "edit": _EDIT,
    "view": _VIEW,
    "system:discovery": (
        _at("/livez /readyz /healthz /version /version/ /openapi /openapi/* /api /api/* /apis /apis/*"),
    ),
    "system:basic-user": (
        _on(_AUTHORIZATION, "selfsubjectaccessreviews selfsubjectrulesreviews", "create"),
        _on(_AUTHENTICATION, "selfsubjectreviews", "create"),
    ),
    "system:service-account-issuer-discovery": (
        _at(
            "/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/",
        ),
    ),
    "system:public-info-viewer": (_at("/livez /readyz /healthz /version /version/"),),
    "system:auth-delegator": (_REVIEWS_TOKENS, _REVIEWS_ACCESS),
    "system:kube-scheduler": _SCHEDULER,
    "system:volume-scheduler": _VOLUME_SCHEDULER,
    "system:node": _NODE,
}
_ROLES: dict[str, tuple[Rule, ...]] = {
    "extension-apiserver-authentication-reader": (_on(_CORE, "configmaps", _READ, AUTHENTICATION_CONFIG),),
    "system::leader-locking-kube-scheduler": _LOCKS,
}


def _group(name: str) -> Document:
    return {"kind": "Group", "apiGroup": GROUP, "name": name}


def _user(name: str) -> Document:
    return {"kind": "User", "apiGroup": GROUP, "name": name}


def _account(name: str) -> Document:
    return {"kind": "ServiceAccount", "name": name, "namespace": SYSTEM}


# binding -> subjects; a cluster role and its binding have the same name
_CLUSTER_ROLE_BINDINGS: dict[str, tuple[Document, ...]] = {
    "cluster-admin": (_group(MASTERS),),
    "system:discovery": (_group(AUTHENTICATED),),
    "system:basic-user": (_group(AUTHENTICATED),),
    "system:service-account-issuer-discovery": (_group("system:serviceaccounts"),),
    "system:public-info-viewer": (_group(AUTHENTICATED), _group(UNAUTHENTICATED)),
    "system:kube-scheduler": (_user(SCHEDULER),),
    "system:volume-scheduler": (_user(SCHEDULER),),
    "system:node": (),
}
# binding -> role, subjects
_ROLE_BINDINGS: dict[str, tuple[str, tuple[Document, ...]]] = {
    "system::extension-apiserver-authentication-reader": (
        "extension-apiserver-authentication-reader",
        (_user(CONTROLLERS), _user(SCHEDULER)),
    ),
    "system::leader-locking-kube-scheduler": (
        "system::leader-locking-kube-scheduler",
        (_user(SCHEDULER), _account("kube-scheduler")),
    ),
}


def default_roles() -> Iterable[Document]:
    """Return the roles and bindings that every cluster begins with."""
    for name, rules in _CLUSTER_ROLES.items():
        yield {**_object("ClusterRole", name), "rules": [document_of(rule) for rule in rules]}
    for name, subjects in _CLUSTER_ROLE_BINDINGS.items():
        yield {**_object("ClusterRoleBinding", name), **_binding("ClusterRole", name, subjects)}
    for name, rules in _ROLES.items():
        yield {**_object("Role", name, SYSTEM), "rules": [document_of(rule) for rule in rules]}
    for name, (role, subjects) in _ROLE_BINDINGS.items():
        yield {**_object("RoleBinding", name, SYSTEM), **_binding("Role", role, subjects)}


def _object(kind: str, name: str, namespace: str = "") -> Document:
    meta: Document = {"name": name}
    if namespace:
        meta["namespace"] = namespace
    meta["labels"] = {"kubernetes.io/bootstrapping": "rbac-defaults"}
    meta["annotations"] = {"rbac.authorization.kubernetes.io/autoupdate": "true"}
    return {"apiVersion": f"{GROUP}/v1", "kind": kind, "metadata": meta}


def _binding(kind: str, role: str, subjects: tuple[Document, ...]) -> Document:
    reference = {"apiGroup": GROUP, "kind": kind, "name": role}
    return {"roleRef": reference, "subjects": list(subjects)} if subjects else {"roleRef": reference}
