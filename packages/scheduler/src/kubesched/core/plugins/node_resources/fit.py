"""NodeResourcesFit: whether a node has the resources that the pod requests, and a score by their use.

From requests and the table's resource columns to verdicts (one row, all rows, worlds), scores under the configured
strategy, and hints.
"""

# upstream: noderesources/fit.go (v1.36)

from collections import Counter
from collections.abc import Hashable, Sequence
from weakref import WeakValueDictionary

import numpy as np
from numpy.typing import NDArray

from kubesched.api.resources import filter_request, fit_score_request, is_extended_resource
from kubesched.config.args import NodeResourcesFitArgs
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.devices.device_classes import DeviceClasses
from kubesched.core.cluster.pod_info import PodInfo, request_options
from kubesched.core.framework.calling.forms import score_alone
from kubesched.core.framework.columns.questions import FilterWorlds
from kubesched.core.framework.plugin import (
    UNCACHED,
    PlacementScorePlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ScorePlugin,
    WorldsFilterPlugin,
)
from kubesched.core.framework.results.outcomes import PreFilterResult
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Registration
from kubesched.core.framework.values.status import Status
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes, table_row
from kubesched.core.plugins.node_resources.device_capacity import DeviceBackedCapacity
from kubesched.core.plugins.node_resources.fit_columns import FitWorlds, judge_nodes
from kubesched.core.plugins.node_resources.fit_hints import FitHints
from kubesched.core.plugins.node_resources.fit_request import FitRequest, fit_request
from kubesched.core.plugins.node_resources.scoring import MostAllocated, Terms, strategy_of, terms_of, uses


class NodeResourcesFit(PreFilterPlugin, WorldsFilterPlugin, PreScorePlugin, ScorePlugin, PlacementScorePlugin):
    """Compares the requests of a pod with the free resources of nodes."""

    name = "NodeResourcesFit"
    reads = Reads.RESOURCES
    score_reads = Reads.RESOURCES
    in_range = True
    without_pre_filter = 'error reading "PreFilterNodeResourcesFit" from cycleState: not found'

    def __init__(
        self,
        args: NodeResourcesFitArgs,
        cluster: ClusterState,
        gates: FeatureGates,
    ) -> None:
        self._table = cluster.table
        self._options = request_options(gates)
        self._queueing_hints = gates.enabled("SchedulerQueueingHints")
        self._ignored = frozenset(args.ignored_resources)
        self._ignored_groups = frozenset(args.ignored_resource_groups)
        self._device_classes = DeviceClasses(cluster.objects) if gates.enabled("DRAExtendedResource") else None
        self._resources = args.scoring_strategy.resources
        self._strategy = strategy_of(args.scoring_strategy)
        self._devices = DeviceBackedCapacity(self._resources, cluster, gates)
        self.score_key_of_template = not self._devices.possible
        # equal requests are one object, which hashes fast
        self._requests: WeakValueDictionary[Hashable, FitRequest] = WeakValueDictionary()
        # derived once per template; plain attributes, because a bound method hashes slowly
        self._request_of = lambda pod: self._make_request(pod)
        self._terms_of = lambda pod: self._make_terms(pod)

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that can help a pod which did not fit."""
        return FitHints(self._options, self._device_classes).registrations(queueing_hints=self._queueing_hints)

    # -- PreFilter, Filter

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> PreFilterResult | Status | None:
        """Return None: every pod is filtered, if only by the number of pods."""
        return None

    def key(self, pod: PodInfo) -> Hashable:
        """Return the pod's request, and the part of it that is left to devices."""
        request: FitRequest = pod.derive(self._request_of)
        return (request, self._delegated(request)) if request.scalars else request

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return a rejection with the resources that one node lacks."""
        request: FitRequest = pod.derive(self._request_of)
        table, row = table_row(node)
        if table.pod_count.item(row) < table.allowed_pods.item(row):
            allocatable, requested = table.allocatable.item, table.requested.item
            for code, amount in request.native:
                if amount > allocatable(code, row) - requested(code, row):
                    break
            else:
                if not request.index_of:
                    return None
        return request.status(request.objection(table, row, self._delegated(request)))

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Return a verdict with the resources that the nodes lack."""
        request: FitRequest = pod.derive(self._request_of)
        return judge_nodes(request, nodes, self._delegated(request))

    def filter_worlds(self, pod: PodInfo, rows: NDArray[np.intp]) -> FilterWorlds:
        """Return worlds over some rows."""
        request: FitRequest = pod.derive(self._request_of)
        return FitWorlds(request, self._table, rows, self._delegated(request))

    def _delegated(self, request: FitRequest) -> tuple[int, ...]:
        """Return the indices of amounts that DynamicResources handles on nodes that do not offer the resource."""
        classes = self._device_classes
        if not request.scalars or not classes:
            return ()
        return tuple(i for i in request.scalars if classes.of_resource(request.names[i]) is not None)

    def request_of(self, pod: PodInfo) -> FitRequest:
        """Return the amounts that the filter compares with the free resources."""
        return pod.derive(self._request_of)

    def _make_request(self, pod: PodInfo) -> FitRequest:
        made = fit_request(filter_request(pod.pod, self._options), self._ignores)
        return self._requests.setdefault((made.names, made.wanted), made)

    def _ignores(self, resource: str) -> bool:
        """Return whether an extended resource is to be ignored, by its name or its group."""
        return is_extended_resource(resource) and (
            resource in self._ignored or resource.partition("/")[0] in self._ignored_groups
        )

    # -- PreScore, Score

    def pre_score(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Return None: every pod is scored."""
        return None

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return the pod's terms; UNCACHED if devices are behind one of its resources."""
        terms = pod.derive(self._terms_of)
        return UNCACHED if self._devices.behind(terms) else terms

    def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> int | Status:
        """Return one node's score."""
        terms = pod.derive(self._terms_of)
        if self._devices.possible and self._devices.behind(terms):
            return score_alone(self, cycle, pod, node)
        return self._strategy.score(terms, *table_row(node))

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64] | Status:
        """Return the nodes' scores."""
        terms = pod.derive(self._terms_of)
        return self._strategy.score_nodes(uses(terms, nodes, self._devices.columns(terms)), len(nodes))

    def _make_terms(self, pod: PodInfo) -> Terms:
        return terms_of(self._resources, fit_score_request(pod.pod), self._table, assumed=True)

    # -- placements of pod groups

    def score_placement(self, pods: Sequence[PodInfo], nodes: Nodes) -> int | Status:
        """Return the use of the nodes with the pods, which are not on them yet: more is better."""
        requests: Counter[str] = Counter()
        for pod in pods:
            requests.update(fit_score_request(pod.pod))
        terms = terms_of(self._resources, requests, self._table, assumed=True)
        return MostAllocated().score_together(terms, nodes)
