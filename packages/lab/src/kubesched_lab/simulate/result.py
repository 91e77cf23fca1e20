"""The result of simulations, for Python and notebooks: frames, pictures, files.

From figures to DataFrames (pandas), matplotlib figures, and reports; each library is imported when it is needed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from kubesched.common.extras import extra_module
from kubesched.errors import KubeschedError
from kubesched.reports.blocks import Report, Section
from kubesched.reports.html import as_fragment
from kubesched_lab.simulate.measuring.comparison import compared
from kubesched_lab.simulate.measuring.figures import Figures, Waiting
from kubesched_lab.simulate.reports.curves import (
    CurveChart,
    bar_charts,
    configs_of_runs,
    timeline_charts,
    waiting_chart,
)
from kubesched_lab.simulate.reports.flat import flat_table
from kubesched_lab.simulate.reports.html_page import as_html, comparison_table, lead
from kubesched_lab.simulate.reports.parquet_files import timeline_columns, write_parquet
from kubesched_lab.simulate.reports.plots import bars_drawing, picture_of, timeline_drawing, waiting_drawing
from kubesched_lab.simulate.reports.pod_files import PodRow
from kubesched_lab.simulate.reports.texts import as_csv, as_json

# default charts of a timeline; missing ones are left out
_MAIN = ("requested-cpu", "requested-memory", "pending", "running")


class SimulationResult:
    """The figures of all runs: `runs`, `timeline`, `waiting` and `compare()` are DataFrames, `figures` plain values."""

    def __init__(self, figures: Sequence[Figures], pods: Sequence[PodRow] | None = None) -> None:
        self.figures = list(figures)
        self._pods = pods

    @property
    def runs(self) -> Any:
        """A DataFrame with a row a run; columns are paths in the JSON report, such as `waiting.p99`."""
        return _frame(flat_table(self.figures))

    @property
    def timeline(self) -> Any:
        """A DataFrame with a row a sample of a run: `config`, `seed`, `at` (seconds), `pending`, `resources.cpu` ..."""
        return _frame(timeline_columns(self.figures))

    @property
    def waiting(self) -> Any:
        """A DataFrame of waiting times (seconds): of all pods, by priority, and by the CPU that is requested."""
        columns = ["config", "seed", "by", "of", *Waiting.__struct_fields__]
        return _frame(dict(zip(columns, map(list, zip(*self._waiting(), strict=True)), strict=True)))

    def _waiting(self) -> Iterator[tuple[Any, ...]]:
        for each in self.figures:
            parts = [("all", {"all": each.waiting}), ("priority", each.waiting_by_priority)]
            for by, of in [*parts, ("size", each.waiting_by_size)]:
                for name, times in of.items():
                    yield (
                        each.config,
                        each.seed,
                        by,
                        name,
                        *(getattr(times, field) for field in times.__struct_fields__),
                    )

    @property
    def pods(self) -> Any:
        """A DataFrame with a row for each life of a pod; `simulate(..., pods=True)` keeps them."""
        if self._pods is None:
            raise KubeschedError("pods were not kept: use simulate(..., pods=True)")
        rows = zip(*self._pods, strict=True) if self._pods else ((),) * len(PodRow._fields)
        return _frame({name: list(values) for name, values in zip(PodRow._fields, rows, strict=True)})

    def compare(self) -> Any:
        """Return a DataFrame with a row for each figure under each configuration.

        `interval` is half the width of the 95 % interval of the mean over seeds, missing with one seed. `difference` is
        the difference from the first configuration, paired by seed. `differs` is true if the interval of the difference
        does not hold 0.
        """
        configs, rows = compared(self.figures)
        found: list[dict[str, Any]] = []
        for row in rows:
            for index, config in enumerate(configs):
                mean, off = row.of[index]
                difference, other = row.differences[index - 1] if index else (None, None)
                differs = difference is not None and other is not None and abs(difference) > other
                found.append(
                    {
                        "figure": row.name,
                        "unit": row.unit,
                        "config": config,
                        "mean": mean,
                        "interval": off,
                        "difference": difference,
                        "difference_interval": other,
                        "differs": differs,
                    }
                )
        return _frame({name: [each[name] for each in found] for name in found[0]})

    @property
    def plot(self) -> "SimulationPlots":
        """Pictures: `plot.timeline()`, `plot.waiting()`, `plot.comparison()`, each a matplotlib figure."""
        return SimulationPlots(self.figures)

    def save(self, path: str | Path) -> None:
        """Write a report; the suffix of the path sets its format: .html, .json, .csv or .parquet (also a folder)."""
        target = Path(path)
        forms = {".html": as_html, ".htm": as_html, ".json": as_json, ".csv": as_csv}
        try:
            if target.suffix in (".parquet", ""):
                write_parquet(self.figures, target)
            elif target.suffix in forms:
                target.write_text(forms[target.suffix](self.figures), encoding="utf-8")
            else:
                raise KubeschedError(f"{target}: expected a name that ends in .html, .json, .csv or .parquet")
        except OSError as error:
            raise KubeschedError(f"{target}: {error.strerror or error}") from None

    def __repr__(self) -> str:
        configs = ", ".join(configs_of_runs(self.figures))
        return f"<SimulationResult of {self.figures[0].trace}: {len(self.figures)} runs of {configs}>"

    def _repr_html_(self) -> str:
        """Return the comparison as HTML for notebooks."""
        section = Section("Configurations", [comparison_table(self.figures)])
        return as_fragment(Report(f"Simulation of {self.figures[0].trace}", [lead(self.figures)], [section]))


class SimulationPlots:
    """Pictures of runs, as matplotlib figures."""

    def __init__(self, figures: Sequence[Figures]) -> None:
        self._figures = figures
        self._configs = configs_of_runs(figures)

    def timeline(self, *names: str) -> Any:
        """Return curves over simulated time; `names` are from `charts`, by default the main ones."""
        charts = {chart.name: chart for chart in timeline_charts(self._figures)}
        unknown = [name for name in names if name not in charts]
        if unknown:
            raise KubeschedError(f"there is no chart {unknown[0]!r}; charts: {', '.join(charts) or 'none'}")
        chosen = [charts[name] for name in names or _MAIN if name in charts] or list(charts.values())[:1]
        return self._picture([timeline_drawing(chart, self._configs) for chart in chosen], "no samples")

    @property
    def charts(self) -> list[str]:
        """The names of the charts over time."""
        return [chart.name for chart in timeline_charts(self._figures)]

    def waiting(self) -> Any:
        """Return the distributions of waiting times."""
        chart: CurveChart = waiting_chart(self._figures)
        return self._picture([waiting_drawing(chart, self._configs)] if chart.curves else [], "no pod was bound")

    def comparison(self) -> Any:
        """Return the main figures under each configuration, with intervals over seeds."""
        return self._picture([bars_drawing(chart, self._configs) for chart in bar_charts(self._figures)], "no figures")

    def _picture(self, drawings: Sequence[Any], why_none: str) -> Any:
        if not drawings:
            raise KubeschedError(f"there is nothing to draw: {why_none}")
        return picture_of(drawings, min(2, len(drawings)))


def _frame(columns: dict[str, Any]) -> Any:
    return extra_module("pandas", "pandas", "a DataFrame").DataFrame(columns)
