"""Derived forms of a filter or a score: one node through the column form, many nodes through the row form.

From a plugin class that defines one form to both. `plugin` describes the forms.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.calling.answers import checked_scores, checked_verdict
from kubesched.core.framework.calling.hooks import filter_each_node, score_each_node
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes, visited

if TYPE_CHECKING:
    from kubesched.core.framework.plugin import FilterPlugin, Plugin, ScorePlugin


def derive_form(plugin: "type[Plugin]", base: "type[Plugin]", **derived: Callable[..., Any]) -> None:
    """Add the missing form to a plugin class that defines one of two forms."""
    missing = [form for form in derived if getattr(plugin, form) is getattr(base, form)]
    if len(missing) < len(derived):
        for form in missing:
            setattr(plugin, form, derived[form])


def filter_alone(plugin: "FilterPlugin", cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
    """Call the column form for one node."""
    verdict = checked_verdict(plugin.filter_nodes(cycle, pod, node.alone()), 1)
    return verdict.statuses[int(verdict.which[0])]


def filter_each(plugin: "FilterPlugin", cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
    """Call the row form for many nodes, one by one."""
    statuses: dict[Status | None, int] = {None: 0}
    which = np.zeros(len(nodes), np.int16)
    for index, status in filter_each_node(plugin, cycle, pod, visited(nodes)):
        if status.code is not Code.SUCCESS:
            which[index] = statuses.setdefault(status, len(statuses))
    return Verdict(which, tuple(statuses))


def score_alone(plugin: "ScorePlugin", cycle: CycleState, pod: PodInfo, node: NodeRow) -> int | Status:
    """Call the column form for one node."""
    scores = checked_scores(plugin.score_nodes(cycle, pod, node.alone()), "score_nodes", 1)
    return scores if isinstance(scores, Status) else int(scores[0])


def score_each(plugin: "ScorePlugin", cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64] | Status:
    """Call the row form for many nodes, one by one."""
    return score_each_node(plugin, cycle, pod, visited(nodes), len(nodes))
