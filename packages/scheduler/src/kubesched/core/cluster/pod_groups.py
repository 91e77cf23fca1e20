"""The pods of each pod group, scheduled and unscheduled.

From pods that are added, assumed, forgotten and removed to the state of their group. A cluster keeps this from its
first use on: without pod groups it costs nothing.
"""

# upstream: backend/cache/podgroupstate.go (v1.36)

from collections.abc import Iterable

from kubesched.core.cluster.pod_info import PodInfo

# namespace and name of a group
GroupKey = tuple[str, str]


def group_of(pod: PodInfo) -> GroupKey | None:
    """Return namespace and name of the group a pod belongs to, or None."""
    group = pod.spec.scheduling_group
    return (pod.namespace, group.pod_group_name) if group is not None and group.pod_group_name is not None else None


class GroupState:
    """The pods of one group by UID: pending pods, and pods on a node, assumed or confirmed."""

    __slots__ = ("scheduled", "unscheduled")

    def __init__(self) -> None:
        self.unscheduled: dict[str, PodInfo] = {}
        self.scheduled: dict[str, PodInfo] = {}

    def __len__(self) -> int:
        """Return how many pods the group has."""
        return len(self.unscheduled) + len(self.scheduled)


NO_PODS = GroupState()


class PodGroups:
    """The groups that have pods."""

    def __init__(self, pods: Iterable[PodInfo] = ()) -> None:
        self._states: dict[GroupKey, GroupState] = {}
        # UID -> group, for pods of groups only
        self._group_of: dict[str, GroupKey] = {}
        for pod in pods:
            self.put(pod)

    def state(self, key: GroupKey) -> GroupState:
        """Return the state of a group; one without pods is empty."""
        return self._states.get(key, NO_PODS)

    def put(self, pod: PodInfo) -> None:
        """Add or update a pod: with a node it is scheduled, without one unscheduled."""
        key = group_of(pod)
        if key is None:
            return
        self.remove(pod.uid)
        state = self._states.setdefault(key, GroupState())
        (state.scheduled if pod.spec.node_name else state.unscheduled)[pod.uid] = pod
        self._group_of[pod.uid] = key

    def remove(self, uid: str) -> None:
        """Remove a pod."""
        key = self._group_of.pop(uid, None)
        if key is None:
            return
        state = self._states[key]
        state.unscheduled.pop(uid, None)
        state.scheduled.pop(uid, None)
        if not len(state):
            del self._states[key]
