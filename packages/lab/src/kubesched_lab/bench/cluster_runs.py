"""Benchmarks on clusters: the embedded control plane, started for the run, or any cluster of a kubeconfig.

From a workload and schedulers to results, one for each scheduler. Schedulers that are commands run only during their
measurement. The cluster is cleaned up after each of them.
"""

import asyncio
import signal
import sys
import tempfile
import threading
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path

import msgspec

from kubesched.client.credentials.rest_config import load_rest_config
from kubesched.client.rest import Refused, RestClient, Unreachable
from kubesched.common.notes import Note
from kubesched.errors import KubeconfigError
from kubesched_lab.bench.child_process import ChildProcess, child_process
from kubesched_lab.bench.cluster_target import ClusterTarget, strangers
from kubesched_lab.bench.errors import BenchError
from kubesched_lab.bench.executor import run_workload
from kubesched_lab.bench.figures import RunResult
from kubesched_lab.bench.scheduler_process import READY_SECONDS, SchedulerCommand, running_scheduler
from kubesched_lab.simulate.traces.perf.perf_cases import PerfRun

CLUSTERS_OWN = "the cluster's scheduler"
CONNECTIONS = 40


class ClusterBench(msgspec.Struct, frozen=True):
    """The options of a run on a cluster; without a kubeconfig the embedded one, without commands with its own
    scheduler.
    """

    schedulers: list[SchedulerCommand]
    kubeconfig: Path | None = None
    scheduler_kubeconfig: Path | None = None
    config: Path | None = None
    patience: float = 600.0
    yes: bool = False
    tell: Note = lambda line: None


async def run_on_cluster(run: PerfRun, bench: ClusterBench, turn: int = 0) -> list[RunResult]:
    """Run a workload with each scheduler, in reverse order every other turn; raises KubeschedError."""
    commands: Sequence[SchedulerCommand | None] = bench.schedulers or [None]
    _end_gently_on_sigterm()
    results = [
        await _run(run, bench, command, turn) for command in (commands if turn % 2 == 0 else list(reversed(commands)))
    ]
    return results if turn % 2 == 0 else list(reversed(results))


def _end_gently_on_sigterm() -> None:
    """Let SIGTERM act as Ctrl-C does: end the run, and clean up."""
    task = asyncio.current_task()
    if task is not None and threading.current_thread() is threading.main_thread():
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)


async def _run(run: PerfRun, bench: ClusterBench, command: SchedulerCommand | None, turn: int) -> RunResult:
    name = command.name if command is not None else CLUSTERS_OWN
    async with AsyncExitStack() as stack:
        if bench.kubeconfig is None:
            admin, scheduler = await stack.enter_async_context(embedded_control_plane(run))
        else:
            admin, scheduler = bench.kubeconfig, bench.scheduler_kubeconfig or bench.kubeconfig
        rest = RestClient(load_rest_config(str(admin)), "kubesched-bench", most_connections=CONNECTIONS)
        stack.push_async_callback(rest.close)
        if bench.kubeconfig is not None and not bench.yes:
            await _refuse_strangers(rest)
        process = None
        if command is not None:
            process = await stack.enter_async_context(running_scheduler(command, run, bench.config, scheduler))
        target = ClusterTarget(rest, process)
        if bench.kubeconfig is not None:
            # the objects of an embedded control plane end with it
            stack.push_async_callback(_cleaned, target, bench.tell)
        await target.start()
        return RunResult(run.name, name, await run_workload(run, target, bench.tell, bench.patience), turn)


async def _cleaned(target: ClusterTarget, tell: Note) -> None:
    tell("cleaning up")
    await target.clean_up()


async def _refuse_strangers(rest: RestClient) -> None:
    found = [plural async for plural in strangers(rest)]
    if found:
        raise BenchError(
            f"the cluster has {' and '.join(found)}: a benchmark creates nodes and pods, and its pods may run on your "
            "nodes; use --yes to run it anyway"
        )


@asynccontextmanager
async def embedded_control_plane(run: PerfRun) -> AsyncIterator[tuple[Path, Path]]:
    """Run an API server until the block ends; yield the kubeconfigs of an administrator and of a scheduler.

    Controllers and nodes are simulated if pods need claims from templates; otherwise only the scheduler acts.
    """
    simulate = "--simulate" if run.feature_gates.get("DynamicResourceAllocation") else "--no-simulate"
    with tempfile.TemporaryDirectory(prefix="kubesched-bench-") as name:
        admin, scheduler = Path(name, "admin"), Path(name, "scheduler")
        words = [sys.executable, "-m", "kubesched", "controlplane", simulate]
        words += ["--kubeconfig", str(admin), "--scheduler-kubeconfig", str(scheduler)]
        async with child_process(words, Path(name)) as child:
            await _until_ready(child, admin)
            yield admin, scheduler


async def _until_ready(child: ChildProcess, kubeconfig: Path) -> None:
    loop = asyncio.get_running_loop()
    ends = loop.time() + READY_SECONDS
    while loop.time() < ends and child.exit_code is None:
        try:
            rest = RestClient(load_rest_config(str(kubeconfig)), "kubesched-bench")
        except KubeconfigError:
            await asyncio.sleep(0.1)
            continue
        try:
            await rest.get("/readyz")
            return
        except (Refused, Unreachable):
            await asyncio.sleep(0.1)
        finally:
            await rest.close()
    raise BenchError(f"the embedded control plane did not start: {child.last_words()}")
