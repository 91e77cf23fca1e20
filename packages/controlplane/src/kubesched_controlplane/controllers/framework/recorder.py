"""The event recorder of controllers.

From a message about an object to an Event in its namespace. A repeated message raises the event's count; many messages
with the same reason are combined into one event; events about one object are rate limited.
"""

# upstream: client-go/tools/record/{event,events_cache}.go (v1.36)

from datetime import datetime
from typing import Any, Final

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.controllers.framework.controller import ControllerContext

NORMAL, WARNING = "Normal", "Warning"
EVENTS: Final = "events"
# so many different messages with the same reason are combined, if they follow each other within this time
_MOST_ALIKE, _ALIKE_SECONDS = 10, 600.0
# the rate limit of an object: so many events at once, then one in so many seconds
_BURST, _REFILL_SECONDS = 25, 300.0
_COMBINED: Final = "(combined from similar events): "
# how many objects are remembered; the one with the oldest event is forgotten first
_MOST_OBJECTS: Final = 4096


class _About(msgspec.Struct):
    """The recent events about an object, and its rate limit."""

    tokens: float
    at: float
    # by type and reason: the last time, and the different messages
    alike: dict[tuple[str, str], tuple[float, set[str]]] = msgspec.field(default_factory=dict)
    # by type, reason and message: the name of the event
    events: dict[tuple[str, str, str], str] = msgspec.field(default_factory=dict)


class ControllerEventRecorder:
    """Records events of one component."""

    def __init__(self, context: ControllerContext, component: str) -> None:
        self._context = context
        self._component = component
        self._about: dict[str, _About] = {}
        self._number = 0

    def normal(self, regarding: Document, reason: str, message: str) -> None:
        """Record an event of type Normal."""
        self._record(regarding, NORMAL, reason, message)

    def warning(self, regarding: Document, reason: str, message: str) -> None:
        """Record an event of type Warning."""
        self._record(regarding, WARNING, reason, message)

    def _record(self, regarding: Document, kind: str, reason: str, message: str) -> None:
        now = self._context.loop.time()
        about = self._remembered(regarding["metadata"]["uid"], now)
        last, words = about.alike.get((kind, reason), (now, set()))
        if now - last > _ALIKE_SECONDS:
            words = set()
        about.alike[kind, reason] = (now, words)
        words.add(message)
        key = (kind, reason, message)
        if len(words) >= _MOST_ALIKE:
            words.discard(message)
            key, message = (kind, reason, _COMBINED), _COMBINED + message
        if about.tokens < 1:
            return
        about.tokens -= 1
        try:
            if key not in about.events or not self._count(regarding, about.events[key], message):
                about.events[key] = self._write(regarding, kind, reason, message)
        except ApiError:
            # for example in a terminating namespace
            about.events.pop(key, None)

    def _remembered(self, uid: str, now: float) -> _About:
        about = self._about.pop(uid, None)
        if about is None:
            about = _About(_BURST, now)
            while len(self._about) >= _MOST_OBJECTS:
                del self._about[next(iter(self._about))]
        about.tokens = min(_BURST, about.tokens + (now - about.at) / _REFILL_SECONDS)
        about.at = now
        self._about[uid] = about
        return about

    def _count(self, regarding: Document, name: str, message: str) -> bool:
        """Raise the count of an event; return whether the event still exists."""
        event = self._context.find(EVENTS, regarding["metadata"]["namespace"], name)
        if event is None:
            return False
        event["count"] = (event.get("count") or 0) + 1
        event["lastTimestamp"] = self._context.time()
        event["message"] = message
        self._context.update(EVENTS, event)
        return True

    def _write(self, regarding: Document, kind: str, reason: str, message: str) -> str:
        meta, now = regarding["metadata"], self._context.now()
        self._number += 1
        name = f"{meta['name']}.{_unique(now, self._number)}"
        time = timestamp(now)
        reference: dict[str, Any] = {
            "kind": regarding["kind"],
            "apiVersion": regarding["apiVersion"],
            **{field: meta[field] for field in ("namespace", "name", "uid", "resourceVersion")},
        }
        self._context.create(
            EVENTS,
            {
                "metadata": {"name": name, "namespace": meta["namespace"]},
                "involvedObject": reference,
                "type": kind,
                "reason": reason,
                "message": message,
                "source": {"component": self._component},
                "reportingComponent": self._component,
                "firstTimestamp": time,
                "lastTimestamp": time,
                "count": 1,
            },
        )
        return name


def _unique(now: datetime, number: int) -> str:
    """Return the suffix of an event's name: the time in nanoseconds, made unique by a number."""
    return f"{int(now.timestamp() * 1_000_000) * 1000 + number % 1000:x}"
