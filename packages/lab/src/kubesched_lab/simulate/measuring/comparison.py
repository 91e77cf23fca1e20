"""Simulations side by side: means over seeds with confidence intervals, and differences from the first configuration.

From figures, one for each configuration and seed, to rows. The interval of a mean is that of Student's t at 95 %;
differences are paired by seed, since the same seed gives the same arrivals of pods.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import NamedTuple

from kubesched_lab.simulate.measuring.figures import Figures

# quantiles of Student's t at 97.5 %, by degrees of freedom; above, of the normal distribution
_T: tuple[float, ...] = (
    12.706,
    4.303,
    3.182,
    2.776,
    2.571,
    2.447,
    2.365,
    2.306,
    2.262,
    2.228,
    2.201,
    2.179,
    2.16,
    2.145,
    2.131,
)
_T += (2.12, 2.11, 2.101, 2.093, 2.086, 2.08, 2.074, 2.069, 2.064, 2.06, 2.056, 2.052, 2.048, 2.045, 2.042)
_NORMAL = 1.96


# a name, a unit, and the figure
NamedFigure = tuple[str, str, Callable[[Figures], float]]


class Interval(NamedTuple):
    """A mean with half the width of its 95 % interval, which is None with a single seed."""

    mean: float
    off: float | None

    @property
    def differs(self) -> bool:
        """Return whether a difference is significant: its interval does not hold 0."""
        return abs(self.mean) > (self.off or 0.0)


class Row(NamedTuple):
    """A figure under each configuration, and its differences from the first."""

    name: str
    unit: str
    of: list[Interval]
    differences: list[Interval]


def interval(values: Sequence[float]) -> Interval:
    """Return the mean of some values with its interval."""
    count = len(values)
    mean = sum(values) / count
    if count < 2:
        return Interval(mean, None)
    spread = sqrt(sum((value - mean) ** 2 for value in values) / (count - 1))
    t = _T[count - 2] if count - 2 < len(_T) else _NORMAL
    return Interval(mean, t * spread / sqrt(count))


def compared(figures: Sequence[Figures]) -> tuple[list[str], list[Row]]:
    """Return the configurations in their order, and a row for each figure."""
    configs = list(dict.fromkeys(each.config for each in figures))
    by_config = [[each for each in figures if each.config == config] for config in configs]
    rows = []
    for name, unit, value in _compared_figures(figures):
        of = [[value(each) for each in runs] for runs in by_config]
        differences = [
            interval([mine - first for mine, first in zip(values, of[0], strict=False)]) for values in of[1:]
        ]
        rows.append(Row(name, unit, [interval(values) for values in of], differences))
    return configs, rows


def _compared_figures(figures: Sequence[Figures]) -> list[NamedFigure]:
    """Return the figures to compare, by name and unit."""
    found: list[NamedFigure] = [
        ("simulated time", "s", lambda f: f.seconds),
        ("pods arrived", "", lambda f: f.pods.get("arrived", 0)),
        ("pods bound", "", lambda f: f.pods.get("bound", 0)),
        ("pods pending at the end", "", lambda f: f.pending_at_end),
        ("pods preempted", "", lambda f: f.pods.get("preempted", 0)),
        ("pods lost with their nodes, or evicted", "", lambda f: f.pods.get("lost", 0)),
        ("pods pending, mean", "", lambda f: f.mean_pending),
        ("pods running, mean", "", lambda f: f.mean_running),
        ("pods bound a second", "", lambda f: f.bound_a_second),
        ("attempts a pod", "", lambda f: f.attempts_a_pod),
        ("bound at the first attempt", "%", lambda f: 100 * f.bound_at_first_attempt),
        ("waiting, mean", "s", lambda f: f.waiting.mean),
        ("waiting, median", "s", lambda f: f.waiting.p50),
        ("waiting, 90 %", "s", lambda f: f.waiting.p90),
        ("waiting, 99 %", "s", lambda f: f.waiting.p99),
        ("waiting, longest", "s", lambda f: f.waiting.largest),
    ]
    for resource in sorted({name for each in figures for name in each.resources}):
        found.append((requested(resource), "%", _share_of(resource)))
    sampled = sorted({name for each in figures for name in each.over_time})
    for column in sampled:
        resource = column.removeprefix("resources.")
        # figures that are only sampled
        if resource != column and not any(resource in each.resources for each in figures):
            found.append((requested(resource), "%", _mean_of(column, 100)))
    for column in (name for name in sampled if name.startswith("stranded.")):
        found.append((f"{column.removeprefix('stranded.')} stranded, mean", "%", _mean_of(column, 100)))
    return [*found, *_OF_SAMPLES, *_OF_RATES]


def requested(resource: str) -> str:
    """Return the name of the requested share of a resource; for pods, of the number of pods that nodes can hold."""
    return "room for pods taken" if resource == "pods" else f"{resource} requested"


def _share_of(resource: str) -> Callable[[Figures], float]:
    return lambda figures: 100 * figures.resources[resource].share if resource in figures.resources else 0.0


def _mean_of(column: str, times: float = 1.0) -> Callable[[Figures], float]:
    return lambda figures: figures.over_time[column].mean * times if column in figures.over_time else 0.0


def _least(figures: Figures, column: str) -> float:
    return figures.over_time[column].least if column in figures.over_time else 0.0


_OF_SAMPLES: tuple[NamedFigure, ...] = (
    ("largest pod that fits, mean", "CPU", _mean_of("largestPodMilliCpu", 0.001)),
    ("largest pod that fits, least", "CPU", lambda f: _least(f, "largestPodMilliCpu") / 1000),
    ("CPU shares of nodes, deviation", "%", _mean_of("deviation.cpu", 100)),
    ("skew of pods over nodes, mean", "", _mean_of("skew.nodes")),
    ("skew of pods over zones, mean", "", _mean_of("skew.zones")),
    ("skew of equal pods over zones, mean", "", _mean_of("skew.groups")),
)
_OF_RATES: tuple[NamedFigure, ...] = (
    ("cost of nodes", "", lambda f: f.cost.total if f.cost else 0.0),
    ("cost of what nobody requests", "", lambda f: f.cost.idle if f.cost else 0.0),
    ("cost a pod and hour", "", lambda f: f.cost.a_pod_hour if f.cost else 0.0),
    ("energy", "kWh", lambda f: f.energy.kilowatt_hours if f.energy else 0.0),
)
