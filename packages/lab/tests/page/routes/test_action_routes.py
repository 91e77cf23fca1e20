"""Actions over the page's interface: in simulations with undo and redo; elsewhere refusals in a sentence."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import pytest
from tests.support.models import a_model

from kubesched.testing import a_node, a_pod
from kubesched_lab.page.actions.requests import ActionError
from kubesched_lab.page.actions.simulated_changes import SimulatedChanges
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.server import PageServer
from kubesched_lab.page.shown.shown_cluster import ShownCluster

CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated}}
"""
NEW = """\
apiVersion: v1
kind: Pod
metadata: {name: new}
spec: {containers: [{name: main, image: i, resources: {requests: {cpu: 1}}}]}
"""


class Acting:
    """Does things to what a page's server shows."""

    def __init__(self, session: aiohttp.ClientSession, server: PageServer) -> None:
        self._session = session
        self.server = server

    async def ask(self, method: str, path: str, body: Any = None) -> tuple[int, Any]:
        async with self._session.request(method, path, json=body) as found:
            return found.status, await found.json()

    async def act(self, path: str = "/v1/actions", **asked: Any) -> str:
        status, found = await self.ask("POST", path, asked)
        assert status == 200, found
        return str(found["done"])

    async def settle(self) -> None:
        """Go to the end."""
        simulation = self.server.state.simulation
        assert simulation is not None
        await simulation.rested()
        simulation.seek(float("inf"))
        await simulation.rested()

    def nodes(self) -> dict[str, str]:
        """Return where each pod is."""
        return {name: pod.spec.node_name for name, pod in self.server.state.shown.model.pods.items()}


@asynccontextmanager
async def acting(*objects: Any, simulate: bool = True, config: str = "") -> AsyncIterator[Acting]:
    state = PageState(ShownCluster(a_model(*objects, config=config or None)), configuration=config)
    server = PageServer(state, token="t")
    base = (await server.start()).partition("/#")[0]
    try:
        async with aiohttp.ClientSession(base, headers={"Authorization": "Bearer t"}) as session:
            found = Acting(session, server)
            if simulate:
                assert (await found.ask("POST", "/v1/simulation", {}))[0] == 200
            yield found
    finally:
        await server.close()


def small() -> list[Any]:
    return [
        a_node("n1", cpu="4"),
        a_node("n2", cpu="4"),
        a_pod("w-1", node="n1", cpu="1", owner="ReplicaSet/w"),
        a_pod("w-2", node="n1", cpu="1", owner="ReplicaSet/w"),
    ]


def test_two_who_undo_at_once_undo_two_actions() -> None:
    async def story() -> None:
        async with acting(a_node("n1"), a_node("n2"), a_node("n3")) as page:
            for name in ("n1", "n2"):
                await page.act(do="cordon", nodes=name)
                await page.settle()
            simulation = page.server.state.simulation
            assert simulation is not None
            changes = SimulatedChanges(simulation)
            answers = await asyncio.gather(*(changes.undo() for _ in range(3)), return_exceptions=True)
            # what comes while the first is worked out may be refused, and leaves nothing half done
            undone = sum(isinstance(each, str) for each in answers)
            assert undone in (1, 2)
            assert all(isinstance(each, str | ActionError) for each in answers), answers
            await page.settle()
            model = page.server.state.shown.model
            closed = [name for name in model.node_names() if model.node(name).spec.unschedulable]
            assert closed == ["n1", "n2"][: 2 - undone]
            assert len(changes.done()) == 2 - undone

    asyncio.run(story())


def test_a_drained_node_is_empty_and_undo_fills_it_again() -> None:
    async def story() -> None:
        async with acting(*small()) as page:
            await page.settle()
            before = page.nodes()
            assert await page.act(do="drain", nodes="n1") == "Drain node n1: 2 pods are evicted"
            await page.settle()
            assert set(page.nodes().values()) == {"n2"}
            assert await page.act("/v1/undo") == "Undone: Drain node n1: 2 pods are evicted"
            await page.settle()
            assert page.nodes() == before
            _, listed = await page.ask("GET", "/v1/actions")
            assert (listed["done"], [each["title"][:5] for each in listed["undone"]]) == ([], ["Drain"])
            assert "Done again" in await page.act("/v1/redo")
            await page.settle()
            assert set(page.nodes().values()) == {"n2"}

    asyncio.run(story())


def test_pods_that_are_created_are_scheduled_under_the_configuration_in_force() -> None:
    async def story() -> None:
        async with acting(*small()) as page:
            await page.settle()
            assert await page.act("/v1/configuration", yaml=CONFIGURATION) == "Apply a configuration"
            await page.settle()
            _, configuration = await page.ask("GET", "/v1/configuration")
            assert configuration["yaml"] == CONFIGURATION
            assert configuration["applicable"]
            await page.act(do="create", yaml=NEW)
            await page.settle()
            assert page.nodes()["default/new"] == "n1"
            # back to the beginning and forth again is the same
            status, _ = await page.ask("POST", "/v1/clock", {"do": "seek", "to": 0})
            assert status == 200
            await page.settle()
            assert page.nodes()["default/new"] == "n1"
            await page.act("/v1/undo")
            await page.settle()
            assert "default/new" not in page.nodes()
            await page.act("/v1/undo")
            await page.settle()
            await page.act(do="create", yaml=NEW)
            await page.settle()
            assert page.nodes()["default/new"] == "n2"
            assert (await page.ask("POST", "/v1/redo", {}))[1] == {"error": "there is no action to redo"}

    asyncio.run(story())


def test_nodes_that_are_added_take_pending_pods() -> None:
    async def story() -> None:
        async with acting(a_node("n1", cpu="1"), a_pod("big", cpu="8")) as page:
            await page.settle()
            assert page.nodes() == {"default/big": ""}
            await page.act(do="add-nodes", pool="name=large,nodes=1,cpu=16")
            await page.settle()
            assert page.nodes() == {"default/big": "large-1"}
            await page.act(do="remove-nodes", nodes="large-1")
            await page.settle()
            assert page.nodes() == {}

    asyncio.run(story())


REFUSED: dict[str, tuple[bool, str, Any, int, str]] = {
    "files do not change": (False, "/v1/actions", {"do": "cordon", "nodes": "n1"}, 409, "try it in a simulation"),
    "nothing is undone in files": (False, "/v1/undo", {}, 409, "the cluster comes from files"),
    "an unknown deed": (True, "/v1/actions", {"do": "fly"}, 422, "do: 'fly' is not known"),
    "an unknown field": (True, "/v1/actions", {"do": "cordon", "node": "n1"}, 400, "unknown field `node`"),
    "an unknown node": (True, "/v1/actions", {"do": "cordon", "nodes": "n9"}, 404, "there is no node n9"),
    "nothing to undo": (True, "/v1/undo", {}, 422, "there is no action to undo"),
    "a text of more values than the page has time for": (
        True,
        "/v1/actions",
        {"do": "create", "yaml": f"a: [{'1,' * 60_000}]"},
        422,
        "yaml: more than 50000 values are too many for one action; create them in parts",
    ),
    "as many values in documents of their own": (
        True,
        "/v1/actions",
        {"do": "create", "yaml": "---\na\n" * 60_000},
        422,
        "more than 50000 values",
    ),
    "a configuration with a fault": (True, "/v1/configuration", {"yaml": "a: 1"}, 422, "the configuration has a fault"),
    "extenders": (
        True,
        "/v1/configuration",
        {"yaml": CONFIGURATION + "extenders: [{urlPrefix: http://localhost}]"},
        422,
        "extenders, which cannot be simulated",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_is_refused_is_told(case: str) -> None:
    simulate, path, body, status, why = REFUSED[case]

    async def story() -> None:
        async with acting(*small(), simulate=simulate) as page:
            if simulate:
                await page.settle()
            found, answer = await page.ask("POST", path, body)
            assert (found, why in answer["error"]) == (status, True), answer

    asyncio.run(story())


def test_a_body_that_is_nested_deeply_is_refused() -> None:
    body = b'{"yaml": "", "change": {"do": "set", "value": ' + b"[" * 5000 + b"]" * 5000 + b"}}"

    async def story() -> None:
        async with acting(*small(), simulate=False) as page:
            headers = {"Content-Type": "application/json"}
            async with page._session.post("/v1/configuration/check", data=body, headers=headers) as found:
                assert (found.status, "recursion" in await found.text()) == (400, True)

    asyncio.run(story())
