"""GangScheduling: at least minCount pods of a group are scheduled, or none.

From a pod and the state of its group to whether it may be scheduled (PreEnqueue: do enough pods of the gang exist?) and
whether it may be bound (Permit: have enough of them a node?). Pods without a group pass, as do pods of groups that are
no gangs.
"""

# upstream: plugins/gangscheduling/gangscheduling.go, plugins/helper/podgroup.go (v1.36)

from collections.abc import Sequence

from kubesched.api.scheduling import PodGroup
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_groups import GroupKey, group_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import PermitPlugin, PreEnqueuePlugin
from kubesched.core.framework.services.waiting_pods import NoWaitingPods, WaitingPods
from kubesched.core.framework.values.cycle import PODS_TO_ACTIVATE, CycleState
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.framework.values.permission import Permission
from kubesched.core.framework.values.status import SUCCESS, Code, Status, error, unresolvable

PERMIT_SECONDS = 5 * 60.0
TOO_FEW_PODS = unresolvable("waiting for minCount pods from a gang to appear in scheduling queue")
TOO_FEW_PLACES = Status(Code.WAIT, ("waiting for minCount pods from a gang to be scheduled",))


class GangScheduling(PreEnqueuePlugin, PermitPlugin):
    """Gates the pods of a gang until there are enough of them, and lets them wait in Permit for each other."""

    name = "GangScheduling"

    def __init__(self, cluster: ClusterState, waiting_pods: WaitingPods | None = None) -> None:
        self._objects = cluster.objects
        self._groups = cluster.pod_groups
        self._waiting_pods = waiting_pods if waiting_pods is not None else NoWaitingPods()

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that can complete a gang."""
        return (
            Registration(ClusterEvent(Resource.POD, Action.ADD), after_pod_added),
            Registration(ClusterEvent(Resource.POD_GROUP, Action.ADD), after_group_added),
        )

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Gate a pod whose group does not exist, or whose gang is not complete."""
        key = group_of(pod)
        if key is None:
            return None
        group = self._group(key)
        if group is None:
            return unresolvable(f"waiting for pods's pod group {_quoted(key[1])} to appear in scheduling queue")
        gang = group.spec.scheduling_policy.gang
        return TOO_FEW_PODS if gang is not None and len(self._groups.state(key)) < gang.min_count else None

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        """Let a pod wait until enough pods of its gang have a node; the last of them allows the rest."""
        key = group_of(pod)
        if key is None:
            return Permission(SUCCESS)
        group = self._group(key)
        if group is None:
            name = _quoted(key[1])
            return Permission(
                error(f"failed to get podGroup {'/'.join(key)}: podgroup.scheduling.k8s.io {name} not found")
            )
        gang = group.spec.scheduling_policy.gang
        if gang is None:
            return Permission(SUCCESS)
        state = self._groups.state(key)
        if len(state.scheduled) < gang.min_count:
            _activate(cycle, state.unscheduled)
            return Permission(TOO_FEW_PLACES, PERMIT_SECONDS)
        for uid in state.scheduled:
            waiting = self._waiting_pods.get(uid)
            if waiting is not None:
                waiting.allow(self.name)
        return Permission(SUCCESS)

    def _group(self, key: GroupKey) -> PodGroup | None:
        return self._objects.get(PodGroup, "/".join(key))


def after_pod_added(pod: PodInfo, old: object, new: PodInfo) -> Hint:
    """Return whether a new pod can complete the gang: it must be of the same group."""
    return Hint.when(group_of(pod) is not None and group_of(pod) == group_of(new))


def after_group_added(pod: PodInfo, old: object, new: PodGroup) -> Hint:
    """Return whether the new group is the pod's own."""
    return Hint.when(group_of(pod) == (new.namespace, new.name))


def _activate(cycle: CycleState, uids: dict[str, PodInfo]) -> None:
    """Have the other pods of the gang activated."""
    named = cycle.get(PODS_TO_ACTIVATE)
    if named is None:
        named = set()
        cycle.write(PODS_TO_ACTIVATE, named)
    named.update(uids)


def _quoted(name: str) -> str:
    return f'"{name}"'
