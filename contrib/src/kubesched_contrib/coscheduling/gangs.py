"""Gangs: the pods of each PodGroup, which of them have a node, and how its last attempt went.

From the cluster to the hooks of Coscheduling. Pods are counted as they are in the cluster at this moment, so that no
count outlives a pod. A gang's attempt begins with the first pod that waits in Permit, and ends when the gang is
permitted or rejected; `tried` are the pods that found no node in it. A gang that was rejected backs off, so that its
pods are tried together again and others have their turn; the backoff grows with every failure in a row.
"""

from kubesched import ClusterView, PodInfo
from kubesched_contrib.coscheduling.pod_group import KIND, GangSpec, gang_spec, group_name

# as the backoff of pods
FIRST_BACKOFF_SECONDS = 1.0
LONGEST_BACKOFF_SECONDS = 10.0


class Gangs:
    """All gangs, by `namespace/name` of their PodGroup."""

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._members = cluster.pod_index(lambda pod: [group_name(pod)] if group_name(pod) else [])
        # PodGroup -> UIDs of pods that found no node in this attempt
        self._tried: dict[str, set[str]] = {}
        # PodGroup -> when it failed last, how often in a row, until when it backs off, and which pods are held back
        self.failed_at: dict[str, float] = {}
        self._failures: dict[str, int] = {}
        self._backoff_until: dict[str, float] = {}
        self._held: dict[str, set[str]] = {}

    # -- the PodGroup and its pods

    def spec(self, name: str) -> GangSpec | None:
        """Return what a PodGroup asks for, None if it does not exist."""
        group = self._cluster.get(KIND, name) if name else None
        return None if group is None else gang_spec(group)

    def members(self, name: str) -> list[PodInfo]:
        """Return all pods of a gang."""
        return self._members[name]

    def placed(self, name: str) -> int:
        """Return how many pods of a gang have a node: bound, or waiting in Permit."""
        on_nodes = self._cluster.pods
        return sum(pod.uid in on_nodes for pod in self.members(name))

    def pending(self, name: str) -> list[PodInfo]:
        """Return the pods of a gang without a node."""
        on_nodes = self._cluster.pods
        return [pod for pod in self.members(name) if pod.uid not in on_nodes]

    def missing_amounts(self, gang: GangSpec) -> dict[str, int]:
        """Return what the cluster lacks of minResources and of places for minMember pods.

        What the gang's own pods take counts as free.
        """
        nodes, wanted = self._cluster.nodes, {**(gang.min_resources or {}), "pods": gang.min_member}
        on_nodes = self._cluster.pods
        own = [pod for pod in self.members(gang.full_name) if pod.uid in on_nodes]
        missing = {}
        for name, amount in wanted.items():
            free = int(nodes.free(name).clip(min=0).sum()) + sum(pod.request_of(name) for pod in own)
            if amount > free:
                missing[name] = amount - free
        return missing

    # -- attempts

    def tried_in_vain(self, name: str, uid: str) -> None:
        """Note that a pod found no node in this attempt of its gang."""
        self._tried.setdefault(name, set()).add(uid)

    def can_complete(self, gang: GangSpec) -> bool:
        """Return whether the pods that were not tried in this attempt are enough to complete the gang."""
        tried = self._tried.get(gang.full_name, set())
        left = [pod for pod in self.pending(gang.full_name) if pod.uid not in tried and not pod.spec.scheduling_gates]
        return self.placed(gang.full_name) + len(left) >= gang.min_member

    def complete(self, name: str) -> None:
        """End the attempt of a gang: it is permitted."""
        for kept in (self._tried, self.failed_at, self._failures, self._backoff_until):
            kept.pop(name, None)

    def fail(self, name: str, now: float, seconds: float) -> None:
        """End the attempt of a gang: it backs off for so many seconds at least; meanwhile it fails no further."""
        self._tried.pop(name, None)
        if name not in self._backoff_until:
            failures = self._failures[name] = self._failures.get(name, 0) + 1
            self.failed_at[name] = now
            self._backoff_until[name] = now + max(
                seconds, min(FIRST_BACKOFF_SECONDS * 2 ** (failures - 1), LONGEST_BACKOFF_SECONDS)
            )

    def holds(self, name: str, uid: str) -> bool:
        """Return whether a gang backs off; if so, the pod is tried again afterwards."""
        if name not in self._backoff_until:
            return False
        self._held.setdefault(name, set()).add(uid)
        return True

    def backoff_over(self, now: float) -> list[str]:
        """Return the UIDs of the pods that were held back by gangs whose backoff is over, once."""
        return self._wake([name for name, until in self._backoff_until.items() if until <= now])

    def let_others_try(self, name: str) -> list[str]:
        """End the first backoff of all other gangs, since this one gave its places back; return the UIDs of their pods.

        A gang that failed twice in a row backs off to the end: two that are too large would wake each other for ever.
        """
        return self._wake([other for other in self._backoff_until if other != name and self._failures.get(other) == 1])

    def _wake(self, names: list[str]) -> list[str]:
        for name in names:
            del self._backoff_until[name]
        held = [uid for name in names for uid in self._held.pop(name, ())]
        return held or [pod.uid for name in names for pod in self.pending(name)[:1]]

    def forget_the_gone(self) -> None:
        """Forget gangs that have no pods any more."""
        for kept in (self._tried, self.failed_at, self._failures, self._backoff_until, self._held):
            for name in [name for name in kept if not self.members(name)]:
                del kept[name]
