"""`python -m benchmarks.records`: what the record of decisions costs the scheduling loop, without any I/O.

Two schedulers with metrics, as `kubesched run` has them, one of them with a record of decisions, take the same pods in
turns, a slice of them each: through the inbox, the queue, the cycle, and a binding that succeeds at once. Of each slice
the least processor time of all rounds counts, so that what else the machine does is left out.
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
# pods of a slice: so few that many slices are not disturbed by other processes
SLICE = 20


class NoEffects:
    """Effects that succeed at once."""

    async def perform(self, effect: Effect) -> ApiObject | None:
        """Do nothing."""
        return None

    def submit(self, *effects: Effect) -> None:
        """Do nothing."""


class Subject:
    """A scheduler on a cluster of a workload, with or without a record."""

    def __init__(self, workload: Workload, nodes: int, *, recorded: bool) -> None:
        self.recorder = DecisionRecorder() if recorded else None
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


async def compare(workload: Workload, nodes: int, pods: int, rounds: int) -> tuple[float, float, DecisionRecorder]:
    """Return the processor time of all pods without and with a record, and the record."""
    slices = pods // SLICE
    best: list[list[float]] = [[float("inf")] * slices, [float("inf")] * slices]
    for _ in range(rounds):
        subjects = Subject(workload, nodes, recorded=False), Subject(workload, nodes, recorded=True)
        incoming = [workload.pod(number) for number in range(pods + SLICE)]
        gc.collect()
        gc.freeze()
        for subject in subjects:
            await subject.take(incoming[pods:])
        for part in range(slices):
            for which in (0, 1) if part % 2 else (1, 0):
                took = await subjects[which].take(incoming[part * SLICE : (part + 1) * SLICE])
                best[which][part] = min(best[which][part], took)
        gc.unfreeze()
    recorder = subjects[1].recorder
    assert recorder is not None
    return sum(best[0]), sum(best[1]), recorder


def main() -> None:
    """Print a line for each workload."""
    parser: Any = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodes", type=int, default=5000)
    parser.add_argument("--pods", type=int, default=4000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    # as `kubesched run` does
    collect_seldom()
    for workload in WORKLOADS:
        if workload.name not in DEFAULT or options.only not in workload.name:
            continue
        pods = options.pods // SLOW.get(workload.name, 1)
        without, recorded, recorder = asyncio.run(compare(workload, options.nodes, pods, options.rounds))
        page = recorder.ring.page(limit=10**9)
        detailed = sum(record.detailed for record in page.decisions) / max(1, len(page.decisions))
        print(
            f"{workload.name:32} {1e6 * without / pods:8.1f} {1e6 * recorded / pods:8.1f} us  "
            f"{100 * (recorded / without - 1):+5.1f} %  detailed {100 * detailed:4.0f} %  "
            f"{recorder.ring.used_bytes / max(1, len(recorder.ring)):6.0f} bytes",
            flush=True,
        )


if __name__ == "__main__":
    main()
