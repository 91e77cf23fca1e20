"""Committing a decision: assume the pod, run Reserve and Permit, and undo both if one of them fails.

From a decision to a pod that counts on its node before it is bound.
"""

# upstream: schedule_one.go (assumeAndReserve, prepareForBindingCycle), runtime/framework.go (v1.36)

from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.calling.answers import checked_permission, checked_status, unchecked
from kubesched.core.framework.calling.hooks import ask_timed, named_failure
from kubesched.core.framework.observing.observer import PERMIT, RESERVE, UNRESERVE, UNTIMED, Stopwatch
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.permission import Permission
from kubesched.core.framework.values.status import Code, Status

MAX_PERMIT_SECONDS = 15 * 60.0
WAITS = Status(Code.WAIT)
SOME_WAIT = "one or more plugins asked to wait and no plugin rejected pod"


class Commitment:
    """An assumed pod, or the status of the plugin that rejected it, and at which extension point.

    `waits` are Permit's plugins with their timeouts, `permission` is the combined status of Permit if the pod has to
    wait.
    """

    __slots__ = ("failure", "permission", "pod", "point", "waits")

    def __init__(self, pod: PodInfo) -> None:
        self.pod = pod
        self.failure: Status | None = None
        self.waits: dict[str, float] = {}
        self.permission: Status | None = None
        self.point = PERMIT


def commit(
    cluster: ClusterState,
    profile: Profile,
    cycle: CycleState,
    pod: PodInfo,
    node_name: str,
    stopwatch: Stopwatch = UNTIMED,
) -> Commitment:
    """Assume a pod on a node, run Reserve and Permit; undo everything if one of them fails."""
    taken = Commitment(cluster.assume(pod, node_name))
    try:
        taken.failure = _reserve(profile, cycle, taken.pod, node_name, stopwatch)
        if taken.failure is not None:
            taken.point = RESERVE
        else:
            taken.failure = _permit(profile, cycle, taken, node_name, stopwatch)
    except BaseException:
        # an internal error: the pod must not stay assumed
        undo(cluster, profile, cycle, taken.pod, node_name, stopwatch)
        raise
    if taken.failure is not None:
        undo(cluster, profile, cycle, taken.pod, node_name, stopwatch)
    return taken


def undo(
    cluster: ClusterState,
    profile: Profile,
    cycle: CycleState,
    placed: PodInfo,
    node_name: str,
    stopwatch: Stopwatch = UNTIMED,
) -> list[Status]:
    """Run Unreserve in reverse order, and forget the pod; return the failures of plugins that raised an error."""
    failures = []
    began = stopwatch.now()
    for plugin in reversed(profile.reserve):
        failure = ask_timed(stopwatch, plugin, "unreserve", unchecked, cycle, placed, node_name)
        if failure is not None:
            # the other plugins must still run
            failures.append(failure)
    stopwatch.point(UNRESERVE, None, began)
    cluster.forget(placed)
    return failures


def _reserve(profile: Profile, cycle: CycleState, pod: PodInfo, node_name: str, stopwatch: Stopwatch) -> Status | None:
    began = stopwatch.now()
    failure: Status | None = None
    for plugin in profile.reserve:
        status = ask_timed(stopwatch, plugin, "reserve", checked_status, cycle, pod, node_name)
        if status is not None and not status.ok:
            failure = named_failure(plugin, RESERVE, status)
            break
    stopwatch.point(RESERVE, failure, began)
    return failure


def _permit(
    profile: Profile, cycle: CycleState, taken: Commitment, node_name: str, stopwatch: Stopwatch
) -> Status | None:
    began = stopwatch.now()
    failure: Status | None = None
    for plugin in profile.permit:
        answer = ask_timed(stopwatch, plugin, "permit", checked_permission, cycle, taken.pod, node_name)
        permission = answer if isinstance(answer, Permission) else Permission(answer)
        status = permission.status
        if status.code is Code.WAIT:
            taken.waits[plugin.name] = min(permission.timeout_seconds, MAX_PERMIT_SECONDS)
            taken.permission = Status(Code.WAIT, (*status.reasons, SOME_WAIT))
        elif not status.ok:
            failure = named_failure(plugin, PERMIT, status).by(plugin.name)
            break
    stopwatch.point(PERMIT, failure or (WAITS if taken.waits else None), began)
    return failure
