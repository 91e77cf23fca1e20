"""The parts of a simulation as values: the trace, the configuration, the seed, and the actions of users.

From sources and users to runs. The same scenario gives the same run, at every moment.
"""

from typing import Any

import msgspec

from kubesched.config.load import Loaded
from kubesched.core.framework.building.registry import Registry
from kubesched_lab.simulate.simulated_api import Pace
from kubesched_lab.simulate.traces.trace import Trace, TraceEvent


class Moment(msgspec.Struct, frozen=True, order=True):
    """A moment of a run: simulated seconds, and the number of turns of the loop since the clock showed that time."""

    seconds: float = 0.0
    turns: int = 0


class SimulatedConfiguration(msgspec.Struct, frozen=True):
    """A configuration: its text as the user wrote it, empty for the default, and the loaded configuration."""

    text: str
    loaded: Loaded


class UserAction(msgspec.Struct, frozen=True):
    """An action of a user at a moment: events of a trace, whose own times are ignored, or another configuration.

    Another configuration is put in force between two cycles. `title` is a sentence for the list of actions; `note` has
    further data to save with it.
    """

    at: Moment
    title: str
    events: tuple[TraceEvent, ...] = ()
    configuration: SimulatedConfiguration | None = None
    note: object = None


class PageScenario(msgspec.Struct, frozen=True):
    """A simulation as a value; actions are in the order of their moments.

    `workloads` are the initial documents of Deployments and other workloads, which scale pods.
    """

    trace: Trace
    configuration: SimulatedConfiguration
    registry: Registry | None = None
    seed: int = 0
    pace: Pace = Pace()
    actions: tuple[UserAction, ...] = ()
    workloads: tuple[dict[str, Any], ...] = ()

    def with_action(self, action: UserAction) -> "PageScenario":
        """Return the scenario with one more action, after all actions at its moment or before."""
        before = tuple(each for each in self.actions if each.at <= action.at)
        return msgspec.structs.replace(self, actions=(*before, action, *self.actions[len(before) :]))
