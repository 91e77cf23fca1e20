"""Clusters of other sizes.

From a Workload and a size to a Workload with other counts of nodes; from another trace and a factor to a trace in which
nodes are copied or left out: factor 2 copies each node, and factor 0.5 removes every other one. Pods that ran on
removed nodes arrive without a node.
"""

from collections.abc import Iterator, Mapping
from fractions import Fraction
from math import ceil
from typing import Any

import msgspec

from kubesched.api.nodes import Node
from kubesched_lab.simulate.traces.admission import renamed
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace, TraceEvent
from kubesched_lab.sweep.errors import SweepError

replace = msgspec.structs.replace


def resized_workload(document: Mapping[str, Any], size: float | Mapping[str, int]) -> dict[str, Any]:
    """Return a Workload with other counts of nodes, at least one a pool; raises SweepError."""
    given = document.get("nodes")
    pools = [each for each in given if isinstance(each, Mapping)] if isinstance(given, list) else []
    if isinstance(size, Mapping):
        names = [pool.get("name") for pool in pools]
        for name in size:
            if name not in names:
                there = ", ".join(map(str, names)) or "none"
                raise SweepError(f"nodes: there is no pool named {name}; the pools are {there}")
        return {
            **document,
            "nodes": [{**pool, "count": size.get(str(pool.get("name")), pool.get("count"))} for pool in pools],
        }
    return {**document, "nodes": [{**pool, "count": _scaled(pool.get("count"), size)} for pool in pools]}


def _scaled(count: Any, factor: float) -> Any:
    # the reader of the Workload reports values that are not numbers
    return max(1, int(count * Fraction(str(factor)) + Fraction(1, 2))) if isinstance(count, int) else count


def resized_trace(trace: Trace, factor: float) -> Trace:
    """Return a trace with copies of nodes, or with fewer nodes; the first node always stays."""
    exact = Fraction(str(factor))

    def events(seed: int) -> Iterator[TraceEvent]:
        copies: dict[str, list[str]] = {}
        for event in trace.events(seed):
            if isinstance(event, ObjectPut) and isinstance(event.obj, Node):
                name, number = event.obj.name, len(copies)
                if name not in copies:
                    count = ceil((number + 1) * exact) - ceil(number * exact)
                    copies[name] = [f"{name}-copy-{i}" if i else name for i in range(count)]
                for each in copies[name]:
                    yield event if each == name else ObjectPut(event.at, renamed(event.obj, each))
            elif isinstance(event, ObjectDeletion) and event.kind == "Node":
                for each in copies.get(event.full_name, [event.full_name]):
                    yield ObjectDeletion(event.at, "Node", each)
            elif isinstance(event, PodArrival) and copies.get(event.pod.spec.node_name) == []:
                yield replace(event, pod=replace(event.pod, spec=replace(event.pod.spec, node_name="")))
            else:
                yield event

    return replace(trace, events=events)
