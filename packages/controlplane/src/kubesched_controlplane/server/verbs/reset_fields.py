"""Reset fields: the fields of a new object that its creator does not own.

From a resource and the object of a client to a set of fields. The creator owns the fields it sends and the defaults;
fields of subresources, and fields that admission and allocation add, have no manager.
"""

# upstream: pkg/registry/*/strategy.go (GetResetFields), pkg/registry/core/service/storage/alloc.go,
# pkg/registry/batch/job/strategy.go (generateSelector), plugin/pkg/admission (v1.36)

from functools import cache
from typing import Any

from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.kinds.pod.service_account import mounts_without_manager
from kubesched_controlplane.managed_fields.field_sets import MEMBER, NOTHING, Fields, union

Path = tuple[str, ...]

_STATUS: Fields = {"f:status": MEMBER}
_JOB_LABELS = ("batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid", "job-name")
# fields that admission and allocation set if the client does not
_FILLED_IN: dict[str, tuple[Path, ...]] = {
    "namespaces": (("spec", "finalizers"),),
    "pods": tuple(
        ("spec", name)
        for name in ("priority", "preemptionPolicy", "serviceAccount", "serviceAccountName", "tolerations")
    ),
    "services": tuple(("spec", name) for name in ("clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy")),
    "persistentvolumes": (("metadata", "finalizers"),),
    "persistentvolumeclaims": (("metadata", "finalizers"), ("spec", "storageClassName")),
    "jobs.batch": (
        ("spec", "selector"),
        *(("metadata", "labels", label) for label in _JOB_LABELS),
        *(("spec", "template", "metadata", "labels", label) for label in _JOB_LABELS),
    ),
}


def fields_without_manager(resource: Resource, document: Any) -> Fields:
    """Return the fields of a new object that its creator does not own; `document` is the object as sent."""
    found = _STATUS if "status" in resource.subresources else NOTHING
    for path in _FILLED_IN.get(resource.prefix, ()):
        unsaid = _unsaid(document, path)
        if unsaid:
            found = union(found, _set_of(unsaid))
    return union(found, mounts_without_manager(document)) if resource.prefix == "pods" else found


def _unsaid(document: Any, path: Path) -> Path:
    """Return the shortest prefix of a path that is missing in a document, nothing if the document has the path."""
    for number, name in enumerate(path, 1):
        document = document.get(name) if isinstance(document, dict) else None
        if document is None:
            return path[:number]
    return ()


@cache
def _set_of(path: Path) -> Fields:
    fields = MEMBER
    for name in reversed(path):
        fields = {f"f:{name}": fields}
    return fields
