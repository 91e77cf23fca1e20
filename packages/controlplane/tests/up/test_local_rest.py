"""Requests to an API server in the same process: the answers and errors of a client over HTTP, and what faults do."""

import asyncio
import sys
from collections.abc import Awaitable, Callable
from typing import Any

import msgspec
import pytest

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.client.effects import ApiEffects
from kubesched.client.events import EventRecorder
from kubesched.client.informers.reflector import Reflector
from kubesched.client.rest import Refused, Unreachable
from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.core.framework.values.effects import ConflictError, Delete, NotFoundError
from kubesched_controlplane.api.requests import ADMINISTRATOR, User
from kubesched_controlplane.running import SCHEDULER, new_server
from kubesched_controlplane.transport.faults import Dice, parse_faults
from kubesched_controlplane.transport.transport import Transport
from kubesched_controlplane.up.local_rest import LocalRest

PODS = "/api/v1/namespaces/default/pods"
CONTAINERS = [{"name": "c", "image": "i"}]


def a_body(name: str) -> bytes:
    return msgspec.json.encode({"metadata": {"name": name}, "spec": {"containers": CONTAINERS}})


def asking(
    story: Callable[[LocalRest, Transport], Awaitable[Any]], faults: str = "", user: User = ADMINISTRATOR
) -> Any:
    """Return what a story comes to, told in virtual time with a server of its own."""

    async def run() -> Any:
        transport = Transport(new_server({}, seed=1), Dice(parse_faults(faults)) if faults else None)
        transport.start()
        try:
            return await story(LocalRest(transport, user), transport)
        finally:
            transport.stop()

    return run_in_virtual_time(run())


def test_what_is_created_can_be_read_changed_and_listed() -> None:
    async def story(rest: LocalRest, transport: Transport) -> None:
        await rest.send("POST", PODS, a_body("a"))
        merge = "application/merge-patch+json"
        await rest.send("PATCH", f"{PODS}/a", b'{"metadata":{"labels":{"x":"y"}}}', content_type=merge)
        assert msgspec.json.decode(await rest.get(f"{PODS}/a"))["metadata"]["labels"] == {"x": "y"}
        await rest.send("POST", PODS, a_body("b"))
        found = msgspec.json.decode(await rest.get(PODS, {"labelSelector": "x=y"}))
        assert [pod["metadata"]["name"] for pod in found["items"]] == ["a"]
        # as a client escapes it
        assert msgspec.json.decode(await rest.get(f"{PODS}/%61"))["metadata"]["name"] == "a"
        assert rest.requests == 0

    asking(story)


@pytest.mark.parametrize(
    ("method", "path", "body", "user", "code", "reason"),
    [
        pytest.param("GET", f"{PODS}/x", None, ADMINISTRATOR, 404, "NotFound", id="what is not there"),
        pytest.param("POST", PODS, a_body("known"), ADMINISTRATOR, 409, "AlreadyExists", id="a name that is taken"),
        pytest.param("POST", PODS, a_body("A!"), ADMINISTRATOR, 422, "Invalid", id="an invalid object"),
        pytest.param("POST", PODS, b"{", ADMINISTRATOR, 400, "BadRequest", id="a broken body"),
        pytest.param("POST", PODS, a_body("b"), SCHEDULER, 403, "Forbidden", id="a scheduler creates no pods"),
        pytest.param("GET", "/api/v1/secrets", None, SCHEDULER, 403, "Forbidden", id="a scheduler reads no secrets"),
    ],
)
def test_refusals_say_why(method: str, path: str, body: bytes | None, user: User, code: int, reason: str) -> None:
    async def story(rest: LocalRest, transport: Transport) -> Refused:
        await LocalRest(transport, ADMINISTRATOR).send("POST", PODS, a_body("known"))
        with pytest.raises(Refused) as refused:
            await rest.send(method, path, body)
        return refused.value

    refused = asking(story, user=user)
    assert (refused.code, refused.reason) == (code, reason)
    assert str(refused), "there are words"


def test_a_scheduler_lists_pods() -> None:
    async def story(rest: LocalRest, transport: Transport) -> bytes:
        return await rest.get("/api/v1/pods")

    assert msgspec.json.decode(asking(story, user=SCHEDULER))["items"] == []


def test_a_server_that_asks_for_patience_says_for_how_long() -> None:
    async def story(rest: LocalRest, transport: Transport) -> Refused:
        with pytest.raises(Refused) as refused:
            await rest.get(PODS)
        return refused.value

    refused = asking(story, "too-many-requests=1:7s")
    assert (refused.code, refused.retry_after_seconds) == (429, 7.0)


@pytest.mark.parametrize(
    ("fault", "landed"), [("lost-request=1 on create pods", False), ("lost-response=1 on create pods", True)]
)
def test_nobody_knows_what_became_of_a_request_that_is_not_answered(fault: str, landed: bool) -> None:
    async def story(rest: LocalRest, transport: Transport) -> list[Any]:
        with pytest.raises(Unreachable) as unreachable:
            await rest.send("POST", PODS, a_body("a"))
        assert unreachable.value.maybe_done
        assert rest.requests == 0
        found: list[Any] = msgspec.json.decode(await rest.get(PODS))["items"]
        return found

    assert len(asking(story, fault)) == landed


def test_while_the_server_is_away_nothing_is_done() -> None:
    async def story(rest: LocalRest, transport: Transport) -> None:
        transport.go_away(5.0)
        with pytest.raises(Unreachable) as unreachable:
            await rest.send("POST", PODS, a_body("a"))
        assert not unreachable.value.maybe_done
        await asyncio.sleep(6)
        assert msgspec.json.decode(await rest.get(PODS))["items"] == []

    asking(story)


# -- watches


async def pieces(rest: LocalRest, query: dict[str, str]) -> list[Any]:
    """Return the events of a watch until it ends."""
    events: list[Any] = []
    async with rest.stream(PODS, {"watch": "true", **query}) as stream:
        async for lines in stream.iter_any():
            events += map(msgspec.json.decode, lines.splitlines())
    return events


def test_a_watch_tells_what_happens_and_ends_when_its_time_is_up_with_how_far_it_got() -> None:
    async def story(rest: LocalRest, transport: Transport) -> None:
        began = asyncio.get_running_loop().time()
        watching = asyncio.create_task(pieces(rest, {"timeoutSeconds": "30", "allowWatchBookmarks": "true"}))
        await asyncio.sleep(1)
        (stream,) = rest.streams
        assert stream.all_taken
        await rest.send("POST", PODS, a_body("a"))
        assert not stream.all_taken, "the line is there, and nobody has read it"
        await asyncio.sleep(1)
        assert stream.all_taken
        added, mark = await watching
        assert (added["type"], added["object"]["metadata"]["name"]) == ("ADDED", "a")
        assert mark["type"] == "BOOKMARK"
        assert asyncio.get_running_loop().time() == began + 30
        assert rest.streams == ()
        assert not transport.server.watching.watches, "nobody is told any more"

    asking(story)


def test_a_watch_is_cut_when_the_server_goes_away() -> None:
    async def story(rest: LocalRest, transport: Transport) -> None:
        watching = asyncio.create_task(pieces(rest, {}))
        await asyncio.sleep(1)
        transport.go_away(5.0)
        with pytest.raises(Unreachable, match="cut"):
            await watching

    asking(story)


def test_whoever_stops_reading_leaves_nothing_behind() -> None:
    async def story(rest: LocalRest, transport: Transport) -> None:
        watching = asyncio.create_task(pieces(rest, {}))
        await asyncio.sleep(1)
        watching.cancel()
        await asyncio.wait([watching])
        assert rest.streams == ()
        assert not transport.server.watching.watches

    asking(story)


def test_a_version_that_is_too_old_is_told_in_the_watch() -> None:
    async def story(rest: LocalRest, transport: Transport) -> None:
        for name in ("a", "b"):
            await rest.send("POST", PODS, a_body(name))
        transport.server.registry.store.set_of("pods").forget_history()
        (event,) = await pieces(rest, {"resourceVersion": "1"})
        assert (event["type"], event["object"]["code"]) == ("ERROR", 410)

    asking(story)


# -- a reflector on it


class Heard:
    """Keeps what it is told of."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def put(self, obj: ApiObject) -> None:
        self.names.append(obj.name)

    def drop(self, obj: ApiObject) -> None:
        self.names.remove(obj.name)


async def ended(task: "asyncio.Task[None]") -> None:
    """Cancel a task; fail if it goes on."""
    task.cancel()
    await asyncio.wait([task], timeout=10)
    assert task.done(), "it does not end"


def test_a_reflector_is_told_to_list_anew_while_it_watches() -> None:
    async def story(rest: LocalRest, transport: Transport) -> None:
        heard = Heard()
        reflector = Reflector(rest, "/api/v1/pods", Pod, heard)
        running = asyncio.create_task(reflector.run())
        await reflector.synced.wait()
        # this event is lost
        (watch,) = transport.server.watching.watches
        watch.send_through(lambda kind, body: None)
        await rest.send("POST", PODS, a_body("a"))
        await asyncio.sleep(5)
        assert heard.names == []
        reflector.relist()
        await asyncio.sleep(5)
        assert heard.names == ["a"]
        await ended(running)

    asking(story)


def test_a_reflector_is_told_to_list_anew_while_it_waits_for_the_server() -> None:
    async def story(rest: LocalRest, transport: Transport) -> None:
        heard = Heard()
        reflector = Reflector(rest, "/api/v1/pods", Pod, heard)
        running = asyncio.create_task(reflector.run())
        await reflector.synced.wait()
        transport.go_away(20.0)
        await asyncio.sleep(1)
        reflector.relist()
        await asyncio.sleep(60)
        await rest.send("POST", PODS, a_body("a"))
        await asyncio.sleep(1)
        assert heard.names == ["a"], "it watches again"
        await ended(running)

    asking(story)


def test_a_reflector_keeps_nothing_of_what_was_listed_once_it_has_changed() -> None:
    async def story(rest: LocalRest, transport: Transport) -> None:
        await rest.send("POST", PODS, a_body("a"))
        reflector = Reflector(rest, "/api/v1/pods", Pod, Heard())
        running = asyncio.create_task(reflector.run())
        await reflector.synced.wait()
        listed = reflector.objects["default/a"]
        patch = b'{"metadata":{"labels":{"colour":"blue"}}}'
        await rest.send("PATCH", f"{PODS}/a", patch, content_type="application/merge-patch+json")
        await asyncio.sleep(1)
        assert reflector.objects["default/a"].metadata.labels == {"colour": "blue"}
        alone = object()
        assert sys.getrefcount(listed) == sys.getrefcount(alone), "nobody else has it"
        await ended(running)

    asking(story)


# -- effects on it


@pytest.mark.parametrize(
    ("faults", "uid", "meaning"),
    [
        pytest.param("", "another", NotFoundError, id="another pod has the name: the one that was meant is gone"),
        pytest.param("conflict=1 on delete pods", "", ConflictError, id="a conflict of any other kind: it is there"),
    ],
)
def test_a_conflict_does_not_mean_that_a_pod_is_gone(faults: str, uid: str, meaning: type[Exception]) -> None:
    async def story(rest: LocalRest, transport: Transport) -> None:
        made = msgspec.json.decode(await rest.send("POST", PODS, a_body("a")))
        effects = ApiEffects(rest, EventRecorder(rest, "here"))
        with pytest.raises(meaning) as raised:
            await effects.perform(Delete("Pod", "default", "a", uid or made["metadata"]["uid"]))
        assert type(raised.value) is meaning
        assert await rest.get(f"{PODS}/a"), "it is still there"

    asking(story, faults)
