"""The check of what-if worlds: a pod added or removed in a world gives the same verdict as in a real cluster.

From an example to findings, in lines, or None. Preemption and nominated pods use worlds.
"""

from collections.abc import Iterable, Iterator

import msgspec
import numpy as np

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.testing.plugin_checks.answer_checks import Found, findings_text
from kubesched.testing.plugin_checks.checked_plugin import CheckedPlugin
from kubesched.testing.plugin_checks.cluster_example import ClusterExample, described
from kubesched.testing.plugin_checks.plugin_answers import answers_in, answers_of, status_text


def filters(plugin: CheckedPlugin) -> bool:
    """Return whether a plugin judges nodes."""
    return "filter" in plugin.points


def worlds_agree(plugin: CheckedPlugin, example: ClusterExample) -> Found:
    """Check that a pod added or removed in a world counts like one added to or removed from the cluster."""
    engine = plugin.engine(example.objects)
    evaluation = engine.evaluation_of(engine.cluster.reader.read(example.asked[0]))
    answers = answers_in(evaluation)
    if answers.failure or answers.pre_filter:
        return None
    lines = [*_removed(plugin, example, evaluation), *_added(plugin, example, evaluation)]
    return findings_text(example, lines)


def _removed(plugin: CheckedPlugin, example: ClusterExample, evaluation: Evaluation) -> Iterator[str]:
    for pod in [each for each in example.objects if isinstance(each, Pod)]:
        info = evaluation.table.pods.get(pod.uid)
        if info is not None:
            left = [obj for obj in example.objects if obj is not pod]
            found = _in_world(evaluation, info, pod.spec.node_name, -1)
            yield from _difference(plugin, example, left, pod.spec.node_name, found, f"without pod {pod.name}")


def _added(plugin: CheckedPlugin, example: ClusterExample, evaluation: Evaluation) -> Iterator[str]:
    cluster = evaluation.cluster
    other = cluster.reader.read(example.asked[-1])
    for row in evaluation.table.present_rows().tolist():
        node = evaluation.table.names[row]
        with cluster.holding([other]):
            found = _in_world(evaluation, other, node, 1)
        spec = msgspec.structs.replace(other.pod.spec, node_name=node)
        placed = msgspec.structs.replace(other.pod, spec=spec)
        there = [*example.objects, placed]
        yield from _difference(plugin, example, there, node, found, f"with {described(placed)}")


def _in_world(evaluation: Evaluation, pod: PodInfo, node: str, sign: int) -> str:
    """Return the verdict about a node in a world with (or without) a pod."""
    worlds = evaluation.what_if(np.array([evaluation.table.row_of[node]], np.intp))
    worlds.change(np.array([0], np.intp), np.array([pod.slot], np.intp), sign)
    return status_text(evaluation.statuses[int(worlds.judge()[0])])


def _difference(
    plugin: CheckedPlugin, example: ClusterExample, objects: Iterable[ApiObject], node: str, found: str, what: str
) -> Iterator[str]:
    real = answers_of(plugin.engine(objects), example.asked[0])
    if real.failure or real.pre_filter or node not in real.verdicts:
        return
    if real.verdicts[node] != found:
        yield f"node {node} {what}: in the cluster: {real.verdicts[node]}; in a what-if world: {found}"
