"""/v1/queue: the scheduling queue of the cluster on display, now and over time.

From the state of the page to aiohttp's routes. A simulation has its own queue; the queue of a cluster comes from its
feed.
"""

from aiohttp import web

from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.queue.feed import QueueFeed
from kubesched_lab.page.routes.bodies import json_answer
from kubesched_lab.page.simulation.simulated_queue import simulated_queue


def queue_routes(state: PageState, feed: QueueFeed | None) -> list[web.RouteDef]:
    """Return the routes; `feed` is None if the page has only a simulation."""

    async def queue(request: web.Request) -> web.StreamResponse:
        if state.simulation is not None:
            return json_answer(await state.simulation.ask(simulated_queue))
        assert feed is not None, "there is neither a cluster nor a simulation"
        return json_answer(await feed.answer(state.shown))

    return [web.get("/v1/queue", queue)]
