"""The page of metrics: each with its kind, labels and stability.

From the catalog of `serving` to Markdown.
"""

from collections.abc import Iterator

from kubesched.serving.metrics import catalog
from kubesched.serving.metrics.families import HISTOGRAM, Metric
from tools.reference.cells import cell

INTRODUCTION = """\
# Metrics

This page lists the metrics that `kubesched run` serves on `/metrics`, `/metrics/resources` and `/metrics/slis`. They
have the names, labels and buckets of kube-scheduler's metrics. Only kubesched has the metrics that begin with
`kubesched_`. Plugins add theirs. [Metrics and alerts](../guides/operator/alerts.md) describes how to scrape them. This
page is written by `make docs`.

| metric | kind | labels | stability | meaning |
|---|---|---|---|---|
"""


def page() -> str:
    """Return the page."""
    return INTRODUCTION + "".join(_row(metric) for metric in _metrics())


def _metrics() -> Iterator[Metric]:
    return iter(
        sorted((each for each in vars(catalog).values() if isinstance(each, Metric)), key=lambda each: each.name)
    )


def _row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels)
    buckets = f" Buckets: {metric.buckets[0]:g} to {metric.buckets[-1]:g}." if metric.kind == HISTOGRAM else ""
    text = cell(metric.help.rstrip(".") + "." + buckets)
    return f"| `{metric.name}` | {metric.kind} | {labels} | {metric.stability} | {text} |\n"
