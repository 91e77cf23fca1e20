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
import pytest
from tests.support.processes import eventually

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


def get(address: str, path: str) -> Any:
    base, _, token = address.partition("/#token=")

    async def ask() -> Any:
        async with (
            aiohttp.ClientSession(base, headers={"Authorization": f"Bearer {token}"}) as session,
            session.get(path) as found,
        ):
            return await found.json()

    return asyncio.run(ask())


@pytest.mark.slow
def test_the_page_of_a_cluster_follows_it_and_ends_with_it(tmp_path: Path) -> None:
    manifest = tmp_path / "pods.yaml"
    manifest.write_text(MANIFEST)
    with started("up", "--stay", "--page", "--nodes", "2", str(manifest), state=tmp_path) as process:
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
        process.send_signal(signal.SIGINT)
        process.wait(timeout=SECONDS)
        with pytest.raises(aiohttp.ClientConnectorError):
            get(address, "/v1/cluster")


@pytest.mark.slow
def test_a_page_whose_cluster_goes_away_says_so(tmp_path: Path) -> None:
    config = tmp_path / "kubeconfig"
    with started("up", "--stay", "--nodes", "1", "--kubeconfig", str(config), state=tmp_path) as cluster:
        eventually(lambda: config.exists() or None, "the cluster serves", seconds=SECONDS)
        page = subprocess.Popen(
            [sys.executable, "-m", "kubesched", "page", "--kubeconfig", str(config)],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert page.stdout is not None
            address = page.stdout.readline().strip()
            assert get(address, "/v1/cluster")["source"]["state"] == "there"
            cluster.kill()

            def lost() -> Any:
                return get(address, "/v1/cluster")["source"]["state"] == "lost" or None

            eventually(lost, "the page says that the cluster is gone", seconds=SECONDS)
            assert len(get(address, "/v1/cluster")["nodes"]["name"]) == 1, "what was seen last is still shown"
        finally:
            page.kill()
            page.communicate()
