"""SchedulingGates: a pod with scheduling gates does not enter activeQ.

From `spec.schedulingGates` to a rejection at PreEnqueue that names the gates.
"""

# upstream: schedulinggates/scheduling_gates.go (v1.36)

from collections.abc import Sequence

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import PreEnqueuePlugin
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.framework.values.status import Status, unresolvable


class SchedulingGates(PreEnqueuePlugin):
    """Gates pods that have scheduling gates."""

    name = "SchedulingGates"

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Return a rejection that lists the gates in their order, or None."""
        gates = pod.spec.scheduling_gates
        if not gates:
            return None
        return unresolvable(f"waiting for scheduling gates: [{' '.join(gate.name for gate in gates)}]")

    def events_to_register(self) -> Sequence[Registration]:
        """Return the one event that helps: the last gate of the pod is removed."""
        event = ClusterEvent(Resource.POD, Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED)
        return (Registration(event, after_gates_eliminated),)


def after_gates_eliminated(pod: PodInfo, old: PodInfo, new: PodInfo) -> Hint:
    """Return whether the pod whose gates were removed is this one."""
    return Hint.when(new.uid == pod.uid)
