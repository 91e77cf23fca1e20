"""Faults that schedulers have had while a preemption is under way: circles, races, slow writes."""

import asyncio
from collections.abc import Sequence

import msgspec
import pytest
from tests.support.staging import slow, throttled, with_plugins
from tests.support.world import World, live

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import FilterPlugin, Permission, PermitPlugin, PreBindPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.effects import Bind, Delete, Effect, Patch
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.framework.values.status import SUCCESS, Code, Status, unresolvable, unschedulable
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.core.loop.loop_events import Activate
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.queued_pod import Place, QueuedPod
from kubesched.testing import a_node, a_pod


def queued(scheduler: Scheduler, name: str) -> QueuedPod:
    found = scheduler.queue.get(f"default-{name}")
    assert found is not None, f"{name} is not queued"
    return found


# -- repeated preemption


async def nudge(scheduler: Scheduler, name: str, seconds: int) -> None:
    """Have a pod tried again every second, as unrelated events might."""
    for _ in range(seconds):
        await asyncio.sleep(1)
        scheduler.inbox.post(Activate([f"default-{name}"]))


def test_fault_39_a_preemptor_that_is_nudged_evicts_everybody_once() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="3"))
        for number in range(3):
            world.put(a_pod(f"low-{number}", cpu="1"))
        await asyncio.sleep(1)
        world.effect_seconds = 10
        world.put(a_pod("high", cpu="3", priority=10))
        await nudge(scheduler, "high", 60)

    world = live(story)
    assert sorted(world.evicted) == ["low-0", "low-1", "low-2"]
    assert world.node_of("high") == "n1"


def test_fault_39_a_preemptor_waits_for_a_victim_that_is_being_bound() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        slow(world, Bind, 30)
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1"))
        await asyncio.sleep(1)
        world.put(a_pod("high", cpu="1", priority=10))
        await nudge(scheduler, "high", 80)

    world = live(story)
    assert (world.evicted, world.bindings) == (["low"], {"default-high": "n1"})


def test_fault_39_a_preemptor_is_content_with_victims_that_take_their_time() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.grace_seconds = 60
        for name in ("n1", "n2"):
            world.put(a_node(name, cpu="1"))
            world.put(a_pod(f"low-{name}", cpu="1", node=name))
        world.put(a_pod("high", cpu="1", priority=10))
        await nudge(scheduler, "high", 50)
        assert len(world.evicted) == 1
        await asyncio.sleep(30)

    world = live(story)
    assert len(world.evicted) == 1
    assert world.node_of("high")


def test_fault_39_victims_that_are_going_already_are_left_alone() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.grace_seconds = 20
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", node="n1"))
        world.delete("Pod", "default/low")
        world.put(a_pod("high", cpu="1", priority=10))
        await nudge(scheduler, "high", 15)
        await asyncio.sleep(10)

    world = live(story)
    assert (world.evicted, world.node_of("high")) == ([], "n1")


def test_fault_39_a_preemptor_whose_victims_left_by_themselves_is_not_stuck() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        for number in range(2):
            world.put(a_pod(f"low-{number}", cpu="1"))
        await asyncio.sleep(1)
        slow(world, Patch, 1)
        world.put(a_pod("high", cpu="2", priority=10))
        await asyncio.sleep(0.5)
        for number in range(2):
            world.delete("Pod", f"default/low-{number}")
        await asyncio.sleep(10)
        assert world.node_of("high") == "n1"

    assert live(story).evicted == []


def test_fault_39_two_preemptors_do_not_take_turns_on_one_node() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.grace_seconds = 20
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", node="n1"))
        world.put(a_pod("mid", cpu="1", priority=5))
        await asyncio.sleep(2)
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(2)
        await nudge(scheduler, "mid", 40)
        assert (world.node_of("high"), world.evicted) == ("n1", ["low"])
        world.delete("Pod", "default/high")
        await asyncio.sleep(60)

    world = live(story)
    assert world.evicted == ["low"]
    assert world.node_of("mid") == "n1"


class Grudge(FilterPlugin):
    """Keeps away from nodes with certain pods, and wrongly says that their departure does not help."""

    name = "Grudge"

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        return unschedulable("not with them") if any("lock" in other.labels for other in node.pods) else None

    def events_to_register(self) -> Sequence[Registration]:
        event = ClusterEvent(Resource.POD, Action.DELETE)
        return (Registration(event, lambda pod, old, new: Hint.QUEUE_SKIP),)


def test_fault_40_a_preemptor_that_no_hint_helps_is_tried_again_after_a_while() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        for number in range(2):
            world.put(a_pod(f"low-{number}", node="n1", labels={"lock": ""}))
        await asyncio.sleep(1)
        world.effect_seconds = 3
        world.put(a_pod("high", priority=10))
        await nudge(scheduler, "high", 2)
        await asyncio.sleep(0.5)
        assert queued(scheduler, "high").place is Place.GATED
        await asyncio.sleep(30)
        assert world.evicted == ["low-0", "low-1"]
        # past the flush
        await asyncio.sleep(300)

    assert live(story, **with_plugins(Grudge)).node_of("high") == "n1"


# -- victims that are not bound yet


class Patient(PermitPlugin, PreBindPlugin):
    """Keeps unimportant pods from being bound: at Permit, or at PreBind, where it may not listen when called back."""

    name = "Patient"

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        waits = pod.labels.get("waits") == "permit"
        return Permission(Status(Code.WAIT), 600) if waits else Permission(SUCCESS)

    async def pre_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        try:
            if "pre-bind" in pod.labels.get("waits", ""):
                await asyncio.sleep(600)
        except asyncio.CancelledError:
            if "deaf" not in pod.labels["waits"]:
                raise
        return None


@pytest.mark.parametrize("where", ["permit", "pre-bind", "deaf-pre-bind"])
def test_fault_41_a_victim_that_is_not_bound_yet_is_put_back_not_deleted(where: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", labels={"waits": where}))
        await asyncio.sleep(2)
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(60)
        assert (world.evicted, world.node_of("high"), world.node_of("low")) == ([], "n1", "")
        assert queued(scheduler, "low").place is Place.UNSCHEDULABLE
        world.delete("Pod", "default/high")
        low = world.pod("low")
        assert low is not None
        metadata = msgspec.structs.replace(low.metadata, labels={})
        world.put(msgspec.structs.replace(low, metadata=metadata))
        await asyncio.sleep(30)

    world = live(story, **with_plugins(Patient))
    notes = [event.note for event in world.events if event.reason == "Preempted"]
    assert notes == ["Preempted by pod default-high on node n1 (in kube-scheduler memory)."]
    assert world.bindings == {"default-high": "n1", "default-low": "n1"}


class Opening(FilterPlugin):
    """Rejects important pods everywhere until it is opened."""

    name = "Opening"
    opened = False

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        return None if type(self).opened or not pod.priority else unresolvable("closed")


@pytest.mark.parametrize("rejected_by", ["a preemption", "its plugin"])
def test_a_victim_that_leaves_its_node_in_memory_is_not_deleted(
    rejected_by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", labels={"waits": "permit"}))
        await asyncio.sleep(2)
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(2)
        waiting = scheduler.waiting_pods.get("default-low")
        assert waiting is not None
        monkeypatch.setattr(Opening, "opened", True)
        # the preemptor is tried before the victim's binding cycle sees that it was rejected
        scheduler.inbox.post(Activate(["default-high"]))
        if rejected_by == "a preemption":
            waiting.preempt("DefaultPreemption", "preempted")
        else:
            waiting.reject("Patient", "not today")
        await asyncio.sleep(60)
        assert (world.evicted, world.node_of("high"), world.node_of("low")) == ([], "n1", "")

    live(story, **with_plugins(Patient, Opening))


# -- slow and throttled writes


def test_fault_42_throttled_writes_make_preemption_slow_but_not_wrong() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for number in range(3):
            world.put(a_node(f"n{number}", cpu="2"))
        for number in range(6):
            world.put(a_pod(f"low-{number}", cpu="1"))
        await asyncio.sleep(2)
        throttled(world, 0.5)
        for number in range(3):
            world.put(a_pod(f"high-{number}", cpu="2", priority=10))
            world.put(a_pod(f"mid-{number}", cpu="1", priority=5))
        await asyncio.sleep(120)

    world = live(story)
    assert sorted(world.evicted) == [f"low-{number}" for number in range(6)]
    assert sorted(world.node_of(f"high-{number}") for number in range(3)) == ["n0", "n1", "n2"]
    assert not any(world.node_of(f"mid-{number}") for number in range(3))


def test_fault_42_slow_deletions_keep_nobody_else_waiting() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        slow(world, Delete, 60)
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1"))
        await asyncio.sleep(1)
        world.put(a_pod("high", cpu="1", priority=10))
        world.put(a_node("n2", cpu="1", taints=["special:NoSchedule"]))
        world.put(a_pod("p", cpu="1", tolerations=["special:NoSchedule"]))
        await asyncio.sleep(1)
        assert world.node_of("p") == "n2"
        await asyncio.sleep(100)

    assert live(story).node_of("high") == "n1"


def test_fault_42_a_promise_that_is_written_late_does_not_outlive_its_withdrawal() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", node="n1"))
        world.grace_seconds = 5
        slow(world, Patch, 20, "high")
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(1)
        # closed to the preemptor, whose promise is still being written
        world.put(a_node("n1", cpu="1", taints=["closed:NoSchedule"]))
        await asyncio.sleep(60)
        world.put(a_pod("p", cpu="1", priority=10, tolerations=["closed:NoSchedule"]))
        await asyncio.sleep(5)

    assert live(story).node_of("p") == "n1"


def test_fault_42_any_number_of_pods_that_wait_holds_up_nobody_else() -> None:
    placed = []

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1000", memory="1000Gi", pods=2000))
        for number in range(1000):
            world.put(a_pod(f"waiting-{number}", labels={"waits": "permit"}))
        await asyncio.sleep(5)
        world.put(a_pod("p"))
        await asyncio.sleep(5)
        placed.append(world.node_of("p"))
        for waiting in scheduler.waiting_pods:
            waiting.allow(Patient.name)

    live(story, **with_plugins(Patient))
    assert placed == ["n1"]


# -- an API server that does not answer


def test_a_preemption_that_nobody_answers_is_tried_again_with_pauses() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1"))
        await asyncio.sleep(1)
        asked: list[str] = []

        def refuse(effect: Effect) -> str:
            asked.append(effect.name if isinstance(effect, Patch) else "")
            return "connection refused"

        world.refuse = refuse
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(20)
        assert 10 < asked.count("low") < 30, "again and again, but not all the time"
        world.refuse = lambda effect: ""
        await asyncio.sleep(10)

    world = live(story)
    assert (world.evicted[-1], world.node_of("high")) == ("low", "n1")
