"""Devices of nodes: how many there are, and who has them."""

import pytest
from tests.support.models import a_model

from kubesched.api.devices import ResourceSlice
from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel
from kubesched.testing import a_node
from kubesched_answers.explain.placing_pending import with_pods_placed
from kubesched_answers.sources.files import read_files
from kubesched_lab.page.shown.shown_cluster import ShownCluster
from kubesched_lab.page.shown.shown_devices import shown_devices

DEVICES = "gpu.example.com devices"


@pytest.fixture
def cluster() -> ShownCluster:
    written = ClusterModel(read_files(["examples/quickstart"]), load_config(None))
    return ShownCluster(ClusterModel(with_pods_placed(written), load_config(None)))


def test_devices_are_a_resource_of_nodes_and_of_pods(cluster: ShownCluster) -> None:
    found = cluster.everything()
    offered = dict(zip(found["nodes"]["name"], found["nodes"]["allocatable"][DEVICES], strict=True))
    assert {name: count for name, count in offered.items() if count} == {"node-a-gpu": 2, "node-b-gpu": 2}
    taken = dict(zip(found["pods"]["name"], found["pods"]["requests"][DEVICES], strict=True))
    assert sorted(name.partition("-")[0] for name, count in taken.items() if count) == ["train"] * 3


def test_a_node_names_who_has_each_of_its_devices(cluster: ShownCluster) -> None:
    devices = shown_devices(cluster.model, cluster.model.node("node-b-gpu"))
    assert [(each.device, each.pods) for each in devices] == [("gpu-0", ()), ("gpu-1", ("default/train-big",))]


def test_a_claim_that_goes_changes_its_pods(cluster: ShownCluster) -> None:
    seq, claims = cluster.seq, cluster.model.cluster.claims.all()
    cluster.drop(next(each for each in claims if each.name.startswith("train-big")))
    changes = cluster.since(seq)
    assert changes is not None
    assert [pod["name"] for pod in changes["pods"]] == ["train-big"]
    assert DEVICES not in changes["pods"][0]["requests"]


def test_a_slice_that_goes_changes_its_node(cluster: ShownCluster) -> None:
    seq, slices = cluster.seq, cluster.model.cluster.objects.of(ResourceSlice)
    cluster.drop(next(each for each in slices if each.spec.node_name == "node-a-gpu"))
    changes = cluster.since(seq)
    assert changes is not None
    assert [(node["name"], DEVICES in node["allocatable"]) for node in changes["nodes"]] == [("node-a-gpu", False)]


def test_a_cluster_without_devices_has_no_such_resource() -> None:
    assert ShownCluster(a_model(a_node("n"))).everything()["resources"] == [
        "cpu",
        "memory",
        "ephemeral-storage",
        "pods",
    ]
