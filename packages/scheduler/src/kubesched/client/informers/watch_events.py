"""The lines of a watch: events, bookmarks, errors.

From the pieces of a stream to lines, and from a line to an event whose object is still JSON. A line that is no event
is an error of the server (`Unreachable`); the object is decoded elsewhere.
"""

from collections.abc import AsyncIterator
from typing import TypeVar

import msgspec

from kubesched.api import tolerant_json
from kubesched.client.informers.pager import LONGEST_ITEM
from kubesched.client.rest import Refused, Stream, Unreachable
from kubesched.errors import InvalidObjectError

T = TypeVar("T")

# upstream: apimachinery/pkg/util/framer, streaming decoders read no longer event (v1.36)
LONGEST_LINE = LONGEST_ITEM
TYPES = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK"})
INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class WatchEvent(msgspec.Struct):
    """The type of an event, and the object's JSON."""

    type: str
    object: msgspec.Raw


class Bookmark(msgspec.Struct, rename="camel"):
    """The resource version that a watch has reached."""

    resource_version: str = ""
    annotations: dict[str, str] | None = None

    @property
    def ends_list(self) -> bool:
        """Return whether the bookmark ends the initial events."""
        return (self.annotations or {}).get(INITIAL_EVENTS_END) == "true"


class _Marked(msgspec.Struct):
    metadata: Bookmark


class _Status(msgspec.Struct):
    code: int = 0
    reason: str = ""
    message: str = ""


def read_event(line: bytes) -> WatchEvent:
    """Return the event of a line; raise Refused for an error event."""
    event = _read(line, WatchEvent, "a line of the watch is no event")
    if event.type in TYPES:
        return event
    if event.type != "ERROR":
        raise Unreachable(f"a line of the watch is no event: its type is {event.type[:40]!r}", maybe_done=False)
    status = _read(bytes(event.object), _Status, "a line of the watch is no event")
    gone = status.reason in ("Expired", "Gone")
    raise Refused(410 if gone else status.code, status.reason, status.message)


def read_bookmark(event: WatchEvent) -> Bookmark:
    """Return the metadata of a bookmark."""
    return _read(bytes(event.object), _Marked, "a bookmark of the watch cannot be read").metadata


def _read(text: bytes, kind: type[T], otherwise: str) -> T:
    try:
        return tolerant_json.decode(text, kind)
    except InvalidObjectError as error:
        raise Unreachable(f"{otherwise}: {error}", maybe_done=False) from None


async def lines(stream: Stream) -> AsyncIterator[list[bytes]]:
    """Yield the complete lines of each piece that arrives; a line that is too long raises an error."""
    pending: list[bytes] = []
    length = 0
    async for piece in stream.iter_any():
        head, newline, rest = piece.partition(b"\n")
        pending.append(head)
        length += len(head)
        if length > LONGEST_LINE:
            raise Unreachable(f"a line of the watch is longer than {LONGEST_LINE >> 20} MiB", maybe_done=False)
        if not newline:
            continue
        whole = [b"".join(pending), *rest.split(b"\n")]
        pending = [whole.pop()]
        length = len(pending[0])
        yield [line for line in whole if line]
