"""Ask one plugin by itself: whom does it reject, how does it score, what helps.

From a plugin, a cluster and a pod to plain dictionaries by node name. Where a plugin has two forms, one for a node and
one for columns, both are asked and have to agree.
"""

import numpy as np

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import FilterPlugin, Plugin, QuestionScorePlugin, ScorePlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Resource
from kubesched.core.framework.values.status import Status
from kubesched.core.framework.views.nodes import NodeRow, Nodes


def rejections(plugin: FilterPlugin, cluster: ClusterState, pod: Pod) -> dict[str, Status]:
    """Return the nodes that a row-scoped filter rejects, with the status each gets."""
    info, table, cycle = cluster.reader.read(pod), cluster.table, CycleState()
    rows = table.present_rows()
    verdict = plugin.filter_nodes(cycle, info, Nodes(table))
    columns = {int(row): verdict.statuses[int(verdict.which[row])] for row in rows}
    gathered = plugin.filter_nodes(cycle, info, Nodes(table, rows))
    assert [gathered.statuses[int(which)] for which in gathered.which] == list(columns.values()), "rows, gathered"
    singly = {row: plugin.filter(cycle, info, NodeRow(table, row)) for row in columns}
    assert singly == columns, "the one-node form and the column form differ"
    return {table.names[row]: status for row, status in columns.items() if status is not None}


def raw_scores(plugin: ScorePlugin, cluster: ClusterState, pod: Pod) -> dict[str, int] | Status:
    """Return what a plugin scores every node, before normalisation, or its error."""
    info, table, cycle = cluster.reader.read(pod), cluster.table, CycleState()
    rows = table.present_rows().tolist()
    if isinstance(plugin, QuestionScorePlugin):
        question = plugin.score_question(info)
        question.refresh()
        return {table.names[row]: int(question.raw[row]) for row in rows}
    scores = plugin.score_nodes(cycle, info, Nodes(table))
    singly = {row: plugin.score(cycle, info, NodeRow(table, row)) for row in rows}
    if isinstance(scores, Status):
        assert all(score == scores for score in singly.values()), "the one-node form and the column form differ"
        return scores
    columns = {row: int(scores[row]) for row in rows}
    assert singly == columns, "the one-node form and the column form differ"
    return {table.names[row]: score for row, score in columns.items()}


def normalized(plugin: ScorePlugin, cluster: ClusterState, pod: Pod, scores: dict[str, int]) -> dict[str, int]:
    """Return scores as the plugin normalises them."""
    final = plugin.normalize_scores(CycleState(), cluster.reader.read(pod), np.array([*scores.values()], np.int64))
    assert not isinstance(final, Status), final
    return dict(zip(scores, final.tolist(), strict=True))


def hint(
    plugin: Plugin,
    cluster: ClusterState,
    pod: Pod,
    event: tuple[Resource, Action],
    old: ApiObject | None = None,
    new: ApiObject | None = None,
) -> Hint | None:
    """Return what a plugin that rejected the pod says of an event, or None if it did not register for it."""
    happened = ClusterEvent(*event)
    info = cluster.reader.read(pod)
    hints = [
        registration.hint(info, _seen(cluster, old), _seen(cluster, new)) if registration.hint else Hint.QUEUE
        for registration in plugin.events_to_register()
        if registration.event.matches(happened)
    ]
    return None if not hints else Hint.QUEUE if Hint.QUEUE in hints else Hint.QUEUE_SKIP


def _seen(cluster: ClusterState, obj: ApiObject | None) -> ApiObject | PodInfo | None:
    return cluster.reader.read(obj) if isinstance(obj, Pod) else obj
