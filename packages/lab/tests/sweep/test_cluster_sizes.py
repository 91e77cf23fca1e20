"""Clusters of other sizes: copies of nodes, nodes that are left out, counts of pools."""

from collections.abc import Iterator
from typing import Any

import pytest

from kubesched.testing import a_node, a_pod
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace, TraceEvent
from kubesched_lab.sweep.cluster_sizes import resized_trace, resized_workload
from kubesched_lab.sweep.errors import SweepError

POOLS = {"kind": "Workload", "nodes": [{"name": "large", "count": 3}, {"name": "small", "count": 10, "cpu": 2}]}


@pytest.mark.parametrize(
    ("size", "counts"),
    [
        (1, [3, 10]),
        (2, [6, 20]),
        (0.5, [2, 5]),
        (0.15, [1, 2]),
        (0.01, [1, 1]),
        ({"large": 7}, [7, 10]),
        ({"small": 1, "large": 2}, [2, 1]),
    ],
)
def test_counts_of_pools_are_scaled_or_set(size: Any, counts: list[int]) -> None:
    found = resized_workload(POOLS, size)
    assert [pool["count"] for pool in found["nodes"]] == counts
    assert found["nodes"][1]["cpu"] == 2


def test_a_pool_that_there_is_none_of_is_told() -> None:
    with pytest.raises(SweepError, match="nodes: there is no pool named medium; the pools are large, small"):
        resized_workload(POOLS, {"medium": 1})


def a_trace(nodes: int) -> Trace:
    def events(seed: int) -> Iterator[TraceEvent]:
        for number in range(nodes):
            yield ObjectPut(0.0, a_node(f"n{number}", cpu="4"))
        for number in range(nodes):
            yield PodArrival(1.0, a_pod(f"p{number}", node=f"n{number}"))
        yield ObjectPut(2.0, a_node("n0", cpu="8"))
        yield ObjectDeletion(3.0, "Node", "n0")

    return Trace("t", events)


def names(trace: Trace, at: float) -> list[str]:
    events = trace.events(0)
    return [event.obj.name for event in events if isinstance(event, ObjectPut) and event.at == at]


@pytest.mark.parametrize(
    ("factor", "there"),
    [
        (1, ["n0", "n1", "n2", "n3"]),
        (2, ["n0", "n0-copy-1", "n1", "n1-copy-1", "n2", "n2-copy-1", "n3", "n3-copy-1"]),
        (1.5, ["n0", "n0-copy-1", "n1", "n2", "n2-copy-1", "n3"]),
        (0.5, ["n0", "n2"]),
        (0.75, ["n0", "n1", "n2"]),
        (0.01, ["n0"]),
    ],
)
def test_nodes_are_copied_or_left_out_evenly(factor: float, there: list[str]) -> None:
    assert names(resized_trace(a_trace(4), factor), 0.0) == there


def test_copies_change_and_go_with_their_nodes() -> None:
    trace = resized_trace(a_trace(1), 2)
    assert names(trace, 2.0) == ["n0", "n0-copy-1"]
    assert [event.full_name for event in trace.events(0) if isinstance(event, ObjectDeletion)] == ["n0", "n0-copy-1"]
    [first, copy] = [event.obj for event in trace.events(0) if isinstance(event, ObjectPut) and event.at == 0]
    assert copy.metadata.labels["kubernetes.io/hostname"] == "n0-copy-1"
    assert first.metadata.labels.get("kubernetes.io/hostname") != "n0-copy-1"


def test_pods_of_nodes_that_are_left_out_arrive_without_a_node() -> None:
    arrivals = [event.pod for event in resized_trace(a_trace(4), 0.5).events(0) if isinstance(event, PodArrival)]
    assert [pod.spec.node_name for pod in arrivals] == ["n0", "", "n2", ""]
