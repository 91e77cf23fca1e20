"""The hooks of DynamicResources; the modules beside this one implement them.

Pods without devices all share one result: Skip, score 0. For pods with devices everything is evaluated in each cycle,
since claims belong to one pod.
"""

# upstream: plugins/dynamicresources/dynamicresources.go (v1.36)

from collections.abc import Hashable, Sequence
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from kubesched.config.args import DynamicResourcesArgs
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.devices.device_classes import DeviceClasses
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.devices import DeviceFeatures
from kubesched.core.framework.columns.normalizing import normalize_to_highest
from kubesched.core.framework.observing.observer import NOBODY, Observers
from kubesched.core.framework.plugin import (
    UNCACHED,
    FilterPlugin,
    PostFilterPlugin,
    PreBindPlugin,
    PreEnqueuePlugin,
    PreFilterPlugin,
    ReservePlugin,
    ScorePlugin,
)
from kubesched.core.framework.results.outcomes import NodeVerdicts, PostFilterResult
from kubesched.core.framework.services.waiting import NoWaits, Waits
from kubesched.core.framework.values.cycle import PRE_FILTERED, CycleState
from kubesched.core.framework.values.effects import Effects, RecordingEffects
from kubesched.core.framework.values.events import Registration
from kubesched.core.framework.values.status import SKIP, Status, error, unresolvable, unschedulable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import Nodes, table_rows
from kubesched.core.plugins.dynamic_resources.binding import ClaimBinder
from kubesched.core.plugins.dynamic_resources.filtering import NOT_AVAILABLE, DeviceFilter
from kubesched.core.plugins.dynamic_resources.hints import DeviceHints
from kubesched.core.plugins.dynamic_resources.node_allocatable import NodeAllocatable
from kubesched.core.plugins.dynamic_resources.pod_claims import NotReadyError, PodClaimFinder
from kubesched.core.plugins.dynamic_resources.preparing import Preparation
from kubesched.core.plugins.dynamic_resources.releasing import NOTHING_NEW, STILL_NOT, GroupReservations, release_for
from kubesched.core.plugins.dynamic_resources.reserving import Reservations
from kubesched.core.plugins.dynamic_resources.solving import Solver
from kubesched.core.plugins.dynamic_resources.state import GROUP_ALLOCATIONS, STATE, AllocationPlan, PodDevices
from kubesched.core.plugins.dynamic_resources.writing import NotBoundError

# The error of a hook that does not find the state which PreFilter writes.
NOT_FOUND = "not found"
NO_DEVICES = ""
BINDING_TIMEOUT = timedelta(seconds=600)


class DynamicResources(
    PreEnqueuePlugin,
    PreFilterPlugin,
    FilterPlugin,
    PostFilterPlugin,
    ScorePlugin,
    ReservePlugin,
    PreBindPlugin,
):
    """Allocates devices for the claims of pods."""

    name = "DynamicResources"
    looks_up = ("ResourceClaim", "ResourceSlice", "DeviceClass")
    without_pre_filter = NOT_FOUND
    # whether a resource is backed by devices depends on the device classes
    key_of_template = False
    alive_only = True
    reads = Reads.NOTHING
    score_reads = Reads.NOTHING
    in_range = True
    parallel = True

    def __init__(
        self,
        cluster: ClusterState,
        args: DynamicResourcesArgs | None = None,
        gates: FeatureGates | None = None,
        effects: Effects | None = None,
        waits: Waits | None = None,
        observers: Observers = NOBODY,
    ) -> None:
        gates = gates or FeatureGates({})
        args = args or DynamicResourcesArgs()
        effects, self._waits = effects or RecordingEffects(), waits or NoWaits()
        features = DeviceFeatures.from_gates(gates)
        self._enabled = gates.enabled("DynamicResourceAllocation")
        self._prioritized = features.prioritized_list
        binding = args.binding_timeout
        self._binding_timeout = timedelta(seconds=binding.seconds) if binding is not None else BINDING_TIMEOUT
        limited = gates.enabled("DRASchedulerFilterTimeout") and args.filter_timeout is not None
        limit_seconds = args.filter_timeout.seconds if limited and args.filter_timeout is not None else 0.0
        classes = DeviceClasses(cluster.objects)
        tracker = cluster.devices(features)
        self._table = cluster.table
        self._finder = PodClaimFinder(cluster, of_groups=gates.enabled("DRAWorkloadResourceClaims"))
        self._preparation = Preparation(
            cluster,
            tracker,
            classes,
            self._finder,
            Solver(tracker, self._waits, limit_seconds),
            extended=gates.enabled("DRAExtendedResource"),
        )
        node_allocatable = None
        if gates.enabled("DRANodeAllocatableResources"):
            pod_level = gates.enabled("PodLevelResources")
            node_allocatable = NodeAllocatable(tracker, self._finder, pod_level=pod_level)
            # then the free resources of a node matter, too
            self.reads = Reads.RESOURCES
        self._filter = DeviceFilter(cluster, classes, node_allocatable)
        self._hints = DeviceHints(self._finder)
        self._groups = GroupReservations(cluster, self._finder)
        self._reservations = Reservations(cluster, self._filter, effects)
        self._binder = ClaimBinder(
            cluster,
            self._finder,
            effects,
            self._waits,
            conditions=features.binding_conditions,
            timeout=self._binding_timeout,
            observers=observers,
        )

    # -- the queue

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that can make devices available."""
        return self._hints.registrations() if self._enabled else ()

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Gate a pod whose claims do not exist yet."""
        if not self._enabled or not pod.spec.resource_claims:
            return None
        try:
            self._finder.claims(pod)
        except NotReadyError as not_ready:
            return unresolvable(str(not_ready))
        return None

    # -- filtering

    def key(self, pod: PodInfo) -> Hashable:
        """Return the same key for all pods without devices; pods with devices are judged again in each cycle."""
        return UNCACHED if self._enabled and self._preparation.concerns(pod) else NO_DEVICES

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Status | None:
        """Return Skip for a pod without claims, why its claims cannot be used, or None."""
        if not self._enabled or not self._preparation.concerns(pod):
            return SKIP
        shared = _group_allocations(cycle) or ()
        state = self._preparation.prepare(pod, shared, self._waits.date(), self._binding_timeout)
        if isinstance(state, Status):
            return state
        cycle.write(STATE, state)
        return None

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Reject the nodes on which the claims cannot be allocated."""
        state = cycle.get(STATE)
        return Verdict.uniform(len(nodes), None) if state is None else self._filter.judge(pod, state, nodes)

    # upstream: dynamicresources.go, PostFilter (v1.36)
    def post_filter(self, cycle: CycleState, pod: PodInfo, verdicts: NodeVerdicts) -> PostFilterResult:
        """Deallocate an unused claim that was the reason to reject a node."""
        if not self._enabled:
            return PostFilterResult(unschedulable("plugin disabled"))
        if self._unprepared(cycle):
            return PostFilterResult(error(NOT_FOUND))
        state = cycle.get(STATE)
        if state is None:
            return PostFilterResult(NOTHING_NEW)
        release = release_for(pod, state, self._in_the_way(state, verdicts)) or self._groups.release(pod)
        if release is None:
            return PostFilterResult(STILL_NOT)
        return PostFilterResult(release.status, effects=release.effects)

    def _in_the_way(self, state: PodDevices, verdicts: NodeVerdicts) -> list[int]:
        """Return the claims because of which this plugin rejected a node."""
        present = self._table.present[: self._table.size]
        rows = verdicts.rows_with(NOT_AVAILABLE.code, present)
        ours = NOT_AVAILABLE.by(self.name)
        rejected = np.array([row for row in rows.tolist() if verdicts.status(row) == ours], np.intp)
        masks = self._filter.unavailable(state, rejected)
        return [index for index, mask in enumerate(masks) if mask.any()]

    # -- scoring

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return the same key for all pods without devices."""
        return self.key(pod)

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64] | Status:
        """Return the preference scores of the allocations on each node; 0 without devices."""
        state = cycle.get(STATE)
        if state is None or not self._prioritized or len(state.scores) < self._table.size:
            return np.zeros(len(nodes), np.int64)
        _, rows = table_rows(nodes)
        scores: NDArray[np.int64] = np.where(state.passed, state.scores, 0)[rows]
        return scores

    def normalize_scores(self, cycle: CycleState, pod: PodInfo, scores: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the scores with 100 for the best."""
        return normalize_to_highest(scores) if self._enabled else scores

    # -- reserving and binding

    def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Hold the devices that are allocated to the claims on the node."""
        if self._enabled and self._unprepared(cycle):
            return error(NOT_FOUND)
        state = cycle.get(STATE)
        if state is None:
            return None
        return self._reservations.reserve(pod, state, node_name, _group_allocations(cycle))

    def unreserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        """Release the devices, and submit effects that undo the writes."""
        state = cycle.get(STATE)
        if state is not None:
            self._reservations.unreserve(pod, state, _group_allocations(cycle))

    def pre_bind_pre_flight(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Return Skip if there are no claims to write."""
        if self._enabled and self._unprepared(cycle):
            return error(NOT_FOUND)
        return SKIP if cycle.get(STATE) is None else None

    async def pre_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Write allocations and reservations, and wait for binding conditions."""
        if self._enabled and self._unprepared(cycle):
            return error(NOT_FOUND)
        state = cycle.get(STATE)
        if state is None:
            return None
        try:
            await self._binder.bind(pod, state, node_name)
        except NotBoundError as failed:
            return error(str(failed))
        return None

    def plan(self, cycle: CycleState, pod: PodInfo, node_name: str) -> AllocationPlan | None:
        """Return the allocations of the pod's claims on a node; None without a plan for the node."""
        state = cycle.get(STATE)
        plan = self._filter.plan(pod, state, node_name) if state is not None else None
        return None if isinstance(plan, Status) else plan

    def _unprepared(self, cycle: CycleState) -> bool:
        """Return whether PreFilter did not run: it is disabled, or an earlier plugin rejected the pod."""
        return self.name not in (cycle.get(PRE_FILTERED) or ())


def _group_allocations(cycle: CycleState) -> set[str] | None:
    """Return the claims that are allocated in the cycle of the pod's group; None for a pod that is scheduled alone."""
    if cycle.group is None:
        return None
    allocations = cycle.group.get(GROUP_ALLOCATIONS)
    if allocations is None:
        allocations = set()
        cycle.group.write(GROUP_ALLOCATIONS, allocations)
    return allocations
