"""Conversion of events and autoscalers between versions.

From the version of a request to the storage version, and back.
"""

# upstream: pkg/apis/events/v1/conversion.go (v1.36)

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Conversion, Resource
from kubesched_controlplane.conversion.autoscalers import to_first, to_second

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
# core/v1 writes these fields even if they are empty
_ALWAYS = {"reportingComponent": "", "reportingInstance": ""}
_EVENT_FIELDS_BACK = {old: new for new, old in _EVENT_FIELDS.items()}


class EventConversion(Conversion):
    """Events of events.k8s.io/v1, stored as events of v1."""

    is_needed = True

    def to_storage(self, document: Document) -> Document:
        """Convert an event to v1."""
        return {**_ALWAYS, **_renamed(document, _EVENT_FIELDS), "apiVersion": "v1", "kind": "Event"}

    def from_storage(self, document: Document) -> Document:
        """Convert an event to events.k8s.io/v1."""
        return {**_renamed(document, _EVENT_FIELDS_BACK), "apiVersion": "events.k8s.io/v1", "kind": "Event"}


class AutoscalerConversion(Conversion):
    """Autoscalers of autoscaling/v1, stored as autoscaling/v2."""

    is_needed = True

    def to_storage(self, document: Document) -> Document:
        """Convert an autoscaler to autoscaling/v2."""
        return to_second(document)

    def from_storage(self, document: Document) -> Document:
        """Convert an autoscaler to autoscaling/v1."""
        return to_first(document)


def needs_conversion(resource: Resource) -> bool:
    """Return whether stored objects of a resource have to be converted before they are served."""
    return resource.conversion.is_needed


def to_storage(resource: Resource, document: Document) -> Document:
    """Convert a document to the storage version."""
    return resource.conversion.to_storage(document)


def from_storage(resource: Resource, document: Document) -> Document:
    """Convert a stored document to the version of a resource."""
    return resource.conversion.from_storage(document)


def _renamed(document: Document, names: dict[str, str]) -> Document:
    return {names.get(field, field): value for field, value in document.items()}
