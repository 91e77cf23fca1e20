"""Pods that are nominated to a node and not on it yet.

From preemption (and `status.nominatedNodeName`) to the rows on which pods of lower priority must leave resources. A
nominated pod has a slot but is not counted in the table; it is added to a world when another pod is judged on its node.
"""

from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.pod_info import PodInfo, same_account
from kubesched.core.cluster.table import NodeTable


class Nominations:
    """Node name -> pods nominated there, in the order of nomination."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self._on: dict[str, dict[str, PodInfo]] = {}
        self._node_of: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._node_of)

    def add(self, pod: PodInfo, node_name: str) -> None:
        """Nominate a pod to a node; an earlier nomination is replaced, an empty name means none.

        A new version of a pod that takes the same on the same node is not logged.
        """
        known = self._on[node_name][pod.uid] if node_name and self.node_of(pod.uid) == node_name else None
        if known is not None and _same_nomination(known, pod):
            self._on[node_name][pod.uid] = pod
            self._table.slots.replace(known, pod)
            return
        self.remove(pod.uid)
        if node_name:
            self._table.hold(pod)
            self._table.counts.foresee(pod, 1)
            self._on.setdefault(node_name, {})[pod.uid] = pod
            self._node_of[pod.uid] = node_name
            self._record(node_name)

    def remove(self, uid: str) -> None:
        """Drop a pod's nomination, if it has one."""
        node_name = self._node_of.pop(uid, None)
        if node_name is not None:
            pods = self._on[node_name]
            pod = pods.pop(uid)
            self._table.counts.foresee(pod, -1)
            self._table.release(pod)
            if not pods:
                del self._on[node_name]
            self._record(node_name)

    def node_of(self, uid: str) -> str:
        """Return the name of the node a pod is nominated to, or the empty string."""
        return self._node_of.get(uid, "")

    def on(self, node_name: str) -> list[PodInfo]:
        """Return the pods nominated to a node."""
        return list(self._on.get(node_name, {}).values())

    def qualifying(self, pod: PodInfo) -> dict[int, list[PodInfo]]:
        """Return, by row, the nominated pods that count when `pod` is judged: those with equal or higher priority."""
        if not self._node_of:
            return {}
        found: dict[int, list[PodInfo]] = {}
        for node_name, pods in self._on.items():
            row = self._table.row_of.get(node_name)
            if row is not None:
                ahead = [other for other in pods.values() if other.priority >= pod.priority and other.uid != pod.uid]
                if ahead:
                    found[row] = ahead
        return found

    def _record(self, node_name: str) -> None:
        row = self._table.row_of.get(node_name)
        if row is not None:
            self._table.log.record(row, Reads.NOMINATIONS)


def _same_nomination(old: PodInfo, new: PodInfo) -> bool:
    """Return whether two versions of a pod count equally on the node that they are nominated to."""
    return same_account(old, new) and old.labels == new.labels and old.priority == new.priority
