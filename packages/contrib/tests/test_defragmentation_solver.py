"""The solver against brute force: the fewest moves, and of those the cheapest."""

import itertools
from collections.abc import Iterator, Sequence

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched_contrib.gang_defragmentation.problem import Arrangement, DefragmentationProblem, MovableKind, WaitingKind
from kubesched_contrib.gang_defragmentation.solver import solve

SECONDS = 30.0


def a_problem(
    room: list[list[int]],
    movable: tuple[MovableKind, ...] = (),
    waiting: tuple[WaitingKind, ...] = (),
    needed: int = 1,
    most_moves: int = 5,
    allowed: tuple[int, ...] = (),
) -> DefragmentationProblem:
    return DefragmentationProblem(np.array(room, np.int64), movable, waiting, needed, most_moves, allowed)


def fits(problem: DefragmentationProblem, moves: list[tuple[int, int]], places: list[tuple[int, int]]) -> bool:
    """Return whether an arrangement of single pods keeps to rooms, counts and budgets."""
    room = problem.room.copy()
    for kind, target in moves:
        pods = problem.movable[kind]
        room[pods.node] += pods.requests
        room[target] -= pods.requests
    for kind, target in places:
        room[target] -= problem.waiting[kind].requests
    spent = [
        sum(budget in problem.movable[kind].budgets for kind, _ in moves) for budget in range(len(problem.allowed))
    ]
    return bool((room >= 0).all()) and all(used <= most for used, most in zip(spent, problem.allowed, strict=True))


def chosen(kinds: Sequence[MovableKind | WaitingKind], count: int) -> Iterator[tuple[int, ...]]:
    """Yield the ways to take so many pods of kinds."""
    pods = [kind for kind, each in enumerate(kinds) for _ in range(each.size)]
    yield from sorted(set(itertools.combinations(pods, count)))


def by_brute_force(problem: DefragmentationProblem) -> tuple[int, float] | None:
    """Return the number of moves and the cost of the best arrangement."""
    for count in range(problem.most_moves + 1):
        costs = []
        for moved in chosen(problem.movable, count):
            for targets in itertools.product(*(problem.movable[kind].targets for kind in moved)):
                moves = list(zip(moved, targets, strict=True))
                for placed in chosen(problem.waiting, problem.needed):
                    nodes = itertools.product(*(problem.waiting[kind].targets for kind in placed))
                    if any(fits(problem, moves, list(zip(placed, at, strict=True))) for at in nodes):
                        costs.append(sum(problem.movable[kind].cost for kind in moved))
                        break
        if costs:
            return count, min(costs)
    return None


def single(counted: tuple[tuple[int, int, int], ...]) -> list[tuple[int, int]]:
    return [(kind, node) for kind, node, count in counted for _ in range(count)]


def value(problem: DefragmentationProblem, found: Arrangement | None) -> tuple[int, float] | None:
    if found is None:
        return None
    moves = single(found.moves)
    return len(moves), sum(problem.movable[kind].cost for kind, _ in moves)


@st.composite
def problems(draw: st.DrawFn) -> DefragmentationProblem:
    nodes = draw(st.integers(1, 3))
    amounts = st.tuples(st.integers(0, 3), st.just(1))
    targets = st.sets(st.integers(0, nodes - 1)).map(lambda found: tuple(sorted(found)))
    room = draw(st.lists(st.lists(st.integers(0, 4), min_size=2, max_size=2), min_size=nodes, max_size=nodes))
    budgets = draw(st.lists(st.integers(0, 2), max_size=1))
    movable = []
    for _ in range(draw(st.integers(0, 3))):
        node = draw(st.integers(0, nodes - 1))
        at = tuple(target for target in draw(targets) if target != node)
        size, cost = draw(st.integers(1, 2)), draw(st.integers(0, 2)) + draw(st.integers(0, 9)) / 60
        budget = draw(st.booleans()) and budgets
        movable.append(MovableKind(node, draw(amounts), size, at, cost, (0,) if budget else ()))
    waiting = [
        WaitingKind(draw(amounts), draw(st.integers(1, 2)), draw(targets)) for _ in range(draw(st.integers(1, 2)))
    ]
    needed = draw(st.integers(1, sum(kind.size for kind in waiting)))
    return a_problem(room, tuple(movable), tuple(waiting), needed, draw(st.integers(0, 3)), tuple(budgets))


@settings(max_examples=150, deadline=None)
@given(problems())
def test_no_arrangement_has_fewer_moves_or_a_lower_cost(problem: DefragmentationProblem) -> None:
    found, best = solve(problem, SECONDS), by_brute_force(problem)
    assert (found is None) == (best is None), (found, best)
    if found is not None:
        places = single(found.places)
        assert fits(problem, single(found.moves), places)
        assert len(places) == problem.needed
        assert value(problem, found) == pytest.approx(best)


def test_amounts_in_bytes_stay_exact() -> None:
    gi = 2**30
    pods, gang = (MovableKind(0, (gi, 1), 1, (1,), 0.5),), (WaitingKind((64 * gi, 1), 1, (0,)),)
    for first, second, moves in ((63 * gi, gi, ((0, 1, 1),)), (63 * gi - 1, gi, None), (63 * gi, gi - 1, None)):
        found = solve(a_problem([[first, 9], [second, 9]], pods, gang), SECONDS)
        assert (found.moves if found is not None else None) == moves


def test_a_gang_that_may_go_nowhere_has_no_arrangement() -> None:
    assert solve(a_problem([[4, 4]], (), (WaitingKind((1, 1), 1, ()),)), SECONDS) is None


def test_moves_go_round_where_a_straight_one_does_not_help() -> None:
    # the gang needs node 0; its pod fits node 1 only if that one's goes to node 2
    movable = (MovableKind(0, (3,), 1, (1,), 0.1), MovableKind(1, (2,), 1, (2,), 0.1))
    found = solve(a_problem([[0], [1], [2]], movable, (WaitingKind((3,), 1, (0,)),)), SECONDS)
    assert found is not None
    assert found.moves == ((0, 1, 1), (1, 2, 1))
