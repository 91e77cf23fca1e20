"""The page's interface to configurations: the one in force, faults while typing, comparisons.

From requests to responses. Comparisons take seconds on large clusters: they run in a thread, one at a time. A
comparison whose browser no longer waits is skipped.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable
from typing import Any

from aiohttp import web

from kubesched.config.errors import ConfigError
from kubesched.config.load import Loaded
from kubesched.sources.scheduler_configuration import read_in_force
from kubesched_lab.page.configuration.questions import (
    ConfigurationReader,
    ConfigurationText,
    checked,
    compared,
    says_the_same,
    shown_text,
)
from kubesched_lab.page.page_state import SIMULATION, PageState
from kubesched_lab.page.queue.feed import QueueFeed
from kubesched_lab.page.routes.bodies import RefusedRequestError, json_answer, read_body
from kubesched_lab.page.shown.shown_cluster import ShownCluster
from kubesched_lab.page.simulation.scenario import SimulatedConfiguration

IN_FORCE = "In force."
ANOTHER = "The scheduler has another configuration in force than this one, which the answers use: restart the page."
# between two reads of the configuration of a scheduler; longer if the scheduler does not report it
AGAIN_SECONDS = 10.0
LATER_SECONDS = 60.0
NOT_APPLICABLE = (
    "configurations can be applied to simulations only: choose Try it in a simulation, or give the text to "
    "kubesched run --config FILE"
)


async def follow_configuration(state: PageState, queue: QueueFeed) -> None:
    """Ask the source's scheduler periodically whether the configuration on display is still in force."""
    source = state.source
    assert source is not None, "a simulation has its own configuration"
    model, at_first = source.model, state.source_assumed
    reader = ConfigurationReader(model.loaded.gates, model.registry)
    while queue.target is not None:
        told = await asyncio.to_thread(read_in_force, queue.target)
        if told.text:
            same = await asyncio.to_thread(says_the_same, reader, told.text, model.loaded)
            state.source_assumed = at_first if same else ANOTHER
        await asyncio.sleep(AGAIN_SECONDS if told.text else LATER_SECONDS)


class ConfigurationRoutes:
    """Answers about the configuration of the cluster on display; `configure` puts another one in force."""

    def __init__(self, state: PageState, configure: Callable[[SimulatedConfiguration], Awaitable[str]]) -> None:
        self._state = state
        self._configure = configure
        self._comparing = asyncio.Lock()
        self._asked = 0

    def routes(self) -> list[web.RouteDef]:
        """Return the routes."""
        return [
            web.get("/v1/configuration", self._in_force),
            web.post("/v1/configuration", self._apply),
            web.post("/v1/configuration/check", self._check),
            web.post("/v1/configuration/compare", self._compare),
        ]

    @property
    def _shown(self) -> ShownCluster:
        return self._state.shown

    @property
    def _reader(self) -> ConfigurationReader:
        model = self._shown.model
        return ConfigurationReader(model.loaded.gates, model.registry)

    async def _in_force(self, request: web.Request) -> web.StreamResponse:
        text = shown_text(self._state.configuration, self._shown.model.loaded)
        applicable = self._state.mode == SIMULATION
        return json_answer(
            {
                "applicable": applicable,
                "why": "" if applicable else NOT_APPLICABLE,
                "status": self._state.assumed or IN_FORCE,
                **checked(self._reader, ConfigurationText(text)),
            }
        )

    async def _check(self, request: web.Request) -> web.StreamResponse:
        asked = await read_body(request, ConfigurationText)
        return json_answer(await asyncio.to_thread(checked, self._reader, asked))

    async def _compare(self, request: web.Request) -> web.StreamResponse:
        asked = await read_body(request, ConfigurationText)
        edited = await asyncio.to_thread(self._load, asked.yaml)
        model, seq = self._state.written.model, self._shown.seq
        work = functools.partial(compared, model.objects_now(), model.loaded, edited, model.registry)
        answer = await self._in_turn(functools.partial(work, reschedule_all=asked.reschedule_all))
        return json_answer({"seq": seq, "comparison": answer})

    async def _in_turn(self, work: Callable[[], Any]) -> Any:
        """Run a function in a thread after earlier requests; skip it if a newer one was requested meanwhile."""
        self._asked += 1
        number = self._asked
        async with self._comparing:
            if number != self._asked:
                raise RefusedRequestError(409, "a newer comparison was asked for")
            return await asyncio.to_thread(work)

    async def _apply(self, request: web.Request) -> web.StreamResponse:
        asked = await read_body(request, ConfigurationText)
        if self._state.mode != SIMULATION:
            raise RefusedRequestError(409, NOT_APPLICABLE)
        loaded = await asyncio.to_thread(self._load, asked.yaml)
        return json_answer({"done": await self._configure(SimulatedConfiguration(asked.yaml, loaded))})

    def _load(self, text: str) -> Loaded:
        """Return the configuration in a text; raises RefusedRequestError with its first fault."""
        try:
            return self._reader.load(text)
        except ConfigError as error:
            raise RefusedRequestError(422, f"the configuration has a fault: {error.errors[0]}") from None
