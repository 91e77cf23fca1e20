"""What a scheduler did that cannot be read from the objects it leaves behind.

From the scheduler's observers to values: who was bound and how many, who had to go for whom, who is held back and why.
"""

import msgspec

from kubesched.cluster.pod_info import PodInfo
from kubesched.framework.observer import Bound, Observer
from kubesched.framework.status import Status


class Preempted(msgspec.Struct, frozen=True):
    """A pod that had to go, from where, and for whom (namespace/name)."""

    namespace: str
    name: str
    node: str
    by: str


class Happenings(Observer):
    """Keeps what happened."""

    def __init__(self) -> None:
        # how many bindings there were
        self.bound = 0
        self.preempted: list[Preempted] = []
        self._held_back: dict[str, str] = {}

    def pod_bound(self, bound: Bound) -> None:
        """Count it."""
        self.bound += 1
        self._held_back.pop(bound.pod.uid, None)

    def victim_evicted(self, preemptor: PodInfo, victim: PodInfo, node_name: str, *, in_memory: bool) -> None:
        """Keep who had to go; one that was called back before it was bound is still there."""
        if not in_memory:
            self.preempted.append(Preempted(victim.namespace, victim.name, node_name, preemptor.full_name))

    def pod_gated(self, pod: PodInfo, plugin: str, status: Status) -> None:
        """Keep why a pod is held back."""
        self._held_back[pod.uid] = f"{plugin}: {status.message}"

    def why_held_back(self, uid: str) -> str:
        """Return why a pod was last held back, an empty text if it was not."""
        return self._held_back.get(uid, "")
