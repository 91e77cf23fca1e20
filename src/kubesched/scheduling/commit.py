"""Taking a place: assume, reserve, permit, and the way back.

From a decision to a pod that counts on its node before the API server knows. Whatever fails is undone in reverse order,
so that nothing is left behind.
"""

# upstream: schedule_one.go (assumeAndReserve, prepareForBindingCycle), runtime/framework.go (v1.36)

from kubesched.cluster.cluster import Cluster
from kubesched.cluster.pod_info import PodInfo
from kubesched.framework.answers import failed
from kubesched.framework.cycle import CycleState
from kubesched.framework.plugin import Permission
from kubesched.framework.profile import Profile
from kubesched.framework.status import Code, Status, error

MAX_PERMIT_SECONDS = 15 * 60.0


class Commitment:
    """A place that was taken, or the status that says why not; `waits` are Permit's plugins with their timeouts."""

    __slots__ = ("failure", "pod", "waits")

    def __init__(self, pod: PodInfo, failure: Status | None, waits: dict[str, float]) -> None:
        self.pod = pod
        self.failure = failure
        self.waits = waits


def commit(cluster: Cluster, profile: Profile, cycle: CycleState, pod: PodInfo, node_name: str) -> Commitment:
    """Assume a pod on a node, reserve what it needs and ask for permission; undo everything if anything fails."""
    placed = cluster.assume(pod, node_name)
    waits: dict[str, float] = {}
    failure = _reserve(profile, cycle, placed, node_name) or _permit(profile, cycle, placed, node_name, waits)
    if failure is not None:
        undo(cluster, profile, cycle, placed, node_name)
    return Commitment(placed, failure, waits)


def undo(cluster: Cluster, profile: Profile, cycle: CycleState, placed: PodInfo, node_name: str) -> list[Status]:
    """Give a place back: unreserve in reverse order, and forget the pod; return the failures of plugins that raised."""
    failures = []
    for plugin in reversed(profile.reserve):
        try:
            plugin.unreserve(cycle, placed, node_name)
        except Exception as raised:
            # the others must have their turn all the same
            failures.append(failed(plugin, "unreserve", raised))
    cluster.forget(placed)
    return failures


def _reserve(profile: Profile, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
    for plugin in profile.reserve:
        try:
            status = plugin.reserve(cycle, pod, node_name)
        except Exception as raised:
            status = failed(plugin, "reserve", raised)
        if status is not None and not status.ok:
            if status.rejected:
                return status.by(plugin.name)
            return error(f'running Reserve plugin "{plugin.name}": {status.message}')
    return None


def _permit(
    profile: Profile, cycle: CycleState, pod: PodInfo, node_name: str, waits: dict[str, float]
) -> Status | None:
    for plugin in profile.permit:
        try:
            permission = plugin.permit(cycle, pod, node_name)
        except Exception as raised:
            permission = Permission(failed(plugin, "permit", raised))
        status = permission.status
        if status.ok:
            continue
        if status.rejected:
            return status.by(plugin.name)
        if status.code is not Code.WAIT:
            return error(f'running Permit plugin "{plugin.name}": {status.message}').by(plugin.name)
        waits[plugin.name] = min(permission.timeout_seconds, MAX_PERMIT_SECONDS)
    return None
