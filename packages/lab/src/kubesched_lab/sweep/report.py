"""The report of a sweep: a line for each point of the grid, with means over seeds and their 95 % intervals.

From rows of runs, in any order, to means by figure, and to a table, CSV or JSON. The order is that of the plan, so that
the same rows give the same bytes. Differences are from the first configuration, paired by seed.
"""

import csv
import difflib
import io
import json
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rich.table import Table

from kubesched_lab.simulate.measuring.comparison import Interval, interval
from kubesched_lab.sweep.errors import SweepError
from kubesched_lab.sweep.runs import RunLabel, Setting

# the default figures of the table
SHOWN = (
    "pods.bound",
    "pendingAtEnd",
    "pods.preempted",
    "waiting.mean",
    "waiting.p99",
    "resources.cpu.share",
    "resources.memory.share",
)
Rows = Mapping[str, Mapping[str, Any]]
_DIGITS = 6


class GridPoint(NamedTuple):
    """Runs that differ only in their seeds."""

    axes: dict[str, Setting]
    runs: list[RunLabel]
    # values by figure and seed
    values: dict[str, dict[int, float]]
    # the values of the first configuration, None for itself
    first: dict[str, dict[int, float]] | None

    def mean(self, figure: str) -> Interval | None:
        """Return the mean of a figure, None if no run has it."""
        values = self.values.get(figure)
        return interval([values[seed] for seed in sorted(values)]) if values else None

    def difference(self, figure: str) -> Interval | None:
        """Return the difference from the first configuration, over the seeds that both have."""
        mine, theirs = self.values.get(figure, {}), (self.first or {}).get(figure, {})
        pairs = [mine[seed] - theirs[seed] for seed in sorted(mine) if seed in theirs]
        return interval(pairs) if pairs else None


class SweepReport(NamedTuple):
    """The points of a sweep, their figures, and the missing runs with the reasons."""

    points: list[GridPoint]
    figures: list[str]
    missing: list[tuple[str, str]]


def report_of(labels: Sequence[RunLabel], rows: Rows, failures: Mapping[str, str]) -> SweepReport:
    """Return the report of a plan, from the existing rows and failures."""
    points: dict[str, GridPoint] = {}
    firsts: dict[str, GridPoint] = {}
    figures: set[str] = set()
    for label in labels:
        scenario = json.dumps(label.scenario)
        axes = {**label.scenario, "config": label.config}
        point = points.get(json.dumps(axes))
        if point is None:
            first = firsts.get(scenario)
            point = points[json.dumps(axes)] = GridPoint(axes, [], {}, first.values if first else None)
            firsts.setdefault(scenario, point)
        point.runs.append(label)
        columns = label.columns
        for name, value in rows.get(label.id, {}).items():
            if name not in columns and isinstance(value, int | float):
                figures.add(name)
                point.values.setdefault(name, {})[label.seed] = value
    missing = [(each.name, failures.get(each.id, "not done")) for each in labels if each.id not in rows]
    return SweepReport(list(points.values()), sorted(figures), missing)


def as_table(report: SweepReport, shown: Sequence[str] = ()) -> Table:
    """Return a table with a line for each point, with the axes that have several values; raises SweepError."""
    figures = _chosen(report, shown)
    axes = _varied(report) or ["config"]
    seeds = max((len(point.runs) for point in report.points), default=0)
    title = f"{sum(len(point.runs) for point in report.points)} runs" + (
        f", {seeds} seeds: mean and 95 % interval" if seeds > 1 else ""
    )
    table = Table(title=title, title_justify="left")
    for axis in axes:
        table.add_column(axis, overflow="fold")
    if report.missing:
        table.add_column("runs", justify="right")
    for figure in figures:
        table.add_column(figure, justify="right")
    for point in report.points:
        cells = [str(point.axes.get(axis, "")) for axis in axes]
        if report.missing:
            done = max((len(values) for values in point.values.values()), default=0)
            cells.append(f"{done} of {len(point.runs)}")
        table.add_row(*cells, *(_shown(point.mean(figure), figure) for figure in figures))
    return table


def as_csv(report: SweepReport, shown: Sequence[str] = ()) -> str:
    """Return CSV with a line for each figure of each point; raises SweepError."""
    axes = list(dict.fromkeys(axis for point in report.points for axis in point.axes))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([*axes, "figure", "runs", "mean", "interval", "difference", "differenceInterval"])
    for point in report.points:
        for figure in _chosen(report, shown) if shown else report.figures:
            mean = point.mean(figure)
            if mean is not None:
                cells = [*_cells(mean), *_cells(point.difference(figure))]
                place = [point.axes.get(axis, "") for axis in axes]
                writer.writerow([*place, figure, len(point.values[figure]), *cells])
    return text.getvalue()


def as_json(report: SweepReport, shown: Sequence[str] = ()) -> str:
    """Return all points with their figures, and the missing runs, as JSON; raises SweepError."""
    figures = _chosen(report, shown) if shown else report.figures
    points = []
    for point in report.points:
        means = {figure: _plain(point, figure) for figure in figures if point.mean(figure) is not None}
        points.append({"axes": point.axes, "runs": len(point.runs), "figures": means})
    missing = [{"run": name, "reason": reason} for name, reason in report.missing]
    return json.dumps({"points": points, "missing": missing}, indent=1, ensure_ascii=False) + "\n"


def _chosen(report: SweepReport, shown: Sequence[str]) -> list[str]:
    """Return the requested figures, or the default ones of tables; raises SweepError."""
    if not shown:
        return [
            figure for figure in SHOWN if any(any(point.values.get(figure, {}).values()) for point in report.points)
        ]
    for figure in shown:
        if figure not in report.figures and report.figures:
            raise SweepError(f"--figures: {unknown_figure(figure, report.figures)}")
    return list(shown)


def unknown_figure(figure: str, known: Sequence[str]) -> str:
    """Return a sentence about an unknown figure, with figures of similar names."""
    near = difflib.get_close_matches(figure, known, 3, 0.4) or list(known)[:5]
    return f"there is no figure {figure}; there are {', '.join(near)} and {len(known) - len(near)} others"


def _varied(report: SweepReport) -> list[str]:
    axes: dict[str, set[Setting]] = {}
    for point in report.points:
        for axis, value in point.axes.items():
            axes.setdefault(axis, set()).add(value)
    return [axis for axis, values in axes.items() if len(values) > 1]


def _plain(point: GridPoint, figure: str) -> dict[str, float | None]:
    mean, difference = point.mean(figure), point.difference(figure)
    assert mean is not None
    found = {"mean": round(mean.mean, _DIGITS), "interval": _rounded(mean.off)}
    if difference is not None:
        found |= {"difference": round(difference.mean, _DIGITS), "differenceInterval": _rounded(difference.off)}
    return found


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, _DIGITS)


def _cells(found: Interval | None) -> tuple[str, str]:
    if found is None:
        return "", ""
    return f"{found.mean:.6g}", "" if found.off is None else f"{found.off:.6g}"


def _shown(found: Interval | None, figure: str) -> str:
    if found is None:
        return "-"
    times, unit = (100, " %") if figure.endswith("share") else (1, "")
    text = f"{_number(times * found.mean)}{unit}"
    return text if found.off is None else f"{text} ± {_number(times * found.off)}"


def _number(value: float) -> str:
    return f"{value:.0f}" if value == round(value) or abs(value) >= 1000 else f"{value:.3g}"
