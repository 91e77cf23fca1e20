"""Permission: plugins find the pods that wait for them, and allow or reject them; pods they name are tried at once."""

import asyncio
from collections.abc import Callable

from tests.support.world import World, live

from kubesched.api.nodes import Node
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import Permission, PermitPlugin, PostBindPlugin, PreFilterPlugin, ReservePlugin
from kubesched.core.framework.services.waiting_pods import WaitingPods
from kubesched.core.framework.values.cycle import PODS_TO_ACTIVATE, CycleState
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.framework.values.status import SUCCESS, Code, Status
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_node, a_pod

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: Together}]}}
"""


class Together(PermitPlugin):
    """Three pods go together; a pod labelled `spoil` turns all who wait away."""

    name = "Together"

    def __init__(self, waiting_pods: WaitingPods) -> None:
        self.waiting = waiting_pods

    def events_to_register(self) -> list[Registration]:
        return []

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        others = list(self.waiting)
        if "spoil" in pod.metadata.labels:
            for other in others:
                other.reject(self.name, f"spoilt by {pod.name}")
            return Permission(SUCCESS)
        if len(others) < 2:
            return Permission(Status(Code.WAIT), timeout_seconds=20)
        for other in others:
            assert other.pending_plugins == [self.name]
            other.allow(self.name)
        return Permission(SUCCESS)


def with_plugin(*plugins: type) -> Registry:
    registry = Registry()
    for plugin in plugins:
        registry.register(plugin)
    return registry


def together(story: Callable[[World, Scheduler], object]) -> World:
    return live(story, config=CONFIG, registry=with_plugin(Together))  # type: ignore[arg-type]


def test_a_plugin_allows_the_pods_that_wait_for_it() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="4"))
        for name in ("a", "b"):
            world.put(a_pod(name, cpu="1"))
        await asyncio.sleep(5)
        assert [world.node_of(name) for name in "ab"] == ["", ""]
        assert len(scheduler.waiting_pods) == 2
        world.put(a_pod("c", cpu="1"))
        await asyncio.sleep(1)
        assert [world.node_of(name) for name in "abc"] == ["n1"] * 3

    together(story)


def test_a_pod_that_a_plugin_turns_away_leaves_its_place_and_says_why() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(a_pod("a", cpu="1"))
        await asyncio.sleep(1)
        world.put(a_pod("b", cpu="1", labels={"spoil": ""}))
        await asyncio.sleep(1)
        assert world.node_of("b") == "n1"
        notes = [event.note for event in world.events if event.regarding.name == "a" and event.type == "Warning"]
        assert (
            notes == ["0/1 nodes are available: spoilt by b. no new claims to deallocate"] or "spoilt by b" in notes[0]
        )
        world.delete("Pod", "default/a")

    together(story)


def test_a_pod_that_is_turned_away_while_its_nomination_is_announced_does_not_keep_it() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        # the announcement takes a while, and the next pod does not
        world.put(a_pod("a", cpu="1"))
        world.put(a_pod("b", cpu="1", labels={"spoil": ""}))
        await asyncio.sleep(1)
        turned_away = world.pod("a")
        assert turned_away is not None
        assert turned_away.status.nominated_node_name == ""
        assert not scheduler.cluster.nominations.on("n1")
        world.delete("Pod", "default/a")

    together(story)


def test_a_pod_that_waits_too_long_is_turned_away_and_its_place_is_given_to_others() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("a", cpu="1"))
        await asyncio.sleep(19)
        assert len(scheduler.waiting_pods) == 1
        await asyncio.sleep(2)
        assert len(scheduler.waiting_pods) == 0
        timed_out = [event.note for event in world.events if "timeout" in event.note]
        assert "rejected due to timeout after waiting 20s at plugin Together" in timed_out[0]
        world.delete("Pod", "default/a")
        world.put(a_pod("b", cpu="1", labels={"spoil": ""}))

    assert together(story).node_of("b") == "n1"


def test_a_waiting_pod_that_is_deleted_frees_its_place_at_once() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("a", cpu="1"))
        await asyncio.sleep(1)
        world.put(a_pod("b", cpu="1", labels={"spoil": ""}))
        await asyncio.sleep(1)
        world.delete("Pod", "default/a")
        await asyncio.sleep(2)
        assert world.node_of("b") == "n1"

    together(story)


class Doorman(PreFilterPlugin, PostBindPlugin, PermitPlugin):
    """Keeps pods out until `opener` has a place, then names them to be tried at once."""

    name = "Doorman"
    opened = False
    kept: set[str]

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Status | None:
        if pod.name == "opener" or type(self).opened:
            return None
        type(self).kept.add(pod.uid)
        return Status(Code.UNSCHEDULABLE, ("the door is closed",))

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        if pod.name == "opener":
            type(self).opened = True
            cycle.write(PODS_TO_ACTIVATE, set(self.kept))
        return Permission(SUCCESS)

    async def post_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        return None


def test_pods_that_a_plugin_names_are_tried_at_once() -> None:
    doorman = type("Doorman", (Doorman,), {"kept": set(), "key": lambda self, pod: pod.uid})

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_pod("p"))
        await asyncio.sleep(60)
        assert world.node_of("p") == ""
        world.put(a_pod("opener"))
        await asyncio.sleep(0.5)
        assert world.node_of("p") == "n1"

    live(story, config=CONFIG.replace("Together", "Doorman"), registry=with_plugin(doorman))


class Outside(ReservePlugin):
    """Waits for something outside the scheduler, which a label of the node tells of."""

    name = "Outside"

    def __init__(self) -> None:
        self.done = False

    def events_to_register(self) -> list[Registration]:
        return [Registration(ClusterEvent(Resource.NODE, Action.UPDATE_NODE_LABEL), self.after_label)]

    def after_label(self, pod: PodInfo, old: Node, new: Node) -> Hint:
        self.done = True
        return Hint.QUEUE

    def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        return None if self.done else Status(Code.PENDING, ("not done yet",))


def test_a_pod_that_is_pending_is_tried_at_once_when_its_plugin_says_so_without_backoff() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("a", cpu="1"))
        await asyncio.sleep(0.1)
        assert world.node_of("a") == ""
        world.put(a_node("n1", cpu="4", labels={"done": ""}))
        # the backoff of a first attempt is a second
        await asyncio.sleep(0.1)
        assert world.node_of("a") == "n1"

    # otherwise an empty active queue ends the backoff of whoever is first
    gates = FeatureGates({"SchedulerPopFromBackoffQ": False})
    live(story, config=CONFIG.replace("Together", "Outside"), gates=gates, registry=with_plugin(Outside))
