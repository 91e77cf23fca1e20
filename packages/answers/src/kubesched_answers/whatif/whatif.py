"""What if: operations on a running cluster in virtual time, one after the other.

objects ──▶ running cluster ──settle──▶ changes without operations ──operations, settle──▶ their effects

From a model and operations to a `WhatIfAnswer`. The model is not changed.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Final, NamedTuple

from kubesched.common.timer_loop import run_on_timers
from kubesched.config.load import Loaded
from kubesched.core.cluster.pod_info import PodInfo, without_node
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects, Gap
from kubesched_answers.pod_owners import OwnerNames, bound_to_node
from kubesched_answers.whatif.differences import PodFacts, changes_between
from kubesched_answers.whatif.measures import Meter, ZonesOfOwners, spread_changes
from kubesched_answers.whatif.operations import AddNodes, Operation, TaintNodes
from kubesched_answers.whatif.running.beginning import begin
from kubesched_answers.whatif.running.cluster import RunningCluster
from kubesched_answers.whatif.running.drains import Ended
from kubesched_answers.whatif.running.unfinished import unfinished
from kubesched_answers.whatif.trial import WhatIfTrial
from kubesched_answers.whatif.whatif_answer import (
    BECOMES_BOUND,
    BECOMES_PENDING,
    DELETED,
    LOST,
    MOVES,
    NEW,
    NEW_PENDING,
    REPLACED,
    STAYS,
    STAYS_PENDING,
    WITHOUT_PLACE,
    ClusterMeasures,
    PodChange,
    UnfinishedWorkload,
    WhatIfAnswer,
    WhatIfStep,
)

# phrases of the summary, in order
_WORDS = {
    MOVES: ("moves", "move"),
    BECOMES_BOUND: ("becomes bound", "become bound"),
    NEW: ("is new", "are new"),
    NEW_PENDING: ("is new and stays pending", "are new and stay pending"),
    STAYS_PENDING: ("stays pending", "stay pending"),
    BECOMES_PENDING: ("becomes pending", "become pending"),
    DELETED: ("is deleted", "are deleted"),
    LOST: ("is lost", "are lost"),
    REPLACED: ("is replaced on its node", "are replaced on their nodes"),
    STAYS: ("stays", "stay"),
}
# work takes some time, so that time passes even if the loop is always busy
TURN_SECONDS: Final = 0.0001
RESTLESS: Final = Gap(
    "later changes",
    "the cluster does not settle: its objects change again and again",
    "the answer shows the cluster at one moment",
)


def whatif(model: ClusterModel, operations: Sequence[Operation], *, present: Loaded | None = None) -> WhatIfAnswer:
    """Return the outcome of operations on the cluster; raises UnknownObjectError and other KubeschedErrors.

    The model is not changed. `present` is the configuration in force, if the model's configuration is one to try.
    """
    return run_on_timers(_whatif(model, operations, present), turn_seconds=TURN_SECONDS)


class _Baseline(NamedTuple):
    """A settled cluster before the operations."""

    pods: Mapping[str, PodInfo]
    anyway: tuple[PodChange, ...]
    measures: ClusterMeasures
    zones: ZonesOfOwners
    unfinished: Mapping[str, UnfinishedWorkload]
    calm: bool


async def _whatif(model: ClusterModel, operations: Sequence[Operation], present: Loaded | None) -> WhatIfAnswer:
    base = None
    if present is not None:
        now = RunningCluster(model.source, present, model.registry)
        async with now.running():
            base = await _settled(now)
    cluster = RunningCluster(model.source, model.loaded, model.registry)
    async with cluster.running():
        own = await _settled(cluster)
        base = base or own
        ends: list[Ended] = []
        calm = own.calm and base.calm
        for operation in operations:
            ends.append(begin(cluster, operation))
            calm = await cluster.settle() and calm
        answer = _answer(model, cluster, base, operations, tuple(end() for end in ends))
        return answer if calm else replace(answer, gaps=(*answer.gaps, RESTLESS))


async def _settled(cluster: RunningCluster) -> _Baseline:
    """Let the cluster settle without operations."""
    calm = await cluster.settle()
    anyway, _ = changes_between(cluster.at_first, cluster.pods, _facts(cluster))
    meter = Meter(cluster, OwnerNames(cluster))
    measures = meter.measure()
    happens = tuple(change for change in anyway if change.change != STAYS_PENDING)
    return _Baseline(cluster.pods, happens, measures, meter.zones_of_owners, unfinished(cluster), calm)


def _answer(
    model: ClusterModel,
    cluster: RunningCluster,
    base: _Baseline,
    operations: Sequence[Operation],
    steps: tuple[WhatIfStep, ...],
) -> WhatIfAnswer:
    changes, counts = changes_between(base.pods, cluster.pods, _facts(cluster))
    meter = Meter(cluster, OwnerNames(cluster))
    after = meter.measure()
    known = {(each.workload, each.message) for each in base.unfinished.values()}
    hangs = tuple(each for each in unfinished(cluster).values() if (each.workload, each.message) not in known)
    for_room = not operations or all(map(_makes_room, operations))
    counted = None if for_room else {each.pod for each in changes if cluster.is_asked_for(each.owner, each.pod)}
    lacking = any(lacks_place(each, counted) for each in changes)
    return WhatIfAnswer(
        not lacking and not hangs and not any(step.failed for step in steps),
        _summary(counts, steps, hangs),
        steps,
        dict(counts),
        tuple(changes),
        base.measures,
        after,
        spread_changes(base.zones, meter.zones_of_owners),
        model.gaps,
        hangs,
        base.anyway,
    )


def _facts(cluster: RunningCluster) -> PodFacts:
    record = cluster.record
    return PodFacts(cluster.owner_of, cluster.refusal, record.messages, record.preempted_by, cluster.reasons)


class Tried(NamedTuple):
    """The result of operations: each outcome, and the objects, with the pods that wait since then."""

    steps: tuple[WhatIfStep, ...]
    source: ClusterObjects


def tried(model: ClusterModel, operations: Sequence[Operation]) -> Tried:
    """Return the cluster after operations; pods that found a place meanwhile wait again."""
    return run_on_timers(_tried(model, operations), turn_seconds=TURN_SECONDS)


async def _tried(model: ClusterModel, operations: Sequence[Operation]) -> Tried:
    cluster = RunningCluster(model.source, model.loaded, model.registry)
    async with cluster.running():
        calm = await cluster.settle()
        ends: list[Ended] = []
        for operation in operations:
            ends.append(begin(cluster, operation))
            calm = await cluster.settle() and calm
        nodes = {pod.uid: pod.spec.node_name for pod in model.pods.values()}
        pods = [
            pod.pod if bound_to_node(pod) or nodes.get(pod.uid, "") == pod.spec.node_name else without_node(pod.pod)
            for pod in cluster.pods.values()
        ]
        gaps = model.source.gaps if calm else (*model.source.gaps, RESTLESS)
        source = replace(model.source, objects=(*cluster.objects, *pods), gaps=gaps)
        return Tried(tuple(end() for end in ends), source)


@contextmanager
def trial_of(model: ClusterModel, *, preempts: bool = True, disposable: bool = False) -> Iterator[WhatIfTrial]:
    """Try something on a model; at the end it is undone, unless the model is `disposable`.

    Without `preempts`, PostFilter does not run.
    """
    trial = WhatIfTrial(model, preempts=preempts)
    try:
        yield trial
    finally:
        if not disposable:
            trial.close()


def lacks_place(change: PodChange, counted: Collection[str] | None) -> bool:
    """Return whether a pod has no place though it should have one.

    Among the pods that stay pending, those in `counted` should; without it, all.
    """
    if change.held or change.change not in WITHOUT_PLACE:
        return False
    return change.change != STAYS_PENDING or counted is None or change.pod in counted


def _makes_room(operation: Operation) -> bool:
    """Return whether an operation's only purpose is places for pending pods."""
    return isinstance(operation, AddNodes) or (isinstance(operation, TaintNodes) and operation.remove)


def _summary(counts: Mapping[str, int], steps: Sequence[WhatIfStep], hangs: Sequence[UnfinishedWorkload]) -> str:
    parts = [f"{number} {words[number != 1]}" for kind, words in _WORDS.items() if (number := counts.get(kind, 0))]
    held_up = sum(len(step.held_up) for step in steps)
    total = sum(counts.values())
    sentences = [f"Of {total} pods {', '.join(parts)}." if parts else "There are no pods."]
    refused = {each.node for step in steps for each in step.refused}
    if refused:
        sentences.append(f"kubectl drain refuses {'1 node' if len(refused) == 1 else f'{len(refused)} nodes'}.")
    if held_up:
        sentences.append(f"Budgets hold up {held_up} {'pod' if held_up == 1 else 'pods'} of the drain.")
    sentences += [f"{each.workload}: {each.message}." for each in hangs]
    return " ".join(sentences)
