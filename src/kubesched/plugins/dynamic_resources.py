"""DynamicResources (stand-in): devices through resource claims.

From a pod to Skip where it asks for no devices; other pods are refused as not implemented yet. PostFilter speaks for
every pod.
"""

# upstream: plugins/dynamicresources/dynamicresources.go, extendeddynamicresources.go (v1.36)

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.api.devices import DeviceClass
from kubesched.cluster.changes import Group
from kubesched.cluster.cluster import Cluster
from kubesched.cluster.pod_info import PodInfo
from kubesched.config.feature_gates import FeatureGates
from kubesched.framework.cycle import PRE_FILTERED, CycleState
from kubesched.framework.events import Action, ClusterEvent, Registration, Resource
from kubesched.framework.nodes import NodeRow, Nodes
from kubesched.framework.outcomes import NodeVerdicts, PostFilterResult
from kubesched.framework.plugin import PostFilterPlugin, PreBindPlugin, PreEnqueuePlugin, ReservePlugin, ScorePlugin
from kubesched.framework.stand_in import StandInFilter, may_help
from kubesched.framework.status import SKIP, Status, error, unschedulable

IMPLICIT_PREFIX = "deviceclass.resource.kubernetes.io/"

# What a hook says that does not find what PreFilter would have written.
NOT_FOUND = "not found"


class DynamicResources(StandInFilter, PreEnqueuePlugin, PostFilterPlugin, ScorePlugin, ReservePlugin, PreBindPlugin):
    """Skips pods that ask for no devices; their score is 0."""

    name = "DynamicResources"
    without_pre_filter = NOT_FOUND
    # whether a resource stands for devices depends on the device classes there are
    key_of_template = False
    score_reads = Group.NOTHING
    in_range = True
    parallel = True

    def __init__(self, cluster: Cluster, gates: FeatureGates | None = None) -> None:
        gates = gates or FeatureGates({})
        self._objects = cluster.objects
        self._enabled = gates.enabled("DynamicResourceAllocation")
        self._extended = self._enabled and gates.enabled("DRAExtendedResource")

    def concern(self, pod: PodInfo) -> str:
        """Return what of the pod asks for devices."""
        if not self._enabled:
            return ""
        if pod.spec.resource_claims:
            return "pods with resource claims"
        if self._extended and pod.digest.resources.scalar and self._backed_by_devices(pod):
            return "extended resources backed by device classes"
        return ""

    def _backed_by_devices(self, pod: PodInfo) -> bool:
        names = set()
        for device_class in self._objects.of(DeviceClass):
            names.add(IMPLICIT_PREFIX + device_class.metadata.name)
            if device_class.spec.extended_resource_name:
                names.add(device_class.spec.extended_resource_name)
        return any(amount and name in names for name, amount in pod.digest.resources.scalar.items())

    # -- the queue

    def events_to_register(self) -> Sequence[Registration]:
        """Return what can make devices available."""
        if not self._enabled:
            return ()
        changed = Action.ADD | Action.UPDATE
        node_actions = Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE
        return (
            Registration(ClusterEvent(Resource.NODE, node_actions)),
            Registration(ClusterEvent(Resource.RESOURCE_CLAIM, changed), may_help),
            Registration(ClusterEvent(Resource.POD, Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM), may_help),
            Registration(ClusterEvent(Resource.DEVICE_CLASS, changed)),
            Registration(ClusterEvent(Resource.RESOURCE_SLICE, changed)),
        )

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Let every pod in: one with claims is refused in its cycle, where the refusal can be seen."""
        return None

    # -- PostFilter

    def post_filter(self, cycle: CycleState, pod: PodInfo, verdicts: NodeVerdicts) -> PostFilterResult:
        """Say that there is no claim whose release would help."""
        if not self._enabled:
            return PostFilterResult(unschedulable("plugin disabled"))
        failure = self._unprepared(cycle) or self.refusal(pod)
        return PostFilterResult(failure or unschedulable("no new claims to deallocate"))

    # -- scoring

    def score_key(self, pod: PodInfo) -> str:
        """Return the same for all pods that ask for no devices."""
        return self.concern(pod)

    def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> int | Status:
        """Return 0: without devices every node is as good."""
        return self.refusal(pod) or 0

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64] | Status:
        """Return 0 for all nodes."""
        return self.refusal(pod) or np.zeros(len(nodes), np.int64)

    # -- binding

    def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Set nothing aside."""
        return self._unprepared(cycle) or self.refusal(pod)

    def pre_bind_pre_flight(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Return Skip: there is nothing to bind."""
        return self._unprepared(cycle) or self.refusal(pod) or SKIP

    async def pre_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Bind nothing."""
        return self._unprepared(cycle) or self.refusal(pod)

    def _unprepared(self, cycle: CycleState) -> Status | None:
        """Return the error of a cycle in which an earlier plugin's rejection kept PreFilter from running."""
        if self._enabled and self.name not in cycle.read(PRE_FILTERED):
            return error(NOT_FOUND)
        return None
