"""A trial: the model while pods leave, come and are scheduled, without controllers.

From pods that leave, come and are deleted to the places that the scheduler gives them, in the order of its queue,
until nothing changes any more. `close` undoes everything.
"""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from kubesched.api.pods import Pod
from kubesched.core.cluster.pod_info import PodInfo, without_node
from kubesched.core.framework.building.profile import Profile
from kubesched.core.scheduling.decision import choose
from kubesched.core.scheduling.outcomes import Failed, Outcome, Placed
from kubesched.model.cluster_model import ClusterModel, gates_of
from kubesched.model.group_attempts import is_in_group, members_to_try
from kubesched_answers.placing import Placer
from kubesched_answers.pod_owners import OwnerNames
from kubesched_answers.templates.reading import is_workload
from kubesched_answers.whatif.budgets import BudgetAccounts
from kubesched_controlplane.api.documents import Document

# pods that leave their node or are new wait behind all pending pods
_LATER = 1e12
# plugins that may accept a pod because of other pods
_HELPED_BY_PODS = frozenset({"InterPodAffinity", "PodTopologySpread"})


class FailedTry(NamedTuple):
    """Why a pod found no place: the message, the plugins, the number of the change, and how many pods had left."""

    message: str
    plugins: frozenset[str]
    seq: int
    evictions: int


class WhatIfTrial:
    """Changes of a model, one after the other; without `preempts`, PostFilter does not run."""

    def __init__(self, model: ClusterModel, *, preempts: bool = True) -> None:
        self.model = model
        self.placer = Placer(model, preempts=preempts)
        self.owners = OwnerNames(model)
        self.budgets = BudgetAccounts(model)
        # documents of workloads after the operations, by kind, namespace and name
        self.documents: dict[tuple[str, str, str], Document] = {
            (each["kind"], each["metadata"].get("namespace", "default"), each["metadata"]["name"]): each
            for each in model.source.workloads
            if is_workload(each)
        }
        self.messages: dict[str, str] = {}
        # since when a pod waits, by UID; all other pods since their creation
        self._since: dict[str, float] = {}
        # by UID, and by kinds of pods
        self._failures: dict[object, FailedTry] = {}
        # the priorities of pods that left, in order
        self._evicted: list[int] = []

    def close(self) -> None:
        """Undo everything: the model is as before."""
        self.placer.undo()

    # -- where pods are

    def node_of(self, pod: PodInfo) -> str:
        """Return the current node of a pod, an empty text without one."""
        placed = self.model.cluster.table.pods.get(pod.uid)
        return placed.spec.node_name if placed is not None else ""

    def pods_on(self, node: str) -> list[PodInfo]:
        """Return the current pods of a node, by name."""
        table = self.model.cluster.table
        row = table.row_of.get(node)
        return sorted(table.pods_on[row].values(), key=_name) if row is not None else []

    # -- pods that leave and come

    def displace(self, pod: PodInfo, *, preempted: bool = False, returns: bool | None = None) -> bool:
        """Remove a pod from its node; return whether it waits for another, as pods with a controller do."""
        if returns is None:
            returns = pod.metadata.controller is not None and not pod.terminating
        self.budgets.leave(pod, returns=returns)
        self._evicted.append(pod.priority)
        if not preempted:
            self.placer.evict([pod])
        if not returns:
            return False
        self._wait(self.model.cluster.reader.read(without_node(pod.pod)))
        return True

    def delete(self, pod: PodInfo) -> None:
        """Delete a pod, which does not come back."""
        self.budgets.leave(pod, returns=False)
        self._evicted.append(pod.priority)
        self.placer.evict([pod])

    def create(self, pod: Pod) -> None:
        """Create a pod; without a node it waits for one."""
        info = self.model.cluster.reader.read(pod)
        self.budgets.expect(info)
        if pod.spec.node_name:
            self.placer.put(pod)
        else:
            self._wait(info)

    def _wait(self, pod: PodInfo) -> None:
        if is_in_group(self.model, pod):
            # the pod may complete its group
            for member in members_to_try(self.model, pod):
                self._failures.pop(member.uid, None)
        self._since[pod.uid] = _LATER + len(self._since)
        self.placer.queue(pod)

    # -- scheduling

    def settle(self, uids: set[str] | None = None) -> None:
        """Schedule pending pods (all, or some and their victims) in the queue's order, until nothing changes."""
        again = True
        while again:
            again = False
            for pod in self.queue(uids):
                again |= self.attempt(pod, uids)
            self.budgets.follow(self.placer)

    def queue(self, uids: set[str] | None = None) -> list[PodInfo]:
        """Return the pending pods (all, or some of them) that may be scheduled, in the queue's order."""
        pending = self.model.cluster.pending
        found = list(pending.values()) if uids is None else [pending[uid] for uid in uids if uid in pending]
        return [pod for _, _, pod in sorted(self._ordered(found), key=lambda entry: entry[:2])]

    def _ordered(self, pods: Iterable[PodInfo]) -> Iterator[tuple[tuple[float, ...], str, PodInfo]]:
        """Yield the pods that may be scheduled, with their places in the queue."""
        for pod in pods:
            profile = self.model.profile_of(pod)
            refusal = self._refusal(profile, pod)
            if profile is None or refusal:
                self.messages[pod.full_name] = refusal
                continue
            created = pod.metadata.creation_timestamp
            since = self._since.get(pod.uid, created.timestamp() if created is not None else 0.0)
            yield tuple(profile.queue_sort[0].sort_key(pod, since)), pod.full_name, pod

    def _refusal(self, profile: Profile | None, pod: PodInfo) -> str:
        if profile is None:
            return f"the pod is for scheduler {pod.spec.scheduler_name!r}"
        if pod.terminating:
            return "it is being deleted"
        return "; ".join(f"{status.plugin}: {status.message}" for status in gates_of(profile, pod))

    def attempt(self, pod: PodInfo, uids: set[str] | None = None) -> bool:
        """Try to schedule a pending pod; its victims are added to `uids`. Return whether anything changed."""
        if pod.uid in self.model.cluster.table.pods:
            # it got a place with its group
            return False
        known = self._failure_of(pod) if self._failures else None
        if known is not None and self._is_still_true(known, pod):
            self.messages[pod.full_name] = known.message
            return False
        outcomes, victims = self.placer.place_or_preempt(pod)
        for victim in victims:
            if self.displace(victim, preempted=True) and uids is not None:
                uids.add(victim.uid)
        for outcome in outcomes.values():
            self._remember(outcome)
        return bool(victims) or any(isinstance(outcome, Placed) for outcome in outcomes.values())

    def _failure_of(self, pod: PodInfo) -> FailedTry | None:
        """Return why a pod, or an equal pod for the scheduler, found no place."""
        known = self._failures.get(pod.uid)
        if known is None:
            kind = self._kind_of(pod)
            known = self._failures.get(kind) if kind is not None else None
        return known

    def _remember(self, outcome: Outcome) -> None:
        """Record why a tried pod has no place."""
        if isinstance(outcome, Placed):
            self.messages.pop(outcome.pod.full_name, None)
            return
        pod = outcome.queued.pod
        message = outcome.message if isinstance(outcome, Failed) else "it needs no attempt"
        self.messages[pod.full_name] = message
        plugins = outcome.unschedulable_plugins if isinstance(outcome, Failed) else frozenset()
        failure = FailedTry(message, plugins, self.model.cluster.log.seq, len(self._evicted))
        self._failures[pod.uid] = failure
        kind = self._kind_of(pod)
        if kind is not None:
            self._failures[kind] = failure

    def _kind_of(self, pod: PodInfo) -> tuple[object, ...] | None:
        return None if is_in_group(self.model, pod) else _kind_of(pod)

    def _is_still_true(self, known: FailedTry, pod: PodInfo) -> bool:
        """Return whether a pod that found no place would find none now, with as few trials as possible."""
        if known.seq == self.model.cluster.log.seq:
            return True
        evicted = self._evicted[known.evictions :]
        if any(priority >= pod.priority for priority in evicted):
            # the pods in their places may be smaller
            return False
        if not evicted and known.plugins.isdisjoint(_HELPED_BY_PODS):
            # pods that found a place have only taken capacity
            return True
        if is_in_group(self.model, pod):
            return False
        # preemption did not help when at least as many pods could be evicted
        return not choose(self.model.engine.evaluation_of(pod), pick=lambda count: 0).node_name


def _kind_of(pod: PodInfo) -> tuple[object, ...] | None:
    """Return the identity of a pod for the scheduler; None if the pod has objects of its own."""
    if pod.spec.resource_claims or any(
        volume.persistent_volume_claim or volume.ephemeral for volume in pod.spec.volumes
    ):
        return None
    return pod.digest, tuple(sorted(pod.labels.items())), pod.status.nominated_node_name


def _name(pod: PodInfo) -> str:
    return pod.full_name
