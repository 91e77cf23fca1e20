"""Reports as Parquet: a row a run, and a row a sample.

From figures to two files: `runs.parquet` and `timeline.parquet` in a folder, or NAME.parquet and NAME.timeline.parquet.
Runs have the columns of `flat`; a sample has its run's configuration and seed. The same figures give the same bytes
with the same version of pyarrow.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from kubesched.common.extras import extra_module
from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.reports.flat import flat_table


def parquet_paths(target: Path) -> tuple[Path, Path]:
    """Return the paths of runs and samples: beside each other, or in a folder."""
    if target.suffix == ".parquet":
        return target, target.with_suffix(".timeline.parquet")
    return target / "runs.parquet", target / "timeline.parquet"


def write_parquet(figures: Sequence[Figures], target: Path) -> None:
    """Write runs and samples; raises OSError, and KubeschedError without pyarrow."""
    runs, timeline = parquet_paths(target)
    runs.parent.mkdir(parents=True, exist_ok=True)
    for path, columns in ((runs, flat_table(figures)), (timeline, timeline_columns(figures))):
        write_columns(path, columns)


def write_columns(path: Path, columns: Mapping[str, Sequence[Any]]) -> None:
    """Write a table of columns; raises OSError, and KubeschedError without pyarrow."""
    pyarrow = extra_module("pyarrow", "parquet", "Parquet")
    files = extra_module("pyarrow.parquet", "parquet", "Parquet")
    files.write_table(pyarrow.table({name: _array(pyarrow, values) for name, values in columns.items()}), path)


def timeline_columns(figures: Sequence[Figures]) -> dict[str, list[Any]]:
    """Return the samples of all runs by column; None where a run does not have the column."""
    names = dict.fromkeys(name for each in figures for name in each.timeline)
    columns: dict[str, list[Any]] = {"config": [], "seed": []}
    for each in figures:
        samples = len(each.timeline["at"])
        columns["config"] += [each.config] * samples
        columns["seed"] += [each.seed] * samples
    for name in names:
        columns[name] = []
        for each in figures:
            columns[name] += each.timeline.get(name, [None] * len(each.timeline["at"]))
    return columns


def _array(pyarrow: Any, values: Sequence[Any]) -> Any:
    """Return an array; the numbers of a column are either all integers or all floats."""
    if any(isinstance(value, float) for value in values):
        return pyarrow.array([None if value is None else float(value) for value in values], pyarrow.float64())
    return pyarrow.array(values)
