"""The output of sweep reports: the options of commands, and the writing.

From a report to standard output or a file, as a table, CSV or JSON. Missing runs are reported on standard error.
"""

import functools
import io
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click
from rich.console import Console
from rich.table import Table

from kubesched_lab.simulate.reports.writing import form_of
from kubesched_lab.sweep.errors import SweepError
from kubesched_lab.sweep.report import SweepReport, as_csv, as_json, as_table
from kubesched_lab.sweep.trial_files import FoundTrials, trials_csv, trials_json, trials_table

F = TypeVar("F", bound=Callable[..., Any])
FORMS = ("table", "json", "csv")
WIDTH = 160
MOST_TOLD = 20


class ReportOptions(NamedTuple):
    """The format of a report, and where it goes."""

    output: str
    file: Path | None
    figures: Sequence[str]


def report_options(command: F) -> F:
    """Add the options of reports to a command, as its parameter `report`."""

    @click.option("-o", "--output", type=click.Choice(FORMS), help="Format of the report. [default: table]")
    @click.option(
        "--file",
        type=click.Path(path_type=Path, dir_okay=False),
        help="Write the report to a file; .json and .csv set the format.",
    )
    @click.option(
        "--figures", metavar="NAMES", default="", help="Figures to report, such as waiting.p99,resources.cpu.share."
    )
    @functools.wraps(command)
    def with_report(*args: Any, output: str | None, file: Path | None, figures: str, **kwargs: Any) -> Any:
        names = [name.strip() for name in figures.split(",") if name.strip()]
        form = form_of(output, file)
        if form not in FORMS:
            raise SweepError(f"--file {file}: reports of sweeps are {', '.join(FORMS)}; results are in their folder")
        return command(*args, report=ReportOptions(form, file, names), **kwargs)

    return with_report  # type: ignore[return-value]


def report_sweep(found: SweepReport, options: ReportOptions) -> None:
    """Write the report of a sweep."""
    if options.output == "table":
        _write(_printed(as_table(found, options.figures), options), options)
    else:
        _write((as_json if options.output == "json" else as_csv)(found, options.figures), options)


def report_missing(found: SweepReport) -> None:
    """Print the missing runs, with the reasons."""
    for name, reason in found.missing[:MOST_TOLD]:
        click.echo(f"missing: {name}: {reason}", err=True)
    if len(found.missing) > MOST_TOLD:
        click.echo(f"missing: {len(found.missing) - MOST_TOLD} more", err=True)


def report_trials(found: FoundTrials, options: ReportOptions) -> None:
    """Write the report of a search."""
    if options.output == "table":
        _write(_printed(trials_table(found), options), options)
    else:
        _write((trials_json if options.output == "json" else trials_csv)(found), options)


def _printed(table: Table, options: ReportOptions) -> str:
    text = io.StringIO()
    wide = Console().width if sys.stdout.isatty() and options.file is None else WIDTH
    Console(file=text, width=wide).print(table)
    return text.getvalue()


def _write(text: str, options: ReportOptions) -> None:
    if options.file is None:
        click.echo(text, nl=False)
        return
    try:
        options.file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise SweepError(f"--file {options.file}: {error.strerror or error}") from None
