"""Faults on request: as a text, by dice, in process in virtual time, and over HTTP."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import aiohttp
import pytest
from tests.support.api import events_of, seen

from kubesched.common.virtual_time import run_in_virtual_time
from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import ADMINISTRATOR, Request, Response, Target
from kubesched_controlplane.server.catalog import built_in
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.server.verbs.watching import Watch
from kubesched_controlplane.transport.faults import Dice, Fault, FaultError, parse_faults
from kubesched_controlplane.transport.http import HttpServer
from kubesched_controlplane.transport.local_client import LocalClient
from kubesched_controlplane.transport.transport import ConnectionLostError, Transport

NODES = "/api/v1/nodes"
CATALOG = built_in()


def a_target(words: str) -> Target:
    """Return what a request is about, from `VERB RESOURCE[/SUBRESOURCE]`."""
    verb, _, path = words.partition(" ")
    plural, _, subresource = path.partition("/")
    resource = next(each for each in CATALOG.resources if each.plural == plural)
    return Target(verb, resource, "", "x", subresource)


# -- the text


@pytest.mark.parametrize(
    ("text", "faults"),
    [
        pytest.param("", (), id="nothing"),
        pytest.param("conflict=0.05", (Fault("conflict", 0.05),), id="a rate"),
        pytest.param(" conflict = 1 , timeout=0 ,", (Fault("conflict", 1), Fault("timeout", 0)), id="spaces, commas"),
        pytest.param("slow=0.1:200ms", (Fault("slow", 0.1, 0.2),), id="a rate and a duration"),
        pytest.param("too-many-requests=0.5", (Fault("too-many-requests", 0.5, 1.0),), id="a duration left out"),
        pytest.param("watch-expire=1m30s", (Fault("watch-expire", seconds=90),), id="a duration"),
        pytest.param("outage=30s:5s", (Fault("outage", seconds=5, every=30),), id="two durations"),
        pytest.param(
            "conflict=1 on create pods/binding",
            (Fault("conflict", verb="create", resource="pods/binding"),),
            id="limited to a verb and a resource",
        ),
        pytest.param("timeout=1 on list", (Fault("timeout", verb="list"),), id="limited to a verb"),
        pytest.param("watch-drop=1 on nodes", (Fault("watch-drop", resource="nodes"),), id="limited to a resource"),
        pytest.param("timeout=1 on * */status", (Fault("timeout", resource="*/status"),), id="limited by stars"),
    ],
)
def test_a_text_names_faults(text: str, faults: tuple[Fault, ...]) -> None:
    assert parse_faults(text) == faults


@pytest.mark.parametrize(
    ("part", "why"),
    [
        pytest.param("conflikt=0.1", "there is no fault 'conflikt'; there are conflict, ", id="no such fault"),
        pytest.param("conflict", "expected conflict=RATE", id="no value"),
        pytest.param("conflict=", "expected conflict=RATE", id="an empty value"),
        pytest.param("=1", "there is no fault ''", id="no name"),
        pytest.param("conflict=2", "'2' is no rate between 0 and 1", id="a rate above one"),
        pytest.param("conflict=-0.1", "'-0.1' is no rate", id="a rate below nothing"),
        pytest.param("conflict=nan", "'nan' is no rate", id="a rate that is no number"),
        pytest.param("conflict=often", "'often' is no rate", id="a rate in words"),
        pytest.param("slow=0.1", "expected slow=RATE:DURATION, such as slow=0.1:200ms", id="a duration is missing"),
        pytest.param("slow=0.1:5", "'5' is not a duration such as 200ms", id="a duration without a unit"),
        pytest.param("slow=0.1:-5s", "'-5s' is not a duration", id="a duration into the past"),
        pytest.param("outage=30s", "expected outage=DURATION:DURATION", id="how long is missing"),
        pytest.param("outage=30s:5s on pods", "cannot be limited", id="an outage for some"),
        pytest.param("timeout=1 on bind pods", "'bind' is no verb", id="no such verb"),
        pytest.param("timeout=1 on create pots", "there is no resource 'pots'", id="no such resource"),
        pytest.param("timeout=1 on create pods/bind", "pods have no 'bind'", id="no such subresource"),
        pytest.param("timeout=1 on create pods now", "expected 'on VERB RESOURCE'", id="too many words"),
        pytest.param("watch-drop=1 on create pods", "watch-drop is about watches", id="a watch is not created"),
    ],
)
def test_what_is_wrong_with_a_text_names_the_part(part: str, why: str) -> None:
    with pytest.raises(FaultError) as caught:
        parse_faults(f"unavailable=0.5,{part},timeout=0.1")
    assert str(caught.value).startswith(f"{part!r}: ")
    assert why in str(caught.value)


@pytest.mark.parametrize(
    ("fault", "words", "met"),
    [
        pytest.param("timeout=1", "get pods", True, id="without limits: everything"),
        pytest.param("conflict=1", "get pods", False, id="a read has no conflicts"),
        pytest.param("conflict=1", "patch pods/status", True, id="a write has"),
        pytest.param("conflict=1 on create pods/binding", "create pods/binding", True, id="the very thing"),
        pytest.param("conflict=1 on create pods/binding", "create pods", False, id="not the object itself"),
        pytest.param("timeout=1 on pods", "patch pods/status", False, id="an object is not its status"),
        pytest.param("timeout=1 on pods/*", "patch pods/status", True, id="all of an object"),
        pytest.param("timeout=1 on */status", "patch nodes/status", True, id="the status of all"),
        pytest.param("timeout=1 on list", "watch pods", False, id="another verb"),
    ],
)
def test_a_fault_is_met_where_it_is_limited_to(fault: str, words: str, met: bool) -> None:
    (found,) = parse_faults(fault)
    assert found.concerns(a_target(words)) is met


def test_a_path_that_is_no_resource_meets_only_with_faults_without_limits() -> None:
    unlimited, limited, conflict = parse_faults("timeout=1,timeout=1 on pods,conflict=1")
    assert [each.concerns(None) for each in (unlimited, limited, conflict)] == [True, False, False]


def test_the_same_seed_brings_the_same_about_and_rates_hold() -> None:
    faults = parse_faults("conflict=0.2,slow=0.3:100ms")

    def plans(seed: int) -> list[Any]:
        dice, target = Dice(faults, seed), a_target("patch nodes")
        found = [dice.plan(target) for _ in range(2000)]
        assert dice.thrown["conflict"] == sum(plan.refusal is not None for plan in found)
        assert all(plan.seconds == 0 or 0.05 <= plan.seconds <= 0.15 for plan in found)
        return [(plan.refusal is not None, plan.seconds) for plan in found]

    assert plans(7) == plans(7) != plans(8)
    assert 300 < sum(refused for refused, _ in plans(7)) < 500


# -- in process, in virtual time


class World:
    """A server behind a transport with faults, in virtual time."""

    def __init__(self, faults: str, seed: int = 1) -> None:
        self.server = ApiServer(access=always_allow, seed=1)
        self.dice = Dice(parse_faults(faults), seed)
        self.transport = Transport(self.server, self.dice)
        self._client = LocalClient(self.server, ADMINISTRATOR)
        self.begun = asyncio.get_running_loop().time()

    @property
    def now(self) -> float:
        return asyncio.get_running_loop().time() - self.begun

    def add(self, *names: str) -> None:
        """Create nodes past the transport."""
        for name in names:
            self._client.create(self._client.resource("v1", "Node"), a_node(name))

    def has(self, name: str) -> bool:
        return self.server.registry.store.get("nodes", "", name) is not None

    async def ask(self, method: str, path: str = NODES, body: bytes = b"", **query: str) -> Response:
        found = await self.transport.ask(
            Request(method, path, {name: [text] for name, text in query.items()}, {}, body)
        )
        assert isinstance(found, Response)
        return found

    async def watch(self, **query: str) -> Watch:
        options = {name: [text] for name, text in {"watch": "1", **query}.items()}
        found = await self.transport.ask(Request("GET", NODES, options))
        assert isinstance(found, Watch)
        return found


def a_node(name: str) -> dict[str, Any]:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": name}}


def played(work: Callable[[World], Awaitable[None]], faults: str, seed: int = 1) -> None:
    async def play() -> None:
        await work(World(faults, seed))

    run_in_virtual_time(play())


NEW = b'{"apiVersion":"v1","kind":"Node","metadata":{"name":"new"}}'


@pytest.mark.parametrize(
    ("fault", "code", "reason", "retry_after"),
    [
        ("conflict=1", 409, "Conflict", None),
        ("too-many-requests=1:7s", 429, "TooManyRequests", "7"),
        ("internal-error=1", 500, "InternalError", None),
        ("unavailable=1", 503, "ServiceUnavailable", "1"),
        ("timeout=1", 504, "Timeout", None),
    ],
)
def test_a_refusal_has_its_code_and_nothing_is_done(
    fault: str, code: int, reason: str, retry_after: str | None
) -> None:
    async def work(world: World) -> None:
        found = await world.ask("POST", body=NEW)
        assert (found.code, found.document()["reason"]) == (code, reason)
        assert found.headers.get("Retry-After") == retry_after
        assert not world.has("new")

    played(work, fault)


def test_a_lost_request_did_nothing_and_a_lost_response_did() -> None:
    async def before(world: World) -> None:
        with pytest.raises(ConnectionLostError):
            await world.ask("POST", body=NEW)
        assert not world.has("new")

    async def after(world: World) -> None:
        with pytest.raises(ConnectionLostError):
            await world.ask("POST", body=NEW)
        assert world.has("new")
        with pytest.raises(ConnectionLostError):
            await world.watch()
        assert not world.server.watching.watches

    played(before, "lost-request=1")
    played(after, "lost-response=1")


def test_a_slow_answer_comes_later_but_what_was_asked_is_done_at_once() -> None:
    async def work(world: World) -> None:
        asking = asyncio.create_task(world.ask("POST", body=NEW))
        await asyncio.sleep(0.01)
        assert world.has("new")
        assert not asking.done()
        assert (await asking).code == 201
        assert 1.0 <= world.now <= 3.0

    played(work, "slow=1:2s")


def test_who_leaves_while_a_watch_is_slow_to_begin_leaves_nothing_behind() -> None:
    async def work(world: World) -> None:
        asking = asyncio.create_task(world.watch())
        await asyncio.sleep(0.01)
        assert len(world.server.watching.watches) == 1
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking
        assert not world.server.watching.watches

    played(work, "slow=1:2s")


def test_events_are_dropped_or_doubled_but_never_what_a_watch_begins_with() -> None:
    async def dropping(world: World) -> None:
        world.add("a")
        watch = await world.watch(allowWatchBookmarks="true")
        world.add("b", "c")
        world.server.watching.bookmark()
        assert seen(watch) == [("ADDED", "a"), ("BOOKMARK", "")]
        assert world.dice.thrown == {"watch-drop": 2}

    async def doubling(world: World) -> None:
        world.add("a")
        watch = await world.watch()
        world.add("b")
        assert seen(watch) == [("ADDED", "a"), ("ADDED", "b"), ("ADDED", "b")]

    played(dropping, "watch-drop=1 on nodes")
    played(doubling, "watch-duplicate=1")


def test_a_late_event_holds_up_those_after_it_and_their_bookmarks() -> None:
    async def work(world: World) -> None:
        watch = await world.watch(allowWatchBookmarks="true")
        names = [f"n{number}" for number in range(20)]
        arrived: list[tuple[float, str]] = []
        watch.on_ready(lambda: arrived.extend((world.now, name or kind) for kind, name in seen(watch)))
        for name in names:
            world.add(name)
            await asyncio.sleep(0.1)
        world.server.watching.bookmark()
        await asyncio.sleep(60)
        assert [name for _, name in arrived] == [*names, "BOOKMARK"]
        late = [when - 0.1 * number for number, (when, _) in enumerate(arrived)]
        assert min(late) < 0.01, "some are on time"
        assert 0.5 < max(late) <= 1.5
        assert world.dice.thrown["watch-delay"] < 20

    played(work, "watch-delay=0.2:1s")


def test_a_watch_expires_and_the_past_is_forgotten() -> None:
    async def work(world: World) -> None:
        world.add("a")
        version = str(world.server.registry.store.version)
        watch = await world.watch(resourceVersion=version)
        world.add("b")
        await asyncio.sleep(29)
        assert seen(watch) == [("ADDED", "b")]
        await asyncio.sleep(62)
        ((kind, status),) = events_of(watch)
        assert (kind, status["code"], status["reason"], watch.ended) == ("ERROR", 410, "Expired", True)
        ((kind, status),) = events_of(await world.watch(resourceVersion=version))
        assert (kind, status["code"]) == ("ERROR", 410)
        current = str(world.server.registry.store.version)
        assert not (await world.watch(resourceVersion=current)).ended

    played(work, "watch-expire=60s")


def test_a_late_event_does_not_outlive_its_watch() -> None:
    async def work(world: World) -> None:
        watch = await world.watch()
        world.add("a")
        watch.end()
        await asyncio.sleep(10)
        assert seen(watch) == []

    played(work, "watch-delay=1:5s")


def test_during_an_outage_nobody_is_there_and_watches_are_cut() -> None:
    async def work(world: World) -> None:
        world.transport.start()
        watch = await world.watch()
        assert (await world.ask("GET")).code == 200
        while not world.transport.away:
            await asyncio.sleep(0.1)
        assert 15 <= world.now <= 46
        assert watch.ended
        with pytest.raises(ConnectionLostError):
            await world.ask("POST", body=NEW)
        assert not world.has("new")
        await asyncio.sleep(5.1)
        assert (await world.ask("GET")).code == 200
        await asyncio.sleep(100)
        assert world.dice.thrown["outage"] >= 2
        world.transport.stop()

    played(work, "outage=30s:5s")


def test_without_faults_a_watch_goes_straight_through() -> None:
    async def work(world: World) -> None:
        transport = Transport(world.server)
        watch = await transport.ask(Request("GET", NODES, {"watch": ["1"]}))
        assert isinstance(watch, Watch)
        assert watch._gate is None
        transport.stop()
        assert watch.ended

    played(work, "")


# -- over HTTP


def served(work: Callable[[HttpServer, aiohttp.ClientSession], Awaitable[None]], faults: str) -> None:
    async def play() -> None:
        server = ApiServer(access=always_allow, seed=1)
        http = HttpServer(server, transport=Transport(server, Dice(parse_faults(faults), 1)))
        await http.start()
        try:
            async with aiohttp.ClientSession(http.url) as session, asyncio.timeout(10):
                await work(http, session)
        finally:
            await http.stop(0.2)

    asyncio.run(play())


def test_over_http_a_lost_response_is_a_cut_connection_after_the_write() -> None:
    async def work(http: HttpServer, session: aiohttp.ClientSession) -> None:
        with pytest.raises(aiohttp.ClientConnectionError):
            await session.post(NODES, data=NEW, headers={"Content-Type": "application/json"})
        assert http.server.registry.store.get("nodes", "", "new") is not None
        async with session.get(f"{NODES}/new") as response:
            assert response.status == 200

    served(work, "lost-response=1 on create nodes")


def test_over_http_a_refusal_says_when_to_come_again() -> None:
    async def work(http: HttpServer, session: aiohttp.ClientSession) -> None:
        async with session.get(NODES) as response:
            assert (response.status, response.headers["Retry-After"]) == (429, "2")
            assert (await response.json())["details"]["retryAfterSeconds"] == 2

    served(work, "too-many-requests=1:2s")


def test_over_http_an_outage_cuts_what_there_is_and_takes_nothing_new() -> None:
    async def work(http: HttpServer, session: aiohttp.ClientSession) -> None:
        async with session.get(NODES, params={"watch": "1"}) as watch:
            http.transport.go_away(0.1)
            with pytest.raises(aiohttp.ClientError):
                await watch.content.read()
        with pytest.raises(aiohttp.ClientError):
            await session.get(NODES)
        while http.transport.away:
            await asyncio.sleep(0.01)
        async with session.get(NODES) as response:
            assert response.status == 200

    served(work, "")


def test_over_http_an_expired_watch_ends_with_an_error_line() -> None:
    async def work(http: HttpServer, session: aiohttp.ClientSession) -> None:
        async with session.get(NODES, params={"watch": "1"}) as watch:
            lines = (await watch.content.read()).splitlines()
        assert len(lines) == 1
        assert b'"type":"ERROR"' in lines[0]
        assert b'"code":410' in lines[0]

    served(work, "watch-expire=20ms")
