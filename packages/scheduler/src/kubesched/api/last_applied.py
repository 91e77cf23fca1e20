"""The last-applied manifest, which `kubectl apply` keeps in an annotation of the object.

From an object's document to that manifest's, and back.
"""

from typing import Any, Final

import msgspec

from kubesched.api.tolerant_json import UNREADABLE

Document = dict[str, Any]

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def last_applied(document: Document) -> Document:
    """Return the last-applied manifest, empty if the object has none."""
    text = (document["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    try:
        return msgspec.json.decode(text or "", type=dict[str, Any])
    except UNREADABLE:
        # an annotation may contain any text
        return {}


def with_last_applied(document: Document, manifest: Document) -> Document:
    """Return an object with the annotation of the manifest that was applied last."""
    text = msgspec.json.encode(manifest).decode()
    annotations = {**(document["metadata"].get("annotations") or {}), LAST_APPLIED: text}
    return {**document, "metadata": {**document["metadata"], "annotations": annotations}}
