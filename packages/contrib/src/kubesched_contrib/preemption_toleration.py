"""PreemptionToleration: pods of a PriorityClass tolerate preemption, for a while, up to a priority.

From annotations of PriorityClasses to the victims of a pod that found no node: less important pods, except those that
tolerate the preemption. Otherwise it works like DefaultPreemption, which it replaces.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from logging import Logger
from typing import Any, NamedTuple

from kubesched import (
    SUCCESS,
    Action,
    Background,
    Candidate,
    ClusterEvent,
    ClusterView,
    Code,
    CycleState,
    Hint,
    NodeRow,
    NodeTrial,
    NodeVerdicts,
    PodInfo,
    PostFilterResult,
    Registration,
    Resource,
    RunningPreemptions,
    Waits,
    unschedulable,
)
from kubesched_contrib.victims import BUDGETS, PreemptingPlugin, candidate, importance

KIND = "priorityclasses.v1.scheduling.k8s.io"
PREFIX = "preemption-toleration.scheduling.x-k8s.io/"
MINIMUM = f"{PREFIX}minimum-preemptable-priority"
SECONDS = f"{PREFIX}toleration-seconds"
TICK_SECONDS = 1.0
PERCENT = 100


@dataclass(frozen=True)
class PreemptionTolerationArgs:
    """The number of candidate nodes: a percentage of the nodes, and a minimum."""

    min_candidate_nodes_percentage: int = 10
    min_candidate_nodes_absolute: int = 100

    def __post_init__(self) -> None:
        if not 0 <= self.min_candidate_nodes_percentage <= PERCENT:
            raise ValueError("minCandidateNodesPercentage: must be from 0 to 100")
        if self.min_candidate_nodes_absolute < 0:
            raise ValueError("minCandidateNodesAbsolute: must not be negative")
        if not self.min_candidate_nodes_percentage and not self.min_candidate_nodes_absolute:
            raise ValueError("minCandidateNodesPercentage, minCandidateNodesAbsolute: cannot be zero at the same time")


class TolerationPolicy(NamedTuple):
    """The priority that may preempt at any time, and the seconds for which lower ones may not; negative means for
    ever.
    """

    minimum_priority: int
    seconds: int


class PreemptionToleration(PreemptingPlugin):
    """Preempts less important pods that do not tolerate it."""

    name = "PreemptionToleration"
    looks_up = (KIND, BUDGETS)

    def __init__(
        self,
        cluster: ClusterView,
        preemptions: RunningPreemptions,
        waits: Waits,
        background: Background,
        log: Logger,
        args: PreemptionTolerationArgs | None = None,
    ) -> None:
        super().__init__(cluster, preemptions)
        self._waits = waits
        self._background = background
        self._log = log
        self._args = args or PreemptionTolerationArgs()
        # preemptor -> the end of the next toleration among its possible victims
        self._until: dict[str, datetime] = {}
        background.timer(TICK_SECONDS, self._look_after)

    def events_to_register(self) -> Sequence[Registration]:
        """Return the deletion of pods, which ends a preemption, and changes of policies."""
        return (
            Registration(ClusterEvent(Resource.POD, Action.DELETE), after_pod_deletion),
            Registration(ClusterEvent(KIND, Action.ALL)),
        )

    # -- PostFilter

    def post_filter(self, cycle: CycleState, pod: PodInfo, verdicts: NodeVerdicts) -> PostFilterResult:
        """Return the nodes on which evictions would help, and the best of them."""
        refusal = self.refusal(pod, lambda node: [other for other in node.pods if other.priority < pod.priority])
        if refusal:
            return PostFilterResult(unschedulable(f"preemption: {refusal}"))
        nodes = [node for node in self._cluster.nodes if verdicts.of(node).code is Code.UNSCHEDULABLE]
        self._until.pop(pod.uid, None)
        candidates: list[Candidate] = []
        wanted = max(
            len(nodes) * self._args.min_candidate_nodes_percentage // PERCENT, self._args.min_candidate_nodes_absolute
        )
        for node in nodes:
            found = self._candidate(cycle, pod, node)
            if found is not None:
                candidates.append(found)
            if len(candidates) >= wanted:
                break
        if not candidates:
            return PostFilterResult(unschedulable("preemption: no node has pods whose eviction helps"))
        self._until.pop(pod.uid, None)
        return PostFilterResult(SUCCESS, self._cluster.best_candidates(candidates)[0], candidates)

    def _candidate(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Candidate | None:
        """Return a node with its victims; None if evicting all possible victims does not help."""
        potential = [other for other in node.pods if other.priority < pod.priority and not self._tolerates(other, pod)]
        if not potential:
            return None
        potential.sort(key=importance)
        trial = NodeTrial(cycle, node)
        for other in potential:
            trial.remove(other)
        if not trial.fits:
            return None
        return candidate(self._cluster, node.name, potential, trial.remove, trial.restore, lambda: trial.fits)

    # -- tolerations

    def _tolerates(self, victim: PodInfo, preemptor: PodInfo) -> bool:
        """Return whether a pod currently tolerates the preemption by another."""
        policy = self._policy(victim)
        if policy is None or preemptor.priority >= policy.minimum_priority:
            return False
        if policy.seconds < 0:
            return True
        conditions = victim.status.conditions
        scheduled = next((each for each in conditions if each.type == "PodScheduled" and each.status == "True"), None)
        if scheduled is None or scheduled.last_transition_time is None:
            return True
        end = scheduled.last_transition_time + timedelta(seconds=policy.seconds)
        if end <= self._waits.date():
            return False
        self._until[preemptor.uid] = min(end, self._until.get(preemptor.uid, end))
        return True

    def _policy(self, pod: PodInfo) -> TolerationPolicy | None:
        """Return the policy of a pod's PriorityClass, None if it has none; an invalid one is logged."""
        found = self._cluster.get(KIND, pod.spec.priority_class_name) if pod.spec.priority_class_name else None
        if found is None:
            return None
        try:
            return toleration_policy(found)
        except ValueError as problem:
            self._log.warning("PriorityClass without a valid toleration", extra={"err": str(problem)})
            return None

    # -- periodically

    def _look_after(self) -> None:
        """Activate preemptors when a toleration has ended."""
        if self._until:
            now, pending = self._waits.date(), self._cluster.pending
            over = [uid for uid, end in self._until.items() if end <= now or uid not in pending]
            for uid in over:
                del self._until[uid]
            self._background.activate(over)


def toleration_policy(priority_class: Any) -> TolerationPolicy:
    """Return the policy that a PriorityClass's annotations describe; raises ValueError if they are no numbers."""
    annotations = priority_class.metadata.annotations
    numbers = {}
    for key, default in ((MINIMUM, int(priority_class.value) + 1), (SECONDS, 0)):
        text = annotations.get(key, str(default))
        try:
            numbers[key] = int(text)
        except ValueError:
            raise ValueError(
                f"PriorityClass {priority_class.metadata.name}: metadata.annotations[{key}]: "
                f"expected a whole number in quotes, got {text!r}"
            ) from None
    return TolerationPolicy(numbers[MINIMUM], numbers[SECONDS])


def after_pod_deletion(pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> Hint:
    """Return whether a deleted pod may have been a victim: it must be less important."""
    return Hint.when(old is not None and old.priority < pod.priority)
