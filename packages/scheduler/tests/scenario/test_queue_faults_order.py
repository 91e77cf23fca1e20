"""Faults that other queues have had with who comes first, who is known and who is counted; names carry the number."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import ClassVar

import pytest
from tests.support.world import Story, World, live

from kubesched.api.pods import Pod
from kubesched.config.types import Extender
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import PreEnqueuePlugin
from kubesched.core.framework.values.effects import Bind, Effect
from kubesched.core.framework.values.events import Registration
from kubesched.core.framework.values.extenders import (
    ExtenderArgs,
    ExtenderFilterArgs,
    ExtenderFilterResult,
    ExtenderResult,
)
from kubesched.core.framework.values.status import Status, unresolvable
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.queued_pod import Place
from kubesched.testing import a_node, a_pod, an_affinity

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""


class Slow:
    """An extender that takes a second for every pod, and refuses all but those called `welcome`."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def ask(self, question: ExtenderArgs) -> ExtenderResult:
        assert isinstance(question, ExtenderFilterArgs)
        self.asked.append(question.pod.name)
        await asyncio.sleep(1)
        if question.pod.name == "welcome":
            return ExtenderFilterResult(node_names=question.node_names)
        return ExtenderFilterResult(node_names=[], failed=dict.fromkeys(question.node_names, "not here"))

    async def bind(self, extender: Extender, bind: Bind) -> str:
        raise AssertionError("nobody asked it to bind")


async def turmoil(world: World, seconds: int) -> None:
    """Let time pass in which a node changes all the time, which wakes whom the extender refused."""
    for number in range(2 * seconds):
        world.put(a_node("n1", labels={"turn": str(number)}))
        await asyncio.sleep(0.5)


def live_with(slow: Slow, story: Story) -> World:
    config = CONFIG + "extenders: [{urlPrefix: 'http://127.0.0.1:1/x', filterVerb: filter}]"
    return live(story, config=config, extender_client=lambda world: slow)


def test_fault_15_important_pods_that_fit_nowhere_do_not_hold_up_the_others() -> None:
    slow = Slow()

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        for number in range(6):
            world.put(a_pod(f"vip{number}", priority=100))
        await turmoil(world, 30)
        world.put(a_pod("welcome", priority=1))
        await turmoil(world, 15)
        assert world.node_of("welcome") == "n1"

    live_with(slow, story)
    # nor are they forgotten
    assert len(slow.asked) > 30


def test_fault_15_among_equals_nobody_is_passed_over() -> None:
    slow = Slow()

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        for number in range(15):
            world.put(a_pod(f"p{number}"))
        # more pods than can be asked about while one backs off
        await turmoil(world, 120)
        slow.asked.clear()
        await turmoil(world, 150)
        times = Counter(slow.asked)
        assert len(times) == 15
        assert max(times.values()) - min(times.values()) <= 1
        slow.asked.clear()
        world.put(a_pod("welcome"))
        await turmoil(world, 30)
        assert slow.asked.index("welcome") <= 15

    live_with(slow, story)


@pytest.mark.parametrize("how", ["the next update", "a listing"])
def test_fault_16_a_pod_whose_creation_was_missed_is_taken_in_all_the_same(how: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        await asyncio.sleep(1)
        world.lose_report = lambda obj: isinstance(obj, Pod)
        world.put(a_pod("p"))
        world.put(a_pod("gone"))
        world.delete("Pod", "default/gone")
        await asyncio.sleep(30)
        assert not scheduler.queue.pods()
        world.lose_report = lambda obj: False
        if how == "a listing":
            world.relist()
        else:
            world.put(a_pod("p", labels={"changed": "yes"}))
        await asyncio.sleep(1)
        assert world.node_of("p") == "n1"

    live(story)


# -- gated pods


class Doorman(PreEnqueuePlugin):
    """Holds all pods back while it is closed, and counts how often it is asked; no event changes its mind."""

    name = "Doorman"
    is_open: ClassVar[bool] = False
    asked: ClassVar[int] = 0

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        type(self).asked += 1
        return None if self.is_open else unresolvable("closed")

    def events_to_register(self) -> Sequence[Registration]:
        return ()


def test_fault_18_a_gated_pod_is_asked_about_every_five_minutes_and_not_all_the_time() -> None:
    class DoormanHere(Doorman):
        """Of this story alone."""

    registry = Registry()
    registry.register(DoormanHere)

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_pod("p"))
        await asyncio.sleep(1000)
        assert DoormanHere.asked == 4
        gated = scheduler.queue.get("default-p")
        assert gated is not None
        assert (gated.place, gated.was_flushed, gated.attempts) == (Place.GATED, False, 0)
        DoormanHere.is_open = True
        await asyncio.sleep(310)
        assert world.node_of("p") == "n1"

    config = CONFIG + "profiles: [{plugins: {preEnqueue: {enabled: [{name: Doorman}]}}}]"
    assert live(story, config=config, registry=registry).events[-1].reason == "Scheduled"


def test_fault_18_the_promise_to_a_pod_counts_as_soon_as_its_gates_are_gone() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("old", cpu="1", node="n1"))
        world.put(a_pod("waiting", cpu="1"))
        await asyncio.sleep(10)
        world.put(a_pod("promised", cpu="1", nominated="n1", gates=["hold"]))
        await asyncio.sleep(10)
        assert scheduler.queue.counts() == {Place.UNSCHEDULABLE: 1, Place.GATED: 1}
        # the one that waits has waited longer and is tried first
        world.put(a_pod("promised", cpu="1", nominated="n1"))
        world.delete("Pod", "default/old")

    world = live(story)
    assert (world.node_of("promised"), world.node_of("waiting")) == ("n1", "")


# -- counts


def test_fault_19_the_places_are_counted_rightly_whatever_becomes_of_their_pods() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        def counts() -> dict[str, int]:
            return {place.value: count for place, count in scheduler.queue.counts().items()}

        def refuse(effect: Effect) -> str:
            return "the server is busy" if isinstance(effect, Bind) else ""

        world.put(a_node("n1", cpu="4"))
        for life in ("first", "second"):
            world.refuse = refuse
            for number in range(3):
                world.put(a_pod(f"gated{number}", uid=f"{life}-gated{number}", cpu="8", gates=["hold"]))
                world.put(a_pod(f"big{number}", uid=f"{life}-big{number}", cpu="8"))
                world.put(a_pod(f"failing{number}", uid=f"{life}-failing{number}", cpu="1"))
            await asyncio.sleep(0.8)
            assert counts() == {"gated": 3, "unschedulable": 3, "backoff": 3}
            # one of each is changed in a way that moves nobody
            world.put(a_pod("gated0", uid=f"{life}-gated0", cpu="8", gates=["hold"], labels={"new": "yes"}))
            world.put(a_pod("big0", uid=f"{life}-big0", cpu="8", annotations={"new": "yes"}))
            await asyncio.sleep(0.1)
            assert counts() == {"gated": 3, "unschedulable": 3, "backoff": 3}
            # one gate is gone, and its pod is no better off
            world.put(a_pod("gated0", uid=f"{life}-gated0", cpu="8"))
            await asyncio.sleep(0.1)
            assert counts() == {"gated": 2, "unschedulable": 4, "backoff": 3}
            # one of each is created again under its name
            world.delete("Pod", "default/gated1")
            world.put(a_pod("gated1", uid=f"{life}-again-gated1", cpu="8"))
            world.delete("Pod", "default/big1")
            world.put(a_pod("big1", uid=f"{life}-again-big1", cpu="8", gates=["hold"]))
            world.delete("Pod", "default/failing1")
            world.put(a_pod("failing1", uid=f"{life}-again-failing1", cpu="8"))
            await asyncio.sleep(0.1)
            assert counts() == {"gated": 2, "unschedulable": 5, "backoff": 2}
            world.refuse = lambda effect: ""
            await asyncio.sleep(15)
            assert counts() == {"gated": 2, "unschedulable": 5}
            for pod in world.pods():
                world.delete("Pod", pod.full_name)
            await asyncio.sleep(1)
            assert counts() == {}

    live(story)


# -- narrowed by PreFilter

DAEMONS = CONFIG + "percentageOfNodesToScore: 10"


def a_daemon_pod(name: str, node: str) -> Pod:
    return a_pod(name, cpu="1", affinity=an_affinity(nodes=f"metadata.name={node}"))


def test_fault_57_a_pod_for_one_node_finds_it_however_few_nodes_are_looked_at() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for number in range(150):
            world.put(a_node(f"n{number}", zone=str(number % 3)))
        for number in range(150):
            world.put(a_daemon_pod(f"p{number}", f"n{number}"))
        world.put(a_pod("anywhere", cpu="1"))

    world = live(story, config=DAEMONS)
    assert all(world.node_of(f"p{number}") == f"n{number}" for number in range(150))
    assert world.node_of("anywhere") != ""


def test_fault_57_a_pod_for_one_node_waits_for_that_node_alone() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for number in range(150):
            world.put(a_node(f"n{number}", cpu="1"))
        world.put(a_pod("there", cpu="1", node="n7"))
        world.put(a_daemon_pod("p", "n7"))
        await asyncio.sleep(20)
        pod = world.pod("p")
        assert pod is not None
        assert pod.status.conditions[0].message.startswith(
            "0/150 nodes are available: 1 Insufficient cpu, 149 node(s) didn't satisfy plugin(s) [NodeAffinity]."
        )
        world.delete("Pod", "default/there")
        await asyncio.sleep(5)
        assert world.node_of("p") == "n7"

    live(story, config=DAEMONS)
