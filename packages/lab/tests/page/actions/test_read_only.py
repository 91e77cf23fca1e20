"""A live cluster is read, and not written to, unless that was asked for."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from tests.support.served_cluster import ServedCluster, a_served_cluster

from kubesched.client.rest import RestClient
from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel
from kubesched.sources.cluster_source import ClusterSource
from kubesched_answers.sources.reading import read_cluster
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.server import PageServer
from kubesched_lab.page.shown.shown_cluster import ShownCluster

NODE = {
    "apiVersion": "v1",
    "kind": "Node",
    "metadata": {"name": "n1"},
    "status": {"capacity": {"cpu": "4", "memory": "8Gi", "pods": "110"}},
}
POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "p", "namespace": "default"},
    "spec": {"nodeName": "n1", "containers": [{"name": "c", "image": "i"}]},
}
YAML = "apiVersion: v1\nkind: Pod\nmetadata: {name: q}\nspec: {containers: [{name: c, image: i}]}\n"
WRITES: dict[str, tuple[str, dict[str, Any]]] = {
    "cordon": ("/v1/actions", {"do": "cordon", "nodes": "n1"}),
    "drain": ("/v1/actions", {"do": "drain", "nodes": "n1", "force": True}),
    "remove nodes": ("/v1/actions", {"do": "remove-nodes", "nodes": "n1"}),
    "add nodes": ("/v1/actions", {"do": "add-nodes", "like": "n1", "count": 1}),
    "create": ("/v1/actions", {"do": "create", "yaml": YAML, "namespace": "default"}),
    "delete": ("/v1/actions", {"do": "delete", "pod": "default/p"}),
    "scale": ("/v1/actions", {"do": "scale", "workload": "Deployment/default/web", "replicas": 2}),
    "undo": ("/v1/undo", {}),
    "redo": ("/v1/redo", {}),
}


@pytest.fixture
def cluster(tmp_path: Path) -> Any:
    with a_served_cluster(tmp_path, NODE, POD) as found:
        yield found


@asynccontextmanager
async def asking(cluster: ServedCluster, *, writable: bool) -> AsyncIterator[tuple[aiohttp.ClientSession, RestClient]]:
    """A page of a live cluster, and the administrator of that cluster."""
    model = ClusterModel(read_cluster(ClusterSource(kubeconfig=cluster.kubeconfig("admin"))), load_config())
    assert model.source.server is not None
    state = PageState(ShownCluster(model))
    if writable:
        state.writable = True
    server, rest = PageServer(state, token="t"), RestClient(model.source.server, "test")
    try:
        base = (await server.start()).partition("/#")[0]
        async with aiohttp.ClientSession(base, headers={"Authorization": "Bearer t"}) as session:
            yield session, rest
    finally:
        await server.close()
        await rest.close()


async def versions(rest: RestClient) -> dict[str, str]:
    """Return all nodes and pods with their versions."""
    found: dict[str, str] = {}
    for path in ("/api/v1/nodes", "/api/v1/pods"):
        for each in msgspec.json.decode(await rest.get(path))["items"]:
            found[each["metadata"]["name"]] = each["metadata"]["resourceVersion"]
    return found


def test_no_action_reaches_a_live_cluster_unless_that_was_asked_for(cluster: ServedCluster) -> None:
    async def story() -> None:
        async with asking(cluster, writable=False) as (session, rest):
            before = await versions(rest)
            async with session.get("/v1/actions") as found:
                listed = await found.json()
            assert not listed["writable"]
            assert "--allow-changes" in listed["why"]
            for name, (path, body) in WRITES.items():
                async with session.post(path, json=body) as found:
                    assert found.status == 403, name
                    assert "--allow-changes" in (await found.json())["error"]
            assert await versions(rest) == before

    asyncio.run(story())


def test_it_does_where_that_was_asked_for(cluster: ServedCluster) -> None:
    async def story() -> None:
        async with asking(cluster, writable=True) as (session, rest):
            before = await versions(rest)
            async with session.post("/v1/actions", json=WRITES["cordon"][1]) as found:
                assert (found.status, await found.json()) == (200, {"done": "Cordon node n1"})
            assert await versions(rest) != before

    asyncio.run(story())
