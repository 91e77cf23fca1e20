"""The input and output of the solver as values: they can be imported without the solver, which is an extra."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class MovableKind(NamedTuple):
    """Equal pods on one node: the request of each, their number, and the nodes they may go to."""

    node: int
    requests: tuple[int, ...]
    size: int
    targets: tuple[int, ...]
    # the cost of a move, from 0 to 1 above the priority's rank
    cost: float
    # the disruption budgets that select them
    budgets: tuple[int, ...] = ()


class WaitingKind(NamedTuple):
    """Equal pods of the gang: the request of each, their number, and the nodes they may go to."""

    requests: tuple[int, ...]
    size: int
    targets: tuple[int, ...]


class DefragmentationProblem(NamedTuple):
    """The problem to solve; `room` is the currently free amount, by node and resource, and never negative."""

    room: NDArray[np.int64]
    movable: tuple[MovableKind, ...]
    waiting: tuple[WaitingKind, ...]
    # the number of the gang's pods that must get a place
    needed: int
    most_moves: int
    # the number of evictions that each disruption budget allows
    allowed: tuple[int, ...] = ()


class Arrangement(NamedTuple):
    """The target of pods: (kind, node, number)."""

    moves: tuple[tuple[int, int, int], ...]
    places: tuple[tuple[int, int, int], ...]
