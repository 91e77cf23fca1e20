"""`python -m benchmarks.living` as a command, with tiny clusters."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import pytest
from benchmarks.living.counting import CAUGHT_UP, DIGESTS, EVALUATED, READ, counting

from kubesched.api.resources import RequestOptions
from kubesched.core.cluster.following import RowwiseColumn
from kubesched.core.cluster.pod_info import PodReader
from kubesched.testing import VirtualScheduler, a_node, a_pod

TINY = ("--nodes=5", "--running=20", "--stuck=1", "--templates=10", "--warm=1", "--new-node-every=4", "--node-life=4")


def living(*words: str, seconds: float = 120) -> "subprocess.CompletedProcess[str]":
    """Run the benchmark."""
    command = [sys.executable, "-m", "benchmarks.living", *TINY, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=seconds, check=False)


def rows(file: Path, target: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = msgspec.json.decode(file.read_bytes())["rows"][target]
    return found


def test_the_engine_lives_in_virtual_time(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    done = living("--targets=engine", "--rates=0,10", "--seconds=20", "--patience=5", f"--json={file}")
    assert done.returncode == 0, done.stderr
    idle, busy = rows(file, "engine")
    assert busy["created"] == busy["bound"] > 100 > 10 > idle["created"]
    assert busy["engine"]["log_records"] > busy["engine"]["bound"]
    assert busy["engine"]["columns_caught_up"] > 0
    assert 0 < busy["engine"]["digests"] <= busy["engine"]["pods_read"]
    assert "digests a status report" in done.stdout


def test_pods_that_are_never_bound_are_counted_and_fail_the_benchmark() -> None:
    done = living("--targets=engine", "--nodes=1", "--running=60", "--rates=50", "--seconds=20", "--new-node-every=0")
    assert done.returncode == 1
    assert "pods were never bound" in done.stdout


def test_an_unknown_target_is_named() -> None:
    done = living("--targets=elsewhere")
    assert done.returncode == 1
    assert "there is no target 'elsewhere'" in done.stderr


def test_calls_are_counted_only_inside_of_the_block() -> None:
    reader = PodReader(RequestOptions())
    before = vars(PodReader)[READ], vars(RowwiseColumn)[CAUGHT_UP]
    with counting() as counts:
        reader.read(a_pod("p"))
        reader.read(a_pod("q"))
        with VirtualScheduler() as world:
            world.put(a_node("n"), a_pod("p"))
            world.run(seconds=5)
    assert counts[READ] > 2
    assert counts[DIGESTS] >= 1
    assert counts[EVALUATED] > 0
    assert (vars(PodReader)[READ], vars(RowwiseColumn)[CAUGHT_UP]) == before
    reads = counts[READ]
    reader.read(a_pod("r"))
    assert counts[READ] == reads


@pytest.mark.slow
def test_a_scheduler_works_in_a_living_embedded_cluster(tmp_path: Path) -> None:
    file = tmp_path / "figures.json"
    done = living("--targets=embedded", "--rates=0,10", "--seconds=5", f"--json={file}")
    assert done.returncode == 0, done.stderr
    _, busy = rows(file, "embedded")
    assert busy["bound"] > 20
    assert busy["from_creation"]["p50"] > 0
    assert busy["events_read"] > busy["bound"]
    assert busy["events_written"] >= busy["bound"]
    assert busy["memory_peak_mib"] >= busy["memory_end_mib"] > 10


@pytest.mark.slow
def test_a_subject_that_ends_early_is_named_with_the_end_of_its_log() -> None:
    done = living("--targets=embedded", "--rates=5", "--seconds=5", "--subject=sh -c 'echo a bad flag; exit 3'")
    assert done.returncode == 1
    assert "ended with exit code 3:\na bad flag" in done.stderr
    assert "Traceback" not in done.stderr
