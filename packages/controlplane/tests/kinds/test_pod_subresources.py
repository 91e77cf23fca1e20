"""`pods/resize` and `pods/ephemeralcontainers`: what they change, what they refuse, and what nodes make of it."""

import asyncio
from typing import Any

import pytest
from tests.support.simulated import SimulatedCluster, in_simulated_cluster

from kubesched_controlplane.api.statuses import ApiError

Document = dict[str, Any]


def a_container(name: str = "main", cpu: str = "1", **more: Any) -> Document:
    """Return a container that asks for so much cpu."""
    return {"name": name, "image": "busybox", "resources": {"requests": {"cpu": cpu, "memory": "1Gi"}}, **more}


def a_cluster(cluster: SimulatedCluster, *containers: Document, cpu: str = "4", **spec: Any) -> None:
    """Create a node with so much cpu, and the pod `p` on it."""
    cluster.create(
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": "n"},
            "status": {"capacity": {"cpu": cpu, "memory": "16Gi", "pods": "9"}},
        }
    )
    spec = {"nodeName": "n", "containers": list(containers) or [a_container()], **spec}
    cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec})


def pod(cluster: SimulatedCluster) -> Document:
    """Return the pod."""
    found = cluster.get("Pod", "p")
    assert found is not None
    return found


def ask_for(cpu: str, container: int = 0) -> Any:
    """Return the change of a container's cpu."""

    def change(pod: Document) -> None:
        pod["spec"]["containers"][container]["resources"]["requests"]["cpu"] = cpu

    return change


def pending(pod: Document) -> str:
    """Return why a pod is not resized, or an empty text."""
    return next((each["reason"] for each in pod["status"]["conditions"] if each["type"] == "PodResizePending"), "")


# -- resize


def test_a_resized_pod_has_its_resources_in_spec_and_status() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        a_cluster(cluster)
        await asyncio.sleep(1)
        changed = cluster.change("Pod", "p", ask_for("3"), "resize")
        assert changed["spec"]["containers"][0]["resources"]["requests"]["cpu"] == "3"
        assert changed["metadata"]["generation"] == 2
        await asyncio.sleep(1)
        status = pod(cluster)["status"]
        assert status["containerStatuses"][0]["resources"] == {"requests": {"cpu": "3", "memory": "1Gi"}}
        assert status["containerStatuses"][0]["allocatedResources"] == {"cpu": "3", "memory": "1Gi"}
        assert (status["observedGeneration"], status["containerStatuses"][0]["restartCount"]) == (2, 0)

    in_simulated_cluster(story)


def test_a_resize_changes_resources_alone() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        a_cluster(cluster)
        await asyncio.sleep(1)

        def change(pod: Document) -> None:
            ask_for("2")(pod)
            pod["spec"]["containers"][0]["image"] = "other"
            pod["spec"]["nodeName"] = "elsewhere"
            pod["metadata"]["labels"] = {"new": "label"}

        changed = cluster.change("Pod", "p", change, "resize")
        container = changed["spec"]["containers"][0]
        assert (container["image"], container["resources"]["requests"]["cpu"]) == ("busybox", "2")
        assert (changed["spec"]["nodeName"], changed["metadata"].get("labels")) == ("n", None)

    in_simulated_cluster(story)


POLICIES = [
    ("a container that is to be restarted for cpu", "cpu", "RestartContainer", 1),
    ("one that is not", "cpu", "NotRequired", 0),
    ("one that is to be restarted for memory, which is the same", "memory", "RestartContainer", 0),
]


@pytest.mark.parametrize(("name", "resource", "policy", "restarts"), POLICIES, ids=[row[0] for row in POLICIES])
def test_restarts_for(name: str, resource: str, policy: str, restarts: int) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        a_cluster(cluster, a_container(resizePolicy=[{"resourceName": resource, "restartPolicy": policy}]))
        await asyncio.sleep(1)
        cluster.change("Pod", "p", ask_for("2"), "resize")
        await asyncio.sleep(1)
        assert pod(cluster)["status"]["containerStatuses"][0]["restartCount"] == restarts

    in_simulated_cluster(story)


def test_a_resize_for_which_there_is_no_room_waits_for_it() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        a_cluster(cluster)
        other = {"nodeName": "n", "containers": [a_container(cpu="3")], "terminationGracePeriodSeconds": 0}
        cluster.create({"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "other"}, "spec": other})
        await asyncio.sleep(1)
        cluster.change("Pod", "p", ask_for("2"), "resize")
        await asyncio.sleep(1)
        assert pending(pod(cluster)) == "Deferred"
        assert pod(cluster)["status"]["containerStatuses"][0]["resources"]["requests"]["cpu"] == "1"
        cluster.delete("Pod", "other")
        await asyncio.sleep(2)
        assert pending(pod(cluster)) == ""
        assert pod(cluster)["status"]["containerStatuses"][0]["resources"]["requests"]["cpu"] == "2"

    in_simulated_cluster(story)


def test_a_resize_beyond_the_node_is_infeasible_until_it_is_taken_back() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        a_cluster(cluster)
        await asyncio.sleep(1)
        cluster.change("Pod", "p", ask_for("5"), "resize")
        await asyncio.sleep(1)
        assert pending(pod(cluster)) == "Infeasible"
        cluster.change("Pod", "p", ask_for("4"), "resize")
        await asyncio.sleep(1)
        assert pending(pod(cluster)) == ""

    in_simulated_cluster(story)


def rename(pod: Document) -> None:
    """Give a container another name."""
    pod["spec"]["containers"][0]["name"] = "other"


def add(pod: Document) -> None:
    """Add a container."""
    pod["spec"]["containers"].append(a_container("more"))


def forget(pod: Document) -> None:
    """Take the requests of a container away."""
    del pod["spec"]["containers"][0]["resources"]["requests"]["memory"]


def limit(pod: Document) -> None:
    """Limit a container to what it asks for."""
    resources = pod["spec"]["containers"][0]["resources"]
    resources["limits"] = dict(resources["requests"])


def ask_for_a_device(pod: Document) -> None:
    """Let a container ask for an extended resource."""
    resources = pod["spec"]["containers"][0]["resources"]
    resources["requests"]["e.com/x"] = "1"
    resources["limits"] = {"e.com/x": "1"}


REFUSALS = [
    (rename, "spec.containers[0].name: Forbidden: containers may not be renamed or reordered on resize"),
    (add, "spec.containers: Forbidden: containers may not be added or removed on resize"),
    (forget, "spec.containers[0].resources.requests: Forbidden: resource requests cannot be removed"),
    (limit, 'spec: Invalid value: "Burstable": Pod QOS Class may not change as a result of resizing'),
    (ask_for_a_device, "spec: Forbidden: only cpu and memory resources are mutable"),
]


@pytest.mark.parametrize(("change", "why"), REFUSALS, ids=[str(row[0].__doc__) for row in REFUSALS])
def test_what_a_resize_may_not_do(change: Any, why: str) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        a_cluster(cluster)
        await asyncio.sleep(1)
        with pytest.raises(ApiError) as refusal:
            cluster.change("Pod", "p", change, "resize")
        assert refusal.value.code == 422
        assert why in refusal.value.message

    in_simulated_cluster(story)


def test_a_resize_is_held_to_quotas() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create(
            {
                "apiVersion": "v1",
                "kind": "ResourceQuota",
                "metadata": {"name": "q"},
                "spec": {"hard": {"requests.cpu": "2"}},
            }
        )
        await asyncio.sleep(1)
        a_cluster(cluster)
        await asyncio.sleep(1)
        with pytest.raises(ApiError, match="exceeded quota"):
            cluster.change("Pod", "p", ask_for("3"), "resize")
        cluster.change("Pod", "p", ask_for("2"), "resize")

    in_simulated_cluster(story)


# -- ephemeral containers


def debug(pod: Document) -> None:
    """Add an ephemeral container."""
    pod["spec"].setdefault("ephemeralContainers", []).append({"name": "debugger", "image": "busybox"})


def test_an_ephemeral_container_is_added_and_runs() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        a_cluster(cluster)
        await asyncio.sleep(1)
        changed = cluster.change("Pod", "p", debug, "ephemeralcontainers")
        assert changed["spec"]["ephemeralContainers"][0]["terminationMessagePolicy"] == "File"
        assert changed["metadata"]["generation"] == 2
        await asyncio.sleep(1)
        status = pod(cluster)["status"]["ephemeralContainerStatuses"][0]
        assert status["name"] == "debugger"
        assert "running" in status["state"]

    in_simulated_cluster(story)


def test_an_ephemeral_container_stays_as_it_is() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        a_cluster(cluster)
        await asyncio.sleep(1)
        cluster.change("Pod", "p", debug, "ephemeralcontainers")

        def change(pod: Document) -> None:
            pod["spec"]["ephemeralContainers"][0]["image"] = "other"

        def remove(pod: Document) -> None:
            del pod["spec"]["ephemeralContainers"]

        for wrong, what in ((change, "changed"), (remove, "removed")):
            with pytest.raises(ApiError, match=f'existing ephemeral containers "debugger" may not be {what}'):
                cluster.change("Pod", "p", wrong, "ephemeralcontainers")

    in_simulated_cluster(story)
