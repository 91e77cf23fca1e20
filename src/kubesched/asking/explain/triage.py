"""Triage: everything pending, grouped by cause, the costliest first.

From a model to a `Triage`. Pods that fit are placed first, as the scheduler would; the others are evaluated beside
them, one pod of each kind. Kinds with the same reasons by plugin whose nearest nodes lack the same are one group.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from kubesched.asking.amounts import quantity
from kubesched.asking.explain.explain_group import evaluated_beside, group_facts
from kubesched.asking.explain.helping import Helped, pods_helped
from kubesched.asking.explain.lacks import near_misses
from kubesched.asking.explain.pending_kinds import PodKind, pending_kinds, queue_order, requests_of, since
from kubesched.asking.explain.plain_words import counted, number
from kubesched.asking.explain.pod_answer import (
    ANOTHER_SCHEDULERS,
    ERROR,
    GATED,
    SCHEDULABLE,
    TERMINATING,
    UNSCHEDULABLE,
    NearMiss,
    Reason,
)
from kubesched.asking.explain.preempting import preempting, preempting_for_group
from kubesched.asking.explain.reasons import reasons_of
from kubesched.asking.explain.shares import ClusterTotals
from kubesched.asking.explain.triage_answer import PendingGroup, PodCount, Triage
from kubesched.asking.group_attempts import is_in_group
from kubesched.asking.model import ClusterModel, gates_of
from kubesched.asking.owners import Owners
from kubesched.asking.placing import Placer
from kubesched.asking.rejections import Rejections
from kubesched.asking.remedies.remedy import Remedy
from kubesched.asking.remedies.search import find_remedies
from kubesched.core.cluster.pod_groups import GroupKey, group_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.scheduling.decision import NO_NODES, choose

ORDERED_BY: Final = "the largest part of the cluster that the pods of a group request together, by resource"
MOST_REMEDIES: Final = 5
AS_A_WHOLE: Final = "their pod group does not fit as a whole"
LEFT_OVER: Final = "enough pods of their pod group have a place, and they find none"
_QUOTED: Final = re.compile(r'"[^"]*"')


class _Cause(NamedTuple):
    """Why a kind of pod is pending; kinds with equal `key` are one group."""

    verdict: str
    sentence: str
    key: object
    reasons: tuple[Reason, ...] = ()
    nearest: NearMiss | None = None


class _Diagnosed(NamedTuple):
    """Pods of one kind, and their cause."""

    pods: Sequence[PodInfo]
    cause: _Cause


def triage(model: ClusterModel, now: datetime | None = None, *, remedied: bool = True) -> Triage:
    """Return everything pending by cause; `now` is what waiting times are counted to.

    Remedies and preemption take longest to find; they are left out unless `remedied`.
    If the questions are about one namespace, pods of others are placed beside them and not told. Raises
    UnknownObjectError if there is no such namespace.
    """
    namespace = model.source.only_namespace
    model.check_namespace(namespace)
    by_key: dict[object, list[_Diagnosed]] = {}
    for each in _diagnose(model):
        if not namespace or each.pods[0].namespace == namespace:
            by_key.setdefault(each.cause.key, []).append(each)
    maker = _GroupMaker(model, now, remedied)
    groups = [maker.group(members) for members in by_key.values()]
    groups.sort(key=lambda group: (-group.share, -group.pods, group.example))
    wrong = tuple(group for group in groups if group.verdict in (UNSCHEDULABLE, ERROR))
    others = tuple(group for group in groups if group.verdict not in (UNSCHEDULABLE, ERROR))
    pending, unschedulable = sum(group.pods for group in groups), sum(group.pods for group in wrong)
    nodes = model.cluster.table.node_count
    return Triage(
        _summary(pending, unschedulable, wrong, nodes),
        pending,
        unschedulable,
        nodes,
        wrong,
        others,
        ORDERED_BY,
        model.gaps,
    )


def _summary(pending: int, unschedulable: int, groups: Sequence[PendingGroup], nodes: int) -> str:
    if not pending:
        return "No pod is pending."
    if not unschedulable:
        return f"{number(pending, 'pod')} pending, and none of them for want of a node."
    fit, causes = "does not fit" if unschedulable == 1 else "do not fit", number(len(groups), "cause")
    return f"{unschedulable:,} of {number(pending, 'pending pod')} {fit} on {number(nodes, 'node')}, for {causes}."


# -- causes


def _diagnose(model: ClusterModel) -> list[_Diagnosed]:
    """Return the pending pods of each kind with their cause."""
    found: list[_Diagnosed] = []
    tried: list[PodKind] = []
    for kind in pending_kinds(model):
        apart = _apart(model, kind.pod)
        if apart is not None:
            found.append(_Diagnosed(kind.pods, apart))
        else:
            tried.append(kind)
    placer = Placer(model)
    try:
        _place(placer, tried)
        causes = _Causes(model)
        placed = model.cluster.table.pods
        for kind in tried:
            there = [pod for pod in kind.pods if pod.uid in placed]
            left = [pod for pod in kind.pods if pod.uid not in placed]
            if there:
                sentence = "they fit: the scheduler places them as soon as it tries them"
                found.append(_Diagnosed(there, _Cause(SCHEDULABLE, sentence, SCHEDULABLE)))
            if left:
                found.append(_Diagnosed(left, causes.of(left[0])))
    finally:
        placer.undo()
    return found


def _apart(model: ClusterModel, pod: PodInfo) -> _Cause | None:
    """Return why the scheduler does not try a pod, None if it does."""
    profile = model.profile_of(pod)
    if profile is None:
        sentence = f"they are for scheduler {pod.spec.scheduler_name}, which is not known here"
        return _Cause(ANOTHER_SCHEDULERS, sentence, (ANOTHER_SCHEDULERS, pod.spec.scheduler_name))
    if pod.terminating:
        return _Cause(TERMINATING, "they are being deleted", TERMINATING)
    gates = gates_of(profile, pod)
    if gates:
        sentence = "; ".join(status.message for status in gates)
        return _Cause(GATED, sentence, (GATED, sentence))
    return None


def _place(placer: Placer, kinds: Sequence[PodKind]) -> None:
    """Place the pods that fit, in the order of the queue.

    A kind is left once one of its pods has no place; it is tried again if pods of other kinds were placed since.
    """
    queue = sorted(((pod, kind) for kind in kinds for pod in kind.pods), key=lambda each: queue_order(each[0]))
    progress = True
    while progress:
        progress, left, stuck = False, [], set()
        for pod, kind in queue:
            if kind not in stuck and placer.place_if_it_fits(pod):
                progress = True
            else:
                stuck.add(kind)
                left.append((pod, kind))
        queue = left


class _Causes:
    """Why pods have no place; that of a pod group is found once for all of its pods."""

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        self._of_groups: dict[GroupKey, _Cause] = {}

    def of(self, pod: PodInfo) -> _Cause:
        """Return why a pod has no place."""
        key = group_of(pod)
        if key is None or not is_in_group(self._model, pod):
            return _cause(self._model, self._model.engine.evaluation_of(pod))
        if key not in self._of_groups:
            self._of_groups[key] = self._of_group(pod)
        return self._of_groups[key]

    def _of_group(self, pod: PodInfo) -> _Cause:
        """Return why a group has no place: the first of its pods that finds no node, beside those before it."""
        placer = Placer(self._model)
        tried = placer.try_group(pod, may_preempt=False)
        first, status = tried.first_failing, tried.result.status
        facts = group_facts(self._model, pod)
        start = AS_A_WHOLE if facts.scheduled < (facts.min_count or 1) else LEFT_OVER
        if first is None:
            verdict = UNSCHEDULABLE if status.rejected else ERROR
            return _Cause(verdict, f"{start}: {status.message}", (start, verdict, status.message))
        with evaluated_beside(self._model, placer, tried, first) as evaluation:
            cause = _cause(self._model, evaluation)
        return cause._replace(sentence=f"{start}: {cause.sentence}", key=(start, cause.key))


def _cause(model: ClusterModel, evaluation: Evaluation) -> _Cause:
    """Return why a pod has no place."""
    failure = choose(evaluation, lambda count: 0).failure
    if failure is not None:
        verdict = UNSCHEDULABLE if failure is NO_NODES else ERROR
        return _Cause(verdict, failure.message, (verdict, _QUOTED.sub("", failure.message)))
    reasons = reasons_of(evaluation, evaluation.verdicts(), named=False)
    misses = near_misses(model, Rejections(evaluation), 1)
    nearest = misses[0] if misses else None
    given = frozenset((reason.plugin, _QUOTED.sub("", reason.message)) for reason in reasons)
    rejection = evaluation.pre_filtered.rejection
    if rejection is not None:
        return _Cause(UNSCHEDULABLE, rejection.message, given, reasons, nearest)
    sentence = counted((reason.message, reason.count) for reason in reasons)
    lacking = frozenset((lack.plugin, _QUOTED.sub("", lack.subject)) for lack in nearest.lacks) if nearest else None
    return _Cause(UNSCHEDULABLE, sentence, (given, lacking), reasons, nearest)


# -- groups


class _GroupMaker:
    """Makes groups of what has the same cause."""

    def __init__(self, model: ClusterModel, now: datetime | None, remedied: bool) -> None:
        self._model = model
        self._now = now
        self._remedied = remedied
        self._owners = Owners(model)
        self._totals = ClusterTotals(model.cluster.table)

    def group(self, members: Sequence[_Diagnosed]) -> PendingGroup:
        """Return a group; the first member has the pod that the queue hands out first."""
        cause, example = members[0].cause, members[0].pods[0]
        pods = [pod for member in members for pod in member.pods]
        requests = self._requests(members)
        share, share_of = self._totals.share(requests, len(pods))
        times = [moment for pod in pods if (moment := since(pod)) is not None]
        oldest = min(times, default=None)
        helpable = self._remedied and cause.verdict in (UNSCHEDULABLE, GATED)
        remedy, helped = self._remedy(example, pods) if helpable else (None, None)
        waiting = (self._now - oldest).total_seconds() if self._now is not None and oldest is not None else None
        return PendingGroup(
            cause.verdict,
            cause.sentence,
            len(pods),
            example.full_name,
            _counts(self._owner(pod) for pod in pods),
            _counts(pod.namespace for pod in pods),
            {name: quantity(name, amount) for name, amount in requests.items()},
            round(share, 6),
            share_of,
            since=oldest.isoformat().replace("+00:00", "Z") if oldest is not None else None,
            waiting_seconds=waiting,
            reasons=cause.reasons,
            nearest=cause.nearest,
            preemption=self._preemption(example) if helpable and cause.verdict == UNSCHEDULABLE else None,
            remedy=remedy,
            helps=helped.pods if helped is not None else None,
            tried=helped.tried if helped is not None else None,
            names=tuple(sorted(pod.full_name for pod in pods)),
        )

    def _remedy(self, example: PodInfo, pods: Sequence[PodInfo]) -> tuple[Remedy | None, Helped | None]:
        """Return the remedy that helps most of the pods, and how many it helps; of equally good ones the smallest."""
        best: tuple[Remedy | None, Helped | None] = (None, None)
        for remedy in find_remedies(self._model, example, limit=MOST_REMEDIES):
            helped = pods_helped(self._model, remedy, example, pods)
            if helped.pods > (best[1].pods if best[1] is not None else 0):
                best = remedy, helped
            if helped.pods == helped.tried:
                break
        return best

    def _owner(self, pod: PodInfo) -> str:
        owner = self._owners.of(pod)
        group = group_of(pod)
        alone = f"Pod {pod.full_name}" if group is None else f"PodGroup {'/'.join(group)}"
        return str(owner) if owner is not None else alone

    def _requests(self, members: Sequence[_Diagnosed]) -> dict[str, int]:
        total: dict[str, int] = {}
        for member in members:
            for name, amount in requests_of(member.pods[0]).items():
                total[name] = total.get(name, 0) + amount * len(member.pods)
        return total

    def _preemption(self, pod: PodInfo) -> str | None:
        """Return whether preemption helps the example of a group."""
        if is_in_group(self._model, pod):
            answer = preempting_for_group(self._model, Placer(self._model).try_group(pod))
            return answer.message if answer is not None and answer.helps else None
        profile = self._model.profile_of(pod)
        evaluation = self._model.engine.evaluation_of(pod)
        if profile is None or not evaluation.table.node_count or evaluation.feasible().count:
            return None
        found = preempting(self._model, profile, evaluation, evaluation.verdicts())
        return found.answer.message if found is not None and found.answer.helps else None


def _counts(names: Iterable[str]) -> tuple[PodCount, ...]:
    """Return names with how often they occur, most first."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return tuple(PodCount(name, count) for name, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])))
