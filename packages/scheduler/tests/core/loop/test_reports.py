"""Reports of every kind that a scheduler watches: a version in which scheduling reads nothing new costs nothing more.

Plugins look up the version that was reported last. Nothing is logged, no column is recomputed, no hint is asked and no
pod moves.
"""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import numpy as np
import pytest

from kubesched import kind_reads
from kubesched.api.devices import AllocatedDeviceStatus
from kubesched.api.labels import Selector, from_label_selector
from kubesched.api.meta import ApiObject, Condition, LabelSelector, ObjectMeta
from kubesched.api.nodes import ContainerImage, Node, NodeAddress, NodeCondition, NodeSystemInfo
from kubesched.api.owners import (
    ReplicaSet,
    ReplicasStatus,
    ReplicationController,
    ReplicationControllerSpec,
    StatefulSet,
    StatefulSetSpec,
)
from kubesched.api.pods import ContainerStatus
from kubesched.api.scheduling import PodGroup, PodGroupStatus
from kubesched.api.storage import BETA_STORAGE_CLASS_ANNOTATION, VolumeAttachmentStatus
from kubesched.core.devices import DeviceFeatures
from kubesched.core.framework.observing.observer import Observer
from kubesched.core.framework.plugin import FilterPlugin
from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.framework.values.status import Status, StatusTable, unschedulable
from kubesched.core.framework.views.cluster_view import ClusterView
from kubesched.core.plugins.default_preemption import disruption_budgets
from kubesched.core.plugins.node_volume_limits import NodeVolumeLimits
from kubesched.testing import (
    VirtualScheduler,
    a_budget,
    a_cluster,
    a_namespace,
    a_node,
    a_pod,
    a_replica_set,
    a_service,
)
from kubesched.testing.devices import (
    a_claiming_pod,
    a_device,
    a_device_class,
    a_resource_claim,
    a_slice,
    a_taint_rule,
)
from kubesched.testing.storage import (
    a_claim,
    a_csi_driver,
    a_csi_node,
    a_storage_class,
    a_storage_pool,
    a_volume,
    an_attachment,
)

AT = datetime(2026, 1, 1, tzinfo=UTC)
CONDITIONS = (Condition(type="Reported", status="True", last_transition_time=AT),)
DRIVER = "csi.example.com"
GATES = "GenericWorkload=true,GangScheduling=true,DRADeviceTaints=true,DRADeviceTaintRules=true"
NODE = a_node("n", cpu="4", labels={"zone": "a"})
NODE = msgspec.structs.replace(
    NODE,
    status=msgspec.structs.replace(
        NODE.status,
        conditions=(NodeCondition(type="Ready", status="True"),),
        images=tuple(ContainerImage(names=(f"image-{i}:v1", f"image-{i}@sha256:0"), size_bytes=i) for i in range(50)),
    ),
)


def with_status(obj: Any, **fields: object) -> Any:
    return msgspec.structs.replace(obj, status=msgspec.structs.replace(obj.status, **fields))


def with_metadata(obj: Any, **fields: object) -> Any:
    return msgspec.structs.replace(obj, metadata=msgspec.structs.replace(obj.metadata, **fields))


def annotated(obj: Any) -> Any:
    return with_metadata(obj, annotations={**obj.metadata.annotations, "example.com/note": "new"})


def decoded_anew(obj: Any) -> Any:
    """Return an equal object that shares no part, with another resource version."""
    copied = msgspec.json.decode(msgspec.json.encode(obj), type=type(obj))
    return with_metadata(copied, resource_version="2")


def a_stateful_set(app: str = "a") -> StatefulSet:
    spec = StatefulSetSpec(selector=LabelSelector(match_labels={"app": app}))
    return StatefulSet(metadata=ObjectMeta(name="set", namespace="default"), spec=spec)


def a_replication_controller(app: str = "a") -> ReplicationController:
    spec = ReplicationControllerSpec(selector={"app": app})
    return ReplicationController(metadata=ObjectMeta(name="rc", namespace="default"), spec=spec)


BEAT = (NodeCondition(type="Ready", status="True", last_heartbeat_time=AT),)
READY = ReplicasStatus(replicas=3, ready_replicas=2, available_replicas=2, observed_generation=1)
VOLUME = a_volume("v", claimed_by="default/c", storage_class="csi", csi=f"{DRIVER}/h")
CLAIM = a_claim("c", storage_class="csi", bound_to="v")
ATTACHMENT = an_attachment("a", node="n", volume="v")
POOL = a_storage_pool("pool", storage_class="csi", capacity="1Gi")
RULE = a_taint_rule("rule", "example.com/broken=yes:NoSchedule", device="none")
DEVICE_CLAIM = a_resource_claim("devices")
GROUP = PodGroup(metadata=ObjectMeta(name="group", namespace="default"))
DEVICE_STATUS = AllocatedDeviceStatus(driver="d", pool="p", device="x", conditions=CONDITIONS)

ROWS: dict[str, tuple[ApiObject, ApiObject]] = {
    "a node's heartbeat": (NODE, with_status(NODE, conditions=BEAT)),
    "a node's annotations": (NODE, annotated(NODE)),
    "a node's addresses": (NODE, with_status(NODE, addresses=(NodeAddress(type="Hostname", address="n"),))),
    "a node's system": (NODE, with_status(NODE, node_info=NodeSystemInfo(kubelet_version="v1.36.4"))),
    "a namespace's status": (
        a_namespace("team", labels={"team": "core"}),
        with_status(a_namespace("team", labels={"team": "core"}), phase="Active", conditions=CONDITIONS),
    ),
    "a service's annotations": (a_service("s", {"app": "a"}), annotated(a_service("s", {"app": "a"}))),
    "a replica set's status": (
        a_replica_set("rs", "app=a"),
        with_status(a_replica_set("rs", "app=a"), ready_replicas=2),
    ),
    "a stateful set's status": (a_stateful_set(), msgspec.structs.replace(a_stateful_set(), status=READY)),
    "a replication controller's status": (
        a_replication_controller(),
        msgspec.structs.replace(a_replication_controller(), status=READY),
    ),
    "a budget's status": (
        a_budget("b", "app=a", allowed=1),
        with_status(a_budget("b", "app=a", allowed=1), current_healthy=3, expected_pods=4, conditions=CONDITIONS),
    ),
    "a volume's status": (VOLUME, with_status(VOLUME, phase="Available", last_phase_transition_time=AT)),
    "a volume's annotations": (VOLUME, annotated(VOLUME)),
    "a claim's status": (
        CLAIM,
        with_status(CLAIM, conditions=CONDITIONS, capacity={"storage": "1Gi"}, allocated_resources={"storage": "2Gi"}),
    ),
    "a claim's annotations": (CLAIM, annotated(CLAIM)),
    "a storage class's annotations": (
        a_storage_class("csi", provisioner=DRIVER),
        annotated(a_storage_class("csi", provisioner=DRIVER)),
    ),
    "a CSINode's annotations": (a_csi_node("n", {DRIVER: 1}), annotated(a_csi_node("n", {DRIVER: 1}))),
    "a CSI driver's annotations": (a_csi_driver(DRIVER), annotated(a_csi_driver(DRIVER))),
    "a storage pool's capacity": (POOL, msgspec.structs.replace(POOL, capacity="512Mi")),
    "an attachment's status": (
        ATTACHMENT,
        msgspec.structs.replace(ATTACHMENT, status=VolumeAttachmentStatus(attached=True)),
    ),
    "a resource claim's devices": (DEVICE_CLAIM, with_status(DEVICE_CLAIM, devices=(DEVICE_STATUS,))),
    "a slice's annotations": (
        a_slice("slice", a_device("d"), node="n"),
        annotated(a_slice("slice", a_device("d"), node="n")),
    ),
    "a device class's annotations": (a_device_class("gpu"), annotated(a_device_class("gpu"))),
    "a device taint rule's status": (RULE, with_status(RULE, conditions=CONDITIONS)),
    "a pod group's status": (GROUP, msgspec.structs.replace(GROUP, status=PodGroupStatus(conditions=CONDITIONS))),
}
# nothing is derived from these objects: plugins look them up in each cycle
NOT_COUNTED = ("CSIDriver", "CSIStorageCapacity", "ResourceClaim", "PodGroup")
# the hints of NodeResourcesFit compare device classes
ASKED = ("DeviceClass",)
REPORTS = [
    *(pytest.param(first, report, id=name) for name, (first, report) in ROWS.items()),
    *(pytest.param(first, decoded_anew(first), id=f"{name} stays as it is") for name, (first, _) in ROWS.items()),
]


class Hints(Observer):
    """Counts hints, and collects the names of the pods that are tried."""

    def __init__(self) -> None:
        self.asked = 0
        self.tried: list[str] = []

    def hint_asked(self, plugin: str, event: str, answer: str, seconds: float) -> None:
        self.asked += 1

    def attempt_began(self, pod: Any) -> None:
        self.tried.append(pod.name)


class Living:
    """A scheduler with pods that wait for all sorts of things, and kept answers about each of them."""

    def __init__(self) -> None:
        self.hints = Hints()
        self.world = VirtualScheduler(gates=GATES, observers=[self.hints])
        self.world.put(*[first for first, _ in ROWS.values()])
        self.world.put(a_pod("user", node="n", volumes=["c"], labels={"app": "a"}))
        for name, words in (("large", {}), ("volume", {"volumes": ["c"]}), ("apart", {"labels": {"app": "a"}})):
            self.world.put(a_pod(name, cpu="64", **words))
        self.world.put(a_claiming_pod("device", "devices", cpu="64"))
        self.world.run(60)
        scheduler = self.world.scheduler
        assert scheduler is not None
        self.scheduler = scheduler
        self.cluster = scheduler.cluster
        self.large = next(pod for pod in self.cluster.pending.values() if pod.name == "large")
        assert len(self.cluster.pending) == 4

    def report(self, obj: ApiObject) -> None:
        self.scheduler.event_handlers.put(obj)

    def verdicts(self) -> NodeVerdicts:
        return self.scheduler.engine.evaluation_of(self.large).verdicts()

    def seen(self) -> tuple[object, ...]:
        """Return all that a report may not change."""
        counts = sorted((place.name, count) for place, count in self.scheduler.queue.counts().items())
        return self.cluster.log.seq, self.hints.asked, len(self.hints.tried), counts


@pytest.fixture(scope="module")
def living() -> Iterator[Living]:
    scheduler = Living()
    yield scheduler
    scheduler.world.close()


@pytest.mark.parametrize(("first", "report"), REPORTS)
def test_a_report_changes_nothing_but_the_object(living: Living, first: ApiObject, report: ApiObject) -> None:
    living.report(first)
    kind, objects = type(first).__name__, living.cluster.objects
    verdicts, before, version = living.verdicts(), living.seen(), objects.versions.get(kind)
    living.report(report)
    if kind not in ASKED:
        assert living.seen() == before
    if kind not in NOT_COUNTED:
        assert objects.versions.get(kind) == version
    assert living.verdicts() is verdicts
    if isinstance(report, Node):
        assert living.cluster.table.nodes[living.cluster.table.row_of["n"]] is report
    else:
        assert objects.find(kind, report.full_name) is report


SELECTORS = (
    a_service("s", {"app": "b"}),
    a_replica_set("rs", "app=b"),
    a_stateful_set("b"),
    a_replication_controller("b"),
)
CHANGES = (
    a_namespace("team", labels={"team": "other"}),
    *SELECTORS,
    a_budget("b", "app=a", allowed=2),
    a_budget("b", "app=a", allowed=1, disrupted=["p"]),
    a_budget("b", "app=b", allowed=1),
    a_volume("v", claimed_by="default/c", storage_class="csi", csi=f"{DRIVER}/other"),
    a_claim("c", storage_class="csi", bound_to="w"),
    a_claim("c", storage_class=None, bound_to="v", annotations={BETA_STORAGE_CLASS_ANNOTATION: "csi"}),
    a_storage_class("csi", provisioner="other.example.com"),
    a_csi_node("n", {DRIVER: 2}),
    a_csi_node("n", {DRIVER: 1}, migrated=["kubernetes.io/aws-ebs"]),
    an_attachment("a", node="n", volume="w"),
    a_slice("slice", a_device("d"), a_device("e"), node="n"),
    a_device_class("gpu", "true"),
    a_taint_rule("rule", "example.com/broken=no:NoSchedule", device="none"),
)


@pytest.mark.parametrize("changed", CHANGES, ids=lambda each: type(each).__name__)
def test_a_change_that_kept_answers_depend_on_counts(changed: ApiObject) -> None:
    cluster = a_cluster(*[first for first, _ in ROWS.values()])
    kind, versions = type(changed).__name__, cluster.objects.versions
    before = versions[kind]
    cluster.add(changed)
    assert versions[kind] == before + 1
    cluster.remove(changed)
    assert versions[kind] == before + 2


class Ready(FilterPlugin):
    """A plugin of a user: its kept answer depends on the status of an object."""

    name = "Ready"
    reads = kind_reads("ReplicaSet")

    def __init__(self, cluster: Any) -> None:
        self.cluster = cluster

    def key(self, pod: Any) -> str:
        return "same"

    def filter(self, cycle: Any, pod: Any, node: Any) -> Status | None:
        return None if self.cluster.get(ReplicaSet, "default/rs").status.ready_replicas else unschedulable("not ready")


def test_a_plugin_that_reads_the_status_of_a_kind_is_asked_again() -> None:
    first, report = ROWS["a replica set's status"]
    with VirtualScheduler(Ready) as world:
        world.put(NODE, first, a_pod("p"))
        world.run(30)
        assert not world.node_of("p")
        world.put(report, a_pod("q"))
        world.run(30)
        assert world.node_of("q") == "n"


# -- volumes of nodes


def test_only_the_nodes_whose_volumes_changed_are_judged_again() -> None:
    nodes = [a_node(f"n{number}") for number in range(50)]
    limits = [a_csi_node(node.name, {DRIVER: 1}) for node in nodes]
    classes = (a_storage_class("csi", provisioner=DRIVER),)
    cluster = a_cluster(*nodes, *limits, *classes, CLAIM, VOLUME, POOL, a_claim("mine", storage_class="csi"))
    cluster.add(a_pod("user", node="n7", volumes=["c"]))
    mine = cluster.reader.read(a_pod("p", volumes=["mine"]))
    question = NodeVolumeLimits(cluster).filter_question(mine, StatusTable())

    def rejected() -> list[str]:
        question.refresh()
        return [cluster.table.names[row] for row in np.flatnonzero(question.ids)]

    assert rejected() == ["n7"]
    generation = question.generation
    cluster.add(msgspec.structs.replace(POOL, capacity="3Gi"))
    cluster.add(a_claim("unused", storage_class="csi", bound_to="w"))
    assert rejected() == ["n7"]
    cluster.add(a_csi_node("n7", {DRIVER: 2}))
    assert rejected() == []
    cluster.add(an_attachment("other", node="n7", volume="w"))
    cluster.add(a_volume("w", csi=f"{DRIVER}/other"))
    assert rejected() == ["n7"]
    cluster.remove(an_attachment("other", node="n7", volume="w"))
    assert rejected() == []
    assert question.generation == generation, "no other node is judged again"


# -- budgets


def test_a_budget_whose_allowance_changes_is_not_compiled_again(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[object] = []

    def counted(selector: LabelSelector | None) -> Selector:
        compiled.append(selector)
        return from_label_selector(selector)

    monkeypatch.setattr(disruption_budgets, "from_label_selector", counted)
    cluster = a_cluster(NODE, *(a_budget(f"b{number}", f"app=a{number}") for number in range(20)))
    cluster.add(a_pod("web", node="n", labels={"app": "a3"}))
    web = cluster.placed[a_pod("web").uid]
    budgets = disruption_budgets.DisruptionBudgets(cluster)
    assert budgets.violating_units([[web]]) == [True]
    assert len(compiled) == 20
    cluster.add(a_budget("b3", "app=a3", allowed=1))
    assert budgets.violating_units([[web]]) == [False]
    assert len(compiled) == 20
    cluster.add(a_budget("b4", "app=a3"))
    assert budgets.violating_units([[web]]) == [True]
    cluster.remove(a_budget("b4", "app=a3"))
    assert budgets.violating_units([[web]]) == [False]
    assert len(compiled) == 21


def test_plugins_see_the_newest_version_of_a_budget() -> None:
    first, report = ROWS["a budget's status"]
    cluster = a_cluster(NODE, first, a_pod("web", node="n", labels={"app": "a"}))
    view, web = ClusterView(cluster), cluster.placed[a_pod("web").uid]
    assert view.budgets_of(web) == [first]
    cluster.add(report)
    assert view.budgets_of(web) == [report]


def test_the_inventory_of_devices_outlives_reports() -> None:
    cluster = a_cluster(*[first for first, _ in ROWS.values()])
    tracker = cluster.devices(DeviceFeatures())
    inventory, classes = tracker.inventory, tracker.classes
    for name in ("a slice's annotations", "a device class's annotations", "a device taint rule's status"):
        cluster.add(ROWS[name][1])
    assert tracker.inventory is inventory
    assert tracker.classes is classes


# -- pods


PLACED = a_pod("user", node="n", volumes=["c"], labels={"app": "a"})
ENDED = with_status(PLACED, phase="Succeeded")
POD_REPORTS = {
    "a running pod": (PLACED, with_status(PLACED, conditions=CONDITIONS)),
    "a running pod's annotations": (PLACED, annotated(PLACED)),
    "a waiting pod": (a_pod("large", cpu="64"), with_status(a_pod("large", cpu="64"), conditions=CONDITIONS)),
    "a waiting pod with a volume": (
        a_pod("volume", cpu="64", volumes=["c"]),
        with_status(a_pod("volume", cpu="64", volumes=["c"]), conditions=CONDITIONS),
    ),
    "a nominated pod": (
        a_pod("large", cpu="64", nominated="n"),
        with_status(a_pod("large", cpu="64", nominated="n"), conditions=CONDITIONS),
    ),
    "a pod of another scheduler": (
        a_pod("foreign", scheduler="other"),
        with_status(a_pod("foreign", scheduler="other"), conditions=CONDITIONS),
    ),
    "a pod that terminates": (
        with_metadata(PLACED, deletion_timestamp=AT),
        with_status(
            with_metadata(PLACED, deletion_timestamp=AT + timedelta(seconds=1)),
            conditions=CONDITIONS,
            container_statuses=(ContainerStatus(name="c"),),
        ),
    ),
    "a pod that ended": (ENDED, with_status(ENDED, conditions=CONDITIONS)),
}


@pytest.mark.parametrize("name", POD_REPORTS)
def test_a_report_about_a_pod_moves_nothing(name: str) -> None:
    first, report = POD_REPORTS[name]
    living = Living()
    living.report(first)
    living.report(first)
    verdicts, before = living.verdicts(), living.seen()
    living.report(report)
    living.report(decoded_anew(report))
    assert living.seen() == before
    if not first.status.nominated_node_name:
        # nominations count by priority, so verdicts are not shared
        assert living.verdicts() is verdicts
    living.world.close()


def test_reports_of_running_pods_are_not_kept_for_pods_in_flight() -> None:
    living = Living()
    queue = living.scheduler.queue
    queue.add(living.cluster.reader.read(a_pod("new")), 0.0)
    assert queue.pop() is not None
    for number in range(100):
        running = with_metadata(PLACED, resource_version=str(number))
        living.report(with_status(running, phase="Running"))
    assert not queue.kept_events()
    living.world.close()
