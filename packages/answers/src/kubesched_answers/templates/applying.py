"""Manifests merged onto the objects of the cluster, as `kubectl apply` does.

From a manifest and the live object's document to a manifest of the resulting object. Fields that the manifest leaves
out stay unchanged, unless the last-applied manifest (in an annotation) had them.
"""

from typing import Final

from kubesched.api.last_applied import last_applied, with_last_applied
from kubesched.errors import InvalidObjectError
from kubesched.manifests import Manifest
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.schema import library
from kubesched_controlplane.schema.merging import MergeError, strategic_merge
from kubesched_controlplane.schema.three_way import three_way_patch

# the API server's own part of metadata
_OF_THE_SERVER: Final = frozenset(
    {"uid", "resourceVersion", "generation", "creationTimestamp", "deletionTimestamp", "managedFields"}
)


def applied(manifest: Manifest, live: Document) -> Manifest:
    """Return a manifest of the resulting object; raises InvalidObjectError. The status is the manifest's."""
    document = manifest.document
    shape = library().kind(str(document.get("apiVersion")), manifest.kind)
    if shape is None or not isinstance(document.get("metadata"), dict):
        return manifest
    kept = {
        **live,
        "apiVersion": document["apiVersion"],
        "kind": manifest.kind,
        "metadata": {field: value for field, value in live["metadata"].items() if field not in _OF_THE_SERVER},
    }
    kept.pop("status", None)
    if _another(document, kept, "priorityClassName"):
        # the API server writes the priority of the class
        kept["spec"] = {field: value for field, value in kept["spec"].items() if field != "priority"}
    try:
        found = strategic_merge(shape, kept, three_way_patch(shape, kept, document, last_applied(live)))
    except MergeError as error:
        raise InvalidObjectError(f"{manifest.named}: cannot be applied: {error}") from None
    return manifest._replace(document=with_last_applied(found, document))


def _another(document: Document, live: Document, field: str) -> bool:
    """Return whether a manifest has another value of a field of its spec than the live object."""
    spec, old = document.get("spec"), live.get("spec")
    return isinstance(spec, dict) and isinstance(old, dict) and field in spec and spec[field] != old.get(field)
