"""The figures of a simulation, as values that are written unchanged: the same run gives the same bytes.

From measurements to `Figures`. Shares are of the capacity that nodes offer; times are simulated seconds.
"""

from collections import Counter
from typing import TYPE_CHECKING

import msgspec

from kubesched_lab.simulate.measuring.histogram import Histogram
from kubesched_lab.simulate.measuring.measurements import LARGEST_SIZE, SIZES, Measurements
from kubesched_lab.simulate.measuring.rates import PRICE_UNIT
from kubesched_lab.simulate.measuring.timeline import Timeline

if TYPE_CHECKING:
    from kubesched_lab.simulate.simulation import Run

_DIGITS = 6
HOUR = 3600
# pods with this number of attempts or more are counted together
MANY_ATTEMPTS = 10
# columns of the timeline that do not describe the cluster
_NO_STATE = ("at", "bound")


class Waiting(msgspec.Struct, frozen=True, rename="camel"):
    """The waiting times of pods from their arrival until they were bound."""

    pods: int
    mean: float
    p50: float
    p90: float
    p99: float
    largest: float


class Use(msgspec.Struct, frozen=True, rename="camel"):
    """A resource: the means of the offered and the requested amount, and the share."""

    offered: float
    requested: float
    share: float


class Span(msgspec.Struct, frozen=True, rename="camel"):
    """A column of the timeline: its mean, minimum and maximum."""

    mean: float
    least: float
    most: float


class Cost(msgspec.Struct, frozen=True, rename="camel"):
    """The cost of nodes while they were up, by their price labels.

    `idle` is the part for unrequested capacity: for each node the free share of CPU or memory, whichever is smaller.
    """

    total: float
    an_hour: float
    idle: float
    a_pod_hour: float


class Energy(msgspec.Struct, frozen=True, rename="camel"):
    """The energy that nodes draw by their power labels, from the samples."""

    kilowatt_hours: float
    mean_watts: float


class Figures(msgspec.Struct, frozen=True, rename="camel", omit_defaults=True):
    """The figures of one simulation.

    `over_time` summarises the columns of the timeline. Percentiles of waiting times range from 0 to 100 %.
    """

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
    bound_a_second: float
    attempts_a_pod: float
    bound_at_first_attempt: float
    pods_by_attempts: dict[str, int]
    preempted_by_priority: dict[str, int]
    waiting: Waiting
    waiting_percentiles: list[float]
    waiting_by_priority: dict[str, Waiting]
    waiting_by_size: dict[str, Waiting]
    resources: dict[str, Use]
    over_time: dict[str, Span]
    timeline: dict[str, list[float]]
    cost: Cost | None = None
    energy: Energy | None = None


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
    counts, first_attempts = measured.counts, measured.attempts_until_bound
    timeline = columns_of(measured.timeline)
    over_time = _over_time(timeline, measured.began)
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
        bound_a_second=mean(counts["bound"]),
        bound_at_first_attempt=round(first_attempts[1] / max(1, first_attempts.total()), _DIGITS),
        pods_by_attempts=_by_attempts(first_attempts),
        preempted_by_priority={str(key): count for key, count in sorted(measured.preempted_by_priority.items())},
        waiting=_waiting(measured.waiting),
        waiting_percentiles=[round(each, _DIGITS) for each in measured.waiting.percentiles(range(101))],
        waiting_by_priority={str(key): _waiting(each) for key, each in sorted(measured.waiting_by_priority.items())},
        waiting_by_size={
            size: _waiting(measured.waiting_by_size[size]) for size in sizes if size in measured.waiting_by_size
        },
        resources=uses,
        over_time=over_time,
        timeline=timeline,
        cost=_cost(measured, over_time, now) if measured.rates.priced else None,
        energy=_energy(over_time, lasted) if measured.rates.powered else None,
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


def _by_attempts(counts: Counter[int]) -> dict[str, int]:
    found = {str(key): count for key, count in sorted(counts.items()) if key < MANY_ATTEMPTS}
    many = sum(count for key, count in counts.items() if key >= MANY_ATTEMPTS)
    return found | ({f"{MANY_ATTEMPTS} and more": many} if many else {})


def columns_of(timeline: Timeline) -> dict[str, list[float]]:
    """Return the samples by column; 0 stands for missing values."""
    names = dict.fromkeys(name for sample in timeline.samples for name in sample)
    return {name: [round(sample.get(name, 0), _DIGITS) for sample in timeline.samples] for name in names}


def _over_time(timeline: dict[str, list[float]], began: float) -> dict[str, Span]:
    """Return a summary of each column, without the warm-up."""
    first = sum(at < began for at in timeline["at"])
    return {
        name: Span(round(sum(values[first:]) / len(values[first:]), _DIGITS), min(values[first:]), max(values[first:]))
        for name, values in timeline.items()
        if name not in _NO_STATE and values[first:]
    }


def _cost(measured: Measurements, over_time: dict[str, Span], now: float) -> Cost:
    hours = (now - measured.began) / HOUR
    total = measured.rates.price.area(now) / HOUR / PRICE_UNIT
    price, idle = (over_time[name].mean if name in over_time else 0.0 for name in ("price", "idlePrice"))
    pod_hours = measured.running.area(now) / HOUR
    return Cost(
        *(
            round(value, _DIGITS)
            for value in (
                total,
                total / hours if hours else 0.0,
                total * idle / price if price else 0.0,
                total / pod_hours if pod_hours else 0.0,
            )
        )
    )


def _energy(over_time: dict[str, Span], lasted: float) -> Energy:
    watts = over_time["watts"].mean if "watts" in over_time else 0.0
    return Energy(round(watts * lasted / HOUR / 1000, _DIGITS), watts)
