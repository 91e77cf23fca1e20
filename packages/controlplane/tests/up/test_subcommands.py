"""`kubesched up status`, `up down` and `up --data`: clusters that others look after, and that last."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import msgspec
import pytest
from click.testing import CliRunner, Result
from tests.support.control_plane import Process, a_local_cluster
from tests.support.processes import eventually

from kubesched.cli import main
from kubesched_controlplane.named_clusters import find, locked
from kubesched_controlplane.up import status

pytestmark = pytest.mark.slow
SECONDS = 120.0
PODS = "/api/v1/namespaces/default/pods"
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i, resources: {requests: {cpu: CPU}}}]}
"""


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Let the names of clusters be those of this test alone."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "state" / "kubesched"


@pytest.fixture
def web(tmp_path: Path) -> str:
    file = tmp_path / "web.yaml"
    file.write_text(DEPLOYMENT.replace("CPU", "1"))
    return str(file)


def invoked(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["up", *arguments])


def tried(*arguments: str) -> Result:
    """Return the result of `kubesched try`."""
    return CliRunner().invoke(main, ["try", *arguments])


def ran(*arguments: str) -> "subprocess.CompletedProcess[str]":
    """Return what became of a process of its own."""
    command = [sys.executable, "-m", "kubesched", "up", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=SECONDS)


def pods(process: Process) -> dict[str, tuple[str, str]]:
    """Return UID and node of each pod of a cluster."""
    items = process.ask("GET", PODS)["items"]
    return {pod["metadata"]["name"]: (pod["metadata"]["uid"], pod["spec"].get("nodeName", "")) for pod in items}


def all_bound(process: Process, number: int) -> dict[str, tuple[str, str]]:
    """Return UID and node of each pod, once so many are bound."""

    def check() -> dict[str, tuple[str, str]] | None:
        found = pods(process)
        return found if len(found) == number and all(node for _, node in found.values()) else None

    return eventually(check, f"{number} pods are bound")


# -- status


def test_several_are_up_at_once_and_are_shown(web: str, state: Path) -> None:
    with a_local_cluster("--nodes", "2", "--cpu", "1", web) as first, a_local_cluster("--name", "dev") as second:
        assert first.kubeconfig == state / "default" / "kubeconfig"
        assert second.kubeconfig == state / "dev" / "kubeconfig"
        # one of three has no room
        eventually(lambda: [node for _, node in pods(first).values()].count("") == 1, "two pods are bound")
        result = ran("status")
        assert (result.returncode, result.stderr) == (0, "")
        header, *rows = (line.split() for line in result.stdout.splitlines())
        assert header == ["NAME", "STATUS", "NODES", "PODS", "NOT", "BOUND", "AGE", "PID", "KUBECONFIG"]
        shown = [(*row[:5], *row[6:]) for row in rows]
        assert shown == [
            ("default", "Up", "2", "3", "1", str(first.process.pid), str(first.kubeconfig)),
            ("dev", "Up", "0", "0", "0", str(second.process.pid), str(second.kubeconfig)),
        ]
        result = ran("status", "dev", "-o", "json")
        (document,) = msgspec.json.decode(result.stdout)["clusters"]
        assert document.pop("startedAt").endswith("Z")
        assert document == {
            "name": "dev",
            "status": "Up",
            "pid": second.process.pid,
            "url": second.url,
            "kubeconfig": str(second.kubeconfig),
            "nodes": 0,
            "pods": 0,
            "podsNotBound": 0,
            "reason": "",
        }


def test_nobody_is_up() -> None:
    result = invoked("status")
    assert (result.exit_code, result.stdout, result.stderr) == (
        0,
        "",
        "No cluster is up; start one with `kubesched up`.\n",
    )
    result = invoked("status", "-o", "json")
    assert (result.exit_code, msgspec.json.decode(result.stdout), result.stderr) == (0, {"clusters": []}, "")
    result = invoked("status", "dev")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr == "no cluster 'dev' is up; start one with `kubesched up`\n"


def test_one_that_is_being_started_and_one_that_does_not_answer_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(status, "PATIENCE_SECONDS", 5.0)
    config = tmp_path / "config"
    config.write_text(
        "{apiVersion: v1, kind: Config, clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}], "
        "users: [{name: u, user: {}}], contexts: [{name: x, context: {cluster: c, user: u}}], current-context: x}"
    )
    with locked("slow"), locked("stuck") as stuck, locked("torn") as torn:
        stuck.serves("http://127.0.0.1:1", config)
        torn.serves("http://127.0.0.1:1", tmp_path / "missing")
        result = invoked("status")
        slow = invoked("status", "slow")
    assert result.exit_code == 1
    statuses = [line.split()[:2] for line in result.stdout.splitlines()[1:]]
    assert statuses == [["slow", "Starting"], ["stuck", "NotAnswering"], ["torn", "NotAnswering"]]
    first, second = result.stderr.splitlines()
    assert first.startswith("cluster 'stuck' does not answer: ")
    assert second.startswith("cluster 'torn' does not answer: ")
    assert "missing" in second
    assert (slow.exit_code, slow.stderr) == (0, "")


def test_a_name_that_is_up_is_not_started_again(web: str) -> None:
    with a_local_cluster(web) as process:
        second = ran(web)
        assert (second.returncode, second.stdout) == (1, "")
        (line,) = second.stderr.splitlines()
        assert line.startswith(f"a cluster 'default' is up already, in process {process.process.pid}: ")
        for words in ("`kubesched up status`", "`kubesched up down default`", "--name"):
            assert words in line
        once = tried("--nodes", "3", web)
        assert (once.exit_code, once.stderr) == (0, ""), "whoever serves nobody needs no name"
        assert process.ask("GET", PODS)["kind"] == "PodList"


# -- down


def test_one_is_ended_by_its_name_and_then_all(state: Path) -> None:
    with (
        a_local_cluster("--nodes", "1") as first,
        a_local_cluster("--nodes", "1", "--name", "b") as second,
        a_local_cluster("--nodes", "1", "--name", "c") as third,
    ):
        result = invoked("down")
        assert (result.exit_code, result.stderr) == (0, "")
        assert result.stdout == f"Cluster 'default' (process {first.process.pid}) has ended.\n"
        assert first.process.wait(SECONDS) == 0
        result = invoked("down")
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == "no cluster 'default' is up; running clusters: b, c\n"
        result = invoked("down", "--all")
        assert result.exit_code == 0
        assert result.stdout.splitlines() == [
            f"Cluster 'b' (process {second.process.pid}) has ended.",
            f"Cluster 'c' (process {third.process.pid}) has ended.",
        ]
        assert (second.process.wait(SECONDS), third.process.wait(SECONDS)) == (0, 0)
    assert list(state.iterdir()) == []
    result = invoked("down", "--all")
    assert (result.exit_code, result.stdout) == (0, "No cluster is up.\n")


def test_one_that_does_not_end_in_time_is_told(web: str) -> None:
    with a_local_cluster(web) as process:
        process.process.send_signal(signal.SIGSTOP)
        result = invoked("down", "--timeout", "100ms")
        process.process.send_signal(signal.SIGCONT)
        pid = process.process.pid
        assert (result.exit_code, result.stdout) == (1, "")
        assert result.stderr == (
            f"cluster 'default' (process {pid}) has not ended within 100ms (--timeout); run `kill -9 {pid}` to end it\n"
        )
        assert process.process.wait(SECONDS) == 0, "the signal was not lost"


def test_a_file_of_that_name_can_still_be_given(web: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    os.rename(web, "status")
    result = tried("--nodes", "1", "./status")
    assert result.exit_code == 0
    assert "1 node, 3 pods: 3 bound." in result.stdout
    assert invoked("status").stdout == ""
    for name in ("status", "down"):
        result = invoked(name, "--help")
        assert result.stdout.startswith(f"Usage: main up {name} [OPTIONS] [NAME]")
    assert "  status  Show the running clusters." in invoked("--help").stdout


# -- data


def test_a_cluster_goes_on_where_it_was_killed(web: str, tmp_path: Path) -> None:
    data = tmp_path / "data"
    arguments = ("--data", str(data), "--nodes", "2", "--cpu", "1", web)
    with a_local_cluster(*arguments) as process:
        assert process.kubeconfig == data / "kubeconfig"
        config = process.kubeconfig.read_text()
        eventually(lambda: [node for _, node in pods(process).values()].count("") == 1, "two of three are bound")
        before = pods(process)
        process.process.kill()
        process.process.wait()
    assert find("default") is None
    with a_local_cluster(*arguments[:2], "--nodes", "3", "--cpu", "1", web) as process:
        assert process.kubeconfig.read_text() == config, "clients need not notice"
        assert "objects loaded: 1." in process.lines[0], "the third node"
        after = all_bound(process, 3)
        assert {name: uid for name, (uid, _) in after.items()} == {name: uid for name, (uid, _) in before.items()}
        assert all(after[name][1] == node for name, (_, node) in before.items() if node), "nobody moves"
        assert len(process.ask("GET", "/api/v1/nodes")["items"]) == 3
        scale = {"spec": {"replicas": 2}, "metadata": {"name": "web", "namespace": "default"}}
        process.ask("PUT", "/apis/apps/v1/namespaces/default/deployments/web/scale", scale)
        eventually(lambda: len(pods(process)) == 2, "controllers go on, too")
        code, _, err = process.end()
        assert (code, err) == (0, "3 objects were there already and stay unchanged.\n")
    once = tried("--data", str(data))
    assert (once.exit_code, once.stderr) == (0, "")
    assert once.stdout.splitlines()[-1] == "3 nodes, 2 pods: 2 bound."


def test_a_folder_is_for_one_at_a_time_and_a_start_that_fails_leaves_nothing(web: str, tmp_path: Path) -> None:
    data = str(tmp_path / "data")
    result = tried("--data", data, web)
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.startswith("there are no nodes")
    with a_local_cluster("--data", data) as process:
        assert pods(process) == {}
        result = tried("--data", data, web)
        assert (result.exit_code, result.stderr) == (1, f"{data}/state.db: is in use by another process\n")
