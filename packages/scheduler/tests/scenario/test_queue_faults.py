"""Faults that other queues have had, replayed through the whole loop: events that were lost, and hints that drop them.

Names carry the fault's number. A story takes less time than after which the queue tries everybody again, so that only
events can help.
"""

import asyncio
from collections.abc import Sequence
from typing import Any, ClassVar

import msgspec
import pytest
from tests.support.world import Story, World, live

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.framework.values.status import Status, unschedulable
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_claim, a_csi_node, a_node, a_pod, a_spread, a_storage_class, a_volume
from kubesched.testing.devices import a_device_class, a_slice

SSD = {"disk": "ssd"}
CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: Stubborn}]}}
"""


async def step_by_step(world: World, *steps: Sequence[ApiObject]) -> None:
    """Put objects, with time enough in between for pods to be tried and to wait again."""
    for step in steps:
        for obj in step:
            world.put(obj)
        await asyncio.sleep(30)


@pytest.mark.parametrize(
    "obstacle",
    [
        pytest.param({"taints": ["new:NoSchedule"]}, id="tainted at first"),
        pytest.param({"unschedulable": True}, id="cordoned at first"),
        pytest.param({"labels": {"disk": "hdd"}}, id="labelled wrongly at first"),
    ],
)
def test_fault_4_a_node_that_comes_with_another_obstacle_helps_when_that_is_gone(obstacle: dict[str, Any]) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        await step_by_step(
            world,
            [a_node("n1", cpu="1", labels=SSD), a_pod("p", cpu="2", node_selector=SSD)],
            [a_node("n2", **{"cpu": "2", "labels": SSD, **obstacle})],
        )
        assert world.node_of("p") == ""
        world.put(a_node("n2", cpu="2", labels=SSD))
        await asyncio.sleep(15)
        assert world.node_of("p") == "n2"

    live(story)


class Stubborn(FilterPlugin):
    """Rejects all pods until it is open; what it listens to is the story's choice."""

    name = "Stubborn"
    is_open: ClassVar[bool] = False
    listens_to: ClassVar[Sequence[Registration]] = ()

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        return None if self.is_open or pod.name != "p" else unschedulable("closed")

    def events_to_register(self) -> Sequence[Registration]:
        return self.listens_to


def stubborn_until(*registrations: Registration) -> type[Stubborn]:
    """Return a plugin of the story's own, which listens to some events."""

    class StubbornHere(Stubborn):
        listens_to = registrations

    return StubbornHere


def live_with(stubborn: type[Stubborn], story: Story) -> World:
    registry = Registry()
    registry.register(stubborn)
    return live(story, config=CONFIG, registry=registry)


ANYTHING = [
    pytest.param([a_node("n1", labels={"new": "yes"})], id="a node changed"),
    pytest.param([a_node("n2", cpu="1m")], id="a node came"),
    pytest.param([a_pod("other", node="n1", labels={"new": "yes"})], id="a pod changed"),
    pytest.param([a_claim("claim")], id="a claim came"),
    pytest.param([a_volume("volume")], id="a volume came"),
    pytest.param([a_storage_class("class")], id="a storage class came"),
    pytest.param([a_csi_node("n1")], id="a CSI node came"),
    pytest.param([a_device_class()], id="a device class came"),
    pytest.param([a_slice("s", "gpu", node="n1")], id="a slice came"),
    pytest.param([], id="a pod went"),
]


@pytest.mark.parametrize("what", ANYTHING)
def test_fault_5_who_registers_for_anything_hears_of_everything(what: list[ApiObject]) -> None:
    stubborn = stubborn_until(Registration(ClusterEvent(Resource.WILDCARD, Action.ALL)))

    async def story(world: World, scheduler: Scheduler) -> None:
        await step_by_step(world, [a_node("n1"), a_pod("other", node="n1"), a_pod("p")])
        stubborn.is_open = True
        for obj in what:
            world.put(obj)
        if not what:
            world.delete("Pod", "default/other")
        await asyncio.sleep(5)
        assert world.node_of("p") == "n1"

    live_with(stubborn, story)


def test_fault_5_anything_that_is_added_is_not_anything_that_changes() -> None:
    stubborn = stubborn_until(Registration(ClusterEvent(Resource.WILDCARD, Action.ADD)))

    async def story(world: World, scheduler: Scheduler) -> None:
        await step_by_step(world, [a_node("n1"), a_pod("p")])
        stubborn.is_open = True
        await step_by_step(world, [a_node("n1", labels={"new": "yes"})])
        assert world.node_of("p") == ""
        await step_by_step(world, [a_storage_class("class")])
        assert world.node_of("p") == "n1"

    live_with(stubborn, story)


@pytest.mark.parametrize(
    ("useless", "steps"),
    [
        pytest.param(
            {},
            [a_node("n2", labels=SSD, taints=["new:NoSchedule"]), a_node("n2", labels=SSD)],
            id="NodeAffinity: the right node comes tainted",
        ),
        pytest.param(
            {},
            [a_node("n2", taints=["new:NoSchedule"]), a_node("n2"), a_node("n2", labels=SSD)],
            id="NodeAffinity: the label comes after the taint is gone",
        ),
        pytest.param(
            {},
            [a_node("n2", labels=SSD, unschedulable=True), a_node("n2", labels=SSD)],
            id="NodeAffinity: the right node comes cordoned",
        ),
        pytest.param(
            {"unschedulable": True},
            [a_node("n2", labels=SSD, taints=["new:NoSchedule"]), a_node("n2", labels=SSD)],
            id="NodeUnschedulable: the other node comes tainted",
        ),
        pytest.param(
            {"unschedulable": True},
            [a_node("n2", unschedulable=True), a_node("n2"), a_node("n2", labels=SSD)],
            id="NodeUnschedulable: the label comes after the cordon is lifted",
        ),
        pytest.param(
            {"unschedulable": True},
            [
                a_node("n2", labels=SSD, cpu="1", unschedulable=True),
                a_node("n2", labels=SSD, unschedulable=True),
                a_node("n2", labels=SSD),
            ],
            id="NodeUnschedulable: the other node grows before the cordon is lifted",
        ),
    ],
)
def test_fault_6_no_hint_drops_the_event_that_a_pod_needs(useless: dict[str, Any], steps: list[Node]) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        *before, last = steps
        first = [a_node("n1", **useless), a_pod("p", cpu="2", node_selector=SSD)]
        await step_by_step(world, first, *([node] for node in before))
        assert world.node_of("p") == ""
        world.put(last)
        await asyncio.sleep(15)
        assert world.node_of("p") == "n2"

    live(story)


@pytest.mark.parametrize(
    "obstacle",
    [
        pytest.param({"cpu": "500m"}, id="NodeResourcesFit"),
        pytest.param({"labels": {"disk": "hdd"}}, id="NodeAffinity"),
        pytest.param({"taints": ["new:NoSchedule"]}, id="TaintToleration"),
        pytest.param({"unschedulable": True}, id="NodeUnschedulable"),
    ],
)
def test_fault_7_an_update_of_a_node_that_carries_several_changes_tells_of_all(obstacle: dict[str, Any]) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        before = {"cpu": "2", "labels": SSD, "taints": ["soft:PreferNoSchedule"], **obstacle}
        await step_by_step(world, [a_node("n1", **before), a_pod("p", cpu="1", node_selector=SSD)])
        assert world.node_of("p") == ""
        after = a_node("n1", cpu="4", labels={**SSD, "more": "yes"})
        annotated = msgspec.structs.replace(after.metadata, annotations={"more": "yes"})
        world.put(msgspec.structs.replace(after, metadata=annotated))
        await asyncio.sleep(5)
        assert world.node_of("p") == "n1"

    live(story)


def test_fault_7_a_node_that_comes_full_is_worth_an_attempt_with_preemption() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        await step_by_step(world, [a_node("n1", cpu="1"), a_pod("high", cpu="2", priority=10)])
        # its pods are known before the node is
        await step_by_step(world, [a_pod("low", cpu="2", node="n2"), a_node("n2", cpu="2")])
        assert world.node_of("high") == "n2"

    live(story)


def test_fault_7_a_node_that_goes_helps_whom_its_zone_kept_waiting() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        web = {"app": "web"}
        evenly = a_spread("zone", "app=web")
        await step_by_step(
            world,
            [a_node("a", zone="a"), a_node("b", zone="b", cpu="1"), a_pod("there", node="a", labels=web)],
            [a_pod("p", cpu="2", labels=web, spread=evenly)],
        )
        assert world.node_of("p") == ""
        world.delete("Node", "b")
        await asyncio.sleep(15)
        assert world.node_of("p") == "a"

    live(story)


def test_fault_7_a_pod_that_gets_the_toleration_of_a_cordon_is_tried_again() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        await step_by_step(world, [a_node("n1", unschedulable=True), a_pod("p")])
        await step_by_step(world, [a_pod("p", tolerations=["unrelated"])])
        assert world.node_of("p") == ""
        world.put(a_pod("p", tolerations=["unrelated", "node.kubernetes.io/unschedulable"]))
        await asyncio.sleep(15)
        assert world.node_of("p") == "n1"

    live(story)


def test_fault_7_a_toleration_that_brings_a_zone_into_account_helps_a_pod_that_spreads() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        words: dict[str, Any] = {
            "labels": {"app": "web"},
            "spread": a_spread("zone", "app=web", min_domains=2, taints_policy="Honor"),
        }
        await step_by_step(
            world,
            # cordoned, so that it is of no use but for counting
            [a_node("a", zone="a", taints=["special:NoSchedule"], unschedulable=True), a_node("b", zone="b")],
            [a_pod(f"in-{zone}", node=zone, labels={"app": "web"}) for zone in "ab"],
            [a_pod("p", **words)],
        )
        assert world.node_of("p") == ""
        world.put(a_pod("p", tolerations=["special"], **words))
        await asyncio.sleep(15)
        assert world.node_of("p") == "b"

    live(story)


def test_fault_11_a_hint_that_raises_counts_as_help() -> None:
    def cannot_tell(pod: PodInfo, old: Any, new: Any) -> Hint:
        raise RuntimeError("cannot tell")

    stubborn = stubborn_until(Registration(ClusterEvent(Resource.NODE, Action.UPDATE_NODE_LABEL), cannot_tell))

    async def story(world: World, scheduler: Scheduler) -> None:
        await step_by_step(world, [a_node("n1"), a_pod("p")])
        stubborn.is_open = True
        world.put(a_node("n1", labels={"new": "yes"}))
        await asyncio.sleep(5)
        assert world.node_of("p") == "n1"

    live_with(stubborn, story)
