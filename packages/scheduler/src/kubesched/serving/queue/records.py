"""The queue as a value, which /debug/queue serves and the page reads.

From a reading of the queue to JSON and back, in camel case; absent values are left out. Times are those of the
scheduler's clock. Places are active, backoff, unschedulable, gated and inFlight.
"""

from datetime import datetime
from typing import Annotated, Any

import msgspec

from kubesched.api.tolerant_json import UNREADABLE

PATH = "/debug/queue"
ACTIVE, BACKOFF, UNSCHEDULABLE, GATED, IN_FLIGHT = "active", "backoff", "unschedulable", "gated", "inFlight"
PLACES = (ACTIVE, BACKOFF, UNSCHEDULABLE, GATED, IN_FLIGHT)
# the version of the page; a reader of another version reports it
VERSION = 1
# with a time zone: times without one cannot be compared
Time = Annotated[datetime, msgspec.Meta(tz=True)]


class QueuedPodRecord(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """A pod in the queue: since when it waits there or was tried last, and until when it backs off."""

    pod: str
    uid: str
    place: str
    priority: int = 0
    attempts: int = 0
    since: Time | None = None
    backoff_until: Time | None = None
    rejected_by: tuple[str, ...] = ()
    gated_by: str = ""


class MoveCount(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """How many pods an event has moved from one place to another since the scheduler started."""

    event: str
    from_place: str = msgspec.field(name="from")
    to_place: str = msgspec.field(name="to")
    pods: int


class QueuePage(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The queue at one moment: pods by place, the first pods of each place, and all moves so far."""

    version: int
    now: Time
    counts: dict[str, int]
    first: tuple[QueuedPodRecord, ...] = ()
    moves: tuple[MoveCount, ...] = ()

    def to_json(self) -> bytes:
        """Return the page as JSON."""
        return msgspec.json.encode(self)


def read_queue_page(body: bytes) -> QueuePage:
    """Return a page from its JSON; raises ValueError if it is none, or of another version."""
    try:
        found: Any = msgspec.json.decode(body)
        version = found.get("version") if isinstance(found, dict) else None
        if version != VERSION:
            raise ValueError(f"version {version!r} of the page is unknown; this kubesched reads version {VERSION}")
        return msgspec.convert(found, QueuePage)
    except UNREADABLE as error:
        raise ValueError(f"the answer is no page of a queue: {error}") from None
