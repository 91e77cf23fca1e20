"""The fewest moves that make space for a gang: an integer programme, solved by HiGHS.

From free amounts on nodes, kinds of movable pods and kinds of waiting pods to the number of each on each node. First
the number of moves is minimised, then, with that number, their cost. A first small programme finds which pods to
move, as if all moved pods found a node: its result is a lower bound. If all of them do find a node, it is optimal;
else a second programme, which may take long, chooses pods and targets together.

The solver runs in a thread, without the interpreter's lock, and has a time limit. All numbers stay integers: a
resource is counted in the largest unit that all requests are multiples of.
"""

import math
import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csr_array

from kubesched_contrib.gang_defragmentation.problem import (
    Arrangement,
    DefragmentationProblem,
    MovableKind,
    WaitingKind,
)

OPTIMAL, INFEASIBLE = 0, 2


class SolverTimeoutError(Exception):
    """The solver did not end in time."""


def solve(problem: DefragmentationProblem, seconds: float) -> Arrangement | None:
    """Return an arrangement with the fewest moves, and among those the lowest cost; None if it is infeasible.

    Raises SolverTimeoutError.
    """
    end = time.monotonic() + seconds
    departure = _solve(_departures(problem), end)
    if departure is None or not departure.moves:
        return departure
    arrival = _solve(_arrivals(problem, departure), end)
    if arrival is None:
        return _solve(problem, end)
    kinds = list(dict.fromkeys(kind for kind, _, _ in departure.moves))
    moves = tuple((kinds[number], target, count) for number, target, count in arrival.places)
    return Arrangement(moves, departure.places)


def _departures(problem: DefragmentationProblem) -> DefragmentationProblem:
    """Return the programme for the choice of pods, with an additional node that has capacity for all of them."""
    most = [[sum(pods.requests[r] * pods.size for pods in problem.movable) for r in range(problem.room.shape[1])]]
    anywhere = len(problem.room)
    movable = tuple(pods._replace(targets=(anywhere,) if pods.targets else ()) for pods in problem.movable)
    return problem._replace(room=np.vstack([problem.room, np.array(most, np.int64)]), movable=movable)


def _arrivals(problem: DefragmentationProblem, departure: Arrangement) -> DefragmentationProblem:
    """Return the programme for the targets of the moved pods, with the gang's pods at their places."""
    room, moving = problem.room.copy(), []
    for kind, _, count in departure.moves:
        pods = problem.movable[kind]
        room[pods.node] += np.array(pods.requests) * count
        moving.append(WaitingKind(pods.requests, count, pods.targets))
    for kind, target, count in departure.places:
        room[target] -= np.array(problem.waiting[kind].requests) * count
    needed = sum(pods.size for pods in moving)
    return problem._replace(room=room, movable=(), waiting=tuple(moving), needed=needed, most_moves=0)


def _solve(problem: DefragmentationProblem, end: float) -> Arrangement | None:
    """Return the optimal arrangement, None if the programme is infeasible."""
    programme = _Programme(problem)
    if not programme.is_possible:
        return None
    fewest = programme.minimise(programme.is_move.astype(float), problem.most_moves, end)
    if fewest is None:
        return None
    moves = int(fewest @ programme.is_move)
    cheapest = programme.minimise(programme.costs, moves, end) if moves else fewest
    assert cheapest is not None, "the first arrangement is optimal"
    return programme.arrangement(cheapest)


class _Programme:
    """Variables: first the number of each movable kind on each target, then the number of each waiting kind."""

    def __init__(self, problem: DefragmentationProblem) -> None:
        self._problem = problem
        self._moves = [(kind, target) for kind, pods in enumerate(problem.movable) for target in pods.targets]
        self._places = [(kind, target) for kind, pods in enumerate(problem.waiting) for target in pods.targets]
        size = len(self._moves) + len(self._places)
        self.is_move = np.arange(size) < len(self._moves)
        self.costs = np.array([problem.movable[kind].cost for kind, _ in self._moves] + [0.0] * len(self._places))
        self.is_possible = bool(self._places)
        most = [problem.movable[kind].size for kind, _ in self._moves]
        most += [min(problem.waiting[kind].size, problem.needed) for kind, _ in self._places]
        self._bounds = Bounds(np.zeros(size), np.array(most, float))
        self._constraint = self._constraints() if self.is_possible else None

    def minimise(self, objective: NDArray[np.float64], most_moves: int, end: float) -> NDArray[np.int64] | None:
        """Return values of the variables with at most `most` moves; `end` is the solver's deadline."""
        left = end - time.monotonic()
        if left <= 0:
            raise SolverTimeoutError("no time is left")
        moves = LinearConstraint(self.is_move.astype(float), -np.inf, most_moves)
        found: Any = milp(
            objective,
            integrality=np.ones(len(objective)),
            bounds=self._bounds,
            constraints=[self._constraint, moves],
            options={"time_limit": left, "mip_rel_gap": 0.0},
        )
        if found.status == INFEASIBLE:
            return None
        if found.status != OPTIMAL:
            raise SolverTimeoutError(str(found.message))
        values: NDArray[np.int64] = np.rint(found.x).astype(np.int64)
        return values

    def arrangement(self, values: NDArray[np.int64]) -> Arrangement:
        """Return the arrangement for some values."""
        numbers = values.tolist()
        moved, placed = numbers[: len(self._moves)], numbers[len(self._moves) :]
        return Arrangement(tuple(_counted(self._moves, moved)), tuple(_counted(self._places, placed)))

    def _constraints(self) -> LinearConstraint:
        rows: list[tuple[dict[int, int], float, float]] = [*self._capacities(), *self._counts(), *self._budgets()]
        entries = [(row, *term) for row, (terms, _, _) in enumerate(rows) for term in terms.items()]
        row, variable, value = np.array(entries, float).T if entries else np.zeros((3, 0))
        matrix = csr_array(
            (value, (row.astype(int), variable.astype(int))), shape=(len(rows), len(self._moves) + len(self._places))
        )
        return LinearConstraint(matrix, [low for _, low, _ in rows], [high for _, _, high in rows])

    def _capacities(self) -> Iterator[tuple[dict[int, int], float, float]]:
        """Yield for each node and resource: incoming requests fit into the free amount plus the outgoing requests."""
        problem = self._problem
        kinds: list[MovableKind | WaitingKind] = [*problem.movable, *problem.waiting]
        for resource in range(problem.room.shape[1]):
            unit = math.gcd(*(pods.requests[resource] for pods in kinds)) or 1
            terms: list[dict[int, int]] = [{} for _ in range(len(problem.room))]
            for variable, (kind, target) in enumerate(self._moves):
                pods = problem.movable[kind]
                amount = pods.requests[resource] // unit
                if amount:
                    terms[target][variable] = amount
                    terms[pods.node][variable] = -amount
            for variable, (kind, target) in enumerate(self._places, len(self._moves)):
                amount = problem.waiting[kind].requests[resource] // unit
                if amount:
                    terms[target][variable] = amount
            for node, sums in enumerate(terms):
                if sums:
                    yield sums, -np.inf, float(problem.room[node, resource] // unit)

    def _counts(self) -> Iterator[tuple[dict[int, int], float, float]]:
        """Yield: no kind exceeds its number of pods, and enough pods of the gang get a place."""
        problem, first = self._problem, len(self._moves)
        for kind, pods in enumerate(problem.movable):
            yield {v: 1 for v, (moved, _) in enumerate(self._moves) if moved == kind}, 0, pods.size
        for kind, waiting in enumerate(problem.waiting):
            yield {v: 1 for v, (placed, _) in enumerate(self._places, first) if placed == kind}, 0, waiting.size
        yield dict.fromkeys(range(first, first + len(self._places)), 1), problem.needed, problem.needed

    def _budgets(self) -> Iterator[tuple[dict[int, int], float, float]]:
        """Yield: no disruption budget is exceeded."""
        for budget, allowed in enumerate(self._problem.allowed):
            selected = {
                v: 1 for v, (kind, _) in enumerate(self._moves) if budget in self._problem.movable[kind].budgets
            }
            if selected:
                yield selected, 0, allowed


def _counted(variables: Sequence[tuple[int, int]], values: Sequence[int]) -> Iterator[tuple[int, int, int]]:
    for (kind, target), count in zip(variables, values, strict=True):
        if count:
            yield kind, target, count
