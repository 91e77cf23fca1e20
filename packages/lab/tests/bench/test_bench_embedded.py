"""Workloads on the embedded control plane, with schedulers as processes."""

import asyncio
import json
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner

from kubesched.cli import main
from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.rest import RestClient
from kubesched_lab.bench.cluster_runs import ClusterBench, embedded_control_plane, run_on_cluster
from kubesched_lab.bench.errors import BenchError
from kubesched_lab.bench.figures import Measured
from kubesched_lab.bench.heartbeats import CONTROLLER_MANAGER, LEASES, Heartbeats, are_needed
from kubesched_lab.bench.scheduler_process import OWN, SchedulerCommand
from kubesched_lab.bench.shipped import runs_named

pytestmark = pytest.mark.slow


def test_two_schedulers_are_measured_in_turns(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    words = ["bench", "SchedulingBasic/5Nodes", "--on", "embedded", "-o", "json", "--file", str(file)]
    words += ["--against", f"{sys.executable} -m kubesched run --config={{config}} --secure-port=0"]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    first, second = json.loads(file.read_text())["results"]
    assert (first["scheduler"], second["scheduler"]) == ("kubesched run", Path(sys.executable).name)
    assert first["measured"][0]["attempts"] == {"scheduled": 10}
    # without {port} there are no metrics
    assert "attempts" not in second["measured"][0]
    assert all(each["measured"][0]["pods"] == 10 for each in (first, second))


@pytest.mark.parametrize("name", ["SchedulingWithResourceClaimTemplate/fast", "SchedulingCSIPVs/5Nodes"])
def test_claims_and_volumes_are_there(name: str) -> None:
    done = CliRunner().invoke(main, ["bench", name, "--on", "embedded", "-o", "json"], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["results"][0]["measured"][0]["pods"] == 10


def test_a_scheduler_that_ends_is_told() -> None:
    words = ["bench", "SchedulingBasic/5Nodes", "--on", "embedded", "--scheduler", "false {port}"]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 1
    assert "false has ended with exit code 1" in done.stderr


async def on_a_cluster(name: str) -> tuple[list[Measured], list[str], str]:
    """Run a workload on a cluster; return what was measured, what is left, and why it is not run beside others."""
    (run,) = runs_named([name], "")
    async with embedded_control_plane(run) as (admin, scheduler):
        rest = RestClient(load_rest_config(str(admin)), "test")
        bench = ClusterBench([SchedulerCommand("own", OWN)], admin, scheduler, patience=20.0)
        (result,) = await run_on_cluster(run, bench)
        left = []
        for path in ("nodes", "pods", "persistentvolumes", "namespaces"):
            items = msgspec.json.decode(await rest.get(f"/api/v1/{path}"))["items"]
            left += [item["metadata"]["name"] for item in items]
        await rest.send("POST", "/api/v1/nodes", b'{"metadata": {"name": "of-others"}}')
        with pytest.raises(BenchError) as refused:
            await run_on_cluster(run, bench)
        await rest.close()
        return result.measured, left, str(refused.value)


@pytest.mark.parametrize("name", ["PreemptionBasic/5Nodes", "SchedulingInTreePVs/5Nodes"])
def test_a_cluster_is_left_as_it_was(name: str) -> None:
    measured, left, refused = asyncio.run(on_a_cluster(name))
    assert measured[0].pods >= 5
    assert sorted(left) == ["default", "kube-node-lease", "kube-public", "kube-system"]
    assert "the cluster has nodes: a benchmark creates nodes and pods" in refused


async def leases_beside_a_controller_manager() -> list[list[str]]:
    """Return the Leases of nodes while heartbeats go on, and after their end."""
    (run,) = runs_named(["SchedulingBasic/5Nodes"], "")
    async with embedded_control_plane(run) as (admin, _):
        rest = RestClient(load_rest_config(str(admin)), "test")
        assert not await are_needed(rest)
        leases = CONTROLLER_MANAGER.rpartition("/")[0]
        await rest.send("POST", leases, b'{"metadata": {"name": "kube-controller-manager"}}')
        assert await are_needed(rest)
        heartbeats = Heartbeats(rest)
        heartbeats.add("one")
        beating = asyncio.create_task(heartbeats.run())
        found: list[list[str]] = [[]]
        while not found[0]:
            await asyncio.sleep(0.05)
            found = [[item["metadata"]["name"] for item in msgspec.json.decode(await rest.get(LEASES))["items"]]]
        beating.cancel()
        await heartbeats.end()
        found.append([item["metadata"]["name"] for item in msgspec.json.decode(await rest.get(LEASES))["items"]])
        await rest.close()
        return found


def test_nodes_have_leases_where_a_controller_looks_after_them() -> None:
    assert asyncio.run(leases_beside_a_controller_manager()) == [["one"], []]
