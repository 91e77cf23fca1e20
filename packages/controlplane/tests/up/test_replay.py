"""Traces on the cluster of `kubesched up`: nodes and pods come and go at their times, in virtual time here."""

import asyncio
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner
from packages.controlplane.tests.up.test_cluster import Lived

from kubesched.cli import main
from kubesched.common.virtual_time import run_in_virtual_time
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.up.placements import read_report
from kubesched_lab.replay.replay import Replay
from kubesched_lab.simulate.traces.trace_file import trace_of_file

Document = dict[str, Any]
EXAMPLE = Path("examples/simulate/small.jsonl")


def a_line(at: float, kind: str, name: str, field: str = "object", **more: Any) -> Document:
    version, namespace = more.pop("version", "v1"), more.pop("namespace", "default")
    runs = {"runs": more.pop("runs")} if "runs" in more else {}
    meta = {"name": name, "uid": f"uid-of-{name}", **({"namespace": namespace} if namespace else {})}
    meta |= more.pop("metadata", {})
    return {"at": at, field: {"apiVersion": version, "kind": kind, "metadata": meta, **more}, **runs}


def a_node_line(at: float, name: str, **more: Any) -> Document:
    return a_line(at, "Node", name, namespace="", status={"capacity": {"cpu": "4", "pods": "10"}}, **more)


def a_pod_line(at: float, name: str, field: str = "object", **more: Any) -> Document:
    spec = {"containers": [{"name": "main", "image": "i"}], **more.pop("spec", {})}
    return a_line(at, "Pod", name, field, spec=spec, **more)


class Replayed:
    """What a replay came to: how pods stand at some times, and what was noted."""

    def __init__(self, tmp_path: Path, *lines: Document, speed: float = 1.0) -> None:
        path = tmp_path / "trace.jsonl"
        path.write_bytes(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))
        self.path = path
        self.speed = speed
        self.notes: list[str] = []
        self.seen: dict[float, dict[str, str]] = {}
        self.seconds = 0.0

    def at(self, *times: float) -> "Replayed":
        """Replay it, and look at the pods at some times."""
        run_in_virtual_time(self._run(times))
        return self

    async def _run(self, times: tuple[float, ...]) -> None:
        lived = Lived(options=Options(workloads=False).at_speed(self.speed))
        replay = Replay(trace_of_file(self.path), lived.server, self.speed, 0, self.notes.append)
        replay.begin()
        lived.transport.start()
        loop = asyncio.get_running_loop()
        async with lived.cluster.running():
            began = loop.time()
            running = asyncio.create_task(replay.run())
            for time in times:
                await asyncio.sleep(began + time - loop.time())
                report = read_report(lived.cluster)
                self.seen[time] = {pod.name: f"{pod.status} {pod.node}".strip() for pod in report.pods}
            await running
            self.seconds = loop.time() - began
        lived.transport.stop()


def test_pods_come_run_and_end_at_their_times(tmp_path: Path) -> None:
    replayed = Replayed(
        tmp_path,
        a_node_line(0, "n1"),
        a_pod_line(0, "old", spec={"nodeName": "n1"}),
        a_pod_line(10, "job", runs=20),
        a_pod_line(10, "service"),
        {"at": 40, "delete": "Pod/default/service"},
        {"at": 50, "delete": "Node/n1"},
    ).at(5, 12, 35, 45)
    assert replayed.seen == {
        5: {"old": "Running n1"},
        12: {"old": "Running n1", "job": "Running n1", "service": "Running n1"},
        35: {"old": "Running n1", "job": "Succeeded n1", "service": "Running n1"},
        45: {"old": "Running n1", "job": "Succeeded n1"},
    }
    assert replayed.notes == ["replay: the replay of trace.jsonl is over: 50 s of the trace in 50 s, 6 events"]


def test_a_replay_may_be_faster(tmp_path: Path) -> None:
    replayed = Replayed(
        tmp_path, a_node_line(0, "n1"), a_pod_line(10, "job", runs=20), a_node_line(60, "n2"), speed=10
    ).at(0.5, 2, 4)
    assert replayed.seen == {0.5: {}, 2: {"job": "Running n1"}, 4: {"job": "Succeeded n1"}}
    assert replayed.seconds == pytest.approx(6, abs=0.1)


def test_changes_are_replayed(tmp_path: Path) -> None:
    replayed = Replayed(
        tmp_path,
        a_node_line(0, "n1", spec={"unschedulable": True}),
        a_pod_line(0, "waits"),
        a_pod_line(1, "gated", spec={"schedulingGates": [{"name": "g"}]}),
        a_node_line(10, "n1"),
        a_pod_line(20, "gated", "change", metadata={"labels": {"a": "b"}}),
        a_pod_line(21, "gone", "change"),
        a_node_line(30, "n2"),
    ).at(5, 15, 25)
    assert replayed.seen == {
        5: {"waits": "Unschedulable", "gated": "SchedulingGated"},
        15: {"waits": "Running n1", "gated": "SchedulingGated"},
        25: {"waits": "Running n1", "gated": "Running n1"},
    }


def test_what_traces_leave_out_is_filled_in(tmp_path: Path) -> None:
    selector = {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]}
    replica_set = a_line(0, "ReplicaSet", "web", version="apps/v1", spec={"selector": selector, "replicas": 3})
    owner = {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "web", "uid": "uid-of-web", "controller": True}
    job = {"apiVersion": "batch/v1", "kind": "Job", "name": "x", "uid": "elsewhere", "controller": True}
    replayed = Replayed(
        tmp_path,
        a_node_line(0, "n1"),
        a_line(0, "Service", "web", spec={"selector": {"app": "web"}}),
        a_line(
            0,
            "PersistentVolume",
            "v",
            namespace="",
            spec={"capacity": {"storage": "1Gi"}, "accessModes": ["ReadWriteOnce"]},
        ),
        replica_set,
        a_pod_line(1, "web-1", metadata={"ownerReferences": [owner]}),
        a_pod_line(1, "job-1", metadata={"ownerReferences": [job]}, namespace="elsewhere"),
        a_node_line(100, "n2"),
    ).at(90)
    # no controller makes others, and none collects a pod whose owner is not here
    assert replayed.seen == {90: {"web-1": "Running n1", "job-1": "Running n1"}}
    assert "refused" not in replayed.notes[-1]


def test_what_the_server_refuses_is_told(tmp_path: Path) -> None:
    replayed = Replayed(tmp_path, a_node_line(0, "n1"), a_pod_line(1, "Wrong_Name"), a_pod_line(2, "right")).at(5)
    assert replayed.seen == {5: {"right": "Running n1"}}
    assert 'Pod "Wrong_Name"' in replayed.notes[0]
    assert replayed.notes[-1].endswith("3 events, 1 of them refused")


def test_the_command_replays_a_trace() -> None:
    result = CliRunner().invoke(main, ["try", "--replay", str(EXAMPLE), "--speed", "1000"])
    assert result.exit_code == 0
    assert "replay: the replay of small.jsonl is over: 50 s of the trace" in result.output
    assert "2 nodes, 5 pods" in result.output


def test_a_trace_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    trace = tmp_path / "trace.jsonl"
    trace.write_text('{"at": 0, "from": "nothing", "name": "x"}\n')
    result = CliRunner().invoke(main, ["try", "--replay", str(trace)])
    assert result.exit_code == 1
    assert "trace.jsonl, line 1: there is no template 'nothing' above" in result.output
