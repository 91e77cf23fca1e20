"""Simulations side by side: means over seeds with their confidence, and differences from the first configuration.

From figures, one for each configuration and seed, to rows. The interval of a mean is that of Student's t at 95 %;
differences are paired by seed, since the same seed has the same pods arrive.
"""

from collections.abc import Callable, Sequence
from math import sqrt
from typing import NamedTuple

from kubesched.simulate.measuring.figures import Figures

# of Student's t, at 97.5 %, by degrees of freedom; then as of the normal distribution
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


class Interval(NamedTuple):
    """A mean, and how far it may be off; None with a single seed."""

    mean: float
    off: float | None


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
    for name, unit, value in _named(figures):
        of = [[value(each) for each in runs] for runs in by_config]
        differences = [
            interval([mine - first for mine, first in zip(values, of[0], strict=False)]) for values in of[1:]
        ]
        rows.append(Row(name, unit, [interval(values) for values in of], differences))
    return configs, rows


def _named(figures: Sequence[Figures]) -> list[tuple[str, str, Callable[[Figures], float]]]:
    """Return the figures that are compared, by name and unit."""
    found: list[tuple[str, str, Callable[[Figures], float]]] = [
        ("simulated time", "s", lambda f: f.seconds),
        ("pods arrived", "", lambda f: f.pods.get("arrived", 0)),
        ("pods bound", "", lambda f: f.pods.get("bound", 0)),
        ("pods pending at the end", "", lambda f: f.pending_at_end),
        ("pods preempted", "", lambda f: f.pods.get("preempted", 0)),
        ("pods lost with their nodes, or evicted", "", lambda f: f.pods.get("lost", 0)),
        ("pods pending, mean", "", lambda f: f.mean_pending),
        ("pods running, mean", "", lambda f: f.mean_running),
        ("attempts a pod", "", lambda f: f.attempts_a_pod),
        ("waiting, mean", "s", lambda f: f.waiting.mean),
        ("waiting, median", "s", lambda f: f.waiting.p50),
        ("waiting, 90 %", "s", lambda f: f.waiting.p90),
        ("waiting, 99 %", "s", lambda f: f.waiting.p99),
        ("waiting, longest", "s", lambda f: f.waiting.largest),
    ]
    for resource in sorted({name for each in figures for name in each.resources}):
        found.append((f"{resource} requested", "%", _share_of(resource)))
    found.append(("cpu stranded, mean", "%", lambda f: 100 * _mean([each.stranded_cpu for each in f.timeline])))
    found.append(("memory stranded, mean", "%", lambda f: 100 * _mean([each.stranded_memory for each in f.timeline])))
    return found


def _share_of(resource: str) -> Callable[[Figures], float]:
    return lambda figures: 100 * figures.resources[resource].share if resource in figures.resources else 0.0


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0
