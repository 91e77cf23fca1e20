"""Placing pods on the model, one after the other, as the scheduler would, and undoing it.

From pods to outcomes of the scheduling cycle, which is the scheduler's own (`core.scheduling.cycle`). A pod of a pod
group is placed with its group, by the group's cycle (`group_attempts`). Among several best nodes the first by name is
chosen, so that equal questions get equal answers. `undo` reverts all changes (places, removed pods, cordoned nodes),
the last change first.
"""

from collections.abc import Callable, Mapping, Sequence
from copy import copy
from typing import NamedTuple

import msgspec
import numpy as np

from kubesched.api.devices import ResourceClaim, ResourceClaimStatus
from kubesched.api.meta import ApiObject
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.observing.observer import NOBODY
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.scheduling.commit import commit, undo
from kubesched.core.scheduling.cycle import CycleContext, commit_failure, schedule
from kubesched.core.scheduling.decision import choose
from kubesched.core.scheduling.extender_calls import finished
from kubesched.core.scheduling.groups.results import PodResult
from kubesched.core.scheduling.outcomes import Failed, Outcome, Placed, Skipped, begin_attempt
from kubesched.model.cluster_model import DEFAULT_SCHEDULER, ClusterModel, name_of_object
from kubesched.model.group_attempts import TriedGroup, is_in_group, members_to_try, try_group


class PlacedByPreemption(NamedTuple):
    """An attempt with preemption: the outcome of each tried pod, by UID, and the evicted victims."""

    outcomes: Mapping[str, Outcome]
    victims: Sequence[PodInfo]


class Placer:
    """Schedules pods on a model, and changes it; `undo` reverts everything, the last change first.

    Without `preempts`, PostFilter does not run for a pod that fits nowhere.
    """

    def __init__(self, model: ClusterModel, *, preempts: bool = True) -> None:
        self._model = model
        self._context = CycleContext(model.engine, pick=lambda count: 0)
        # extenders are not called: the model says so in its gaps
        self._context.extenders = ()
        profiles = dict(model.engine.profiles)
        if not preempts:
            profiles = {name: _without_post_filter(profile) for name, profile in profiles.items()}
        # a manifest may leave out the scheduler, which the API server would fill in
        if DEFAULT_SCHEDULER in profiles:
            profiles[""] = profiles[DEFAULT_SCHEDULER]
        self._context.profiles = profiles
        # the current places, by UID
        self._placed: dict[str, Placed] = {}
        self._taking_back: list[Callable[[], None]] = []

    # -- places

    def place(self, pod: PodInfo) -> Placed | Failed | Skipped:
        """Try to schedule a pod without a node, or its group; a placed pod counts on its node from now on."""
        if is_in_group(self._model, pod) and pod.uid not in self._model.cluster.table.pods:
            return self.place_group(pod).get(pod.uid, Skipped(QueuedPod(pod, 0.0)))
        before, claims = self._model.cluster.pending.get(pod.uid), claims_of(self._model, pod)
        outcome: Outcome = finished(schedule(self._context, begin_attempt(QueuedPod(pod, 0.0), NOBODY)))
        if isinstance(outcome, Placed):
            self._keep(outcome, before, claims)
        return outcome

    def place_if_it_fits(self, pod: PodInfo) -> bool:
        """Place a pod if it fits, and return whether it does; PostFilter, which takes long, does not run."""
        if pod.uid in self._placed:
            # with its group
            return True
        if is_in_group(self._model, pod):
            return isinstance(self.place_group(pod, may_preempt=False).get(pod.uid), Placed)
        fits = choose(self._model.engine.evaluation_of(pod), self._context.pick).node_name
        return bool(fits) and isinstance(self.place(pod), Placed)

    # -- groups

    def try_group(self, pod: PodInfo, *, may_preempt: bool = True) -> TriedGroup:
        """Try to schedule the waiting pods of a pod's group, without any change."""
        cluster, known = self._model.cluster, pod.uid in self._model.cluster.pending
        tried = try_group(self._context, members_to_try(self._model, pod), may_preempt=may_preempt)
        if not known:
            # the pod is not in the cluster
            cluster.remove_pod(pod.uid)
        return tried

    def place_group(self, pod: PodInfo, *, may_preempt: bool = True) -> dict[str, Outcome]:
        """Try to schedule the waiting pods of a pod's group together; return the outcome of each, by UID."""
        return self.take_places(self.try_group(pod, may_preempt=may_preempt))

    def take_places(self, tried: TriedGroup) -> dict[str, Outcome]:
        """Place the pods of a group for which a place was found; return the outcome of each pod, by UID."""
        outcomes: dict[str, Outcome] = dict(tried.failures)
        for pod in tried.placed:
            assert pod.cycle is not None
            # the group's cycle is over
            pod.cycle.group = None
            failure = self.hold(pod, tried)
            outcomes[pod.attempt.queued.uid] = failure or self._placed[pod.attempt.queued.uid]
        return outcomes

    def hold(self, found: PodResult, tried: TriedGroup) -> Failed | None:
        """Count a pod of a group on the node that was found for it; return why it cannot."""
        pod, cycle, profile = found.attempt.queued.pod, found.cycle, tried.profile
        assert profile is not None, "pods without a profile are not tried"
        assert cycle is not None, "a pod with a node has a cycle"
        before, claims = self._model.cluster.pending.get(pod.uid), claims_of(self._model, pod)
        taken = commit(self._model.cluster, profile, cycle, pod, found.node_name)
        if taken.failure is not None:
            return commit_failure(found.attempt, taken.failure, taken.point)
        counts = found.feasible_nodes, found.evaluated_nodes
        placed = Placed(found.attempt, taken.pod, found.node_name, profile, cycle, taken.waits, *counts)
        self._keep(placed, before, claims)
        return None

    def hold_before(self, member: PodResult, tried: TriedGroup) -> CycleState | None:
        """Count the group's pods before a pod on their nodes; return the cycle of the last."""
        last = None
        for other in tried.result.pods:
            if other is member:
                break
            if other.node_name:
                self.hold(other, tried)
                last = other.cycle
        return last

    # -- single nodes

    def place_on(self, pod: PodInfo, node_name: str) -> bool:
        """Place a pod on a node if all filters, Reserve and Permit accept it; return whether they do."""
        cluster, profile = self._model.cluster, self._model.profile_of(pod)
        row = cluster.table.row_of.get(node_name)
        if profile is None or row is None:
            return False
        before, claims = cluster.pending.get(pod.uid), claims_of(self._model, pod)
        evaluation = self._model.engine.evaluation_of(pod)
        evaluation.within = np.array([row], np.intp)
        if choose(evaluation, self._context.pick).node_name != node_name:
            return False
        taken = commit(cluster, profile, evaluation.cycle, pod, node_name)
        if taken.failure is not None:
            return False
        attempt = begin_attempt(QueuedPod(pod, 0.0), NOBODY)
        placed = Placed(attempt, taken.pod, node_name, profile, evaluation.cycle, taken.waits, 1, 1)
        self._keep(placed, before, claims)
        return True

    def _keep(self, placed: Placed, before: PodInfo | None, claims: Sequence[ResourceClaim]) -> None:
        uid = placed.pod.uid
        self._placed[uid] = placed
        self._taking_back.append(lambda: self._leave(uid, before, claims))

    def place_or_preempt(self, pod: PodInfo) -> PlacedByPreemption:
        """Try to schedule a pod or its group; if PostFilter finds victims, evict them and try again."""
        if is_in_group(self._model, pod):
            return self._place_group_or_preempt(pod)
        outcome = self.place(pod)
        if not isinstance(outcome, Failed) or outcome.preemption is None or not outcome.preemption.victims:
            return PlacedByPreemption({pod.uid: outcome}, ())
        victims = tuple(outcome.preemption.victims)
        self.evict(victims)
        again = self.place(_nominated(pod, outcome.preemption.node_name))
        return PlacedByPreemption({pod.uid: again}, victims)

    def _place_group_or_preempt(self, pod: PodInfo) -> PlacedByPreemption:
        tried = self.try_group(pod)
        outcomes, victims = self.take_places(tried), tried.victims
        if not victims:
            return PlacedByPreemption(outcomes, ())
        self.evict(victims)
        for failure in tried.failures.values():
            if failure.nominated_node_name:
                self.queue(_nominated(failure.queued.pod, failure.nominated_node_name))
        return PlacedByPreemption({**outcomes, **self.place_group(pod)}, victims)

    def evict(self, pods: Sequence[PodInfo]) -> None:
        """Delete pods; a ResourceClaim that no other pod has reserved loses its allocation."""
        for pod in pods:
            placed = self._placed.pop(pod.uid, None)
            if placed is not None:
                undo(self._model.cluster, placed.profile, placed.cycle, placed.pod, placed.node_name)
            else:
                self._release_claims(pod)
            self._drop(pod, placed)

    def queue(self, pod: PodInfo) -> None:
        """Add a pod without a node to the cluster, or replace the one of the same name."""
        cluster, pods, name = self._model.cluster, self._model.pods, pod.full_name
        before, known = cluster.pending.get(pod.uid), pods.get(name)

        def take_back() -> None:
            cluster.remove_pod(pod.uid)
            if before is not None:
                cluster.put_pod(before)
            _restore(pods, name, known)

        cluster.put_pod(pod)
        pods[name] = pod
        self._taking_back.append(take_back)

    # -- objects

    def put(self, obj: ApiObject) -> None:
        """Add an object that is not a pod without a node, or replace the one under its name."""
        name = name_of_object(obj)
        old = self._model.find(name)
        self._model.set_object(name, obj)
        self._taking_back.append(lambda: self._model.set_object(name, old))

    def remove(self, obj: ApiObject) -> None:
        """Remove an object that is not a pod."""
        name = name_of_object(obj)
        self._model.set_object(name, None)
        self._taking_back.append(lambda: self._model.set_object(name, obj))

    # -- undo

    def mark(self) -> int:
        """Return the number of the present state, for `undo`."""
        return len(self._taking_back)

    def undo(self, to: int = 0) -> None:
        """Undo every change since a mark, or all of them."""
        while len(self._taking_back) > to:
            self._taking_back.pop()()

    def _leave(self, uid: str, before: PodInfo | None, claims: Sequence[ResourceClaim]) -> None:
        """Undo a place; the pod waits again as before."""
        cluster, placed = self._model.cluster, self._placed.pop(uid)
        undo(cluster, placed.profile, placed.cycle, placed.pod, placed.node_name)
        cluster.remove_pod(uid)
        if before is not None:
            cluster.put_pod(before)
        for claim in claims:
            # Unreserve may have removed the pod from its reservations
            if cluster.claims.get(claim.full_name) is not claim:
                cluster.add(claim)

    def _drop(self, pod: PodInfo, placed: Placed | None) -> None:
        cluster, pods, name = self._model.cluster, self._model.pods, pod.full_name
        known = pods.pop(name, None)
        cluster.remove_pod(pod.uid)

        def take_back() -> None:
            _restore(pods, name, known)
            if placed is None:
                cluster.put_pod(pod)
                return
            waiting = placed.attempt.queued.pod
            taken = commit(cluster, placed.profile, placed.cycle, waiting, placed.node_name)
            assert taken.failure is None, "the pod had this place before"
            self._placed[pod.uid] = placed._replace(pod=taken.pod)

        self._taking_back.append(take_back)

    # -- claims to devices

    def _release_claims(self, pod: PodInfo) -> None:
        """End a pod's reservations; as its controller does, a claim without consumers loses its devices."""
        for claim in claims_of(self._model, pod):
            left = tuple(user for user in claim.status.reserved_for if user.uid != pod.uid)
            extended = pod.status.extended_resource_claim_status
            if extended is not None and extended.resource_claim_name == claim.name:
                # created by the scheduler for this pod, so deleted with it
                self.remove(claim)
            elif left != claim.status.reserved_for:
                status = msgspec.structs.replace(claim.status, reserved_for=left) if left else ResourceClaimStatus()
                self.put(msgspec.structs.replace(claim, status=status))


def _restore(pods: dict[str, PodInfo], name: str, known: PodInfo | None) -> None:
    if known is not None:
        pods[name] = known
    else:
        pods.pop(name, None)


def _nominated(pod: PodInfo, node_name: str) -> PodInfo:
    status = msgspec.structs.replace(pod.status, nominated_node_name=node_name)
    return pod.replaced(msgspec.structs.replace(pod.pod, status=status))


def _without_post_filter(profile: Profile) -> Profile:
    without = copy(profile)
    without.post_filter, without.pod_group_post_filter = (), []
    return without


def claims_of(model: ClusterModel, pod: PodInfo) -> list[ResourceClaim]:
    """Return the existing claims to devices that a pod names."""
    status = pod.status
    names = [each.resource_claim_name for each in pod.spec.resource_claims]
    names += [each.resource_claim_name for each in status.resource_claim_statuses]
    if status.extended_resource_claim_status is not None:
        names.append(status.extended_resource_claim_status.resource_claim_name)
    found = (model.cluster.claims.get(f"{pod.namespace}/{name}") for name in dict.fromkeys(names) if name)
    return [claim for claim in found if claim is not None]
