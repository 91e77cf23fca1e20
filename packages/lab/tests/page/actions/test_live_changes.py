"""Actions on a live cluster: what its API server has afterwards, what it refuses, and undo."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.support.served_cluster import ServedCluster, a_served_cluster

from kubesched.client.rest import RestClient
from kubesched.core.assembly import load_config
from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import ClusterModel
from kubesched.sources.cluster_source import ClusterSource
from kubesched_answers.sources.reading import read_cluster
from kubesched_lab.page.actions.live_changes import LiveChanges
from kubesched_lab.page.actions.live_requests import LiveRequest, deletion_of
from kubesched_lab.page.actions.requests import ActionRequest
from kubesched_lab.page.actions.templates import TEMPLATES
from kubesched_lab.page.shown.shown_cluster import ShownCluster

Story = Callable[[LiveChanges, RestClient], Coroutine[Any, Any, None]]
DEPLOYMENT = TEMPLATES["Deployment, spread over zones"]
BAD_POD = TEMPLATES["Pod"].replace("image:", "imge:")


def document(kind: str, name: str, version: str = "v1", **fields: Any) -> dict[str, Any]:
    space = {} if kind == "Node" else {"namespace": "default"}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": name, **space, **fields.pop("meta", {})},
        **fields,
    }


def a_document_of_a_pod(name: str, owner: str = "") -> dict[str, Any]:
    owners = [{"apiVersion": "apps/v1", "kind": owner, "name": "o", "uid": "u", "controller": True}] if owner else []
    spec = {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]}
    return document("Pod", name, meta={"labels": {"app": name}, "ownerReferences": owners}, spec=spec)


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[ServedCluster]:
    room = {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}}
    selector = {"matchLabels": {"app": "kept"}}
    documents = [
        document("Node", "n1", status=room),
        document("Node", "n2", status=room),
        a_document_of_a_pod("w", "ReplicaSet"),
        a_document_of_a_pod("kept", "ReplicaSet"),
        a_document_of_a_pod("d", "DaemonSet"),
        document("PodDisruptionBudget", "b", "policy/v1", spec={"minAvailable": 1, "selector": selector}),
    ]
    rules = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["get", "list", "watch"]}]
    with a_served_cluster(tmp_path, *documents, rules=rules) as found:
        yield found


def told(cluster: ServedCluster, story: Story, user: str = "admin") -> None:
    model = ClusterModel(read_cluster(ClusterSource(kubeconfig=cluster.kubeconfig(user))), load_config())
    server = model.source.server
    assert server is not None

    async def work() -> None:
        rest = RestClient(server, "test")
        changes = LiveChanges(ShownCluster(model), rest, again_seconds=0.02)
        try:
            await story(changes, rest)
        finally:
            changes.close()
            await rest.close()

    asyncio.run(work())


async def got(rest: RestClient, path: str) -> Any:
    return msgspec.json.decode(await rest.get(path))


async def names(rest: RestClient, path: str) -> list[str]:
    return sorted(each["metadata"]["name"] for each in (await got(rest, path))["items"])


PODS, NODES, N1 = "/api/v1/namespaces/default/pods", "/api/v1/nodes", "/api/v1/nodes/n1"
DEPLOYMENTS = "/apis/apps/v1/namespaces/default/deployments"


def test_a_node_is_cordoned_and_undo_opens_it_again(cluster: ServedCluster) -> None:
    async def story(changes: LiveChanges, rest: RestClient) -> None:
        assert await changes.do(ActionRequest("cordon", nodes="n1,n2")) == "Cordon nodes n1, n2"
        assert (await got(rest, N1))["spec"]["unschedulable"]
        assert await changes.undo() == "Undone: Cordon nodes n1, n2"
        assert not (await got(rest, N1))["spec"].get("unschedulable")
        await changes.redo()
        assert (await got(rest, N1))["spec"]["unschedulable"]

    told(cluster, story)


def test_a_drain_goes_on_while_a_budget_holds_pods_up(cluster: ServedCluster) -> None:
    async def story(changes: LiveChanges, rest: RestClient) -> None:
        ready = {"status": {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]}}
        patch = "application/merge-patch+json"
        await rest.send("PATCH", f"{PODS}/kept/status", msgspec.json.encode(ready), content_type=patch)
        said = await changes.do(ActionRequest("drain", nodes="n1"))
        assert said.startswith("Drain node n1: 1 pod is evicted, 1 of DaemonSets stays, 1 held up (")
        running = changes.running()
        assert running is not None
        assert (running["title"], running["waiting"]) == ("Drain node n1", 1)
        with pytest.raises(KubeschedError, match="Drain node n1 is still under way"):
            await changes.do(ActionRequest("drain", nodes="n1"))
        await rest.send("DELETE", "/apis/policy/v1/namespaces/default/poddisruptionbudgets/b")
        async with asyncio.timeout(20):
            while changes.running() is not None:
                await asyncio.sleep(0.01)
        terminating = [
            each["metadata"]["name"]
            for each in (await got(rest, PODS))["items"]
            if not each["metadata"].get("deletionTimestamp")
        ]
        assert terminating == ["d"]
        await changes.undo()
        assert not (await got(rest, N1))["spec"].get("unschedulable")

    told(cluster, story)


def test_a_drain_refuses_to_lose_data_unless_forced(cluster: ServedCluster) -> None:
    async def story(changes: LiveChanges, rest: RestClient) -> None:
        pod = a_document_of_a_pod("w2", "ReplicaSet")
        pod["spec"] |= {"nodeName": "n2", "volumes": [{"name": "v", "emptyDir": {}}]}
        await rest.send("POST", PODS, msgspec.json.encode(pod))
        again = ClusterModel(read_cluster(ClusterSource(kubeconfig=cluster.kubeconfig())), load_config())
        changes = LiveChanges(ShownCluster(again), rest)
        with pytest.raises(KubeschedError, match="default/w2: data in its emptyDir volumes would be lost"):
            await changes.do(ActionRequest("drain", nodes="n2"))
        assert not (await got(rest, f"{NODES}/n2"))["spec"].get("unschedulable")
        await changes.do(ActionRequest("drain", nodes="n2", force=True))
        assert (await got(rest, f"{NODES}/n2"))["spec"]["unschedulable"]

    told(cluster, story)


def test_objects_are_created_scaled_and_taken_back(cluster: ServedCluster) -> None:
    async def story(changes: LiveChanges, rest: RestClient) -> None:
        await changes.do(ActionRequest("create", yaml=DEPLOYMENT))
        await changes.do(ActionRequest("scale", workload="deploy/web", replicas=7))
        assert (await got(rest, f"{DEPLOYMENTS}/web"))["spec"]["replicas"] == 7
        await changes.undo()
        assert (await got(rest, f"{DEPLOYMENTS}/web"))["spec"]["replicas"] == 3
        with pytest.raises(KubeschedError, match="Deployment default/web has 3 replicas already"):
            await changes.do(ActionRequest("scale", workload="deploy/web", replicas=3))
        await changes.undo()
        assert await names(rest, DEPLOYMENTS) == []
        assert [each["title"] for each in changes.undone()] == [
            "Scale Deployment default/web to 7",
            "Create Deployment web",
        ]

    told(cluster, story)


NAMED_BY_THE_SERVER = """
apiVersion: v1
kind: Pod
metadata: {generateName: job-}
spec: {containers: [{name: c, image: i}]}
"""


@pytest.mark.parametrize("refused", [False, True], ids=["undone", "taken back, since the next one is refused"])
def test_a_pod_that_the_server_named_is_deleted_and_no_other(cluster: ServedCluster, refused: bool) -> None:
    async def story(changes: LiveChanges, rest: RestClient) -> None:
        before = await names(rest, PODS)
        if refused:
            with pytest.raises(KubeschedError, match="the API server refuses"):
                await changes.do(ActionRequest("create", yaml=f"{NAMED_BY_THE_SERVER}---\n{BAD_POD}"))
        else:
            await changes.do(ActionRequest("create", yaml=NAMED_BY_THE_SERVER))
            assert len(await names(rest, PODS)) == len(before) + 1
            await changes.undo()
        assert await names(rest, PODS) == before

    told(cluster, story)


def test_undo_leaves_another_object_of_the_same_name(cluster: ServedCluster) -> None:
    async def story(changes: LiveChanges, rest: RestClient) -> None:
        await changes.do(ActionRequest("create", yaml=DEPLOYMENT))
        created = await got(rest, f"{DEPLOYMENTS}/web")
        await rest.send("DELETE", f"{DEPLOYMENTS}/web")
        created["metadata"] = {"name": "web", "namespace": "default"}
        await rest.send("POST", DEPLOYMENTS, msgspec.json.encode(created))
        assert await changes.undo() == "Undone: Create Deployment web"
        assert await names(rest, DEPLOYMENTS) == ["web"]

    told(cluster, story)


@pytest.mark.parametrize("answer", [b"", b"<html>", b"{}", b'{"metadata": {"name": ""}}', b'{"metadata": {"name": 1}}'])
def test_an_answer_without_a_name_leads_to_no_deletion(answer: bytes) -> None:
    with pytest.raises(KubeschedError, match=r"^Pod default/job-: the API server did not say what it created"):
        deletion_of(LiveRequest("POST", PODS, "Pod default/job-"), answer)


def test_nodes_come_and_go(cluster: ServedCluster) -> None:
    async def story(changes: LiveChanges, rest: RestClient) -> None:
        await changes.do(ActionRequest("add-nodes", like="n2", count=2))
        await changes.do(ActionRequest("add-nodes", pool="name=large,nodes=1,cpu=32"))
        await changes.do(ActionRequest("remove-nodes", nodes="n2"))
        assert await names(rest, NODES) == ["large-1", "n1", "n2-new-1", "n2-new-2"]
        for _ in range(3):
            await changes.undo()
        assert await names(rest, NODES) == ["n1", "n2"]
        assert (await got(rest, f"{NODES}/n2"))["status"]["capacity"]["cpu"] == "4"

    told(cluster, story)


def test_a_pod_is_deleted_and_its_controller_would_create_another(cluster: ServedCluster) -> None:
    async def story(changes: LiveChanges, rest: RestClient) -> None:
        await changes.do(ActionRequest("delete", pod="default/w"))
        with pytest.raises(KubeschedError, match="deleted pods cannot be restored"):
            await changes.undo()

    told(cluster, story)


def test_what_the_api_server_refuses_is_told_and_nothing_is_left_half_done(cluster: ServedCluster) -> None:
    async def as_anna(changes: LiveChanges, rest: RestClient) -> None:
        with pytest.raises(KubeschedError, match=r"node n1: the API server refuses: .*anna.*cannot patch"):
            await changes.do(ActionRequest("cordon", nodes="n1"))
        assert changes.done() == []

    async def half(changes: LiveChanges, rest: RestClient) -> None:
        text = f"{DEPLOYMENT}---\n{BAD_POD}"
        with pytest.raises(KubeschedError, match="Pod default/one: the API server refuses"):
            await changes.do(ActionRequest("create", yaml=text))
        assert await names(rest, DEPLOYMENTS) == []

    told(cluster, as_anna, "anna")
    told(cluster, half)
