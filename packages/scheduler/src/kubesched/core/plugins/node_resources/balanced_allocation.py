"""NodeResourcesBalancedAllocation: whether the pod makes the use of a node's resources more even.

From requests and the table's resource columns to scores: 75 if the balance does not change, up to 100 if it improves,
down to 50 if it gets worse.
"""

# upstream: noderesources/balanced_allocation.go (v1.36)

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.api.resources import balanced_request
from kubesched.config.args import NodeResourcesBalancedAllocationArgs
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo, request_options
from kubesched.core.framework.calling.forms import score_alone
from kubesched.core.framework.plugin import UNCACHED, PreScorePlugin, ScorePlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Registration
from kubesched.core.framework.values.status import SKIP, Status
from kubesched.core.framework.views.nodes import NodeRow, Nodes, table_row
from kubesched.core.plugins.node_resources.balance import balance_of_nodes, balance_of_row
from kubesched.core.plugins.node_resources.device_capacity import DeviceBackedCapacity
from kubesched.core.plugins.node_resources.scoring import Terms, terms_of, uses


class NodeResourcesBalancedAllocation(PreScorePlugin, ScorePlugin):
    """The balance of the configured resources, with the pod and without it."""

    name = "NodeResourcesBalancedAllocation"
    score_reads = Reads.RESOURCES
    in_range = True

    def __init__(
        self,
        args: NodeResourcesBalancedAllocationArgs,
        cluster: ClusterState,
        gates: FeatureGates,
    ) -> None:
        self._table = cluster.table
        self._options = request_options(gates)
        self._resources = args.resources
        # differs (D-011): the reference crashes here on a class with selectors
        self._devices = DeviceBackedCapacity(self._resources, cluster, gates)
        self.score_key_of_template = not self._devices.possible
        # derived once per template; a plain attribute, because a bound method hashes slowly
        self._terms_of = lambda pod: self._make_terms(pod)

    def events_to_register(self) -> Sequence[Registration]:
        """Return nothing: scores reject no pod."""
        return ()

    def pre_score(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Return Skip for a pod that requests none of the resources: otherwise many such pods would go to one node."""
        return SKIP if pod.derive(self._terms_of) is None else None

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return the pod's terms; UNCACHED if devices are behind one of its resources."""
        terms = pod.derive(self._terms_of)
        return UNCACHED if terms is not None and self._devices.behind(terms) else terms

    def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> int | Status:
        """Return one node's score."""
        terms = pod.derive(self._terms_of)
        if terms is None:
            return 0
        if self._devices.possible and self._devices.behind(terms):
            return score_alone(self, cycle, pod, node)
        return balance_of_row(terms, *table_row(node))

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64] | Status:
        """Return the nodes' scores."""
        terms = pod.derive(self._terms_of)
        if terms is None:
            return np.zeros(len(nodes), np.int64)
        return balance_of_nodes(uses(terms, nodes, self._devices.columns(terms)), len(nodes))

    def _make_terms(self, pod: PodInfo) -> Terms | None:
        """Return the terms, or None for a pod that requests none of the resources."""
        requests = balanced_request(pod.pod, self._options)
        if not any(requests.get(resource.name, 0) for resource in self._resources):
            return None
        return terms_of(self._resources, requests, self._table, assumed=False)
