"""`python -m benchmarks.records`: what the record of decisions costs the scheduling loop, without any I/O.

Two schedulers with metrics, as `kubesched run` has them, one of them with a record of decisions, take the same pods in
turns, a slice of them each: through the inbox, the queue, the cycle, and a binding that succeeds at once. Compared are
the fastest slices of both in processor time, a tenth of them: those that nothing else on the machine disturbed. Details
of decisions are left out: their budget is a share of the time that passes, so on a machine with other work, and with
two schedulers in turns, they would take several times that share. `detail_budget.SHARE` is to be added; --details
gathers them nevertheless.
"""

import argparse
import asyncio
import gc
import time
from typing import Any

from benchmarks.measure import fill
from benchmarks.workloads import WORKLOADS, Workload
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.common.garbage_collection import collect_seldom
from kubesched.core.assembly import build_scheduler
from kubesched.core.framework.effects import Effect
from kubesched.core.framework.observer import Observer, Observers
from kubesched.core.loop.scheduler import Scheduler
from kubesched.serving.decisions.recorder import DecisionRecorder
from kubesched.serving.metrics.registry import MetricRegistry
from kubesched.serving.metrics.scheduler_metrics import SchedulerMetrics

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
SLOW = {"unschedulable": 4, "preemption": 10}
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

    def __init__(self, workload: Workload, nodes: int, *, recorded: bool, details: bool) -> None:
        self.recorder = DecisionRecorder(clock=time.perf_counter if details else Standstill()) if recorded else None
        observers: list[Observer] = [SchedulerMetrics(MetricRegistry(others=None))]
        if self.recorder is not None:
            observers.append(self.recorder)
        together = Observers(observers, clock=time.perf_counter, note=print)
        self.scheduler: Scheduler = build_scheduler(NoEffects(), workload.config or None, observers=together)
        fill(self.scheduler.cluster, workload, nodes)

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


async def compare(
    workload: Workload, nodes: int, pods: int, *, details: bool
) -> tuple[list[float], list[float], DecisionRecorder]:
    """Return the processor time of each slice without and with a record, and the record."""
    subjects = [Subject(workload, nodes, recorded=recorded, details=details) for recorded in (False, True)]
    took: tuple[list[float], list[float]] = ([], [])
    gc.collect()
    gc.freeze()
    for part in range(pods // SLICE):
        incoming = [workload.pod(part * SLICE + number) for number in range(SLICE)]
        for which in (0, 1) if part % 2 else (1, 0):
            took[which].append(await subjects[which].take(incoming))
    gc.unfreeze()
    recorder = subjects[1].recorder
    assert recorder is not None
    # the first slices are slower, and details have something saved up
    warm = len(took[0]) // 10
    return took[0][warm:], took[1][warm:], recorder


def fastest(slices: list[float]) -> float:
    """Return the microseconds a pod in the fastest tenth of the slices."""
    kept = sorted(slices)[: max(1, len(slices) // 10)]
    return 1e6 * sum(kept) / len(kept) / SLICE


def main() -> None:
    """Print a line for each workload."""
    parser: Any = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=20_000)
    parser.add_argument("--only", default="")
    parser.add_argument("--details", action="store_true")
    options = parser.parse_args()
    # as `kubesched run` does
    collect_seldom()
    for workload in WORKLOADS:
        if workload.name not in DEFAULT or options.only not in workload.name:
            continue
        pods = options.pods // SLOW.get(workload.name, 1)
        without, recorded, recorder = asyncio.run(compare(workload, options.nodes, pods, details=options.details))
        before, after = fastest(without), fastest(recorded)
        decisions = recorder.ring.page(limit=10**9).decisions
        detailed = sum(record.detailed for record in decisions) / max(1, len(decisions))
        print(
            f"{workload.name:32} {before:8.1f} {after:8.1f} us  {100 * (after / before - 1):+5.1f} %  "
            f"detailed {100 * detailed:4.0f} %  {recorder.ring.used_bytes / max(1, len(recorder.ring)):6.0f} bytes",
            flush=True,
        )


if __name__ == "__main__":
    main()
