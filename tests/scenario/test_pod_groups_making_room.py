"""Groups of pods that need others evicted, and pods that are left over when their group is placed."""

import asyncio
from typing import Any

import pytest

from kubesched.api.pods import Pod
from kubesched.loop.scheduler import Scheduler
from kubesched.testing import a_node, a_pod
from kubesched.testing.pod_groups import a_group, evicted, member, places, play, put_members
from kubesched.testing.world import World

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
