"""Gangs, quotas and NUMA zones in a whole cluster: API server with definitions, controllers, nodes that run pods."""

from pathlib import Path
from typing import Any

import pytest
from packages.contrib.tests.numa_nodes import a_big_node, a_guaranteed_pod, a_topology

from kubesched.testing import ClusterFactory, EmbeddedCluster, a_custom_object, a_namespace, a_node, a_pod
from kubesched_contrib.capacity_scheduling import CapacityScheduling
from kubesched_contrib.coscheduling import Coscheduling
from kubesched_contrib.node_resource_topology import NodeResourceTopologyMatch

DEFINITIONS = Path(__file__).parents[1] / "crds"
POD_GROUPS = "podgroups.v1alpha1.scheduling.x-k8s.io"
QUOTAS = "elasticquotas.v1alpha1.scheduling.x-k8s.io"
GROUP = "scheduling.x-k8s.io/pod-group"
GPU = "example.com/gpu"
# quotas decide who is evicted
WITH_QUOTAS = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      disabled: [{name: DefaultPreemption}]
      enabled: [{name: CapacityScheduling}]
"""


@pytest.fixture
def gangs(cluster: ClusterFactory) -> EmbeddedCluster:
    made = cluster(Coscheduling)
    made.apply(DEFINITIONS)
    return made


def put_gang(made: EmbeddedCluster, name: str, count: int, members: int | None = None) -> None:
    made.put(a_custom_object(POD_GROUPS, name, namespace="default", spec={"minMember": members or count}))
    put_members(made, name, range(count))


def put_members(made: EmbeddedCluster, name: str, numbers: range) -> None:
    made.put(*(a_pod(f"{name}-{number}", cpu="1", labels={GROUP: name}) for number in numbers))


def bound(made: EmbeddedCluster, gang: str) -> int:
    return sum(name.startswith(f"{gang}-") for name in made.bound_pods())


def test_of_two_gangs_one_is_bound_and_the_other_follows_when_it_is_gone(gangs: EmbeddedCluster) -> None:
    gangs.put(*(a_node(f"n{number}", cpu="4") for number in range(3)))
    put_gang(gangs, "a", 8)
    put_gang(gangs, "b", 8)
    gangs.settle()
    assert sorted((bound(gangs, "a"), bound(gangs, "b"))) == [0, 8]
    first, second = ("a", "b") if bound(gangs, "a") else ("b", "a")
    for number in range(8):
        gangs.delete("Pod", f"{first}-{number}")
    gangs.run(60)
    gangs.settle()
    assert (bound(gangs, first), bound(gangs, second)) == (0, 8)


def test_a_gang_with_a_missing_pod_waits_for_it_and_one_larger_than_the_cluster_for_ever(
    gangs: EmbeddedCluster,
) -> None:
    gangs.put(a_node("n1", cpu="4"))
    put_gang(gangs, "a", 2, 3)
    put_gang(gangs, "large", 6)
    gangs.settle()
    assert gangs.bound_pods() == []
    assert "cannot find enough sibling pods" in gangs.message_of("a-0")
    put_members(gangs, "a", range(2, 3))
    gangs.run(60)
    assert (bound(gangs, "a"), bound(gangs, "large")) == (3, 0)


def quotas(cluster: ClusterFactory, gpus: int, **least: int) -> EmbeddedCluster:
    """Return a cluster of one node in which namespaces are sure of some GPUs."""
    made = cluster(CapacityScheduling, config=WITH_QUOTAS)
    made.apply(DEFINITIONS)
    for namespace, count in least.items():
        amounts = {"min": {GPU: count}, "max": {GPU: gpus}}
        made.put(a_namespace(namespace), a_custom_object(QUOTAS, "quota", namespace=namespace, spec=amounts))
    made.put(a_node("n1", allocatable={"cpu": "8", "memory": "8Gi", "pods": "100", GPU: str(gpus)}))
    return made


def put_pods(made: EmbeddedCluster, namespace: str, count: int) -> None:
    limits: dict[str, Any] = {GPU: "1"}
    container = {"name": "c", "image": "i", "resources": {"requests": limits, "limits": limits}}
    for number in range(count):
        meta = {"name": f"{namespace}-{number}", "namespace": namespace}
        made.put({"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container]}})


def test_what_a_namespace_does_not_use_is_borrowed_and_taken_back(cluster: ClusterFactory) -> None:
    made = quotas(cluster, 5, a=3, b=2)
    put_pods(made, "a", 5)
    made.settle()
    assert len(made.bound_pods("a")) == 5, "a borrows what b does not use"
    put_pods(made, "b", 3)
    made.settle()
    assert (len(made.bound_pods("a")), len(made.bound_pods("b"))) == (3, 2), "no more than was lent"
    assert len(made.evicted) == 2
    assert "more than" in made.message_of(next(pod.name for pod in made.pods() if not pod.spec.node_name), "b")


def test_zones_that_fit_in_sum_only_are_left_alone_and_a_new_object_counts_the_pods_that_run(
    cluster: ClusterFactory,
) -> None:
    made = cluster(NodeResourceTopologyMatch)
    made.apply(DEFINITIONS)
    zone = {"cpu": 4, "memory": "8Gi"}
    made.put(a_big_node(), a_topology("n1", zone, zone))
    made.put(a_guaranteed_pod("wide", cpu=6), a_guaranteed_pod("first", cpu=3))
    made.settle()
    assert (made.node_of("wide"), made.node_of("first")) == ("", "n1")
    assert "1 cannot align container" in made.message_of("wide")
    made.put(a_guaranteed_pod("second", cpu=3))
    made.settle()
    assert made.node_of("second") == "", "which zone the first one takes is not known"
    made.run(10)
    made.put(a_topology("n1", {"cpu": 1, "memory": "7Gi"}, zone))
    made.run(30)
    made.settle()
    assert (made.node_of("wide"), made.node_of("second")) == ("", "n1")
