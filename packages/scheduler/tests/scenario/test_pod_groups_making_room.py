"""Groups of pods that need others evicted, and pods that are left over when their group is placed."""

import asyncio
from typing import Any

import pytest
from tests.support.pod_groups import Attempts, a_group, evicted, member, places, play, put_members
from tests.support.world import World

from kubesched.api.pods import Pod
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.queued_pod import Place
from kubesched.testing import a_node, a_pod

# -- making room


def low(name: str, node: str, **words: Any) -> Pod:
    """Return a pod that is on a node and not important."""
    return a_pod(name, node=node, priority=0, phase="Running", **{"cpu": "2", **words})


@pytest.mark.parametrize("gate", ["SchedulerAsyncPreemption", "WorkloadAwarePreemption"])
def test_a_gang_evicts_less_important_pods(gate: str) -> None:
    """Whether each pod finds its victims or the group as a whole does."""

    async def story(world: World, scheduler: Scheduler) -> None:
        for number in (1, 2, 3):
            world.put(a_node(f"n{number}", cpu="2"))
            world.put(low(f"low{number}", f"n{number}"))
        world.put(a_group(min_count=2, priority=10))
        put_members(world, "a b", cpu="2", priority=10)
        await asyncio.sleep(30)
        assert len(evicted(world)) == 2
        assert all(places(world, "a b"))
        assert len([event for event in world.events if event.reason == "Preempted"]) == 2

    play(story, gate)


def test_the_group_is_named_where_it_preempts_as_a_whole() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(low("low", "n1"))
        world.put(a_group(min_count=1, priority=10))
        put_members(world, "a", priority=10)
        await asyncio.sleep(10)
        assert world.node_of("a") == "n1"
        assert [event.note for event in world.events if event.reason == "Preempted"] == [
            "Preempted by podgroup group-g on node cluster"
        ]

    play(story, "WorkloadAwarePreemption")


@pytest.mark.parametrize("gate", ["SchedulerAsyncPreemption", "WorkloadAwarePreemption"])
def test_a_gang_that_fits_nowhere_all_the_same_evicts_nobody(gate: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(low("low", "n1"))
        world.put(a_group(min_count=2, priority=10))
        put_members(world, "a b", cpu="2", priority=10)
        await asyncio.sleep(30)
        assert places(world, "a b low") == ["", "", "n1"]
        assert not evicted(world)

    play(story, gate)


def test_a_group_that_is_disrupted_as_a_whole_goes_as_a_whole() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for number in (1, 2):
            world.put(a_node(f"n{number}", cpu="2"))
        world.put(a_group("victims", min_count=2, priority=1, disruption_mode="PodGroup"))
        for number in (1, 2):
            world.put(member(f"v{number}", "victims", cpu="2", node=f"n{number}", priority=1, phase="Running"))
        world.put(a_group(min_count=1, priority=10))
        put_members(world, "a", cpu="2", priority=10)
        await asyncio.sleep(30)
        assert evicted(world) == {"v1", "v2"}
        assert world.node_of("a")

    play(story, "WorkloadAwarePreemption")


# -- pods that are left over


def full_node(world: World, name: str, cpus: int) -> None:
    """Put a node into a world that is full of pods of one CPU each."""
    world.put(a_node(name, cpu=str(cpus)))
    for number in range(cpus):
        world.put(low(f"low{number}", name, cpu="1"))


@pytest.mark.parametrize(("what", "min_count"), [("a gang that is complete with three", 3), ("a basic group", None)])
def test_pods_left_over_when_their_group_is_placed_have_their_own_victims_evicted(
    what: str, min_count: int | None
) -> None:
    """The group's victims make room for as many as it needs; those left over are tried again, as the reference does."""
    attempts = Attempts()

    async def story(world: World, scheduler: Scheduler) -> None:
        full_node(world, "n1", 4)
        world.put(a_group(min_count=min_count, priority=100))
        put_members(world, "a b c", priority=100)
        await asyncio.sleep(0.005)
        put_members(world, "d", priority=100)
        # far less than the flush of pods that are unschedulable for too long
        await asyncio.sleep(60)
        assert places(world, "a b c d") == ["n1"] * 4, what
        assert len(evicted(world)) == 4, what

    play(story, "WorkloadAwarePreemption", observers=[attempts])
    assert len(attempts.results) < 20, attempts.results


def test_pods_left_over_that_nothing_helps_are_tried_once_more_and_then_wait() -> None:
    """The next attempt is about the remainder alone; where that comes to nothing only events help."""
    attempts = Attempts()

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(a_group(min_count=2))
        put_members(world, "a b c")
        await asyncio.sleep(60)
        assert sorted(places(world, "a b c")) == ["", "n1", "n1"]
        assert [queued.place for queued in scheduler.queue.pods()] == [Place.UNSCHEDULABLE]
        world.put(a_node("n2", cpu="2"))
        await asyncio.sleep(15)
        assert sorted(places(world, "a b c")) == ["n1", "n1", "n2"]

    play(story, "WorkloadAwarePreemption", observers=[attempts])
    assert attempts.results[:2] == [("scheduled", 2, 1), ("unschedulable", 0, 1)]
    assert len(attempts.results) == 3, attempts.results
