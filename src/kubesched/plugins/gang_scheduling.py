"""GangScheduling (stand-in): all pods of a group, or none.

From a pod to a pass where it belongs to no group; other pods are refused as not implemented yet.
"""

# upstream: plugins/gangscheduling/gangscheduling.go (v1.36)

from collections.abc import Sequence

from kubesched.cluster.pod_info import PodInfo
from kubesched.framework.cycle import CycleState
from kubesched.framework.events import Action, ClusterEvent, Registration, Resource
from kubesched.framework.plugin import Permission, PermitPlugin, PreEnqueuePlugin
from kubesched.framework.stand_in import may_help, not_implemented
from kubesched.framework.status import SUCCESS, Status


class GangScheduling(PreEnqueuePlugin, PermitPlugin):
    """Lets pods without a group pass."""

    name = "GangScheduling"

    def events_to_register(self) -> Sequence[Registration]:
        """Return what can complete a gang."""
        return (
            Registration(ClusterEvent(Resource.POD, Action.ADD), may_help),
            Registration(ClusterEvent(Resource.POD_GROUP, Action.ADD), may_help),
        )

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Refuse pods of groups."""
        return self._refusal(pod)

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        """Refuse pods of groups."""
        return Permission(self._refusal(pod) or SUCCESS)

    def _refusal(self, pod: PodInfo) -> Status | None:
        return None if pod.spec.scheduling_group is None else not_implemented(self.name, "pod groups")
