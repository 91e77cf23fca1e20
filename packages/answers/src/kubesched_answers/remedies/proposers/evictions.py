"""Evictions of pods from a node, within their disruption budgets and at any priority.

From near nodes to the smallest sets of pods without which the pod fits there. The search first looks for one pod that
suffices, on all nodes at once; then it removes all pods and puts them back one by one while the pod still fits. Among
equal sets it prefers one whose pods find other nodes.
"""

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_groups import group_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.plugins.default_preemption.disruption_budgets import DisruptionBudgets
from kubesched.model.cluster_model import name_of_object
from kubesched_answers.pod_owners import bound_to_node
from kubesched_answers.remedies.moving import places_of
from kubesched_answers.remedies.steps import Rank, Scope, Step, Steps
from kubesched_answers.remedies.trials import Trial

MOST_VICTIMS = 8
MOST_NODES = 48
# Limit on the sets of victims whose new nodes are tried.
MOST_MOVED = 4
NOBODY = -1
TOPIC = "evict"


def evictions(trial: Trial, targets: Sequence[int]) -> Iterator[tuple[int, Steps]]:
    """Yield rows with the pods to evict there, the best first."""
    rejections = trial.rejections
    rows = list(dict.fromkeys([*targets, *(rejections.near_rows(MOST_NODES) if len(targets) != 1 else ())]))
    rows = [row for row in rows if not rejections.unresolvable[row]]
    victims = [_potential(trial, row) for row in rows]
    pairs = [(row, pods) for row, pods in zip(rows, victims, strict=True) if pods]
    found = list(_single(trial, pairs)) or list(_several(trial, pairs))
    found = [(row, list(dict.fromkeys([*pods, *trial.port_holders(row)]))) for row, pods in found]
    found = [
        (row, pods) for row, pods in found if len(pods) <= MOST_VICTIMS and all(_may_go(trial, pod) for pod in pods)
    ]
    found.sort(key=lambda each: (len(each[1]), max(pod.priority for pod in each[1]), each[1][0].full_name))
    if len(targets) != 1:
        # pods that find another node come first
        found[:MOST_MOVED] = sorted(
            found[:MOST_MOVED], key=lambda each: (len(each[1]), not _find_places(trial, each[1]))
        )
    for row, pods in found[:MOST_MOVED]:
        yield row, _steps(trial, pods)


def evicting(trial: Trial, pods: Sequence[PodInfo]) -> Steps:
    """Return the eviction of some pods, empty if one of them must stay or they are too many."""
    if not 0 < len(pods) <= MOST_VICTIMS or not all(_may_go(trial, pod) for pod in pods):
        return ()
    if len(_allowed(trial, pods)) < len(pods):
        return ()
    return _steps(trial, pods)


def is_evictable(pod: PodInfo) -> bool:
    """Return whether evicting a pod frees its place: pods of DaemonSets come back, static pods stay."""
    return not pod.terminating and bound_to_node(pod) is None


def _may_go(trial: Trial, pod: PodInfo) -> bool:
    """Return whether a pod may be evicted for the pod: pods of its own group may only be part of the trial."""
    group = group_of(trial.pod)
    return is_evictable(pod) and (group is None or group_of(pod) != group)


def _potential(trial: Trial, row: int) -> list[PodInfo]:
    """Return the pods of a row that may be evicted at once, the most important first."""
    table = trial.model.cluster.table
    pods = [pod for pod in table.pods_on[row].values() if _may_go(trial, pod)]
    pods.sort(key=lambda pod: (pod.priority, -_weight(trial, pod, row), pod.full_name))
    return _allowed(trial, pods)[::-1]


def _weight(trial: Trial, pod: PodInfo, row: int) -> float:
    """Return the share of a row that a pod takes."""
    table, resources = trial.model.cluster.table, pod.resources
    cpu, memory = max(1, int(table.allocatable[0, row])), max(1, int(table.allocatable[1, row]))
    return resources.milli_cpu / cpu + resources.memory / memory


def _allowed(trial: Trial, pods: Sequence[PodInfo]) -> list[PodInfo]:
    """Return the pods whose eviction, one after the other, violates no disruption budget."""
    budgets = DisruptionBudgets(trial.model.cluster)
    violating = budgets.violating_units([[pod] for pod in pods])
    return [pod for pod, violates in zip(pods, violating, strict=True) if not violates]


def _single(trial: Trial, pairs: Sequence[tuple[int, list[PodInfo]]]) -> Iterator[tuple[int, list[PodInfo]]]:
    """Yield single pods without which the pod fits."""
    worlds = [(row, pod) for row, pods in pairs for pod in pods]
    if not worlds:
        return
    what_if = trial.evaluation.what_if(np.array([row for row, _ in worlds], np.intp))
    what_if.change(np.arange(len(worlds)), np.array([pod.slot for _, pod in worlds], np.intp), -1)
    for index in np.flatnonzero(what_if.judge() == 0).tolist():
        row, pod = worlds[index]
        yield row, [pod]


def _several(trial: Trial, pairs: Sequence[tuple[int, list[PodInfo]]]) -> Iterator[tuple[int, list[PodInfo]]]:
    """Yield the rows where the pod fits without all other pods, with the pods that cannot stay."""
    if not pairs:
        return
    slots = _padded([[pod.slot for pod in pods] for _, pods in pairs])
    what_if = trial.evaluation.what_if(np.array([row for row, _ in pairs], np.intp))
    for column in slots.T:
        there = np.flatnonzero(column != NOBODY)
        what_if.change(there, column[there], -1)
    fitting = np.flatnonzero(what_if.judge() == 0)
    chosen: dict[int, list[PodInfo]] = {int(index): [] for index in fitting}
    for turn, column in enumerate(slots.T):
        back = fitting[column[fitting] != NOBODY]
        if not len(back):
            break
        what_if.change(back, column[back], 1)
        stuck = back[what_if.judge()[back] != 0]
        what_if.change(stuck, column[stuck], -1)
        for index in stuck.tolist():
            chosen[index].append(pairs[index][1][turn])
    yield from ((pairs[index][0], pods) for index, pods in chosen.items() if pods)


def _find_places(trial: Trial, victims: Sequence[PodInfo]) -> bool:
    with trial.model.without_pods(victims):
        return all(places_of(trial, victims))


def _padded(lines: Sequence[Sequence[int]]) -> NDArray[np.intp]:
    padded = np.full((len(lines), max(map(len, lines))), NOBODY, np.intp)
    for index, line in enumerate(lines):
        padded[index, : len(line)] = line
    return padded


def _steps(trial: Trial, pods: Sequence[PodInfo]) -> Steps:
    return tuple(_step(trial, pod) for pod in sorted(set(pods), key=lambda pod: pod.full_name))


def _step(trial: Trial, pod: PodInfo) -> Step:
    size = 1.0 + (1.0 if pod.priority > trial.pod.priority else 0.0)
    summary = f"evict pod {pod.full_name} from node {pod.spec.node_name}"
    name = name_of_object(pod.pod)
    return Step(name, summary, Scope.OTHERS, TOPIC, size, delete=True, rank=Rank.DISTURB_OTHERS)
