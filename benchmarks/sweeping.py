"""`python -m benchmarks.sweeping`: how well a sweep uses the cores, and what a killed worker costs it.

A sweep of 200 runs, in a process of its own. Once there are results one of its workers is killed. The share of the
cores is the processor time of the sweep and its workers, of all that the cores had. On a machine with other work it is
lower; what would be used otherwise is that and the time for which they waited for a core, as Linux tells it.
"""

import os
import platform
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import suppress
from pathlib import Path

import click

WORKLOAD = """
apiVersion: simulate.kubesched.io/v1alpha1
kind: Workload
until: 20m
nodes: [{name: node, count: 100, cpu: 16, memory: 64Gi, zones: 3}]
pods:
- {name: batch, arrivals: {rate: 1}, runs: {exponential: 5m}, cpu: {choice: {"1": 3, "4": 1}}, memory: 2Gi}
"""
SWEEP = """
apiVersion: simulate.kubesched.io/v1alpha1
kind: Sweep
traces: [workload.yaml]
configurations:
- name: fit
  set: {"profiles[0].plugins.score.enabled[NodeResourcesFit].weight": [1, 10]}
nodes: [0.75, 1]
seeds: 1-%d
"""


class Waits:
    """How long a sweep and its workers waited for a core, in seconds; looked at until it ends."""

    def __init__(self, sweep: int) -> None:
        self._sweep = sweep
        self._waited: dict[str, int] = {}
        threading.Thread(target=self._look, daemon=True).start()

    def _look(self) -> None:
        while True:
            for pid in (self._sweep, *workers_of(self._sweep)):
                for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
                    with suppress(OSError):
                        self._waited[str(file)] = int(file.read_text().split()[1])
            time.sleep(0.1)

    @property
    def seconds(self) -> float:
        return sum(self._waited.values()) / 1e9


def workers_of(sweep: int) -> list[int]:
    try:
        children = Path(f"/proc/{sweep}/task/{sweep}/children").read_text().split()
        return [int(pid) for pid in children if b"spawn_main" in Path(f"/proc/{pid}/cmdline").read_bytes()]
    except OSError:
        return []


def kill_one(sweep: int, when: Path, killed: list[int]) -> None:
    """Kill a worker of a sweep once its first results are there."""
    while not list(when.glob("part-*")):
        time.sleep(0.05)
    pid = workers_of(sweep)[0]
    os.kill(pid, signal.SIGKILL)
    killed.append(pid)


@click.command()
@click.option("--runs", default=200, show_default=True)
@click.option("--workers", default=os.cpu_count() or 1, show_default=True)
@click.option("--kill/--no-kill", default=True, show_default=True, help="Kill a worker on the way.")
def main(runs: int, workers: int, kill: bool) -> None:
    """Measure a sweep."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "workload.yaml").write_text(WORKLOAD)
        Path(folder, "sweep.yaml").write_text(SWEEP % (runs // 4))
        command = [sys.executable, "-m", "kubesched", "sweep", "sweep.yaml", "--workers", str(workers), "-o", "json"]
        began, before = time.monotonic(), resource.getrusage(resource.RUSAGE_CHILDREN)
        killed: list[int] = []
        with subprocess.Popen(
            command, cwd=folder, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True
        ) as process:
            waits = Waits(process.pid)
            if kill:
                parts = Path(folder, "sweep-results", "runs")
                threading.Thread(target=kill_one, args=(process.pid, parts, killed), daemon=True).start()
            told = process.communicate()[1]
        took, after = time.monotonic() - began, resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    done = re.findall(r"(\d+) of \d+ runs done", told)[-1]
    print(f"{done} runs done of {runs // 4 * 4}, {len(killed)} workers killed, exit code {process.returncode}")
    print(f"{took:.1f} s, {used:.1f} s of processor time, {used / workers / took:.0%} of {workers} cores", end="")
    print(f"; {waits.seconds:.1f} s waited for one, with that {(used + waits.seconds) / workers / took:.0%}")
    print(f"Python {platform.python_version()}, {os.cpu_count()} CPUs, {platform.machine()}")


if __name__ == "__main__":
    main()
