"""Load metrics of nodes in the formats of load-watcher, the Kubernetes metrics API and Prometheus.

In: decoded JSON. Out: `NodeLoads`. An invalid document raises ValueError with the expected form; a single invalid
value is left out.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any, TypeAlias

from kubesched import InvalidObjectError, resource_amounts

CPU = "cpu"
MEMORY = "memory"
# (resource, statistic) -> node -> value
Measured: TypeAlias = dict[tuple[str, str], dict[str, float]]
AVERAGE = "AVG"
DEVIATION = "STD"
# statistics that replace a missing average
LATEST = ("LATEST", "")


@dataclass
class NodeLoads:
    """Measurements of nodes, in percent of their capacity, or in milli-CPU and bytes if it is `absolute`.

    `window_end` is a Unix time: later events are not in the values.
    """

    window_end: float
    absolute: bool = False
    values: Measured = field(default_factory=dict)

    def put(self, resource: str, statistic: str, node: str, value: float) -> None:
        """Add a value."""
        self.values.setdefault((resource, statistic), {})[node] = value

    def of(self, resource: str, statistic: str) -> dict[str, float]:
        """Return the values of a resource by node."""
        return self.values.get((resource, statistic), {})


def from_load_watcher(document: Any) -> NodeLoads:
    """Return the loads in load-watcher's response to `GET /watcher`."""
    nodes = _mapping(_mapping(document, "an object").get("data"), "nodes in `data`")
    # load-watcher as a library nests the nodes in another object
    nodes = _mapping(nodes.get("NodeMetricsMap", nodes), "nodes in `data`")
    window = document.get("window")
    end = _number(window.get("end")) if isinstance(window, dict) else None
    if end is None:
        raise ValueError("expected the time of the metrics as a number in `window.end`")
    loads = NodeLoads(end)
    latest: Measured = {}
    for node, measured in nodes.items():
        metrics = measured.get("metrics") if isinstance(measured, dict) else None
        for metric in metrics if isinstance(metrics, list) else ():
            if isinstance(metric, dict):
                key, value = _statistic(metric), _number(metric.get("value"))
                if key is not None and value is not None and value >= 0:
                    (latest if key[1] in LATEST else loads.values).setdefault(key, {})[node] = value
    for (resource, _), values in latest.items():
        loads.values[resource, AVERAGE] = {**values, **loads.of(resource, AVERAGE)}
    return loads


def _statistic(metric: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return resource and statistic of a metric, None for other metrics."""
    # the statistic was called rollup before load-watcher had operators
    resource, statistic = metric.get("type"), metric.get("operator") or metric.get("rollup") or ""
    return _known(resource, statistic) if isinstance(resource, str) and isinstance(statistic, str) else None


@lru_cache(maxsize=256)
def _known(resource: str, statistic: str) -> tuple[str, str] | None:
    key = resource.lower(), statistic.upper()
    return key if key[0] in (CPU, MEMORY) and key[1] in (AVERAGE, DEVIATION, *LATEST) else None


def from_metrics_api(document: Any) -> NodeLoads:
    """Return the loads in a NodeMetricsList."""
    items = _mapping(document, "a NodeMetricsList").get("items")
    if not isinstance(items, list):
        raise ValueError("expected a NodeMetricsList with `items`")
    loads = NodeLoads(0.0, absolute=True)
    for item in items:
        try:
            name, usage = item["metadata"]["name"], resource_amounts(item["usage"])
            ended = datetime.fromisoformat(item["timestamp"]).timestamp()
        except (KeyError, TypeError, ValueError, InvalidObjectError):
            continue
        loads.window_end = max(loads.window_end, ended)
        for resource in (CPU, MEMORY):
            if usage.get(resource, -1) >= 0:
                loads.put(resource, AVERAGE, str(name), float(usage[resource]))
    return loads


def add_from_prometheus(loads: NodeLoads, resource: str, statistic: str, document: Any) -> None:
    """Add the loads in Prometheus' response to an instant query; the label `instance` is the node's name."""
    data = _mapping(document, "an object").get("data")
    result = data.get("result") if isinstance(data, dict) else None
    if not isinstance(result, list) or document["data"].get("resultType") != "vector":
        raise ValueError("expected a vector in `data.result`")
    for sample in result:
        try:
            instance, (time, ratio) = sample["metric"]["instance"], sample["value"]
            time, value = float(time), 100 * float(ratio)
        except (KeyError, TypeError, ValueError):
            continue
        if math.isfinite(value) and value >= 0:
            loads.window_end = max(loads.window_end, time)
            loads.put(resource, statistic, str(instance), value)


def _mapping(value: Any, what: str) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"expected {what}")
    return value


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
