"""The manifest that `kubectl apply` applied last, which it keeps in an annotation of the object.

From an object's document to that manifest's, and back.
"""

from typing import Any, Final

import msgspec

from kubesched.api.tolerant_json import UNREADABLE

Document = dict[str, Any]

LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"


def last_applied(document: Document) -> Document:
    """Return the manifest that was applied last, empty if the object does not tell."""
    text = (document["metadata"].get("annotations") or {}).get(LAST_APPLIED)
    try:
        return msgspec.json.decode(text or "", type=dict[str, Any])
    except UNREADABLE:
        # any text can be annotated
        return {}


def with_last_applied(document: Document, manifest: Document) -> Document:
    """Return an object with the annotation of the manifest that was applied last."""
    text = msgspec.json.encode(manifest).decode()
    annotations = {**(document["metadata"].get("annotations") or {}), LAST_APPLIED: text}
    return {**document, "metadata": {**document["metadata"], "annotations": annotations}}
