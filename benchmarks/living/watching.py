"""Watches: what a scheduler has to read, counted, and the pods that are bound.

From the lines of a watch to counts and to calls with the pods that are created or bound.
"""

import asyncio
from collections.abc import Callable

import msgspec

from benchmarks.living.errors import LivingError
from kubesched.client.rest import Refused, Rest, Unreachable

PODS = "/api/v1/pods"
EVENTS = "/apis/events.k8s.io/v1/events"
# schedulers leave out pods that have ended
UNFINISHED = {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}
# other kinds that change, and that schedulers watch
OTHERS = ("/api/v1/nodes", "/api/v1/namespaces", "/api/v1/services", "/apis/apps/v1/replicasets")
WATCH_SECONDS = "36000"
BOOKMARK = b'"type":"BOOKMARK"'
ADDED = b'{"type":"ADDED"'
MODIFIED = b'{"type":"MODIFIED"'


class _Metadata(msgspec.Struct, rename="camel", frozen=True, gc=False):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class _Spec(msgspec.Struct, rename="camel", frozen=True, gc=False):
    node_name: str = ""


class _Pod(msgspec.Struct, frozen=True, gc=False):
    metadata: _Metadata = _Metadata()
    spec: _Spec = _Spec()
    # of the Status that ends a watch
    message: str = ""


class _Event(msgspec.Struct, frozen=True, gc=False):
    type: str
    object: _Pod


class Counts:
    """How many events have been seen."""

    def __init__(self) -> None:
        # of kinds that schedulers watch
        self.read = 0
        # events that were written, and of these the ones that were new
        self.events = 0


class Watches:
    """Watches everything that a scheduler watches, and events, until it is closed."""

    def __init__(self, rest: Rest, seen: Callable[[str, str], None]) -> None:
        self._rest = rest
        self._seen = seen
        self.counts = Counts()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begin with the state as it is now."""
        for path in OTHERS:
            self._tasks.append(asyncio.create_task(self._count(path, await self._version(path), self._count_read)))
        self._tasks.append(asyncio.create_task(self._count(EVENTS, await self._version(EVENTS), self._count_events)))
        self._tasks.append(asyncio.create_task(self._follow_pods(await self._version(PODS))))

    def check(self) -> None:
        """Raise LivingError if a watch has ended."""
        for task in self._tasks:
            if task.done():
                task.result()

    async def close(self) -> None:
        """End all watches."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def _version(self, path: str) -> str:
        found = msgspec.json.decode(await self._rest.get(path, {"limit": "1"}))
        return str(found["metadata"]["resourceVersion"])

    def _count_read(self, piece: bytes) -> None:
        self.counts.read += piece.count(b"\n") - piece.count(BOOKMARK)

    def _count_events(self, piece: bytes) -> None:
        self.counts.events += piece.count(ADDED) + piece.count(MODIFIED)

    async def _count(self, path: str, version: str, count: Callable[[bytes], None]) -> None:
        """Count the lines of a watch; when it ends, go on with the state as it is then."""
        while True:
            query = {"watch": "true", "resourceVersion": version, "timeoutSeconds": WATCH_SECONDS}
            try:
                async with self._rest.stream(path, {**query, "allowWatchBookmarks": "true"}) as stream:
                    rest_of_line = b""
                    async for piece in stream.iter_any():
                        whole, end, rest_of_line = (rest_of_line + piece).rpartition(b"\n")
                        count(whole + end)
            except Refused as refused:
                raise LivingError(f"watch of {path}: {refused}") from None
            except Unreachable as error:
                raise LivingError(f"watch of {path}: {error}") from None
            version = await self._version(path)

    async def _follow_pods(self, version: str) -> None:
        decode = msgspec.json.Decoder(_Event).decode
        while True:
            query = {"watch": "true", "resourceVersion": version, "timeoutSeconds": WATCH_SECONDS, **UNFINISHED}
            try:
                async with self._rest.stream(PODS, {**query, "allowWatchBookmarks": "true"}) as stream:
                    rest_of_line = b""
                    async for piece in stream.iter_any():
                        *lines, rest_of_line = (rest_of_line + piece).split(b"\n")
                        for line in lines:
                            version = self._one(decode(line)) or version
            except Refused as refused:
                raise LivingError(f"watch of pods: {refused}") from None
            except Unreachable as error:
                raise LivingError(f"watch of pods: {error}") from None

    def _one(self, event: _Event) -> str:
        """Count an event of a pod; return its version."""
        pod = event.object
        if event.type == "ERROR":
            raise LivingError(f"watch of pods: {pod.message}")
        if event.type != "BOOKMARK":
            self.counts.read += 1
            if event.type != "DELETED":
                self._seen(f"{pod.metadata.namespace}/{pod.metadata.name}", pod.spec.node_name)
        return pod.metadata.resource_version
