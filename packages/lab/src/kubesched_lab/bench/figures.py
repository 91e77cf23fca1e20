"""The figures of a benchmark: throughput, durations, attempts, processor time, memory.

From the times at which pods were bound to the reference's samples and percentiles, as values for JSON.
"""

# upstream: test/integration/scheduler_perf/util.go throughputCollector (v1.36)

from collections.abc import Sequence
from math import ceil

import msgspec

SAMPLE_SECONDS = 1.0


class _Figure(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """A part of the results."""


class Spread(_Figure, frozen=True):
    """An average and percentiles."""

    average: float
    perc50: float
    perc90: float
    perc95: float
    perc99: float


class Throughput(_Figure, frozen=True):
    """SchedulingThroughput, in pods a second; without samples the average is over the whole time."""

    average: float
    samples: int = 0
    perc50: float | None = None
    perc90: float | None = None
    perc95: float | None = None
    perc99: float | None = None


class Usage(_Figure, frozen=True):
    """The resource usage of a scheduler's process so far."""

    cpu_seconds: float
    peak_mebibytes: float


class Threshold(_Figure, frozen=True):
    """A threshold of a workload, and whether it is met."""

    metric: str
    bound: float
    met: bool


class Measured(_Figure, frozen=True):
    """The results of one measurement of a workload."""

    name: str
    pods: int
    seconds: float
    throughput: Throughput | None = None
    # milliseconds
    attempt_duration: Spread | None = None
    pod_duration: Spread | None = None
    attempts: dict[str, int] = {}
    cpu_seconds: float | None = None
    peak_mebibytes: float | None = None
    threshold: Threshold | None = None

    @property
    def cpu_milliseconds_a_pod(self) -> float | None:
        """Return the processor time of the scheduler for each pod."""
        return None if self.cpu_seconds is None or not self.pods else 1000 * self.cpu_seconds / self.pods


class RunResult(_Figure, frozen=True):
    """The results of one run of a workload."""

    workload: str
    scheduler: str
    measured: list[Measured]
    repeat: int = 0


def percentile(ordered: Sequence[float], share: int) -> float:
    """Return a percentile of sorted values, chosen as in the reference."""
    return ordered[ceil(len(ordered) * share / 100) - 1]


def spread_of(values: Sequence[float]) -> Spread | None:
    """Return average and percentiles of values, None without any."""
    if not values:
        return None
    ordered = sorted(values)
    return Spread(sum(ordered) / len(ordered), *(percentile(ordered, share) for share in (50, 90, 95, 99)))


def throughput_of(bound: Sequence[float], began: float, ended: float) -> Throughput | None:
    """Return the throughput during a measurement, from the sorted times at which pods were bound."""
    if not bound:
        return None
    found = spread_of(samples_of(bound, began, ended))
    if found is None:
        return Throughput(len(bound) / max(bound[-1] - began, 1e-9))
    samples = samples_of(bound, began, ended)
    return Throughput(found.average, len(samples), found.perc50, found.perc90, found.perc95, found.perc99)


def samples_of(bound: Sequence[float], began: float, ended: float) -> list[float]:
    """Return the reference's samples: pods a second, every second.

    The first second with a bound pod is left out, since creating and sampling begin independently. Seconds without a
    pod get the rate of the time up to the next pod.
    """
    samples: list[float] = []
    counted, last, started, skipped, place = 0, began, False, 0, 0
    tick = began + SAMPLE_SECONDS
    while tick <= ended:
        while place < len(bound) and bound[place] <= tick:
            place += 1
        if place and not started:
            started, counted, last = True, place, tick
        elif started and place > counted:
            samples += [(place - counted) / (tick - last)] * (skipped + 1)
            counted, last, skipped = place, tick, 0
        elif started:
            skipped += 1
        tick += SAMPLE_SECONDS
    return samples
