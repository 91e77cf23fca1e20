"""The content of pictures of simulations, independent of who draws them.

From figures to charts: curves over time, distributions of waiting times, bars with intervals. Pages and matplotlib draw
the same charts. With many seeds only the first ones have curves.
"""

from collections.abc import Sequence
from math import isclose
from typing import NamedTuple

from kubesched_lab.simulate.measuring.comparison import Interval, Row, compared, requested
from kubesched_lab.simulate.measuring.figures import Figures

# limit of curves of each configuration
MOST_CURVES = 5
# curves whose values differ by less are drawn on top of each other
_VISIBLE = 0.005
# columns of the timeline: file name, title, unit, factor
_COLUMNS = {
    "pending": ("pending", "Pods pending", "", 1.0),
    "running": ("running", "Pods running", "", 1.0),
    "nodes": ("nodes", "Nodes", "", 1.0),
    "largestPodMilliCpu": ("largest-pod", "Largest pod that fits", "CPU", 0.001),
    "deviation.cpu": ("deviation-cpu", "CPU shares of nodes, deviation", "%", 100.0),
    "skew.zones": ("skew-zones", "Skew of pods over zones", "", 1.0),
    "price": ("price", "Price of all nodes, an hour", "", 1.0),
    "idlePrice": ("idle-price", "Price of what nobody requests, an hour", "", 1.0),
    "watts": ("watts", "Power drawn", "W", 1.0),
}
# the compared figures in pictures, by the names of `comparison`
_BARS = (
    "pods pending, mean",
    "waiting, mean",
    "waiting, 90 %",
    "waiting, 99 %",
    "pods preempted",
    "attempts a pod",
    "largest pod that fits, mean",
    "CPU shares of nodes, deviation",
    "skew of equal pods over zones, mean",
    "cost of nodes",
    "cost of what nobody requests",
    "energy",
)


class Curve(NamedTuple):
    """One run of a configuration."""

    config: str
    seed: int
    xs: Sequence[float]
    ys: Sequence[float]


class CurveChart(NamedTuple):
    """Curves of all configurations; `name` is usable as a file name."""

    name: str
    title: str
    unit: str
    curves: Sequence[Curve]
    # seconds at the beginning that are not measured
    warm_up: float = 0.0


class ConfigBar(NamedTuple):
    """A figure under a configuration."""

    config: str
    value: Interval


class BarChart(NamedTuple):
    """A figure under all configurations."""

    name: str
    title: str
    unit: str
    bars: Sequence[ConfigBar]

    @property
    def end(self) -> float:
        """Return the end of the axis: 100 for percentages, or the longest bar with its interval."""
        longest = max(bar.value.mean + (bar.value.off or 0.0) for bar in self.bars)
        return max(longest, 100.0 if self.unit == "%" else 0.0)


def configs_of_runs(figures: Sequence[Figures]) -> list[str]:
    """Return the configurations in their order."""
    return list(dict.fromkeys(each.config for each in figures))


def drawn_runs(figures: Sequence[Figures]) -> list[Figures]:
    """Return the runs with curves: the first ones of each configuration."""
    drawn: list[Figures] = []
    for config in configs_of_runs(figures):
        drawn += [each for each in figures if each.config == config][:MOST_CURVES]
    return drawn


def timeline_charts(figures: Sequence[Figures]) -> list[CurveChart]:
    """Return the charts over time of the columns that are not all zero; shares of resources come first."""
    runs = drawn_runs(figures)
    names = list(dict.fromkeys(name for each in runs for name in each.timeline))
    charts = [_timeline(runs, name, *described) for name in names if (described := _described(name)) is not None]
    charts.sort(key=lambda chart: not chart.name.startswith("requested-") or chart.name == "requested-pods")
    return [chart for chart in charts if _changes(chart)]


def _described(column: str) -> tuple[str, str, str, float] | None:
    kind, _, resource = column.partition(".")
    file = _file(resource)
    if kind == "resources":
        return f"requested-{file}", requested(resource), "%", 100.0
    if kind == "stranded":
        return f"stranded-{file}", f"{resource} stranded", "%", 100.0
    return _COLUMNS.get(column)


def _timeline(runs: Sequence[Figures], column: str, name: str, title: str, unit: str, times: float) -> CurveChart:
    curves = [
        Curve(each.config, each.seed, each.timeline["at"], [value * times for value in each.timeline[column]])
        for each in runs
        if column in each.timeline
    ]
    return CurveChart(name, title, unit, curves, max((each.measured_from for each in runs), default=0.0))


def _changes(chart: CurveChart) -> bool:
    """Return whether a chart has any content: nodes that join and leave, amounts above zero."""
    values = {value for curve in chart.curves for value in curve.ys}
    return len(values) > 1 or (chart.name != "nodes" and any(values))


def waiting_chart(figures: Sequence[Figures]) -> CurveChart:
    """Return the share of pods (%) that waited at most a number of seconds."""
    curves = [
        Curve(each.config, each.seed, each.waiting_percentiles, range(101))
        for each in drawn_runs(figures)
        if each.waiting.pods
    ]
    return CurveChart("waiting", "Pods by their longest wait", "%", curves)


def bar_charts(figures: Sequence[Figures]) -> list[BarChart]:
    """Return the main figures under each configuration, without zero ones; figures that differ come first."""
    configs, rows = compared(figures)
    rows.sort(key=_sameness)
    return [
        BarChart(
            _file(row.name),
            _title(row.name),
            row.unit,
            [ConfigBar(*pair) for pair in zip(configs, row.of, strict=True)],
        )
        for row in rows
        if (row.name in _BARS or row.name.endswith(" requested")) and any(each.mean for each in row.of)
    ]


def _sameness(row: Row) -> int:
    """Return 0 if a figure differs between configurations, 1 if that may be random, 2 if it is the same."""
    if any(each.differs for each in row.differences):
        return 0
    return 1 if any(each.mean for each in row.differences) else 2


def legend_of(chart: CurveChart, configs: Sequence[str]) -> list[str]:
    """Return the name of each configuration; if another one's curves hide its curves, with the name of that one."""
    curves = {config: [curve for curve in chart.curves if curve.config == config] for config in configs}
    names: list[str] = []
    for number, config in enumerate(configs):
        same = next((other for other in configs[:number] if _coincide(curves[config], curves[other])), None)
        names.append(config if same is None else f"{config} (same curve as {same})")
    return names


def _coincide(some: Sequence[Curve], others: Sequence[Curve]) -> bool:
    """Return whether curves are indistinguishable in a picture."""
    return bool(some) and len(some) == len(others) and all(map(_equal, some, others))


def _equal(one: Curve, other: Curve) -> bool:
    pairs = [(one.xs, other.xs), (one.ys, other.ys)]
    return all(
        len(mine) == len(theirs) and all(isclose(*each, rel_tol=_VISIBLE) for each in zip(mine, theirs, strict=True))
        for mine, theirs in pairs
    )


def _title(name: str) -> str:
    return name if name.endswith(" requested") else name[0].upper() + name[1:]


def _file(name: str) -> str:
    return "-".join("".join(letter if letter.isalnum() else " " for letter in name.lower()).split())
