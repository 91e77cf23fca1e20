"""Benchmarks of the engine, each in a separate process, so that its peak memory can be measured.

From a workload to its result: a child process runs the same command for this workload alone, and writes JSON.
"""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import msgspec

from kubesched.cli.event_loop import run_loop
from kubesched.common.garbage_collection import collect_seldom
from kubesched.common.notes import Note
from kubesched.core.framework.building.registry import Registry
from kubesched_lab.bench.engine_target import EngineFactory
from kubesched_lab.bench.errors import BenchError
from kubesched_lab.bench.executor import run_workload
from kubesched_lab.bench.figures import Measured, RunResult
from kubesched_lab.bench.results import BenchmarkResults
from kubesched_lab.bench.scheduler_config import engine_config
from kubesched_lab.simulate.traces.perf.perf_cases import PerfRun

ENGINE = "kubesched engine"


def run_in_process(
    run: PerfRun,
    config: Path | None,
    registry: Registry,
    note: Note,
    patience: float,
    tell: Note = lambda line: None,
) -> RunResult:
    """Run a workload on the engine in this process; raises KubeschedError."""
    factory = EngineFactory(engine_config(run, config, registry, note), registry, note=note)

    async def measured() -> list[Measured]:
        async with factory.running() as target:
            return await run_workload(run, target, tell, patience)

    collect_seldom()
    return RunResult(run.name, ENGINE, run_loop(measured()))


def run_in_child(run: PerfRun, options: Sequence[str]) -> RunResult:
    """Run a workload on the engine in a child process, whose notes go to standard error; raises BenchError."""
    words = ["bench", f"{run.file}#{run.name}", "--in-process", "-o", "json", *options]
    done = subprocess.run([sys.executable, "-m", "kubesched", *words], stdout=subprocess.PIPE, check=False)
    if done.returncode:
        raise BenchError(f"{run.name}: the run failed (exit code {done.returncode})")
    return msgspec.json.decode(done.stdout, type=BenchmarkResults).results[0]
