"""Watches: a line for each event after a resource version.

From the store's changes to lines, which watches of the same form share. A watch has a queue of lines to send; a watch
that does not keep up is ended, and its client lists again.
"""

# upstream: apiserver/pkg/storage/cacher/{cacher,cache_watcher}.go, pkg/endpoints/handlers/watch.go (v1.36)

from collections import deque
from collections.abc import Callable
from math import inf

from kubesched_controlplane.api.query_options import list_options
from kubesched_controlplane.api.requests import Request, Target
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError, too_old
from kubesched_controlplane.registry.registry import ResourceRegistry
from kubesched_controlplane.registry.selectors import Matches, matcher
from kubesched_controlplane.representation.encoders import Encoder, LatestBody, encoder_for
from kubesched_controlplane.storage.store import ADDED, DELETED, MODIFIED, Change, Stored

# lines in its queue that end a watch
MOST_BEHIND = 200_000
# bytes in its queue that end a watch, besides the initial events
MOST_BYTES_BEHIND = 64 * 1024 * 1024
_STARTS = {kind: f'{{"type":"{kind}","object":'.encode() for kind in (ADDED, MODIFIED, DELETED, "BOOKMARK", "ERROR")}
INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class Watch:
    """The watch of a client, with its queue of lines."""

    def __init__(
        self, resource: Resource, encoder: Encoder, matches: Matches | None, *, bookmarks: bool, seconds: float
    ) -> None:
        self.resource = resource
        self.bookmarks = bookmarks
        # timeoutSeconds of the client; 0 for the default of the server
        self.seconds = seconds
        self.ended = False
        self._on_ready: Callable[[], object] = lambda: None
        self._on_end: list[Callable[[], object]] = []
        # called in place of `put` to inject faults; calls `put` itself
        self._gate: Callable[[str, bytes], None] | None = None
        self._encoder = encoder
        self._matches = matches
        # three pieces for each line, so that watches share the bodies
        self._pieces: deque[bytes] = deque()
        self._bytes = 0
        # unlimited for the initial events, which may be larger than the limit
        self._most_bytes: float = inf

    def __len__(self) -> int:
        return len(self._pieces) // 3

    def on_ready(self, callback: Callable[[], object]) -> None:
        """Set the callback for new lines and for the end of the watch; it replaces an earlier one."""
        self._on_ready = callback

    def on_end(self, callback: Callable[[], object]) -> None:
        """Add a callback for the end of the watch; callbacks run in the order in which they were added."""
        self._on_end.append(callback)

    def take(self, most: int = 0, most_bytes: float = inf) -> bytes:
        """Remove and return the next lines, up to the given number and bytes; at least one, however long it is."""
        pieces = self._pieces
        taken: list[bytes] = []
        size = 0
        while pieces and size < most_bytes and not (most and len(taken) >= 3 * most):
            for _ in range(3):
                taken.append(pieces.popleft())
                size += len(taken[-1])
        self._bytes -= size
        if not pieces and self._most_bytes < inf:
            self._most_bytes = MOST_BYTES_BEHIND
        return b"".join(taken)

    def begun(self) -> None:
        """Limit the bytes in the queue from now on, after the initial events."""
        self._most_bytes = self._bytes + MOST_BYTES_BEHIND

    def end(self) -> None:
        """End the watch; the lines in the queue are still sent."""
        if not self.ended:
            self.ended = True
            for callback in self._on_end:
                callback()
            self._on_ready()

    def fail(self, error: ApiError) -> None:
        """Send an ERROR event with the Status, and end the watch."""
        self._send("ERROR", error.body())
        self.end()

    def bookmark(self, version: int, *, initial_events_end: bool = False) -> None:
        """Send a bookmark with a resource version."""
        meta: dict[str, object] = {"resourceVersion": str(version)}
        if initial_events_end:
            meta["annotations"] = {INITIAL_EVENTS_END: "true"}
        self._send("BOOKMARK", self._encoder.bookmark(meta))

    def changed(self, change: Change) -> None:
        """Send the event of a change; fail if the object cannot be converted to the version of the watch."""
        try:
            self._send_change(change)
        except ApiError as error:
            self.fail(error)

    def _send_change(self, change: Change) -> None:
        """Send the event of a change: ADDED if the object begins to match the selectors, DELETED if it ceases to."""
        matches = self._matches
        if matches is None:
            self._send(change.type, self._encoder.encode_change(change))
            return
        before = change.old is not None and matches(change.old)
        after = change.type != DELETED and matches(change.new)
        if after:
            self._send(MODIFIED if before else ADDED, self._encoder.encode_change(change))
        elif before and change.type == DELETED:
            self._send(DELETED, self._encoder.encode_change(change))
        elif before:
            self._send(DELETED, self._last_match(change))

    def added(self, stored: Stored) -> None:
        """Send an ADDED event for an existing object that matches."""
        if self.ended or not (self._matches is None or self._matches(stored)):
            return
        try:
            self._send(ADDED, self._encoder.encode(stored))
        except ApiError as error:
            self.fail(error)

    def _last_match(self, change: Change) -> bytes:
        """Return the last matching state of an object, with the resource version of the change."""
        assert change.old is not None
        document = change.old.document_with_managed_fields()
        document["metadata"]["resourceVersion"] = str(change.version)
        return self._encoder.encode_document(document)

    def _send(self, kind: str, body: bytes) -> None:
        if self._gate is None:
            self.put(kind, body)
        else:
            self._gate(kind, body)

    def send_through(self, gate: Callable[[str, bytes], None]) -> None:
        """Set a gate, which gets each event in place of the queue, and passes it on by `put`, drops or delays it."""
        self._gate = gate

    def put(self, kind: str, body: bytes) -> None:
        """Add the line of an event to the queue; end the watch if the queue is full."""
        if len(self) >= MOST_BEHIND or self._bytes > self._most_bytes:
            self._pieces.clear()
            self._bytes = 0
            self.end()
            return
        start = _STARTS[kind]
        self._pieces.extend((start, body, b"}\n"))
        self._bytes += len(start) + len(body) + 2
        self._on_ready()


class WatchVerb:
    """Starts watches, and keeps the running ones."""

    def __init__(self, registry: ResourceRegistry) -> None:
        self._registry = registry
        self._latest = LatestBody()
        # in the order of their start
        self.watches: dict[Watch, None] = {}

    def begin(self, target: Target, request: Request) -> Watch:
        """Start the watch of a request, from its resource version or with the existing objects."""
        resource, store = target.resource, self._registry.store
        options = list_options(request, watching=True)
        watch = Watch(
            resource,
            encoder_for(resource, request, self._registry.clock, latest=self._latest),
            matcher(request, target, self._registry.strategy(resource)),
            bookmarks=options.bookmarks,
            seconds=float(options.seconds),
        )
        version, initial = options.version, options.initial_events
        objects = store.set_of(resource.prefix)
        if initial or (not version and initial is None):
            for stored in objects:
                watch.added(stored)
            if initial and watch.bookmarks:
                watch.bookmark(store.version, initial_events_end=True)
        elif version:
            if version < objects.forgotten:
                watch.fail(too_old(version, objects.forgotten))
                return watch
            for change in objects.since(version):
                watch.changed(change)
        if watch.ended:
            return watch
        watch.begun()
        watch.on_end(store.watch(resource.prefix, watch.changed))
        watch.on_end(lambda: self.watches.pop(watch, None))
        self.watches[watch] = None
        return watch

    def bookmark(self) -> None:
        """Send a bookmark to all watches that allow bookmarks."""
        for watch in self.watches:
            if watch.bookmarks:
                watch.bookmark(self._registry.store.version)

    def end_of(self, prefix: str) -> None:
        """End all watches of a set."""
        for watch in [each for each in self.watches if each.resource.prefix == prefix]:
            watch.end()
