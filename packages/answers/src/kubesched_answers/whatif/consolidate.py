"""Consolidation: which nodes can be emptied, in which order, and where each of their pods goes.

From a model to a plan: cordon the nodes, then drain one after the other. The least used nodes are tried first; a node
is kept if one of its pods finds no place on the remaining nodes. Then the whole plan is tried without the kept nodes,
until every step succeeds. No pod is preempted, and none is moved twice.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import CPU, MEMORY
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.node_health import trouble_of
from kubesched_answers.pod_owners import bound_to_node, may_not_be_evicted
from kubesched_answers.whatif.draining import DrainedNode, drain_node
from kubesched_answers.whatif.measures import Meter
from kubesched_answers.whatif.operations import RemoveNodes, cordon
from kubesched_answers.whatif.refusals import short_reasons
from kubesched_answers.whatif.replacements import Replacements
from kubesched_answers.whatif.trial import WhatIfTrial
from kubesched_answers.whatif.whatif import trial_of
from kubesched_answers.whatif.whatif_answer import (
    ClusterMeasures,
    ConsolidationAnswer,
    EmptiedNode,
    KeptNode,
    LeftPod,
    PodMove,
)

# (number of tried nodes, number of nodes)
Progress = Callable[[int, int], None]


# limit on the rounds that replace nodes which cannot be emptied by the next ones
MOST_REPLACEMENTS = 4
# after this number of moved pods no more nodes are replaced
MOST_MOVES = 5000


class _Attempt(NamedTuple):
    """The nodes emptied in one pass, the nodes that could not be, and whether some nodes were not tried."""

    emptied: tuple[EmptiedNode, ...]
    failed: dict[str, str]
    stopped: bool
    after: ClusterMeasures

    @property
    def moves(self) -> int:
        """Return the number of moved pods."""
        return _moves(self.emptied)


def consolidate(
    model: ClusterModel, *, most: int | None = None, progress: Progress = lambda done, total: None
) -> ConsolidationAnswer:
    """Return the nodes that can be emptied, at most `most`; the model is unchanged at the end."""
    with trial_of(model) as trial:
        before = Meter(model, trial.owners).measure()
        untried, kept = _candidates(trial)
    count, replacements = _bound(model, untried), 0
    nodes, untried = untried[:count], untried[count:]
    attempt = _empty(model, nodes, most, progress)
    moves = attempt.moves
    while attempt.failed or attempt.stopped:
        kept |= attempt.failed
        nodes = [each.node for each in attempt.emptied]
        if replacements < MOST_REPLACEMENTS and moves < MOST_MOVES and not attempt.stopped:
            # their free places may be enough for the next ones
            count = len(attempt.failed)
            nodes, untried = [*nodes, *untried[:count]], untried[count:]
            replacements += 1
        attempt = _empty(model, nodes, most, progress)
        moves += attempt.moves
    return ConsolidationAnswer(
        bool(attempt.emptied),
        _summary(attempt.emptied, before.nodes),
        attempt.emptied,
        tuple(KeptNode(node, why) for node, why in sorted(kept.items())),
        sum(each.cpu for each in attempt.emptied),
        sum(each.memory for each in attempt.emptied),
        before,
        attempt.after,
        model.gaps,
    )


def _candidates(trial: WhatIfTrial) -> tuple[list[str], dict[str, str]]:
    """Return the nodes to try, the least used first; and the other nodes, with why they are kept."""
    table = trial.model.cluster.table
    rows = table.present_rows()
    free = table.allocatable[: MEMORY + 1, rows]
    shares = table.requested[: MEMORY + 1, rows] / np.maximum(free, 1)
    used = shares.max(axis=0) if len(rows) else np.zeros(0)
    found: list[str] = []
    kept: dict[str, str] = {}
    replacements = Replacements(trial.model)
    for row in rows[np.argsort(used, kind="stable")].tolist():
        name = table.names[row]
        reason = next((why for pod in trial.pods_on(name) if (why := _why_it_stays(pod, replacements))), None)
        trouble = trouble_of(trial.model.node(name))
        if trouble is not None:
            # it takes no pods already, so emptying it gains nothing
            reason = f"it is {trouble}"
        if reason is None and not table.unschedulable[row]:
            found.append(name)
        else:
            kept[name] = reason or "it is cordoned already"
    return found, kept


def _why_it_stays(pod: PodInfo, replacements: Replacements) -> str | None:
    """Return why a pod must stay on its node, or None."""
    if bound_to_node(pod) or pod.terminating:
        return None
    if pod.metadata.controller is None:
        return f"pod {pod.full_name} has no controller"
    if may_not_be_evicted(pod):
        return f"pod {pod.full_name} may not be evicted"
    refusal = replacements.refusal(pod)
    return f"pod {pod.full_name} cannot be created again: {refusal}" if refusal else None


def _bound(model: ClusterModel, candidates: Sequence[str]) -> int:
    """Return an upper bound of the candidates that can be emptied: the rest need capacity for all requests."""
    table = model.cluster.table
    rows = np.array([table.row_of[name] for name in candidates], np.intp)
    present = table.present_rows()
    spare = (table.allocatable[: MEMORY + 1, present] - table.requested[: MEMORY + 1, present]).sum(axis=1)
    # each emptied node reduces the spare capacity by its whole allocatable
    gone = np.cumsum(table.allocatable[: MEMORY + 1, rows], axis=1)
    return int(np.count_nonzero((gone <= spare[:, None]).all(axis=0))) if len(rows) else 0


def _empty(model: ClusterModel, nodes: Sequence[str], most: int | None, progress: Progress) -> _Attempt:
    """Cordon nodes and drain one after the other; a node that cannot be emptied is uncordoned."""
    emptied: list[EmptiedNode] = []
    failed: dict[str, str] = {}
    with trial_of(model, preempts=False) as trial:
        meter = Meter(model, trial.owners)
        originals = {name: model.node(name) for name in nodes}
        cordon(trial, tuple(nodes))
        for number, name in enumerate(nodes, 1):
            if len(emptied) == most:
                break
            mark, budgets = trial.placer.mark(), trial.budgets.mark()
            drained = drain_node(trial, name)
            problem = _problem(trial, drained, len(nodes) - len(failed))
            if problem is None:
                emptied.append(_emptied(trial, name, drained))
            else:
                trial.placer.undo(mark)
                trial.budgets.restore(budgets)
                trial.placer.put(originals[name])
                failed[name] = problem
            progress(number, len(nodes))
        RemoveNodes(tuple(each.node for each in emptied)).apply(trial)
        after = meter.measure()
    stopped = len(emptied) + len(failed) < len(nodes)
    return _Attempt(tuple(emptied), failed, stopped, after)


def _problem(trial: WhatIfTrial, drained: DrainedNode, cordoned: int) -> str | None:
    """Return why a node is not empty after its drain, or None; the plan has cordoned `cordoned` nodes."""
    if drained.held_up:
        held = drained.held_up[0]
        return f"pod {held.pod}: {held.message}"
    for each in drained.rounds:
        for name in each.pods:
            pod = trial.model.pods.get(name)
            if pod is not None and not trial.node_of(pod):
                return f"pod {name} finds no other node: {short_reasons(trial.messages.get(name, ''), cordoned)}"
    return None


def _emptied(trial: WhatIfTrial, node: str, drained: DrainedNode) -> EmptiedNode:
    table = trial.model.cluster.table
    row = table.row_of[node]
    pods = trial.model.pods
    rounds = tuple(
        tuple(PodMove(name, trial.node_of(pods[name])) for name in each.pods if name in pods) for each in drained.rounds
    )
    left: tuple[LeftPod, ...] = drained.left
    return EmptiedNode(node, rounds, int(table.allocatable[CPU, row]), int(table.allocatable[MEMORY, row]), left)


def _moves(emptied: Sequence[EmptiedNode]) -> int:
    return sum(len(pods) for node in emptied for pods in node.rounds)


def _summary(emptied: Sequence[EmptiedNode], nodes: int) -> str:
    if not emptied:
        return f"None of {nodes} nodes can be emptied."
    moves = _moves(emptied)
    return f"{len(emptied)} of {nodes} nodes can be emptied by moving {moves} {'pod' if moves == 1 else 'pods'}."
