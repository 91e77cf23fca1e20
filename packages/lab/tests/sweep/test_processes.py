"""Workers that are processes: reports do not depend on them, nor on their deaths."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.slow

# a plugin that kills the process it runs in: always, or once in a sweep
DEADLY = """
import os, signal
from pathlib import Path
from kubesched import filter_plugin

@filter_plugin("Deadly")
def deadly(pod, node):
    marker = Path("killed")
    if ALWAYS or not marker.exists():
        marker.touch()
        os.kill(os.getpid(), signal.SIGKILL)
"""
CONFIG = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Deadly"}]}}}],
}


def sweep(*words: str, results: str = "results") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kubesched", "sweep", "sweep.yaml", "-o", "json", "--results", results, *words]
    return subprocess.run(command, capture_output=True, text=True, timeout=500, check=False)


def workers_of(pid: int) -> Sequence[int]:
    children = [int(each) for each in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    return [each for each in children if b"spawn_main" in Path(f"/proc/{each}/cmdline").read_bytes()]


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_the_number_of_workers_makes_no_difference(write_sweep: Any) -> None:
    write_sweep(nodes=[1, 2], seeds="1-6")
    one, three = sweep("--workers", "1", results="one"), sweep("--workers", "3", results="three")
    assert one.returncode == three.returncode == 0, three.stderr
    assert one.stdout == three.stdout
    assert Path("one/runs.parquet").read_bytes() == Path("three/runs.parquet").read_bytes()


@pytest.mark.parametrize("always", [False, True])
def test_a_killed_worker_is_told_and_the_other_runs_go_on(write_sweep: Any, always: bool) -> None:
    Path("deadly.py").write_text(f"ALWAYS = {always}\n{DEADLY}")
    write_sweep(plugins=["deadly.py"], configurations=[{}, {"name": "deadly", "inline": CONFIG}], seeds="1-4")
    ran = sweep("--workers", "2")
    killed = re.findall(
        r"tiny, deadly, seed \d: its worker was killed \(SIGKILL: out of memory\?\); the run is", ran.stderr
    )
    if always:
        assert ran.returncode == 3
        assert len(killed) == 8
        assert "tiny, deadly, seed 3: failed: its worker was killed (SIGKILL: out of memory?), 3 times" in ran.stderr
        assert "4 of 8 runs done, 4 failed" in ran.stderr
    else:
        assert ran.returncode == 0, ran.stderr
        assert 1 <= len(killed) <= 2
        assert ran.stdout == sweep("--workers", "1", results="again").stdout


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_ends_workers_at_once_and_results_are_kept(write_sweep: Any, how: signal.Signals) -> None:
    write_sweep(seeds="1-2000", until="30s")
    command = [sys.executable, "-m", "kubesched", "sweep", "sweep.yaml", "--results", "results", "--workers", "2"]
    # a group of its own, as a shell makes one: Ctrl-C reaches all of it
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, process_group=0) as process:
        runs = Path("results/runs")
        while not list(runs.glob("part-*.parquet")):
            assert process.poll() is None, process.communicate()
            time.sleep(0.01)
        workers = workers_of(process.pid)
        if how is signal.SIGINT:
            os.killpg(process.pid, how)
        else:
            process.send_signal(how)
        told = process.communicate(timeout=60)[1]
    assert process.returncode in (1, 130)
    assert "Traceback" not in told
    assert "interrupted: finished runs are in results; continue with --resume" in told
    assert len(workers) == 2
    assert not any(alive(worker) for worker in workers)
    assert list(runs.glob("part-*.parquet"))
    command = [sys.executable, "-m", "kubesched", "sweep", "show", "results", "-o", "csv", "--figures", "pods.bound"]
    shown = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    assert "missing: tiny, default, seed 2000: not done" in shown.stderr or "more" in shown.stderr
    assert shown.stdout.count("pods.bound") == 1
