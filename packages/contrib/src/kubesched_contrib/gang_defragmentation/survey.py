"""The survey of a cluster for a gang: its nodes, its movable pods, and what fits where.

From the cluster between two cycles to a problem of limited size for the solver. Of a large cluster only some nodes
are considered: half of them lack least for a pod of the gang, the other half have the most space for moved pods. The
engine decides what fits where without all movable pods; amounts are left to the solver.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np

from kubesched import ClusterView, NodeRow, PlacementTrial, PlacementTrials, PodInfo
from kubesched_contrib.gang_defragmentation.args import GangDefragmentationArgs
from kubesched_contrib.gang_defragmentation.movability import EvictionBudget, Movability
from kubesched_contrib.gang_defragmentation.plan import DefragmentationPlan, PlannedMove, PlannedPlace
from kubesched_contrib.gang_defragmentation.problem import (
    Arrangement,
    DefragmentationProblem,
    MovableKind,
    WaitingKind,
)

Kinds = dict[tuple[object, ...], list[PodInfo]]


class WaitingGang(NamedTuple):
    """A gang that lacks nodes: its PodGroup, its waiting pods, and the number that it needs."""

    name: str
    pods: tuple[PodInfo, ...]
    needed: int

    @property
    def priority(self) -> int:
        """Return the lowest priority of its pods."""
        return min(pod.priority for pod in self.pods)


class Exclusions(NamedTuple):
    """Results of earlier proofs: pods that find no other node, and nodes that refuse a pod of the gang, by UID."""

    moves: set[str]
    places: set[tuple[str, str]]


class Survey(NamedTuple):
    """A problem, and the meaning of its numbers."""

    gang: WaitingGang
    problem: DefragmentationProblem
    nodes: tuple[str, ...]
    movable: tuple[tuple[PodInfo, ...], ...]
    waiting: tuple[tuple[PodInfo, ...], ...]

    def plan_of(self, arrangement: Arrangement) -> DefragmentationPlan:
        """Return the plan for an arrangement."""
        moves, left = [], [list(pods) for pods in self.movable]
        for kind, target, count in arrangement.moves:
            for _ in range(count):
                pod = left[kind].pop(0)
                moves.append(PlannedMove(pod, pod.spec.node_name, self.nodes[target]))
        places, waiting = [], [list(pods) for pods in self.waiting]
        for kind, target, count in arrangement.places:
            places += [PlannedPlace(waiting[kind].pop(0), self.nodes[target]) for _ in range(count)]
        return DefragmentationPlan(self.gang.name, tuple(moves), tuple(places))


class Surveyor:
    """Makes surveys."""

    def __init__(self, cluster: ClusterView, trials: PlacementTrials, args: GangDefragmentationArgs) -> None:
        self._cluster = cluster
        self._trials = trials
        self._args = args

    def survey(self, gang: WaitingGang, excluded: Exclusions) -> Survey:
        """Return the problem of a gang in the current cluster."""
        movability = Movability(self._cluster, self._trials, self._args.excluded_namespaces)
        nodes = [node for node in self._nodes(gang.pods) if min(node.free) >= 0]
        movable = self._movable(movability, nodes, gang.priority, excluded)
        resources = sorted({name for pod in (*gang.pods, *movable) for name in pod.requests} | {"pods"})
        room = np.array([[node.free_of(name) for name in resources] for node in nodes], np.int64)
        # an overcommitted node has no free amount, and gets none
        room = np.maximum(room.reshape(len(nodes), len(resources)), 0)
        numbers = {node.name: number for number, node in enumerate(nodes)}
        with self._trials.open() as trial:
            for pod in movable:
                trial.remove(pod)
            waiting = _waiting_kinds(trial, gang, numbers, excluded)
            moving = _movable_kinds(trial, movable, numbers)
        budgets = _numbered(movability.budget_of(pods[0]) for pods in moving.values())
        ranks = {priority: rank for rank, priority in enumerate(sorted({pod.priority for pod in movable}))}
        largest = np.maximum(room.max(axis=0, initial=1), 1)

        def kind(key: tuple[object, ...], pods: Sequence[PodInfo]) -> MovableKind:
            pod, budget = pods[0], movability.budget_of(pods[0])
            requests, home = _requests(pod, resources), numbers[pod.spec.node_name]
            share = float(np.minimum(np.array(requests) / largest, 1.0).max())
            targets = tuple(target for target in key[-1] if target != home)  # type: ignore[attr-defined]
            cost = ranks[pod.priority] + share / (self._args.max_moves + 1)
            return MovableKind(home, requests, len(pods), targets, cost, (budgets[budget],) if budget else ())

        problem = DefragmentationProblem(
            room,
            tuple(kind(key, pods) for key, pods in moving.items()),
            tuple(
                WaitingKind(_requests(pods[0], resources), len(pods), key[-1])  # type: ignore[arg-type]
                for key, pods in waiting.items()
            ),
            gang.needed,
            self._args.max_moves,
            tuple(budget.allowed for budget in budgets),
        )
        names = tuple(node.name for node in nodes)
        return Survey(gang, problem, names, tuple(map(tuple, moving.values())), tuple(map(tuple, waiting.values())))

    def _nodes(self, pods: Sequence[PodInfo]) -> list[NodeRow]:
        """Return the nodes to consider."""
        columns, most = self._cluster.nodes, self._args.max_nodes
        nodes = dict(columns.numbered())
        if len(nodes) <= most:
            return list(nodes.values())
        largest = _largest(pods)
        lacking, impossible = np.zeros(len(columns)), np.zeros(len(columns), np.bool_)
        least_room = np.ones(len(columns))
        for name, amount in largest.items():
            allocatable, free = columns.allocatable(name), columns.free(name)
            lacking += np.maximum(amount - free, 0) / amount
            impossible |= allocatable < amount
            least_room = np.minimum(least_room, free / np.maximum(allocatable, 1))
        first = np.argsort(np.where(impossible, np.inf, lacking), kind="stable").tolist()
        roomiest = np.argsort(-least_room, kind="stable").tolist()
        chosen = [place for place in first if place in nodes][: most // 2]
        taken = set(chosen)
        chosen += [place for place in roomiest if place in nodes and place not in taken][: most - len(chosen)]
        return [nodes[place] for place in chosen]

    def _movable(
        self, movability: Movability, nodes: Sequence[NodeRow], priority: int, excluded: Exclusions
    ) -> list[PodInfo]:
        found: list[PodInfo] = []
        for node in nodes:
            for pod in sorted(node.pods, key=lambda pod: pod.full_name):
                if len(found) >= self._args.max_movable_pods:
                    return found
                if pod.uid not in excluded.moves and movability.allows(pod, priority):
                    found.append(pod)
        return found


def _waiting_kinds(trial: PlacementTrial, gang: WaitingGang, numbers: Mapping[str, int], excluded: Exclusions) -> Kinds:
    """Return the gang's pods by request and possible nodes."""
    kinds: Kinds = {}
    for pod in gang.pods:
        names = trial.feasible_nodes(pod, list(numbers))
        targets = tuple(numbers[name] for name in names if (pod.uid, name) not in excluded.places)
        kinds.setdefault((*sorted(pod.requests.items()), targets), []).append(pod)
    return kinds


def _movable_kinds(trial: PlacementTrial, movable: Iterable[PodInfo], numbers: Mapping[str, int]) -> Kinds:
    """Return movable pods by node, controller and request; pods with equal controller and request have the same
    targets.
    """
    kinds: Kinds = {}
    targets: dict[tuple[object, ...], tuple[int, ...]] = {}
    for pod in movable:
        controller = pod.metadata.controller
        alike = (controller.uid if controller else "", *sorted(pod.requests.items()))
        if alike not in targets:
            targets[alike] = tuple(numbers[name] for name in trial.feasible_nodes(pod, list(numbers)))
        kinds.setdefault((pod.spec.node_name, pod.priority, *alike, targets[alike]), []).append(pod)
    return kinds


def _largest(pods: Iterable[PodInfo]) -> dict[str, int]:
    largest = {"pods": 1}
    for pod in pods:
        for name, amount in pod.requests.items():
            largest[name] = max(amount, largest.get(name, 0))
    return largest


def _requests(pod: PodInfo, resources: Sequence[str]) -> tuple[int, ...]:
    return tuple(pod.request_of(name) for name in resources)


def _numbered(budgets: Iterable[EvictionBudget | None]) -> dict[EvictionBudget, int]:
    found = dict.fromkeys(budget for budget in budgets if budget is not None)
    return {budget: number for number, budget in enumerate(found)}
