"""The events of a run are values: a pod's story can be printed, and the run replayed with the same decisions."""

import asyncio

from tests.support.replaying import Failures, replay
from tests.support.world import World, live

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import ReservePlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.effects import Bind, Effect
from kubesched.core.framework.values.status import Status
from kubesched.core.loop.loop_events import Call, Recorded, story
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node, a_pod

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      enabled: [{name: Decisions}]
"""


def deciding(decisions: list[tuple[str, str]]) -> Registry:
    """Return a registry with a plugin that adds the chosen node of every pod to a list."""

    class Decisions(ReservePlugin):
        name = "Decisions"

        def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
            decisions.append((pod.uid, node_name))
            return None

    registry = Registry()
    registry.register(Decisions)
    return registry


async def eventful(world: World, scheduler: Scheduler) -> None:
    """Ties, pods that fit nowhere, a refused binding, a preemption, a node that comes and a pod that goes."""
    refused: set[str] = set()

    def refuse(effect: Effect) -> str:
        if isinstance(effect, Bind) and effect.name == "p3" and not refused:
            refused.add("p3")
            return "busy"
        return ""

    world.refuse = refuse
    for number in range(4):
        world.put(a_node(f"n{number}", cpu="2"))
    for number in range(7):
        world.put(a_pod(f"p{number}", cpu="1", priority=number % 3))
    world.put(a_pod("huge", cpu="8"))
    await asyncio.sleep(7)
    world.put(a_pod("urgent", cpu="2", priority=100))
    await asyncio.sleep(9)
    world.put(a_node("big", cpu="16"))
    await asyncio.sleep(3)
    world.delete("Pod", "default/p0")
    await asyncio.sleep(20)


def test_a_recorded_run_is_replayed_with_the_same_decisions() -> None:
    recorded: list[Recorded] = []
    decisions: list[tuple[str, str]] = []
    live(
        eventful,
        config=CONFIG,
        registry=deciding(decisions),
        observers=[Failures(decisions)],
        record=recorded,
    )
    again: list[tuple[str, str]] = []
    replay(recorded, deciding(again), CONFIG, again)
    assert again == decisions
    assert ("default-huge", "big") in decisions
    assert not any(isinstance(event, Call) for _, event in recorded), "a function cannot be replayed"


def test_the_story_of_a_pod_can_be_printed() -> None:
    recorded: list[Recorded] = []

    async def short(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(1)
        world.delete("Pod", "default/p")

    live(short, record=recorded)
    lines = story(recorded, "default-p")
    expected = ["Put", "Attempt", "Permitted", "Put", "BindingDone", "Dropped"]
    assert [line.split()[1].partition("(")[0] for line in lines] == expected, lines
    assert lines[0] == "1000000.000 Put Pod default/p version 2"
