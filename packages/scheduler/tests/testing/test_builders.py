"""Builders: the few words of a test, and what they stand for."""

from datetime import UTC, datetime

import pytest

from kubesched.api.codec import decode, to_builtins
from kubesched.api.meta import LabelSelector
from kubesched.api.pods import Taint, Toleration
from kubesched.errors import InvalidObjectError
from kubesched.testing import (
    a_budget,
    a_cluster,
    a_container,
    a_namespace,
    a_node,
    a_pod,
    a_replica_set,
    a_selector,
    a_service,
    a_spread,
    a_term,
    an_affinity,
)
from kubesched.testing.shorthand import host_port, node_term, pod_term, taint, toleration


def test_a_pod_of_few_words() -> None:
    pod = a_pod("p", cpu="500m", memory="1Gi", priority=5, node="n1", start="2024-01-01T00:00:00Z", ports=[80])
    assert to_builtins(pod) == {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "p", "namespace": "default", "uid": "default-p"},
        "spec": {
            "containers": [
                {
                    "name": "main",
                    "resources": {"requests": {"cpu": "500m", "memory": "1Gi"}},
                    "ports": [{"containerPort": 80, "hostPort": 80, "protocol": "TCP"}],
                }
            ],
            "nodeName": "n1",
            "schedulerName": "default-scheduler",
            "priority": 5,
        },
        "status": {"startTime": "2024-01-01T00:00:00Z"},
    }


def test_a_pod_of_many_words() -> None:
    pod = a_pod(
        "p",
        namespace="web",
        uid="u",
        labels={"app": "web"},
        owner="ReplicaSet/web",
        terminating=True,
        created="2024-01-01T00:00:00Z",
        containers=[a_container("a", cpu=1), a_container("b", requests={"example.com/gpu": 1}, limits={"cpu": 2})],
        init_containers=(a_container("side", sidecar=True),),
        tolerations=["*"],
        node_selector={"disk": "ssd"},
        spread=a_spread("zone", "app=web"),
        gates=["wait"],
        volumes=["data"],
        nominated="n2",
        host_network=True,
    )
    assert pod.uid == "u"
    assert pod.terminating
    assert pod.metadata.creation_timestamp == datetime(2024, 1, 1, tzinfo=UTC)
    owner = pod.metadata.owner_references[0]
    assert (owner.api_version, owner.kind, owner.name, owner.uid, owner.controller) == (
        "apps/v1",
        "ReplicaSet",
        "web",
        "web-web",
        True,
    )
    assert [container.name for container in pod.spec.containers] == ["a", "b"]
    assert pod.spec.init_containers[0].restart_policy == "Always"
    assert pod.spec.node_selector == {"disk": "ssd"}
    assert pod.spec.topology_spread_constraints[0].topology_key == "topology.kubernetes.io/zone"
    assert pod.spec.scheduling_gates[0].name == "wait"
    claim = pod.spec.volumes[0].persistent_volume_claim
    assert claim is not None
    assert claim.claim_name == "data"
    assert pod.status.nominated_node_name == "n2"
    assert pod.spec.host_network
    assert decode(to_builtins(pod)).full_name == "web/p"


def test_a_word_that_no_pod_knows_is_an_error() -> None:
    with pytest.raises(TypeError, match="colour"):
        a_pod("p", colour="red")


def test_a_node() -> None:
    node = a_node(
        "n",
        zone="a",
        labels={"disk": "ssd"},
        taints=["dedicated=gpu:NoSchedule"],
        unschedulable=True,
        images={"nginx": 10},
        allocatable={"example.com/gpu": 2},
        features=["A"],
    )
    assert node.metadata.labels == {
        "kubernetes.io/hostname": "n",
        "topology.kubernetes.io/zone": "a",
        "disk": "ssd",
    }
    assert node.status.allocatable == {"cpu": "4", "memory": "8Gi", "pods": 110, "example.com/gpu": 2}
    assert node.spec.taints == (Taint(key="dedicated", value="gpu", effect="NoSchedule"),)
    assert node.spec.unschedulable
    assert (node.status.images[0].names, node.status.images[0].size_bytes) == (("nginx",), 10)
    assert node.status.declared_features == ("A",)
    assert a_node("n", hostname=False).metadata.labels == {}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b:NoSchedule", Taint(key="a", value="b", effect="NoSchedule")),
        ("a:NoExecute", Taint(key="a", effect="NoExecute")),
        ("example.com/a=b:PreferNoSchedule", Taint(key="example.com/a", value="b", effect="PreferNoSchedule")),
    ],
)
def test_taints(text: str, expected: Taint) -> None:
    assert taint(text) == expected
    assert taint(expected) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a=b:NoSchedule", Toleration(key="a", operator="Equal", value="b", effect="NoSchedule")),
        ("a:NoSchedule", Toleration(key="a", operator="Exists", effect="NoSchedule")),
        ("a=b", Toleration(key="a", operator="Equal", value="b")),
        ("a", Toleration(key="a", operator="Exists")),
        ("*", Toleration(operator="Exists")),
        ("*:NoExecute", Toleration(operator="Exists", effect="NoExecute")),
        ("a>5:NoSchedule", Toleration(key="a", operator="Gt", value="5", effect="NoSchedule")),
        ("a<5", Toleration(key="a", operator="Lt", value="5")),
    ],
)
def test_tolerations(text: str, expected: Toleration) -> None:
    assert toleration(text) == expected
    assert toleration(expected) is expected


def test_selectors() -> None:
    assert a_selector("app=web") == a_selector({"app": "web"}) == LabelSelector(match_labels={"app": "web"})
    assert to_builtins(a_selector("app in (a,b),!old,tier")) == {
        "matchExpressions": [
            {"key": "app", "operator": "In", "values": ["a", "b"]},
            {"key": "old", "operator": "DoesNotExist"},
            {"key": "tier", "operator": "Exists"},
        ]
    }
    assert a_selector("") == LabelSelector()


def test_affinity() -> None:
    affinity = an_affinity(
        near="app=db@zone",
        apart=["app=web@hostname", a_term(None, "rack", namespaces=["x"], namespace_selector="")],
        nodes=["disk=ssd,cores>8", "metadata.name=n1"],
        prefer_near=(5, "app=cache@zone"),
        prefer_apart=[(1, "app=web@zone"), (2, "app=web@region")],
        prefer_nodes=(3, "gpu"),
    )
    assert to_builtins(affinity) == {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [
                    {
                        "matchExpressions": [
                            {"key": "cores", "operator": "Gt", "values": ["8"]},
                            {"key": "disk", "operator": "In", "values": ["ssd"]},
                        ]
                    },
                    {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]},
                ]
            },
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 3, "preference": {"matchExpressions": [{"key": "gpu", "operator": "Exists"}]}}
            ],
        },
        "podAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "db"}}, "topologyKey": "topology.kubernetes.io/zone"}
            ],
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 5,
                    "podAffinityTerm": {
                        "labelSelector": {"matchLabels": {"app": "cache"}},
                        "topologyKey": "topology.kubernetes.io/zone",
                    },
                }
            ],
        },
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [
                {"labelSelector": {"matchLabels": {"app": "web"}}, "topologyKey": "kubernetes.io/hostname"},
                {"namespaces": ["x"], "topologyKey": "rack", "namespaceSelector": {}},
            ],
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": weight,
                    "podAffinityTerm": {
                        "labelSelector": {"matchLabels": {"app": "web"}},
                        "topologyKey": f"topology.kubernetes.io/{topology}",
                    },
                }
                for weight, topology in ((1, "zone"), (2, "region"))
            ],
        },
    }
    assert to_builtins(an_affinity()) == {}


def test_spread() -> None:
    spread = a_spread("hostname", "app=web", max_skew=2, soft=True, min_domains=3, match_label_keys=["v"])
    assert to_builtins(spread) == {
        "maxSkew": 2,
        "topologyKey": "kubernetes.io/hostname",
        "whenUnsatisfiable": "ScheduleAnyway",
        "labelSelector": {"matchLabels": {"app": "web"}},
        "minDomains": 3,
        "matchLabelKeys": ["v"],
    }


def test_host_ports() -> None:
    port = host_port("10.0.0.1:53/udp")
    assert (port.host_ip, port.host_port, port.protocol) == ("10.0.0.1", 53, "UDP")
    assert host_port(80).host_port == 80
    assert host_port(port) is port


@pytest.mark.parametrize(
    ("action", "text"),
    [
        (lambda: taint("a=b"), "taint 'a=b': write it as key=value:Effect; effects are NoSchedule"),
        (lambda: pod_term("app=web"), "affinity term 'app=web': write it as selector@topology, such as app=web@zone"),
        (lambda: node_term("a b"), ""),
        (lambda: a_selector("a in b"), ""),
    ],
)
def test_texts_that_mean_nothing(action: object, text: str) -> None:
    with pytest.raises(InvalidObjectError) as caught:
        action()  # type: ignore[operator]
    assert str(caught.value).startswith(text)


def test_a_cluster_holds_what_it_is_given() -> None:
    cluster = a_cluster(
        a_node("n", cpu="4"),
        a_pod("running", node="n", cpu="1"),
        a_pod("waiting", nominated="n"),
        a_pod("done", node="n", phase="Succeeded"),
        a_namespace("default", labels={"team": "web"}),
        a_service("web", {"app": "web"}),
        a_replica_set("web", "app=web"),
        a_budget("web", "app=web", allowed=1, disrupted=["running"]),
    )
    assert {pod.name for pod in cluster.table.pods.values()} == {"running"}
    assert {pod.name for pod in cluster.pending.values()} == {"waiting"}
    assert cluster.namespace_labels("default") == {"kubernetes.io/metadata.name": "default", "team": "web"}
    assert cluster.table.requested[0, cluster.table.row_of["n"]] == 1000
