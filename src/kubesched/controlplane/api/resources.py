"""The resources that are served, as data: groups, versions, names, verbs, subresources.

From here come routing, discovery, storage and authorisation. Resources that share a `store` are one set of objects in
several versions (events, autoscalers).
"""

from collections.abc import Callable, Iterable
from typing import Any, Protocol

import msgspec

from kubesched.controlplane.api.documents import Document

ALL_VERBS = ("create", "delete", "deletecollection", "get", "list", "patch", "update", "watch")


class CustomKind(Protocol):
    """One version of a kind that a CustomResourceDefinition defines: what the verbs ask its resource for."""

    singular: str
    list_kind: str
    stored_version: str
    schema: Document
    scale: Document
    warnings: list[str]
    # typed where they are used, since their types know of resources
    strategy: Any
    decoder: Any
    field_type: Any
    printer: Any

    def to_storage(self, document: Document) -> Document:
        """Return a document that says that it is of the version that is stored."""

    def from_storage(self, document: Document) -> Document:
        """Return a stored document in this version, changed in place."""

    def kept(self, document: Document) -> Document:
        """Return a document as it is stored, changed in place."""

    def config_problems(self, config: Any) -> list[Any]:
        """Return the problems of a configuration that is applied."""


class Resource(msgspec.Struct, frozen=True):
    """One resource in one version.

    `subresources` maps a name to its verbs; `store` names the set of objects; without verbs beyond `create` nothing is
    kept (reviews). One that is defined while the server runs brings along what is particular to it (`custom`).
    """

    group: str
    version: str
    plural: str
    kind: str
    namespaced: bool = True
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    subresources: dict[str, tuple[str, ...]] = {}
    same_store_as: str = ""
    custom: CustomKind | None = None

    @property
    def api_version(self) -> str:
        """Return the version as objects carry it."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def qualified(self) -> str:
        """Return the name with its group, as messages have it."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def singular(self) -> str:
        """Return the name of one."""
        return self.kind.lower() if self.custom is None else self.custom.singular

    @property
    def list_kind(self) -> str:
        """Return the kind of a list of them."""
        return f"{self.kind}List" if self.custom is None else self.custom.list_kind

    @property
    def store(self) -> str:
        """Return the name of the set of objects."""
        return self.same_store_as or self.qualified


_STATUS = {"status": ("get", "patch", "update")}
_SCALE = {"scale": ("get", "patch", "update")}
_REVIEW = ("create",)
# made when it is asked for
_READ = ("get", "list")
# what is passed on to nodes
_STREAM = ("create", "get")
_PROXY = {"proxy": ("create", "delete", "get", "patch", "update")}


def _core() -> tuple[Resource, ...]:
    def core(plural: str, kind: str, *short: str, **more: object) -> Resource:
        return Resource("", "v1", plural, kind, short_names=short, **more)  # type: ignore[arg-type]

    pod_subresources = {
        **_STATUS,
        **_PROXY,
        "attach": _STREAM,
        "binding": ("create",),
        "ephemeralcontainers": ("get", "patch", "update"),
        "eviction": ("create",),
        "exec": _STREAM,
        "log": ("get",),
        "portforward": _STREAM,
        "resize": ("get", "patch", "update"),
    }
    return (
        core("pods", "Pod", "po", categories=("all",), subresources=pod_subresources),
        core("bindings", "Binding", verbs=("create",)),
        core("nodes", "Node", "no", namespaced=False, subresources={**_STATUS, **_PROXY}),
        core(
            "namespaces",
            "Namespace",
            "ns",
            namespaced=False,
            verbs=tuple(verb for verb in ALL_VERBS if verb != "deletecollection"),
            subresources={**_STATUS, "finalize": ("update",)},
        ),
        core("services", "Service", "svc", categories=("all",), subresources={**_STATUS, **_PROXY}),
        core("endpoints", "Endpoints", "ep"),
        core(
            "replicationcontrollers",
            "ReplicationController",
            "rc",
            categories=("all",),
            subresources={**_STATUS, **_SCALE},
        ),
        core("persistentvolumes", "PersistentVolume", "pv", namespaced=False, subresources=_STATUS),
        core("persistentvolumeclaims", "PersistentVolumeClaim", "pvc", subresources=_STATUS),
        core("configmaps", "ConfigMap", "cm"),
        core("secrets", "Secret"),
        core("serviceaccounts", "ServiceAccount", "sa", subresources={"token": ("create",)}),
        core("podtemplates", "PodTemplate"),
        core("resourcequotas", "ResourceQuota", "quota", subresources=_STATUS),
        core("limitranges", "LimitRange", "limits"),
        core("events", "Event", "ev"),
    )


def _grouped(group: str, version: str, *rows: Resource) -> tuple[Resource, ...]:
    return tuple(msgspec.structs.replace(row, group=group, version=version) for row in rows)


def _r(plural: str, kind: str, *short: str, **more: object) -> Resource:
    return Resource("", "", plural, kind, short_names=short, **more)  # type: ignore[arg-type]


_SCALABLE = {**_STATUS, **_SCALE}
_AUTOSCALERS = _r(
    "horizontalpodautoscalers", "HorizontalPodAutoscaler", "hpa", categories=("all",), subresources=_STATUS
)

RESOURCES: tuple[Resource, ...] = (
    *_core(),
    *_grouped("events.k8s.io", "v1", _r("events", "Event", "ev", same_store_as="events")),
    *_grouped(
        "apps",
        "v1",
        _r("deployments", "Deployment", "deploy", categories=("all",), subresources=_SCALABLE),
        _r("replicasets", "ReplicaSet", "rs", categories=("all",), subresources=_SCALABLE),
        _r("statefulsets", "StatefulSet", "sts", categories=("all",), subresources=_SCALABLE),
        _r("daemonsets", "DaemonSet", "ds", categories=("all",), subresources=_STATUS),
        _r("controllerrevisions", "ControllerRevision"),
    ),
    *_grouped(
        "batch",
        "v1",
        _r("jobs", "Job", categories=("all",), subresources=_STATUS),
        _r("cronjobs", "CronJob", "cj", categories=("all",), subresources=_STATUS),
    ),
    *_grouped("autoscaling", "v2", _AUTOSCALERS),
    *_grouped(
        "autoscaling", "v1", msgspec.structs.replace(_AUTOSCALERS, same_store_as=f"{_AUTOSCALERS.plural}.autoscaling")
    ),
    *_grouped(
        "metrics.k8s.io",
        "v1beta1",
        _r("nodes", "NodeMetrics", namespaced=False, verbs=_READ),
        _r("pods", "PodMetrics", verbs=_READ),
    ),
    *_grouped("node.k8s.io", "v1", _r("runtimeclasses", "RuntimeClass", namespaced=False)),
    *_grouped(
        "networking.k8s.io",
        "v1",
        _r("ingresses", "Ingress", "ing", subresources=_STATUS),
        _r("ingressclasses", "IngressClass", namespaced=False),
        _r("networkpolicies", "NetworkPolicy", "netpol"),
        _r("servicecidrs", "ServiceCIDR", namespaced=False, subresources=_STATUS),
        _r("ipaddresses", "IPAddress", "ip", namespaced=False),
    ),
    *_grouped("discovery.k8s.io", "v1", _r("endpointslices", "EndpointSlice")),
    *_grouped("policy", "v1", _r("poddisruptionbudgets", "PodDisruptionBudget", "pdb", subresources=_STATUS)),
    *_grouped("scheduling.k8s.io", "v1", _r("priorityclasses", "PriorityClass", "pc", namespaced=False)),
    *_grouped(
        "scheduling.k8s.io",
        "v1alpha2",
        _r("podgroups", "PodGroup", subresources=_STATUS),
        _r("workloads", "Workload"),
    ),
    *_grouped("coordination.k8s.io", "v1", _r("leases", "Lease")),
    *_grouped("coordination.k8s.io", "v1beta1", _r("leasecandidates", "LeaseCandidate")),
    *_grouped(
        "storage.k8s.io",
        "v1",
        _r("storageclasses", "StorageClass", "sc", namespaced=False),
        _r("csinodes", "CSINode", namespaced=False),
        _r("csidrivers", "CSIDriver", namespaced=False),
        _r("csistoragecapacities", "CSIStorageCapacity"),
        _r("volumeattachments", "VolumeAttachment", namespaced=False, subresources=_STATUS),
        _r("volumeattributesclasses", "VolumeAttributesClass", "vac", namespaced=False),
    ),
    *_grouped(
        "resource.k8s.io",
        "v1",
        _r("deviceclasses", "DeviceClass", namespaced=False),
        _r("resourceclaims", "ResourceClaim", subresources=_STATUS),
        _r("resourceclaimtemplates", "ResourceClaimTemplate"),
        _r("resourceslices", "ResourceSlice", namespaced=False),
    ),
    *_grouped(
        "resource.k8s.io", "v1beta2", _r("devicetaintrules", "DeviceTaintRule", namespaced=False, subresources=_STATUS)
    ),
    *_grouped(
        "admissionregistration.k8s.io",
        "v1",
        _r(
            "validatingwebhookconfigurations",
            "ValidatingWebhookConfiguration",
            namespaced=False,
            categories=("api-extensions",),
        ),
        _r(
            "mutatingwebhookconfigurations",
            "MutatingWebhookConfiguration",
            namespaced=False,
            categories=("api-extensions",),
        ),
        _r(
            "validatingadmissionpolicies",
            "ValidatingAdmissionPolicy",
            namespaced=False,
            categories=("api-extensions",),
            subresources=_STATUS,
        ),
        _r(
            "validatingadmissionpolicybindings",
            "ValidatingAdmissionPolicyBinding",
            namespaced=False,
            categories=("api-extensions",),
        ),
        _r(
            "mutatingadmissionpolicies",
            "MutatingAdmissionPolicy",
            namespaced=False,
            categories=("api-extensions",),
        ),
        _r(
            "mutatingadmissionpolicybindings",
            "MutatingAdmissionPolicyBinding",
            namespaced=False,
            categories=("api-extensions",),
        ),
    ),
    *_grouped(
        "apiregistration.k8s.io",
        "v1",
        _r("apiservices", "APIService", namespaced=False, categories=("api-extensions",), subresources=_STATUS),
    ),
    *_grouped(
        "certificates.k8s.io",
        "v1",
        _r(
            "certificatesigningrequests",
            "CertificateSigningRequest",
            "csr",
            namespaced=False,
            subresources={"approval": ("get", "patch", "update"), **_STATUS},
        ),
    ),
    *_grouped(
        "flowcontrol.apiserver.k8s.io",
        "v1",
        _r("flowschemas", "FlowSchema", namespaced=False, subresources=_STATUS),
        _r("prioritylevelconfigurations", "PriorityLevelConfiguration", namespaced=False, subresources=_STATUS),
    ),
    *_grouped(
        "apiextensions.k8s.io",
        "v1",
        _r(
            "customresourcedefinitions",
            "CustomResourceDefinition",
            "crd",
            "crds",
            namespaced=False,
            categories=("api-extensions",),
            subresources=_STATUS,
        ),
    ),
    *_grouped(
        "rbac.authorization.k8s.io",
        "v1",
        _r("roles", "Role"),
        _r("rolebindings", "RoleBinding"),
        _r("clusterroles", "ClusterRole", namespaced=False),
        _r("clusterrolebindings", "ClusterRoleBinding", namespaced=False),
    ),
    *_grouped(
        "authentication.k8s.io",
        "v1",
        _r("tokenreviews", "TokenReview", namespaced=False, verbs=_REVIEW),
        _r("selfsubjectreviews", "SelfSubjectReview", namespaced=False, verbs=_REVIEW),
    ),
    *_grouped(
        "authorization.k8s.io",
        "v1",
        _r("subjectaccessreviews", "SubjectAccessReview", namespaced=False, verbs=_REVIEW),
        _r("selfsubjectaccessreviews", "SelfSubjectAccessReview", namespaced=False, verbs=_REVIEW),
        _r("selfsubjectrulesreviews", "SelfSubjectRulesReview", namespaced=False, verbs=_REVIEW),
        _r("localsubjectaccessreviews", "LocalSubjectAccessReview", verbs=_REVIEW),
    ),
)


class Catalog:
    """The resources, found by group, version and name."""

    def __init__(self, resources: tuple[Resource, ...] = RESOURCES) -> None:
        self._built_in = resources
        # told when there are other resources than before
        self.watchers: list[Callable[[], None]] = []
        self._take(resources)

    def define(self, resources: Iterable[Resource]) -> None:
        """Serve these resources besides the built-in ones; a built-in resource wins over one of the same name."""
        known = {(each.group, each.version, each.plural) for each in self._built_in}
        others = (each for each in resources if (each.group, each.version, each.plural) not in known)
        self._take((*self._built_in, *others))
        for told in list(self.watchers):
            told()

    def _take(self, resources: tuple[Resource, ...]) -> None:
        self.resources = resources
        self._by_path = {(each.group, each.version, each.plural): each for each in resources}
        self._by_kind = {(each.api_version, each.kind): each for each in resources}
        # the first version of those that have several
        self.by_store = {each.store: each for each in reversed(resources)}

    def find(self, group: str, version: str, plural: str) -> Resource | None:
        """Return a resource by the parts of its path."""
        return self._by_path.get((group, version, plural))

    def of_kind(self, api_version: str, kind: str) -> Resource | None:
        """Return a resource by what its objects say of themselves."""
        return self._by_kind.get((api_version, kind))

    def versions(self) -> dict[str, list[str]]:
        """Return the versions of each group, in order; the core group is the empty text."""
        found: dict[str, list[str]] = {}
        for each in self.resources:
            if each.version not in found.setdefault(each.group, []):
                found[each.group].append(each.version)
        return found

    def in_version(self, group: str, version: str) -> list[Resource]:
        """Return the resources of a group in a version."""
        return [each for each in self.resources if (each.group, each.version) == (group, version)]
