"""The cycle state: values that one scheduling cycle of one pod passes from hook to hook.

From the framework to plugins: typed slots that a plugin writes in one hook and reads in a later one, and what-if
questions.
"""

from typing import TYPE_CHECKING, Any, Generic, Protocol, TypeVar
from weakref import ReferenceType

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from kubesched.core.framework.values.status import StatusTable

T = TypeVar("T")


class StateKey(Generic[T]):
    """The name and the type of a slot: `KEY = StateKey[MyState]("MyPlugin")`."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"StateKey({self.name!r})"


# The names of the plugins whose PreFilter ran in this cycle, in order; written by the framework.
PRE_FILTERED = StateKey[tuple[str, ...]]("pre-filtered")
# UIDs of queued pods to activate when this pod is assumed, and again when it is bound: a plugin writes a set here and
# adds to it.
PODS_TO_ACTIVATE = StateKey[set[str]]("pods-to-activate")


class WhatIf(Protocol):
    """A batch of worlds: world i is the table with some pods taken off and some put on row `rows[i]`."""

    rows: NDArray[np.intp]
    statuses: "StatusTable"

    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Add pod `slots[k]` to world `worlds[k]` (sign 1), or remove it (sign -1)."""

    def judge(self, worlds: NDArray[np.intp] | None = None) -> NDArray[np.int16]:
        """Return for all (or some) worlds the status index of the first rejection, with nominated pods counted."""


class CycleState:
    """Typed slots; a state may define `clone()`, which what-ifs call before they change it.

    `group` is the cycle state of the pod's group while the pod is scheduled as a part of it, else None.
    """

    __slots__ = ("_slots", "evaluation", "group")

    def __init__(self, group: "CycleState | None" = None) -> None:
        self.group = group
        self._slots: dict[StateKey[Any], Any] = {}
        # weak, so that an attempt leaves no reference cycle to the garbage collector
        self.evaluation: ReferenceType[Any] | None = None

    def write(self, key: StateKey[T], value: T) -> None:
        """Put a value into a slot."""
        self._slots[key] = value

    def read(self, key: StateKey[T]) -> T:
        """Return a slot's value; KeyError if nothing was written."""
        return self._slots[key]  # type: ignore[no-any-return]

    def get(self, key: StateKey[T]) -> T | None:
        """Return a slot's value, or None."""
        return self._slots.get(key)

    def clone(self) -> "CycleState":
        """Return a copy whose states are clones where they can be cloned."""
        copy = CycleState(group=self.group)
        copy.evaluation = self.evaluation
        copy._slots = {key: value.clone() if hasattr(value, "clone") else value for key, value in self._slots.items()}
        return copy

    def what_if(self, rows: NDArray[np.intp]) -> WhatIf:
        """Return a batch of worlds over `rows`, for the pod of this cycle; only while the pod is evaluated."""
        evaluation = None if self.evaluation is None else self.evaluation()
        assert evaluation is not None, "the pod is not evaluated any more"
        worlds: WhatIf = evaluation.what_if(rows)
        return worlds
