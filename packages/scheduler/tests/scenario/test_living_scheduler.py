"""The living scheduler in virtual time against a small world: nothing lost, double-booked or left over."""

import asyncio
import re
from typing import Any

import pytest
from tests.support.world import World, assert_nobody_waits_in_vain, live

from kubesched.api.storage import PersistentVolume
from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.config.types import Extender
from kubesched.core.assembly import build_scheduler
from kubesched.core.framework.values.effects import Bind, Delete, Effect, Patch, Read
from kubesched.core.framework.values.extenders import (
    ExtenderArgs,
    ExtenderFilterArgs,
    ExtenderFilterResult,
    ExtenderResult,
)
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.queued_pod import Place
from kubesched.testing import a_claim, a_node, a_pod, a_storage_class, a_volume
from kubesched.testing.settled import assert_settled


def test_pods_are_bound_and_confirmed() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        for number in range(2):
            world.put(a_pod(f"p{number}", cpu="1"))

    world = live(story)
    assert sorted(world.bindings.values()) == ["n1", "n1"]
    assert [event.reason for event in world.events] == ["Scheduled", "Scheduled"]


def test_a_pod_that_fits_nowhere_says_why_and_is_placed_when_room_appears() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("big", cpu="4"))
        await asyncio.sleep(1)
        pod = world.pod("big")
        assert pod is not None
        (condition,) = pod.status.conditions
        assert (condition.type, condition.status, condition.reason) == ("PodScheduled", "False", "Unschedulable")
        assert condition.message.startswith("0/1 nodes are available: 1 Insufficient cpu.")
        assert condition.last_transition_time is not None
        world.put(a_node("n2", cpu="8"))

    assert live(story).node_of("big") == "n2"


def test_fault_27_a_pod_deleted_while_it_is_being_bound_leaves_no_place_taken() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.effect_seconds = 5
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(1)
        assert "default-p" in scheduler.cluster.table.pods
        world.delete("Pod", "default/p")
        await asyncio.sleep(0.1)
        assert "default-p" not in scheduler.cluster.table.pods
        world.put(a_pod("q", cpu="1"))

    assert live(story).node_of("q") == "n1"


def test_fault_12_a_pod_recreated_under_its_name_while_being_bound_is_another_pod() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.effect_seconds = 5
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="1", uid="first"))
        await asyncio.sleep(1)
        world.delete("Pod", "default/p")
        world.put(a_pod("p", cpu="1", uid="second"))

    assert live(story).bindings == {"second": "n1"}


def test_a_lost_answer_to_a_binding_that_landed_does_no_harm() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.lose_answer = lambda effect: isinstance(effect, Bind)
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(60)

    assert live(story).bindings == {"default-p": "n1"}


def test_a_refused_binding_backs_off_and_tries_again() -> None:
    refusals: list[Effect] = []

    def refuse(effect: Effect) -> str:
        if isinstance(effect, Bind) and len(refusals) < 3:
            refusals.append(effect)
            return "the server is busy"
        return ""

    async def story(world: World, scheduler: Scheduler) -> None:
        world.refuse = refuse
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(30)

    assert live(story).bindings == {"default-p": "n1"}
    assert len(refusals) == 3


def test_pods_that_cannot_be_looked_up_keep_their_places_and_it_is_said_once_a_minute() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for number in range(20):
            world.put(a_node(f"n{number}", cpu="1"))
            world.put(a_pod(f"p{number}", cpu="1"))
        world.refuse = lambda effect: "not allowed" if isinstance(effect, Bind | Read) else ""
        await asyncio.sleep(90)
        said = [note for note in world.notes if "cannot tell" in note]
        assert len(said) == 2, said
        assert said[0].endswith(" is bound: not allowed")
        assert re.fullmatch(
            r"cannot tell whether pod default/p\d+ is bound: not allowed \(and \d+ more, for this or other pods\)",
            said[1],
        )
        assert len(scheduler.cluster.table.pods) == 20
        world.refuse = lambda effect: ""
        await asyncio.sleep(20)
        assert all(world.node_of(f"p{number}") for number in range(20))

    live(story)


def test_another_client_binding_first_is_respected() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.effect_seconds = 2
        world.put(a_node("n1", cpu="1"))
        world.put(a_node("n2", cpu="1", unschedulable=True))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(0.5)
        world.put(a_pod("p", cpu="1", node="n2"))
        await asyncio.sleep(5)
        world.put(a_pod("q", cpu="1"))

    world = live(story)
    assert (world.node_of("p"), world.node_of("q")) == ("n2", "n1")


def test_preemption_evicts_by_uid_and_takes_the_room() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", priority=0))
        await asyncio.sleep(1)
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(20)

    world = live(story)
    assert world.node_of("high") == "n1"
    assert world.pod("low") is None
    (deletion,) = [effect for effect in world.performed if isinstance(effect, Delete)]
    assert (deletion.name, deletion.uid) == ("low", "default-low")
    patches = [effect for effect in world.performed if isinstance(effect, Patch) and effect.name == "low"]
    assert patches[-1].body["status"]["conditions"][0]["type"] == "DisruptionTarget"
    assert [event.note for event in world.events if event.reason == "Preempted"] == [
        "Preempted by pod default-high on node n1"
    ]


def test_fault_39_a_preemptor_is_held_back_while_its_victims_are_being_deleted() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", priority=0))
        await asyncio.sleep(1)
        world.effect_seconds = 10
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(5)
        queued = scheduler.queue.get("default-high")
        assert queued is not None
        assert queued.attempts == 1
        scheduler.queue.activate([queued.uid], scheduler.now())
        assert queued.place is Place.GATED
        assert scheduler.cluster.nominations.node_of("default-high") == "n1"
        await asyncio.sleep(60)

    assert live(story).node_of("high") == "n1"


def test_a_failed_eviction_activates_the_preemptor() -> None:
    failures: list[Effect] = []

    def refuse(effect: Effect) -> str:
        if isinstance(effect, Delete) and not failures:
            failures.append(effect)
            return "the server is busy"
        return ""

    async def story(world: World, scheduler: Scheduler) -> None:
        world.refuse = refuse
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", priority=0))
        await asyncio.sleep(1)
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(60)

    assert live(story).node_of("high") == "n1"


def test_a_node_that_appears_while_victims_are_going_wakes_the_preemptor() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", priority=0))
        await asyncio.sleep(1)
        world.effect_seconds = 20
        world.refuse = lambda effect: "not now" if isinstance(effect, Delete) else ""
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(2)
        world.put(a_node("n2", cpu="1"))
        await asyncio.sleep(120)

    world = live(story)
    assert world.node_of("high") == "n2"
    assert world.node_of("low") == "n1"


def test_a_pod_waits_for_its_volume_and_tells_where_it_will_be() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_storage_class("local"))
        world.put(a_volume("pv", storage_class="local", nodes="kubernetes.io/hostname=n1"))
        claim = a_claim("data", storage_class="local")
        world.put(claim)
        world.put(a_pod("p", volumes=["data"]))
        await asyncio.sleep(2)
        pod, volume = world.pod("p"), world.objects["PersistentVolume", "pv"]
        assert pod is not None
        assert isinstance(volume, PersistentVolume)
        assert (pod.spec.node_name, pod.status.nominated_node_name) == ("", "n1")
        assert volume.spec.claim_ref is not None
        assert (volume.spec.claim_ref.name, len(scheduler.pods_in_pre_bind)) == ("data", 1)
        world.put(a_claim("data", storage_class="local", bound_to="pv"))

    assert live(story).node_of("p") == "n1"


def test_fault_41_a_pod_preempted_while_its_volume_is_being_bound_is_put_back_not_deleted() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_storage_class("local"))
        world.put(a_volume("pv", storage_class="local", nodes="kubernetes.io/hostname=n1"))
        world.put(a_claim("data", storage_class="local"))
        world.put(a_pod("low", cpu="1", priority=0, volumes=["data"]))
        await asyncio.sleep(2)
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(60)

    world = live(story)
    assert world.node_of("high") == "n1"
    assert world.pod("low") is not None
    notes = [event.note for event in world.events if event.reason == "Preempted"]
    assert notes == ["Preempted by pod default-high on node n1 (in kube-scheduler memory)."]


@pytest.mark.parametrize("seed", range(6))
def test_random_trouble_loses_nothing(seed: int) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        random = world.random
        world.refuse = lambda effect: "busy" if random.random() < 0.2 else ""
        world.lose_answer = lambda effect: random.random() < 0.1
        world.report_seconds = lambda: random.choice([0.0, 0.0, 0.5, 3.0])
        world.lose_report = lambda obj: random.random() < 0.1
        world.repeat_report = lambda obj: random.random() < 0.2
        for number in range(4):
            world.put(a_node(f"n{number}", cpu="4"))
        for step in range(60):
            trouble(world, random.random(), step)
            await asyncio.sleep(random.random() * 2)
        world.refuse = lambda effect: ""
        world.lose_answer = lambda effect: False
        world.lose_report = lambda obj: False
        world.report_seconds = lambda: 0.0
        await asyncio.sleep(30)
        world.relist()
        # past the flush and the longest backoff
        await asyncio.sleep(400)

    assert_nobody_waits_in_vain(live(story, seed=seed))


def trouble(world: World, draw: float, step: int) -> None:
    random = world.random
    words: dict[str, Any] = {"cpu": random.choice(["500m", "1", "2"]), "priority": random.choice([0, 0, 5, 10])}
    if draw < 0.6:
        world.put(a_pod(f"p{step}", uid=f"uid-{step}", **words))
    elif draw < 0.75 and world.pods():
        pod = random.choice(world.pods())
        world.delete("Pod", pod.full_name)
        if random.random() < 0.5:
            world.put(a_pod(pod.name, uid=f"again-{step}", **words))
    elif draw < 0.85:
        number = random.randrange(4)
        if not any(pod.spec.node_name == f"n{number}" for pod in world.pods()):
            world.delete("Node", f"n{number}")
    else:
        world.put(a_node(f"n{random.randrange(4)}", cpu="4", labels={"step": str(step)}))


class Oracle:
    """Extenders in one place: slow, and of the opinion that only `n2` will do; binds pods itself if asked to."""

    def __init__(self, world: World) -> None:
        self.world = world
        self.bound: list[str] = []

    async def ask(self, question: ExtenderArgs) -> ExtenderResult:
        await asyncio.sleep(3)
        assert isinstance(question, ExtenderFilterArgs)
        others = {name: "not this one" for name in question.node_names if name != "n2"}
        return ExtenderFilterResult(
            node_names=[name for name in question.node_names if name not in others], failed=others
        )

    async def bind(self, extender: Extender, bind: Bind) -> str:
        self.bound.append(bind.name)
        await self.world.perform(bind)
        return ""


EXTENDED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: http://127.0.0.1:1/x
  filterVerb: filter
  bindVerb: bind
"""


def test_fault_38_a_slow_extender_delays_its_pod_and_reports_wait_for_it() -> None:
    async def play() -> None:
        world = World()
        oracle = Oracle(world)
        scheduler = build_scheduler(world, EXTENDED, extender_client=oracle)
        world.scheduler = scheduler
        running = asyncio.get_running_loop().create_task(scheduler.run())
        world.put(a_node("n1"))
        world.put(a_node("n2"))
        world.put(a_pod("p"))
        await asyncio.sleep(1)
        # the cycle waits for the extender: what is reported meanwhile is taken in after it
        world.delete("Node", "n1")
        await asyncio.sleep(0.5)
        assert scheduler.cluster.table.node_count == 2
        await asyncio.sleep(10)
        assert scheduler.cluster.table.node_count == 1
        assert (world.node_of("p"), oracle.bound) == ("n2", ["p"])
        assert_settled(world, scheduler)
        scheduler.stop()
        await running

    run_in_virtual_time(play())
