"""The scheduler in the shadow: judges each decision of the cluster's scheduler as it shows.

From changes in order to judgements, which are counted and told. A decision that differs is judged as of other moments,
too, since it was made before it was written.
"""

from collections.abc import Callable, Collection

from kubesched.api.pods import Pod
from kubesched.asking.group_attempts import is_in_group
from kubesched.asking.model import ClusterModel
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.shadow.changes import ChangeStream, ClusterChange
from kubesched.shadow.history import ClusterHistory
from kubesched.shadow.judgements import FOUND_NONE, NOT_JUDGED, Judgement
from kubesched.shadow.judging import judge_binding, judge_failure
from kubesched.shadow.pod_changes import SCHEDULER_ERROR, WrittenDecision, decision_in
from kubesched.shadow.pre_bind_writes import decided_by
from kubesched.shadow.tally import ShadowTally

INTERRUPTED = "the watch was interrupted: what happened meanwhile is not known"
POD_GROUP = "pods of pod groups are decided together"
EXTENDERS = "extenders are not called here, and may be the reason of a difference"
TOO_MUCH = "more changed between the decision and its write than could be tried"
ITS_ERROR = "the cluster's scheduler ended the attempt with an error"


class ShadowScheduler:
    """Follows changes, and judges the decisions in them; `tell` gets the judgements that differ."""

    def __init__(
        self,
        model: ClusterModel,
        stream: ChangeStream,
        tally: ShadowTally,
        schedulers: Collection[str] = (),
        tell: Callable[[Judgement], None] = lambda judgement: None,
    ) -> None:
        self.history = ClusterHistory(model)
        self.tally = tally
        self._model = model
        self._stream = stream
        self._schedulers = schedulers or model.engine.profiles
        self._tell = tell
        # UID -> the node that a pod was nominated to and judged for, before its binding
        self._judged: dict[str, str] = {}

    def step(self, *, all_of_them: bool = False) -> int:
        """Take the changes that are due; return how many."""
        count = 0
        for change in self._stream.due(all_of_them=all_of_them):
            self._take(change)
            count += 1
        return count

    def _take(self, change: ClusterChange) -> None:
        before = self.history.known(change.name)
        if isinstance(before, Pod):
            if isinstance(change.obj, Pod) and before.uid == change.obj.uid:
                self._look(before, change.obj, change)
            else:
                self._judged.pop(before.uid, None)
        elif isinstance(change.obj, Pod) and change.listed and change.obj.spec.node_name and self._is_ours(change.obj):
            self.tally.take(Judgement(change.obj.full_name, NOT_JUDGED, why=INTERRUPTED))
        self.history.apply(change)
        for pod, node in decided_by(self._model, before, change.obj):
            self.history.expect(pod, node)

    def _is_ours(self, pod: Pod) -> bool:
        return pod.spec.scheduler_name in self._schedulers and pod.spec.scheduler_name in self._model.engine.profiles

    def _look(self, before: Pod, after: Pod, change: ClusterChange) -> None:
        decision = decision_in(before, after)
        if decision is None or not self._is_ours(after):
            return
        if after.spec.node_name and self._judged.pop(after.uid, "") == decision.node:
            return
        # if it was expected on another node, it was not bound there
        with self.history.as_of({change.name: before}):
            judgement, other_moment = self._judge(before, decision, change)
        if judgement.node and not after.spec.node_name:
            self._judged[after.uid] = judgement.node
            self.history.expect(before, judgement.node)
        if self.tally.take(judgement, other_moment=other_moment):
            self._tell(judgement)

    def _judge(self, pod: Pod, decision: WrittenDecision, change: ClusterChange) -> tuple[Judgement, bool]:
        """Return the judgement, and whether it is one of another moment than right before the write."""
        info = self._model.pods[pod.full_name]
        why = self._why_not(info, decision, change)
        if why:
            return Judgement(pod.full_name, NOT_JUDGED, decision.node, why=why), False
        plain = self._now(info, decision)
        if not plain.differs:
            return plain, False
        moments = self.history.moments(pod, change.at, self._stream.ahead())
        for moment in moments.tried:
            with self.history.as_of(moment):
                then = self._model.pods.get(pod.full_name)
                found = self._now(then, decision) if then is not None and not then.spec.node_name else plain
            if found.agrees:
                return found, True
        unknown = EXTENDERS if self._model.loaded.config.extenders else TOO_MUCH if moments.more else ""
        return (Judgement(pod.full_name, NOT_JUDGED, decision.node, why=unknown) if unknown else plain), False

    def _why_not(self, pod: PodInfo, decision: WrittenDecision, change: ClusterChange) -> str:
        if change.listed:
            return INTERRUPTED
        if decision.reason == SCHEDULER_ERROR:
            return ITS_ERROR
        return POD_GROUP if is_in_group(self._model, pod) else ""

    def _now(self, pod: PodInfo, decision: WrittenDecision) -> Judgement:
        if decision.node:
            found = judge_binding(self._model, pod, decision.node)
            if found.verdict != FOUND_NONE or not decision.message:
                return found
        return judge_failure(self._model, pod, decision.message)
