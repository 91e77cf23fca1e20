"""metrics.k8s.io: what pods and nodes use is what pods request, unless annotations say otherwise."""

import asyncio
from typing import Any

import pytest
from tests.support.simulated import SimulatedCluster, in_simulated_cluster

from kubesched_controlplane.api.requests import Request, Response

Document = dict[str, Any]
API = "/apis/metrics.k8s.io/v1beta1"


def a_pod(name: str, *requests: Document, phase: str = "", **annotations: str) -> Document:
    """Return a pod on the node `n`, with a container for each of the requests."""
    containers = [
        {"name": f"c{number}", "image": "i", "resources": {"requests": dict(each)}}
        for number, each in enumerate(requests)
    ]
    meta: Document = {"name": name, "labels": {"app": name}}
    meta["annotations"] = {f"kubesched.io/{key}-usage": value for key, value in annotations.items()}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"nodeName": "n", "containers": containers}}


def ask(cluster: SimulatedCluster, path: str, **options: str) -> Document:
    """Return what the server answers."""
    found = cluster.server.handle(Request("GET", API + path, {key: [value] for key, value in options.items()}))
    assert isinstance(found, Response)
    document: dict[str, Any] = found.document()
    return document


USAGES = [
    ("what a container requests", ({"cpu": "100m", "memory": "1Gi"},), {}, [("100m", "1Gi")]),
    ("nothing, if it requests nothing", ({},), {}, [("0", "0")]),
    ("each container's own", ({"cpu": "1"}, {"memory": "2Mi"}), {}, [("1", "0"), ("0", "2Mi")]),
    ("what an annotation says, of the first", ({"cpu": "1"}, {"cpu": "1"}), {"cpu": "50m"}, [("50m", "0"), ("1", "0")]),
    ("requests, if an annotation is no amount", ({"cpu": "1"},), {"cpu": "much"}, [("1", "0")]),
    ("requests, if an annotation is negative", ({"cpu": "1"},), {"cpu": "-1"}, [("1", "0")]),
]


@pytest.mark.parametrize(("name", "requests", "annotations", "expected"), USAGES, ids=[row[0] for row in USAGES])
def test_a_pod_uses(name: str, requests: Any, annotations: dict[str, str], expected: Any) -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
        await asyncio.sleep(1)
        cluster.create(a_pod("p", *requests, **annotations))
        await asyncio.sleep(1)
        found = ask(cluster, "/namespaces/default/pods/p")
        assert (found["kind"], found["metadata"]["labels"]) == ("PodMetrics", {"app": "p"})
        usages = [container["usage"] for container in found["containers"]]
        assert [(usage["cpu"], usage["memory"]) for usage in usages] == expected

    in_simulated_cluster(story)


def test_a_node_uses_what_its_running_pods_use() -> None:
    async def story(cluster: SimulatedCluster) -> None:
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}})
        cluster.create({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "idle"}})
        await asyncio.sleep(1)
        cluster.create(a_pod("a", {"cpu": "100m", "memory": "1Gi"}))
        cluster.create(a_pod("b", {"cpu": "200m", "memory": "1Gi"}))
        ended = a_pod("ended", {"cpu": "1"})
        ended["spec"]["restartPolicy"] = "Never"
        ended["metadata"]["annotations"]["kubesched.io/run-seconds"] = "0"
        cluster.create(ended)
        await asyncio.sleep(1)
        nodes = {item["metadata"]["name"]: item["usage"] for item in ask(cluster, "/nodes")["items"]}
        assert nodes == {"n": {"cpu": "300m", "memory": "2Gi"}, "idle": {"cpu": "0", "memory": "0"}}
        names = [item["metadata"]["name"] for item in ask(cluster, "/pods")["items"]]
        assert names == ["a", "b"]
        names = [item["metadata"]["name"] for item in ask(cluster, "/pods", labelSelector="app=b")["items"]]
        assert names == ["b"]
        assert ask(cluster, "/namespaces/default/pods/ended")["code"] == 404

    in_simulated_cluster(story)
