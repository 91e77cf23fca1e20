"""The clock of a simulation: begin and leave it, play, pause, step, seek.

From requests to commands. The response has the clock as it is known at once, and events report later states.
"""

import math
from typing import Final

import msgspec
from aiohttp import web

from kubesched.errors import KubeschedError
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.routes.bodies import RefusedRequestError, json_answer, read_body
from kubesched_lab.page.simulation.page_simulation import PageSimulation

LEAST_SPEED: Final = 0.001
MOST_SPEED: Final = 1e6
END: Final = "end"
DEEDS: Final = ("play", "pause", "step", "seek")


class ClockRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The body of POST /v1/clock."""

    do: str
    speed: float | None = None
    to: float | str | None = None
    cycle: int | None = None


class SimulationRequest(msgspec.Struct, forbid_unknown_fields=True):
    """The body of POST /v1/simulation, which has no fields yet."""


def clock_routes(state: PageState) -> list[web.RouteDef]:
    """Return the routes of simulations and their clock."""

    async def begin(request: web.Request) -> web.StreamResponse:
        await read_body(request, SimulationRequest)
        await state.simulate()
        return json_answer({"mode": state.mode, "clock": state.clock})

    async def leave(request: web.Request) -> web.StreamResponse:
        simulation_of(state)
        try:
            state.leave()
        except KubeschedError as error:
            raise RefusedRequestError(409, str(error)) from None
        return json_answer({"mode": state.mode, "clock": state.clock})

    async def clock(request: web.Request) -> web.StreamResponse:
        asked = await read_body(request, ClockRequest)
        command(simulation_of(state), asked)
        return json_answer({"clock": state.clock})

    return [
        web.post("/v1/simulation", begin),
        web.delete("/v1/simulation", leave),
        web.post("/v1/clock", clock),
    ]


def simulation_of(state: PageState) -> PageSimulation:
    """Return the simulation on display; raises RefusedRequestError without one."""
    if state.simulation is None:
        raise RefusedRequestError(
            409, "no simulation is shown: POST /v1/simulation starts one from the cluster on display"
        )
    return state.simulation


def command(simulation: PageSimulation, asked: ClockRequest) -> None:
    """Carry out a request for the clock; raises RefusedRequestError."""
    if asked.do == "play":
        speed = simulation.clock.speed if asked.speed is None else asked.speed
        if not LEAST_SPEED <= speed <= MOST_SPEED:
            raise RefusedRequestError(400, f"speed is {speed:g}; expected {LEAST_SPEED:g} to {MOST_SPEED:g}")
        simulation.play(speed)
    elif asked.do == "pause":
        simulation.pause()
    elif asked.do == "step":
        simulation.step()
    elif asked.do == "seek":
        _seek(simulation, asked)
    else:
        raise RefusedRequestError(400, f"do is {asked.do[:100]!r}; expected one of {', '.join(DEEDS)}")


def _seek(simulation: PageSimulation, asked: ClockRequest) -> None:
    if asked.cycle is None:
        simulation.seek(_seconds(asked.to))
    elif asked.to is not None:
        raise RefusedRequestError(400, "to and cycle exclude each other: leave one out")
    elif not 0 <= asked.cycle < 1 << 53:
        raise RefusedRequestError(400, f"cycle is {asked.cycle}; expected a number of scheduling cycles")
    else:
        simulation.seek_cycle(asked.cycle)


def _seconds(to: float | str | None) -> float:
    if to == END:
        return math.inf
    if not isinstance(to, float | int) or not 0 <= to < 1e12:
        raise RefusedRequestError(400, f"to is {to!r}; expected seconds since the beginning, or {END!r}")
    return float(to)
