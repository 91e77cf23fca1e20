"""Faults that misled other schedulers, replayed: wrong verdicts, and verdicts that took too long.

Names carry the fault's number.
"""

import asyncio
from collections import Counter
from typing import Any, ClassVar

import pytest
from tests.support.world import World, live

from kubesched.api.volumes import AWSElasticBlockStoreVolumeSource, Volume
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import FilterPlugin, Plugin, ScorePlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Status
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_claim, a_csi_node, a_node, a_pod, a_service, a_storage_class, a_volume
from kubesched.testing.shorthand import HOSTNAME

HEAD = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""


def message_of(world: World, name: str) -> str:
    """Return why a pod has no node."""
    pod = world.pod(name)
    assert pod is not None
    return pod.status.conditions[0].message if pod.status.conditions else ""


# -- 55: whoever objects first has the word


class Fussy(FilterPlugin):
    """Cannot bear nodes that others have ruled out."""

    name = "Fussy"

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        if node.node.spec.taints:
            raise RuntimeError("asked about a node that is ruled out")
        return None


class Costly(Fussy):
    """Is not even asked about them."""

    name = "Costly"
    alive_only = True
    asked: ClassVar[set[str]] = set()

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        Costly.asked.add(node.node.name)
        return super().filter(cycle, pod, node)


class Packed(ScorePlugin):
    """Prefers nodes with little left, and does not reckon with those that have nothing left."""

    name = "Packed"

    def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> int:
        return 10_000 // node.free.milli_cpu


class PackedAndKept(Packed):
    """Agrees to its scores being kept."""

    name = "PackedAndKept"

    def score_key(self, pod: PodInfo) -> str:
        return "the same for all pods"


def with_plugins(point: str, *plugins: type[Plugin]) -> dict[str, Any]:
    """Return a configuration with plugins at a point: behind the default filters, or in place of the default scores."""
    registry = Registry()
    for plugin in plugins:
        registry.register(plugin)
    disabled = "disabled: [{name: '*'}], " if point == "score" else ""
    enabled = ", ".join(f"{{name: {plugin.name}, weight: 1}}" for plugin in plugins)
    config = HEAD + f"profiles: [{{plugins: {{{point}: {{{disabled}enabled: [{enabled}]}}}}}}]"
    return {"config": config, "registry": registry}


def test_fault_55_the_first_to_object_has_the_word_and_is_waited_for() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1", taints=["closed:NoSchedule"]))
        world.put(a_pod("big", cpu="2"))
        await asyncio.sleep(1)
        assert message_of(world, "big").startswith("0/1 nodes are available: 1 node(s) had untolerated taint(s). ")
        queued = scheduler.queue.get("default-big")
        assert queued is not None
        assert queued.unschedulable_plugins == {"TaintToleration"}
        # more room does not lift a taint
        world.put(a_node("n1", cpu="4", taints=["closed:NoSchedule"]))
        await asyncio.sleep(20)
        assert queued.attempts == 1
        world.put(a_node("n1", cpu="4"))
        await asyncio.sleep(20)

    assert live(story).node_of("big") == "n1"


def test_fault_55_what_later_filters_think_of_a_node_that_is_ruled_out_does_not_matter() -> None:
    Costly.asked.clear()

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("tainted", taints=["closed:NoSchedule"]))
        world.put(a_node("n1", cpu="2"))
        for number in range(3):
            world.put(a_pod(f"p{number}", cpu="1"))

    world = live(story, **with_plugins("filter", Fussy, Costly))
    assert list(world.bindings.values()) == ["n1", "n1"]
    assert Costly.asked == {"n1"}
    (left,) = [name for name in ("p0", "p1", "p2") if not world.node_of(name)]
    assert message_of(world, left).startswith(
        "0/2 nodes are available: 1 Insufficient cpu, 1 node(s) had untolerated taint(s). "
    )


@pytest.mark.parametrize("plugin", [Packed, PackedAndKept])
def test_fault_55_nor_does_how_it_would_be_scored(plugin: type[Plugin]) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("full", cpu="1"))
        world.put(a_pod("filler", cpu="1", node="full"))
        world.put(a_node("roomy", cpu="4"))
        world.put(a_node("narrow", cpu="2"))
        world.put(a_node("tainted", cpu="1500m", taints=["closed:NoSchedule"]))
        world.put(a_pod("p", cpu="500m"))
        await asyncio.sleep(1)
        world.put(a_pod("q", cpu="500m", tolerations=["closed:NoSchedule"]))
        await asyncio.sleep(1)
        world.put(a_pod("r", cpu="2"))

    world = live(story, **with_plugins("score", plugin))
    assert [world.node_of(name) for name in "pqr"] == ["narrow", "tainted", "roomy"]


# -- 58: spreading without zones


@pytest.mark.parametrize(
    ("what", "zones", "least"),
    [
        ("no node has a zone", ["", "", ""], [3, 3, 3]),
        ("one node has none, and is not left out for it", ["a", "b", ""], [2, 2, 3]),
    ],
)
def test_fault_58_pods_of_a_service_spread_over_nodes_without_zones(
    what: str, zones: list[str], least: list[int]
) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_service("web", {"app": "web"}))
        for number, zone in enumerate(zones):
            world.put(a_node(f"n{number}", zone=zone))
        for number in range(9):
            world.put(a_pod(f"p{number}", labels={"app": "web"}))
            await asyncio.sleep(0.1)

    only = "{disabled: [{name: '*'}], enabled: [{name: PodTopologySpread, weight: 1}]}"
    world = live(story, config=HEAD + f"profiles: [{{plugins: {{score: {only}}}}}]")
    counts = Counter(world.bindings.values())
    assert all(counts[f"n{number}"] >= few for number, few in enumerate(least))


# -- 59: names of hosts and names of nodes


@pytest.mark.parametrize("when", ["the claim is bound", "the claim waits for its first pod"])
def test_fault_59_a_volume_on_a_host_is_found_by_label_not_by_the_name_of_the_node(when: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        # the names are crossed
        world.put(a_node("a", hostname=False, labels={HOSTNAME: "b"}))
        world.put(a_node("b", hostname=False, labels={HOSTNAME: "a"}))
        world.put(a_storage_class())
        bound = when == "the claim is bound"
        claimed: dict[str, Any] = (
            {"claimed_by": "default/data", "claim_uid": "default-data", "phase": "Bound"} if bound else {}
        )
        world.put(a_volume("pv", nodes=f"{HOSTNAME}=a", **claimed))
        world.put(a_claim("data", bound_to="pv" if bound else ""))
        world.put(a_pod("p", volumes=["data"]))
        world.put(a_pod("q"))
        await asyncio.sleep(2)
        world.put(a_claim("data", bound_to="pv"))

    world = live(story)
    assert world.node_of("p") == "b"
    assert world.node_of("q")


# -- 62: volumes


def test_fault_62_a_claim_that_lost_its_volume_is_not_tried_again_and_again() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_storage_class())
        world.put(a_claim("data", bound_to="pv", phase="Lost"))
        world.put(a_pod("p", volumes=["data"]))
        world.put(a_pod("q"))
        await asyncio.sleep(60)
        assert 'persistentvolumeclaim "data" bound to non-existent persistentvolume "pv"' in message_of(world, "p")
        queued = scheduler.queue.get("default-p")
        assert queued is not None
        assert (queued.attempts, world.node_of("q")) == (1, "n1")
        world.put(a_volume("pv", claimed_by="default/data", claim_uid="default-data", phase="Bound"))
        world.put(a_claim("data", bound_to="pv"))
        await asyncio.sleep(20)

    assert live(story).node_of("p") == "n1"


def test_fault_62_inline_volumes_of_migrated_plugins_count_against_the_drivers_limit() -> None:
    def disk(name: str) -> Volume:
        return Volume(name=name, aws_elastic_block_store=AWSElasticBlockStoreVolumeSource(volume_id=name))

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_csi_node("n1", {"ebs.csi.aws.com": 2}, migrated=["kubernetes.io/aws-ebs"]))
        for number in range(3):
            world.put(a_pod(f"p{number}", volumes=[disk(f"vol-{number}")]))
        world.put(a_pod("plain"))
        await asyncio.sleep(1)
        assert message_of(world, "p2").startswith("0/1 nodes are available: 1 node(s) exceed max volume count. ")
        assert [world.node_of(name) for name in ("p0", "p1", "plain")] == ["n1"] * 3
        world.delete("Pod", "default/p0")
        await asyncio.sleep(20)

    assert live(story).node_of("p2") == "n1"
