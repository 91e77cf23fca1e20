"""kubesched: the Kubernetes scheduler, whole, in Python.

The public Python API. Names are imported when they are first used, so that `import kubesched` costs nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from kubesched.cluster.changes import Group
    from kubesched.cluster.cluster import Cluster
    from kubesched.cluster.kind_groups import kind_group
    from kubesched.cluster.pod_info import PodInfo
    from kubesched.errors import InvalidObjectError, KubeschedError, PluginError
    from kubesched.framework.cycle import CycleState, StateKey
    from kubesched.framework.events import Action, ClusterEvent, Hint, Registration, Resource
    from kubesched.framework.functions import filter_plugin, score_plugin
    from kubesched.framework.nodes import NodeRow, Nodes
    from kubesched.framework.outcomes import PostFilterResult, PreFilterResult
    from kubesched.framework.permission import Permission
    from kubesched.framework.plugin import (
        BindPlugin,
        FilterPlugin,
        PermitPlugin,
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
    from kubesched.framework.registry import Registry
    from kubesched.framework.status import SKIP, SUCCESS, Code, Status, error, unresolvable, unschedulable
    from kubesched.framework.verdict import Verdict
    from kubesched.scheduling.decision import Decision, decide
    from kubesched.scheduling.engine import Engine, build_engine

_HOMES = {
    "cluster.changes": "Group",
    "cluster.cluster": "Cluster",
    "cluster.kind_groups": "kind_group",
    "cluster.pod_info": "PodInfo",
    "errors": "InvalidObjectError KubeschedError PluginError",
    "framework.cycle": "CycleState StateKey",
    "framework.events": "Action ClusterEvent Hint Registration Resource",
    "framework.functions": "filter_plugin score_plugin",
    "framework.nodes": "NodeRow Nodes",
    "framework.outcomes": "PostFilterResult PreFilterResult",
    "framework.permission": "Permission",
    "framework.plugin": (
        "BindPlugin FilterPlugin PermitPlugin PostBindPlugin PostFilterPlugin PreBindPlugin "
        "PreEnqueuePlugin PreFilterPlugin PreScorePlugin QueueSortPlugin ReservePlugin ScorePlugin"
    ),
    "framework.registry": "Registry",
    "framework.status": "SKIP SUCCESS Code Status error unresolvable unschedulable",
    "framework.verdict": "Verdict",
    "scheduling.decision": "Decision decide",
    "scheduling.engine": "Engine build_engine",
}
_HOME_OF = {name: home for home, names in _HOMES.items() for name in names.split()}

__all__ = [
    "SKIP",
    "SUCCESS",
    "Action",
    "BindPlugin",
    "Cluster",
    "ClusterEvent",
    "Code",
    "CycleState",
    "Decision",
    "Engine",
    "FilterPlugin",
    "Group",
    "Hint",
    "InvalidObjectError",
    "KubeschedError",
    "NodeRow",
    "Nodes",
    "Permission",
    "PermitPlugin",
    "PluginError",
    "PodInfo",
    "PostBindPlugin",
    "PostFilterPlugin",
    "PostFilterResult",
    "PreBindPlugin",
    "PreEnqueuePlugin",
    "PreFilterPlugin",
    "PreFilterResult",
    "PreScorePlugin",
    "QueueSortPlugin",
    "Registration",
    "Registry",
    "ReservePlugin",
    "Resource",
    "ScorePlugin",
    "StateKey",
    "Status",
    "Verdict",
    "__version__",
    "build_engine",
    "decide",
    "error",
    "filter_plugin",
    "kind_group",
    "score_plugin",
    "unresolvable",
    "unschedulable",
]


def __getattr__(name: str) -> Any:
    """Return a public name, importing its home now."""
    home = _HOME_OF.get(name)
    if home is None:
        raise AttributeError(f"module 'kubesched' has no attribute {name!r}")
    value = getattr(import_module(f"kubesched.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
