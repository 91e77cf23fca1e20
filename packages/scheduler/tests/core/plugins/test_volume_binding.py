"""VolumeBinding: which claims a pod may have, which nodes reach volumes for them, and what is set aside."""

from collections.abc import Sequence
from typing import Any

import msgspec
import pytest

from kubesched.api.meta import ApiObject
from kubesched.api.storage import PersistentVolume
from kubesched.api.volumes import AWSElasticBlockStoreVolumeSource, Volume
from kubesched.config.feature_gates import FeatureGates
from kubesched.conformance.plans import described_plan
from kubesched.core.assembly import build_engine
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.comparison import content, differences
from kubesched.core.framework.plugin import UNCACHED
from kubesched.core.framework.values.cycle import PRE_FILTERED, CycleState
from kubesched.core.framework.values.status import SKIP, Code, Status, error, unresolvable
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.plugins.volume_binding import VolumeBinding
from kubesched.testing import (
    a_claim,
    a_cluster,
    a_csi_driver,
    a_csi_node,
    a_node,
    a_pod,
    a_storage_class,
    a_storage_pool,
    a_volume,
)
from kubesched.testing.shorthand import HOSTNAME, ZONE

NODE_CONFLICT = "node(s) didn't match PersistentVolume's node affinity"
BIND_CONFLICT = "node(s) didn't find available persistent volumes to bind"
NO_SPACE = "node(s) did not have enough free storage"
NO_VOLUME = "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)"
DRIVER = "csi.example.com"
AWS = "kubernetes.io/aws-ebs"

N1, N2 = a_node("n1", zone="a"), a_node("n2", zone="b")
LOCAL = a_storage_class("local")
CSI = a_storage_class("csi", provisioner=DRIVER)
ON_N1, ON_N2 = f"{HOSTNAME}=n1", f"{HOSTNAME}=n2"


def a_plugin(cluster: ClusterState, **gates: bool) -> VolumeBinding:
    return VolumeBinding(cluster, gates=FeatureGates(gates))


class Asked:
    """A pod with one volume per claim name (or whatever volumes are given), asked about on n1 and n2."""

    def __init__(self, *objects: ApiObject, volumes: Sequence[str | Volume] = ("c",), **gates: bool) -> None:
        self.cluster = a_cluster(N1, N2, *objects)
        self.plugin = a_plugin(self.cluster, **gates)
        self.pod = self.cluster.reader.read(a_pod("p", volumes=volumes))
        self.cycle = CycleState()
        self.cycle.write(PRE_FILTERED, ("VolumeBinding",))
        self.outcome = self.plugin.pre_filter(self.cycle, self.pod)

    def statuses(self) -> dict[str, Status | None]:
        verdict = self.plugin.filter_nodes(self.cycle, self.pod, Nodes(self.cluster.table))
        columns = [verdict.statuses[int(which)] for which in verdict.which]
        singly = [self.plugin.filter(self.cycle, self.pod, NodeRow(self.cluster.table, row)) for row in (0, 1)]
        assert singly == columns
        return dict(zip(("n1", "n2"), columns, strict=True))

    def reasons(self) -> dict[str, str]:
        assert self.outcome is None
        return {name: status.message for name, status in self.statuses().items() if status is not None}

    def plan(self, node_name: str) -> Any:
        self.statuses()
        return described_plan(self.plugin, self.cycle, self.pod, node_name).get("volumes")


def test_without_pre_filter_nothing_is_found() -> None:
    asked = Asked(LOCAL, a_claim("c"))
    unprepared = CycleState()
    unprepared.write(PRE_FILTERED, ())
    verdict = asked.plugin.filter_nodes(unprepared, asked.pod, Nodes(asked.cluster.table))
    assert verdict.statuses[verdict.which[0]] == error("not found")
    assert asked.plugin.reserve(unprepared, asked.pod, "n1") == error("not found")
    assert asked.plugin.pre_bind_pre_flight(unprepared, asked.pod, "n1") == error("not found")
    assert described_plan(asked.plugin, unprepared, asked.pod, "n1") == {}
    asked.plugin.unreserve(unprepared, asked.pod, "n1")


def test_only_pods_without_claims_share_an_answer() -> None:
    cluster = a_cluster()
    plugin, scoring = a_plugin(cluster), a_plugin(cluster, StorageCapacityScoring=True)
    plain, claiming = (cluster.reader.read(a_pod("p", volumes=volumes)) for volumes in ((), ("c",)))
    assert plugin.key(plain) == plugin.score_key(claiming) == scoring.score_key(plain) == ""
    assert plugin.key(claiming) is scoring.score_key(claiming) is UNCACHED


# -- Filter: bound claims


@pytest.mark.parametrize(
    ("what", "objects", "expected"),
    [
        ("a volume that all nodes reach", [a_volume("v")], {}),
        ("a volume of one node", [a_volume("v", nodes=ON_N2)], {"n1": NODE_CONFLICT}),
        ("an affinity without terms", [a_volume("v", nodes=())], {"n1": NODE_CONFLICT, "n2": NODE_CONFLICT}),
        ("a demand on the node's name is waived", [a_volume("v", nodes="metadata.name=n1")], {}),
        ("no volume", [], {"n1": NO_VOLUME, "n2": NO_VOLUME}),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_bound_claims(what: str, objects: list[ApiObject], expected: dict[str, str]) -> None:
    asked = Asked(a_claim("c", bound_to="v"), *objects)
    assert asked.reasons() == expected, what
    assert asked.plan("n2") is None


def test_the_first_bound_claim_that_objects_is_the_last_that_is_looked_at() -> None:
    asked = Asked(
        a_claim("c", bound_to="v"), a_claim("d", bound_to="gone"), a_volume("v", nodes=ON_N2), volumes=["c", "d"]
    )
    assert asked.reasons() == {"n1": NODE_CONFLICT, "n2": NO_VOLUME}


def in_tree(volume_id: str = "vol-1") -> PersistentVolume:
    volume = a_volume("v", nodes=f"{ZONE}=a")
    source = AWSElasticBlockStoreVolumeSource(volume_id=volume_id)
    return msgspec.structs.replace(volume, spec=msgspec.structs.replace(volume.spec, aws_elastic_block_store=source))


def test_an_in_tree_volume_is_a_csi_volume_where_the_node_says_so() -> None:
    asked = Asked(
        a_claim("c", bound_to="v"), in_tree(), a_csi_node("n1", migrated=[AWS]), a_csi_node("nowhere", migrated=[AWS])
    )
    assert asked.reasons() == {"n1": NODE_CONFLICT, "n2": NODE_CONFLICT}
    asked.cluster.add(a_node("n1", zone="a", labels={"topology.ebs.csi.aws.com/zone": "a"}))
    assert asked.reasons() == {"n2": NODE_CONFLICT}
    asked.cluster.add(a_node("n2", zone="b", labels={"topology.ebs.csi.aws.com/zone": "a"}))
    asked.cluster.add(a_csi_node("n2"))
    assert asked.reasons() == {"n2": NODE_CONFLICT}
    asked.cluster.add(a_csi_node("n2", migrated=["kubernetes.io/gce-pd", AWS]))
    assert asked.reasons() == {}


def test_an_in_tree_volume_that_no_driver_knows_is_an_error_where_it_matters() -> None:
    asked = Asked(a_claim("c", bound_to="v"), in_tree("aws://a/nonsense"), a_csi_node("n1", migrated=[AWS]))
    statuses = asked.statuses()
    assert statuses["n1"] is not None
    assert statuses["n1"].code is Code.ERROR
    assert statuses["n1"].message.startswith("could not translate pv: ")
    assert statuses["n2"] == unresolvable(NODE_CONFLICT).by("VolumeBinding")


# -- Filter: claims that wait for a node


@pytest.mark.parametrize(
    ("what", "claim", "volumes", "expected"),
    [
        ("a volume on one node", {}, [a_volume("v", nodes=ON_N1)], {"n1": "v"}),
        (
            "the smallest that is large enough",
            {"size": "5Gi"},
            [a_volume("l", size="9Gi"), a_volume("m", size="6Gi"), a_volume("s", size="4Gi")],
            {"n1": "m", "n2": "m"},
        ),
        ("exactly as large", {"size": "1Gi"}, [a_volume("v", size="1073741824")], {"n1": "v", "n2": "v"}),
        ("a fraction too small", {"size": "1.0001"}, [a_volume("v", size="1")], {}),
        ("no size asked for", {"size": None}, [a_volume("v", size="0")], {"n1": "v", "n2": "v"}),
        ("of another class", {}, [a_volume("v", storage_class="other")], {}),
        ("of another mode", {"volume_mode": "Block"}, [a_volume("v"), a_volume("w", volume_mode="Filesystem")], {}),
        ("of the same mode", {"volume_mode": "Filesystem"}, [a_volume("v")], {"n1": "v", "n2": "v"}),
        ("too few access modes", {"modes": ["ReadWriteOnce", "ReadOnlyMany"]}, [a_volume("v")], {}),
        (
            "more access modes than asked for",
            {},
            [a_volume("v", modes=["ReadOnlyMany", "ReadWriteOnce"])],
            {"n1": "v", "n2": "v"},
        ),
        (
            "labels that match",
            {"selector": "disk=ssd"},
            [a_volume("v", labels={"disk": "ssd"}), a_volume("a")],
            {"n1": "v", "n2": "v"},
        ),
        ("labels that do not", {"selector": "disk=ssd"}, [a_volume("v", labels={"disk": "hdd"})], {}),
        (
            "another attributes class",
            {"attributes_class": "fast"},
            [a_volume("v"), a_volume("w", attributes_class="slow")],
            {},
        ),
        (
            "the same attributes class",
            {"attributes_class": "fast"},
            [a_volume("v", attributes_class="fast")],
            {"n1": "v", "n2": "v"},
        ),
        ("an attributes class nobody asked for", {}, [a_volume("v", attributes_class="fast")], {}),
        ("not available", {}, [a_volume("v", phase="Released"), a_volume("w", phase="")], {}),
        ("going", {}, [a_volume("v", terminating=True)], {}),
        ("claimed by another", {}, [a_volume("v", claimed_by="default/d"), a_volume("w", claimed_by="other/c")], {}),
        ("claimed by another of its name", {}, [a_volume("v", claimed_by="default/c", claim_uid="old")], {}),
        (
            "meant for it, though larger",
            {},
            [a_volume("v", claimed_by="default/c", size="90Gi"), a_volume("w")],
            {"n1": "v", "n2": "v"},
        ),
        (
            "meant for it, whatever phase, modes and labels",
            {"selector": "disk=ssd"},
            [a_volume("v", claimed_by="default/c", claim_uid="default-c", phase="Pending", modes=())],
            {"n1": "v", "n2": "v"},
        ),
        (
            "meant for it on another node: nothing else will do",
            {},
            [a_volume("v", claimed_by="default/c", nodes=ON_N2), a_volume("w")],
            {"n2": "v"},
        ),
        (
            "meant for it but too small: something else will do",
            {"size": "20Gi"},
            [a_volume("v", claimed_by="default/c"), a_volume("w", size="20Gi")],
            {"n1": "w", "n2": "w"},
        ),
        ("meant for it but of another mode", {}, [a_volume("v", claimed_by="default/c", volume_mode="Block")], {}),
        ("meant for it but going", {}, [a_volume("v", claimed_by="default/c", terminating=True)], {}),
        (
            "each node its own",
            {},
            [a_volume("v", nodes=ON_N1), a_volume("w", nodes=ON_N2), a_volume("z", size="90Gi")],
            {"n1": "v", "n2": "w"},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_static_volumes(
    what: str, claim: dict[str, Any], volumes: list[PersistentVolume], expected: dict[str, str]
) -> None:
    asked = Asked(LOCAL, a_claim("c", **claim), *volumes)
    assert asked.reasons() == {name: BIND_CONFLICT for name in ("n1", "n2") if name not in expected}, what
    for name in ("n1", "n2"):
        volume = expected.get(name)
        assert asked.plan(name) == ({"bindings": {"c": volume}} if volume else None)


def test_claims_are_served_smallest_first_and_share_nothing() -> None:
    asked = Asked(
        LOCAL,
        a_claim("big", size="5Gi"),
        a_claim("small", size="1Gi"),
        a_volume("v5", size="5Gi"),
        a_volume("v6", size="6Gi", nodes=ON_N1),
        volumes=["big", "small"],
    )
    # the small one takes the smallest there is
    assert asked.plan("n1") == {"bindings": {"small": "v5", "big": "v6"}}
    assert asked.reasons() == {"n2": BIND_CONFLICT}


def test_a_claim_that_is_named_twice_gets_two_volumes() -> None:
    asked = Asked(LOCAL, a_claim("c"), a_volume("v"), a_volume("w", nodes=ON_N1), volumes=["c", "c"])
    assert asked.reasons() == {"n2": BIND_CONFLICT}
    asked = Asked(
        LOCAL,
        a_claim("c"),
        a_volume("v", claimed_by="default/c", nodes=ON_N1),
        a_volume("w", claimed_by="default/c"),
        a_volume("x"),
        volumes=["c", "c", "c"],
    )
    # where the first that is meant for it is out of reach, nothing will do
    assert asked.reasons() == {"n2": BIND_CONFLICT}


def test_demands_that_cannot_be_understood_are_errors() -> None:
    bad = a_claim("c", selector={"not a key": "x"})
    assert all(status is not None and status.code is Code.ERROR for status in Asked(LOCAL, bad).statuses().values())
    # where the node is settled, nobody looks
    asked = Asked(LOCAL, bad, a_claim("d", selected_node="n2"), volumes=["c", "d"])
    assert asked.statuses()["n1"] == unresolvable(BIND_CONFLICT).by("VolumeBinding")
    message = asked.statuses()["n2"].message  # type: ignore[union-attr]
    assert message.startswith("error creating internal label selector for claim: default/c: ")


def test_attributes_classes_behind_their_gate() -> None:
    cluster = a_cluster(N1, LOCAL, a_claim("c", attributes_class="fast"))
    plugin = VolumeBinding(cluster, gates=FeatureGates.parse("VolumeAttributesClass=false", ["1.34"]))
    pod, cycle = cluster.reader.read(a_pod("p", volumes=["c"])), CycleState()
    plugin.pre_filter(cycle, pod)
    status = plugin.filter(cycle, pod, NodeRow(cluster.table, 0))
    assert status == error(
        "unsupported volumeAttributesClassName is set on claim default/c when the feature-gate VolumeAttributesClass "
        "is disabled"
    )


@pytest.mark.parametrize(
    ("what", "objects", "expected"),
    [
        ("a driver", [CSI], {}),
        ("no provisioner", [a_storage_class("csi")], {"n1": BIND_CONFLICT, "n2": BIND_CONFLICT}),
        ("an empty provisioner", [a_storage_class("csi", provisioner="")], {"n1": BIND_CONFLICT, "n2": BIND_CONFLICT}),
        (
            "allowed in one zone",
            [a_storage_class("csi", provisioner=DRIVER, allowed={"zone": ["b", "c"]})],
            {"n1": BIND_CONFLICT},
        ),
        (
            "allowed nowhere, since a key is no key",
            [a_storage_class("csi", provisioner=DRIVER, allowed={"no key": ["b"]})],
            {"n1": BIND_CONFLICT, "n2": BIND_CONFLICT},
        ),
        ("a driver that does not speak of capacity", [CSI, a_csi_driver(storage_capacity=None)], {}),
        (
            "a driver that speaks of capacity, and there is none",
            [CSI, a_csi_driver()],
            {"n1": NO_SPACE, "n2": NO_SPACE},
        ),
        ("room for one node", [CSI, a_csi_driver(), a_storage_pool(nodes={HOSTNAME: "n1"})], {"n2": NO_SPACE}),
        (
            "room, but not for so large a volume",
            [CSI, a_csi_driver(), a_storage_pool(largest="1Gi")],
            {"n1": NO_SPACE, "n2": NO_SPACE},
        ),
        (
            "a pool whose topology does not parse",
            [CSI, a_csi_driver(), a_storage_pool(nodes={"no key": "x"})],
            {"n1": NO_SPACE, "n2": NO_SPACE},
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_volumes_to_be_provided(what: str, objects: list[ApiObject], expected: dict[str, str]) -> None:
    asked = Asked(a_claim("c", storage_class="csi", size="5Gi"), *objects)
    assert asked.reasons() == expected, what
    for name in {"n1", "n2"} - expected.keys():
        assert asked.plan(name) == {"provision": ["c"]}


def test_a_claim_without_a_size_needs_no_room() -> None:
    assert Asked(CSI, a_csi_driver(), a_claim("c", storage_class="csi", size=None)).reasons() == {}


def test_what_finds_no_volume_is_provided_for() -> None:
    objects = (CSI, a_claim("c", storage_class="csi"), a_volume("v", storage_class="csi", nodes=ON_N1))
    assert Asked(*objects).plan("n1") == {"bindings": {"c": "v"}}
    assert Asked(*objects).plan("n2") == {"provision": ["c"]}


def test_a_selected_node_is_kept_to() -> None:
    asked = Asked(CSI, a_claim("c", storage_class="csi", selected_node="n2"), a_volume("v", storage_class="csi"))
    assert asked.reasons() == {"n1": BIND_CONFLICT}
    # it is being provided for, and is not matched any more
    assert asked.plan("n2") == {"provision": ["c"]}
    gone = Asked(CSI, a_claim("c", storage_class="csi", selected_node="gone"))
    assert gone.reasons() == {"n1": BIND_CONFLICT, "n2": BIND_CONFLICT}


def test_all_objections_are_told_in_order() -> None:
    asked = Asked(
        CSI,
        a_csi_driver(),
        a_claim("b", bound_to="v"),
        a_volume("v", nodes=ON_N2),
        a_claim("c", storage_class="csi"),
        volumes=["b", "c"],
    )
    assert asked.statuses() == {
        "n1": unresolvable(NODE_CONFLICT, NO_SPACE).by("VolumeBinding"),
        "n2": unresolvable(NO_SPACE).by("VolumeBinding"),
    }


# -- Score, which has tests of its own


def test_storage_is_scored_only_behind_its_gate() -> None:
    asked = Asked(LOCAL, a_claim("c"), a_volume("v"))
    nodes = Nodes(asked.cluster.table)
    assert asked.plugin.pre_score(asked.cycle, asked.pod, nodes) is SKIP
    unscored = asked.plugin.score_nodes(asked.cycle, asked.pod, nodes)
    assert not isinstance(unscored, Status)
    assert unscored.tolist() == [0, 0]
    scoring = a_plugin(asked.cluster, StorageCapacityScoring=True)
    unprepared = CycleState()
    unprepared.write(PRE_FILTERED, ())
    assert scoring.pre_score(unprepared, asked.pod, nodes) == error("not found")


# -- Reserve


def test_what_is_reserved_is_taken_for_the_next_pod_and_free_again_after_unreserve() -> None:
    asked = Asked(LOCAL, CSI, a_claim("c"), a_claim("d", storage_class="csi"), a_volume("v"), volumes=["c", "d"])
    asked.statuses()
    before = content(asked.cluster)
    assert asked.plugin.reserve(asked.cycle, asked.pod, "n2") is None
    volumes = asked.cluster.volumes
    volume, claim = volumes.volume("v"), volumes.claim("default/d")
    assert volume is not None
    assert claim is not None
    assert volume.spec.claim_ref is not None
    assert (volume.spec.claim_ref.kind, volume.spec.claim_ref.uid) == ("PersistentVolumeClaim", "default-c")
    assert volume.metadata.annotations == {"pv.kubernetes.io/bound-by-controller": "yes"}
    assert claim.metadata.annotations == {"volume.kubernetes.io/selected-node": "n2"}
    assert asked.plugin.pre_bind_pre_flight(asked.cycle, asked.pod, "n2") is None
    assert asked.plugin.pre_bind_pre_flight(asked.cycle, asked.pod, "n1") is SKIP
    asked.plugin.unreserve(asked.cycle, asked.pod, "n2")
    asked.plugin.unreserve(asked.cycle, asked.pod, "n2")
    asked.plugin.unreserve(asked.cycle, asked.pod, "n1")
    assert list(differences(content(asked.cluster), before)) == []


def test_a_volume_that_refers_to_its_claim_already_is_left_alone() -> None:
    bound = a_volume("v", claimed_by="default/c", claim_uid="default-c")
    asked = Asked(LOCAL, a_claim("c"), bound)
    asked.statuses()
    assert asked.plugin.reserve(asked.cycle, asked.pod, "n1") is None
    assert asked.cluster.volumes.assumed() == ([], [])
    assert asked.plugin.pre_bind_pre_flight(asked.cycle, asked.pod, "n1") is None
    # without a UID the reference is completed, but it was the user's
    asked = Asked(LOCAL, a_claim("c"), a_volume("v", claimed_by="default/c"))
    asked.statuses()
    asked.plugin.reserve(asked.cycle, asked.pod, "n1")
    volume = asked.cluster.volumes.volume("v")
    assert volume is not None
    assert volume.spec.claim_ref is not None
    assert (volume.spec.claim_ref.uid, volume.metadata.annotations) == ("default-c", {})


def test_nothing_is_reserved_for_bound_claims_or_where_filter_did_not_look() -> None:
    asked = Asked(a_claim("c", bound_to="v"), a_volume("v"))
    asked.statuses()
    assert asked.plugin.reserve(asked.cycle, asked.pod, "n1") is None
    assert asked.plugin.pre_bind_pre_flight(asked.cycle, asked.pod, "n1") is SKIP
    asked = Asked(LOCAL, a_claim("c"), a_volume("v"))
    assert asked.plugin.reserve(asked.cycle, asked.pod, "n1") is None
    assert asked.cluster.volumes.assumed() == ([], [])
    plain = Asked(volumes=[])
    assert plain.plugin.reserve(plain.cycle, plain.pod, "n1") is None
    assert plain.plugin.pre_bind_pre_flight(plain.cycle, plain.pod, "n1") is SKIP


def test_a_whole_cycle_with_the_engine() -> None:
    engine = build_engine()
    for obj in (N1, N2, LOCAL, a_claim("c"), a_claim("d"), a_volume("v", nodes=ON_N2)):
        engine.cluster.add(obj)
    first = engine.evaluation_of(engine.cluster.reader.read(a_pod("p", volumes=["c"])))
    assert first.feasible().mask.tolist() == [False, True]
    plugin = engine.profiles["default-scheduler"].plugins["VolumeBinding"]
    assert isinstance(plugin, VolumeBinding)
    assert plugin.reserve(first.cycle, engine.cluster.assume(first.pod, "n2"), "n2") is None
    # the volume is gone
    second = engine.evaluation_of(engine.cluster.reader.read(a_pod("q", volumes=["d"])))
    assert second.feasible().mask.tolist() == [False, False]
