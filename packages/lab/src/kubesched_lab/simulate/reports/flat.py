"""The figures of a run as one flat row, for tables of many runs.

From figures to columns, each named by its path in the JSON report: `config`, `waiting.p99`, `resources.cpu.share`.
Lists (the timeline) are left out. Counts that a run may lack are 0, so that runs have the same columns.
"""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import msgspec

from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.measuring.measurements import COUNTS

Cell = float | int | str


def flat_row(figures: Figures) -> dict[str, Cell]:
    """Return the figures of a run by the path of each."""
    plain = msgspec.to_builtins(figures)
    plain["pods"] = {**dict.fromkeys(COUNTS, 0), **plain["pods"]}
    return dict(_leaves(plain, ""))


def flat_columns(rows: Iterable[dict[str, Cell]]) -> list[str]:
    """Return all columns of the rows, in the order of their first occurrence."""
    return list(dict.fromkeys(column for row in rows for column in row))


def flat_table(figures: Sequence[Figures]) -> dict[str, list[Cell | None]]:
    """Return a column for each figure, with a value for each run; None if a run does not have the figure."""
    rows = [flat_row(each) for each in figures]
    return {column: [row.get(column) for row in rows] for column in flat_columns(rows)}


def _leaves(value: Any, path: str) -> Iterator[tuple[str, Cell]]:
    if isinstance(value, dict):
        for key, each in value.items():
            yield from _leaves(each, f"{path}.{key}" if path else key)
    elif isinstance(value, int | float | str):
        yield path, value
