"""Several profiles in one living scheduler, and the same decisions for the same events and the same seed."""

import asyncio
import os
import subprocess
import sys
from typing import Any

import pytest
from tests.support.world import World, live

from kubesched.core.framework.values.effects import Effect, Emit, Patch
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.queued_pod import Place
from kubesched.testing import a_node, a_pod

PROFILES = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: default-scheduler
- schedulerName: first-fit
  plugins:
    preScore:
      disabled:
      - name: "*"
    score:
      disabled:
      - name: "*"
- schedulerName: maintenance
  plugins:
    multiPoint:
      disabled:
      - name: NodeUnschedulable
      - name: TaintToleration
"""
OURS = ("default-scheduler", "first-fit", "maintenance")


# -- which profile


def test_a_pod_is_scheduled_by_the_profile_that_it_names() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("closed", unschedulable=True))
        for name in OURS:
            world.put(a_pod(name, scheduler=name))
        await asyncio.sleep(5)
        assert [world.node_of(name) for name in OURS] == ["", "", "closed"]
        world.put(a_node("open"))

    world = live(story, config=PROFILES)
    assert [world.node_of(name) for name in OURS] == ["open", "open", "closed"]


def test_a_pod_of_another_scheduler_is_not_touched_but_accounted_once_it_is_bound() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(a_pod("foreign", cpu="2", scheduler="other", priority=100, nominated="n1"))
        await asyncio.sleep(400)
        assert scheduler.queue.get("default-foreign") is None
        assert not len(scheduler.cluster.nominations)
        world.put(a_pod("ours", cpu="1"))
        await asyncio.sleep(1)
        assert world.node_of("ours") == "n1"
        world.put(a_pod("foreign", cpu="1", scheduler="other", node="n1"))
        world.put(a_pod("late", cpu="1", scheduler="first-fit"))
        await asyncio.sleep(5)
        assert world.node_of("late") == ""
        world.delete("Pod", "default/foreign")

    world = live(story, config=PROFILES)
    assert world.node_of("late") == "n1"
    assert {getattr(effect, "name", "") for effect in world.performed if not isinstance(effect, Emit)} == {
        "ours",
        "late",
    }


def test_a_pod_of_another_scheduler_can_be_a_victim_and_is_not_tried_when_it_is_back() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("foreign", cpu="1", scheduler="other", node="n1", uid="first"))
        world.put(a_pod("high", cpu="1", scheduler="first-fit", priority=10))
        await asyncio.sleep(5)
        world.put(a_pod("foreign", cpu="1", scheduler="other", uid="second"))
        world.put(a_node("n2", cpu="1"))
        await asyncio.sleep(30)
        assert (world.node_of("high"), world.node_of("foreign")) == ("n1", "")
        world.delete("Pod", "default/foreign")

    world = live(story, config=PROFILES)
    assert world.evicted == ["foreign"]
    (condition,) = [
        effect.body["status"]["conditions"][0]
        for effect in world.performed
        if isinstance(effect, Patch) and effect.name == "foreign"
    ]
    assert condition["message"] == "first-fit: preempting to accommodate a higher priority pod"


# -- one queue


def test_priorities_count_across_profiles() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        # without a timer effects keep their order
        world.effect_seconds = 0
        world.put(a_node("n1"))
        await asyncio.sleep(1)
        for priority in (1, 5, 3, 6, 2, 4):
            world.put(a_pod(f"p{priority}", scheduler=OURS[priority % 3], priority=priority))

    assert live(story, config=PROFILES).bound == ["p6", "p5", "p4", "p3", "p2", "p1"]


def test_a_promise_of_one_profile_holds_for_the_others() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        for number in range(2):
            world.put(a_pod(f"low-{number}", cpu="1", scheduler="first-fit"))
        await asyncio.sleep(1)
        world.effect_seconds = 5
        world.put(a_pod("high", cpu="2", scheduler="maintenance", priority=10))
        await asyncio.sleep(1)
        queued = scheduler.queue.get("default-high")
        assert queued is not None
        for step in range(30):
            world.put(a_pod(f"small-{step}", cpu="1", scheduler=OURS[step % 3], priority=step % 11))
            scheduler.queue.activate(["default-high"], scheduler.now())
            assert queued.place in (Place.GATED, Place.ACTIVE, Place.GONE)
            await asyncio.sleep(1)
            world.delete("Pod", f"default/small-{step}")
        await asyncio.sleep(30)

    world = live(story, config=PROFILES)
    assert (world.node_of("high"), sorted(world.evicted)) == ("n1", ["low-0", "low-1"])


# -- the first node that fits


def test_without_scoring_zones_take_turns_and_the_search_goes_on_where_it_stopped() -> None:
    places: list[str] = []

    async def first_fit(world: World, count: int) -> None:
        for number in range(len(places), len(places) + count):
            world.put(a_pod(f"p{number}", cpu="1", scheduler="first-fit"))
            await asyncio.sleep(1)
            places.append(world.node_of(f"p{number}"))

    async def story(world: World, scheduler: Scheduler) -> None:
        for name in ("a1", "a2", "a3", "b1", "c1", "c2"):
            world.put(a_node(name, cpu="2", zone=name[0]))
        await first_fit(world, 4)
        # whoever looks at all nodes leaves the start where it is
        world.put(a_pod("scored", cpu="2", node_selector={"kubernetes.io/hostname": "c2"}))
        await asyncio.sleep(1)
        await first_fit(world, 8)

    live(story, config=PROFILES)
    assert places == ["a1", "b1", "c1", "a2", "a3", "a1", "b1", "c1", "a2", "a3", "", ""]


# -- the same again


def told(seed: int) -> list[str]:
    """Return all effects of an eventful story in order, as texts."""

    async def story(world: World, scheduler: Scheduler) -> None:
        random = world.random
        world.refuse = lambda effect: "busy" if random.random() < 0.1 else ""
        world.lose_answer = lambda effect: random.random() < 0.05
        world.report_seconds = lambda: random.choice([0.0, 0.0, 2.0])
        for number in range(6):
            world.put(a_node(f"n{number}", cpu="4", zone="ab"[number % 2]))
        for step in range(60):
            words: dict[str, Any] = {"cpu": "1", "priority": step // 20, "scheduler": OURS[step % 3]}
            world.put(a_pod(f"p{step}", labels={"app": f"a{step % 4}"}, **words))
            if step % 7 == 0:
                world.delete("Pod", f"default/p{step // 2}")
            await asyncio.sleep(step % 3 / 2)
        world.refuse, world.lose_answer = lambda effect: "", lambda effect: False
        await asyncio.sleep(60)

    return [as_text(effect) for effect in live(story, seed=seed, config=PROFILES).performed]


def as_text(effect: Effect) -> str:
    if isinstance(effect, Emit):
        return f"{effect.reason} {effect.regarding.full_name}: {effect.note}"
    return repr(effect)


def test_the_same_events_and_the_same_seed_bring_the_same_decisions() -> None:
    first = told(seed=7)
    assert any(text.startswith("Delete") for text in first)
    assert told(seed=7) == first


def test_another_seed_breaks_ties_in_another_way() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for number in range(8):
            world.put(a_node(f"n{number}"))
        for number in range(4):
            world.put(a_pod(f"p{number}"))
            await asyncio.sleep(1)

    assert len({tuple(live(story, seed=seed).bindings.values()) for seed in range(6)}) > 1


@pytest.mark.parametrize("hash_seed", ["1", "2"])
def test_decisions_do_not_depend_on_the_process(hash_seed: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": os.pathsep.join(sys.path)}
    again = subprocess.run(
        [sys.executable, __file__], env=environment, capture_output=True, text=True, check=True, timeout=120
    )
    assert again.stdout.splitlines() == told(seed=7)


if __name__ == "__main__":
    print("\n".join(told(seed=7)))
