"""Stand-ins skip the pods that do not concern them, and refuse the others instead of guessing."""

import asyncio
from typing import Any

import pytest

from kubesched.api.devices import DeviceClass, DeviceClassSpec
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.pods import (
    AzureFileVolumeSource,
    EphemeralVolumeSource,
    GCEPersistentDiskVolumeSource,
    ImageVolumeSource,
    Pod,
    PodResourceClaim,
    PodSchedulingGroup,
    RBDVolumeSource,
    Volume,
)
from kubesched.cluster.cluster import Cluster
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.intree import IN_TREE
from kubesched.framework.cycle import PRE_FILTERED, CycleState
from kubesched.framework.events import Hint
from kubesched.framework.nodes import NodeRow, Nodes
from kubesched.framework.plugin import Plugin, extension_points_of
from kubesched.framework.profile import build_plugin
from kubesched.framework.stand_in import StandInFilter
from kubesched.framework.status import Code
from kubesched.plugins.dynamic_resources import DynamicResources
from kubesched.plugins.gang_scheduling import GangScheduling
from kubesched.plugins.node_volume_limits import NodeVolumeLimits
from kubesched.plugins.pod_group_pods_count import PodGroupPodsCount
from kubesched.plugins.topology_placement_generator import TopologyPlacementGenerator
from kubesched.plugins.volume_binding import VolumeBinding
from kubesched.plugins.volume_restrictions import VolumeRestrictions
from kubesched.plugins.volume_zone import VolumeZone
from kubesched.scheduling.engine import build_engine
from kubesched.testing import a_cluster, a_node, a_pod

STAND_INS: list[type[Plugin]] = [
    DynamicResources,
    GangScheduling,
    NodeVolumeLimits,
    PodGroupPodsCount,
    TopologyPlacementGenerator,
    VolumeBinding,
    VolumeRestrictions,
    VolumeZone,
]
FILTERS: list[type[StandInFilter]] = [
    VolumeRestrictions,
    NodeVolumeLimits,
    VolumeBinding,
    VolumeZone,
    DynamicResources,
]

EPHEMERAL = Volume(name="v", ephemeral=EphemeralVolumeSource())
IMAGE = Volume(name="v", image=ImageVolumeSource())
GCE = Volume(name="v", gce_persistent_disk=GCEPersistentDiskVolumeSource())
AZURE_FILE = Volume(name="v", azure_file=AzureFileVolumeSource())
RBD = Volume(name="v", rbd=RBDVolumeSource())
GPU = "example.com/gpu"


def built(plugin: type[Plugin], cluster: Cluster, **gates: bool) -> Any:
    return build_plugin(plugin.name, plugin, {"cluster": cluster, "gates": FeatureGates(gates)}, "test")


@pytest.mark.parametrize("plugin", STAND_INS, ids=lambda plugin: plugin.name)
def test_extension_points_are_those_of_the_catalogue(plugin: type[Plugin]) -> None:
    assert extension_points_of(plugin) == IN_TREE[plugin.name]


@pytest.mark.parametrize(
    ("what", "pod", "concerned"),
    [
        ("a pod without volumes", a_pod("p"), []),
        ("volumes that nobody attaches", a_pod("p", volumes=[IMAGE, Volume(name="empty")]), []),
        (
            "a claim",
            a_pod("p", volumes=["claim"]),
            ["VolumeRestrictions", "NodeVolumeLimits", "VolumeBinding", "VolumeZone"],
        ),
        ("an ephemeral volume", a_pod("p", volumes=[EPHEMERAL]), ["NodeVolumeLimits", "VolumeBinding"]),
        ("a disk that one pod at a time may use", a_pod("p", volumes=[RBD]), ["VolumeRestrictions"]),
        ("a cloud disk", a_pod("p", volumes=[GCE]), ["VolumeRestrictions", "NodeVolumeLimits"]),
        ("a cloud share", a_pod("p", volumes=[AZURE_FILE]), ["NodeVolumeLimits"]),
        (
            "a resource claim",
            a_pod("p", resource_claims=(PodResourceClaim(name="c"),)),
            ["DynamicResources"],
        ),
        ("an extended resource that no device class stands for", a_pod("p", requests={GPU: "1"}), []),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_who_is_concerned(what: str, pod: Pod, concerned: list[str]) -> None:
    cluster = a_cluster(a_node("n1"))
    info = cluster.reader.read(pod)
    found = []
    for kind in FILTERS:
        plugin = built(kind, cluster)
        outcome = plugin.pre_filter(CycleState(), info)
        one = plugin.filter(CycleState(), info, NodeRow(cluster.table, 0))
        many = plugin.filter_nodes(CycleState(), info, Nodes(cluster.table))
        assert many.statuses[many.which[0]] == one
        if outcome.code is Code.SKIP:
            assert one is None
            assert plugin.key(info) == ""
        else:
            assert outcome.code is Code.ERROR
            assert outcome.message.startswith(f"{kind.name} does not implement ")
            assert one == outcome
            found.append(kind.name)
    assert found == concerned, what


@pytest.mark.parametrize(
    ("what", "device_class", "resource", "amount", "concerned"),
    [
        ("a class that names the resource", {"extended_resource_name": GPU}, GPU, "1", True),
        ("a class of another resource", {"extended_resource_name": "example.com/fpga"}, GPU, "1", False),
        ("nothing of the resource is asked for", {"extended_resource_name": GPU}, GPU, "0", False),
        ("the name made of the class", {}, "deviceclass.resource.kubernetes.io/gpu", "1", True),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_extended_resources(
    what: str, device_class: dict[str, Any], resource: str, amount: str, concerned: bool
) -> None:
    cluster = a_cluster()
    pod = cluster.reader.read(a_pod("p", requests={resource: amount}))
    plugin = built(DynamicResources, cluster)
    assert plugin.key(pod) == ""
    cluster.add(DeviceClass(metadata=ObjectMeta(name="gpu"), spec=DeviceClassSpec(**device_class)))
    # the class came later: it changes the key, so that nothing cached is asked
    assert bool(plugin.key(pod)) is concerned, what
    assert built(DynamicResources, cluster, DRAExtendedResource=False).key(pod) == ""


def test_a_refusal_ends_the_cycle_with_an_error() -> None:
    engine = build_engine()
    engine.cluster.add(a_node("n1"))
    pre = engine.evaluate(engine.cluster.reader.read(a_pod("p", volumes=["claim"]))).pre_filtered
    assert pre.rejection is not None
    assert pre.rejection.code is Code.ERROR
    assert "VolumeRestrictions does not implement pods with persistent volume claims yet" in pre.rejection.message


@pytest.mark.parametrize("kind", [VolumeBinding, DynamicResources], ids=lambda kind: kind.name)
def test_scores_are_zero_and_nothing_is_bound(kind: type[StandInFilter]) -> None:
    cluster = a_cluster(a_node("n1"), a_node("n2"))
    plugin = built(kind, cluster)
    pod, claiming = (
        cluster.reader.read(p)
        for p in (a_pod("p"), a_pod("q", volumes=["claim"], resource_claims=(PodResourceClaim(name="c"),)))
    )
    cycle = CycleState()
    cycle.write(PRE_FILTERED, (kind.name,))
    assert plugin.score_nodes(cycle, pod, Nodes(cluster.table)).tolist() == [0, 0]
    assert plugin.score(cycle, pod, NodeRow(cluster.table, 1)) == 0
    assert plugin.score(cycle, claiming, NodeRow(cluster.table, 1)).code is Code.ERROR
    assert plugin.reserve(cycle, pod, "n1") is None
    assert plugin.reserve(cycle, claiming, "n1").code is Code.ERROR
    assert plugin.pre_bind_pre_flight(cycle, pod, "n1").code is Code.SKIP
    assert asyncio.run(plugin.pre_bind(cycle, pod, "n1")) is None
    unprepared = CycleState()
    unprepared.write(PRE_FILTERED, ())
    assert plugin.reserve(unprepared, pod, "n1").message == "not found"


@pytest.mark.parametrize(("gate", "code"), [(False, Code.SKIP), (True, None)], ids=["off", "on"])
def test_volume_binding_scores_only_where_capacity_counts(gate: bool, code: Code | None) -> None:
    cluster = a_cluster(a_node("n1"))
    plugin = built(VolumeBinding, cluster, StorageCapacityScoring=gate)
    status = plugin.pre_score(CycleState(), cluster.reader.read(a_pod("p")), Nodes(cluster.table))
    assert (status.code if status else None) is code


@pytest.mark.parametrize(
    ("what", "objects", "pod", "config", "message"),
    [
        (
            "a pod without claims",
            [a_node("n1", cpu="1")],
            a_pod("p", cpu="2"),
            None,
            "no new claims to deallocate",
        ),
        (
            "an earlier rejection kept PreFilter from running",
            [a_node("n1")],
            a_pod("p"),
            "{preFilter: {disabled: [{name: DynamicResources}]}, filter: {disabled: [{name: DynamicResources}]}}",
            "not found",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_dynamic_resources_speaks_in_post_filter(
    what: str, objects: list[ApiObject], pod: Pod, config: str | None, message: str
) -> None:
    text = None
    if config is not None:
        text = (
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
            f"profiles:\n- plugins: {config}\n"
        )
    engine = build_engine(text)
    for obj in objects:
        engine.cluster.add(obj)
    evaluation = engine.evaluate(engine.cluster.reader.read(pod))
    plugin = engine.profiles["default-scheduler"].plugins["DynamicResources"]
    assert isinstance(plugin, DynamicResources)
    result = plugin.post_filter(evaluation.cycle, evaluation.pod, evaluation.verdicts())
    assert result.status.message == message, what
    assert result.nominated_node_name is None


def test_dynamic_resources_is_off_in_older_versions() -> None:
    cluster = a_cluster()
    plugin = DynamicResources(cluster, FeatureGates.parse("", ["1.33"]))
    pod = cluster.reader.read(a_pod("p", resource_claims=(PodResourceClaim(name="c"),)))
    assert plugin.pre_filter(CycleState(), pod).code is Code.SKIP
    assert plugin.reserve(CycleState(), pod, "n1") is None
    assert plugin.events_to_register() == ()
    assert plugin.pre_enqueue(pod) is None


def test_gang_scheduling_lets_pods_without_a_group_pass() -> None:
    cluster = a_cluster()
    plugin = built(GangScheduling, cluster)
    alone = cluster.reader.read(a_pod("p"))
    grouped = cluster.reader.read(a_pod("q", scheduling_group=PodSchedulingGroup(pod_group_name="g")))
    assert plugin.pre_enqueue(alone) is None
    assert plugin.permit(CycleState(), alone, "n1").status.ok
    assert plugin.pre_enqueue(grouped).code is Code.ERROR
    assert plugin.permit(CycleState(), grouped, "n1").status.code is Code.ERROR


@pytest.mark.parametrize("plugin", STAND_INS, ids=lambda plugin: plugin.name)
def test_hints_always_queue(plugin: type[Plugin]) -> None:
    cluster = a_cluster()
    pod = cluster.reader.read(a_pod("p"))
    for registration in built(plugin, cluster).events_to_register():
        assert registration.hint is None or registration.hint(pod, None, pod) is Hint.QUEUE
