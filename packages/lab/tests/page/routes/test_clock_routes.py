"""Simulations and their clock over the page's interface, on real connections."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec
import pytest
from tests.support.models import a_model

from kubesched.testing import a_node, a_pod
from kubesched_controlplane.nodes.kubelets import RUN_SECONDS
from kubesched_lab.page.server import PageServer
from kubesched_lab.page.shown.shown_cluster import ShownCluster

SECONDS = 30.0


class Asking:
    """Asks a page's server."""

    def __init__(self, session: aiohttp.ClientSession, base: str, server: PageServer) -> None:
        self.session = session
        self.base = base
        self.server = server

    async def get(self, path: str) -> Any:
        async with self.session.get(self.base + path) as found:
            return msgspec.json.decode(await found.read())

    async def send(self, method: str, path: str, body: object = None, **options: Any) -> tuple[int, Any]:
        given = {"json": body, **options} if method == "POST" else options
        async with self.session.request(method, self.base + path, **given) as found:
            return found.status, msgspec.json.decode(await found.read())

    async def do(self, **body: Any) -> Any:
        """Command the clock; return it when the simulation rests."""
        status, answer = await self.send("POST", "/v1/clock", body)
        assert status == 200, answer
        simulation = self.server.state.simulation
        assert simulation is not None
        return await simulation.rested()


@asynccontextmanager
async def asking(*objects: Any) -> AsyncIterator[Asking]:
    server = PageServer(ShownCluster(a_model(*objects)), token="t")
    base = (await server.start()).partition("/#")[0]
    try:
        async with aiohttp.ClientSession(headers={"Authorization": "Bearer t"}) as session:
            yield Asking(session, base, server)
    finally:
        await server.close()


def test_a_cluster_is_continued_as_a_simulation_and_left() -> None:
    objects = (a_node("n", cpu="2"), a_pod("there", cpu="1", node="n"), a_pod("fits", cpu="1"), a_pod("not", cpu="1"))

    async def story() -> None:
        async with asking(*objects) as page:
            before = await page.get("/v1/cluster")
            assert (before["mode"], before["clock"], before["leavable"]) == ("files", None, False)
            status, begun = await page.send("POST", "/v1/simulation", {})
            assert (status, begun["mode"], begun["clock"]["state"]) == (200, "simulation", "paused")
            for field in ("nodes", "pods"):
                assert sorted((await page.get("/v1/cluster"))[field]["name"]) == sorted(before[field]["name"])
            clock = await page.do(do="seek", to="end")
            assert clock.state == "ended"
            pods = (await page.get("/v1/cluster"))["pods"]
            bound = {name for name, node in zip(pods["name"], pods["node"], strict=True) if node == 0}
            assert bound in ({"there", "fits"}, {"there", "not"})
            left = ({"fits", "not"} - bound).pop()
            pod = await page.get(f"/v1/pods/default/{left}")
            assert [each["outcome"] for each in pod["explanation"]["decisions"]] == ["unschedulable"]
            assert pod["explanation"]["decisions"][0]["rejected"][0]["plugin"] == "NodeResourcesFit"
            marks = (await page.get("/v1/timeline"))["marks"]
            assert sorted(mark["kind"] for mark in marks) == ["bound", "failed"]
            status, after = await page.send("DELETE", "/v1/simulation")
            assert (status, after["mode"]) == (200, "files")
            again = await page.get("/v1/cluster")
            assert again["seq"] > before["seq"]
            assert again["pods"] == before["pods"]

    asyncio.run(story())


@pytest.mark.parametrize("text", ["soon", "-1", "nan", "1e300", "9e11"])
def test_a_pod_that_says_no_time_to_run_keeps_nobody_from_a_simulation(text: str) -> None:
    async def story() -> None:
        async with asking(a_node("n"), a_pod("p", annotations={RUN_SECONDS: text})) as page:
            status, found = await page.send("POST", "/v1/simulation", {})
            assert (status, found["mode"]) == (200, "simulation")

    asyncio.run(story())


def test_browsers_are_told_to_read_again_when_another_cluster_is_shown_and_hear_the_clock() -> None:
    async def story() -> None:
        async with asking(a_node("n"), a_pod("p")) as page:
            seq = (await page.get("/v1/cluster"))["seq"]
            listening = asyncio.create_task(events_of(page, seq, "reset"))
            await page.send("POST", "/v1/simulation", {})
            assert (await listening)[-1][0] == "reset"
            seq = (await page.get("/v1/cluster"))["seq"]
            both = asyncio.gather(events_of(page, seq, "clock", 2), events_of(page, seq, "changes"))
            while not both.done():
                await page.do(do="step")
                await asyncio.sleep(0.05)
            clocks, changes = await both
            assert clocks[-1][1]["cycles"] >= 1
            assert [pod["name"] for pod in changes[-1][1]["pods"]] == ["p"]

    asyncio.run(story())


async def events_of(page: Asking, since: int, name: str, count: int = 1) -> list[tuple[str, Any]]:
    """Return events until one has come so many times."""
    seen: list[tuple[str, Any]] = []
    async with asyncio.timeout(SECONDS), page.session.get(f"{page.base}/v1/changes?since={since}") as found:
        kind = ""
        async for line in found.content:
            if line.startswith(b"event: "):
                kind = line[7:].decode().strip()
            elif line.startswith(b"data: "):
                seen.append((kind, msgspec.json.decode(line[6:])))
                count -= kind == name
                if not count:
                    break
    return seen


# a sentence: the body, the status, what the sentence has
REFUSED: dict[str, tuple[Any, int, str]] = {
    "an unknown deed": ({"do": "fly"}, 400, "do is 'fly'; expected one of play, pause, step, seek"),
    "no deed": ({}, 400, "missing required field `do`"),
    "an unknown field": ({"do": "step", "x": 1}, 400, "unknown field `x`"),
    "a speed of nothing": ({"do": "play", "speed": 0}, 400, "speed is 0; expected 0.001 to 1e+06"),
    "a time before the beginning": ({"do": "seek", "to": -1}, 400, "to is -1.0; expected seconds"),
    "a time in words": ({"do": "seek", "to": "tomorrow"}, 400, "to is 'tomorrow'; expected seconds"),
    "no time": ({"do": "seek"}, 400, "to is None; expected seconds"),
    "a list": ([], 400, "Expected `object`, got `array`"),
}


def test_what_is_wrong_with_a_command_is_told_in_a_sentence() -> None:
    async def story() -> None:
        async with asking(a_node("n")) as page:
            assert await page.send("POST", "/v1/clock", {"do": "step"}) == (
                409,
                {"error": "no simulation is shown: POST /v1/simulation starts one from the cluster on display"},
            )
            assert (await page.send("DELETE", "/v1/simulation"))[0] == 409
            await page.send("POST", "/v1/simulation", {})
            for sentence, (body, status, why) in REFUSED.items():
                found, answer = await page.send("POST", "/v1/clock", body)
                assert found == status, sentence
                assert why in answer["error"], sentence
            assert (await page.send("POST", "/v1/clock", None, data=b"{}", json=None))[0] == 415
            for query in ("from=x", "to=nan", "to=1e400"):
                assert "expected seconds" in (await page.get(f"/v1/timeline?{query}"))["error"]

    asyncio.run(story())


EXTENDER = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders: [{urlPrefix: "http://127.0.0.1:1", filterVerb: filter}]
"""


def test_what_cannot_be_simulated_is_told_and_the_cluster_stays() -> None:
    async def story() -> None:
        server = PageServer(ShownCluster(a_model(a_node("n"), config=EXTENDER)), token="t")
        base = (await server.start()).partition("/#")[0]
        try:
            async with aiohttp.ClientSession(headers={"Authorization": "Bearer t"}) as session:
                page = Asking(session, base, server)
                status, answer = await page.send("POST", "/v1/simulation", {})
                assert status == 422
                assert "extenders, which cannot be simulated" in answer["error"]
                assert (await page.get("/v1/cluster"))["mode"] == "files"
        finally:
            await server.close()

    asyncio.run(story())


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_commands_are_posts(method: str) -> None:
    async def story() -> None:
        async with asking(a_node("n")) as page:
            status, answer = await page.send(method, "/v1/clock")
            assert status in (404, 405)
            assert answer["error"]

    asyncio.run(story())
