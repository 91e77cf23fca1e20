"""Pools of nodes: what a few words make, as a server takes it."""

from collections import Counter
from typing import Any

import pytest

from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.loading.loader import create
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient
from kubesched_controlplane.up.node_pools import Gpus, NodePool, PoolError, parse_field, parse_pool, zone_name


def made(*pools: NodePool) -> dict[str, dict[str, Any]]:
    """Return the nodes that a server makes of pools, by name."""
    server = ApiServer(access=always_allow)
    manifests = [manifest for pool in pools for manifest in pool.manifests()]
    assert create(server, manifests).problems == []
    client = LocalClient(server, ADMINISTRATOR)
    nodes = (
        client.get(client.resource("v1", "Node"), "", str(each.document["metadata"]["name"])) for each in manifests
    )
    return {node["metadata"]["name"]: node for node in nodes if node is not None}


def zone(node: dict[str, Any]) -> str:
    return str(node["metadata"]["labels"]["topology.kubernetes.io/zone"])


def test_a_number_alone_makes_nodes_like_others_in_three_zones() -> None:
    nodes = made(NodePool("node", 100))
    assert Counter(map(zone, nodes.values())) == {"zone-a": 34, "zone-b": 33, "zone-c": 33}
    assert list(nodes)[:2] == ["node-1", "node-2"]
    assert nodes["node-7"]["status"]["allocatable"] == {
        "cpu": "8",
        "memory": "32Gi",
        "ephemeral-storage": "100Gi",
        "pods": "110",
    }
    assert nodes["node-7"]["metadata"]["labels"]["kubernetes.io/hostname"] == "node-7"
    assert nodes["node-7"]["metadata"]["labels"]["kubesched.io/pool"] == "node"


def test_gpus_are_on_so_many_nodes_in_all_zones() -> None:
    nodes = made(NodePool("node", 100, gpu=Gpus(2, 20)))
    with_gpus = [node for node in nodes.values() if "nvidia.com/gpu" in node["status"]["capacity"]]
    assert Counter(map(zone, with_gpus)) == {"zone-a": 7, "zone-b": 7, "zone-c": 6}
    for node in nodes.values():
        labels = node["metadata"]["labels"]
        assert labels.get("nvidia.com/gpu.present") == ("true" if node in with_gpus else None)
        assert labels.get("nvidia.com/gpu.count") == ("2" if node in with_gpus else None)
    assert {node["status"]["capacity"]["nvidia.com/gpu"] for node in with_gpus} == {"2"}


def test_a_larger_pool_has_the_nodes_of_a_smaller_one() -> None:
    small, large = NodePool("node", 10, zones=4), NodePool("node", 30, zones=4)
    assert list(large.manifests())[:10] == list(small.manifests())


def test_a_pool_in_words() -> None:
    text = (
        "name=gpu,nodes=2,zones=1,cpu=500m,memory=128Gi,pods=10,gpu=8,label=a.com/b=c,label=d=,"
        "taint=nvidia.com/gpu=present:NoSchedule,taint=spot:NoExecute"
    )
    node = made(parse_pool(text, {}))["gpu-2"]
    assert zone(node) == "zone-a"
    assert node["status"]["capacity"] == {
        "cpu": "500m",
        "memory": "128Gi",
        "ephemeral-storage": "100Gi",
        "pods": "10",
        "nvidia.com/gpu": "8",
    }
    assert node["metadata"]["labels"].items() >= {"a.com/b": "c", "d": "", "nvidia.com/gpu.count": "8"}.items()
    taints = [(taint["key"], taint.get("value", ""), taint["effect"]) for taint in node["spec"]["taints"]]
    assert taints[:2] == [("nvidia.com/gpu", "present", "NoSchedule"), ("spot", "", "NoExecute")]


def test_what_is_said_of_all_counts_where_a_pool_says_nothing() -> None:
    shared = {"cpu": "16", "zones": 2}
    assert parse_pool("name=a,nodes=1", shared) == NodePool("a", 1, zones=2, cpu="16")
    assert parse_pool("name=a,nodes=1,cpu=4", shared) == NodePool("a", 1, zones=2, cpu="4")


@pytest.mark.parametrize(
    ("field", "text"),
    [
        ("nodes", ""),
        ("nodes", "1.5"),
        ("nodes", "+1"),
        ("nodes", "\u0661"),
        ("nodes", "100001"),
        ("zones", "0"),
        ("cpu", "0"),
        ("cpu", "-8"),
        ("cpu", "8 "),
        ("cpu", "1e999999999"),
        ("cpu", "9" * 2000),
        ("memory", "1023Ki"),
        ("memory", "2Pi"),
        ("pods", "none"),
        ("gpu", ""),
        ("gpu", ":"),
        ("gpu", "0:1"),
        ("gpu", "1:0"),
        ("gpu", "1:2:3"),
        ("label", "=x"),
        ("label", "a/b/c=x"),
        ("label", "a=not a value"),
        ("taint", "NoSchedule"),
        ("taint", ":NoSchedule"),
        ("taint", "a=b=c:NoSchedule"),
        ("name", ""),
        ("name", "a.b"),
        ("name", "a" * 51),
    ],
)
def test_what_is_no_value_is_quoted_with_an_example(field: str, text: str) -> None:
    with pytest.raises(PoolError, match=r"^'.*': expected .*such as \S+") as raised:
        parse_field(field, text)
    assert len(str(raised.value)) < 300


def test_zones_have_letters() -> None:
    assert [zone_name(number) for number in (0, 1, 25, 26, 51, 52, 701, 702)] == [
        f"zone-{letters}" for letters in ("a", "b", "z", "aa", "az", "ba", "zz", "aaa")
    ]
