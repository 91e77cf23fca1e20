"""Checks of the answers of filters and scores: each compares two ways to the same answer.

From an example to findings, in lines, or None. A check ignores failing hooks: `valid_answers` reports those.
"""

from collections.abc import Iterable, Sequence
from itertools import islice

import msgspec
import numpy as np

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluation import Evaluation
from kubesched.core.framework.calling.answers import checked_sort_key
from kubesched.core.framework.calling.forms import filter_alone, filter_each, score_alone, score_each
from kubesched.core.framework.calling.hooks import ask, filter_node, filter_nodes, score_node, score_nodes
from kubesched.core.framework.plugin import FilterPlugin, QuestionFilterPlugin, QuestionScorePlugin, ScorePlugin
from kubesched.core.framework.values.status import Status
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.scheduling.engine import Engine
from kubesched.testing.plugin_checks.attempt_hooks import attempt_problems, plugin_in
from kubesched.testing.plugin_checks.checked_plugin import CheckedPlugin, Seen
from kubesched.testing.plugin_checks.cluster_example import ClusterExample, ExampleChange, difference
from kubesched.testing.plugin_checks.plugin_answers import answers_in, answers_of, status_text

MOST_DIFFERENCES = 3
Found = list[str] | None


def findings_text(
    example: ClusterExample, lines: Iterable[str], changes: Sequence[ExampleChange] = (), asked: int = 1
) -> Found:
    """Return the example and some lines of the findings in words; None without findings."""
    found = list(islice(lines, MOST_DIFFERENCES))
    return [*example.words(changes, asked), *found] if found else None


def valid_answers(plugin: CheckedPlugin, example: ClusterExample) -> Found:
    """Check that no hook raises, or returns an invalid value such as a score out of range."""
    answers = answers_of(plugin.engine(example.objects), example.asked[0])
    plugin.tally[Seen.REJECTED] += answers.rejects
    plugin.tally[Seen.SCORES_DIFFER] += len(set(answers.scores.values())) > 1
    return findings_text(example, [answers.failure] if answers.failure else [])


def asked_twice(plugin: CheckedPlugin, example: ClusterExample) -> Found:
    """Check that the same question has the same answer, from the same plugin and from a new one."""
    pod = example.asked[0]
    engine = plugin.engine(example.objects)
    first = answers_of(engine, pod)
    if first.failure:
        return None
    for found_by, other in (("asked again", engine), ("a new plugin", plugin.engine(example.objects))):
        lines = list(first.differences(answers_of(other, pod), "asked first", found_by))
        if lines:
            return findings_text(example, lines)
    return None


def inputs_unchanged(plugin: CheckedPlugin, example: ClusterExample) -> Found:
    """Check that no hook changes the pod or the objects of the cluster."""
    engine = plugin.engine(example.objects)
    pod = engine.cluster.reader.read(msgspec.convert(to_builtins(example.asked[0]), Pod))
    before = {id(obj): (obj, to_builtins(obj)) for obj in _objects_of(engine, pod)}
    answers_in(engine.evaluation_of(pod))
    for _ in attempt_problems(plugin, engine, pod.pod):
        # wrong answers are the subject of another check
        pass
    if "queueSort" in plugin.points:
        ask(plugin_in(engine, plugin.name), "sort_key", checked_sort_key, pod, 1.0)
    return findings_text(
        example,
        (
            f"the plugin changed {type(obj).__name__.lower()} {obj.metadata.name}: {difference(was, to_builtins(obj))}"
            for obj, was in before.values()
            if to_builtins(obj) != was
        ),
    )


def _objects_of(engine: Engine, pod: PodInfo) -> Iterable[ApiObject]:
    yield pod.pod
    yield from (node for node in engine.cluster.table.nodes if node is not None)
    yield from (each.pod for each in engine.cluster.table.pods.values())


def kept_equals_fresh(plugin: CheckedPlugin, example: ClusterExample) -> Found:
    """Check that an engine with a history answers like a new one, about pods of one key or of several."""
    kept = plugin.engine(example.objects)
    for pod in example.asked:
        answers_of(kept, pod)
    for changes, objects in ((list[ExampleChange](), list(example.objects)), *example.states()):
        if changes:
            _apply(kept, changes[-1])
        for pod in example.asked:
            expected = answers_of(plugin.engine(objects), pod)
            found = answers_of(kept, pod)
            lines = [f"pod {pod.name}: {line}" for line in expected.differences(found, "a new plugin", "one that kept")]
            if lines and not expected.failure:
                return findings_text(example, lines, changes, asked=2)
    return None


def _apply(engine: Engine, change: ExampleChange) -> None:
    if change.new is None:
        assert change.old is not None
        engine.cluster.remove(change.old)
    else:
        engine.cluster.add(change.new)


# -- forms


def has_forms(plugin: CheckedPlugin) -> bool:
    """Return whether a plugin has forms that could disagree."""
    kind = plugin.kind
    filters = issubclass(kind, FilterPlugin) and not issubclass(kind, QuestionFilterPlugin)
    return filters or (issubclass(kind, ScorePlugin) and not issubclass(kind, QuestionScorePlugin))


def forms_agree(plugin: CheckedPlugin, example: ClusterExample) -> Found:
    """Check that a node gets the same answer alone and with more nodes, from the form for one node and the one for
    many.
    """
    engine = plugin.engine(example.objects)
    evaluation = engine.evaluation_of(engine.cluster.reader.read(example.asked[0]))
    answers = answers_in(evaluation)
    built = next(iter(engine.profiles.values())).plugins[plugin.name]
    if answers.failure or answers.pre_filter:
        return None
    if isinstance(built, FilterPlugin) and not isinstance(built, QuestionFilterPlugin):
        found = findings_text(example, _filter_differences(built, evaluation))
        if found:
            return found
    if isinstance(built, ScorePlugin) and not isinstance(built, QuestionScorePlugin):
        return findings_text(example, _score_differences(built, evaluation))
    return None


def _filter_differences(plugin: FilterPlugin, evaluation: Evaluation) -> Iterable[str]:
    question = next((each for each in evaluation.pod_class.filters if each.plugin is plugin), None)
    cycle, table, pod = getattr(question, "cycle", evaluation.cycle), evaluation.table, evaluation.pod
    if question is None or question.skip:
        return
    one, many = _names_of_forms(plugin, "filter", filter_alone, filter_each)
    verdict = filter_nodes(plugin, cycle, pod, Nodes.all_of(table))
    for place, row in enumerate(table.present_rows().tolist()):
        among = verdict.statuses[int(verdict.which[place])]
        alone = filter_node(plugin, cycle, pod, NodeRow(table, row))
        if status_text(among) != status_text(alone):
            yield f"node {table.names[row]}: {many}: {status_text(among)}; {one}: {status_text(alone)}"


def _score_differences(plugin: ScorePlugin, evaluation: Evaluation) -> Iterable[str]:
    question = next((each for each, _ in evaluation.pod_class.scores if each.plugin is plugin), None)
    cycle, table, pod = getattr(question, "cycle", evaluation.cycle), evaluation.table, evaluation.pod
    if question is None or question.skip:
        return
    rows = np.flatnonzero(evaluation.feasible().mask)
    if not len(rows):
        return
    one, many = _names_of_forms(plugin, "score", score_alone, score_each)
    scores = score_nodes(plugin, cycle, pod, Nodes(table, rows))
    if isinstance(scores, Status):
        return
    for place, row in enumerate(rows.tolist()):
        alone = score_node(plugin, cycle, pod, NodeRow(table, row))
        if alone != int(scores[place]):
            yield f"node {table.names[row]}: {many}: score {int(scores[place])}; {one}: score {alone}"


def _names_of_forms(plugin: object, hook: str, alone: object, each: object) -> tuple[str, str]:
    """Return names for the two forms: if one is derived, both are the same form, called for one node or for all."""
    kind = type(plugin)
    if getattr(kind, hook, None) is alone:
        return f"{hook}_nodes of this node alone", f"{hook}_nodes of all nodes"
    if getattr(kind, f"{hook}_nodes", None) is each:
        return f"{hook} asked alone", f"{hook} asked node after node"
    return hook, f"{hook}_nodes"
