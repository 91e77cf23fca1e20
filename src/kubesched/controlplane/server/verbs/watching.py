"""Watches: what changed, line by line, from a version on.

From the store's changes to lines that are shared by all who watch in the same form. A watcher keeps a queue of lines
that are ready to be sent; one that does not keep up is ended, and its client lists anew.
"""

# upstream: apiserver/pkg/storage/cacher/{cacher,cache_watcher}.go, pkg/endpoints/handlers/watch.go (v1.36)

from collections import deque
from collections.abc import Callable
from math import inf

from kubesched.controlplane.api.query_options import list_options
from kubesched.controlplane.api.requests import Request, Target
from kubesched.controlplane.api.resources import Resource
from kubesched.controlplane.api.statuses import ApiError, too_old
from kubesched.controlplane.registry.registry import ResourceRegistry
from kubesched.controlplane.registry.selectors import Matches, matcher
from kubesched.controlplane.representation.encoders import Encoder, LatestBody, encoder_for
from kubesched.controlplane.storage.store import ADDED, DELETED, MODIFIED, Change, Stored

# a watcher that is so many lines behind is given up
MOST_BEHIND = 200_000
# or so many bytes, not counting what it began with
MOST_BYTES_BEHIND = 64 * 1024 * 1024
_STARTS = {kind: f'{{"type":"{kind}","object":'.encode() for kind in (ADDED, MODIFIED, DELETED, "BOOKMARK", "ERROR")}
INITIAL_EVENTS_END = "k8s.io/initial-events-end"


class Watch:
    """One client's watch: lines wait here until they are taken."""

    def __init__(
        self, resource: Resource, encoder: Encoder, matches: Matches | None, *, bookmarks: bool, seconds: float
    ) -> None:
        self.resource = resource
        self.bookmarks = bookmarks
        # how long the client wants it to last; 0 leaves it to the server
        self.seconds = seconds
        self.ended = False
        self._on_ready: Callable[[], object] = lambda: None
        self._on_end: list[Callable[[], object]] = []
        # where lines go first, with faults; they come back by `put`
        self.gate: Callable[[str, bytes], None] | None = None
        self._encoder = encoder
        self._matches = matches
        # lines in pieces, so that a body is shared by all who are sent it
        self._pieces: deque[bytes] = deque()
        self._bytes = 0
        # all objects that there are may be much more than a client may be behind
        self._most_bytes: float = inf

    def __len__(self) -> int:
        return len(self._pieces) // 3

    def on_ready(self, callback: Callable[[], object]) -> None:
        """Call back whenever there are lines to take, or none will come any more; there is one such callback."""
        self._on_ready = callback

    def on_end(self, callback: Callable[[], object]) -> None:
        """Call back when the watch ends; callbacks run in the order in which they were added."""
        self._on_end.append(callback)

    def take(self, most: int = 0, most_bytes: float = inf) -> bytes:
        """Return the lines that are ready, the first so many of them if a number is given; one is never too long."""
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
        """Count from now on how far the client is behind."""
        self._most_bytes = self._bytes + MOST_BYTES_BEHIND

    def end(self) -> None:
        """Send nothing more than what waits already."""
        if not self.ended:
            self.ended = True
            for callback in self._on_end:
                callback()
            self._on_ready()

    def fail(self, error: ApiError) -> None:
        """Tell the client what is wrong, as the last thing it hears."""
        self._send("ERROR", error.body())
        self.end()

    def bookmark(self, version: int, *, initial_events_end: bool = False) -> None:
        """Tell the client how far it has got."""
        meta: dict[str, object] = {"resourceVersion": str(version)}
        if initial_events_end:
            meta["annotations"] = {INITIAL_EVENTS_END: "true"}
        self._send("BOOKMARK", self._encoder.bookmark(meta))

    def changed(self, change: Change) -> None:
        """Take in a change: what begins to match is added, what ends to match is deleted."""
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
        """Tell of an object that is there already."""
        if self._matches is None or self._matches(stored):
            self._send(ADDED, self._encoder.encode(stored))

    def _last_match(self, change: Change) -> bytes:
        """Return an object that matches no more as it last matched, under the version of the change."""
        assert change.old is not None
        document = change.old.document_with_managed_fields()
        document["metadata"]["resourceVersion"] = str(change.version)
        return self._encoder.encode_document(document)

    def _send(self, kind: str, body: bytes) -> None:
        if self.gate is None:
            self.put(kind, body)
        else:
            self.gate(kind, body)

    def put(self, kind: str, body: bytes) -> None:
        """Let a line wait to be taken; one too many ends the watch."""
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
    """Begins watches."""

    def __init__(self, registry: ResourceRegistry) -> None:
        self._registry = registry
        self._latest = LatestBody()
        # in the order in which they began
        self.watches: dict[Watch, None] = {}

    def begin(self, target: Target, request: Request) -> Watch:
        """Return a watch from the version that a request names."""
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
        watch.begun()
        watch.on_end(store.watch(resource.prefix, watch.changed))
        watch.on_end(lambda: self.watches.pop(watch, None))
        self.watches[watch] = None
        return watch

    def bookmark(self) -> None:
        """Tell all clients that want to know how far they have got."""
        for watch in self.watches:
            if watch.bookmarks:
                watch.bookmark(self._registry.store.version)

    def end_of(self, prefix: str) -> None:
        """End all watches of a set."""
        for watch in [each for each in self.watches if each.resource.prefix == prefix]:
            watch.end()
