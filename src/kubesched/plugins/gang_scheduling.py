"""GangScheduling: all pods of a group, or none.

So far it knows which events can complete a gang; pods of groups are refused as not implemented yet, others pass.
"""

# upstream: plugins/gangscheduling/gangscheduling.go, plugins/helper/podgroup.go (v1.36)

from collections.abc import Sequence

from kubesched.api.groups import PodGroup
from kubesched.cluster.pod_info import PodInfo
from kubesched.framework.cycle import CycleState
from kubesched.framework.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.framework.plugin import Permission, PermitPlugin, PreEnqueuePlugin
from kubesched.framework.status import SUCCESS, Status, error


class GangScheduling(PreEnqueuePlugin, PermitPlugin):
    """Lets pods without a group pass."""

    name = "GangScheduling"

    def events_to_register(self) -> Sequence[Registration]:
        """Return what can complete a gang."""
        return (
            Registration(ClusterEvent(Resource.POD, Action.ADD), after_pod_added),
            Registration(ClusterEvent(Resource.POD_GROUP, Action.ADD), after_group_added),
        )

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Refuse pods of groups."""
        return _refusal(pod)

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        """Refuse pods of groups."""
        return Permission(_refusal(pod) or SUCCESS)


def after_pod_added(pod: PodInfo, old: object, new: PodInfo) -> Hint:
    """Return whether a new pod can complete the gang: it must be of the same group."""
    return _hint(group_of(pod) is not None and group_of(pod) == group_of(new))


def after_group_added(pod: PodInfo, old: object, new: PodGroup) -> Hint:
    """Return whether it is the pod's own group that appeared."""
    return _hint(group_of(pod) == (new.namespace, new.name))


def group_of(pod: PodInfo) -> tuple[str, str] | None:
    """Return namespace and name of the group a pod belongs to, or None."""
    group = pod.spec.scheduling_group
    return (pod.namespace, group.pod_group_name) if group is not None and group.pod_group_name is not None else None


def _hint(helps: bool) -> Hint:
    return Hint.QUEUE if helps else Hint.QUEUE_SKIP


def _refusal(pod: PodInfo) -> Status | None:
    if pod.spec.scheduling_group is None:
        return None
    return error("GangScheduling does not implement pod groups yet")
