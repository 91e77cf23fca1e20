"""Pods whose attempts take long: told by name, and tried so seldom that others have the loop for themselves.

The plugin `Slow` lets virtual time pass while it judges pods whose names begin with `slow`.
"""

import asyncio
from typing import Any

import pytest
from tests.support.world import World, live

from kubesched.common.virtual_time import VirtualTimeLoop
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import Observer
from kubesched.core.framework.plugin import FilterPlugin, ReservePlugin
from kubesched.core.framework.values.cycle import PODS_TO_ACTIVATE, CycleState
from kubesched.core.framework.values.status import Status, error, unschedulable
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.backoff import MOST_SLOW_SECONDS, SLOW_FACTOR, slow_backoff_seconds
from kubesched.testing import a_node, a_pod

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled: [{name: Slow}]
"""


def let_pass(seconds: float) -> None:
    loop = asyncio.get_running_loop()
    assert isinstance(loop, VirtualTimeLoop)
    loop.jump(seconds)


class Slow(FilterPlugin, ReservePlugin):
    """Takes its time for the pod `slow`, and rejects it until it says otherwise."""

    name = "Slow"
    seconds = 3.0
    says: Status | None = unschedulable("not today")
    tried: list[float] = []  # noqa: RUF012

    def pre(self, pod: Any) -> None:
        Slow.tried.append(asyncio.get_running_loop().time())
        let_pass(Slow.seconds)

    def filter(self, cycle: CycleState, pod: Any, node: Any) -> Status | None:
        if not pod.name.startswith("slow"):
            return None
        if node.name == "n1":
            self.pre(pod)
        return Slow.says

    def reserve(self, cycle: CycleState, pod: Any, node_name: str) -> Status | None:
        if pod.name == "waker":
            cycle.write(PODS_TO_ACTIVATE, {"default-slow"})
        return None


@pytest.fixture(autouse=True)
def _as_new() -> None:
    Slow.seconds, Slow.says, Slow.tried = 3.0, unschedulable("not today"), []


def play(begin: Any, *observers: Observer) -> World:
    registry = Registry()
    registry.register(Slow)

    async def story(world: World, scheduler: Scheduler) -> None:
        await begin(world, scheduler)
        # let it come to an end
        Slow.seconds, Slow.says = 0.0, None
        await asyncio.sleep(60)

    return live(story, config=CONFIG, registry=registry, observers=observers)


async def nodes_and_a_slow_pod(world: World) -> None:
    world.put(a_node("n1", cpu="64"))
    world.put(a_pod("slow", cpu="1"))
    await asyncio.sleep(5)


def test_a_long_cycle_is_told_with_its_pod_its_duration_and_the_plugin_that_took_it() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        await nodes_and_a_slow_pod(world)

    (note,) = [note for note in play(story, Observer()).notes if "took" in note]
    assert note.startswith("scheduling pod default/slow took 3.0 s, 3.0 s of it in plugin Slow at Filter;")
    assert note.endswith("it is not tried again for 30 s")


def test_cycles_as_they_usually_are_are_not_told() -> None:
    Slow.seconds = 0.9

    async def story(world: World, scheduler: Scheduler) -> None:
        await nodes_and_a_slow_pod(world)

    assert not [note for note in play(story).notes if "took" in note]


@pytest.mark.parametrize("says", [unschedulable("not today"), error("broken")], ids=["rejected", "failed"])
def test_a_slow_pod_takes_a_tenth_of_the_loop_at_most_whatever_happens(says: Status) -> None:
    """Every second something happens that wakes it, a plugin has it tried at once, somebody changes it."""
    Slow.says = says

    async def story(world: World, scheduler: Scheduler) -> None:
        await nodes_and_a_slow_pod(world)
        for number in range(300):
            await asyncio.sleep(1)
            world.put(a_node(f"more-{number}", cpu="64"))
            world.put(a_pod("waker" if number % 7 == 0 else f"good-{number}", cpu="1"))
            if number % 7 == 1:
                world.delete("Pod", "default/waker")
            pod = world.pod("slow")
            assert pod is not None
            world.put(a_pod("slow", cpu="1", labels={"changed": str(number)}))
        await asyncio.sleep(5)
        assert all(pod.spec.node_name for pod in world.pods() if pod.name.startswith("good"))

    play(story)
    assert len(Slow.tried) >= 5, "it is tried again and again"
    waits = [later - earlier - Slow.seconds for earlier, later in zip(Slow.tried, Slow.tried[1:], strict=False)]
    assert min(waits) >= SLOW_FACTOR * Slow.seconds - 1


def test_a_slow_pod_is_bound_once_it_fits() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        await nodes_and_a_slow_pod(world)
        Slow.says = None
        world.put(a_node("n2", cpu="1"))
        await asyncio.sleep(40)
        assert world.node_of("slow")

    play(story)


@pytest.mark.parametrize(
    ("took", "wait"), [(0.0, 0.0), (1.0, 0.0), (1.5, 15.0), (59.0, 590.0), (100.0, MOST_SLOW_SECONDS)]
)
def test_how_long_a_slow_pod_waits(took: float, wait: float) -> None:
    assert slow_backoff_seconds(took) == wait


def test_slow_pods_do_not_keep_good_ones_waiting() -> None:
    """Five pods that take five seconds each: for every second of one of them the loop has ten for others."""
    Slow.seconds = 5.0
    bound: dict[str, float] = {}

    class Bound(Observer):
        def pod_bound(self, bound_pod: Any) -> None:
            bound[bound_pod.pod.name] = asyncio.get_running_loop().time()

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="640"))
        for number in range(5):
            world.put(a_pod(f"slow-{number}", cpu="1"))
        await asyncio.sleep(30)
        Slow.tried = []
        began = asyncio.get_running_loop().time()
        for number in range(300):
            world.put(a_pod(f"good-{number}", cpu="1"))
            world.put(a_node(f"more-{number}", cpu="1"))
            await asyncio.sleep(1)
        await asyncio.sleep(30)
        took = asyncio.get_running_loop().time() - began
        assert len(Slow.tried) <= 5 * took / (11 * Slow.seconds) + 5
        assert sum(name.startswith("good") for name in bound) == 300

    play(story, Bound())
