"""The ring holds the newest decisions in the memory that it may have."""

import sys
from collections import Counter
from collections.abc import Iterable
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched.core.framework.observing.decision_details import NodeScores, PlacementScores, RejectedNodes
from kubesched.core.framework.observing.observer import Bound, ChosenNode, FailedAttempt
from kubesched.core.framework.values.status import unschedulable
from kubesched.serving.decisions.recorder import DecisionRecorder
from kubesched.serving.decisions.records import VERSION, read_page
from kubesched.serving.decisions.ring import DecisionRing, RingEntry
from kubesched.testing import a_cluster, a_pod

LIMIT = 64 << 10
names = st.text("abcdefghij-", min_size=1, max_size=253)


def held_bytes(roots: Iterable[Any]) -> int:
    """Return the size of everything that can be reached."""
    seen: set[int] = set()
    todo, total = list(roots), 0
    while todo:
        value = todo.pop()
        if id(value) in seen:
            continue
        seen.add(id(value))
        total += sys.getsizeof(value)
        if isinstance(value, msgspec.Struct):
            todo += [getattr(value, field) for field in value.__struct_fields__]
        elif isinstance(value, dict):
            todo += [*value.keys(), *value.values()]
        elif isinstance(value, tuple | list | frozenset) or type(value).__name__ == "deque":
            todo += list(value)
    return total


@st.composite
def observations(draw: st.DrawFn) -> Any:
    """Draw something to tell a recorder."""
    pod = a_cluster().reader.read(a_pod(draw(names), uid=draw(names)))
    kind = draw(st.sampled_from(["chosen", "failed", "bound", "queued", "preempts", "evicts", "gated"]))
    text = draw(st.text(max_size=40)) * draw(st.sampled_from([1, 100]))
    node = draw(names)
    plugins = tuple(f"Plugin{i}" for i in range(draw(st.integers(0, 12))))
    scores = PlacementScores(
        plugins,
        tuple(NodeScores(f"{node}{i}", 10**6, tuple(1000 + i for i in range(len(plugins)))) for i in range(4)),
        1,
    )
    rejected = tuple(RejectedNodes("Plugin", f"{text}{i}", 5000, (node, f"{node}x")) for i in range(16))
    match kind:
        case "chosen":
            return "node_chosen", (ChosenNode(pod, node, 1, 5000, 0.5, lambda: scores),)
        case "failed":
            failed = FailedAttempt(pod, "s", "unschedulable", text, plugins, 0.5, 2, 5000, node, lambda: rejected)
            return "attempt_failed", (failed,)
        case "bound":
            return "pod_bound", (Bound(pod, node, "s", 2, 0.5, 0.5, False, 5000, 5000),)
        case "queued":
            return "pod_queued", (pod, "active", text[:40], ())
        case "preempts":
            return "preemption_began", (pod, node, 5, 5)
        case "evicts":
            return "victim_evicted", (pod, pod, node)
        case _:
            return "pod_gated", (pod, "Gate", unschedulable(text))


@given(st.lists(observations(), min_size=1, max_size=60), st.integers(1, 4))
@settings(max_examples=40, deadline=None)
def test_the_memory_is_bounded_whatever_is_recorded(told: list[Any], times: int) -> None:
    recorder = DecisionRecorder(LIMIT, now=lambda: 1e9, clock=lambda: 0.0)
    ring = recorder.ring
    for _ in range(times):
        for hook, arguments in told:
            more = {"in_memory": False} if hook == "victim_evicted" else {}
            getattr(recorder, hook)(*arguments, **more)
            assert ring.used_bytes <= LIMIT
    having = [entry.reasons for entry in ring._entries if entry.reasons is not None]
    reasons = {id(each): each for each in having}
    assert ring.used_bytes == sum(e.size for e in ring._entries) + sum(r.size for r in reasons.values())
    assert held_bytes([ring._entries, ring._latest, ring._reasons]) <= ring.used_bytes + 4096
    assert set(map(id, ring._reasons.values())) <= set(reasons)
    assert [each.users for each in reasons.values()] == list(Counter(map(id, having)).values())
    assert set(map(id, ring._latest.values())) <= set(map(id, ring._entries))
    assert read_page(ring.page(limit=10**6).to_json()) == ring.page(limit=10**6)


def an_entry(name: str, at: float) -> RingEntry:
    return RingEntry(at, "default", name, f"uid-{name}", "bound")


def a_ring(*entries: RingEntry, limit: int = 1 << 20) -> DecisionRing:
    ring = DecisionRing(limit, now=lambda: 100.0)
    for entry in entries:
        ring.add(entry)
    return ring


def test_the_newest_come_first_and_the_oldest_are_dropped() -> None:
    ring = a_ring(*(an_entry(f"p{i}", i) for i in range(200)), limit=64 << 10)
    page = ring.page(limit=1000)
    assert page.recorded == 200
    assert page.kept == len(page.decisions) == len(ring) < 100
    assert [record.pod for record in page.decisions[:2]] == ["default/p199", "default/p198"]
    assert page.since == page.decisions[-1].time
    assert ring.latest("uid-p0") is None
    assert ring.latest("uid-p199") is not None


def test_equal_reasons_are_kept_once_as_long_as_an_entry_has_them() -> None:
    recorder = DecisionRecorder(LIMIT, now=lambda: 1e9, clock=lambda: 0.0)
    ring, message = recorder.ring, "x" * 1000
    pods = [a_cluster().reader.read(a_pod(f"p{i}")) for i in range(200)]

    def fail(pod: Any, *plugins: str) -> None:
        recorder.attempt_failed(FailedAttempt(pod, "s", "unschedulable", f"{message}", frozenset(plugins), 0.5, 1))

    for pod in pods[:10]:
        fail(pod, "Fit", "Ports")
    first, *others = ring._entries
    assert first.reasons is not None
    assert all(entry.reasons is first.reasons for entry in others)
    assert ring.used_bytes < 10 * 1000
    # other plugins under the same message are other reasons
    fail(pods[10], "Fit")
    assert [record.rejected_by for record in ring.page(limit=2).decisions] == [("Fit",), ("Fit", "Ports")]
    for pod in pods:
        recorder.node_chosen(ChosenNode(pod, "n", 1, 1, 0.5, lambda: None))
    assert not ring._reasons
    assert ring.used_bytes == sum(entry.size for entry in ring._entries)


def test_a_page_is_of_one_pod_and_of_so_many_decisions() -> None:
    ring = a_ring(*(an_entry("a" if i % 2 else "b", i) for i in range(10)))
    assert [record.time.second for record in ring.page("default/a", 2).decisions] == [9, 7]
    assert len(ring.page().decisions) == 10
    assert ring.page("default/c").decisions == ()


def test_an_empty_ring_has_a_page() -> None:
    page = a_ring().page()
    assert (page.version, page.recorded, page.since, page.decisions) == (VERSION, 0, None, ())


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "the answer is no page of decisions: "),
        (b"<html>", "the answer is no page of decisions: "),
        (b"[]", "version None of the page is unknown; this kubesched reads version 1"),
        (b"{}", "the answer is no page of decisions: "),
        (b'{"version": 2}', "version 2 of the page is unknown; this kubesched reads version 1"),
        (b'{"version": 1, "now": 3}', "the answer is no page of decisions: "),
        (b"[" * 100_000, "the answer is no page of decisions: "),
        (b'{"version": 1, "now": "2026-01-01T00:00:00", "recorded": 0, "kept": 0, "decisions": []}', "the answer is "),
    ],
)
def test_what_is_no_page_says_so(body: bytes, said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}"):
        read_page(body)
