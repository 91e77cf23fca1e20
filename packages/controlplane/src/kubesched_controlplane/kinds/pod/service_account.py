"""Admission of new pods by their service account: the token volume, and image pull secrets.

From a pod and its service account to a volume, and a mount in each container that has none at that path.
"""

# upstream: plugin/pkg/admission/serviceaccount/admission.go (v1.36)

from typing import Any, Final

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.managed_fields.field_sets import MEMBER, Fields
from kubesched_controlplane.registry.strategy import StrategyContext

ACCOUNTS: Final = "serviceaccounts"
DEFAULT: Final = "default"
MIRROR: Final = "kubernetes.io/config.mirror"
VOLUME: Final = "kube-api-access-"
PLACE: Final = "/var/run/secrets/kubernetes.io/serviceaccount"
# an hour and seven seconds, as in the reference
_TOKEN_SECONDS: Final = 3607
_CONTAINERS = ("initContainers", "containers")
_LETTERS = "bcdfghjklmnpqrstvwxz2456789"


def use_account(pod: Document, context: StrategyContext) -> None:
    """Set the service account of a new pod, and add its token volume and image pull secrets.

    differs: the account need not exist; a pod that comes before it gets no token.
    """
    spec, meta = pod["spec"], pod["metadata"]
    if MIRROR in (meta.get("annotations") or {}):
        # mirror pods stay as the kubelet created them
        return
    if not spec.get("serviceAccountName"):
        spec["serviceAccountName"] = spec["serviceAccount"] = DEFAULT
    account = context.find(ACCOUNTS, meta.get("namespace", ""), spec["serviceAccountName"])
    if account is None:
        return
    if _mounts(account, spec):
        _mount(pod)
    if not spec.get("imagePullSecrets") and account.get("imagePullSecrets"):
        spec["imagePullSecrets"] = [{"name": each.get("name", "")} for each in account["imagePullSecrets"]]


def _mounts(account: Document, spec: Document) -> bool:
    """Return whether a token is mounted: as the pod, or else its service account, sets automountServiceAccountToken."""
    wanted = spec.get("automountServiceAccountToken")
    if wanted is None:
        wanted = account.get("automountServiceAccountToken")
    return wanted is not False


def _mount(pod: Document) -> None:
    spec = pod["spec"]
    name = _volume_of(spec)
    wanting = [container for container in _containers(spec) if not _is_taken(container)]
    for container in wanting:
        mount = {"name": name or _new_name(pod), "readOnly": True, "mountPath": PLACE}
        container["volumeMounts"] = [*(container.get("volumeMounts") or ()), mount]
    if wanting and not name:
        volume = {"name": _new_name(pod), "projected": _token_volume()}
        spec["volumes"] = [*(spec.get("volumes") or ()), volume]


def _volume_of(spec: Document) -> str:
    """Return the name of a pod's own token volume, an empty text if it has none."""
    return next((each["name"] for each in spec.get("volumes") or () if str(each.get("name")).startswith(VOLUME)), "")


def _containers(spec: Any) -> list[Document]:
    return [container for field in _CONTAINERS for container in spec.get(field) or ()]


def _is_taken(container: Document) -> bool:
    return any(mount.get("mountPath") == PLACE for mount in container.get("volumeMounts") or ())


def _new_name(pod: Document) -> str:
    """Return the name of a pod's token volume, derived from the pod's UID."""
    number = int(pod["metadata"]["uid"].replace("-", "")[-12:], 16)
    letters = []
    for _ in range(5):
        number, letter = divmod(number, len(_LETTERS))
        letters.append(_LETTERS[letter])
    return VOLUME + "".join(letters)


def _token_volume() -> Document:
    namespace = {"apiVersion": "v1", "fieldPath": "metadata.namespace"}
    return {
        "sources": [
            {"serviceAccountToken": {"expirationSeconds": _TOKEN_SECONDS, "path": "token"}},
            {"configMap": {"name": "kube-root-ca.crt", "items": [{"key": "ca.crt", "path": "ca.crt"}]}},
            {"downwardAPI": {"items": [{"path": "namespace", "fieldRef": namespace}]}},
        ],
        "defaultMode": 420,
    }


def mounts_without_manager(pod: Any) -> Fields:
    """Return the fields of the token volume and its mounts, which admission adds and no field manager owns."""
    spec = pod.get("spec") or {}
    if spec.get("volumes"):
        volumes: Fields = {f'k:{{"name":"{_new_name(pod)}"}}': MEMBER}
    else:
        volumes = MEMBER
    fields: Fields = {"f:volumes": volumes}
    for field in _CONTAINERS:
        found = {f'k:{{"name":"{each.get("name")}"}}': _unowned_of(each) for each in spec.get(field) or ()}
        mounts = {key: {"f:volumeMounts": below} for key, below in found.items() if below is not None}
        if mounts:
            fields[f"f:{field}"] = mounts
    if not spec.get("imagePullSecrets"):
        fields["f:imagePullSecrets"] = MEMBER
    return {"f:spec": fields}


def _unowned_of(container: Document) -> Fields | None:
    """Return the fields of the token mount in a container, None if the container has its own mount at that path."""
    if not container.get("volumeMounts"):
        return MEMBER
    return None if _is_taken(container) else {f'k:{{"mountPath":"{PLACE}"}}': MEMBER}
