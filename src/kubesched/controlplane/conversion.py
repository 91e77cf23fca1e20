"""One object in several versions: events are stored as core/v1 has them, and served as events.k8s.io/v1, too.

From the version of a request to the stored one, and back.
"""

# upstream: pkg/apis/events/v1/conversion.go (v1.36)

from kubesched.controlplane.resources import Resource
from kubesched.controlplane.store import Document

# events.k8s.io/v1 -> core/v1
_EVENT_FIELDS = {
    "note": "message",
    "regarding": "involvedObject",
    "reportingController": "reportingComponent",
    "deprecatedSource": "source",
    "deprecatedFirstTimestamp": "firstTimestamp",
    "deprecatedLastTimestamp": "lastTimestamp",
    "deprecatedCount": "count",
}
# what core/v1 has also when it says nothing
_ALWAYS = {"reportingComponent": "", "reportingInstance": ""}
_EVENT_FIELDS_BACK = {old: new for new, old in _EVENT_FIELDS.items()}


def needs_conversion(resource: Resource) -> bool:
    """Return whether objects of a resource are stored in another version."""
    return resource.group == "events.k8s.io"


def to_storage(resource: Resource, document: Document) -> Document:
    """Return a document in the version that is stored."""
    if not needs_conversion(resource):
        return document
    return {**_ALWAYS, **_renamed(document, _EVENT_FIELDS), "apiVersion": "v1", "kind": resource.kind}


def from_storage(resource: Resource, document: Document) -> Document:
    """Return a stored document in the version of a resource."""
    if not needs_conversion(resource):
        return document
    return {**_renamed(document, _EVENT_FIELDS_BACK), "apiVersion": resource.api_version, "kind": resource.kind}


def _renamed(document: Document, names: dict[str, str]) -> Document:
    return {names.get(field, field): value for field, value in document.items()}
