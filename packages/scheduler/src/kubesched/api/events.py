"""Events as the scheduler reports them (events.k8s.io/v1).

From structs to JSON documents and back; see `meta` for the conventions. `event_time` and `last_observed_time` carry
microseconds on the wire, always six digits: `codec.encode` writes them.
"""

from kubesched.api.meta import ApiObject, ApiStruct, Int32, ObjectReference, Timestamp


class EventSource(ApiStruct, frozen=True):
    """The source of an event, as old clients write it."""

    component: str = ""
    host: str = ""


class EventSeries(ApiStruct, frozen=True):
    """How often an event was repeated, and when last."""

    count: Int32 = 0
    last_observed_time: Timestamp | None = None


class Event(ApiObject, frozen=True):
    """A report about an object."""

    event_time: Timestamp | None = None
    series: EventSeries | None = None
    reporting_controller: str = ""
    reporting_instance: str = ""
    action: str = ""
    reason: str = ""
    regarding: ObjectReference = ObjectReference()
    related: ObjectReference | None = None
    note: str = ""
    type: str = ""
    deprecated_source: EventSource = EventSource()
    deprecated_first_timestamp: Timestamp | None = None
    deprecated_last_timestamp: Timestamp | None = None
    deprecated_count: Int32 = 0
