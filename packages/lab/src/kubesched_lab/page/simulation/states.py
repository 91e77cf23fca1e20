"""The states of a simulation's thread, as values; `simulation_thread.py` draws how they follow one another.

`shown` is the state on the page's clock. In `Looking` and `CatchingUp` the page shows a known moment from the history,
in the others the moment of the run.
"""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Any, ClassVar

import msgspec

from kubesched.errors import KubeschedError
from kubesched_lab.page.simulation.commands import ENDED, PAUSED, PLAYING, SEEKING
from kubesched_lab.page.simulation.goals import Goal


class Paused(msgspec.Struct, frozen=True):
    """Time stands still."""

    shown: ClassVar[str] = PAUSED


class Ended(msgspec.Struct, frozen=True):
    """Nothing more happens until a user acts."""

    shown: ClassVar[str] = ENDED


class Broken(msgspec.Struct, frozen=True):
    """An error has ended the run."""

    why: str
    shown: ClassVar[str] = ENDED


class Playing(msgspec.Struct, frozen=True):
    """Time passes: `due` is the simulated time that is due, computed at the real time `computed`."""

    due: float
    computed: float
    shown: ClassVar[str] = PLAYING


class Seeking(msgspec.Struct, frozen=True):
    """The run moves to a goal, and then on to a time if nothing happens before."""

    goal: Goal
    seconds: float
    shown: ClassVar[str] = SEEKING


class Looking(msgspec.Struct, frozen=True):
    """A known moment is shown, and the run stays where it is."""

    shown: str


class WaitingCommand(msgspec.Struct, frozen=True):
    """A command that waits for the run; `done` gets the error if it is refused."""

    carry_out: Callable[[], None]
    done: "Future[Any] | None" = None

    def refuse(self, why: str) -> None:
        """Put an error into `done`."""
        if self.done is not None and self.done.set_running_or_notify_cancel():
            self.done.set_exception(KubeschedError(why))


class CatchingUp(msgspec.Struct, frozen=True):
    """The run moves to the known moment that is shown, since commands wait for it."""

    shown: str
    seeking: Seeking
    waiting: tuple[WaitingCommand, ...]


State = Paused | Ended | Broken | Playing | Seeking | Looking | CatchingUp
