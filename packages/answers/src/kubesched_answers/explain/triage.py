"""Triage: everything pending, grouped by cause, the costliest first.

From a model to a `Triage`. Pods that fit are placed first, as the scheduler would; then one pod of each remaining
kind is evaluated. Kinds form a group if they have the same reasons by plugin, the same lacks on their nearest nodes,
the same requests of scarce resources, and the same pods to preempt.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from kubesched.core.cluster.pod_groups import GroupKey, group_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.scheduling.decision import NO_NODES, choose
from kubesched.model.cluster_model import ClusterModel, gates_of
from kubesched.model.cluster_objects import OUTSIDE
from kubesched.model.group_attempts import is_in_group
from kubesched.model.owners import Owners
from kubesched.model.preempting import preempting, preempting_for_group
from kubesched.model.rejections import Rejections
from kubesched.reports.plain_words import INSUFFICIENT, counted, number
from kubesched_answers.amounts import quantity
from kubesched_answers.explain.explain_group import evaluated_beside, group_facts
from kubesched_answers.explain.helping import Helped, pods_helped
from kubesched_answers.explain.lacks import near_misses
from kubesched_answers.explain.pending_kinds import PodKind, pending_kinds, requests_of, since
from kubesched_answers.explain.placing_pending import place_what_fits
from kubesched_answers.explain.pod_answer import (
    ANOTHER_SCHEDULERS,
    ERROR,
    GATED,
    SCHEDULABLE,
    TERMINATING,
    UNSCHEDULABLE,
    NearMiss,
    Reason,
)
from kubesched_answers.explain.reasons import reasons_of
from kubesched_answers.explain.shares import ClusterTotals
from kubesched_answers.explain.triage_answer import PendingGroup, PodCount, Triage
from kubesched_answers.placing import Placer
from kubesched_answers.remedies.remedy import Remedy
from kubesched_answers.remedies.search import find_remedies

ORDERED_BY: Final = "the largest part of the cluster that the pods of a group request together, by resource"
MOST_REMEDIES: Final = 5
NOT_PLACED: Final = (UNSCHEDULABLE, ERROR)
PREEMPT_NEVER: Final = "Never"
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
    """Return everything pending by cause; waiting times count up to `now`.

    With `remedied=False` it leaves out remedies and preemption, which take longest to find. If the questions are
    about one namespace, pods of other namespaces are placed and not reported. Raises UnknownObjectError if there is
    no such namespace.
    """
    namespace = model.source.only_namespace
    model.check_namespace(namespace)
    groups = pending_groups(
        model, [name for name, pod in model.pods.items() if namespace in ("", pod.namespace)], now, remedied=remedied
    )
    wrong = tuple(group for group in groups if group.verdict in NOT_PLACED)
    others = tuple(group for group in groups if group.verdict not in NOT_PLACED)
    pending, unschedulable = sum(group.pods for group in groups), sum(group.pods for group in wrong)
    nodes = model.cluster.table.node_count
    return Triage(
        _summary(pending, unschedulable, wrong, nodes) if pending else _nothing_pending(model, namespace),
        pending,
        unschedulable,
        nodes,
        wrong,
        others,
        ORDERED_BY,
        model.gaps,
    )


def _summary(pending: int, unschedulable: int, groups: Sequence[PendingGroup], nodes: int) -> str:
    if not unschedulable:
        return f"{number(pending, 'pod')} pending, and none of them for lack of a node."
    fit, causes = "does not fit" if unschedulable == 1 else "do not fit", number(len(groups), "cause")
    return f"{unschedulable:,} of {number(pending, 'pending pod')} {fit} on {number(nodes, 'node')}, for {causes}."


def _nothing_pending(model: ClusterModel, namespace: str) -> str:
    """Return a sentence that no pod is pending; it excludes namespaces that are forbidden to read."""
    unread = model.unread_pods
    only = unread.what.partition(OUTSIDE)[2] if unread is not None else namespace
    known = f"No pod of namespace {only} is pending." if only else "No pod is pending."
    return known if only == namespace else f"{known} You may not read the pods of other namespaces."


def pending_groups(
    model: ClusterModel, names: Collection[str], now: datetime | None, *, remedied: bool = True
) -> list[PendingGroup]:
    """Return the pending pods among some, by `namespace/name`, in groups by cause, the costliest first."""
    by_key: dict[object, list[_Diagnosed]] = {}
    for each in _diagnose(model, frozenset(names)):
        by_key.setdefault(each.cause.key, []).append(each)
    maker = _GroupMaker(model, now, remedied)
    groups = [maker.group(members) for members in by_key.values()]
    return sorted(groups, key=lambda group: (-group.share, -group.pods, group.example))


# -- causes


def _diagnose(model: ClusterModel, names: Collection[str]) -> list[_Diagnosed]:
    """Return the pending pods with some names by kind, with their cause."""
    found: list[_Diagnosed] = []
    tried: list[PodKind] = []
    for kind in pending_kinds(model):
        asked = [pod for pod in kind.pods if pod.full_name in names]
        apart = _apart(model, kind.pod)
        if apart is None:
            tried.append(kind)
        elif asked:
            found.append(_Diagnosed(asked, apart))
    placer = Placer(model)
    try:
        place_what_fits(placer, tried)
        causes = _Causes(model)
        placed = model.cluster.table.pods
        for kind in tried:
            asked = [pod for pod in kind.pods if pod.full_name in names]
            there = [pod for pod in asked if pod.uid in placed]
            left = [pod for pod in asked if pod.uid not in placed]
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


class _Causes:
    """Finds why pods have no place; for a pod group only once."""

    def __init__(self, model: ClusterModel) -> None:
        self._model = model
        self._of_groups: dict[GroupKey, _Cause] = {}
        self._lowest = min((pod.priority for pod in model.pods.values() if pod.spec.node_name), default=None)

    def of(self, pod: PodInfo) -> _Cause:
        """Return why a pod has no place."""
        key = group_of(pod)
        if key is None or not is_in_group(self._model, pod):
            cause = _cause(self._model, self._model.engine.evaluation_of(pod))
        else:
            if key not in self._of_groups:
                self._of_groups[key] = self._of_group(pod)
            cause = self._of_groups[key]
        return cause._replace(key=(cause.key, self._preempts_below(pod)))

    def _preempts_below(self, pod: PodInfo) -> int | None:
        """Return the priority below which a pod may preempt pods, None if it may preempt none."""
        if self._lowest is None or pod.spec.preemption_policy == PREEMPT_NEVER:
            return None
        return pod.priority if pod.priority > self._lowest else None

    def _of_group(self, pod: PodInfo) -> _Cause:
        """Return why a group has no place: the first of its pods that finds no node after the pods before it."""
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
    short = _short_requests(evaluation.pod, reasons, nearest)
    return _Cause(UNSCHEDULABLE, sentence, (given, lacking, short), reasons, nearest)


def _short_requests(pod: PodInfo, reasons: Sequence[Reason], nearest: NearMiss | None) -> frozenset[tuple[str, int]]:
    """Return the requests of a pod for the resources that nodes have too little of."""
    messages = {reason.message for reason in reasons}
    lacking = {lack.resource for lack in nearest.lacks} if nearest is not None else set()
    requests = requests_of(pod).items()
    return frozenset(
        (name, amount) for name, amount in requests if name in lacking or f"{INSUFFICIENT}{name}" in messages
    )


# -- groups


class _GroupMaker:
    """Makes groups of kinds with the same cause."""

    def __init__(self, model: ClusterModel, now: datetime | None, remedied: bool) -> None:
        self._model = model
        self._now = now
        self._remedied = remedied
        self._owners = Owners(model)
        self._totals = ClusterTotals(model.cluster.table)

    def group(self, members: Sequence[_Diagnosed]) -> PendingGroup:
        """Return a group; its first member has the pod that the queue hands out first."""
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
        """Return the remedy that helps most of the pods, and how many it helps; among equal ones the smallest."""
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
    """Return names by descending frequency."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    return tuple(PodCount(name, count) for name, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])))
