"""The comparer tells what the scheduler believes and nobody reported, and the other way round."""

import asyncio
from collections.abc import Callable

import pytest
from tests.support.world import World, live

from kubesched.core.loop.comparer import compare
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node, a_pod


def compared(world: World, scheduler: Scheduler) -> list[str]:
    return compare(world.objects.values(), scheduler.cluster, scheduler.queue, scheduler.engine.profiles)


def unreported(world: World, change: Callable[[World], None]) -> None:
    world.lose_report = lambda obj: True
    change(world)
    world.lose_report = lambda obj: False


CASES: list[tuple[str, Callable[[World], None], str]] = [
    ("a node that nobody told of", lambda world: world.put(a_node("n2")), "nodes: n2: {"),
    ("a node that is gone", lambda world: world.delete("Node", "n1"), "nodes: n1: "),
    ("a pod that is gone", lambda world: world.delete("Pod", "default/placed"), "nodes: n1: pod count: 0 != 1"),
    ("a waiting pod that is gone", lambda world: world.delete("Pod", "default/large"), "pod default/large (UID"),
    ("a pod that nobody told of", lambda world: world.put(a_pod("new", uid="u")), "pod default/new (UID u) waits"),
    (
        "a node of another size",
        lambda world: world.put(a_node("n1", cpu="9")),
        "nodes: n1: allocatable: cpu: 9000 != 2000 (reported != believed)",
    ),
]


@pytest.mark.parametrize(("change", "line"), [case[1:] for case in CASES], ids=[case[0] for case in CASES])
def test_what_was_not_reported_is_told(change: Callable[[World], None], line: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(a_pod("placed", cpu="1"))
        world.put(a_pod("large", cpu="5"))
        await asyncio.sleep(1)
        assert compared(world, scheduler) == []
        unreported(world, change)
        found = compared(world, scheduler)
        assert any(each.startswith(line) for each in found), found
        world.relist()
        await asyncio.sleep(1)
        assert compared(world, scheduler) == []

    live(story)


def test_an_assumed_pod_is_no_difference() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.effect_seconds = 3
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(1)
        assert scheduler.cluster.table.node_count == 1
        assert [pod.name for pod in scheduler.cluster.table.pods.values()] == ["p"]
        assert compared(world, scheduler) == []

    live(story)
