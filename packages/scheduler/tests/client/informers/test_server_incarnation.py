"""Servers that lose their past, and what is said of servers that are in trouble."""

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.client.informers.reflector import Reflector
from kubesched.client.informers.server_incarnation import KUBE_SYSTEM, IncarnationTracker, is_older
from kubesched.client.rest import Query, Refused, RestClient, RestConfig, Unreachable
from kubesched.common.virtual_time import run_in_virtual_time

NODES = "/api/v1/nodes"


class OneNode:
    """A server with one node; watches say nothing, and break when they are told to."""

    def __init__(self) -> None:
        self.cluster = "one"
        self.version = 100
        self.node = "n"
        self.refusal: Refused | Unreachable | None = None
        self.lists = 0
        self._broken = asyncio.Event()

    def break_watches(self) -> None:
        """End all watches as if the connection had gone."""
        self._broken.set()
        self._broken = asyncio.Event()

    async def get(self, path: str, query: Query | None = None) -> bytes:
        """Return the cluster's oldest namespace, or how new nodes are."""
        if self.refusal is not None:
            raise self.refusal
        if path == KUBE_SYSTEM:
            return msgspec.json.encode({"metadata": {"uid": self.cluster}})
        return msgspec.json.encode({"metadata": {"resourceVersion": str(self.version)}, "items": []})

    async def send(self, method: str, path: str, body: bytes | None = None, **more: Any) -> bytes:
        """Never called."""
        raise AssertionError(method, path)

    @asynccontextmanager
    async def stream(self, path: str, query: Query) -> AsyncIterator["OneNode.Events"]:
        """Give the list at the beginning if it is wanted, and nothing more."""
        if self.refusal is not None:
            raise self.refusal
        listed = "sendInitialEvents" in query
        self.lists += listed
        yield OneNode.Events(self, listed)

    class Events:
        """What a watch has to say."""

        def __init__(self, server: "OneNode", listed: bool) -> None:
            self._server = server
            self._listed = listed

        async def iter_any(self) -> AsyncIterator[bytes]:
            """Yield a list that ends with a bookmark, or nothing; break when the server says so."""
            server = self._server
            version = str(server.version)
            if self._listed:
                meta = {"name": server.node, "uid": f"{server.cluster}-{server.node}", "resourceVersion": version}
                yield _event("ADDED", {"kind": "Node", "apiVersion": "v1", "metadata": meta})
                end = {"resourceVersion": version, "annotations": {"k8s.io/initial-events-end": "true"}}
                yield _event("BOOKMARK", {"kind": "Node", "apiVersion": "v1", "metadata": end})
            await server._broken.wait()
            raise Unreachable("the connection broke", maybe_done=True)


def _event(kind: str, obj: object) -> bytes:
    return msgspec.json.encode({"type": kind, "object": obj}) + b"\n"


class RecordingHandler:
    """Remembers what it is told."""

    def __init__(self) -> None:
        self.heard: list[str] = []

    def put(self, obj: ApiObject) -> None:
        """Take note of an object."""
        self.heard.append(f"+{obj.uid}")

    def drop(self, obj: ApiObject) -> None:
        """Take note that an object is gone."""
        self.heard.append(f"-{obj.uid}")


async def following(
    server: OneNode, notes: list[str]
) -> tuple[RecordingHandler, Reflector[Node], "asyncio.Task[None]"]:
    """Return who is told, and a reflector that has listed."""
    told = RecordingHandler()
    reflector = Reflector(server, NODES, Node, told, note=notes.append)
    task = asyncio.create_task(reflector.run())
    await reflector.synced.wait()
    return told, reflector, task


# -- the past


def test_a_watch_that_breaks_off_is_resumed_without_a_list() -> None:
    async def story() -> None:
        server, notes = OneNode(), list[str]()
        told, _, task = await following(server, notes)
        server.version = 150
        server.break_watches()
        await asyncio.sleep(60)
        assert (server.lists, told.heard) == (1, ["+one-n"])
        assert notes == [f"watch of {NODES} broke off: the connection broke"]
        task.cancel()

    run_in_virtual_time(story())


@pytest.mark.parametrize(
    ("change", "heard"),
    [
        pytest.param({"cluster": "two", "version": 900}, ["+one-n", "-one-n", "+two-n"], id="another cluster"),
        pytest.param({"version": 50, "node": "m"}, ["+one-n", "+one-m", "-one-n"], id="an older copy of it"),
    ],
)
def test_a_server_with_another_past_is_listed_anew(change: dict[str, Any], heard: list[str]) -> None:
    async def story() -> None:
        server, notes = OneNode(), list[str]()
        told, reflector, task = await following(server, notes)
        for name, value in change.items():
            setattr(server, name, value)
        server.break_watches()
        await asyncio.sleep(60)
        assert told.heard == heard
        assert notes[-1] == "the API server has another past than before; everything is listed anew"
        assert (server.lists, reflector.incarnation) == (2, 1)
        task.cancel()

    run_in_virtual_time(story())


def test_who_has_resumed_already_lists_anew_when_another_one_finds_out() -> None:
    async def story() -> None:
        server, notes = OneNode(), list[str]()
        followed = IncarnationTracker(server, notes.append)
        reflectors = [
            Reflector(server, NODES, Node, RecordingHandler(), note=notes.append, server=followed) for _ in range(2)
        ]
        tasks = [asyncio.create_task(reflector.run()) for reflector in reflectors]
        for reflector in reflectors:
            await reflector.synced.wait()
        # the first one is behind what the server has lost
        reflectors[1].version = "200"
        server.break_watches()
        await asyncio.sleep(60)
        assert [reflector.incarnation for reflector in reflectors] == [1, 1]
        assert server.lists == 4
        for task in tasks:
            task.cancel()

    run_in_virtual_time(story())


def test_versions_are_compared_as_numbers_and_others_not_at_all() -> None:
    assert is_older("99", "100")
    assert not is_older("100", "99")
    assert not is_older("", "99")
    assert not is_older("abc", "99")


# -- trouble


def test_a_server_that_does_not_know_yet_who_may_do_what_is_asked_again() -> None:
    async def story() -> None:
        server, notes = OneNode(), list[str]()
        _, _, task = await following(server, notes)
        server.refusal = Refused(403, "Forbidden", "nodes is forbidden")
        server.break_watches()
        await asyncio.sleep(10)
        server.refusal = None
        await asyncio.sleep(60)
        assert server.lists == 1, "what is known is still good"
        assert notes[1].startswith(f"watch of {NODES} broke off: nodes is forbidden; bind the cluster roles")
        task.cancel()

    run_in_virtual_time(story())


def test_what_many_suffer_from_is_said_once_until_something_works() -> None:
    now, notes = [0.0], list[str]()
    server = IncarnationTracker(OneNode(), notes.append, lambda: now[0])
    for kind in ("a", "b", "c"):
        server.complain(kind, Unreachable("away", maybe_done=False))
    assert notes == ["a: away"]
    server.complain("d", Unreachable("slow", maybe_done=False))
    now[0] += 61
    server.complain("e", Unreachable("away", maybe_done=False))
    server.is_well()
    server.complain("f", Unreachable("away", maybe_done=False))
    assert notes == ["a: away", "d: slow", "e: away", "f: away"]


def test_who_waits_tries_again_as_soon_as_something_works() -> None:
    async def story() -> None:
        server = IncarnationTracker(OneNode(), lambda line: None)
        asyncio.get_running_loop().call_later(3, server.is_well)
        began = asyncio.get_running_loop().time()
        assert await server.pause(30)
        assert asyncio.get_running_loop().time() - began == pytest.approx(3, abs=0.1)
        assert not await server.pause(30)

    run_in_virtual_time(story())


def test_a_server_that_says_nothing_is_given_up() -> None:
    async def nothing() -> dict[str, str]:
        return {}

    async def story(port: int) -> None:
        rest = RestClient(RestConfig(f"http://127.0.0.1:{port}", nothing), "test", silence_seconds=0.2)
        try:
            with pytest.raises(Unreachable, match="the API server did not answer in time") as caught:
                await rest.get(NODES)
            assert caught.value.maybe_done
        finally:
            await rest.close()

    # connections are made, and nobody listens to them
    with socket.create_server(("127.0.0.1", 0)) as listening:
        asyncio.run(story(listening.getsockname()[1]))
