"""Reports of simulations: a table for people, JSON, CSV.

From figures to text. Nothing here depends on the machine or its clock: the same figures give the same bytes.
"""

import csv
import io
from collections.abc import Sequence

import msgspec
from rich.table import Table

from kubesched_lab.simulate.measuring.comparison import Interval, compared
from kubesched_lab.simulate.measuring.figures import Figures


def as_json(figures: Sequence[Figures]) -> str:
    """Return all figures, a list with an object for each run."""
    return msgspec.json.format(msgspec.json.encode({"runs": list(figures)}), indent=2).decode() + "\n"


def as_csv(figures: Sequence[Figures]) -> str:
    """Return a line for each figure under each configuration."""
    configs, rows = compared(figures)
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["figure", "unit", "config", "mean", "interval", "difference", "differenceInterval"])
    for row in rows:
        for index, config in enumerate(configs):
            cells = [*_cells(row.of[index]), *(_cells(row.differences[index - 1]) if index else ("", ""))]
            writer.writerow([row.name, row.unit, config, *cells])
    return text.getvalue()


def as_table(figures: Sequence[Figures]) -> Table:
    """Return the figures of all configurations side by side, with differences from the first."""
    configs, rows = compared(figures)
    seeds = len({each.seed for each in figures})
    title = figures[0].trace + (f", {seeds} seeds: mean and 95 % interval" if seeds > 1 else "")
    table = Table(title=title, title_justify="left")
    table.add_column("figure")
    for index, config in enumerate(configs):
        table.add_column(config, justify="right")
        if index:
            table.add_column(f"{config} - {configs[0]}", justify="right")
    for row in rows:
        if not any(each.mean for each in row.of):
            continue
        cells = []
        for index, each in enumerate(row.of):
            cells.append(shown(each, row.unit))
            if index:
                cells.append(difference_shown(row.differences[index - 1], row.unit))
        table.add_row(row.name, *cells)
    return table


def _cells(found: Interval) -> tuple[str, str]:
    return f"{found.mean:.6g}", "" if found.off is None else f"{found.off:.6g}"


def shown(found: Interval, unit: str) -> str:
    """Return a figure with its unit, and its interval if it has one."""
    text = number_shown(found.mean) if found.off is None else f"{number_shown(found.mean)} ± {number_shown(found.off)}"
    return f"{text} {unit}".rstrip()


def difference_shown(found: Interval, unit: str) -> str:
    """Return a difference with its sign; in parentheses if it is not significant."""
    text = f"{'+' if found.mean > 0 else ''}{shown(found, unit)}"
    # a difference whose interval holds 0 is not significant
    return text if found.off is None or found.differs else f"({text})"


def number_shown(value: float) -> str:
    """Return a number rounded for readers."""
    return f"{value:.0f}" if value == round(value) or abs(value) >= 1000 else f"{value:.3g}"
