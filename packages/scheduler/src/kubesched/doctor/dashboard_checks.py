"""Dashboards and alerts: their scheduler metrics that kubesched does not serve.

From Grafana dashboards (JSON) and Prometheus rules (YAML) to findings. Expressions are not parsed: names of metrics are
all words in them except functions, keywords and labels.
"""

import re
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

import re2

from kubesched.config.document import DocumentError, parse
from kubesched.doctor.findings import Finding, fail, ok, warn
from kubesched.serving.metrics import catalog
from kubesched.serving.metrics.families import HISTOGRAM, Metric

# limit of a file
MOST_VALUES = 1_000_000
_DOCUMENTS = re.compile(r"^---[ \t]*$", re.MULTILINE)
# fields of dashboards and rules that hold PromQL
_FIELDS = {"expr", "query", "definition"}
_TEXT = r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'|`[^`]*`'
_QUOTED = re.compile(_TEXT)
# a string, which may contain a #, or a comment
_COMMENT = re.compile(rf"({_TEXT})|#[^\n]*")
_SELECTOR = re.compile(rf"([a-zA-Z_:][a-zA-Z0-9_:]*)?\s*\{{((?:{_TEXT}|[^}}\"'`])*)\}}")
_MATCHER = re.compile(rf"([a-zA-Z_][a-zA-Z0-9_]*)\s*(=~|!~|!=|=)\s*({_TEXT})|({_TEXT})")
_LABELS = re.compile(r"\b(?:by|without|on|ignoring|group_left|group_right)\s*\([^)]*\)|\[[^\]]*\]")
_WORD = re.compile(r"(?<![$a-zA-Z0-9_:])[a-zA-Z_:][a-zA-Z0-9_:]*(?!\s*\(|[a-zA-Z0-9_:])")
_SERIES = ("", "_bucket", "_sum", "_count")
# metrics that the Python client serves beside the catalogue
_PROCESS = ["process_", "python_", "kubernetes_feature_enabled", "kubernetes_build_info"]


def check_dashboard(file: str, text: str) -> list[Finding]:
    """Return findings about the metrics of a dashboard or of rules."""
    try:
        documents = [parse(part, MOST_VALUES) for part in _DOCUMENTS.split(text) if part.strip()]
    except DocumentError as error:
        fix = "give a Grafana dashboard or Prometheus rules"
        return [fail("dashboards", f"{file}: neither JSON nor YAML: {error}", fix)]
    expressions = [each for document in documents for each in _expressions(document)]
    used = sorted({name for each in expressions for name in scheduler_metrics(each)})
    if not used:
        return [ok("dashboards", f"{file}: has no scheduler metrics")]
    missing = [name for name in used if not is_served(name)]
    if not missing:
        return [ok("dashboards", f"{file}: kubesched serves all of its scheduler metrics ({len(used)})")]
    fix = "see docs/reference/metrics.md for the metrics that are served"
    return [warn("dashboards", f"{file}: kubesched does not serve {_shown(name)}", fix) for name in missing]


def _shown(name: str) -> str:
    return f"anything that matches {name[1:]}" if name.startswith("~") else name


def _expressions(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, each in value.items():
            if key in _FIELDS and isinstance(each, str):
                yield each
            elif key == "data" and value.get("kind") == "ConfigMap":
                yield from _in_config_map(each)
            else:
                yield from _expressions(each)
    elif isinstance(value, list):
        for each in value:
            yield from _expressions(each)


def _in_config_map(data: Any) -> Iterator[str]:
    """Yield the expressions of the files in a ConfigMap, where sidecars of Grafana and Prometheus read them."""
    for text in data.values() if isinstance(data, dict) else ():
        with suppress(DocumentError):
            yield from _expressions(parse(str(text), MOST_VALUES))


def scheduler_metrics(expression: str) -> set[str]:
    """Return the scheduler metrics in an expression, recognised by their name or by a label.

    A regular expression for names begins with a tilde.
    """
    plain = _COMMENT.sub(lambda found: found[1] or " ", expression)
    names: set[str] = set()
    for name, labels in _SELECTOR.findall(plain):
        names |= _selected(name, labels)
    rest = _LABELS.sub(" ", _QUOTED.sub(" ", _SELECTOR.sub(" ", plain)))
    return names | {word for word in _WORD.findall(rest) if word.startswith("scheduler_")}


def _selected(name: str, labels: str) -> set[str]:
    """Return the metric names of a selector: `name{labels}`, or `{__name__="name"}`."""
    names, of_scheduler = {name} if name else set[str](), False
    for label, operator, value, alone in _MATCHER.findall(labels):
        text = (alone or value)[1:-1]
        if alone or (label, operator) == ("__name__", "="):
            names.add(text)
        elif (label, operator) == ("__name__", "=~"):
            names.add(f"~{text}")
        elif label != "__name__" and operator in ("=", "=~"):
            of_scheduler |= "scheduler" in text
    sure = {each for each in names if each.startswith("scheduler_") or (each.startswith("~") and "scheduler_" in each)}
    return sure | {each for each in names if of_scheduler and "_" in each}


def is_served(name: str) -> bool:
    """Return whether /metrics of kubesched has a series; after a tilde, whether one matches a regular expression."""
    if name.startswith("~"):
        try:
            return any(map(re2.compile(name[1:]).fullmatch, _served()))
        except re2.error:
            return False
    return name in _served() or name.startswith(tuple(_PROCESS))


def _served() -> set[str]:
    metrics = [each for each in vars(catalog).values() if isinstance(each, Metric)]
    names = {metric.name for metric in metrics}
    return names | {f"{metric.name}{end}" for metric in metrics if metric.kind == HISTOGRAM for end in _SERIES}
