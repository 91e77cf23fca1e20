"""A new leader catches up: it does not go on before it knows all that was written before it led."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import msgspec
import pytest

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.client.informers.informer import MOST_PATIENCE_SECONDS, Informers
from kubesched.client.informers.server_incarnation import KUBE_SYSTEM
from kubesched.client.informers.watched_kinds import WatchedKind
from kubesched.client.rest import Query, Refused, Unreachable
from kubesched.common.virtual_time import run_in_virtual_time

NODES, SERVICES = "/api/v1/nodes", "/api/v1/services"
KINDS = [WatchedKind("Node", NODES, Node), WatchedKind("Service", SERVICES, Node)]
AWAY = Unreachable("the server is away", maybe_done=False)


class Etcd:
    """A server with one counter for all kinds, whose watches can be silent."""

    def __init__(self) -> None:
        self.version = 100
        self.objects: dict[str, dict[str, int]] = {NODES: {"n": 90}, SERVICES: {}}
        self.lists = {NODES: 0, SERVICES: 0}
        self.watches: dict[str, list[asyncio.Queue[bytes]]] = {NODES: [], SERVICES: []}
        # what watches and lists do instead of working
        self.silent = False
        self.refusal: Refused | Unreachable | None = None
        self.list_seconds = 0.0
        self.pages_only = False

    def write(self, path: str, name: str) -> int:
        """Change an object; return the version."""
        self.version += 1
        self.objects[path][name] = self.version
        self._tell(path, "MODIFIED", self._object(name, self.version))
        return self.version

    def bookmark(self, path: str) -> None:
        """Tell watches how far they have got."""
        self._tell(path, "BOOKMARK", {"metadata": {"resourceVersion": str(self.version)}})

    def others_write(self) -> None:
        """Change what nobody here follows."""
        self.version += 10

    def _tell(self, path: str, kind: str, obj: object) -> None:
        for watch in self.watches[path]:
            if not self.silent:
                watch.put_nowait(_line(kind, obj))

    def _object(self, name: str, version: int) -> dict[str, Any]:
        return {"metadata": {"name": name, "uid": name, "resourceVersion": str(version)}}

    async def get(self, path: str, query: Query | None = None) -> bytes:
        """Return the oldest namespace, or how new a kind is."""
        if self.refusal is not None:
            raise self.refusal
        if path == KUBE_SYSTEM:
            return msgspec.json.encode({"metadata": {"uid": "one"}})
        return msgspec.json.encode({"metadata": {"resourceVersion": str(self.version)}, "items": []})

    async def send(self, method: str, path: str, body: bytes | None = None, **more: Any) -> bytes:
        """Never called."""
        raise AssertionError(method, path)

    @asynccontextmanager
    async def stream(self, path: str, query: Query) -> AsyncIterator["Pieces"]:
        """Give a list, a watch, or both."""
        if self.refusal is not None:
            raise self.refusal
        if "sendInitialEvents" in query and self.pages_only:
            raise Refused(422, "Invalid", "sendInitialEvents: Forbidden")
        told: asyncio.Queue[bytes] = asyncio.Queue()
        if "watch" not in query:
            yield Pieces(self._page(path))
            return
        self.watches[path].append(told)
        try:
            yield Pieces(self._watch(path, told, listed="sendInitialEvents" in query))
        finally:
            self.watches[path].remove(told)

    async def _page(self, path: str) -> AsyncIterator[bytes]:
        items = [self._object(name, version) for name, version in self.objects[path].items()]
        version = str(self.version)
        await asyncio.sleep(self.list_seconds)
        self.lists[path] += 1
        yield msgspec.json.encode({"metadata": {"resourceVersion": version}, "items": items})

    async def _watch(self, path: str, told: "asyncio.Queue[bytes]", *, listed: bool) -> AsyncIterator[bytes]:
        if listed:
            version = str(self.version)
            for name, changed in dict(self.objects[path]).items():
                yield _line("ADDED", self._object(name, changed))
            await asyncio.sleep(self.list_seconds)
            self.lists[path] += 1
            end = {"resourceVersion": version, "annotations": {"k8s.io/initial-events-end": "true"}}
            yield _line("BOOKMARK", {"metadata": end})
        while True:
            yield await told.get()


class Pieces:
    """The body of an answer."""

    def __init__(self, pieces: AsyncIterator[bytes]) -> None:
        self._pieces = pieces

    def iter_any(self) -> AsyncIterator[bytes]:
        """Yield the pieces."""
        return self._pieces


def _line(kind: str, obj: object) -> bytes:
    return msgspec.json.encode({"type": kind, "object": obj}) + b"\n"


class Known:
    """Keeps what it is told."""

    def __init__(self) -> None:
        self.versions: dict[str, str] = {}

    def put(self, obj: ApiObject) -> None:
        """Take note of an object."""
        self.versions[obj.name] = obj.metadata.resource_version

    def drop(self, obj: ApiObject) -> None:
        """Take note that an object is gone."""
        del self.versions[obj.name]


class Leader:
    """Informers that have listed everything, and who is told."""

    def __init__(self, server: Etcd) -> None:
        self.known, self.notes = Known(), list[str]()
        self.informers = Informers(server, KINDS, self.known, self.notes.append)

    async def catches_up(self) -> float:
        """Catch up; return how long it took."""
        now = asyncio.get_running_loop().time
        began = now()
        await self.informers.catch_up()
        return now() - began


Story = Callable[[Etcd, Leader], Awaitable[None]]


def in_virtual_time(story: Story, **server: Any) -> None:
    """Run a story that begins when everything is listed."""

    async def work() -> None:
        etcd = Etcd()
        for name, value in server.items():
            setattr(etcd, name, value)
        leader = Leader(etcd)
        leader.informers.start()
        try:
            await leader.informers.until_synced()
            await story(etcd, leader)
        finally:
            await leader.informers.stop()

    run_in_virtual_time(work())


@pytest.mark.parametrize("pages_only", [False, True], ids=["streamed lists", "pages"])
def test_what_a_silent_watch_did_not_tell_is_listed(pages_only: bool) -> None:
    async def story(etcd: Etcd, leader: Leader) -> None:
        etcd.silent = True
        written = etcd.write(NODES, "bound-by-the-old-leader")
        await leader.catches_up()
        assert leader.known.versions["bound-by-the-old-leader"] == str(written)

    in_virtual_time(story, pages_only=pages_only)


def test_a_watch_that_gets_there_is_not_listed_anew() -> None:
    async def story(etcd: Etcd, leader: Leader) -> None:
        loop = asyncio.get_running_loop()
        etcd.silent = True
        etcd.write(NODES, "n")
        etcd.silent = False
        catching_up = asyncio.create_task(leader.catches_up())
        loop.call_later(0.02, lambda: etcd.write(NODES, "n"))
        loop.call_later(0.02, lambda: etcd.write(SERVICES, "s"))
        assert await catching_up < 0.05
        assert etcd.lists == {NODES: 1, SERVICES: 1}

    in_virtual_time(story)


def test_a_bookmark_is_as_good_as_an_event() -> None:
    async def story(etcd: Etcd, leader: Leader) -> None:
        etcd.others_write()
        for path in (NODES, SERVICES):
            asyncio.get_running_loop().call_later(0.02, etcd.bookmark, path)
        assert await leader.catches_up() < 0.05
        assert etcd.lists == {NODES: 1, SERVICES: 1}

    in_virtual_time(story)


def test_if_nothing_was_written_at_all_nothing_is_waited_for() -> None:
    async def story(etcd: Etcd, leader: Leader) -> None:
        assert await leader.catches_up() == 0
        assert etcd.lists == {NODES: 1, SERVICES: 1}

    in_virtual_time(story)


def test_kinds_with_few_objects_are_listed_instead_of_waited_for() -> None:
    async def story(etcd: Etcd, leader: Leader) -> None:
        etcd.others_write()
        assert await leader.catches_up() < 0.2
        assert etcd.lists == {NODES: 2, SERVICES: 2}

    in_virtual_time(story)


def test_a_watch_of_very_many_objects_has_two_seconds() -> None:
    async def story(etcd: Etcd, leader: Leader) -> None:
        etcd.others_write()
        loop = asyncio.get_running_loop()
        loop.call_later(1.9, etcd.bookmark, NODES)
        assert MOST_PATIENCE_SECONDS > await leader.catches_up() > 1.5
        assert etcd.lists[NODES] == 1
        etcd.others_write()
        assert MOST_PATIENCE_SECONDS + 0.5 > await leader.catches_up() >= MOST_PATIENCE_SECONDS
        assert etcd.lists[NODES] == 2

    in_virtual_time(story, objects={NODES: {f"n{number}": number for number in range(1, 20_001)}, SERVICES: {}})


def test_a_list_that_takes_long_is_left_to_come_to_its_end() -> None:
    async def story(etcd: Etcd, leader: Leader) -> None:
        etcd.silent = True
        etcd.write(NODES, "late")
        etcd.list_seconds = 30.0
        assert 35 > await leader.catches_up() > 30
        assert "late" in leader.known.versions
        assert etcd.lists[NODES] == 2

    in_virtual_time(story)


def test_a_list_that_began_before_it_led_is_not_enough() -> None:
    async def story(etcd: Etcd, leader: Leader) -> None:
        etcd.silent, etcd.list_seconds = True, 5.0
        leader.informers.reflectors["Node"].relist()
        # it has read what there is by now, and takes its time to arrive
        await asyncio.sleep(1)
        written = etcd.write(NODES, "late")
        await leader.catches_up()
        assert leader.known.versions["late"] == str(written)

    in_virtual_time(story)


@pytest.mark.parametrize(
    "refusal",
    [AWAY, Refused(403, "Forbidden", "nodes is forbidden"), Refused(500, "InternalError", "no quorum")],
    ids=["away", "forbidden", "broken"],
)
def test_a_server_that_does_not_answer_is_asked_until_it_does(refusal: Exception) -> None:
    async def story(etcd: Etcd, leader: Leader) -> None:
        etcd.silent = True
        written = etcd.write(NODES, "late")
        etcd.refusal = refusal  # type: ignore[assignment]
        catching_up = asyncio.create_task(leader.catches_up())
        await asyncio.sleep(20)
        assert not catching_up.done()
        assert len(leader.notes) == 1, "said once, not every second"
        etcd.refusal = None
        await catching_up
        assert leader.known.versions["late"] == str(written)

    in_virtual_time(story)


def test_a_list_that_fails_is_tried_again() -> None:
    async def story(etcd: Etcd, leader: Leader) -> None:
        etcd.silent = True
        written = etcd.write(NODES, "late")
        catching_up = asyncio.create_task(leader.catches_up())
        await asyncio.sleep(0.01)
        # how new everything is has been answered; then the server is gone
        etcd.refusal = AWAY
        await asyncio.sleep(20)
        assert not catching_up.done()
        etcd.refusal = None
        await catching_up
        assert leader.known.versions["late"] == str(written)

    in_virtual_time(story)


def test_who_gives_up_waiting_leaves_nothing_behind() -> None:
    async def story(etcd: Etcd, leader: Leader) -> None:
        etcd.others_write()
        etcd.list_seconds = 30.0
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(1):
                await leader.catches_up()
        etcd.list_seconds = 0.0
        await leader.catches_up()

    in_virtual_time(story)


def test_versions_that_are_no_numbers_cannot_be_compared_and_hold_nobody_up() -> None:
    async def story(etcd: Etcd, leader: Leader) -> None:
        etcd.version = "v2:abc"  # type: ignore[assignment]
        assert await leader.catches_up() == 0

    in_virtual_time(story)


def test_a_kind_that_nobody_needs_any_more_is_not_waited_for() -> None:
    async def story(etcd: Etcd, leader: Leader) -> None:
        get = etcd.get

        async def refusing(path: str, query: Query | None = None) -> bytes:
            if path == SERVICES:
                raise AWAY
            return await get(path, query)

        etcd.get = refusing  # type: ignore[method-assign]
        catching_up = asyncio.create_task(leader.catches_up())
        await asyncio.sleep(30)
        assert not catching_up.done()
        leader.informers.keep({"Node"})
        assert await asyncio.wait_for(catching_up, 5) > 0

    in_virtual_time(story)


def test_a_start_does_not_wait_for_a_kind_that_is_dropped_meanwhile() -> None:
    async def story() -> None:
        etcd = Etcd()
        etcd.list_seconds = 1000
        leader = Leader(etcd)
        leader.informers.start()
        waiting = asyncio.create_task(leader.informers.until_synced())
        await asyncio.sleep(10)
        leader.informers.keep(())
        await asyncio.wait_for(waiting, 1)
        await leader.informers.stop()

    run_in_virtual_time(story())
