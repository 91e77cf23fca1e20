"""The plugin: its key of pods, its question, and its events."""

# upstream: nodevolumelimits/csi.go (v1.36)

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.node_matching import indices_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.storage.volume_users import volume_uses
from kubesched.core.framework.columns.questions import FilterWorlds
from kubesched.core.framework.columns.row_questions import RowFilterQuestion
from kubesched.core.framework.plugin import UNCACHED, PreFilterPlugin, QuestionFilterPlugin
from kubesched.core.framework.values.cycle import CycleState, StateKey
from kubesched.core.framework.values.events import Action, ClusterEvent, Registration, Resource
from kubesched.core.framework.values.status import SKIP, Status, StatusTable, error
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes, table_row, table_rows
from kubesched.core.plugins.node_volume_limits import hints
from kubesched.core.plugins.node_volume_limits.request import NOTHING_WANTED, Requests, VolumeLimitRequest
from kubesched.core.plugins.node_volume_limits.worlds import EXCEEDED, LimitWorlds, has_driver, not_installed
from kubesched.core.plugins.volume_claim_events import CLAIMS_OF_VOLUMES

NOT_CONCERNED = "no attachable volumes"
REQUEST = StateKey[VolumeLimitRequest]("NodeVolumeLimits")


class NodeVolumeLimits(PreFilterPlugin, QuestionFilterPlugin):
    """Rejects nodes to which a driver can attach no more volumes."""

    name = "NodeVolumeLimits"
    looks_up = ("CSINode", "CSIDriver", "PersistentVolume", "PersistentVolumeClaim", "StorageClass", "VolumeAttachment")
    # a changed claim, volume, class or CSINode changes the volumes of rows
    reads = Reads.VOLUMES | Reads.PRESENCE

    def __init__(self, cluster: ClusterState, gates: FeatureGates | None = None) -> None:
        self._cluster = cluster
        self._attached = cluster.attached_volumes
        scaling = (gates or FeatureGates({})).enabled("VolumeLimitScaling")
        self._requests = Requests(cluster, scaling=scaling)

    def key(self, pod: PodInfo) -> Hashable:
        """Return the number of wanted volumes per driver; names of claims are not part of it."""
        if not pod.derive(volume_uses).attachable:
            # this pod is skipped; a pod whose volumes need no driver is not, so their keys differ
            return NOT_CONCERNED
        request = self._request(pod)
        return UNCACHED if request.wanted.problem is not None else request

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Status | None:
        """Return Skip if the pod has no volume that could be attached."""
        return None if pod.derive(volume_uses).attachable else SKIP

    def filter_question(self, pod: PodInfo, statuses: StatusTable) -> "LimitsQuestion":
        """Return the question of all pods with the same request."""
        return LimitsQuestion(self, pod, self._request(pod), self._cluster, statuses)

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return why the pod's volumes cannot be attached to a node, or None."""
        request, attached, (_, row) = self._asked(cycle, pod), self._attached, table_row(node)
        attached.refresh()
        drivers = attached.driver_sets.values[attached.drivers[row]]
        wanted = request.without_csi_node if drivers is None else request.wanted
        if wanted.problem is not None:
            return wanted.problem
        for driver in wanted.required:
            if not has_driver(drivers, driver):
                return not_installed(driver)
        if not wanted.counts or not attached.has_limits(row):
            return None
        if row in attached.problems:
            return error(attached.problems[row])
        there = attached.on(row)
        limits = dict(drivers or ())
        for driver, count in wanted.counts:
            limit = limits.get(driver)
            if limit is not None:
                new = count - sum(volume.driver == driver and volume in there.users for volume in request.known)
                if new > 0 and there.totals.get(driver, 0) + new > limit:
                    return EXCEEDED
        return None

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Reject the nodes to which the pod's volumes cannot be attached."""
        request = self._asked(cycle, pod)
        if request == NOTHING_WANTED:
            return Verdict.uniform(len(nodes), None)
        self._attached.refresh()
        return LimitWorlds(self._cluster, request, indices_of(table_rows(nodes)[1])).verdict()

    def _asked(self, cycle: CycleState, pod: PodInfo) -> VolumeLimitRequest:
        """Return the request of the question, or the pod's own if there is none."""
        return cycle.get(REQUEST) or self._request(pod)

    def _request(self, pod: PodInfo) -> VolumeLimitRequest:
        self._attached.refresh()
        return self._requests.of(pod)

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that can raise a limit or free an attachment."""
        return (
            Registration(ClusterEvent(Resource.CSI_NODE, Action.ADD)),
            Registration(ClusterEvent(Resource.CSI_NODE, Action.UPDATE), hints.after_csi_node_updated),
            Registration(ClusterEvent(Resource.POD, Action.DELETE), hints.after_pod_deleted),
            Registration(
                ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD), hints.after_claim_added, CLAIMS_OF_VOLUMES
            ),
            Registration(ClusterEvent(Resource.VOLUME_ATTACHMENT, Action.DELETE), hints.after_attachment_deleted),
        )


class LimitsQuestion(RowFilterQuestion):
    """The verdict for all pods with one request, whichever pod it was made for."""

    def __init__(
        self,
        plugin: NodeVolumeLimits,
        pod: PodInfo,
        request: VolumeLimitRequest,
        cluster: ClusterState,
        statuses: StatusTable,
    ) -> None:
        cycle = CycleState()
        cycle.write(REQUEST, request)
        super().__init__(plugin, pod, cluster.table, statuses, cycle, pre_filter=True)
        self._cluster = cluster
        self._request = request

    def worlds(self, rows: NDArray[np.intp]) -> FilterWorlds:
        """Return worlds with the volumes attached to each row."""
        self._cluster.attached_volumes.refresh()
        return LimitWorlds(self._cluster, self._request, rows)
