"""Faults that crashed other schedulers or kept them from starting, replayed. Names carry the fault's number.

In each story something strange happens to one pod: it is scheduled all the same or told clearly why not, and the pods
beside it go on.
"""

import asyncio
from collections import Counter
from typing import Any, ClassVar

import pytest
from tests.support.world import World, live

from kubesched.api.meta import ApiObject
from kubesched.api.pods import ContainerStatus, Pod, PodStatus, ResourceRequirements
from kubesched.config.errors import ConfigError
from kubesched.config.types import Extender
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.plugin import FilterPlugin, Plugin, PreFilterPlugin, ScorePlugin
from kubesched.core.framework.results.outcomes import PreFilterResult
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.effects import Bind, Effect
from kubesched.core.framework.values.extenders import (
    ExtenderArgs,
    ExtenderFilterArgs,
    ExtenderFilterResult,
    ExtenderResult,
)
from kubesched.core.framework.values.status import Status, unschedulable
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_container, a_node, a_pod, a_spread, an_affinity
from kubesched.testing.shorthand import HOSTNAME

HEAD = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
"""


def with_plugins(*plugins: type[Plugin]) -> Registry:
    registry = Registry()
    for plugin in plugins:
        registry.register(plugin)
    return registry


def message_of(world: World, name: str) -> str:
    """Return why a pod has no node."""
    pod = world.pod(name)
    assert pod is not None
    return pod.status.conditions[0].message if pod.status.conditions else ""


# -- 47: nodes that do not exist


class Only(PreFilterPlugin):
    """Narrows the search to the nodes that a pod names in an annotation."""

    name = "Only"

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> PreFilterResult | None:
        names = pod.metadata.annotations.get("only")
        return None if names is None else PreFilterResult(frozenset(names.split(",")))


NARROWED = HEAD + "profiles: [{plugins: {multiPoint: {enabled: [{name: Only}]}%s}}]"


@pytest.mark.parametrize(
    ("what", "config"),
    [
        ("all nodes are scored", NARROWED % ""),
        ("the first node that fits is taken", NARROWED % ", score: {disabled: [{name: '*'}]}"),
        ("a part of the nodes is looked at", NARROWED % "" + "\npercentageOfNodesToScore: 50"),
    ],
)
@pytest.mark.parametrize("how", ["a plugin", "node affinity"])
def test_fault_47_a_search_narrowed_to_nodes_that_do_not_exist(what: str, config: str, how: str) -> None:
    def only(name: str, *nodes: str) -> Pod:
        if how == "a plugin":
            return a_pod(name, cpu="1", annotations={"only": ",".join(nodes)})
        return a_pod(name, cpu="1", affinity=an_affinity(nodes=[f"metadata.name={node}" for node in nodes]))

    async def story(world: World, scheduler: Scheduler) -> None:
        for name in ("n1", "n2"):
            world.put(a_node(name, cpu="2"))
        world.put(only("nowhere", "ghost"))
        world.put(only("half", "ghost", "n1"))
        world.put(a_pod("plain", cpu="1"))
        await asyncio.sleep(1)
        assert world.node_of("half") == "n1"
        assert world.node_of("plain") in ("n1", "n2")
        assert message_of(world, "nowhere").startswith("0/2 nodes are available: 2 node(s) didn't ")
        world.put(a_node("ghost", cpu="2"))
        await asyncio.sleep(20)

    assert live(story, config=config, registry=with_plugins(Only)).node_of("nowhere") == "ghost"


# -- 49: spreading, and pods on nodes that do not count


@pytest.mark.parametrize(
    ("what", "left_out"),
    [
        ("the node is no match for the pod's affinity", a_node("n1", cpu="1", zone="a", labels={"old": "yes"})),
        ("the node has none of the topology", a_node("n1", cpu="1", labels={"old": "yes"})),
        ("the node is tainted, which counts", a_node("n1", cpu="1", zone="a", taints=["old:NoSchedule"])),
    ],
)
@pytest.mark.parametrize("why", ["promised", "preempted"])
def test_fault_49_pods_on_a_node_that_does_not_count_for_spreading(what: str, left_out: ApiObject, why: str) -> None:
    web = {"app": "web"}
    spread = a_spread("zone", "app=web", taints_policy="Honor")

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(left_out)
        world.put(a_node("n2", cpu="1", zone="b"))
        going = why == "promised"
        world.put(a_pod("on-n1", cpu="1", priority=0, labels=web, node="n1", terminating=going))
        if going:
            promise: dict[str, Any] = {"nominated": "n1", "node_selector": {HOSTNAME: "n1"}, "tolerations": ["*"]}
            world.put(a_pod("vip", cpu="1", priority=10, labels=web, **promise))
        else:
            world.put(a_pod("on-n2", cpu="1", priority=0, labels=web, node="n2"))
        await asyncio.sleep(1)
        assert len(scheduler.cluster.nominations.on("n1")) == going
        world.put(a_pod("p", cpu="1", priority=5, labels=web, spread=spread, affinity=an_affinity(nodes="!old")))
        await asyncio.sleep(20)
        assert world.node_of("p") == "n2"
        assert world.pod("on-n1") is not None
        world.delete("Pod", "default/on-n1")

    world = live(story)
    assert world.node_of("vip") == ("n1" if why == "promised" else "")


# -- 50: what the kubelet says of containers


def resized(cpu: str) -> ResourceRequirements:
    return ResourceRequirements(requests={"cpu": cpu})


@pytest.mark.parametrize(
    ("what", "containers", "init_containers", "status", "free"),
    [
        (
            "a container that asks for nothing has something",
            [a_container()],
            (),
            PodStatus(container_statuses=(ContainerStatus(name="main", resources=resized("2")),)),
            2,
        ),
        (
            "a sidecar that asks for nothing has something",
            [a_container(cpu="1")],
            (a_container("helper", sidecar=True),),
            PodStatus(init_container_statuses=(ContainerStatus(name="helper", resources=resized("2")),)),
            1,
        ),
        (
            "nothing is known of the container's resources",
            [a_container(cpu="3")],
            (),
            PodStatus(container_statuses=(ContainerStatus(name="main"),)),
            1,
        ),
        (
            "the status is that of a container nobody knows",
            [a_container(cpu="3")],
            (),
            PodStatus(container_statuses=(ContainerStatus(name="other", resources=resized("1")),)),
            1,
        ),
        (
            "an init container that is over asks for nothing",
            [a_container(cpu="1")],
            (a_container("setup"),),
            PodStatus(init_container_statuses=(ContainerStatus(name="setup"),)),
            3,
        ),
    ],
)
def test_fault_50_statuses_of_containers_count_whatever_is_missing_in_them(
    what: str, containers: Any, init_containers: Any, status: PodStatus, free: int
) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("old", node="n1", containers=containers, init_containers=init_containers, status=status))
        for number in range(4):
            world.put(a_pod(f"p{number}", cpu="1"))
        await asyncio.sleep(5)

    assert len(live(story).bindings) == free


# -- 52: plugins that are named more than once, or out of order


class Beds(FilterPlugin, ScorePlugin):
    """Has no beds for pods labelled `tired`; counts how often it is asked."""

    name = "Beds"
    asked: ClassVar[Counter[str]] = Counter()

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        Beds.asked[f"{self.name} filters {pod.name}"] += 1
        return unschedulable("no beds") if "tired" in pod.labels else None

    def score(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> int:
        Beds.asked[f"{self.name} scores {pod.name}"] += 1
        return 1


class Couches(Beds):
    """Another of the kind."""

    name = "Couches"


def with_beds(plugins: str) -> dict[str, Any]:
    config = HEAD + f"profiles: [{{plugins: {plugins}}}]"
    return {"config": config, "registry": with_plugins(Beds, Couches)}


def test_fault_52_a_plugin_that_is_given_its_weight_anew_runs_once() -> None:
    Beds.asked.clear()
    plugins = """{
      multiPoint: {enabled: [{name: Beds}]},
      score: {enabled: [{name: Beds, weight: 5}, {name: Couches, weight: 5}, {name: ImageLocality, weight: 3}]}}"""

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_node("n2"))
        world.put(a_pod("p"))
        await asyncio.sleep(1)
        profile = scheduler.engine.profiles["default-scheduler"]
        names = [plugin.name for plugin in profile.score]
        assert (names[:2], names[-1], len(set(names))) == (["Beds", "ImageLocality"], "Couches", len(names))
        assert {name: profile.weights[name] for name in ("Beds", "Couches", "ImageLocality")} == {
            "Beds": 5,
            "Couches": 5,
            "ImageLocality": 3,
        }

    assert live(story, **with_beds(plugins)).node_of("p")
    assert Beds.asked == {"Beds filters p": 2, "Beds scores p": 2, "Couches scores p": 2}


@pytest.mark.parametrize(
    ("what", "plugins", "reason"),
    [
        ("after the default ones", "{multiPoint: {enabled: [{name: Beds}]}}", "1 Insufficient cpu"),
        ("likewise at one point", "{filter: {enabled: [{name: Beds}]}}", "1 Insufficient cpu"),
        (
            "after those that are named again at the point",
            "{filter: {enabled: [{name: Beds}, {name: NodeResourcesFit}]}}",
            "1 Insufficient cpu",
        ),
        (
            "where the user puts it, if the default ones are off",
            "{filter: {disabled: [{name: '*'}], enabled: [{name: Beds}, {name: NodeResourcesFit}]}}",
            "1 no beds",
        ),
        (
            "before default ones that were moved behind it",
            "{multiPoint: {disabled: [{name: NodeResourcesFit}], enabled: [{name: Beds}, {name: NodeResourcesFit}]}}",
            "1 no beds",
        ),
    ],
)
def test_fault_52_a_plugin_of_ones_own_stands_where_the_configuration_says(
    what: str, plugins: str, reason: str
) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("p", cpu="2", labels={"tired": "yes"}))
        world.put(a_pod("q", cpu="1"))

    world = live(story, **with_beds(plugins))
    assert message_of(world, "p").startswith(f"0/1 nodes are available: {reason}. ")
    assert world.node_of("q") == "n1"


# -- 53: failures of bindings while other things happen


class Slow:
    """An extender that takes its time, and watches that nothing changes behind the back of a cycle."""

    def __init__(self, world: World) -> None:
        self.world = world

    async def ask(self, question: ExtenderArgs) -> ExtenderResult:
        assert isinstance(question, ExtenderFilterArgs)
        before = self.looked_at()
        await asyncio.sleep(0.7)
        if self.looked_at() != before:
            self.world.invalid.append("something changed behind the back of a cycle")
        return ExtenderFilterResult(node_names=list(question.node_names), failed={})

    def looked_at(self) -> object:
        scheduler = self.world.scheduler
        assert scheduler is not None
        queued = {pod.uid: (pod.place, set(pod.unschedulable_plugins), pod.attempts) for pod in scheduler.queue.pods()}
        return sorted(scheduler.cluster.table.pods), queued, scheduler.cluster.table.node_count

    async def bind(self, extender: Extender, bind: Bind) -> str:
        raise NotImplementedError


def test_fault_53_bindings_that_fail_in_the_middle_of_a_cycle_wait_for_its_end() -> None:
    refused: Counter[str] = Counter()

    def refuse(effect: Effect) -> str:
        if isinstance(effect, Bind) and refused[effect.name] < 2:
            refused[effect.name] += 1
            return "the server is busy"
        return ""

    async def story(world: World, scheduler: Scheduler) -> None:
        world.refuse = refuse
        world.effect_seconds = 0.3
        for number in range(3):
            world.put(a_node(f"n{number}", cpu="4"))
        for number in range(12):
            world.put(a_pod(f"p{number}", cpu="1", priority=number % 3))
            await asyncio.sleep(0.2)
            world.put(a_node(f"n{number % 3}", cpu="4", labels={"beat": str(number)}))
        await asyncio.sleep(120)

    config = HEAD + "extenders: [{urlPrefix: 'http://127.0.0.1:1', filterVerb: filter}]"
    world = live(story, config=config, extender_client=Slow)
    assert set(refused.values()) == {2}
    assert len(world.bindings) == 12
    assert not world.notes, world.notes


# -- 54: arguments that are not there


def test_fault_54_a_scoring_strategy_without_its_parameters_is_an_error_at_the_start() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_node("n2"))
        world.put(a_pod("p", cpu="1"))

    strategy = HEAD + (
        "profiles: [{pluginConfig: [{name: NodeResourcesFit, args: {scoringStrategy: "
        "{type: RequestedToCapacityRatio, resources: [{name: cpu, weight: 1}]%s}}}]}]"
    )
    with pytest.raises(ConfigError, match="must be specified when type is RequestedToCapacityRatio"):
        live(story, config=strategy % "")
    shape = ", requestedToCapacityRatio: {shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]}"
    assert live(story, config=strategy % shape).node_of("p")
