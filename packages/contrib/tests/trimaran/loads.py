"""Load metrics as load-watcher writes them."""

from typing import Any

WATCHER = "http://load-watcher:2020"


def a_metric(resource: str, value: Any, operator: str = "AVG") -> dict[str, Any]:
    """Return a metric of a node."""
    return {"name": "m", "type": resource, "operator": operator, "rollup": "15m", "value": value}


def watched(end: float = 1000, /, **nodes: Any) -> dict[str, Any]:
    """Return an answer of load-watcher with the metrics of nodes."""
    window = {"duration": "15m", "start": end - 900, "end": end}
    data = {node: {"metrics": metrics} for node, metrics in nodes.items()}
    return {"timestamp": end, "window": window, "source": "test", "data": data}
