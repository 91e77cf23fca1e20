"""Dashboards and alerts: the metrics of the scheduler in them that kubesched does not serve.

From Grafana dashboards (JSON) and Prometheus rules (YAML) to findings. Expressions are not parsed: names of metrics
are the words in them that are no functions, keywords or labels.
"""

import re
from collections.abc import Iterator
from typing import Any

from kubesched.config.document import DocumentError, parse
from kubesched.doctor.findings import Finding, fail, ok, warn
from kubesched.serving.metrics import catalog
from kubesched.serving.metrics.families import HISTOGRAM, Metric

# of a file
MOST_VALUES = 1_000_000
_DOCUMENTS = re.compile(r"^---[ \t]*$", re.MULTILINE)
# fields of dashboards and rules that hold PromQL
_FIELDS = {"expr", "query", "definition"}
_QUOTED = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`[^`]*`')
_LABELS = re.compile(r"\{[^}]*\}|\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)|\[[^\]]*\]")
_WORD = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*(?!\s*\(|[a-zA-Z0-9_:])")
_OF_SCHEDULERS = re.compile(r'"[^"]*scheduler[^"]*"')
_SERIES = ("", "_bucket", "_sum", "_count")
# what the Python client serves beside the catalogue
_PROCESS = ["process_", "python_", "kubernetes_feature_enabled", "kubernetes_build_info"]


def check_dashboard(file: str, text: str) -> list[Finding]:
    """Return which metrics of a dashboard or of rules are not served."""
    try:
        documents = [parse(part, MOST_VALUES) for part in _DOCUMENTS.split(text) if part.strip()]
    except DocumentError as error:
        fix = "give a Grafana dashboard or Prometheus rules"
        return [fail("dashboards", f"{file}: no JSON and no YAML: {error}", fix)]
    expressions = [each for document in documents for each in _expressions(document)]
    used = sorted({name for each in expressions for name in scheduler_metrics(each)})
    if not used:
        return [ok("dashboards", f"{file}: no metrics of the scheduler in it")]
    missing = [name for name in used if not is_served(name)]
    if not missing:
        return [ok("dashboards", f"{file}: all {len(used)} metrics of the scheduler in it are served")]
    fix = "see docs/reference/metrics.md for what is served instead"
    return [warn("dashboards", f"{file}: kubesched does not serve {name}", fix) for name in missing]


def _expressions(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            if key in _FIELDS and isinstance(each, str):
                yield each
            else:
                yield from _expressions(each)
    elif isinstance(value, list):
        for each in value:
            yield from _expressions(each)


def scheduler_metrics(expression: str) -> set[str]:
    """Return the metrics in an expression that a scheduler is asked for: by their name, or by a label that says so."""
    of_schedulers = _OF_SCHEDULERS.search(expression) is not None
    words = _WORD.findall(_LABELS.sub(" ", _QUOTED.sub(" ", expression)))
    return {word for word in words if word.startswith("scheduler_") or (of_schedulers and "_" in word)}


def is_served(name: str) -> bool:
    """Return whether /metrics of kubesched has a series."""
    return name in _served() or name.startswith(tuple(_PROCESS))


def _served() -> set[str]:
    metrics = [each for each in vars(catalog).values() if isinstance(each, Metric)]
    names = {metric.name for metric in metrics}
    return names | {f"{metric.name}{end}" for metric in metrics if metric.kind == HISTOGRAM for end in _SERIES}
