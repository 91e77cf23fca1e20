"""The cluster for tests of plugins: objects, custom kinds, controllers, preemption, and what is told of mistakes."""

from pathlib import Path
from typing import Any

import pytest

from kubesched import ClusterView, CycleState, FilterPlugin, KubeschedError, NodeRow, PodInfo, Status, unschedulable
from kubesched.testing import ClusterFactory, a_custom_object, a_node, a_pod

RACKS = "racks.v1.example.com"
DEFINITION: dict[str, Any] = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "racks.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Cluster",
        "names": {"plural": "racks", "singular": "rack", "kind": "Rack"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
                },
            }
        ],
    },
}


class OpenRacks(FilterPlugin):
    """Pods go to nodes whose rack is open."""

    name = "OpenRacks"
    looks_up = (RACKS,)

    def __init__(self, cluster: ClusterView) -> None:
        self.cluster = cluster

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        rack = self.cluster.get(RACKS, node.labels.get("rack", ""))
        return None if rack is not None and rack.spec["open"] else unschedulable("node(s) in a closed rack")


def a_rack(name: str, *, is_open: bool) -> Any:
    return a_custom_object(RACKS, name, spec={"open": is_open})


def test_a_deployment_is_run_by_nodes_that_the_plugin_lets_it_to(cluster: ClusterFactory) -> None:
    made = cluster(OpenRacks)
    made.put(DEFINITION, a_node("n1", labels={"rack": "a"}), a_node("n2", labels={"rack": "b"}))
    made.put(a_rack("a", is_open=True), a_rack("b", is_open=False))
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}]},
    }
    spec = {"replicas": 3, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    made.put({"apiVersion": "apps/v1", "kind": "Deployment", "metadata": {"name": "web"}, "spec": spec})
    made.settle()
    assert len(made.bound_pods()) == 3
    assert {pod.spec.node_name for pod in made.pods()} == {"n1"}
    assert {pod.status.phase for pod in made.pods()} == {"Running"}
    deployment = made.get("Deployment", "web")
    assert deployment is not None
    assert deployment["status"]["readyReplicas"] == 3


def test_a_rejected_pod_says_why_and_is_helped_by_a_change_of_a_custom_object(cluster: ClusterFactory) -> None:
    made = cluster(OpenRacks)
    made.put(DEFINITION, a_node("n1", labels={"rack": "a"}), a_pod("web"))
    made.put(a_rack("a", is_open=False))
    made.settle()
    assert "1 node(s) in a closed rack" in made.message_of("web")
    assert made.events_of("web")[0].reason == "FailedScheduling"
    made.put(a_rack("a", is_open=True))
    made.run(10)
    assert made.node_of("web") == "n1"
    assert [event.reason for event in made.events_of("web")][-1] != "FailedScheduling"


def test_who_is_preempted_is_told_and_gone(cluster: ClusterFactory) -> None:
    made = cluster()
    made.put(a_node("n", cpu="1"), a_pod("low", cpu="1"))
    made.settle()
    high = {"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": {"name": "high"}, "value": 100}
    made.put(high, a_pod("high", cpu="1", priority_class_name="high"))
    made.settle()
    assert (made.evicted, made.node_of("high"), made.pod("low")) == (["low"], "n", None)
    made.delete("Pod", "high")
    made.run(60)
    assert made.pods() == []


def test_manifests_are_read_from_files(cluster: ClusterFactory, tmp_path: Path) -> None:
    file = tmp_path / "node.yaml"
    file.write_text("apiVersion: v1\nkind: Node\nmetadata: {name: node-1}\n")
    made = cluster()
    made.apply(file)
    made.put(a_pod("p"))
    made.settle()
    assert made.node_of("p") == "node-1"


@pytest.mark.parametrize(
    ("put", "message"),
    [
        ([{"apiVersion": "v1", "kind": "Nod", "metadata": {"name": "n"}}], 'no matches for kind "Nod"'),
        ([a_rack("a", is_open=True)], f"{RACKS} is not served: put its CustomResourceDefinition first"),
        ([a_pod("Web")], 'Invalid value: "Web"'),
    ],
    ids=["a kind that does not exist", "a custom object without its definition", "a name that is none"],
)
def test_objects_that_the_api_server_refuses_are_told(cluster: ClusterFactory, put: list[Any], message: str) -> None:
    with pytest.raises(KubeschedError, match=message):
        cluster().put(*put)


def test_a_plugin_whose_kind_is_not_served_is_told_at_the_first_step(cluster: ClusterFactory) -> None:
    with pytest.raises(KubeschedError, match=r"OpenRacks.*racks\.v1\.example\.com|racks\.v1\.example\.com.*OpenRacks"):
        cluster(OpenRacks).settle()


def test_a_cluster_that_does_not_settle_says_what_is_under_way(cluster: ClusterFactory) -> None:
    made = cluster()
    made.put(a_node("n"), a_pod("p", node="n"))
    made.settle()
    with pytest.raises(AssertionError, match=r"not settled after 0\.01 seconds"):
        made.settle(seconds=0.01)


@pytest.mark.parametrize(("lifelike", "phase"), [(False, "Running"), (True, "Pending")])
def test_nodes_and_pods_take_their_time_if_asked_to(cluster: ClusterFactory, lifelike: bool, phase: str) -> None:
    made = cluster(lifelike=lifelike)
    made.put(a_node("n"), a_pod("p"))
    made.run(1)
    pod = made.pod("p")
    assert pod is not None
    assert pod.status.phase == phase
    made.run(60)
    pod = made.pod("p")
    assert pod is not None
    assert pod.status.phase == "Running"
