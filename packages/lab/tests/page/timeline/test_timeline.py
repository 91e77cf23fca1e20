"""Marks on the time line: of simulations, and of clusters that are followed."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from kubesched.api.meta import ApiObject, Condition
from kubesched.api.pods import Pod
from kubesched.serving.decisions.records import DecisionRecord, RecordedPreemption
from kubesched.testing import a_node, a_pod
from kubesched_lab.page.timeline.mark_series import CYCLES, KINDS, MOST_SINGLE, PARTS, SECONDS, MarkSeries
from kubesched_lab.page.timeline.marks import BOUND, FAILED, NODE, PREEMPTED, TimelineMark
from kubesched_lab.page.timeline.seen_marks import SeenMarks

TIMES = st.lists(st.tuples(st.floats(0, 1000), st.sampled_from(KINDS)), max_size=50)


@settings(max_examples=40)
@given(TIMES, st.integers(1, 30), st.floats(0, 500), st.floats(500, 1000), st.sampled_from([SECONDS, CYCLES]))
def test_sums_count_every_mark_once(
    times: list[tuple[float, str]], copies: int, first: float, last: float, by: str
) -> None:
    marks = [
        TimelineMark(at if by == SECONDS else 0.0, kind, int(at)) for at, kind in sorted(times) for _ in range(copies)
    ]
    shown = MarkSeries(marks).between(first, last, by)
    inside = [mark for mark in marks if first <= (mark.at if by == SECONDS else mark.cycle) <= last]
    for kind in KINDS:
        assert sum(mark.count for mark in shown if mark.kind == kind) == sum(mark.kind == kind for mark in inside)
    assert shown == sorted(shown, key=lambda mark: mark.at if by == SECONDS else mark.cycle)
    assert len(shown) <= max(MOST_SINGLE, len(KINDS) * (PARTS + 1))
    if len(inside) <= MOST_SINGLE:
        assert all(mark.count == 1 for mark in shown)


@settings(max_examples=40)
@given(TIMES, st.integers(0, 60))
def test_a_series_that_is_cut_is_that_of_its_first_marks(times: list[tuple[float, str]], count: int) -> None:
    marks = [TimelineMark(at, kind) for at, kind in sorted(times)]
    series = MarkSeries(marks)
    series.cut(count)
    assert len(series) == min(count, len(marks))
    assert series.between(0, 1000) == MarkSeries(marks[:count]).between(0, 1000)
    series.extend(marks[count:])
    assert series.between(0, 1000) == MarkSeries(marks).between(0, 1000)


def with_condition(pod: Pod, **condition: Any) -> Pod:
    return replace(pod, status=replace(pod.status, conditions=(Condition(**condition),)))


WAITS = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/1 nodes are available"}
EVICTED = {"type": "DisruptionTarget", "status": "True", "reason": "PreemptionByScheduler", "message": "preempted"}
# a sentence: an object before and after, and the kinds of marks
SEEN: dict[str, tuple[ApiObject | None, ApiObject | None, list[str]]] = {
    "a pod arrives": (None, a_pod("p"), []),
    "a pod is bound": (a_pod("p"), a_pod("p", node="n"), [BOUND]),
    "a bound pod appears": (None, a_pod("p", node="n"), []),
    "a pod finds no node": (a_pod("p"), with_condition(a_pod("p"), **WAITS), [FAILED]),
    "it still finds none": (with_condition(a_pod("p"), **WAITS), with_condition(a_pod("p"), **WAITS), []),
    "a pod is preempted": (a_pod("p", node="n"), with_condition(a_pod("p", node="n"), **EVICTED), [PREEMPTED]),
    "a pod is gone": (a_pod("p", node="n"), None, []),
    "a node joins": (None, a_node("n"), [NODE]),
    "a node leaves": (a_node("n"), None, [NODE]),
    "a node is cordoned": (a_node("n"), a_node("n", unschedulable=True), [NODE]),
    "a node's labels change": (a_node("n"), a_node("n", zone="a"), []),
}


@pytest.mark.parametrize("case", SEEN)
def test_what_is_seen_has_marks(case: str) -> None:
    old, new, kinds = SEEN[case]
    seen = SeenMarks()
    seen(old, new)
    assert [mark.kind for mark in seen.marks] == kinds


def test_the_record_of_a_scheduler_takes_the_place_of_what_was_seen_of_pods() -> None:
    began = datetime(2026, 1, 1, tzinfo=UTC)
    seen = SeenMarks(began)
    seen(a_pod("p"), a_pod("p", node="n"))
    seen(None, a_node("n"))
    decisions = [
        DecisionRecord(
            time=began - timedelta(seconds=5),
            pod="default/p",
            uid="p",
            outcome="unschedulable",
            message="0/1",
            preemption=RecordedPreemption(node="n", victims=1, evicted=("default/v",)),
        ),
        DecisionRecord(time=began, pod="default/p", uid="p", outcome="bound", node="n"),
    ]
    shown = seen.series(decisions).between(-10, 1e9)
    assert [(mark.at, mark.kind, mark.pod) for mark in shown[:3]] == [
        (-5.0, FAILED, "default/p"),
        (-5.0, PREEMPTED, "default/v"),
        (0.0, BOUND, "default/p"),
    ]
    assert [mark.kind for mark in shown[3:]] == [NODE]
