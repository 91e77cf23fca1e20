"""The status of disruption budgets: what is expected, what is healthy, what may go."""

import asyncio
from typing import Any

import pytest
from tests.support.api import Asking
from tests.support.simulated import SimulatedCluster, in_simulated_cluster

from kubesched_controlplane.controllers.framework.options import Options

Document = dict[str, Any]


def a_budget(**spec: Any) -> Document:
    """Return a budget for pods with the label app=web."""
    spec = {"selector": {"matchLabels": {"app": "web"}}, **spec}
    return {"apiVersion": "policy/v1", "kind": "PodDisruptionBudget", "metadata": {"name": "b"}, "spec": spec}


def a_replica_set(replicas: int) -> Document:
    """Return a replica set."""
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "c", "image": "i"}]}}
    spec = {"replicas": replicas, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    return {"apiVersion": "apps/v1", "kind": "ReplicaSet", "metadata": {"name": "web"}, "spec": spec}


def a_pod(name: str, owner: Document | None = None, app: str = "web", **spec: Any) -> Document:
    """Return a pod on the node, with an owner if one is given."""
    meta: Document = {"name": name, "labels": {"app": app}}
    if owner is not None:
        reference = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": owner["metadata"]["uid"]}
        meta["ownerReferences"] = [{**reference, "controller": True}]
    spec = {"containers": [{"name": "c", "image": "i"}], "nodeName": "n", **spec}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": spec}


def counts(cluster: SimulatedCluster) -> tuple[int, int, int, int]:
    """Return expected, healthy, desired and allowed."""
    budget = cluster.get("PodDisruptionBudget", "b")
    assert budget is not None
    status = budget["status"]
    return status["expectedPods"], status["currentHealthy"], status["desiredHealthy"], status["disruptionsAllowed"]


SHARES = [
    ("a number that must stay, of the pods there are", {"minAvailable": 2}, (3, 3, 2, 1)),
    ("a share that must stay, of the pods there should be", {"minAvailable": "50%"}, (5, 3, 3, 0)),
    ("a number that may go, of the pods there should be", {"maxUnavailable": 3}, (5, 3, 2, 1)),
    ("a share that may go, rounded up", {"maxUnavailable": "50%"}, (5, 3, 2, 1)),
    ("more than there are may go", {"maxUnavailable": 10}, (5, 3, 0, 3)),
    ("none may go", {"maxUnavailable": 0}, (5, 3, 5, 0)),
    ("nothing said", {}, (0, 3, 0, 0)),
]


@pytest.mark.parametrize(("name", "spec", "expected"), SHARES, ids=[row[0] for row in SHARES])
def test_what_a_budget_allows(name: str, spec: Document, expected: tuple[int, int, int, int]) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
        owner = cluster.create(a_replica_set(5))
        for number in range(3):
            cluster.create(a_pod(f"p{number}", owner))
        cluster.create(a_pod("other", app="db"))
        await asyncio.sleep(1)
        cluster.create(a_budget(**spec))
        await asyncio.sleep(1)
        assert counts(cluster) == expected
        budget = cluster.get("PodDisruptionBudget", "b")
        assert budget is not None
        assert budget["status"]["observedGeneration"] == 1
        (condition,) = budget["status"]["conditions"]
        allowed = expected[3] > 0
        assert condition["status"] == ("True" if allowed else "False")
        assert condition["reason"] == ("SufficientPods" if allowed else "InsufficientPods")

    in_simulated_cluster(story, Options(workloads=False))


def test_counts_follow_pods_scales_and_the_budget_itself() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
        owner = cluster.create(a_replica_set(3))
        cluster.create(a_budget(maxUnavailable=1))
        for number in range(3):
            cluster.create(a_pod(f"p{number}", owner))
        await asyncio.sleep(3)
        assert counts(cluster) == (3, 0, 2, 0), "pods count when they are ready"
        await asyncio.sleep(5)
        assert counts(cluster) == (3, 3, 2, 1)
        cluster.delete("Pod", "p0")
        await asyncio.sleep(0.5)
        assert counts(cluster) == (3, 2, 2, 0), "a pod that is being deleted is not healthy"
        cluster.change("ReplicaSet", "web", lambda found: found["spec"].update(replicas=1))
        await asyncio.sleep(0.1)
        assert counts(cluster) == (1, 2, 0, 2)
        cluster.change("Pod", "p1", lambda pod: pod["metadata"]["labels"].update(app="db"))
        await asyncio.sleep(0.1)
        assert counts(cluster) == (1, 1, 0, 1), "a pod that changes its labels leaves the budget"
        cluster.change("PodDisruptionBudget", "b", lambda found: found["spec"].update(selector={}))
        await asyncio.sleep(0.1)
        assert counts(cluster) == (1, 2, 0, 2), "an empty selector takes all pods of the namespace"

    in_simulated_cluster(story, Options(ready_seconds=5, termination_seconds=10, workloads=False))


def test_an_eviction_spends_the_budget_until_the_pod_is_gone() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
        owner = cluster.create(a_replica_set(2))
        for number in range(2):
            cluster.create(a_pod(f"p{number}", owner))
        cluster.create(a_budget(maxUnavailable=1))
        await asyncio.sleep(1)

        def evict(name: str) -> int:
            path = f"/api/v1/namespaces/default/pods/{name}/eviction"
            return Asking(cluster.server).ask("POST", path, {"metadata": {"name": name}})[0]

        assert (evict("p0"), evict("p1")) == (201, 429)
        await asyncio.sleep(20)
        assert counts(cluster) == (2, 1, 1, 0)
        assert evict("p1") == 429

    in_simulated_cluster(story, Options(termination_seconds=5))
