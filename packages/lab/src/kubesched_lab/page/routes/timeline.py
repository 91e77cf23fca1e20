"""GET /v1/timeline: the events of a simulation or of a cluster that is followed.

From a request to marks. The decisions of a scheduler that keeps a record of them are read periodically.
"""

import asyncio
import time
from datetime import UTC, datetime
from typing import Final

from aiohttp import web

from kubesched.common.virtual_time import BEGINNING
from kubesched.serving.decisions.records import DecisionRecord
from kubesched.sources.scheduler_records import SchedulerAddress, config_of, read_api_server
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.routes.bodies import RefusedRequestError, json_answer
from kubesched_lab.page.simulation.page_simulation import PageSimulation
from kubesched_lab.page.timeline.mark_series import CYCLES, SECONDS, timeline_answer

MOST_DECISIONS: Final = 2000
AGAIN_SECONDS: Final = 2.0
# after an answer without decisions: the scheduler is not kubesched, or does not answer
LATER_SECONDS: Final = 30.0


class TimelineRoutes:
    """Answers about past events; `scheduler` is the address of the source cluster's scheduler, if it is known."""

    def __init__(self, state: PageState, scheduler: SchedulerAddress | None = None) -> None:
        self._state = state
        self._scheduler = scheduler
        self._decisions: tuple[DecisionRecord, ...] = ()
        self._again_at = 0.0

    def routes(self) -> list[web.RouteDef]:
        """Return the routes."""
        return [web.get("/v1/timeline", self._timeline)]

    async def _timeline(self, request: web.Request) -> web.StreamResponse:
        first, last = _seconds(request, "from"), _seconds(request, "to")
        simulation = self._state.simulation
        if simulation is not None:
            return json_answer(_of_simulation(simulation, first, last, request.query.get("by", SECONDS)))
        await self._read_decisions()
        seen = self._state.seen
        series = seen.series(self._decisions)
        last = seen.seconds(datetime.now(UTC)) if last is None else last
        first = min(0.0, series.first or 0.0) if first is None else first
        return json_answer(timeline_answer(series, _date(seen.began), first, last))

    async def _read_decisions(self) -> None:
        """Read the decisions of the cluster's scheduler, if it has any."""
        server = self._state.shown.model.source.server
        if self._scheduler is not None:
            server = config_of(self._scheduler, server)
        if server is None or time.monotonic() < self._again_at:
            return
        self._again_at = time.monotonic() + LATER_SECONDS
        # in a thread: it waits for a server
        found = await asyncio.to_thread(read_api_server, server, "", MOST_DECISIONS)
        if found is not None:
            self._decisions = found.decisions
            self._again_at = time.monotonic() + AGAIN_SECONDS


def _of_simulation(simulation: PageSimulation, first: float | None, last: float | None, by: str) -> dict[str, object]:
    if by not in (SECONDS, CYCLES):
        raise RefusedRequestError(400, f"by is {by[:100]!r}; expected {SECONDS} or {CYCLES}")
    clock = simulation.clock
    if last is None:
        last = clock.furthest if by == SECONDS else clock.furthest_cycles
    return timeline_answer(simulation.marks, _date(BEGINNING), first or 0.0, last, by)


def _seconds(request: web.Request, name: str) -> float | None:
    text = request.query.get(name)
    if text is None:
        return None
    try:
        seconds = float(text)
    except ValueError:
        seconds = float("nan")
    if not -1e12 < seconds < 1e12:
        raise RefusedRequestError(400, f"{name} is {text[:100]!r}; expected seconds")
    return seconds


def _date(date: datetime) -> str:
    return date.isoformat(timespec="milliseconds").replace("+00:00", "Z")
