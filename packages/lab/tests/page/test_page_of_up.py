"""`kubesched up --page`: a real cluster, its page, and a browser's requests, over real connections."""

import asyncio
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import aiohttp
import msgspec
import pytest
from tests.support.processes import eventually

from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.rest import RestClient

SECONDS = 120.0
MANIFEST = """\
apiVersion: v1
kind: Pod
metadata: {name: web}
spec: {containers: [{name: main, image: web, resources: {requests: {cpu: "1"}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: giant}
spec: {containers: [{name: main, image: web, resources: {requests: {cpu: "999"}}}]}
"""
CONFIGURATION = """\
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
# of this test
podMaxBackoffSeconds: 20
"""


@contextmanager
def started(*arguments: str, state: Path) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [sys.executable, "-m", "kubesched", *arguments],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "XDG_STATE_HOME": str(state)},
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def get(address: str, path: str, body: Any = None) -> Any:
    """Ask the page; with a body, by POST."""
    base, _, token = address.partition("/#token=")

    async def ask() -> Any:
        async with (
            aiohttp.ClientSession(base, headers={"Authorization": f"Bearer {token}"}) as session,
            session.request("GET" if body is None else "POST", path, json=body) as found,
        ):
            return await found.json()

    return asyncio.run(ask())


def check_queue(address: str) -> None:
    """The queue comes from the scheduler itself."""

    def from_scheduler() -> Any:
        found = get(address, "/v1/queue")
        return found if found["kind"] == "scheduler" and found["counts"]["unschedulable"] == 1 else None

    found = eventually(from_scheduler, "the scheduler tells its queue", seconds=SECONDS)
    assert found["gaps"] == []
    assert [(each["pod"], each["rejectedBy"]) for each in found["first"]] == [("default/giant", ["NodeResourcesFit"])]
    assert found["history"]["unschedulable"][-1] == 1


async def created_later(address: str, config: Path) -> Any:
    """Create a pod through the API server; return it as the page's stream of changes has it."""
    base, _, token = address.partition("/#token=")
    client = RestClient(load_rest_config(str(config)), "test")
    pod = {"metadata": {"name": "later"}, "spec": {"containers": [{"name": "main", "image": "web"}]}}
    headers = {"Authorization": f"Bearer {token}"}
    try:
        async with aiohttp.ClientSession(base, headers=headers) as session, asyncio.timeout(SECONDS):
            async with session.get("/v1/cluster") as found:
                seq = (await found.json())["seq"]
            async with session.get(f"/v1/changes?since={seq}") as stream:
                await client.send("POST", "/api/v1/namespaces/default/pods", msgspec.json.encode(pod))
                async for line in stream.content:
                    if line.startswith(b"data: "):
                        for each in msgspec.json.decode(line[6:]).get("pods", ()):
                            if each["name"] == "later":
                                return each
    finally:
        await client.close()
    raise AssertionError("the stream ended without the pod")


@pytest.mark.slow
def test_the_page_of_a_cluster_follows_it_and_ends_with_it(tmp_path: Path) -> None:
    manifest = tmp_path / "pods.yaml"
    manifest.write_text(MANIFEST)
    config, scheduler = tmp_path / "kubeconfig", tmp_path / "scheduler.yaml"
    scheduler.write_text(CONFIGURATION)
    arguments = ("--nodes", "2", "--kubeconfig", str(config), "--config", str(scheduler), str(manifest))
    with started("up", "--page", *arguments, state=tmp_path) as process:
        assert process.stderr is not None
        line = next(line for line in process.stderr if line.startswith("page: "))
        address = line.removeprefix("page: ").strip()
        assert address.startswith("http://127.0.0.1:")

        def bound() -> Any:
            pods = get(address, "/v1/cluster")["pods"]
            return pods["node"][pods["name"].index("web")] >= 0 if "web" in pods["name"] else None

        eventually(bound, "the page shows the pod on its node", seconds=SECONDS)
        found = get(address, "/v1/pods/default/giant")
        assert found["explanation"]["verdict"] == "unschedulable"
        assert found["explanation"]["decisions"], "what the scheduler remembers is there"
        assert found["funnel"]["feasible"] == 0
        check_queue(address)
        created = asyncio.run(created_later(address, config))
        assert (created["state"], created["namespace"]) in {("pending", "default"), ("bound", "default")}
        marks = {(mark["kind"], mark.get("pod")) for mark in get(address, "/v1/timeline")["marks"]}
        assert marks >= {("bound", "default/web"), ("failed", "default/giant")}
        assert get(address, "/v1/configuration")["yaml"] == CONFIGURATION
        (node,) = get(address, "/v1/cluster")["nodes"]["name"][:1]
        done = get(address, "/v1/actions", {"do": "cordon", "nodes": node})
        assert done == {"done": f"Cordon node {node}"}

        def cordoned() -> Any:
            return any(get(address, "/v1/cluster")["nodes"]["unschedulable"]) or None

        eventually(cordoned, "the page shows what it did to the cluster", seconds=SECONDS)
        process.send_signal(signal.SIGINT)
        process.wait(timeout=SECONDS)
        with pytest.raises(aiohttp.ClientConnectorError):
            get(address, "/v1/cluster")


@contextmanager
def a_page(*arguments: str, state: Path) -> Iterator[str]:
    """Serve a page; its address."""
    page = subprocess.Popen(
        [sys.executable, "-m", "kubesched", "page", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env={**os.environ, "XDG_STATE_HOME": str(state)},
    )
    try:
        assert page.stdout is not None
        yield page.stdout.readline().strip()
    finally:
        page.kill()
        page.communicate()


@pytest.mark.slow
def test_a_cluster_that_is_started_again_under_its_name_is_shown_again(tmp_path: Path) -> None:
    config, scheduler = tmp_path / "kubeconfig", tmp_path / "scheduler.yaml"
    scheduler.write_text(CONFIGURATION)
    words = ("up", "--name", "again", "--kubeconfig", str(config))

    def nodes(address: str, count: int) -> Any:
        found = get(address, "/v1/cluster")
        return found["source"]["state"] == "there" and len(found["nodes"]["name"]) == count

    def status(address: str) -> str:
        return str(get(address, "/v1/configuration")["status"])

    with started(*words, "--nodes", "1", "--config", str(scheduler), state=tmp_path) as cluster:
        eventually(lambda: config.exists() or None, "the cluster serves", seconds=SECONDS)
        with a_page("--cluster", "again", state=tmp_path) as address:
            found = get(address, "/v1/configuration")
            assert "podMaxBackoffSeconds: 20" in found["yaml"]
            assert found["status"] == "In force."
            cluster.send_signal(signal.SIGINT)
            cluster.wait(SECONDS)
            eventually(lambda: get(address, "/v1/cluster")["source"]["state"] == "lost", "it is lost", seconds=SECONDS)
            with started(*words, "--nodes", "3", state=tmp_path):
                eventually(lambda: nodes(address, 3), "the page shows the new cluster", seconds=SECONDS)
                eventually(lambda: "has another" in status(address), "the configuration is another", seconds=SECONDS)


@pytest.mark.slow
def test_a_page_whose_cluster_goes_away_says_so(tmp_path: Path) -> None:
    config = tmp_path / "kubeconfig"
    with started("up", "--nodes", "1", "--kubeconfig", str(config), state=tmp_path) as cluster:
        eventually(lambda: config.exists() or None, "the cluster serves", seconds=SECONDS)
        with a_page("--kubeconfig", str(config), state=tmp_path) as address:
            assert get(address, "/v1/cluster")["source"]["state"] == "there"
            cluster.kill()

            def lost() -> Any:
                return get(address, "/v1/cluster")["source"]["state"] == "lost" or None

            eventually(lost, "the page says that the cluster is gone", seconds=SECONDS)
            assert len(get(address, "/v1/cluster")["nodes"]["name"]) == 1, "what was seen last is still shown"
