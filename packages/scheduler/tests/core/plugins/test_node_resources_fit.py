"""NodeResourcesFit: what a node lacks, what may be ignored, how the strategies score, which events help."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from kubesched.api.devices import Device, DeviceClass, DeviceClassSpec, ResourcePool, ResourceSlice, ResourceSliceSpec
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.pods import Pod, ResourceRequirements
from kubesched.config.args import (
    NodeResourcesFitArgs,
    RequestedToCapacityRatioParam,
    ResourceSpec,
    ScoringStrategy,
    UtilizationShapePoint,
)
from kubesched.config.feature_gates import FeatureGates, Version
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.plugin import UNCACHED
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, Hint, Resource
from kubesched.core.framework.values.status import Status, unresolvable, unschedulable
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.plugins.node_resources import NodeResourcesFit
from kubesched.testing import a_cluster, a_container, a_node, a_pod

GPU = "example.com/gpu"
CPU_AND_MEMORY = {"cpu": 1, "memory": 1}


def fit_args(
    kind: str = "LeastAllocated",
    resources: dict[str, int] = CPU_AND_MEMORY,
    shape: Sequence[tuple[int, int]] = (),
    **args: Any,
) -> NodeResourcesFitArgs:
    strategy = ScoringStrategy(
        type=kind,
        resources=tuple(ResourceSpec(name=name, weight=weight) for name, weight in resources.items()),
        requested_to_capacity_ratio=RequestedToCapacityRatioParam(
            shape=tuple(UtilizationShapePoint(utilization=x, score=y) for x, y in shape)
        ),
    )
    return NodeResourcesFitArgs(scoring_strategy=strategy, **args)


def fit_of(cluster: ClusterState, args: NodeResourcesFitArgs | None = None, **gates: bool) -> NodeResourcesFit:
    return NodeResourcesFit(args or fit_args(), cluster, FeatureGates(gates))


def judge(pod: Pod, *objects: ApiObject, args: NodeResourcesFitArgs | None = None, **gates: bool) -> Status | None:
    """Return the verdict on node `n`, which all forms must agree upon."""
    cluster = a_cluster(*objects)
    plugin, info = fit_of(cluster, args, **gates), cluster.reader.read(pod)
    row = cluster.table.row_of["n"]
    one = plugin.filter(CycleState(), info, NodeRow(cluster.table, row))
    verdict = plugin.filter_nodes(CycleState(), info, Nodes(cluster.table))
    assert verdict.statuses[0] is None
    assert verdict.statuses[verdict.which[row]] == one
    world = plugin.filter_worlds(info, np.array([row])).verdict()
    assert world.statuses[world.which[0]] == one
    return one


def score(pod: Pod, *objects: ApiObject, args: NodeResourcesFitArgs | None = None) -> int:
    """Return the score of node `n`, which both forms must agree upon."""
    cluster = a_cluster(*objects)
    plugin, info = fit_of(cluster, args), cluster.reader.read(pod)
    row = cluster.table.row_of["n"]
    one = plugin.score(CycleState(), info, NodeRow(cluster.table, row))
    scores = plugin.score_nodes(CycleState(), info, Nodes(cluster.table))
    assert not isinstance(scores, Status)
    assert int(scores[row]) == one
    assert isinstance(one, int)
    return one


def a_device_class(name: str, resource: str | None = None) -> DeviceClass:
    return DeviceClass(metadata=ObjectMeta(name=name), spec=DeviceClassSpec(extended_resource_name=resource))


NODE = a_node("n", cpu="4", memory="8Gi")


@pytest.mark.parametrize(
    ("pod", "others", "expected"),
    [
        pytest.param(a_pod(), [NODE], None, id="nothing is asked for"),
        pytest.param(a_pod(cpu="4", memory="8Gi"), [NODE], None, id="exactly what there is"),
        pytest.param(a_pod(cpu="4001m"), [NODE], unresolvable("Insufficient cpu"), id="more than the node ever had"),
        pytest.param(
            a_pod(cpu="2"),
            [NODE, a_pod("b", cpu="3", node="n")],
            unschedulable("Insufficient cpu"),
            id="others are there",
        ),
        pytest.param(
            a_pod(cpu="2", memory="9Gi"),
            [NODE, a_pod("b", cpu="3", node="n")],
            unresolvable("Insufficient cpu", "Insufficient memory"),
            id="one reason that preemption does not lift makes the whole unresolvable",
        ),
        pytest.param(
            a_pod(cpu="5"),
            [a_node("n", pods=1), a_pod("b", node="n")],
            unresolvable("Too many pods", "Insufficient cpu"),
            id="the number of pods comes first",
        ),
        pytest.param(a_pod(), [a_node("n", pods=0)], unschedulable("Too many pods"), id="no pods at all are allowed"),
        pytest.param(
            a_pod(requests={"ephemeral-storage": "2Gi"}),
            [a_node("n", allocatable={"ephemeral-storage": "1Gi"})],
            unresolvable("Insufficient ephemeral-storage"),
            id="ephemeral storage",
        ),
        pytest.param(
            a_pod(requests={GPU: 2, "example.com/aaa": 1}),
            [a_node("n", allocatable={GPU: 2}), a_pod("b", requests={GPU: 1}, node="n")],
            unresolvable("Insufficient example.com/aaa", f"Insufficient {GPU}"),
            id="extended resources by name, unknown ones included",
        ),
        pytest.param(
            a_pod(requests={"hugepages-2Mi": "4Mi"}),
            [a_node("n", allocatable={"hugepages-2Mi": "2Mi"})],
            unresolvable("Insufficient hugepages-2Mi"),
            id="huge pages",
        ),
        pytest.param(a_pod(requests={GPU: 0, "cpu": 0}), [NODE], None, id="zero of what nobody has"),
        pytest.param(
            a_pod(requests={"pods": 1000, "foo": 5}), [NODE], None, id="names that are no resources of a node"
        ),
        pytest.param(
            a_pod(cpu="1"),
            [NODE, a_pod("b", cpu="4", node="n", phase="Succeeded")],
            None,
            id="pods that are done take nothing",
        ),
        pytest.param(
            a_pod(cpu="3", resources=ResourceRequirements(requests={"cpu": "5"})),
            [NODE],
            unresolvable("Insufficient cpu"),
            id="the pod as a whole asks for more than its containers",
        ),
        pytest.param(
            a_pod(containers=[a_container(cpu="1")], init_containers=(a_container("i", cpu="5"),)),
            [NODE],
            unresolvable("Insufficient cpu"),
            id="an init container needs the most",
        ),
    ],
)
def test_what_a_node_lacks(pod: Pod, others: Sequence[ApiObject], expected: Status | None) -> None:
    assert judge(pod, *others) == expected


@pytest.mark.parametrize(
    ("args", "ignored"),
    [
        ({"ignored_resources": (GPU,)}, True),
        ({"ignored_resource_groups": ("example.com",)}, True),
        ({"ignored_resource_groups": ("example.org",)}, False),
        ({"ignored_resources": ("cpu",)}, False),
    ],
)
def test_extended_resources_can_be_ignored(args: dict[str, Any], ignored: bool) -> None:
    verdict = judge(a_pod(requests={GPU: 1}), NODE, args=fit_args(**args))
    assert verdict == (None if ignored else unresolvable(f"Insufficient {GPU}"))


def test_native_and_kubernetes_resources_are_never_ignored() -> None:
    args = fit_args(ignored_resources=("cpu", "hugepages-2Mi"), ignored_resource_groups=("kubernetes.io",))
    pod = a_pod(cpu="5", requests={"hugepages-2Mi": "2Mi", "kubernetes.io/x": 1})
    missing = ("Insufficient cpu", "Insufficient hugepages-2Mi", "Insufficient kubernetes.io/x")
    assert judge(pod, NODE, args=args) == unresolvable(*missing)


@pytest.mark.parametrize(
    ("resource", "node", "gate", "expected"),
    [
        pytest.param(GPU, NODE, True, None, id="left to devices"),
        pytest.param("deviceclass.resource.kubernetes.io/gpu", NODE, True, None, id="by the name of the class"),
        pytest.param(GPU, a_node("n", allocatable={GPU: 0}), True, None, id="the node says it has none"),
        pytest.param(
            GPU, a_node("n", allocatable={GPU: 1}), True, unresolvable(f"Insufficient {GPU}"), id="the node has some"
        ),
        pytest.param(GPU, NODE, False, unresolvable(f"Insufficient {GPU}"), id="the gate is off"),
        pytest.param(
            "example.com/nic", NODE, True, unresolvable("Insufficient example.com/nic"), id="a resource of no class"
        ),
    ],
)
def test_devices_stand_for_resources(resource: str, node: ApiObject, gate: bool, expected: Status | None) -> None:
    pod = a_pod(requests={resource: 2})
    assert judge(pod, node, a_device_class("gpu", GPU), DRAExtendedResource=gate) == expected


def test_key_follows_the_device_classes() -> None:
    cluster = a_cluster(NODE)
    plugin = fit_of(cluster)
    pod = cluster.reader.read(a_pod(requests={GPU: 1}))
    same = cluster.reader.read(a_pod("other", requests={GPU: "1"}, node_selector={"a": "b"}))
    before = plugin.key(pod)
    assert plugin.key(same) == before
    cluster.add(a_device_class("gpu", GPU))
    assert plugin.key(pod) != before
    cluster.remove(a_device_class("gpu", GPU))
    assert plugin.key(pod) == before


def test_a_pod_may_ask_for_very_many_resources() -> None:
    names = [f"example.com/r{i:02}" for i in range(70)]
    node = a_node("n", allocatable={**dict.fromkeys(names, 1), names[69]: 0})
    assert judge(a_pod(requests=dict.fromkeys(names, 1)), node) == unresolvable(f"Insufficient {names[69]}")


def test_worlds_change_as_pods_come_and_go() -> None:
    cluster = a_cluster(
        a_node("n", cpu="4", pods=2),
        a_node("m", cpu="8"),
        a_pod("a", cpu="2", requests={GPU: 1}, node="n"),
        a_pod("b", cpu="2", node="n"),
        a_pod("waiting", cpu="6", nominated="m"),
    )
    plugin, table = fit_of(cluster), cluster.table
    pod = cluster.reader.read(a_pod(cpu="3"))
    rows = np.array([table.row_of["n"], table.row_of["m"], table.row_of["n"]])
    worlds = plugin.filter_worlds(pod, rows)

    def statuses(of: Any) -> list[Status | None]:
        verdict = of.verdict()
        return [verdict.statuses[i] for i in verdict.which]

    full, crowded = unschedulable("Too many pods", "Insufficient cpu"), unschedulable("Insufficient cpu")
    assert statuses(worlds) == [full, None, full]
    slots = {name: table.pods[f"default-{name}"].slot for name in ("a", "b")}
    waiting = cluster.nominations.on("m")[0].slot
    worlds.change(np.array([0, 1]), np.array([slots["a"], waiting]), -1)
    worlds.change(np.array([1]), np.array([waiting]), 1)
    worlds.change(np.array([1]), np.array([waiting]), 1)
    assert statuses(worlds) == [crowded, crowded, full]
    some = worlds.select(np.array([0, 2]))
    some.change(np.array([0]), np.array([slots["b"]]), -1)
    assert statuses(some) == [None, full]
    assert statuses(worlds) == [crowded, crowded, full], "a selection is independent"


def test_an_absent_node_is_not_rejected() -> None:
    cluster = a_cluster(NODE, a_pod("b", cpu="1", node="ghost"))
    verdict = fit_of(cluster).filter_nodes(CycleState(), cluster.reader.read(a_pod(cpu="5")), Nodes(cluster.table))
    assert [int(verdict.which[cluster.table.row_of[name]]) for name in ("ghost", "n")] == [0, 1]


# -- scores


@pytest.mark.parametrize(
    ("kind", "pod", "others", "expected"),
    [
        pytest.param("LeastAllocated", a_pod(cpu="1", memory="2Gi"), [], 75, id="three quarters are left"),
        pytest.param("LeastAllocated", a_pod(), [], 97, id="containers count for 100m and 200Mi at least"),
        pytest.param("LeastAllocated", a_pod(cpu="5", memory="4Gi"), [], 25, id="beyond the node counts 0"),
        pytest.param("LeastAllocated", a_pod(cpu="1333m", memory="0"), [], 83, id="cut off twice"),
        pytest.param("MostAllocated", a_pod(cpu="1", memory="2Gi"), [], 25, id="a quarter is used"),
        pytest.param("MostAllocated", a_pod(cpu="5", memory="4Gi"), [], 75, id="beyond the node counts 100"),
        pytest.param(
            "MostAllocated", a_pod(cpu="1", memory="2Gi"), [a_pod("b", cpu="1", node="n")], 38, id="others count, too"
        ),
        pytest.param(
            "LeastAllocated",
            a_pod(cpu="1", memory="2Gi", resources=ResourceRequirements(requests={"cpu": "4"})),
            [],
            75,
            id="the pod as a whole does not count",
        ),
    ],
)
def test_strategies(kind: str, pod: Pod, others: Sequence[ApiObject], expected: int) -> None:
    assert score(pod, NODE, *others, args=fit_args(kind)) == expected


@pytest.mark.parametrize(
    ("resources", "requests", "expected"),
    [
        pytest.param({"cpu": 3, "memory": 1}, {"cpu": "1", "memory": "4Gi"}, (75 * 3 + 50) // 4, id="weights"),
        pytest.param({GPU: 5, "cpu": 1}, {"cpu": "1"}, 75, id="a resource that the pod does not ask for"),
        pytest.param({GPU: 5, "cpu": 1}, {"cpu": "1", GPU: 1}, (75 * 5 + 75) // 6, id="an extended resource"),
        pytest.param({"pods": 9, "cpu": 1}, {"cpu": "1"}, 75, id="pods do not count"),
        pytest.param({"ephemeral-storage": 1}, {}, 100, id="storage counts even if it is not asked for"),
        pytest.param({"example.com/none": 1}, {"example.com/none": 1}, 0, id="a resource that the node does not have"),
    ],
)
def test_configured_resources(resources: dict[str, int], requests: dict[str, Any], expected: int) -> None:
    node = a_node("n", allocatable={GPU: 4, "ephemeral-storage": "1Gi"})
    assert score(a_pod(requests=requests), node, args=fit_args(resources=resources)) == expected


@pytest.mark.parametrize(
    ("shape", "cpu", "memory", "expected"),
    [
        pytest.param([(0, 0), (100, 10)], "1", "2Gi", 25, id="proportional"),
        pytest.param([(0, 10), (100, 0)], "1", "2Gi", 75, id="falling"),
        pytest.param([(0, 0), (100, 10)], "0", "2Gi", 25, id="a resource that scores 0 does not count"),
        pytest.param([(0, 0), (100, 10)], "1", "2150Mi", 26, id="halves go up"),
        pytest.param([(10, 2), (90, 7)], "4", "8Gi", 70, id="constant after the last point"),
        pytest.param([(10, 2), (90, 7)], "1m", "1", 20, id="constant before the first point"),
        pytest.param([(0, 10), (30, 0)], "160m", "328Mi", 87, id="falling parts are cut off towards the left point"),
        pytest.param([(0, 0), (100, 0)], "1", "2Gi", 0, id="nothing counts"),
    ],
)
def test_requested_to_capacity_ratio(shape: list[tuple[int, int]], cpu: str, memory: str, expected: int) -> None:
    args = fit_args("RequestedToCapacityRatio", shape=shape)
    assert score(a_pod(cpu=cpu, memory=memory), NODE, args=args) == expected


def test_products_overflow_as_the_reference_does() -> None:
    assert score(a_pod(memory="1Gi"), a_node("n", memory="16Ei")) == 48


def test_devices_count_where_the_node_has_none() -> None:
    devices = ResourceSlice(
        metadata=ObjectMeta(name="s"),
        spec=ResourceSliceSpec(
            driver="d", pool=ResourcePool(name="p"), node_name="n", devices=tuple(Device(name=f"{i}") for i in range(4))
        ),
    )
    args = fit_args(resources={GPU: 1})
    cluster = a_cluster(NODE, a_device_class("gpu", GPU), devices)
    assert score(a_pod(requests={GPU: 1}), NODE, a_device_class("gpu", GPU), devices, args=args) == 75
    plugin = fit_of(cluster, args)
    assert not plugin.score_key_of_template
    assert plugin.score_key(cluster.reader.read(a_pod(requests={GPU: 1}))) is UNCACHED
    assert plugin.score_key(cluster.reader.read(a_pod(cpu="1"))) is not UNCACHED


def test_placements_are_scored_as_one_node() -> None:
    cluster = a_cluster(NODE, a_node("m", cpu="4", memory="8Gi"), a_pod("b", cpu="2", memory="4Gi", node="m"))
    pods = [cluster.reader.read(a_pod(name, cpu="1", memory="2Gi")) for name in ("x", "y")]
    assert fit_of(cluster).score_placement(pods, Nodes(cluster.table)) == 50


# -- events


def hint_of(action: Action, resource: Resource, **gates: bool) -> Callable[[Any, Any, Any], Hint]:
    for registration in fit_of(a_cluster(), None, **gates).events_to_register():
        if registration.event.resource is resource and registration.event.action & action:
            assert registration.hint is not None
            return registration.hint
    raise LookupError(resource)


PENDING = a_pod("pending", cpu="2", requests={GPU: 1})


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(a_pod("b", node="n"), None, Hint.QUEUE, id="a placed pod was deleted"),
        pytest.param(a_pod("b", nominated="n"), None, Hint.QUEUE, id="a nominated pod was deleted"),
        pytest.param(a_pod("b"), None, Hint.QUEUE_SKIP, id="a pending pod was deleted"),
        pytest.param(a_pod("b", cpu="2", node="n"), a_pod("b", cpu="1", node="n"), Hint.QUEUE, id="less cpu"),
        pytest.param(
            a_pod("b", memory="2", node="n"), a_pod("b", memory="1", node="n"), Hint.QUEUE_SKIP, id="less memory"
        ),
        pytest.param(a_pod("b", cpu="2"), a_pod("b", cpu="1"), Hint.QUEUE_SKIP, id="another pending pod shrank"),
        pytest.param(PENDING, PENDING, Hint.QUEUE, id="the pod itself"),
    ],
)
def test_pod_events(old: Pod, new: Pod | None, expected: Hint) -> None:
    read = a_cluster().reader.read
    hint = hint_of(Action.DELETE, Resource.POD)
    assert hint(read(PENDING), read(old), new and read(new)) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, a_node("n", allocatable={GPU: 1}), Hint.QUEUE),
        (None, a_node("n"), Hint.QUEUE_SKIP),
        (None, a_node("n", pods=0, allocatable={GPU: 1}), Hint.QUEUE_SKIP),
        (a_node("n", cpu="1", allocatable={GPU: 1}), a_node("n", cpu="2", allocatable={GPU: 1}), Hint.QUEUE),
        (a_node("n", memory="1Gi", allocatable={GPU: 1}), a_node("n", allocatable={GPU: 1}), Hint.QUEUE_SKIP),
        (a_node("n", pods=1, allocatable={GPU: 1}), a_node("n", pods=2, allocatable={GPU: 1}), Hint.QUEUE),
        (a_node("n"), a_node("n", allocatable={GPU: 1}), Hint.QUEUE),
    ],
)
def test_node_events(old: ApiObject | None, new: ApiObject, expected: Hint) -> None:
    hint = hint_of(Action.ADD, Resource.NODE)
    assert hint(a_cluster().reader.read(PENDING), old, new) is expected


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, a_device_class("gpu", GPU), Hint.QUEUE),
        (None, a_device_class("gpu"), Hint.QUEUE_SKIP),
        (a_device_class("gpu"), a_device_class("gpu", GPU), Hint.QUEUE),
        (a_device_class("gpu", GPU), a_device_class("gpu", GPU), Hint.QUEUE_SKIP),
        (a_device_class("gpu", GPU), a_device_class("gpu"), Hint.QUEUE_SKIP),
    ],
)
def test_device_class_events(old: DeviceClass | None, new: DeviceClass, expected: Hint) -> None:
    hint = hint_of(Action.ADD, Resource.DEVICE_CLASS)
    assert hint(a_cluster().reader.read(PENDING), old, new) is expected


def test_events_follow_the_gates() -> None:
    off = dict.fromkeys(("InPlacePodVerticalScaling", "SchedulerQueueingHints"), False)
    plugin = NodeResourcesFit(fit_args(), a_cluster(), FeatureGates(off, Version(1, 33)))
    found = {registration.event.resource: registration.event.action for registration in plugin.events_to_register()}
    nodes = Action.ADD | Action.UPDATE_NODE_ALLOCATABLE | Action.UPDATE_NODE_TAINT | Action.UPDATE_NODE_LABEL
    assert found == {Resource.POD: Action.DELETE, Resource.NODE: nodes}
