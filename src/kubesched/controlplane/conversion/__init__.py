"""One object in several versions: events, autoscalers, and kinds that are defined while the server runs.

From the version of a request to the stored one, and back.
"""

# upstream: pkg/apis/events/v1/conversion.go (v1.36)

from kubesched.controlplane.api.documents import Document
from kubesched.controlplane.api.resources import Resource
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


_AUTOSCALERS = "horizontalpodautoscalers.autoscaling"


def needs_conversion(resource: Resource) -> bool:
    """Return whether objects of a resource are stored in another version, or may be out of date."""
    return resource.custom is not None or resource.group == "events.k8s.io" or _is_old_autoscaler(resource)


def to_storage(resource: Resource, document: Document) -> Document:
    """Return a document in the version that is stored."""
    if resource.custom is not None:
        return resource.custom.to_storage(document)
    if not needs_conversion(resource):
        return document
    if _is_old_autoscaler(resource):
        return to_second(document)
    return {**_ALWAYS, **_renamed(document, _EVENT_FIELDS), "apiVersion": "v1", "kind": resource.kind}


def from_storage(resource: Resource, document: Document) -> Document:
    """Return a stored document in the version of a resource."""
    if resource.custom is not None:
        return resource.custom.from_storage(document)
    if not needs_conversion(resource):
        return document
    if _is_old_autoscaler(resource):
        return to_first(document)
    return {**_renamed(document, _EVENT_FIELDS_BACK), "apiVersion": resource.api_version, "kind": resource.kind}


def _is_old_autoscaler(resource: Resource) -> bool:
    return resource.version == "v1" and resource.qualified == _AUTOSCALERS


def _renamed(document: Document, names: dict[str, str]) -> Document:
    return {names.get(field, field): value for field, value in document.items()}
