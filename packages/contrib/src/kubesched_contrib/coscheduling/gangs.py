"""Gangs: the pods of each PodGroup, which of them have a node, and the result of its last attempt.

From the cluster to the hooks of Coscheduling. Pods are counted in the current cluster, so that no count outlives a
pod. A gang's attempt begins with the first pod that waits in Permit, and ends when the gang is permitted or rejected;
`tried` are the pods that found no node in it. A rejected gang backs off, so that its pods are tried together again
and other pods can be scheduled; the backoff grows with every failure in a row.
"""

from kubesched import ClusterView, PodInfo
from kubesched_contrib.coscheduling.pod_group import KIND, GangSpec, gang_spec, group_name

# like the backoff of pods
FIRST_BACKOFF_SECONDS = 1.0
LONGEST_BACKOFF_SECONDS = 10.0


class Gangs:
    """All gangs, by `namespace/name` of their PodGroup."""

    def __init__(self, cluster: ClusterView) -> None:
        self._cluster = cluster
        self._members = cluster.pod_index(lambda pod: [group_name(pod)] if group_name(pod) else [])
        # PodGroup -> UIDs of pods that found no node in this attempt
        self._tried: dict[str, set[str]] = {}
        # PodGroup -> its last failure, the number of failures in a row, the end of its backoff, and the pods held back
        self.failed_at: dict[str, float] = {}
        self._failures: dict[str, int] = {}
        self._backoff_until: dict[str, float] = {}
        self._held: dict[str, set[str]] = {}

    # -- the PodGroup and its pods

    def spec(self, name: str) -> GangSpec | None:
        """Return the spec of a PodGroup, None if it does not exist."""
        group = self._cluster.get(KIND, name) if name else None
        return None if group is None else gang_spec(group)

    def members(self, name: str) -> list[PodInfo]:
        """Return all pods of a gang."""
        return self._members[name]

    def placed(self, name: str) -> int:
        """Return the number of a gang's pods with a node: bound, or waiting in Permit."""
        on_nodes = self._cluster.pods
        return sum(pod.uid in on_nodes for pod in self.members(name))

    def pending(self, name: str) -> list[PodInfo]:
        """Return the pods of a gang without a node."""
        on_nodes = self._cluster.pods
        return [pod for pod in self.members(name) if pod.uid not in on_nodes]

    def missing_amounts(self, gang: GangSpec) -> dict[str, int]:
        """Return the amounts that the cluster lacks for minResources, and the missing pods for minMember.

        The amounts of the gang's own pods count as free.
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
        """Record that a pod found no node in this attempt of its gang."""
        self._tried.setdefault(name, set()).add(uid)

    def can_complete(self, gang: GangSpec) -> bool:
        """Return whether the untried pods of this attempt are enough to complete the gang."""
        tried = self._tried.get(gang.full_name, set())
        left = [pod for pod in self.pending(gang.full_name) if pod.uid not in tried and not pod.spec.scheduling_gates]
        return self.placed(gang.full_name) + len(left) >= gang.min_member

    def complete(self, name: str) -> None:
        """End the attempt of a gang: it is permitted."""
        for kept in (self._tried, self.failed_at, self._failures, self._backoff_until):
            kept.pop(name, None)

    def fail(self, name: str, now: float, seconds: float) -> None:
        """End the attempt of a gang: it backs off for at least `seconds`; further failures meanwhile do not count."""
        self._tried.pop(name, None)
        if name not in self._backoff_until:
            failures = self._failures[name] = self._failures.get(name, 0) + 1
            self.failed_at[name] = now
            self._backoff_until[name] = now + max(
                seconds, min(FIRST_BACKOFF_SECONDS * 2 ** (failures - 1), LONGEST_BACKOFF_SECONDS)
            )

    def holds(self, name: str, uid: str) -> bool:
        """Return whether a gang backs off; if so, the pod is retried afterwards."""
        if name not in self._backoff_until:
            return False
        self._held.setdefault(name, set()).add(uid)
        return True

    def backoff_over(self, now: float) -> list[str]:
        """Return the UIDs of the pods held back by gangs whose backoff is over, once."""
        return self._wake([name for name, until in self._backoff_until.items() if until <= now])

    def let_others_try(self, name: str) -> list[str]:
        """End the first backoff of all other gangs, since this gang released its places; return the UIDs of their
        pods.

        A gang that failed twice in a row backs off to the end: otherwise two gangs that are too large would wake each
        other for ever.
        """
        return self._wake([other for other in self._backoff_until if other != name and self._failures.get(other) == 1])

    def _wake(self, names: list[str]) -> list[str]:
        for name in names:
            del self._backoff_until[name]
        held = [uid for name in names for uid in self._held.pop(name, ())]
        return held or [pod.uid for name in names for pod in self.pending(name)[:1]]

    def forget_the_gone(self) -> None:
        """Drop gangs without pods."""
        for kept in (self._tried, self.failed_at, self._failures, self._backoff_until, self._held):
            for name in [name for name in kept if not self.members(name)]:
                del kept[name]
