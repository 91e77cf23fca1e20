"""The page of metrics: each with its kind, labels and stability.

From the catalog of `serving` to Markdown.
"""

from collections.abc import Iterator

from kubesched.serving.metrics import catalog
from kubesched.serving.metrics.families import HISTOGRAM, Metric
from tools.reference.cells import cell

INTRODUCTION = """\
# Metrics

What `/metrics`, `/metrics/resources` and `/metrics/slis` of `kubesched run` serve: kube-scheduler's metrics under their
names, with their labels and buckets. Those that begin with `kubesched_` are our own. Plugins add theirs. This page is
written by `make docs`.

| metric | kind | labels | stability | what it is |
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
