"""`kubesched record` as people call it: what it says, and how it ends."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from click.testing import CliRunner, Result
from tests.support.control_plane import a_local_cluster
from tests.support.processes import eventually
from tests.support.served_cluster import a_served_cluster

from kubesched.cli import main

NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "node-1"}, "status": {"capacity": {"cpu": "4"}}}
HEADER = b'{"recording": {"version": 1, "began": "2026-01-01T00:00:00Z"}}\n'


def record(*arguments: object) -> Result:
    return CliRunner().invoke(main, ["record", *map(str, arguments)])


def test_a_cluster_is_recorded_for_a_while(tmp_path: Path) -> None:
    file = tmp_path / "a.jsonl"
    with a_served_cluster(tmp_path, NODE) as served:
        result = record(file, "--for", "100ms", "--kubeconfig", served.kubeconfig())
        assert result.exit_code == 0, result.output
        again = record(file, "--kubeconfig", served.kubeconfig())
        resumed = record(file, "--for", "100ms", "--resume", "--kubeconfig", served.kubeconfig())
    assert f"{file}: 0 s recorded, 0 events, " in result.output
    assert "Node" in file.read_text()
    assert again.exit_code == 1
    assert "exists already: continue it with --resume, or name another file" in again.output
    assert resumed.exit_code == 0, resumed.output


@pytest.mark.parametrize(
    ("arguments", "code", "why"),
    [
        (["a.txt"], 2, "expected a name that ends in .jsonl or .jsonl.gz"),
        (["a.jsonl", "--for", "soon"], 2, "'soon' is not a duration such as 30s or 2h"),
        (["a.jsonl", "--until-size", "big"], 2, "'big' is not a size such as 100Mi"),
        (["a.jsonl", "--max-events", "0"], 2, "0 is not in the range x>=1"),
        (["a.jsonl", "--resume", "--anonymise"], 2, "the key of the codes is not stored"),
        (["missing.jsonl", "--resume"], 1, "no such recording: leave out --resume to begin one"),
        (["there.jsonl", "--kubeconfig", "missing"], 1, "missing"),
        (["new.jsonl", "-s", "https://127.0.0.1:1"], 1, "the cluster cannot be recorded: cannot connect"),
    ],
)
def test_what_cannot_be_recorded_is_told(tmp_path: Path, arguments: list[str], code: int, why: str) -> None:
    (tmp_path / "there.jsonl").write_bytes(HEADER)
    name, *options = arguments
    if "missing" not in options:
        config: dict[str, Any] = {"clusters": [{"name": "c", "cluster": {"server": "https://127.0.0.1:1"}}]}
        config |= {"contexts": [{"name": "c", "context": {"cluster": "c"}}], "current-context": "c"}
        (tmp_path / "kubeconfig").write_bytes(msgspec.json.encode(config))
        options += ["--kubeconfig", str(tmp_path / "kubeconfig")]
    result = record(tmp_path / name, *options)
    assert (result.exit_code, why in result.output) == (code, True), result.output
    assert not (tmp_path / "new.jsonl").exists()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_however_it_ends_the_file_can_be_simulated(tmp_path: Path, number: signal.Signals) -> None:
    file = tmp_path / "a.jsonl.gz"
    with a_local_cluster("--nodes", "2", "--name", f"recorded-{number}") as cluster:
        process = subprocess.Popen(
            [sys.executable, "-m", "kubesched", "record", str(file)],
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "KUBECONFIG": str(cluster.kubeconfig)},
        )
        try:
            eventually(lambda: file.exists() and file.stat().st_size > 0, "the recording begins")
            spec = {"containers": [{"name": "main", "image": "i"}], "restartPolicy": "Never"}
            cluster.ask("POST", "/api/v1/namespaces/default/pods", {"metadata": {"name": "job"}, "spec": spec})
            size = file.stat().st_size
            eventually(lambda: file.stat().st_size > size, "the pod is recorded")
            process.send_signal(number)
            _, said = process.communicate(timeout=60)
        finally:
            process.kill()
            process.communicate()
    assert said.count("recording its changes from now on") == 1
    if number != signal.SIGKILL:
        assert process.returncode == 0
        assert " s recorded, " in said
    result = CliRunner().invoke(main, ["simulate", str(file), "-o", "json"])
    assert result.exit_code == 0, result.output
    assert msgspec.json.decode(result.stdout)
