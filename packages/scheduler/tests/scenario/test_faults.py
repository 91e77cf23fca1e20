"""Faults that other schedulers have had, replayed: cache, nomination and preemption. Names carry the fault's number."""

import asyncio

import pytest
from tests.support.world import World, live

from kubesched.api.meta import LabelSelector, LabelSelectorRequirement
from kubesched.api.pods import Pod, PodAffinityTerm
from kubesched.core.framework.values.effects import Bind
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node, a_pod, an_affinity


def test_fault_20_a_node_deleted_and_added_again_under_its_name_is_a_new_node() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(1)
        world.delete("Pod", "default/p")
        world.delete("Node", "n1")
        world.put(a_node("n1", cpu="4", labels={"new": "yes"}))
        world.put(a_pod("q", cpu="4", node_selector={"new": "yes"}))

    assert live(story).node_of("q") == "n1"


def test_fault_21_a_node_deleted_before_its_pods_comes_back_with_them() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(a_pod("old", cpu="1", node="n1"))
        await asyncio.sleep(1)
        world.delete("Node", "n1")
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(5)
        assert world.node_of("p") == ""
        world.put(a_node("n1", cpu="2"))
        await asyncio.sleep(5)
        world.put(a_pod("q", cpu="1"))

    world = live(story)
    assert world.node_of("p") == "n1"
    assert world.node_of("q") == ""


def test_fault_22_a_missed_deletion_is_made_up_for_by_the_next_listing() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(1)
        world.lose_report = lambda obj: True
        world.delete("Pod", "default/p")
        world.lose_report = lambda obj: False
        world.put(a_pod("q", cpu="1"))
        await asyncio.sleep(5)
        assert world.node_of("q") == ""
        world.relist()
        await asyncio.sleep(20)

    assert live(story).node_of("q") == "n1"


def test_fault_23_a_preemptor_deleted_before_it_is_bound_leaves_no_promise_behind() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", priority=0))
        await asyncio.sleep(1)
        world.effect_seconds = 2
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(1)
        world.delete("Pod", "default/high")
        await asyncio.sleep(30)
        assert scheduler.cluster.nominations.on("n1") == []
        world.effect_seconds = 0.01
        world.put(a_pod("again", cpu="1", priority=0))

    assert live(story).node_of("again") == "n1"


def test_fault_26_a_pod_on_a_node_that_does_not_exist_blocks_nobody() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_pod("lost", cpu="1", node="nowhere", namespace="no-such-namespace"))
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="1"))

    assert live(story).node_of("p") == "n1"


@pytest.mark.parametrize("how", ["deleted", "cleared"])
def test_fault_31_room_that_was_promised_is_free_again_when_the_promise_is_gone(how: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1", taints=["closed:NoSchedule"]))
        world.put(a_pod("promised", cpu="1", priority=5, nominated="n1"))
        await asyncio.sleep(1)
        assert [pod.name for pod in scheduler.cluster.nominations.on("n1")] in ([], ["promised"])
        world.put(a_pod("p", cpu="1", priority=5, tolerations=["closed:NoSchedule"]))
        await asyncio.sleep(1)
        if how == "deleted":
            world.delete("Pod", "default/promised")
        else:
            world.put(a_pod("promised", cpu="1", priority=5))
        await asyncio.sleep(30)

    assert live(story).node_of("p") == "n1"


def test_fault_32_a_nomination_without_a_node_is_none() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_pod("p", cpu="1", nominated=""))
        await asyncio.sleep(1)
        assert len(scheduler.cluster.nominations) == 0
        world.put(a_node("n1", cpu="1"))

    assert live(story).node_of("p") == "n1"


def test_fault_9_a_deleted_pod_frees_those_whom_its_own_anti_affinity_kept_away() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_pod("hermit", node="n1", labels={"app": "a"}, affinity=an_affinity(apart="app=b@hostname")))
        world.put(a_pod("b", labels={"app": "b"}))
        await asyncio.sleep(5)
        assert world.node_of("b") == ""
        world.delete("Pod", "default/hermit")

    assert live(story).node_of("b") == "n1"


def test_fault_48_a_pod_with_a_malformed_selector_fails_alone() -> None:
    nonsense = LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="Bogus"),))

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", zone="a"))
        term = PodAffinityTerm(label_selector=nonsense, topology_key="topology.kubernetes.io/zone")
        world.put(a_pod("broken", affinity=an_affinity(near=term)))
        world.put(a_pod("there", node="n1", affinity=an_affinity(apart=term)))
        world.put(a_pod("fine"))
        await asyncio.sleep(1)
        broken = world.pod("broken")
        assert broken is not None
        assert "Bogus" in broken.status.conditions[0].message

    world = live(story)
    assert (world.node_of("fine"), world.node_of("broken")) == ("n1", "")


def test_fault_60_a_long_message_is_cut_to_what_an_event_may_hold() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for number in range(40):
            world.put(a_node(f"n{number}", allocatable={f"example.com/thing-{number:02}-{'x' * 30}": "1"}))
        requests = {f"example.com/thing-{number:02}-{'x' * 30}": "1" for number in range(40)}
        world.put(a_pod("p", requests=requests))

    notes = [event.note for event in live(story).events if event.reason == "FailedScheduling"]
    assert notes
    assert all(len(note.encode()) <= 1024 for note in notes)
    assert notes[0].endswith(" ...")


def test_a_binding_that_landed_unanswered_and_unreported_keeps_its_place() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.lose_answer = lambda effect: isinstance(effect, Bind)
        world.put(a_pod("p", cpu="1"))
        world.lose_report = lambda obj: isinstance(obj, Pod) and bool(obj.spec.node_name)
        await asyncio.sleep(1)
        world.put(a_pod("q", cpu="1"))
        await asyncio.sleep(30)

    world = live(story)
    assert world.bindings == {"default-p": "n1"}


def test_a_victim_that_is_gone_unreported_is_not_chosen_again_and_again() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", priority=0))
        await asyncio.sleep(1)
        world.lose_report = lambda obj: True
        world.delete("Pod", "default/low")
        world.lose_report = lambda obj: False
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(60)

    world = live(story)
    assert world.node_of("high") == "n1"
    assert len([event for event in world.events if event.reason == "FailedScheduling"]) <= 2
