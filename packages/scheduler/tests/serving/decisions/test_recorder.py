"""Stories in virtual time: the record has what happened, and costs no more than its share."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.pod_groups import a_group, put_members
from tests.support.world import World, live

from kubesched.config.feature_gates import FeatureGates
from kubesched.core.framework.observing.observer import Bound, ChosenNode, FailedAttempt, Observer, Observers
from kubesched.core.framework.values.effects import Bind, Effect
from kubesched.core.framework.values.status import unschedulable
from kubesched.core.loop.scheduler import Scheduler
from kubesched.serving.decisions.recorder import (
    DETAIL_SHARE,
    MOST_CHARACTERS,
    MOST_DETAIL_SECONDS,
    MOST_EVICTED,
    MOST_MOVES,
    DecisionRecorder,
)
from kubesched.serving.decisions.records import DecisionRecord
from kubesched.testing import a_cluster, a_node, a_pod, an_affinity

POD = a_cluster().reader.read(a_pod("p"))
Story = Callable[[World, Scheduler], Any]


def told(story: Story, **options: Any) -> list[DecisionRecord]:
    """Return the decisions of a story, the oldest first."""
    recorder = DecisionRecorder(now=lambda: asyncio.get_running_loop().time(), clock=lambda: 0.0)
    found: list[DecisionRecord] = []

    async def and_read(world: World, scheduler: Scheduler) -> None:
        await story(world, scheduler)
        await asyncio.sleep(20)
        found.extend(reversed(recorder.ring.page().decisions))

    live(and_read, observers=[recorder], **options)
    return found


def test_a_placement_has_the_scores_of_the_chosen_node_and_of_the_best_others() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for number in range(6):
            world.put(a_node(f"n{number}", cpu="8", labels={"disk": "ssd" if number == 2 else "hdd"}))
        world.put(a_pod("p", cpu="1", affinity=an_affinity(prefer_nodes=(10, "disk=ssd"))))

    (record,) = told(story)
    assert (record.pod, record.uid, record.outcome, record.node) == ("default/p", "default-p", "bound", "n2")
    assert (record.profile, record.attempt, record.evaluated_nodes, record.feasible_nodes) == (
        "default-scheduler",
        1,
        6,
        6,
    )
    assert record.detailed
    assert record.ties == 1
    assert [scored.node for scored in record.scores] == ["n2", "n0", "n1", "n3"]
    best, second = record.scores[:2]
    assert best.scores["NodeAffinity"] == 200
    assert second.scores["NodeAffinity"] == 0
    assert best.total == sum(best.scores.values())
    assert record.bound_at is not None
    assert record.bound_at > record.time


def test_a_failure_has_its_reasons_by_plugin_and_a_wake_up_names_the_event() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_node("n2", cpu="8", unschedulable=True))
        world.put(a_pod("big", cpu="4"))
        await asyncio.sleep(2)
        world.put(a_node("n3", cpu="8"))

    failed, placed = told(story)
    assert (failed.outcome, failed.attempt, failed.evaluated_nodes, failed.place) == (
        "unschedulable",
        1,
        2,
        "unschedulable",
    )
    assert failed.message.startswith("0/2 nodes are available: 1 Insufficient cpu, 1 node(s) were unschedulable.")
    assert failed.rejected_by == ("NodeResourcesFit", "NodeUnschedulable")
    assert [(each.plugin, each.message, each.nodes, each.sample) for each in failed.rejected] == [
        ("NodeUnschedulable", "node(s) were unschedulable", 1, ("n2",)),
        ("NodeResourcesFit", "Insufficient cpu", 1, ("n1",)),
    ]
    assert failed.backoff_until is not None
    assert 0 < (failed.backoff_until - failed.time).total_seconds() <= 1
    assert [(move.event, move.place) for move in failed.moves] == [("NodeAdd", "active")]
    assert (placed.outcome, placed.node, placed.attempt, placed.woken_by) == ("bound", "n3", 2, "NodeAdd")


def test_a_preemption_has_its_node_its_victims_and_the_nomination() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        for name in ("a", "b"):
            world.put(a_pod(name, cpu="1", node="n1", priority=0))
        world.put(a_pod("vip", cpu="2", priority=100))

    tried, placed = told(story)
    assert (tried.outcome, tried.nominated_node, tried.place) == ("unschedulable", "n1", "unschedulable")
    assert tried.preemption is not None
    assert (tried.preemption.node, tried.preemption.victims) == ("n1", 2)
    assert sorted(tried.preemption.evicted) == ["default/a", "default/b"]
    # the only node needs no scores
    assert (placed.outcome, placed.node, placed.feasible_nodes, placed.scores) == ("bound", "n1", 1, ())


def test_backoff_grows_from_attempt_to_attempt() -> None:
    refusals: list[Effect] = []

    def refuse(effect: Effect) -> str:
        if isinstance(effect, Bind) and len(refusals) < 2:
            refusals.append(effect)
            return "the server is busy"
        return ""

    async def story(world: World, scheduler: Scheduler) -> None:
        world.refuse = refuse
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="1"))

    first, second, third = told(story)
    assert [(each.outcome, each.attempt, each.node) for each in (first, second, third)] == [
        ("error", 1, "n1"),
        ("error", 2, "n1"),
        ("bound", 3, "n1"),
    ]
    assert first.message.endswith("the server is busy")
    assert first.place == "backoff"
    assert [move.event for move in first.moves] == ["BackoffComplete"]
    assert second.woken_by == "BackoffComplete"
    backoffs = [(each.backoff_until - each.time).total_seconds() for each in (first, second) if each.backoff_until]
    assert backoffs[0] < backoffs[1]


def test_a_gated_pod_is_recorded_once_as_long_as_the_gate_is_the_same() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_pod("held", gates=["example.com/wait"]))
        await asyncio.sleep(1)
        world.put(a_node("n2"))
        await asyncio.sleep(1)
        world.put(a_pod("held", gates=["example.com/wait"], labels={"a": "b"}))

    (gated,) = told(story)
    assert (gated.outcome, gated.rejected_by) == ("gated", ("SchedulingGates",))
    assert "example.com/wait" in gated.message


def test_a_pod_of_a_group_is_recorded_when_it_is_bound() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="8"))
        world.put(a_group(min_count=2))
        put_members(world, "a b")

    records = told(story, gates=FeatureGates.parse("GenericWorkload=true,GangScheduling=true"))
    assert sorted((each.pod, each.outcome, each.node) for each in records) == [
        ("default/a", "bound", "n1"),
        ("default/a", "gated", ""),
        ("default/b", "bound", "n1"),
    ]


# -- bounds


def test_everything_of_an_entry_is_bounded() -> None:
    recorder = DecisionRecorder(now=lambda: 1.0, clock=lambda: 0.0)
    recorder.attempt_failed(
        FailedAttempt(POD, "s", "unschedulable", "x" * 10_000, [f"Plugin{i}" for i in range(100)], 0.1, 1)
    )
    recorder.preemption_began(POD, "n", 1000, 1000)
    for number in range(100):
        recorder.pod_queued(POD, "active", f"Event{number}", ())
        victim = a_cluster().reader.read(a_pod(f"victim{number}"))
        recorder.victim_evicted(POD, victim, "n", in_memory=False)
    (record,) = recorder.ring.page().decisions
    assert len(record.message) == MOST_CHARACTERS
    assert len(record.rejected_by) == 32
    assert [move.event for move in record.moves] == [f"Event{number}" for number in range(100 - MOST_MOVES, 100)]
    assert record.preemption is not None
    assert (record.preemption.victims, len(record.preemption.evicted)) == (1000, MOST_EVICTED)


class Clock:
    """Stands still unless it is moved."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def test_details_take_a_small_share_of_a_long_burst_and_every_decision_is_recorded() -> None:
    clock = Clock()
    recorder = DecisionRecorder(now=lambda: 1.0, clock=clock)
    spent = []

    def gather() -> None:
        spent.append(0.001)
        clock.now += 0.001

    for _ in range(20_000):
        recorder.node_chosen(ChosenNode(POD, "n1", 1, 5, 0.0, gather))
        clock.now += 0.001
    assert recorder.ring.recorded == 20_000
    assert sum(spent) == pytest.approx(MOST_DETAIL_SECONDS + DETAIL_SHARE * clock.now, abs=0.002)
    page = recorder.ring.page(limit=1000)
    assert 0 < sum(record.detailed for record in page.decisions) < 10


def test_decisions_now_and_then_all_have_details() -> None:
    clock = Clock()
    recorder = DecisionRecorder(now=lambda: 1.0, clock=clock)

    def gather() -> None:
        clock.now += 0.001

    for _ in range(100):
        recorder.node_chosen(ChosenNode(POD, "n1", 1, 5, 0.0, gather))
        clock.now += 0.3
    assert all(record.detailed for record in recorder.ring.page().decisions)


# -- observers that fail


class Failing(Observer):
    """Raises whatever it is told."""

    def node_chosen(self, chosen: ChosenNode) -> None:
        raise ValueError("no")

    def attempt_failed(self, failed: FailedAttempt) -> None:
        raise ValueError("no")

    def pod_put_back(self, pod: Any, place: str, backoff_seconds: float) -> None:
        raise ValueError("no")


def test_an_observer_that_raises_is_dropped_and_pods_are_placed_and_recorded() -> None:
    recorder = DecisionRecorder(now=lambda: 1.0, clock=lambda: 0.0)

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(a_pod("big", cpu="4"))
        world.put(a_pod("p", cpu="1"))

    world = live(story, observers=[Failing(), recorder])
    assert world.node_of("p") == "n1"
    assert any("observer Failing is dropped" in note for note in world.notes)
    assert {record.pod for record in recorder.ring.page().decisions} == {"default/big", "default/p"}


def test_details_that_cannot_be_gathered_drop_the_recorder_and_nothing_else() -> None:
    recorder = DecisionRecorder(now=lambda: 1.0, clock=lambda: 0.0)
    notes: list[str] = []
    observers = Observers([recorder], clock=lambda: 0.0, note=notes.append)

    def gather() -> None:
        raise RuntimeError("no scores")

    observers.node_chosen(ChosenNode(POD, "n1", 1, 5, 0.0, gather))
    assert notes == ["observer DecisionRecorder is dropped: its node_chosen failed with RuntimeError: no scores"]
    assert "node_chosen" not in observers.heard


def test_a_binding_without_an_earlier_record_is_recorded() -> None:
    recorder = DecisionRecorder(now=lambda: 1.0, clock=lambda: 0.0)
    recorder.pod_bound(Bound(POD, "n1", "default-scheduler", 2, 0.1, 0.2, False, 5, 3))
    other = a_cluster().reader.read(a_pod("other"))
    for words in ("not yet", "not yet", "wait"):
        recorder.pod_gated(other, "Gate", unschedulable(words))
    waits, gated, bound = recorder.ring.page().decisions
    assert (bound.outcome, bound.node, bound.attempt, bound.feasible_nodes) == ("bound", "n1", 2, 3)
    assert (gated.message, waits.message) == ("Gate: not yet", "Gate: wait")
