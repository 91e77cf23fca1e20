"""kubesched: the Kubernetes scheduler, whole, in Python.

The public Python API. Names are imported when they are first used, so that `import kubesched` costs nothing.
"""

from typing import TYPE_CHECKING

from kubesched.common.lazy_names import lazy_names

__version__ = "0.1.0"

if TYPE_CHECKING:
    from kubesched.api.resources import resource_amounts
    from kubesched.core.assembly import build_engine
    from kubesched.core.cluster.changes import Reads
    from kubesched.core.cluster.cluster import ClusterState
    from kubesched.core.cluster.indexes import Index
    from kubesched.core.cluster.kind_reads import kind_reads
    from kubesched.core.cluster.pod_info import PodInfo
    from kubesched.core.cluster.pod_totals import PodTotals
    from kubesched.core.framework.building.functions import filter_plugin, score_plugin
    from kubesched.core.framework.building.registry import Registry
    from kubesched.core.framework.plugin import (
        BindPlugin,
        FilterPlugin,
        PermitPlugin,
        Plugin,
        PostBindPlugin,
        PostFilterPlugin,
        PreBindPlugin,
        PreEnqueuePlugin,
        PreFilterPlugin,
        PreScorePlugin,
        QueueSortPlugin,
        ReservePlugin,
        ScorePlugin,
    )
    from kubesched.core.framework.results.outcomes import NodeVerdicts, PostFilterResult, PreFilterResult
    from kubesched.core.framework.services.background import Background
    from kubesched.core.framework.services.http_client import HttpAnswer, HttpClient, HttpError
    from kubesched.core.framework.services.object_writer import ObjectWriter
    from kubesched.core.framework.services.placement_trial import PlacementTrial, PlacementTrials
    from kubesched.core.framework.services.plugin_metrics import PluginMetrics
    from kubesched.core.framework.services.waiting import Waits
    from kubesched.core.framework.services.waiting_pods import WaitingPod, WaitingPods
    from kubesched.core.framework.values.cycle import PODS_TO_ACTIVATE, CycleState, StateKey
    from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
    from kubesched.core.framework.values.permission import Permission
    from kubesched.core.framework.values.preemption import Candidate, RunningPreemptions
    from kubesched.core.framework.values.status import SKIP, SUCCESS, Code, Status, error, unresolvable, unschedulable
    from kubesched.core.framework.values.verdict import Verdict
    from kubesched.core.framework.views.cluster_view import ClusterView
    from kubesched.core.framework.views.computed_values import ComputedValues
    from kubesched.core.framework.views.node_trial import NodeTrial
    from kubesched.core.framework.views.node_values import AssignedValues, NodeValues
    from kubesched.core.framework.views.nodes import NodeRow, Nodes
    from kubesched.core.framework.views.pod_matcher import PodMatcher
    from kubesched.core.framework.views.pod_sums import PodSums
    from kubesched.core.scheduling.decision import Decision, decide
    from kubesched.core.scheduling.engine import Engine
    from kubesched.errors import InvalidObjectError, KubeschedError, PluginError
    from kubesched_answers.cluster import Cluster

_HOMES = {
    "api.resources": "resource_amounts",
    "core.cluster.changes": "Reads",
    "core.cluster.cluster": "ClusterState",
    "core.cluster.indexes": "Index",
    "core.cluster.kind_reads": "kind_reads",
    "core.cluster.pod_info": "PodInfo",
    "core.cluster.pod_totals": "PodTotals",
    "errors": "InvalidObjectError KubeschedError PluginError",
    "core.framework.views.cluster_view": "ClusterView",
    "core.framework.views.computed_values": "ComputedValues",
    "core.framework.values.cycle": "PODS_TO_ACTIVATE CycleState StateKey",
    "core.framework.values.events": "Action ClusterEvent Hint Registration Resource",
    "core.framework.building.functions": "filter_plugin score_plugin",
    "core.framework.services.background": "Background",
    "core.framework.services.http_client": "HttpAnswer HttpClient HttpError",
    "core.framework.views.node_trial": "NodeTrial",
    "core.framework.views.node_values": "AssignedValues NodeValues",
    "core.framework.services.plugin_metrics": "PluginMetrics",
    "core.framework.views.nodes": "NodeRow Nodes",
    "core.framework.services.object_writer": "ObjectWriter",
    "core.framework.results.outcomes": "NodeVerdicts PostFilterResult PreFilterResult",
    "core.framework.values.permission": "Permission",
    "core.framework.services.placement_trial": "PlacementTrial PlacementTrials",
    "core.framework.plugin": (
        "BindPlugin FilterPlugin PermitPlugin Plugin PostBindPlugin PostFilterPlugin PreBindPlugin "
        "PreEnqueuePlugin PreFilterPlugin PreScorePlugin QueueSortPlugin ReservePlugin ScorePlugin"
    ),
    "core.framework.views.pod_matcher": "PodMatcher",
    "core.framework.views.pod_sums": "PodSums",
    "core.framework.values.preemption": "Candidate RunningPreemptions",
    "core.framework.building.registry": "Registry",
    "core.framework.values.status": "SKIP SUCCESS Code Status error unresolvable unschedulable",
    "core.framework.values.verdict": "Verdict",
    "core.framework.services.waiting": "Waits",
    "core.framework.services.waiting_pods": "WaitingPod WaitingPods",
    "core.scheduling.decision": "Decision decide",
    "core.assembly": "build_engine",
    "core.scheduling.engine": "Engine",
}
# of other distributions
_ELSEWHERE = {"kubesched_answers.cluster": "Cluster"}
if not TYPE_CHECKING:
    # a type checker that knew of it would let any name pass
    __getattr__ = lazy_names(__name__, _HOMES, _ELSEWHERE)

__all__ = [
    "PODS_TO_ACTIVATE",
    "SKIP",
    "SUCCESS",
    "Action",
    "AssignedValues",
    "Background",
    "BindPlugin",
    "Candidate",
    "Cluster",
    "ClusterEvent",
    "ClusterState",
    "ClusterView",
    "Code",
    "ComputedValues",
    "CycleState",
    "Decision",
    "Engine",
    "FilterPlugin",
    "Hint",
    "HttpAnswer",
    "HttpClient",
    "HttpError",
    "Index",
    "InvalidObjectError",
    "KubeschedError",
    "NodeRow",
    "NodeTrial",
    "NodeValues",
    "NodeVerdicts",
    "Nodes",
    "ObjectWriter",
    "Permission",
    "PermitPlugin",
    "PlacementTrial",
    "PlacementTrials",
    "Plugin",
    "PluginError",
    "PluginMetrics",
    "PodInfo",
    "PodMatcher",
    "PodSums",
    "PodTotals",
    "PostBindPlugin",
    "PostFilterPlugin",
    "PostFilterResult",
    "PreBindPlugin",
    "PreEnqueuePlugin",
    "PreFilterPlugin",
    "PreFilterResult",
    "PreScorePlugin",
    "QueueSortPlugin",
    "Reads",
    "Registration",
    "Registry",
    "ReservePlugin",
    "Resource",
    "RunningPreemptions",
    "ScorePlugin",
    "StateKey",
    "Status",
    "Verdict",
    "WaitingPod",
    "WaitingPods",
    "Waits",
    "__version__",
    "build_engine",
    "decide",
    "error",
    "filter_plugin",
    "kind_reads",
    "resource_amounts",
    "score_plugin",
    "unresolvable",
    "unschedulable",
]


def __dir__() -> list[str]:
    return __all__
