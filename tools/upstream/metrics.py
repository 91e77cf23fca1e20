"""The scheduler's metrics: names, types, labels, buckets, stability."""

from typing import Any

import yaml

from kubesched.serving.metrics import catalog
from kubesched.serving.metrics.families import Metric
from tools.upstream.report import Section, differences
from tools.upstream.sources import Source

LISTS = (
    "test/instrumentation/documentation/documentation-list.yaml",
    "hack/tools/instrumentation/documentation/documentation-list.yaml",
)
COMPONENT = "kube-scheduler"
_OWN = "kubesched_"
_TYPES = {"GaugeVec": "gauge", "CounterVec": "counter", "HistogramVec": "histogram", "Custom": "gauge"}


def compare(source: Source) -> Section:
    """Compare the metrics that upstream documents for kube-scheduler."""
    documented = {each["full name"]: each for each in map(_documented, yaml.safe_load(source.first(*LISTS)))}
    ours = {name: facts for name, facts in _ours().items() if not name.startswith(_OWN)}
    theirs = {
        name: each["facts"] for name, each in documented.items() if name in ours or COMPONENT in each["components"]
    }
    # what is read from the process or from Go's runtime is not in the list
    ours = {name: facts for name, facts in ours.items() if name in documented}
    return Section("metrics", len(ours), list(differences(ours, theirs)))


def _documented(entry: dict[str, Any]) -> dict[str, Any]:
    name = "_".join(part for part in (entry.get("namespace"), entry.get("subsystem"), entry["name"]) if part)
    kind = entry["type"]
    return {
        "full name": name,
        "components": {each["component"] for each in entry.get("componentEndpoints", ())},
        "facts": {
            "type": _TYPES.get(kind, kind.lower()),
            "labels": sorted({*entry.get("labels", ()), *entry.get("constLabels", ())}),
            "buckets": [float(f"{float(bound):.6g}") for bound in entry.get("buckets", ())],
            "stability": entry["stabilityLevel"],
        },
    }


def _ours() -> dict[str, dict[str, Any]]:
    metrics = [each for each in vars(catalog).values() if isinstance(each, Metric)]
    return {
        each.name: {
            "type": each.kind,
            "labels": sorted(each.labels),
            "buckets": [float(f"{bound:.6g}") for bound in each.buckets],
            "stability": each.stability,
        }
        for each in metrics
    }
