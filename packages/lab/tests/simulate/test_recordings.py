"""Recordings, simulated: run times, ends, changes, and pods that are not created again."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched_lab.simulate.measuring.pod_log import PodLog
from kubesched_lab.simulate.simulated_api import Pace
from kubesched_lab.simulate.simulation import Run, simulate
from kubesched_lab.simulate.traces.recording.run_times import Durations
from kubesched_lab.simulate.traces.trace import PodArrival, at_speed
from kubesched_lab.simulate.traces.trace_file import trace_of_file
from kubesched_lab.simulate.traces.trace_writing import write_trace

Document = dict[str, Any]
HEADER = {"recording": {"version": 1, "began": "2026-01-01T00:00:00Z"}}


def a_node(name: str, at: float = 0, cpu: str = "2") -> Document:
    status = {"capacity": {"cpu": cpu, "pods": "10"}, "allocatable": {"cpu": cpu, "pods": "10"}}
    meta = {"name": name, "uid": name}
    return {"at": at, "object": {"apiVersion": "v1", "kind": "Node", "metadata": meta, "status": status}}


def a_pod(name: str, at: float, field: str = "object", uid: str = "", cpu: str = "2", **spec: Any) -> Document:
    meta = {"name": name, "namespace": "default", "uid": uid or name}
    container = {"name": "main", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    spec = {"containers": [container], "schedulerName": "default-scheduler", **spec}
    document = {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}
    return {"at": at, field: document}


def lives(
    tmp_path: Path, *lines: Document, durations: Durations = Durations.COMPLETED, speed: float = 1, **options: Any
) -> list[tuple[Any, ...]]:
    """Return name, node, binding, end and fate of each pod of a recording."""
    path = tmp_path / "recording.jsonl"
    path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in (HEADER, *lines)))
    log = PodLog()
    trace = at_speed(trace_of_file(path, durations), speed)
    simulate(Run(trace, load_config(), Registry(), **options), pod_log=log)
    return [(each.name, each.node, each.bound, each.left, each.end) for each in log.records]


# one node for two pods: the second waits for the first, where it did not when it was recorded
QUEUE = (
    a_node("n"),
    a_pod("first", 10),
    {"at": 10.5, "bound": "default/first", "node": "elsewhere"},
    a_pod("second", 20),
    {"at": 20.5, "bound": "default/second", "node": "elsewhere"},
    {"at": 110.5, "ended": "default/first", "ran": 100},
    {"at": 120.5, "delete": "Pod/default/second", "ran": 100},
    a_node("other", 500),
)


@pytest.mark.parametrize(
    ("durations", "first", "second"),
    [
        # the second one is deleted when it was, ten seconds after it has found its place
        (Durations.COMPLETED, (10, 110), (110, 120.5)),
        (Durations.ALL, (10, 110), (110, 210)),
        (Durations.NONE, (10, 110.5), (110.5, 120.5)),
    ],
)
def test_pods_end_as_they_did(
    tmp_path: Path, durations: Durations, first: tuple[float, float], second: tuple[float, float]
) -> None:
    assert lives(tmp_path, *QUEUE, durations=durations) == [
        ("first", "n", *first, "ended"),
        ("second", "n", *second, "ended"),
    ]


def test_a_recording_may_be_replayed_faster(tmp_path: Path) -> None:
    # arrivals and deletions come twice as fast, pods run as long as they did
    assert lives(tmp_path, *QUEUE, speed=2) == [
        ("second", "", None, 60.25, "ended"),
        ("first", "n", 5, 105, "ended"),
    ]


def test_pods_that_were_bound_stay_and_others_are_placed_anew(tmp_path: Path) -> None:
    lines = [a_node("a"), a_node("b"), a_pod("old", 0, nodeName="a"), {"at": 30, "ended": "default/old", "ran": 30}]
    lines.insert(3, a_pod("new", 5))
    lines.insert(4, {"at": 6, "bound": "default/new", "node": "a"})
    assert lives(tmp_path, *lines) == [
        ("old", "a", 0, 30, "ended"),
        ("new", "b", 5, None, "running"),
    ]


def test_a_pod_whose_gates_are_removed_is_placed(tmp_path: Path) -> None:
    lines = [a_node("n"), a_pod("gated", 1, schedulingGates=[{"name": "g"}]), a_pod("gated", 7, "change")]
    assert lives(tmp_path, *lines) == [("gated", "n", 7, None, "running")]
    # a pod that is not there any more does not change, and does not come back
    gone = [{"at": 3, "delete": "Pod/default/gated"}, a_pod("gated", 4, "change")]
    assert lives(tmp_path, *lines[:2], *gone) == [("gated", "", None, 3, "ended")]


def test_another_pod_of_the_same_name_takes_the_place_of_the_first(tmp_path: Path) -> None:
    lines = [
        a_node("n"),
        a_pod("web-0", 1, uid="first"),
        {"at": 50, "delete": "Pod/default/web-0", "ran": 49},
        a_pod("web-0", 50, uid="second"),
    ]
    assert lives(tmp_path, *lines, durations=Durations.ALL) == [
        ("web-0", "n", 1, 50, "ended"),
        ("web-0", "n", 50, None, "running"),
    ]


@pytest.mark.parametrize(
    ("pace", "expected"),
    [
        (Pace(), [("p", "a", 1, 5, "lost"), ("replacement", "b", 6, None, "running")]),
        (Pace(recreate=True), [("p", "a", 1, 5, "lost"), ("p", "b", 5, None, "running")]),
    ],
)
def test_lost_pods_are_not_created_again_since_their_replacements_are_recorded(
    tmp_path: Path, pace: Pace, expected: list[tuple[Any, ...]]
) -> None:
    lines = [
        a_node("a"),
        a_pod("p", 1),
        a_node("b", 2),
        {"at": 5, "delete": "Node/a"},
        a_pod("replacement", 6),
        a_node("c", 100, cpu="1"),
    ]
    found = lives(tmp_path, *lines, pace=pace)
    assert [each for each in found if each[1]] == expected


def test_a_recording_that_is_written_again_is_still_one(tmp_path: Path) -> None:
    first = tmp_path / "recording.jsonl"
    first.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in (HEADER, *QUEUE)))
    again = tmp_path / "again.jsonl"
    write_trace(trace_of_file(first), 0, again)
    trace = trace_of_file(again)
    assert trace.has_replacements
    arrivals = [event for event in trace.events(0) if isinstance(event, PodArrival)]
    assert [(event.pod.name, event.runs) for event in arrivals] == [("first", 100), ("second", None)]
