"""Faults that other queues have had with pods in flight, replayed through the whole loop; names carry the number.

A pod is in flight from its pop until its attempt has failed or Permit has let it go. What happens meanwhile must
neither be lost nor be kept for ever.
"""

import asyncio
from collections.abc import Sequence
from typing import ClassVar

import pytest
from tests.support.world import Story, World, live

from kubesched.config.types import Extender
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import FilterPlugin, Permission, PermitPlugin, Plugin, ReservePlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.effects import Bind, Effect
from kubesched.core.framework.values.events import Action, ClusterEvent, Registration, Resource
from kubesched.core.framework.values.extenders import (
    ExtenderArgs,
    ExtenderFilterArgs,
    ExtenderFilterResult,
    ExtenderResult,
)
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.queued_pod import Place, QueuedPod
from kubesched.testing import a_node, a_pod

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""
EXTENDED = CONFIG + "extenders: [{urlPrefix: 'http://127.0.0.1:1/x', filterVerb: filter}]"


def live_with(plugin: type[Plugin], story: Story) -> World:
    registry = Registry()
    registry.register(plugin)
    config = f"{CONFIG}profiles: [{{plugins: {{multiPoint: {{enabled: [{{name: {plugin.name}}}]}}}}}}]"
    return live(story, config=config, registry=registry)


class Doubtful(PermitPlugin):
    """Keeps every pod in flight until the story decides about it; a new node helps whom it turned away."""

    name = "Doubtful"

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        return Permission(Status(Code.WAIT), timeout_seconds=600)

    def events_to_register(self) -> Sequence[Registration]:
        return (Registration(ClusterEvent(Resource.NODE, Action.ADD)),)


class OnlyN2:
    """An extender that takes its time and then wants `n2`."""

    async def ask(self, question: ExtenderArgs) -> ExtenderResult:
        assert isinstance(question, ExtenderFilterArgs)
        await asyncio.sleep(3)
        failed = {name: "not this one" for name in question.node_names if name != "n2"}
        return ExtenderFilterResult(
            node_names=[name for name in question.node_names if name not in failed], failed=failed
        )

    async def bind(self, extender: Extender, bind: Bind) -> str:
        raise AssertionError("nobody asked it to bind")


def allow(scheduler: Scheduler, uid: str) -> None:
    waiting = scheduler.waiting_pods.get(uid)
    assert waiting is not None, f"nothing is to be decided about {uid}"
    waiting.allow(Doubtful.name)


def turn_away(scheduler: Scheduler, uid: str) -> None:
    waiting = scheduler.waiting_pods.get(uid)
    assert waiting is not None, f"nothing is to be decided about {uid}"
    assert waiting.reject(Doubtful.name, "not this time")


def queued(scheduler: Scheduler, uid: str) -> QueuedPod:
    found = scheduler.queue.get(uid)
    assert found is not None, f"{uid} is not queued"
    return found


def assert_nothing_is_kept(scheduler: Scheduler) -> None:
    in_flight = scheduler.queue._in_flight
    assert (len(in_flight), in_flight.kept_events) == (0, 0)


# -- what happens meanwhile is not lost


def test_fault_1_an_event_between_the_attempt_and_its_failure_is_not_lost() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_pod("p"))
        await asyncio.sleep(1)
        world.put(a_node("n2"))
        await asyncio.sleep(1)
        turn_away(scheduler, "default-p")
        await asyncio.sleep(5)
        allow(scheduler, "default-p")

    assert live_with(Doubtful, story).node_of("p") != ""


def test_fault_1_an_event_while_an_extender_takes_its_time_is_not_lost() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_pod("p"))
        await asyncio.sleep(1)
        world.put(a_node("n2"))
        await asyncio.sleep(15)
        assert world.node_of("p") == "n2"

    live(story, config=EXTENDED, extender_client=lambda world: OnlyN2())


def test_fault_2_an_event_counts_for_those_in_flight_whoever_is_done_before() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_pod("first"))
        await asyncio.sleep(1)
        for number in range(10):
            world.put(a_node(f"early{number}"))
        world.put(a_pod("second"))
        await asyncio.sleep(1)
        allow(scheduler, "default-first")
        await asyncio.sleep(1)
        world.put(a_node("late"))
        world.put(a_pod("third"))
        await asyncio.sleep(1)
        turn_away(scheduler, "default-third")
        await asyncio.sleep(1)
        turn_away(scheduler, "default-second")
        await asyncio.sleep(5)
        # nothing happened since the third was popped
        assert queued(scheduler, "default-third").place is Place.UNSCHEDULABLE
        allow(scheduler, "default-second")

    world = live_with(Doubtful, story)
    assert "" not in (world.node_of("first"), world.node_of("second"))


class Shaky(FilterPlugin, ReservePlugin):
    """Raises where the story says."""

    name = "Shaky"
    raises_at: ClassVar[str] = ""

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        self._pass("filter")
        return None

    def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        self._pass("reserve")
        return None

    def _pass(self, point: str) -> None:
        if self.raises_at == point:
            raise RuntimeError("shaken")


@pytest.mark.parametrize("where", ["filter", "reserve", "bind"])
def test_fault_3_an_error_after_a_rejection_is_tried_again_without_any_event(where: str) -> None:
    class ShakyHere(Shaky):
        """Of this story alone."""

    def refuse(effect: Effect) -> str:
        return "the server is busy" if ShakyHere.raises_at == "bind" and isinstance(effect, Bind) else ""

    async def story(world: World, scheduler: Scheduler) -> None:
        world.refuse = refuse
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="2"))
        await asyncio.sleep(20)
        assert queued(scheduler, "default-p").place is Place.UNSCHEDULABLE
        ShakyHere.raises_at = where
        world.put(a_node("n2", cpu="2"))
        await asyncio.sleep(0.5)
        assert queued(scheduler, "default-p").place is Place.BACKOFF
        ShakyHere.raises_at = ""
        await asyncio.sleep(15)
        assert world.node_of("p") == "n2"

    live_with(ShakyHere, story)


def test_fault_14_a_binding_that_fails_leaves_the_pod_as_it_was_last_reported() -> None:
    refusals: list[Effect] = []

    def refuse(effect: Effect) -> str:
        if isinstance(effect, Bind) and len(refusals) < 2:
            refusals.append(effect)
            return "the server is busy"
        return ""

    async def story(world: World, scheduler: Scheduler) -> None:
        world.refuse = refuse
        world.effect_seconds = 2
        world.put(a_node("n1", taints=["special:PreferNoSchedule"]))
        world.put(a_pod("p"))
        await asyncio.sleep(1)
        # while the binding is under way the pod and its node change, and another node comes
        world.put(a_pod("p", labels={"changed": "yes"}, tolerations=["special"]))
        world.put(a_node("n1", taints=["special:NoSchedule"]))
        world.put(a_node("n2", unschedulable=True))
        await asyncio.sleep(4)
        retried = queued(scheduler, "default-p")
        assert (retried.attempts, retried.pod.labels) == (1, {"changed": "yes"})
        assert retried.place is Place.BACKOFF
        await asyncio.sleep(30)
        assert_nothing_is_kept(scheduler)

    world = live(story)
    assert len(refusals) == 2
    assert world.bindings == {"default-p": "n1"}


def test_fault_14_the_end_of_a_failed_binding_does_not_end_the_next_attempt() -> None:
    refusals: list[Effect] = []

    def refuse(effect: Effect) -> str:
        if isinstance(effect, Bind) and not refusals:
            refusals.append(effect)
            return "the server is busy"
        return ""

    async def story(world: World, scheduler: Scheduler) -> None:
        world.refuse = refuse
        world.put(a_node("n1"))
        world.put(a_pod("p"))
        await asyncio.sleep(1)
        allow(scheduler, "default-p")
        await asyncio.sleep(10)
        assert queued(scheduler, "default-p").place is Place.IN_FLIGHT
        world.put(a_node("n2"))
        await asyncio.sleep(1)
        turn_away(scheduler, "default-p")
        await asyncio.sleep(10)
        allow(scheduler, "default-p")

    assert live_with(Doubtful, story).node_of("p") != ""


# -- nor kept for ever


def node_events(world: World, name: str, count: int = 20) -> None:
    for number in range(count):
        world.put(a_node(name, labels={"number": str(number)}))
        world.delete("Node", name)


@pytest.mark.parametrize("deletion", ["reported", "missed"])
def test_fault_12_a_pod_recreated_while_it_is_decided_about_leaves_no_events_behind(deletion: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_pod("p", uid="first"))
        await asyncio.sleep(1)
        node_events(world, "other")
        world.lose_report = lambda obj: deletion == "missed"
        world.delete("Pod", "default/p")
        world.lose_report = lambda obj: False
        world.put(a_pod("p", uid="second"))
        await asyncio.sleep(1)
        node_events(world, "other")
        await asyncio.sleep(1)
        assert [each.uid for each in scheduler.queue._in_flight] == ["second"]
        allow(scheduler, "second")
        await asyncio.sleep(1)
        node_events(world, "other")
        await asyncio.sleep(1)
        assert_nothing_is_kept(scheduler)

    assert live_with(Doubtful, story).bindings == {"second": "n1"}


@pytest.mark.parametrize("deletion", ["reported", "missed"])
def test_fault_12_a_pod_recreated_while_its_attempt_fails_leaves_no_events_behind(deletion: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_pod("p", uid="first"))
        await asyncio.sleep(1)
        world.lose_report = lambda obj: deletion == "missed"
        world.delete("Pod", "default/p")
        world.lose_report = lambda obj: False
        world.put(a_pod("p", uid="second"))
        node_events(world, "other")
        await asyncio.sleep(30)
        assert queued(scheduler, "second").place is Place.UNSCHEDULABLE
        node_events(world, "other")
        await asyncio.sleep(30)
        assert_nothing_is_kept(scheduler)
        world.put(a_node("n2"))

    assert live(story, config=EXTENDED, extender_client=lambda world: OnlyN2()).bindings == {"second": "n2"}


def test_fault_13_a_pod_that_is_skipped_since_it_is_being_deleted_is_done() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        for number in range(10):
            world.put(a_pod("p", uid=f"uid-{number}", terminating=True))
            await asyncio.sleep(1)
            node_events(world, "other")
            await asyncio.sleep(1)
            assert not scheduler.queue.pods()
            assert_nothing_is_kept(scheduler)
            world.delete("Pod", "default/p")

    assert live(story).bindings == {}


def test_fault_13_scaling_out_and_in_again_and_again_leaves_nothing_behind() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="20"))
        for number in range(5):
            for pod in range(30):
                world.put(a_pod(f"p{pod}", uid=f"uid-{number}-{pod}", cpu="1"))
            await asyncio.sleep(60)
            node_events(world, "other", 3)
            await asyncio.sleep(60)
            assert scheduler.queue.counts() == {Place.UNSCHEDULABLE: 10}
            for pod in range(30):
                world.delete("Pod", f"default/p{pod}")
            await asyncio.sleep(30)
            assert_nothing_is_kept(scheduler)
            assert not scheduler.queue.pods()
            assert not scheduler.event_handlers.known_pods()
            assert not scheduler.cluster.table.pods

    live(story)
