"""Actions in a simulation: each becomes part of its scenario; undo removes the last one.

From requests to actions at the present moment. Undo and redo run the simulation again, from the beginning to the
present moment. Actions are serialised: a second action waits for the first.
"""

import asyncio
from typing import Any, Final

import msgspec

from kubesched_lab.page.actions.requests import ActionError, ActionRequest
from kubesched_lab.page.actions.trace_events import SimulatedAction, created_again, simulated, with_run_times
from kubesched_lab.page.simulation.commands import SEEKING
from kubesched_lab.page.simulation.page_simulation import PageSimulation
from kubesched_lab.page.simulation.scenario import PageScenario, SimulatedConfiguration, UserAction

ON_ITS_WAY: Final = "the simulation is moving to another moment: wait until it arrives, or pause it"
NOTHING_TO_UNDO: Final = "there is no action to undo"
NOTHING_TO_REDO: Final = "there is no action to redo"
Documents = tuple[dict[str, Any], ...]


class SimulatedChanges:
    """Carries out the actions of users in one simulation, in their order."""

    def __init__(self, simulation: PageSimulation) -> None:
        self.simulation = simulation
        self._done: list[UserAction] = list(simulation.scenario.actions)
        self._undone: list[UserAction] = []
        self._turn = asyncio.Lock()

    def done(self) -> list[dict[str, Any]]:
        """Return the actions that were done, the latest last."""
        return [{"title": each.title, "at": each.at.seconds} for each in self._done]

    def undone(self) -> list[dict[str, Any]]:
        """Return the actions that were undone and can be done again, the next one last."""
        return [{"title": each.title, "at": each.at.seconds} for each in self._undone]

    def running(self) -> None:
        """Return None: actions in a simulation take no time, so none is under way."""

    async def do(self, asked: ActionRequest) -> str:
        """Carry out an action; return a sentence about it."""
        async with self._turn:
            self._refuse_on_its_way()
            action = simulated(self.simulation.shown.model, asked, self._documents())
            action = await self._with_run_times(action)
            done = await self.simulation.apply(action.title, action.events, note=action.workloads)
            self._record(done)
            return action.title

    async def configure(self, configuration: SimulatedConfiguration) -> str:
        """Put another configuration in force."""
        async with self._turn:
            self._refuse_on_its_way()
            done = await self.simulation.apply("Apply a configuration", (), configuration, self._documents())
            self._record(done)
            return done.title

    async def undo(self) -> str:
        """Undo the last action."""
        async with self._turn:
            self._refuse_on_its_way()
            if not self._done:
                raise ActionError(NOTHING_TO_UNDO)
            scenario = await self._scenario()
            action = self._done.pop()
            kept = list(scenario.actions)
            if action in kept:
                # the last of equal ones
                del kept[len(kept) - 1 - kept[::-1].index(action)]
            self._undone.append(action)
            self.simulation.rerun(msgspec.structs.replace(scenario, actions=tuple(kept)))
            return f"Undone: {action.title}"

    async def redo(self) -> str:
        """Redo the last undone action, at its moment."""
        async with self._turn:
            self._refuse_on_its_way()
            if not self._undone:
                raise ActionError(NOTHING_TO_REDO)
            scenario = await self._scenario()
            action = self._undone.pop()
            self._done.append(action)
            self.simulation.rerun(scenario.with_action(action))
            return f"Done again: {action.title}"

    def close(self) -> None:
        """Do nothing: no action is under way."""

    def _record(self, action: UserAction) -> None:
        self._done.append(action)
        self._undone.clear()

    def _refuse_on_its_way(self) -> None:
        if self.simulation.clock.state == SEEKING:
            raise ActionError(ON_ITS_WAY)

    async def _scenario(self) -> PageScenario:
        """Return the scenario with all actions, including actions that the simulation has not reported yet."""
        return await self.simulation.ask(lambda run: run.scenario, anywhere=True)

    def _documents(self) -> Documents:
        """Return the workloads as they are after the last action."""
        notes = [each.note for each in self._done if isinstance(each.note, tuple)]
        return notes[-1] if notes else self.simulation.scenario.workloads

    async def _with_run_times(self, action: SimulatedAction) -> SimulatedAction:
        names = created_again(action)
        if not names:
            return action
        runs = await self.simulation.ask(lambda run: {name: run.driver.api.run_seconds(name) for name in names})
        return with_run_times(action, runs)
