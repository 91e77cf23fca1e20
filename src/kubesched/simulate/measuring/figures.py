"""The figures of a simulation, as values that are written as they are: the same run gives the same bytes.

From measurements to `Figures`. Shares are of what nodes offer; times are simulated seconds.
"""

from typing import TYPE_CHECKING

import msgspec

from kubesched.simulate.measuring.histogram import Histogram
from kubesched.simulate.measuring.measurements import LARGEST_SIZE, SIZES, Measurements
from kubesched.simulate.measuring.timeline import Sample

if TYPE_CHECKING:
    from kubesched.simulate.simulation import Run

_DIGITS = 6


class Waiting(msgspec.Struct, frozen=True, rename="camel"):
    """How long pods waited from their arrival until they were bound."""

    pods: int
    mean: float
    p50: float
    p90: float
    p99: float
    largest: float


class Use(msgspec.Struct, frozen=True, rename="camel"):
    """A resource: the mean of what was offered and requested, and the share."""

    offered: float
    requested: float
    share: float


class Figures(msgspec.Struct, frozen=True, rename="camel"):
    """What came out of one simulation."""

    trace: str
    config: str
    seed: int
    seconds: float
    measured_from: float
    pods: dict[str, int]
    pending_at_end: int
    running_at_end: int
    mean_pending: float
    mean_running: float
    mean_nodes: float
    attempts_a_pod: float
    waiting: Waiting
    waiting_by_priority: dict[str, Waiting]
    waiting_by_size: dict[str, Waiting]
    resources: dict[str, Use]
    timeline: list[Sample]


def figures_of(run: "Run", measured: Measurements, now: float) -> Figures:
    """Return the figures at the end of a simulation."""
    lasted = max(now - measured.began, 0.0)

    def mean(area: float) -> float:
        return round(area / lasted, _DIGITS) if lasted else 0.0

    uses = {}
    for name in sorted({*measured.used.of, *measured.offered.of}):
        offered, used = measured.offered.of.get(name), measured.used.of.get(name)
        offered_mean = mean(offered.area(now)) if offered else 0.0
        used_mean = mean(used.area(now)) if used else 0.0
        share = round(used_mean / offered_mean, _DIGITS) if offered_mean else 0.0
        uses[name] = Use(offered_mean, used_mean, share)
    counts = measured.counts
    sizes = [name for _, name in SIZES] + [LARGEST_SIZE]
    return Figures(
        trace=run.trace.name,
        config=run.config_name,
        seed=run.seed,
        seconds=round(now, _DIGITS),
        measured_from=round(measured.began, _DIGITS),
        pods={name: counts[name] for name in sorted(counts)},
        pending_at_end=measured.pending.value,
        running_at_end=measured.running.value,
        mean_pending=mean(measured.pending.area(now)),
        mean_running=mean(measured.running.area(now)),
        mean_nodes=mean(measured.nodes.area(now)),
        attempts_a_pod=round(counts["attempts"] / max(1, counts["bound"]), _DIGITS),
        waiting=_waiting(measured.waiting),
        waiting_by_priority={str(key): _waiting(each) for key, each in sorted(measured.waiting_by_priority.items())},
        waiting_by_size={
            size: _waiting(measured.waiting_by_size[size]) for size in sizes if size in measured.waiting_by_size
        },
        resources=uses,
        timeline=[_rounded(sample) for sample in measured.timeline.samples],
    )


def _waiting(times: Histogram) -> Waiting:
    return Waiting(
        times.count,
        *(
            round(figure, _DIGITS)
            for figure in (
                times.mean(),
                times.percentile(50),
                times.percentile(90),
                times.percentile(99),
                times.largest,
            )
        ),
    )


def _rounded(sample: Sample) -> Sample:
    return Sample._make(round(value, _DIGITS) if isinstance(value, float) else value for value in sample)
