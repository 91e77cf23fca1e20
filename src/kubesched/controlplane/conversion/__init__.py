"""One object in several versions: events, autoscalers, and kinds that are defined while the server runs.

From the version of a request to the stored one, and back.
"""

# upstream: pkg/apis/events/v1/conversion.go (v1.36)

from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.api.resources import Conversion, Resource
from kubesched.controlplane.conversion.autoscalers import to_first, to_second

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


class EventConversion(Conversion):
    """Events of events.k8s.io/v1, stored as events of v1."""

    is_needed = True

    def to_storage(self, document: Document) -> Document:
        """Return an event of v1."""
        return {**_ALWAYS, **_renamed(document, _EVENT_FIELDS), "apiVersion": "v1", "kind": "Event"}

    def from_storage(self, document: Document) -> Document:
        """Return an event of events.k8s.io/v1."""
        return {**_renamed(document, _EVENT_FIELDS_BACK), "apiVersion": "events.k8s.io/v1", "kind": "Event"}


class AutoscalerConversion(Conversion):
    """Autoscalers of autoscaling/v1, stored as autoscaling/v2."""

    is_needed = True

    def to_storage(self, document: Document) -> Document:
        """Return an autoscaler of autoscaling/v2."""
        return to_second(document)

    def from_storage(self, document: Document) -> Document:
        """Return an autoscaler of autoscaling/v1."""
        return to_first(document)


def needs_conversion(resource: Resource) -> bool:
    """Return whether objects of a resource are stored in another version, or may be out of date."""
    return resource.conversion.is_needed


def to_storage(resource: Resource, document: Document) -> Document:
    """Return a document in the version that is stored."""
    return resource.conversion.to_storage(document)


def from_storage(resource: Resource, document: Document) -> Document:
    """Return a stored document in the version of a resource."""
    return resource.conversion.from_storage(document)


def _renamed(document: Document, names: dict[str, str]) -> Document:
    return {names.get(field, field): value for field, value in document.items()}
