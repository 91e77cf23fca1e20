"""Pods that back off are tried early while no other pod waits, as long as that takes a small share of the time."""

import asyncio
from typing import Any

from packages.scheduler.tests.scenario.test_slow_cycles import let_pass
from tests.support.world import World, live

from kubesched.common.time_share import TimeShare
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Status, unschedulable
from kubesched.core.loop.scheduler import EARLY_SHARE, MOST_EARLY_SECONDS, Scheduler
from kubesched.testing import a_node, a_pod

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled: [{name: Reluctant}]
"""
ATTEMPT_SECONDS = 0.01


class Reluctant(FilterPlugin):
    """Rejects the pods `stuck-*` as long as it is closed; each of their attempts takes some time."""

    name = "Reluctant"
    closed = True
    attempts = 0

    def filter(self, cycle: CycleState, pod: Any, node: Any) -> Status | None:
        if not pod.name.startswith("stuck"):
            return None
        Reluctant.attempts += 1
        let_pass(ATTEMPT_SECONDS)
        return unschedulable("closed") if Reluctant.closed else None


def lived(story: Any) -> World:
    Reluctant.closed, Reluctant.attempts = True, 0
    registry = Registry()
    registry.register(Reluctant)
    return live(story, config=CONFIG, registry=registry)


async def wake(world: World, seconds: int) -> None:
    """Change the node ten times a second: each change may help the pods that were rejected."""
    for turn in range(10 * seconds):
        world.put(a_node("n", cpu="100", labels={"turn": str(turn)}))
        await asyncio.sleep(0.1)


def test_pods_that_fit_nowhere_take_a_small_share_of_the_time() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n", cpu="100"))
        for number in range(50):
            world.put(a_pod(f"stuck-{number}"))
        # the first attempts, and those after a backoff of one, two, four and eight seconds
        await wake(world, 60)
        before = Reluctant.attempts
        await wake(world, 60)
        early = MOST_EARLY_SECONDS + EARLY_SHARE * 60
        # each pod is tried after its backoff of ten seconds
        regular = 50 * 60 / 10 * ATTEMPT_SECONDS
        assert (Reluctant.attempts - before) * ATTEMPT_SECONDS <= early + regular

    lived(story)


def test_other_pods_do_not_wait_for_pods_that_fit_nowhere() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n", cpu="100"))
        for number in range(50):
            world.put(a_pod(f"stuck-{number}"))
        await wake(world, 60)
        world.put(a_pod("p"))
        await asyncio.sleep(0.5)
        assert world.node_of("p") == "n"

    lived(story)


def test_a_pod_that_fits_at_last_is_placed_when_its_backoff_is_over() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n", cpu="100"))
        for number in range(50):
            world.put(a_pod(f"stuck-{number}"))
        await wake(world, 60)
        Reluctant.closed = False
        await wake(world, 1)
        await asyncio.sleep(11)
        assert {world.node_of(f"stuck-{number}") for number in range(50)} == {"n"}

    lived(story)


def test_a_share_of_the_time_is_saved_up_to_a_limit_and_a_debt_is_paid_off_by_waiting() -> None:
    now = 100.0

    def work(seconds: float) -> None:
        nonlocal now
        now += seconds

    share = TimeShare(lambda: now, 0.1, 2.0)
    assert share.available
    share.spend(lambda: work(1.0))
    assert share.available
    share.spend(lambda: work(3.0))
    # two seconds and a tenth were saved up, four were spent: the debt is paid off 19 seconds after 101
    now = 119.9
    assert not share.available
    now = 120.1
    assert share.available
