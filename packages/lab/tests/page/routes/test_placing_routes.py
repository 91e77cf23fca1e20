"""Pods of manifests on the nodes where the scheduler places them: what is shown, and what begins with the manifests."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import Any

import aiohttp
from packages.lab.tests.page.routes.test_action_routes import CONFIGURATION, Acting
from tests.support.models import a_model

from kubesched.testing import a_node, a_pod
from kubesched_lab.page.page_state import NO_MANIFESTS, PageState
from kubesched_lab.page.server import PageServer
from kubesched_lab.page.shown.shown_cluster import ShownCluster


def played(work: Callable[[Acting], Awaitable[None]], *, drafted: bool = True) -> None:
    model = a_model(a_node("n", cpu="4"), a_pod("small", cpu="1"), a_pod("giant", cpu="9"))
    model.source = replace(model.source, drafted=drafted)

    async def play() -> None:
        server = PageServer(PageState(ShownCluster(model)), token="t")
        base = (await server.start()).partition("/#")[0]
        try:
            async with aiohttp.ClientSession(base, headers={"Authorization": "Bearer t"}) as session:
                await work(Acting(session, server))
        finally:
            await server.close()

    asyncio.run(play())


async def states(page: Acting) -> dict[str, Any]:
    """Return the state of each pod as browsers read it."""
    _, found = await page.ask("GET", "/v1/cluster")
    values, codes = found["pods"]["state"]["values"], found["pods"]["state"]["codes"]
    named = zip(found["pods"]["name"], codes, strict=True)
    return {"placed": found["placed"], **{name: values[code] for name, code in named}}


def test_pods_are_placed_and_shown_as_written_again() -> None:
    async def story(page: Acting) -> None:
        assert await states(page) == {"placed": False, "small": "pending", "giant": "pending"}
        assert await page.ask("POST", "/v1/placed", {"placed": True}) == (200, {"placed": True})
        assert await states(page) == {"placed": True, "small": "placed", "giant": "pending"}
        _, found = await page.ask("GET", "/v1/pods/default/small")
        assert found["placed"] is True
        assert "is on n" in found["explanation"]["summary"]
        assert await page.ask("POST", "/v1/placed", {"placed": False}) == (200, {"placed": False})
        assert await states(page) == {"placed": False, "small": "pending", "giant": "pending"}

    played(story)


def test_what_is_asked_next_is_about_what_is_shown() -> None:
    async def story(page: Acting) -> None:
        await page.ask("POST", "/v1/placed", {"placed": True})
        _, node = await page.ask("GET", "/v1/nodes/n")
        assert [pod["pod"] for pod in node["explanation"]["pods"]] == ["default/small"]
        _, queue = await page.ask("GET", "/v1/queue")
        assert [pod["pod"] for pod in queue["first"]] == ["default/giant"]
        _, pending = await page.ask("GET", "/v1/pending?remedies=no")
        assert pending["explanation"]["pending"] == 1

    played(story)


def test_a_simulation_and_a_comparison_begin_with_the_manifests() -> None:
    async def story(page: Acting) -> None:
        await page.ask("POST", "/v1/placed", {"placed": True})
        asked = {"yaml": CONFIGURATION, "rescheduleAll": False}
        _, compared = await page.ask("POST", "/v1/configuration/compare", asked)
        assert compared["comparison"]["pods"] == 2
        assert (await page.ask("POST", "/v1/simulation", {}))[0] == 200
        assert await states(page) == {"placed": None, "small": "pending", "giant": "pending"}
        assert await page.ask("POST", "/v1/placed", {"placed": True}) == (409, {"error": NO_MANIFESTS})
        await page.ask("DELETE", "/v1/simulation")
        assert (await states(page))["small"] == "placed"

    played(story)


def test_a_snapshot_is_shown_as_it_is() -> None:
    async def story(page: Acting) -> None:
        assert await states(page) == {"placed": None, "small": "pending", "giant": "pending"}
        assert await page.ask("POST", "/v1/placed", {"placed": True}) == (409, {"error": NO_MANIFESTS})

    played(story, drafted=False)
