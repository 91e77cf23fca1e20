"""The figures of a stretch of a life, and what they are made of."""

from collections.abc import Sequence
from math import ceil

import msgspec


class Spread(msgspec.Struct, frozen=True, omit_defaults=True):
    """Percentiles of durations, in milliseconds."""

    p50: float
    p99: float
    p999: float
    most: float


class Row(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """What one subject did during one stretch; figures that a target does not have are None."""

    subject: str
    rate: float
    seconds: float
    created: int
    bound: int
    # of the pods that were created during the stretch
    unbound: int = 0
    cpu_seconds: float
    # changes that the subject read
    events_read: int
    events_written: int
    from_creation: Spread | None = None
    from_watch: Spread | None = None
    memory_begin_mib: float
    memory_end_mib: float
    memory_peak_mib: float
    # from the first quarter to the last, in percent
    memory_growth: float | None = None
    # of the benchmark itself, and of all processes of the machine
    own_cpu_seconds: float
    machine_cpu_seconds: float | None = None
    requests: int = 0
    most_waiting: int = 0
    engine: "EngineCounts | None" = None

    @property
    def cpu_share(self) -> float:
        """Return the processor time a second."""
        return self.cpu_seconds / self.seconds

    @property
    def cpu_ms_a_pod(self) -> float | None:
        """Return the processor time for each bound pod, None while no pods are created."""
        return 1000 * self.cpu_seconds / self.bound if self.rate and self.bound else None

    @property
    def cpu_us_an_event(self) -> float | None:
        """Return the processor time for each change that the subject read, in microseconds."""
        return 1e6 * self.cpu_seconds / self.events_read if self.events_read else None


class EngineCounts(msgspec.Struct, frozen=True, kw_only=True):
    """What the engine did, counted after the stretch that was timed."""

    bound: int
    failed_attempts: int
    status_reports: int
    node_reports: int
    log_records: int
    columns_evaluated: int
    columns_caught_up: int
    pods_read: int
    digests: int
    bytes_a_pod: float


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return the value that a share of ordered values does not exceed."""
    return ordered[max(0, ceil(len(ordered) * share) - 1)]


def spread_of(seconds: Sequence[float]) -> Spread | None:
    """Return percentiles of durations, None without any."""
    if not seconds:
        return None
    ordered = sorted(1000 * each for each in seconds)
    return Spread(*(percentile(ordered, share) for share in (0.5, 0.99, 0.999, 1.0)))


def growth(samples: Sequence[float]) -> float | None:
    """Return by how many percent the mean of the last quarter exceeds that of the first, None for few samples."""
    quarter = len(samples) // 4
    if not quarter:
        return None
    first, last = sum(samples[:quarter]), sum(samples[-quarter:])
    return 100 * (last / first - 1)
