"""The time that a plugin takes for a pod in a cluster of 5000 nodes.

From a plugin to milliseconds; as information, since machines differ, with a warning if a form is slower than it
should be.
"""

import time

from kubesched.core.framework.calling.forms import filter_each, score_each
from kubesched.testing.builders import a_node, a_pod
from kubesched.testing.plugin_checks.checked_plugin import CheckedPlugin
from kubesched.testing.plugin_checks.plugin_answers import answers_of
from kubesched.testing.plugin_checks.plugin_report import CheckResult, Outcome

NODES = 5000
PODS = 5
TITLE = f"speed at {NODES} nodes"
ROW_MILLISECONDS = 6.0
COLUMN_MILLISECONDS = 0.2


def speed_result(plugin: CheckedPlugin, nodes: int = NODES) -> CheckResult:
    """Return the milliseconds that the plugin takes for a pod, the minimum of several runs."""
    zones = ("a", "b", "c")
    engine = plugin.engine()
    for number in range(nodes):
        engine.cluster.add(a_node(f"n{number}", zone=zones[number % len(zones)]))
    answers_of(engine, a_pod("first"))
    least = float("inf")
    for number in range(PODS):
        info = engine.cluster.reader.read(a_pod(f"p{number}", labels={"number": str(number)}))
        began = time.perf_counter()
        evaluation = engine.evaluation_of(info)
        if evaluation.pre_filtered.rejection is None:
            feasible = evaluation.feasible()
            if feasible.count:
                evaluation.score(feasible)
        least = min(least, time.perf_counter() - began)
    milliseconds = least * 1000
    row_form = is_row_form(plugin)
    most = ROW_MILLISECONDS if row_form else COLUMN_MILLISECONDS
    form = "one node at a time" if row_form else "columns"
    note = f"{milliseconds:.2f} ms a pod, {form}"
    if milliseconds <= most:
        return CheckResult(TITLE, Outcome.PASSED, note=note)
    advice = "write filter_nodes or score_nodes over columns" if row_form else "leave loops over nodes to NumPy"
    return CheckResult(
        TITLE, Outcome.WARNED, (f"more than {most:g} ms a pod: {advice}, or define key and reads",), note
    )


def is_row_form(plugin: CheckedPlugin) -> bool:
    """Return whether a hook of the plugin is called for each node separately."""
    kind = plugin.kind
    return getattr(kind, "filter_nodes", None) is filter_each or getattr(kind, "score_nodes", None) is score_each
