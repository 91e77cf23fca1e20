"""Coscheduling: the pods of a PodGroup get nodes together, or none of them does.

From pods with the label `scheduling.x-k8s.io/pod-group` to the order in which they are tried, and to places that are
reserved in Permit until `minMember` pods have one. If a pod of an incomplete gang finds no node, its other pods
release their places, unless only a few pods are missing and enough untried pods are left.
"""

from collections.abc import Sequence
from typing import Any

from kubesched import (
    PODS_TO_ACTIVATE,
    SUCCESS,
    Action,
    Background,
    ClusterEvent,
    ClusterView,
    Code,
    CycleState,
    Hint,
    HttpClient,
    NodeVerdicts,
    ObjectWriter,
    Permission,
    PermitPlugin,
    PodInfo,
    PostFilterPlugin,
    PostFilterResult,
    PreFilterPlugin,
    QueueSortPlugin,
    Registration,
    ReservePlugin,
    Resource,
    StateKey,
    Status,
    WaitingPods,
    Waits,
    unresolvable,
    unschedulable,
)
from kubesched_contrib.coscheduling.args import CoschedulingArgs
from kubesched_contrib.coscheduling.gangs import Gangs
from kubesched_contrib.coscheduling.pod_group import KIND, GangSpec, group_name
from kubesched_contrib.coscheduling.status import PodGroupStatuses

# interval of the checks of backoffs and of waiting pods of incomplete gangs
TICK_SECONDS = 1.0
# the longest `namespace/name`: names are compared as numbers of this many bytes
NAME_BYTES = 63 + 1 + 253
PERCENT = 100
# whether PreFilter rejected the pod: then its gang was not tried
HELD_BACK = StateKey[bool]("Coscheduling")


class Coscheduling(QueueSortPlugin, PreFilterPlugin, PostFilterPlugin, PermitPlugin, ReservePlugin):
    """Schedules gangs."""

    name = "Coscheduling"
    looks_up = (KIND,)
    writes = (f"{KIND}/status",)

    def __init__(
        self,
        cluster: ClusterView,
        waiting_pods: WaitingPods,
        waits: Waits,
        background: Background,
        writer: ObjectWriter,
        http: HttpClient,
        args: CoschedulingArgs | None = None,
    ) -> None:
        self._args = args or CoschedulingArgs()
        self._cluster = cluster
        self._gangs = Gangs(cluster)
        self._waiting_pods = waiting_pods
        self._waits = waits
        self._background = background
        # offset between the queue's clock and the date; taken once, so that all pods of a gang get the same time
        self._epoch: float | None = None
        background.timer(TICK_SECONDS, self._look_after)
        PodGroupStatuses(cluster, self._gangs, waits, background, writer, http)

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that can complete a gang, or satisfy its minResources."""
        arrivals = Action.ADD | Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED | Action.UPDATE_POD_LABEL
        return (
            Registration(ClusterEvent(Resource.POD, arrivals), after_pod),
            Registration(ClusterEvent(Resource.POD, Action.DELETE), self._after_room),
            Registration(ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_ALLOCATABLE), self._after_room),
            Registration(ClusterEvent(KIND, Action.ALL), after_group),
        )

    def _after_room(self, pod: PodInfo, old: Any, new: Any) -> Hint:
        """Return whether more capacity can help a pod: its gang must have minResources."""
        gang = self._gangs.spec(group_name(pod))
        return Hint.when(gang is not None and gang.min_resources is not None)

    # -- the queue

    def sort_key(self, pod: PodInfo, timestamp: float) -> tuple[float, ...]:
        """Return the priority, the time of the gang (or the pod), and its name.

        A gang's time is its PodGroup's creation, or its last failure, after which other pods come first.
        """
        name = group_name(pod)
        gang = self._gangs.spec(name)
        if gang is None:
            return (-pod.priority, timestamp, _as_number(pod.full_name))
        created = self._on_the_clock(gang) if gang.created is not None else timestamp
        return (-pod.priority, self._gangs.failed_at.get(name, created), _as_number(name))

    def _on_the_clock(self, gang: GangSpec) -> float:
        assert gang.created is not None
        if self._epoch is None:
            self._epoch = self._waits.date().timestamp() - self._waits.now()
        return gang.created.timestamp() - self._epoch

    # -- PreFilter

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Status | None:
        """Reject a pod whose gang backs off, lacks pods, or lacks resources for minResources."""
        rejection = self._rejection(pod)
        if rejection is not None:
            cycle.write(HELD_BACK, True)
        return rejection

    def _rejection(self, pod: PodInfo) -> Status | None:
        name = group_name(pod)
        gang = self._gangs.spec(name)
        if gang is None:
            return None
        if not self._is_tried_anyway(pod) and self._gangs.holds(name, pod.uid):
            return unresolvable(f"podGroup {name} failed recently")
        members = self._gangs.members(name)
        if len(members) < gang.min_member:
            return unresolvable(
                f"pre-filter pod {pod.name} cannot find enough sibling pods, "
                f"current pods number: {len(members)}, minMember of group: {gang.min_member}"
            )
        if sum(not member.spec.scheduling_gates for member in members) < gang.min_member:
            return unresolvable(f"pre-filter pod {pod.name} cannot proceed due to gated pods in the same PodGroup")
        if gang.min_resources is not None and self._gangs.placed(name) < gang.min_member:
            missing = self._gangs.missing_amounts(gang)
            if missing:
                return unresolvable(f"resource gap: {', '.join(f'{what} {missing[what]}' for what in sorted(missing))}")
        return None

    def _is_tried_anyway(self, pod: PodInfo) -> bool:
        """Return whether a pod is tried although its gang backs off: it has a nomination, or the attempt is only a
        trial.
        """
        return bool(pod.status.nominated_node_name) or self._cluster.in_trial

    # -- PostFilter

    def post_filter(self, cycle: CycleState, pod: PodInfo, verdicts: NodeVerdicts) -> PostFilterResult:
        """Reject the gang of a pod that found no node, unless it is complete or can still be completed."""
        name = group_name(pod)
        gang = self._gangs.spec(name)
        if gang is None:
            return PostFilterResult(unschedulable("can not find pod group"))
        placed = self._gangs.placed(name)
        if placed >= gang.min_member or cycle.get(HELD_BACK):
            return PostFilterResult(unschedulable())
        self._gangs.tried_in_vain(name, pod.uid)
        few = (gang.min_member - placed) * PERCENT <= self._args.pod_group_reject_percentage * gang.min_member
        if few and self._gangs.can_complete(gang):
            return PostFilterResult(unschedulable())
        self._reject(name, "optimistic rejection in PostFilter")
        return PostFilterResult(
            unschedulable(f"PodGroup {name} gets rejected due to Pod {pod.name} is unschedulable even after PostFilter")
        )

    def _reject(self, name: str, message: str) -> None:
        """Reject the waiting pods of a gang, so that they release their places."""
        self._gangs.fail(name, self._waits.now(), self._args.pod_group_backoff_seconds)
        for waiting in list(self._waiting_pods):
            if group_name(waiting.pod) == name:
                waiting.reject(self.name, message)

    # -- Reserve and Permit

    def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Do nothing: places are counted in the cluster."""
        return None

    def unreserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        """Reject the rest of a gang when one of its pods loses its place."""
        name = group_name(pod)
        gang = self._gangs.spec(name)
        if gang is not None and self._gangs.placed(name) <= gang.min_member:
            self._reject(name, "rejection in Unreserve")
            self._background.activate(self._gangs.let_others_try(name))

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        """Let a pod wait until minMember pods have a node; the last of them allows the rest."""
        name = group_name(pod)
        if not name:
            return Permission(SUCCESS)
        gang = self._gangs.spec(name)
        if gang is None:
            return Permission(unschedulable("PodGroup not found"))
        placed = self._gangs.placed(name)
        if placed < gang.min_member:
            if placed == 1:
                self._activate(cycle, name)
            seconds = gang.timeout_seconds or self._args.permit_waiting_time_seconds
            return Permission(Status(Code.WAIT), seconds)
        self._gangs.complete(name)
        for waiting in list(self._waiting_pods):
            if group_name(waiting.pod) == name:
                waiting.allow(self.name)
        return Permission(SUCCESS)

    def _activate(self, cycle: CycleState, name: str) -> None:
        """Activate the other pods of a gang; only its first pod does so, to avoid an endless cycle."""
        named = cycle.get(PODS_TO_ACTIVATE)
        if named is None:
            named = set()
            cycle.write(PODS_TO_ACTIVATE, named)
        named.update(pod.uid for pod in self._gangs.pending(name))

    # -- periodically

    def _look_after(self) -> None:
        """Activate the pods of gangs whose backoff is over; reject the waiting pods of gangs that lost members."""
        again = self._gangs.backoff_over(self._waits.now())
        if again:
            self._background.activate(again)
        for name in {group_name(waiting.pod) for waiting in self._waiting_pods} - {""}:
            gang = self._gangs.spec(name)
            if gang is not None and len(self._gangs.members(name)) < gang.min_member:
                self._reject(name, f"PodGroup {name} has lost pods: {len(self._gangs.members(name))} are left")
        self._gangs.forget_the_gone()


def after_pod(pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> Hint:
    """Return whether a pod that was created, or lost its gates, is of the same gang."""
    return Hint.when(new is not None and bool(group_name(pod)) and group_name(pod) == group_name(new))


def after_group(pod: PodInfo, old: Any, new: Any) -> Hint:
    """Return whether a PodGroup is the pod's own, and changed in more than its status or metadata."""
    own = group_name(pod) == (new or old).full_name
    return Hint.when(own and (old is None or new is None or old.spec != new.spec))


def _as_number(name: str) -> int:
    """Return a number that sorts names alphabetically."""
    return int.from_bytes(name.encode()[:NAME_BYTES].ljust(NAME_BYTES, b"\0"))
