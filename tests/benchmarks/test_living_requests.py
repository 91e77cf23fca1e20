"""The benchmark of a living cluster at an API server: what it writes, and what it reads of watches."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import msgspec
import pytest
from benchmarks.living.errors import LivingError
from benchmarks.living.http_world import HttpWorld
from benchmarks.living.model import SCALED, LiveNode, LivePod, Owner
from benchmarks.living.templates import Template
from benchmarks.living.watching import EVENTS, PODS, Watches

from kubesched.client.rest import Query, Refused, Stream
from kubesched.common.virtual_time import run_in_virtual_time


class FakeRest:
    """An API server that answers each request as told, and streams pieces."""

    def __init__(self, answers: list[int] | None = None, pieces: dict[str, list[bytes]] | None = None) -> None:
        self.answers = answers or []
        self.pieces = pieces or {}
        self.sent: list[tuple[str, str]] = []

    async def get(self, path: str, query: Query | None = None) -> bytes:
        return b'{"metadata": {"resourceVersion": "1"}, "items": []}'

    async def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        query: Query | None = None,
        content_type: str = "application/json",
    ) -> bytes:
        self.sent.append((method, path))
        code = self.answers.pop(0) if self.answers else 200
        if code >= 300:
            raise Refused(code, "", f"code {code}", 0.5)
        return body or b""

    @asynccontextmanager
    async def stream(self, path: str, query: Query) -> AsyncIterator[Stream]:
        yield FakeStream(self.pieces.pop(path, []))


class FakeStream:
    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = pieces

    async def iter_any(self) -> AsyncIterator[bytes]:
        for piece in self._pieces:
            yield piece
        # a watch stays open
        await asyncio.sleep(1000)


def a_pod() -> LivePod:
    return LivePod(1, Owner("ReplicaSet", "app-x", Template(0), 1, "x"), SCALED)


def test_writes_are_sent_in_order() -> None:
    rest, pod = FakeRest(), a_pod()

    async def work() -> None:
        world = HttpWorld(rest)
        world.create_pod(pod)
        pod.node = LiveNode(0, 0)
        world.report_pod(pod)
        world.delete_pod(pod, at_once=True)
        await world.flush()
        await world.close()

    run_in_virtual_time(work())
    path = f"/api/v1/namespaces/living-0/pods/{pod.name}"
    assert rest.sent == [("POST", path.rpartition("/")[0]), ("PATCH", f"{path}/status"), ("DELETE", path)]
    assert pod.created_at > 0


def test_a_server_that_asks_for_patience_is_asked_again() -> None:
    rest = FakeRest([429, 429, 200])

    async def work() -> None:
        world = HttpWorld(rest)
        world.delete_pod(a_pod(), at_once=False)
        await world.flush()
        await world.close()

    run_in_virtual_time(work())
    assert len(rest.sent) == 3


def test_objects_that_are_gone_are_left_alone_and_other_refusals_are_errors() -> None:
    async def work(code: int) -> None:
        world = HttpWorld(FakeRest([code]))
        try:
            world.delete_pod(a_pod(), at_once=False)
            await world.flush()
        finally:
            await world.close()

    for code in (404, 409):
        run_in_virtual_time(work(code))
    with pytest.raises(LivingError, match="code 500"):
        run_in_virtual_time(work(500))


def event(kind: str, name: str, node: str = "") -> bytes:
    document = {"metadata": {"name": name, "namespace": "n", "resourceVersion": "2"}, "spec": {"nodeName": node}}
    return msgspec.json.encode({"type": kind, "object": document}) + b"\n"


def test_watches_count_events_and_see_bindings_whatever_the_pieces_are() -> None:
    lines = b"".join(
        [event("ADDED", "a"), event("BOOKMARK", ""), event("MODIFIED", "a", "node-1"), event("DELETED", "a", "node-1")]
    )
    nodes = event("MODIFIED", "node-1") * 3 + event("BOOKMARK", "")
    events = event("ADDED", "e") * 2 + event("MODIFIED", "e")
    seen: list[tuple[str, str]] = []

    async def work(size: int) -> Watches:
        def cut(text: bytes) -> list[bytes]:
            return [text[at : at + size] for at in range(0, len(text), size)]

        pieces = {PODS: cut(lines), "/api/v1/nodes": cut(nodes), EVENTS: cut(events)}
        watches = Watches(FakeRest(pieces=pieces), lambda name, node: seen.append((name, node)))
        await watches.start()
        await asyncio.sleep(1)
        watches.check()
        await watches.close()
        return watches

    for size in (7, 100, 10_000):
        seen.clear()
        counts = run_in_virtual_time(work(size)).counts
        assert (counts.read, counts.events) == (3 + 3, 3)
        assert seen == [("n/a", ""), ("n/a", "node-1")]


def test_a_watch_that_is_refused_is_an_error() -> None:
    status = b'{"type":"ERROR","object":{"kind":"Status","message":"too old resource version"}}\n'

    async def work() -> None:
        watches = Watches(FakeRest(pieces={PODS: [status]}), lambda name, node: None)
        await watches.start()
        await asyncio.sleep(1)
        try:
            watches.check()
        finally:
            await watches.close()

    with pytest.raises(LivingError, match="too old resource version"):
        run_in_virtual_time(work())
