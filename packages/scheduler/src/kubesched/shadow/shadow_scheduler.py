"""The shadow scheduler: judges each decision of the cluster's scheduler when it is written.

From changes in order to judgements, which are counted and reported. A decision that differs is also judged at other
moments, since it was made before it was written.
"""

from collections.abc import Callable, Collection, Sequence
from itertools import islice

from kubesched.api.pods import Pod
from kubesched.core.cluster.pod_groups import group_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.extenders import is_interested
from kubesched.core.scheduling.extender_calls import Asking, finished
from kubesched.model.cluster_model import ClusterModel, name_of_object
from kubesched.model.group_attempts import is_in_group
from kubesched.shadow.changes import ChangeStream, ClusterChange
from kubesched.shadow.extender_judging import ask_about_binding, ask_about_failure, may_explain
from kubesched.shadow.group_judging import (
    MOST_MOMENTS,
    MOST_ORDERS,
    ORDERS_IN_A_MOMENT,
    judge_group_failure,
    not_comparable,
)
from kubesched.shadow.group_order import BoundMember, GroupOrderSearch
from kubesched.shadow.history import ClusterHistory
from kubesched.shadow.judgements import AMONG_BEST, FOUND_NONE, NOT_JUDGED, SCORED_LESS, Judgement
from kubesched.shadow.judging import UNKNOWN_NODE, judge_binding, judge_failure
from kubesched.shadow.pod_changes import SCHEDULER_ERROR, WrittenDecision, decision_in
from kubesched.shadow.pre_bind_writes import decided_by
from kubesched.shadow.tally import ShadowTally

INTERRUPTED = "the watch was interrupted: what happened meanwhile is not known"
EXTENDERS = "extenders were not asked, and may be the reason of a difference"
TOO_MUCH = "more changed between the decision and its write than could be tried"
ITS_ERROR = "the cluster's scheduler ended the attempt with an error"
ONLY_NOMINATED = "a nomination that differs was not followed by its binding: others may have made it"

NO_ORDER = "in no order of its pod group's pods are their nodes among our best"


class ShadowScheduler:
    """Follows changes, and judges the decisions in them; the callback `tell` receives the judgements that differ.

    With `asks`, extenders are asked about their pods; `steps` yields the questions.
    """

    def __init__(
        self,
        model: ClusterModel,
        stream: ChangeStream,
        tally: ShadowTally,
        schedulers: Collection[str] = (),
        tell: Callable[[Judgement], None] = lambda judgement: None,
        *,
        asks: bool = False,
    ) -> None:
        self.history = ClusterHistory(model)
        self.tally = tally
        self._model = model
        self._stream = stream
        self._schedulers = schedulers or model.engine.profiles
        self._tell = tell
        self._asks = asks
        # UID -> the node that a pod was nominated to and judged for, before its binding
        self._judged: dict[str, str] = {}
        # UID -> the judgement of a nomination that differs; until the pod is bound there, its author is uncertain
        self._held: dict[str, Judgement] = {}

    def step(self, *, all_of_them: bool = False) -> int:
        """Process the changes that are due, without questions to extenders; return their number."""
        return finished(self.steps(all_of_them=all_of_them))

    def steps(self, *, all_of_them: bool = False) -> Asking[int]:
        """Process the changes that are due; yield questions to extenders, return the number of changes."""
        count = 0
        for change in self._stream.due(all_of_them=all_of_them):
            yield from self._apply(change)
            count += 1
        if all_of_them:
            for uid in list(self._held):
                self._settle(uid, is_bound=False)
        return count

    def _apply(self, change: ClusterChange) -> Asking[None]:
        before = self.history.known(change.name)
        if isinstance(before, Pod):
            if isinstance(change.obj, Pod) and before.uid == change.obj.uid:
                yield from self._judge_change(before, change.obj, change)
            else:
                self._judged.pop(before.uid, None)
                self._settle(before.uid, is_bound=False)
        elif isinstance(change.obj, Pod) and change.listed and change.obj.spec.node_name and self._is_ours(change.obj):
            self.tally.take(Judgement(change.obj.full_name, NOT_JUDGED, why=INTERRUPTED))
        self.history.apply(change)
        for pod, node in decided_by(self._model, before, change.obj):
            self.history.expect(pod, node)

    def _is_ours(self, pod: Pod) -> bool:
        return pod.spec.scheduler_name in self._schedulers and pod.spec.scheduler_name in self._model.engine.profiles

    def _judge_change(self, before: Pod, after: Pod, change: ClusterChange) -> Asking[None]:
        decision = decision_in(before, after)
        if decision is None or not self._is_ours(after):
            return
        known = bool(after.spec.node_name) and self._judged.pop(after.uid, "") == decision.node
        self._settle(after.uid, is_bound=known)
        if known:
            return
        # if another node was expected, the pod was not bound there
        with self.history.as_of({change.name: before}):
            judgement, other_moment = yield from self._judge(before, decision, change)
        if judgement.node and not after.spec.node_name:
            self._judged[after.uid] = judgement.node
            self.history.expect(before, judgement.node)
            if judgement.differs:
                self._held[after.uid] = judgement
                return
        self._count(judgement, other_moment=other_moment)

    def _count(self, judgement: Judgement, *, other_moment: bool = False) -> None:
        if self.tally.take(judgement, other_moment=other_moment):
            self._tell(judgement)

    def _settle(self, uid: str, *, is_bound: bool) -> None:
        """Count a nomination that differs, now that it is known whether its pod is bound there."""
        held = self._held.pop(uid, None)
        if held is not None:
            self._count(held if is_bound else Judgement(held.pod, NOT_JUDGED, held.node, why=ONLY_NOMINATED))

    def _judge(self, pod: Pod, decision: WrittenDecision, change: ClusterChange) -> Asking[tuple[Judgement, bool]]:
        """Return the judgement, and whether it holds at another moment than right before the write."""
        info = self._model.pods[pod.full_name]
        why = self._why_not(info, decision, change)
        if why:
            return Judgement(pod.full_name, NOT_JUDGED, decision.node, why=why), False
        members = self._members(info, decision)
        if members:
            return self._judge_together(info, change, members)
        plain = yield from self._now(info, decision)
        if plain.agrees:
            return plain, False
        doubt = self._doubt(info, plain)
        moments = self.history.moments(pod, change.at, self._stream.ahead())
        most = MOST_MOMENTS if is_in_group(self._model, info) and decision.message else None
        for moment in islice(moments.tried, most):
            with self.history.as_of(moment):
                then = self._model.pods.get(pod.full_name)
                waits = then is not None and not then.spec.node_name
                found = (yield from self._now(then, decision, whole=False)) if then and waits else plain
            if found.agrees:
                return found, True
            # the node cannot have been chosen before it existed
            doubt = doubt or (self._doubt(info, found) if found.why != UNKNOWN_NODE else "")
        doubt = doubt or (TOO_MUCH if moments.more or next(moments.tried, None) else "")
        return (Judgement(pod.full_name, NOT_JUDGED, decision.node, why=doubt) if doubt else plain), False

    def _members(self, pod: PodInfo, decision: WrittenDecision) -> list[BoundMember]:
        """Return the pods of a group that were bound at about the same time, including the pod; empty if it is the only
        one.

        Pods with extenders are judged one by one.
        """
        if not decision.node or not is_in_group(self._model, pod) or self._has_extenders(pod):
            return []
        found = {pod.uid: BoundMember(pod.pod, decision.node)}
        for later in self._stream.ahead():
            waiting = self._model.pods.get(f"{later.name.namespace}/{later.name.name}")
            if not isinstance(later.obj, Pod) or waiting is None or waiting.uid != later.obj.uid or later.listed:
                continue
            node = later.obj.spec.node_name
            if node and not waiting.spec.node_name and group_of(waiting) == group_of(pod):
                found.setdefault(waiting.uid, BoundMember(waiting.pod, node))
        return list(found.values()) if len(found) > 1 else []

    def _judge_together(
        self, pod: PodInfo, change: ClusterChange, members: Sequence[BoundMember]
    ) -> tuple[Judgement, bool]:
        """Judge the nodes of a group's pods together: whether an order exists in which each is among the best."""
        own, *others = members
        names = {name_of_object(each.pod) for each in members}
        moments = self.history.moments(own.pod, change.at, self._stream.ahead())
        tried = [{}, *(moment for moment in moments.tried if not moment.keys() & names)]
        search = GroupOrderSearch(self.history, members)
        for moment in tried:
            with self.history.as_of(moment):
                found = search.finds_order()
            if found:
                for other in others:
                    self._judged[other.pod.uid] = other.node
                    agreed = Judgement(other.pod.full_name, AMONG_BEST, other.node, other.node)
                    self.tally.take(agreed, other_moment=bool(moment))
                return Judgement(pod.full_name, AMONG_BEST, own.node, own.node), bool(moment)
        # orders within the group are not combined with each order of the pods outside it
        if len(tried) > 1 or moments.more or search.exhausted:
            return Judgement(pod.full_name, NOT_JUDGED, own.node, why=TOO_MUCH), False
        alone = judge_binding(self._model, pod, own.node)
        if alone.differs:
            return alone, False
        why = f"{NO_ORDER}: " + ", ".join(f"{each.pod.name} on {each.node}" for each in members)
        return Judgement(pod.full_name, SCORED_LESS, own.node, alone.ours, why), False

    def _has_extenders(self, pod: PodInfo) -> bool:
        return any(is_interested(extender, pod.spec) for extender in self._model.loaded.config.extenders)

    def _why_not(self, pod: PodInfo, decision: WrittenDecision, change: ClusterChange) -> str:
        if change.listed:
            return INTERRUPTED
        if decision.reason == SCHEDULER_ERROR:
            return ITS_ERROR
        return not_comparable(self._model, pod) if decision.node else ""

    def _doubt(self, pod: PodInfo, judgement: Judgement) -> str:
        """Return why a disagreement may not be a real difference; empty if it is one."""
        if not judgement.differs:
            return judgement.why
        # the cycle of a group is tried without extenders
        asked = self._asks and not (is_in_group(self._model, pod) and not judgement.node)
        unknown = not asked and may_explain(self._model.loaded.config.extenders, pod, judgement.verdict)
        return EXTENDERS if unknown else ""

    def _now(self, pod: PodInfo, decision: WrittenDecision, *, whole: bool = True) -> Asking[Judgement]:
        """Return the judgement on the model in its present state; without `whole`, fewer alternatives are tried."""
        asks = self._asks and self._has_extenders(pod)
        if decision.node:
            if asks:
                found = yield from ask_about_binding(self._model, pod, decision.node)
            else:
                found = judge_binding(self._model, pod, decision.node)
            if found.verdict != FOUND_NONE or not decision.message:
                return found
        if is_in_group(self._model, pod):
            orders = MOST_ORDERS if whole else ORDERS_IN_A_MOMENT
            return judge_group_failure(self._model, pod, decision.message, orders)
        if asks:
            return (yield from ask_about_failure(self._model, pod, decision.message))
        return judge_failure(self._model, pod, decision.message)
