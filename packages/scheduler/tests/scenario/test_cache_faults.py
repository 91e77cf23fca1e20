"""Faults of caches that other schedulers have had, replayed. Names carry the fault's number."""

import asyncio
from collections.abc import Callable

import pytest
from tests.support.world import World, live

from kubesched.api.meta import ApiObject
from kubesched.api.volumes import ImageVolumeSource, Volume
from kubesched.core.assembly import build_scheduler
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import Permission, PermitPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.effects import Bind, Effect
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.loop.scheduler import LoopOptions, Scheduler
from kubesched.testing import (
    a_claim,
    a_container,
    a_namespace,
    a_node,
    a_pod,
    a_storage_class,
    a_term,
    a_volume,
    an_affinity,
)
from kubesched.testing.settled import assert_settled
from kubesched.testing.shorthand import HOSTNAME, ZONE

HEAD = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""
UNSCORED = HEAD + "profiles: [{plugins: {score: {disabled: [{name: '*'}]}}}]"
SAMPLED = HEAD + "percentageOfNodesToScore: 5"
IMAGES = HEAD + "profiles: [{plugins: {score: {disabled: [{name: '*'}], enabled: [{name: ImageLocality, weight: 1}]}}}]"
HELD = HEAD + "profiles: [{plugins: {permit: {enabled: [{name: Held}]}}}]"
MIB = 1024 * 1024


def message_of(world: World, name: str) -> str:
    """Return why a pod has no node."""
    pod = world.pod(name)
    assert pod is not None
    return pod.status.conditions[0].message if pod.status.conditions else ""


def refusing(name: str, times: int) -> Callable[[Effect], str]:
    """Return what refuses to bind a pod so many times."""
    left = [""] * times

    def refuse(effect: Effect) -> str:
        if isinstance(effect, Bind) and effect.name == name and left:
            left.pop()
            return "the server is busy"
        return ""

    return refuse


# -- 24: nodes in zones


@pytest.mark.parametrize(
    ("what", "zones"),
    [
        ("three nodes in one zone, one in another", "aaab"),
        ("the small zone comes first", "baaa"),
        ("zones of three sizes", "aaaabbc"),
        ("nodes without a zone among them", "aa--b-"),
    ],
)
def test_fault_24_no_node_is_lost_when_zones_are_of_unequal_size(what: str, zones: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for turn in range(3):
            for number, zone in enumerate(zones):
                world.put(a_node(f"n{turn}-{number}", cpu="1", zone=zone.strip("-")))
                # the search moves on between the arrivals of nodes
                world.put(a_pod(f"p{turn}-{number}", cpu="1"))
                await asyncio.sleep(0.1)

    world = live(story, config=UNSCORED)
    assert len(set(world.bindings.values())) == 3 * len(zones)


def test_fault_24_a_sample_of_the_nodes_reaches_all_of_them_in_turn() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for number in range(130):
            world.put(a_node(f"n{number}", cpu="1", zone="large" if number % 13 else "small"))
        for number in range(130):
            world.put(a_pod(f"p{number}", cpu="1"))
        await asyncio.sleep(5)

    assert len(set(live(story, config=SAMPLED).bindings.values())) == 130


def test_fault_24_a_zone_may_vanish_with_all_its_nodes() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for name, zone in (("a1", "a"), ("b1", "b"), ("b2", "b")):
            world.put(a_node(name, cpu="1", zone=zone))
        world.put(a_pod("p", cpu="1", node_selector={ZONE: "b"}))
        await asyncio.sleep(1)
        world.delete("Pod", "default/p")
        for name in ("b1", "b2"):
            world.delete("Node", name)
        world.put(a_pod("q", cpu="1"))
        await asyncio.sleep(1)
        world.put(a_node("c1", cpu="1", zone="c"))
        world.put(a_pod("r", cpu="1"))

    world = live(story, config=UNSCORED)
    assert (world.node_of("q"), world.node_of("r")) == ("a1", "c1")


# -- 25, 26: nodes that are not there


def test_fault_25_a_missed_deletion_of_a_node_is_made_up_for_by_the_next_listing() -> None:
    def refuse(effect: Effect) -> str:
        return 'nodes "gone" not found' if isinstance(effect, Bind) and effect.node_name == "gone" else ""

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("gone", cpu="4"))
        world.put(a_node("here", cpu="4", taints=["closed:NoSchedule"]))
        await asyncio.sleep(1)
        world.lose_report = lambda obj: True
        world.delete("Node", "gone")
        world.lose_report = lambda obj: False
        world.refuse = refuse
        world.put(a_pod("p", cpu="1"))
        world.put(a_pod("tolerant", cpu="1", tolerations=["closed:NoSchedule"], node_selector={HOSTNAME: "here"}))
        await asyncio.sleep(20)
        assert 'nodes "gone" not found' in message_of(world, "p")
        assert world.node_of("tolerant") == "here"
        world.relist()
        await asyncio.sleep(20)
        assert "1 node(s) had untolerated taint(s)" in message_of(world, "p")
        world.put(a_node("here", cpu="4"))
        await asyncio.sleep(20)

    assert live(story).node_of("p") == "here"


@pytest.mark.parametrize("where", ["on a node that is gone", "on a node that never was", "in an unknown namespace"])
def test_fault_25_and_26_terms_of_pods_without_a_node_are_no_obstacle(where: str) -> None:
    lost = a_pod(
        "lost",
        namespace="nowhere" if where == "in an unknown namespace" else "default",
        node="gone",
        labels={"app": "lost"},
        affinity=an_affinity(
            near="app=lost@zone",
            apart=a_term("app=p", "zone", namespaces=["default", "nowhere"], namespace_selector="team=x"),
            prefer_near=(5, "app=p@zone"),
        ),
    )

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_namespace("default"))
        world.put(a_node("n1", zone="a"))
        if where == "on a node that is gone":
            world.put(a_node("gone", zone="a"))
        world.put(lost)
        await asyncio.sleep(1)
        world.delete("Node", "gone")
        world.put(a_pod("p", labels={"app": "p"}, affinity=an_affinity(apart="app=lost@zone")))
        await asyncio.sleep(1)
        assert world.node_of("p") == "n1"
        # with its node the pod is back, and so are its terms
        world.put(a_node("gone", zone="b"))
        world.put(a_pod("q", labels={"app": "p"}, node_selector={ZONE: "b"}))
        await asyncio.sleep(1)
        assert "existing pods anti-affinity rules" in message_of(world, "q")
        world.delete("Pod", lost.full_name)

    assert live(story).node_of("q") == "gone"


# -- 27: pods that are deleted with a node in hand


class Held(PermitPlugin):
    """Makes pods with the label `held` wait."""

    name = "Held"

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        return Permission(Status(Code.WAIT if "held" in pod.labels else Code.SUCCESS), timeout_seconds=600)


@pytest.mark.parametrize("how", ["deleted", "marked for deletion"])
@pytest.mark.parametrize("where", ["permit", "pre-bind"])
def test_fault_27_a_deleted_pod_that_waits_with_a_node_in_hand_makes_room_at_once(where: str, how: str) -> None:
    registry = Registry()
    registry.register(Held)

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_storage_class())
        world.put(a_volume("pv", nodes=f"{HOSTNAME}=n1"))
        world.put(a_claim("data"))
        held = {"labels": {"held": "yes"}} if where == "permit" else {"volumes": ["data"]}
        world.put(a_pod("p", cpu="1", priority=5, **held))
        await asyncio.sleep(2)
        assert len(scheduler.waiting_pods) + len(scheduler.pods_in_pre_bind) == 1
        world.put(a_pod("q", cpu="1", priority=5))
        await asyncio.sleep(2)
        assert "1 Insufficient cpu" in message_of(world, "q")
        if how == "deleted":
            world.delete("Pod", "default/p")
        else:
            world.put(a_pod("p", cpu="1", priority=5, terminating=True, **held))
        await asyncio.sleep(3)
        assert world.node_of("q") == "n1"
        world.delete("Pod", "default/p")
        world.put(a_claim("data", bound_to="pv"))

    assert live(story, config=HELD, registry=registry).bindings == {"default-q": "n1"}


# -- 28: images


def test_fault_28_all_holders_of_an_image_hear_of_each_other() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        async def placed(turn: str) -> set[str]:
            names = [f"{turn}-{number}" for number in range(12)]
            for name in names:
                world.put(a_pod(name, containers=[a_container("x", image="x"), a_container("y", image="y")]))
            await asyncio.sleep(1)
            return {world.node_of(name) for name in names}

        def hold(image: str, *numbers: int) -> None:
            for number in numbers:
                world.put(a_node(f"closed{number}", images={image: 600 * MIB}, unschedulable=True))

        world.put(a_node("x1", images={"x:latest": 600 * MIB}))
        world.put(a_node("y1", images={"y:latest": 600 * MIB}))
        assert await placed("few") == {"x1", "y1"}
        hold("x:latest", 0, 1, 2)
        assert await placed("x-added") == {"x1"}
        hold("y:latest", 3, 4, 5, 6, 7)
        assert await placed("y-added") == {"y1"}
        hold("other:latest", 3, 4, 5, 6, 7)
        assert await placed("y-changed") == {"x1"}
        hold("y:latest", 3, 4, 5)
        assert await placed("y-restored") == {"x1", "y1"}
        world.delete("Node", "closed0")
        assert await placed("x-deleted") == {"y1"}

    live(story, config=IMAGES)


def test_fault_28_image_volumes_do_not_outweigh_everything_else() -> None:
    volumes = [Volume(name=f"v{number}", image=ImageVolumeSource(reference=f"v{number}")) for number in range(20)]
    images = {f"v{number}:latest": 1000 * MIB for number in range(20)}
    scores = "{disabled: [{name: '*'}], enabled: [{name: ImageLocality, weight: 1}, {name: NodeAffinity, weight: 2}]}"

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", images=images))
        world.put(a_node("n2"))
        world.put(a_pod("p", volumes=volumes))
        world.put(a_pod("q", volumes=volumes, affinity=an_affinity(prefer_nodes=(1, f"{HOSTNAME}=n2"))))

    world = live(story, config=HEAD + f"profiles: [{{plugins: {{score: {scores}}}}}]")
    assert (world.node_of("p"), world.node_of("q")) == ("n1", "n2")


# -- 29: what an assumed pod brings along


def test_fault_29_terms_of_an_assumed_pod_count_until_it_is_forgotten() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.effect_seconds = 5
        world.refuse = refusing("hermit", times=1)
        world.put(a_node("n1", zone="a"))
        world.put(a_pod("hermit", labels={"app": "a"}, affinity=an_affinity(apart="app=b@zone")))
        await asyncio.sleep(1)
        world.put(a_pod("b", labels={"app": "b"}, priority=0))
        world.put(a_pod("fan", affinity=an_affinity(near="app=a@zone")))
        await asyncio.sleep(1)
        queued = scheduler.queue.get("default-b")
        assert queued is not None
        assert queued.unschedulable_plugins == {"InterPodAffinity"}
        # its binding is refused, and until it is tried again nobody is in the way
        await asyncio.sleep(20)
        assert world.node_of("b") == "n1"
        world.put(a_node("n2", zone="b"))
        await asyncio.sleep(60)

    world = live(story)
    assert {name: world.node_of(name) for name in ("b", "hermit", "fan")} == {"b": "n1", "hermit": "n2", "fan": "n1"}


def test_fault_29_a_claim_for_one_pod_is_in_use_exactly_while_a_pod_has_it() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_storage_class())
        world.put(a_volume("pv", modes=["ReadWriteOncePod"], claimed_by="default/data", phase="Bound"))
        world.put(a_claim("data", modes=["ReadWriteOncePod"], bound_to="pv"))
        world.effect_seconds = 1
        # forgotten and assumed again and again: the references do not add up, and do not run out
        world.refuse = refusing("first", times=4)
        world.put(a_pod("first", volumes=["data"], priority=5))
        await asyncio.sleep(0.5)
        world.put(a_pod("second", volumes=["data"], priority=5))
        await asyncio.sleep(0.1)
        queued = scheduler.queue.get("default-second")
        assert queued is not None
        assert queued.unschedulable_plugins == {"VolumeRestrictions"}
        await asyncio.sleep(120)
        placed = [name for name in ("first", "second") if world.node_of(name)]
        assert len(placed) == 1
        waiting = "second" if placed == ["first"] else "first"
        assert "ReadWriteOncePod access mode already in-use by another pod" in message_of(world, waiting)
        world.delete("Pod", f"default/{placed[0]}")
        await asyncio.sleep(60)
        assert world.node_of(waiting) == "n1"

    live(story)


# -- 45: others at work on the same nodes


def test_fault_45_what_another_scheduler_placed_counts_as_soon_as_it_is_reported() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(a_node("n2", cpu="2"))
        for number in range(3):
            world.put(a_pod(f"theirs{number}", cpu="1", scheduler="other"))
        await asyncio.sleep(1)
        assert not world.bindings
        assert not scheduler.queue.pods()
        for number in range(3):
            world.put(a_pod(f"theirs{number}", cpu="1", scheduler="other", node="n1" if number else "n2"))
        for number in range(3):
            world.put(a_pod(f"ours{number}", cpu="1"))

    assert list(live(story).bindings.values()) == ["n2"]


def test_fault_45_a_node_that_two_schedulers_filled_takes_no_more_until_there_is_room_again() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.effect_seconds = 2
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("ours", cpu="1"))
        await asyncio.sleep(1)
        world.put(a_pod("theirs", cpu="1", scheduler="other", node="n1"))
        world.put(a_pod("next", cpu="1"))
        await asyncio.sleep(20)
        assert (world.node_of("ours"), world.node_of("next")) == ("n1", "")
        # the kubelet turns away whom it saw last
        world.put(a_pod("ours", cpu="1", node="n1", phase="Failed"))
        await asyncio.sleep(20)
        assert world.node_of("next") == ""
        world.delete("Pod", "default/theirs")
        await asyncio.sleep(20)
        assert world.node_of("next") == "n1"
        world.delete("Pod", "default/ours")

    live(story)


class Both:
    """Two schedulers that hear the same reports."""

    def __init__(self, *schedulers: Scheduler) -> None:
        self._schedulers = schedulers
        self.queue = self

    def put(self, obj: ApiObject) -> None:
        for scheduler in self._schedulers:
            scheduler.put(obj)

    def drop(self, obj: ApiObject) -> None:
        for scheduler in self._schedulers:
            scheduler.drop(obj)

    def validate(self) -> None:
        for scheduler in self._schedulers:
            scheduler.queue.validate()


@pytest.mark.parametrize("seed", range(3))
def test_fault_45_two_copies_bind_every_pod_once_and_agree_in_the_end(seed: int) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        copy = build_scheduler(world, options=LoopOptions(seed=seed + 1), services=LoopServices(world.notes.append))
        world.scheduler = Both(scheduler, copy)  # type: ignore[assignment]
        running = asyncio.get_running_loop().create_task(copy.run())
        world.report_seconds = lambda: world.random.random()
        for number in range(4):
            world.put(a_node(f"n{number}", cpu="30"))
        for number in range(30):
            world.put(a_pod(f"p{number}", cpu="1"))
            await asyncio.sleep(world.random.random() / 10)
        await asyncio.sleep(60)
        assert_settled(world, copy)
        copy.stop()
        await running
        world.scheduler = scheduler

    world = live(story, seed=seed)
    assert len(world.bindings) == 30
    assert [event.note for event in world.events if event.reason == "FailedScheduling"] == []
