"""Several act at once, an API server comes and goes: each action is carried out and taken back as a whole."""

import asyncio
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from tests.support.models import a_model
from tests.support.processes import SECONDS

from kubesched.client.rest import Refused, RestClient, Unreachable
from kubesched.testing import a_node, a_pod
from kubesched_lab.page.actions.live_changes import LiveChanges
from kubesched_lab.page.actions.requests import ActionError, ActionRequest
from kubesched_lab.page.shown.shown_cluster import ShownCluster

NODE = "apiVersion: v1\nkind: Node\nmetadata: {name: %s}\n"


class OddServer:
    """Answers requests that change something, as a function says; each takes a moment."""

    def __init__(self, answer: Callable[[str, str, Any], None] = lambda method, path, body: None) -> None:
        self.answer = answer
        self.sent: list[tuple[str, str]] = []

    async def get(self, path: str, query: Any = None) -> bytes:
        return b'{"items": []}'

    async def send(self, method: str, path: str, body: bytes | None = None, *, content_type: str = "") -> bytes:
        await asyncio.sleep(0.01)
        document = None if body is None else msgspec.json.decode(body)
        self.sent.append((method, path))
        self.answer(method, path, document)
        return msgspec.json.encode({"metadata": {"name": path.rpartition("/")[2], "uid": "u"}})


def a_shown_cluster() -> ShownCluster:
    pods = [a_pod(f"p{number}", node="n1", owner="ReplicaSet/web") for number in range(4)]
    return ShownCluster(a_model(*(a_node(f"n{number}") for number in range(1, 4)), *pods))


def changes_of(server: Any) -> LiveChanges:
    rest: RestClient = server
    return LiveChanges(a_shown_cluster(), rest, again_seconds=0.01)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(SECONDS):
        while not condition():
            await asyncio.sleep(0.005)


def test_two_who_undo_at_once_undo_two_actions() -> None:
    async def story() -> None:
        server = OddServer()
        changes = changes_of(server)
        for name in ("n1", "n2", "n3"):
            await changes.do(ActionRequest("cordon", nodes=name))
        server.sent.clear()
        said = await asyncio.gather(changes.undo(), changes.undo())
        assert [*said] == ["Undone: Cordon node n3", "Undone: Cordon node n2"]
        assert [path for _, path in server.sent] == ["/api/v1/nodes/n3", "/api/v1/nodes/n2"]
        assert [each["title"] for each in changes.done()] == ["Cordon node n1"]
        assert [*await asyncio.gather(changes.redo(), changes.redo())] == [
            "Done again: Cordon node n2",
            "Done again: Cordon node n3",
        ]

    asyncio.run(story())


def test_a_drain_that_is_undone_while_pods_are_evicted_evicts_no_more() -> None:
    async def story() -> None:
        server = OddServer()
        changes = changes_of(server)
        draining = asyncio.create_task(changes.do(ActionRequest("drain", nodes="n1")))
        await until(lambda: any("eviction" in path for _, path in server.sent))
        assert await changes.undo() == "Undone: Drain node n1"
        with pytest.raises(ActionError, match="Drain node n1: taken back, before all of its pods were evicted"):
            await draining
        evicted = len([path for _, path in server.sent if "eviction" in path])
        assert 0 < evicted < 4
        await asyncio.sleep(0.05)
        assert len([path for _, path in server.sent if "eviction" in path]) == evicted
        assert changes.running() is None

    asyncio.run(story())


def test_two_drains_at_once_are_one_after_the_other() -> None:
    def forbid(method: str, path: str, body: Any) -> None:
        if path.endswith("/eviction"):
            raise Refused(429, "TooManyRequests", "a budget forbids it")

    async def story() -> None:
        changes = changes_of(OddServer(forbid))
        asked = ActionRequest("drain", nodes="n1")
        first, second = await asyncio.gather(changes.do(asked), changes.do(asked), return_exceptions=True)
        assert "4 held up" in str(first)
        assert "Drain node n1 is still under way" in str(second)
        changes.close()

    asyncio.run(story())


def test_a_drain_goes_on_when_an_api_server_that_was_gone_is_back() -> None:
    state = "forbids"

    def answer(method: str, path: str, body: Any) -> None:
        if path.endswith("/eviction") and state == "forbids":
            raise Refused(429, "TooManyRequests", "a budget forbids it")
        if state == "gone":
            raise Unreachable("cannot connect", maybe_done=False)

    async def story() -> None:
        nonlocal state
        server = OddServer(answer)
        changes = changes_of(server)
        await changes.do(ActionRequest("drain", nodes="n1"))
        state = "gone"
        await until(lambda: "cannot connect" in str(changes.running()))
        state = "well"
        await until(lambda: changes.running() is None)
        assert {path.split("/")[-2] for _, path in server.sent[-4:]} == {"p0", "p1", "p2", "p3"}

    asyncio.run(story())


def test_after_a_drain_that_was_refused_another_can_begin_and_a_pod_that_came_again_is_none_of_it() -> None:
    code = 429

    def answer(method: str, path: str, body: Any) -> None:
        if path.endswith("/eviction"):
            raise Refused(code, "", "not now")

    async def story() -> None:
        nonlocal code
        changes = changes_of(OddServer(answer))
        await changes.do(ActionRequest("drain", nodes="n1"))
        code = 403
        await until(lambda: "it has ended" in str(changes.running()))
        # the UID is another's
        code = 409
        assert (await changes.do(ActionRequest("drain", nodes="n1"))).startswith("Drain node n1: 4 pods are evicted")
        assert changes.running() is None

    asyncio.run(story())


def test_what_was_created_before_an_api_server_was_gone_is_deleted() -> None:
    def answer(method: str, path: str, body: Any) -> None:
        if method == "POST" and body["metadata"]["name"] == "b":
            raise Unreachable("cannot connect", maybe_done=False)

    async def story() -> None:
        server = OddServer(answer)
        changes = changes_of(server)
        with pytest.raises(Unreachable):
            await changes.do(ActionRequest("create", yaml=NODE % "a" + "---\n" + NODE % "b"))
        assert [method for method, _ in server.sent] == ["POST", "POST", "DELETE"]
        assert changes.done() == []

    asyncio.run(story())
