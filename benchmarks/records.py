"""`python -m benchmarks.records`: what the record of decisions costs the scheduling loop, without any I/O.

Two schedulers with metrics, as `kubesched run` has them, take the same pods in turns, a slice of them each: through the
inbox, the queue, the cycle, and a binding that succeeds at once. One of them has a record of decisions, whose ring is
full. Each is a process of its own, since the interpreter adapts its code to what it calls; several pairs run one after
the other, since processes differ by chance in where their memory is. Compared are the fastest slices of both in
processor time, a tenth of them: those that nothing else on the machine disturbed. --idle compares two schedulers
without a record: so much differs by chance.

Details of decisions are left out: their budget is a share of the time that passes, so on a machine with other work,
and with two schedulers in turns, they would take several times that share. `recorder.DETAIL_SHARE` is to be added;
--details gathers them nevertheless.
"""

import argparse
import asyncio
import gc
import subprocess
import sys
import time
from collections.abc import Iterator
from typing import Any, NamedTuple

from benchmarks.measure import fill
from benchmarks.workloads import WORKLOADS, Workload
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.common.garbage_collection import collect_seldom
from kubesched.core.assembly import build_scheduler
from kubesched.core.framework.observing.observer import Bound, ChosenNode, Observer, Observers
from kubesched.core.framework.values.effects import Effect
from kubesched.core.loop.scheduler import Scheduler
from kubesched.serving.decisions.recorder import DecisionRecorder
from kubesched.serving.metrics.registry import MetricRegistry
from kubesched.serving.metrics.scheduler_metrics import SchedulerMetrics
from kubesched.testing import a_pod

DEFAULT = (
    "plain",
    "ReplicaSet with a Service",
    "hard zone spread",
    "soft zone spread",
    "required affinity (zone)",
    "preferred anti-affinity (host)",
    "unschedulable",
    "preemption",
)
SLOW = {"unschedulable": 2, "preemption": 10}
# pods of a slice: so few that many slices are not disturbed
SLICE = 10


class Standstill:
    """A clock that stands still before the time at which the budget of details begins."""

    def __init__(self) -> None:
        self._now = 0.0

    def __call__(self) -> float:
        """Return 0 at first, then a time before."""
        now, self._now = self._now, -1.0
        return now


class NoEffects:
    """Effects that succeed at once."""

    async def perform(self, effect: Effect) -> ApiObject | None:
        """Do nothing."""
        return None

    def submit(self, *effects: Effect) -> None:
        """Do nothing."""


class Subject:
    """A scheduler on a cluster of a workload, with or without a record."""

    def __init__(self, workload: Workload, nodes: int, *, recorded: bool, details: bool = False) -> None:
        self.recorder = DecisionRecorder(clock=time.perf_counter if details else Standstill()) if recorded else None
        observers: list[Observer] = [SchedulerMetrics(MetricRegistry(others=None))]
        if self.recorder is not None:
            observers.append(self.recorder)
        together = Observers(observers, clock=time.perf_counter, note=print)
        self.scheduler: Scheduler = build_scheduler(NoEffects(), workload.config or None, observers=together)
        fill(self.scheduler.cluster, workload, nodes)
        if self.recorder is not None:
            self._fill(self.recorder)

    def _fill(self, recorder: DecisionRecorder) -> None:
        """Record placements until the ring is full."""
        read, number, ring = self.scheduler.cluster.reader.read, 0, recorder.ring
        while ring.recorded == len(ring):
            pod = read(a_pod(f"earlier-{number:06}", uid=f"{number:08}-0000-4000-8000-000000000000"))
            recorder.node_chosen(ChosenNode(pod, f"node-{number}", 1, 5000 + number, 1e-4 * number, lambda: None))
            recorder.pod_bound(Bound(pod, "", "", 1, 1e-4 * number, 0.0, False, 5000 + number, 0))
            number += 1

    async def take(self, pods: list[Pod]) -> float:
        """Schedule pods; return the processor time."""
        scheduler = self.scheduler
        began = time.process_time()
        for pod in pods:
            scheduler.put(pod)
        scheduler.inbox.drain(scheduler.apply, float("inf"), scheduler.now)
        for _ in pods:
            await scheduler.attempt_next()
        for _ in range(10):
            await asyncio.sleep(0)
            scheduler.inbox.drain(scheduler.apply, float("inf"), scheduler.now)
        return time.process_time() - began


# -- the process of a scheduler: it takes a slice for each line that it reads, and writes the time


async def serve(workload: Workload, options: Any) -> None:
    """Take slices until the input ends; then write what the record has."""
    # as `kubesched run` does
    collect_seldom()
    subject = Subject(workload, options.nodes, recorded=options.child == "recorded", details=options.details)
    part = 0
    gc.collect()
    gc.freeze()
    for _ in sys.stdin:
        incoming = [workload.pod(part * SLICE + number) for number in range(SLICE)]
        print(await subject.take(incoming), flush=True)
        part += 1
    if subject.recorder is not None:
        decisions = subject.recorder.ring.page(limit=part * SLICE).decisions
        print(sum(record.detailed for record in decisions) / max(1, len(decisions)), flush=True)


class Scheduling:
    """A process with a scheduler."""

    def __init__(self, name: str, workload: str, options: Any) -> None:
        words = ["--child", name, "--only", workload, "--nodes", str(options.nodes)]
        words += ["--details"] if options.details else []
        command = [sys.executable, "-m", "benchmarks.records", *words]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def take(self) -> float:
        """Return the processor time of the next slice."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write("\n")
        self._process.stdin.flush()
        return float(self._process.stdout.readline())

    def end(self) -> str:
        """End the process; return what it writes at last."""
        return self._process.communicate()[0]


# -- comparing


class Comparison(NamedTuple):
    """A pair of schedulers: the microseconds a pod without and with a record, and how many decisions have details."""

    before: float
    after: float
    detailed: float


def compare(workload: str, options: Any) -> Comparison:
    """Return what a record costs, from one pair of processes."""
    names = ("without", "without" if options.idle else "recorded")
    pair = [Scheduling(name, workload, options) for name in names]
    took: tuple[list[float], list[float]] = ([], [])
    for part in range(options.pods // SLOW.get(workload, 1) // SLICE):
        for which in (0, 1) if part % 2 else (1, 0):
            took[which].append(pair[which].take())
    said = [each.end() for each in pair][1]
    # the first slices are slower, and details have something saved up
    warm = len(took[0]) // 10
    before, after = (fastest(slices[warm:]) for slices in took)
    return Comparison(before, after, float(said or 0))


def fastest(slices: list[float]) -> float:
    """Return the microseconds a pod in the fastest tenth of the slices."""
    kept = sorted(slices)[: max(1, len(slices) // 10)]
    return 1e6 * sum(kept) / len(kept) / SLICE


def chosen(only: str) -> Iterator[Workload]:
    """Yield the workload of this name; without one, those whose name contains it."""
    named = [workload for workload in WORKLOADS if workload.name == only]
    yield from named or (each for each in WORKLOADS if each.name in DEFAULT and only in each.name)


def main() -> None:
    """Print a line for each workload."""
    parser: Any = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=5000, help="pods of a pair")
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--details", action="store_true")
    parser.add_argument("--idle", action="store_true", help="compare two schedulers without a record")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    for workload in chosen(options.only):
        if options.child:
            asyncio.run(serve(workload, options))
            return
        pairs = [compare(workload.name, options) for _ in range(options.pairs)]
        before, after = (sum(each) / len(pairs) for each in zip(*(pair[:2] for pair in pairs), strict=True))
        percents = " ".join(f"{100 * (pair.after / pair.before - 1):+.1f}" for pair in pairs)
        print(
            f"{workload.name:32} {before:8.1f} {after:8.1f} us  {100 * (after / before - 1):+5.1f} % ({percents})  "
            f"detailed {100 * pairs[0].detailed:4.0f} %",
            flush=True,
        )


if __name__ == "__main__":
    main()
