"""Trials of a pod that is scheduled with its pod group.

From steps to the node that the pod then gets with its group; or to the first pod of the group without a node,
evaluated with the earlier pods on their nodes.
"""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from kubesched.core.cluster.pod_groups import group_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.scheduling.decision import Decision
from kubesched.model.cluster_model import ClusterModel, gates_of, name_of_object
from kubesched.model.group_attempts import group_object, members_to_try
from kubesched_answers.placing import Placer
from kubesched_answers.remedies.steps import Step
from kubesched_answers.remedies.trials import Trial, Trials


class MemberTrial(Trial):
    """A pod of a group in a fork: the subject of the question if it has a node, else the first pod without one.

    `fitting` is how many pods of the group find a node, `alike` are the pods without one whose specification is
    equal.
    """

    def __init__(
        self, model: ClusterModel, pod: PodInfo, node_name: str, fitting: int, alike: Sequence[PodInfo] = ()
    ) -> None:
        super().__init__(model, pod)
        self._node_name = node_name
        self.fitting = fitting
        self.alike = alike or (pod,)

    @property
    def node_name(self) -> str:
        """Return the node that the pod goes to with its group, empty if there is none."""
        return self._node_name

    def step_for(self, step: Step, pod: PodInfo) -> Step:
        """Return a step that changes this pod as a step for another pod of the group."""
        return replace(step, object=name_of_object(pod.pod))

    @property
    def decision(self) -> Decision:
        """Return the decision: the evaluation of a pod without a feasible node."""
        return Decision(self._node_name)


class GroupTrials(Trials):
    """Tries steps for one pod of a group; counts the trials."""

    @contextmanager
    def fork_group(self, steps: tuple[Step, ...]) -> Iterator[MemberTrial]:
        """Apply steps until the block ends, and try the group."""
        with super().fork(steps) as trial:
            placer = Placer(self.model)
            try:
                yield self._try(placer, trial.pod)
            finally:
                placer.undo()

    @contextmanager
    def fork(self, steps: tuple[Step, ...]) -> Iterator[Trial]:
        """Apply steps until the block ends; raises KubeschedError if they cannot be applied together."""
        with self.fork_group(steps) as trial:
            yield trial

    def _try(self, placer: Placer, pod: PodInfo) -> MemberTrial:
        profile = self.model.profile_of(pod)
        if profile is None or gates_of(profile, pod):
            return MemberTrial(self.model, pod, "", 0)
        tried = placer.try_group(pod, may_preempt=False)
        fitting = sum(1 for each in tried.result.pods if each.failure is None)
        own = next((each for each in tried.result.pods if each.attempt.queued.uid == pod.uid), None)
        if own is not None and pod.uid not in tried.failures:
            return MemberTrial(self.model, pod, own.node_name, fitting)
        # if enough pods of the group fit, its own failure is the obstacle
        blocking = own if tried.result.status.ok else tried.first_failing
        if blocking is None:
            return MemberTrial(self.model, self._held_back(pod) or pod, "", fitting)
        placer.hold_before(blocking, tried)
        member = blocking.attempt.queued.pod
        alike = [
            each.attempt.queued.pod
            for each in tried.result.pods
            if each.failure is not None and each.attempt.queued.pod.digest is member.digest
        ]
        trial = MemberTrial(self.model, member, "", fitting, alike)
        trial.evaluation.within = tried.result.within
        return trial

    def _held_back(self, pod: PodInfo) -> PodInfo | None:
        """Return a waiting pod of the group that PreEnqueue holds back."""
        tried = {each.uid for each in members_to_try(self.model, pod)}
        key = group_of(pod)
        waiting = self.model.cluster.pod_groups.state(key).unscheduled if key is not None else {}
        return next((each for uid, each in waiting.items() if uid not in tried), None)

    @property
    def wanted(self) -> int:
        """Return how many pods of the group may lack a node."""
        return max(len(members_to_try(self.model, self.pod)), self.missing(0))

    def missing(self, fitting: int) -> int:
        """Return the smallest number of further pods that must find a node."""
        key, group = group_of(self.pod), group_object(self.model, self.pod)
        gang = group.spec.scheduling_policy.gang if group is not None else None
        if gang is None or key is None:
            return 0
        return max(0, gang.min_count - len(self.model.cluster.pod_groups.state(key).scheduled) - fitting)
