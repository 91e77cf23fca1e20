"""/v1/queue: the scheduling queue of what is shown, now and over time.

From what the page shows to aiohttp's routes: a simulation is asked itself, a cluster's queue comes from its feed.
"""

from aiohttp import web

from kubesched.page.page_state import PageState
from kubesched.page.queue.feed import QueueFeed
from kubesched.page.routes.bodies import json_answer
from kubesched.page.simulation.simulated_queue import simulated_queue


def queue_routes(state: PageState, feed: QueueFeed | None) -> list[web.RouteDef]:
    """Return the routes; `feed` is None where there is no cluster beside the simulation."""

    async def queue(request: web.Request) -> web.StreamResponse:
        if state.simulation is not None:
            return json_answer(await state.simulation.ask(simulated_queue))
        assert feed is not None, "there is neither a cluster nor a simulation"
        return json_answer(await feed.answer(state.shown))

    return [web.get("/v1/queue", queue)]
