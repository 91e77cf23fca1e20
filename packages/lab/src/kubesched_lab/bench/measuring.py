"""One measurement of a workload, from its beginning to its end.

From a target before and after to figures, compared with the workload's threshold.
"""

import time
from collections.abc import Iterable

from kubesched_lab.bench.figures import Measured, Spread, Threshold, Throughput, Usage, spread_of, throughput_of
from kubesched_lab.bench.pod_book import Labels, Watched
from kubesched_lab.bench.target import AttemptMeter, BenchTarget
from kubesched_lab.simulate.traces.perf.perf_cases import MetricSelector, PerfRun

_BUCKETS = {"Average": "average", "Perc50": "perc50", "Perc90": "perc90", "Perc95": "perc95", "Perc99": "perc99"}


class Measurement:
    """Measures a target until `end`."""

    def __init__(self, name: str, watched: Watched, target: BenchTarget, meter: AttemptMeter) -> None:
        self._name = name
        self._watched = watched
        self._target = target
        self._meter = meter
        self._before: Usage | None = target.usage()
        self._began = time.perf_counter()
        target.book.watched = watched

    @classmethod
    async def begin(cls, name: str, namespaces: Iterable[str], selector: Labels, target: BenchTarget) -> "Measurement":
        """Start to measure the pods of some namespaces."""
        return cls(name, Watched(frozenset(namespaces), selector, [], []), target, await target.meter())

    async def end(self, run: PerfRun) -> Measured:
        """Return the figures."""
        ended, after = time.perf_counter(), self._target.usage()
        self._target.book.watched = None
        attempts = await self._meter.read()
        bound = sorted(self._watched.bound)
        throughput = throughput_of(bound, self._began, ended)
        durations = spread_of(self._watched.durations)
        attempt_durations = attempts.durations if attempts is not None else None
        return Measured(
            name=self._name,
            pods=len(bound),
            seconds=(bound[-1] if bound else ended) - self._began,
            throughput=throughput,
            attempt_duration=attempt_durations,
            pod_duration=durations,
            attempts=attempts.results if attempts is not None else {},
            cpu_seconds=after.cpu_seconds - self._before.cpu_seconds if after and self._before else None,
            peak_mebibytes=after.peak_mebibytes if after else None,
            threshold=_threshold(run, throughput, attempt_durations, durations),
        )


def _threshold(
    run: PerfRun, throughput: Throughput | None, attempts: Spread | None, pods: Spread | None
) -> Threshold | None:
    """Return the threshold of a workload, if it applies to a figure of this measurement."""
    selector, bound = run.threshold_metric, run.threshold
    figures = {
        "SchedulingThroughput": throughput,
        "scheduler_scheduling_attempt_duration_seconds": attempts,
        "scheduler_pod_scheduling_duration_seconds": pods,
        "scheduler_pod_scheduling_sli_duration_seconds": pods,
    }
    found = figures.get(selector.name)
    value = getattr(found, _BUCKETS.get(selector.data_bucket, ""), None) if found is not None else None
    if not bound or value is None:
        return None
    return Threshold(_described(selector), bound, value < bound if selector.expect_lower else value > bound)


def _described(selector: MetricSelector) -> str:
    return f"{selector.name} {selector.data_bucket}"
