"""The scheduler's actions that objects do not show: preemptions, and why pods found no node.

From the scheduler's observers to names and messages, by the UIDs of pods.
"""

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observing.observer import Bound, FailedAttempt, Observer
from kubesched.core.framework.values.status import Status


class OutcomeRecord(Observer):
    """Records preemptions and reasons."""

    def __init__(self) -> None:
        # the preemptor's name by the UID of its victim
        self.preempted_by: dict[str, str] = {}
        self.messages: dict[str, str] = {}

    def victim_evicted(self, preemptor: PodInfo, victim: PodInfo, node_name: str, *, in_memory: bool) -> None:
        """Record a preempted pod."""
        self.preempted_by[victim.uid] = preemptor.full_name

    def pod_gated(self, pod: PodInfo, plugin: str, status: Status) -> None:
        """Record why a pod is held back."""
        self.messages[pod.uid] = f"{plugin}: {status.message}"

    def attempt_failed(self, failed: FailedAttempt) -> None:
        """Record why a pod found no node."""
        self.messages[failed.pod.uid] = failed.message

    def pod_bound(self, bound: Bound) -> None:
        """Forget why a pod had no node."""
        self.messages.pop(bound.pod.uid, None)
