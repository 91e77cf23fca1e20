"""What the solver is asked, and what it answers, as values: they are there without the solver, which is an extra."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class MovableKind(NamedTuple):
    """Pods on one node that are alike: what each requests, how many there are, and the nodes they may go to."""

    node: int
    requests: tuple[int, ...]
    size: int
    targets: tuple[int, ...]
    # what a move costs, from 0 to 1 above the priority's rank
    cost: float
    # the disruption budgets that select them
    budgets: tuple[int, ...] = ()


class WaitingKind(NamedTuple):
    """Pods of the gang that are alike: what each requests, how many there are, and the nodes they may go to."""

    requests: tuple[int, ...]
    size: int
    targets: tuple[int, ...]


class DefragmentationProblem(NamedTuple):
    """What is to be solved; `room` is what is free now, by node and resource, and nowhere negative."""

    room: NDArray[np.int64]
    movable: tuple[MovableKind, ...]
    waiting: tuple[WaitingKind, ...]
    # so many pods of the gang have to get a place
    needed: int
    most_moves: int
    # how many pods each disruption budget lets go
    allowed: tuple[int, ...] = ()


class Arrangement(NamedTuple):
    """Which pods go where: (kind, node, how many)."""

    moves: tuple[tuple[int, int, int], ...]
    places: tuple[tuple[int, int, int], ...]
