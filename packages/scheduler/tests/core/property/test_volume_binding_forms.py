"""VolumeBinding over columns finds what a search node by node finds, and Unreserve leaves no trace of Reserve."""

from collections.abc import Sequence
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched.api.labels import from_label_selector
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.quantity import quantity_of
from kubesched.api.storage import CSIStorageCapacity, PersistentVolume, PersistentVolumeClaim, StorageClass
from kubesched.conformance.plans import described_plan
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.comparison import content, differences, rebuilt
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.storage.reach import reaching_nodes
from kubesched.core.cluster.storage.volumes import class_of_volume, is_bound_to
from kubesched.core.framework.values.cycle import PRE_FILTERED, CycleState
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.plugins.volume_binding import VolumeBinding
from kubesched.core.plugins.volume_binding.search import SELECTED_NODE
from kubesched.testing import (
    a_claim,
    a_cluster,
    a_csi_driver,
    a_node,
    a_pod,
    a_storage_class,
    a_storage_pool,
    a_volume,
)
from kubesched.testing.shorthand import HOSTNAME

SETTINGS = settings(max_examples=150, deadline=None)
NAMES = ["n1", "n2", "n3"]
CLAIMS = ["c1", "c2", "c3"]
REACHES = [None, "rack=1", "rack in (1,2)", f"{HOSTNAME}=n2", f"{HOSTNAME} in (n1,n3),rack=1", "rack!=1", "size>3"]
CLASSES = (
    a_storage_class("local"),
    a_storage_class("csi", provisioner="csi.example.com", allowed={"rack": ["1", "2"]}),
    a_csi_driver("csi.example.com"),
)
SIZES = st.sampled_from(["1", "2", "2500m", "3", "4"])
CLASS_NAMES = st.sampled_from(["local", "csi"])
MODES = st.sampled_from([("ReadWriteOnce",), ("ReadWriteOnce", "ReadOnlyMany")])

nodes: st.SearchStrategy[Node] = st.builds(
    a_node,
    st.sampled_from(NAMES),
    labels=st.dictionaries(st.sampled_from(["rack", "size"]), st.sampled_from(["1", "2", "5"])),
)
volumes: st.SearchStrategy[PersistentVolume] = st.builds(
    a_volume,
    st.sampled_from([f"v{i}" for i in range(6)]),
    size=SIZES,
    storage_class=CLASS_NAMES,
    modes=MODES,
    nodes=st.sampled_from(REACHES) | st.lists(st.sampled_from(REACHES[1:]), max_size=2),
    labels=st.dictionaries(st.just("disk"), st.sampled_from(["ssd", "hdd"])),
    claimed_by=st.sampled_from(["", "", "", *(f"default/{name}" for name in CLAIMS)]),
    phase=st.sampled_from(["Available", "Available", "Pending"]),
)
claims: st.SearchStrategy[PersistentVolumeClaim] = st.builds(
    a_claim,
    st.sampled_from(CLAIMS),
    size=SIZES,
    storage_class=CLASS_NAMES,
    modes=MODES,
    selector=st.sampled_from([None, None, "disk=ssd"]),
    selected_node=st.sampled_from([None, None, None, "n1"]),
    bound_to=st.sampled_from(["", "", "", "v0"]),
)
pools: st.SearchStrategy[CSIStorageCapacity] = st.builds(
    a_storage_pool,
    st.sampled_from(["p1", "p2"]),
    capacity=st.integers(1, 4),
    nodes=st.sampled_from([None, "", "rack=1", "rack in (1,2)", "!size"]),
)
changes: st.SearchStrategy[list[ApiObject]] = st.lists(nodes | volumes | claims | pools, min_size=1, max_size=25)
wanted = st.lists(st.sampled_from(CLAIMS), min_size=1, max_size=3, unique=True)


def a_world(objects: Sequence[ApiObject]) -> ClusterState:
    cluster = a_cluster(*(a_node(name) for name in NAMES), *CLASSES, *(a_claim(name) for name in CLAIMS))
    for obj in objects:
        cluster.add(obj)
    return cluster


# -- the search, node by node, as it is written down in the reference


def reaches(node: Node, volume: PersistentVolume) -> bool:
    affinity = volume.spec.node_affinity
    if affinity is None or affinity.required is None:
        return True
    return reaching_nodes(affinity.required).matches(node.metadata.labels, "")


def size_of(amounts: Any) -> Any:
    return quantity_of(amounts.get("storage", 0))


def match(claim: PersistentVolumeClaim, node: Node, listed: Sequence[PersistentVolume], taken: set[str]) -> Any:
    """Return the size of the volume that a claim gets and its name if it was meant for it, or None."""
    selector = None if claim.spec.selector is None else from_label_selector(claim.spec.selector)
    best: PersistentVolume | None = None
    for volume in listed:
        mine = is_bound_to(volume, claim)
        if volume.name in taken or (volume.spec.claim_ref is not None and not mine):
            continue
        if size_of(volume.spec.capacity) < size_of(claim.spec.resources.requests):
            continue
        if mine:
            return volume if reaches(node, volume) else None
        if volume.status.phase != "Available" or (selector and not selector.matches(volume.metadata.labels)):
            continue
        if not reaches(node, volume) or not set(claim.spec.access_modes) <= set(volume.spec.access_modes):
            continue
        if best is None or size_of(volume.spec.capacity) < size_of(best.spec.capacity):
            best = volume
    return best


def can_provide(claim: PersistentVolumeClaim, node: Node, cluster: ClusterState) -> str:
    if claim.spec.storage_class_name == "local":
        return "bind"
    storage_class = cluster.objects.get(StorageClass, "csi")
    assert storage_class is not None
    if node.metadata.labels.get("rack") not in ("1", "2"):
        return "bind"
    size = size_of(claim.spec.resources.requests).value()
    for pool in cluster.objects.of(CSIStorageCapacity):
        if pool.node_topology is None or int(pool.capacity or 0) < size:
            continue
        if from_label_selector(pool.node_topology).matches(node.metadata.labels):
            return ""
    return "space"


def expected(cluster: ClusterState, pod: PodInfo, node: Node) -> tuple[set[str], list[Any], list[str]]:
    """Return the objections to a node, the sizes of the volumes bound there, and the claims provided for."""
    names = [volume.persistent_volume_claim.claim_name for volume in pod.spec.volumes if volume.persistent_volume_claim]
    own = [cluster.volumes.claim(f"default/{name}") for name in names]
    objections: set[str] = set()
    unbound = []
    for claim in own:
        assert claim is not None
        if not claim.spec.volume_name:
            unbound.append(claim)
        elif not objections:
            volume = cluster.volumes.volume(claim.spec.volume_name)
            if volume is None:
                objections.add("missing")
            elif not reaches(node, volume):
                objections.add("node")
    selected = [c for c in unbound if SELECTED_NODE in c.metadata.annotations]
    if any(c.metadata.annotations[SELECTED_NODE] != node.name for c in selected):
        return {*objections, "bind"}, [], []
    names = sorted(volume.name for volume in cluster.objects.of(PersistentVolume))
    listed = [cluster.volumes.volume(name) for name in names]
    taken: set[str] = set()
    to_provide, sizes = list(selected), []
    for claim in sorted((c for c in unbound if c not in selected), key=lambda c: size_of(c.spec.resources.requests)):
        of_class = [v for v in listed if v is not None and class_of_volume(v) == claim.spec.storage_class_name]
        volume = match(claim, node, of_class, taken)
        if volume is None:
            to_provide.append(claim)
        else:
            taken.add(volume.name)
            sizes.append((claim.name, size_of(volume.spec.capacity)))
    for claim in to_provide:
        problem = can_provide(claim, node, cluster)
        if problem:
            return {*objections, problem}, [], []
    return objections, sizes, [claim.name for claim in to_provide]


WORDS = {"node affinity": "node", "find available": "bind", "free storage": "space", "non-existent": "missing"}


class Asked:
    """A pod that has been pre-filtered."""

    def __init__(self, cluster: ClusterState, plugin: VolumeBinding, names: Sequence[str], pod_name: str = "p") -> None:
        self.cluster, self.plugin = cluster, plugin
        self.pod = cluster.reader.read(a_pod(pod_name, volumes=names))
        self.cycle = CycleState()
        self.cycle.write(PRE_FILTERED, ("VolumeBinding",))
        self.outcome = plugin.pre_filter(self.cycle, self.pod)

    def check(self) -> list[str]:
        """Compare all nodes, in columns and one by one, with the search node by node; return those that pass."""
        table = self.cluster.table
        verdict = self.plugin.filter_nodes(self.cycle, self.pod, Nodes(table))
        passing = []
        for row in table.present_rows().tolist():
            node, status = table.nodes[row], verdict.statuses[int(verdict.which[row])]
            assert node is not None
            assert status == self.plugin.filter(self.cycle, self.pod, NodeRow(table, row))
            reasons = status.reasons if status is not None else ()
            objections = {WORDS[word] for reason in reasons for word in WORDS if word in reason}
            wanted_objections, sizes, provided = expected(self.cluster, self.pod, node)
            assert objections == wanted_objections, node.name
            if not objections:
                passing.append(node.name)
                self.check_plan(node.name, sizes, provided)
        return passing

    def check_plan(self, node_name: str, sizes: list[Any], provided: list[str]) -> None:
        plan = described_plan(self.plugin, self.cycle, self.pod, node_name).get("volumes", {})
        found = {}
        for claim, name in plan.get("bindings", {}).items():
            volume = self.cluster.volumes.volume(name)
            assert volume is not None
            found[claim] = size_of(volume.spec.capacity)
        # which of several equally large ones is taken is nobody's business
        assert found == dict(sizes)
        assert plan.get("provision", []) == sorted(provided)


@SETTINGS
@given(changes, changes, wanted)
def test_columns_find_what_a_search_node_by_node_finds(
    first: list[ApiObject], then: list[ApiObject], names: list[str]
) -> None:
    cluster = a_world(first)
    plugin = VolumeBinding(cluster)
    asked = Asked(cluster, plugin, names)
    if asked.outcome is None:
        asked.check()
    # the same plugin, after what may happen
    for obj in then:
        cluster.add(obj)
    asked = Asked(cluster, plugin, names)
    if asked.outcome is None:
        asked.check()
    assert list(differences(content(cluster)["volumes"], content(rebuilt(cluster))["volumes"])) == []


@SETTINGS
@given(changes, wanted, wanted, st.randoms(use_true_random=False))
def test_reserve_and_unreserve_leave_no_trace(
    objects: list[ApiObject], names: list[str], others: list[str], random: Any
) -> None:
    cluster = a_world(objects)
    plugin = VolumeBinding(cluster)
    asked = Asked(cluster, plugin, names)
    passing = asked.check() if asked.outcome is None else []
    if not passing:
        return
    # a label is a column, and part of the content, from when it is first asked for
    for label in ("rack", "size", HOSTNAME):
        cluster.table.label(label)
    before = content(cluster)
    node_name = random.choice(passing)
    placed = cluster.assume(asked.pod, node_name)
    assert plugin.reserve(asked.cycle, placed, node_name) is None
    # meanwhile another pod is judged on what is left
    other = Asked(cluster, plugin, others, "q")
    if other.outcome is None:
        other.check()
    assert list(differences(content(cluster)["volumes"], content(rebuilt(cluster))["volumes"])) == []
    plugin.unreserve(asked.cycle, placed, node_name)
    plugin.unreserve(asked.cycle, placed, node_name)
    cluster.forget(placed)
    assert list(differences({**content(cluster), "pending": []}, {**before, "pending": []})) == []
    asked.check()
