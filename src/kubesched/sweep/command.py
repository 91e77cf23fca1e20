"""`kubesched sweep`: many simulations in, results as they come and a report out.

From a command line to a plan, to workers, and to a folder of results. Progress goes to standard error, the report to
standard output or into a file. Exit code 3: some runs failed.
"""

import functools
import io
import os
import sys
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import click
from rich.console import Console
from rich.table import Table

from kubesched.cli.command_group import CommandWithSubcommands
from kubesched.sweep.asked import AskedSweep, changes, read_asked, write_asked
from kubesched.sweep.collecting import collect
from kubesched.sweep.errors import SweepError
from kubesched.sweep.executors.dask_workers import DaskWorkers
from kubesched.sweep.executors.in_process import InProcess
from kubesched.sweep.executors.processes import ProcessWorkers
from kubesched.sweep.preparing import check, prepare
from kubesched.sweep.progress import SweepProgress
from kubesched.sweep.report import SweepReport, as_csv, as_json, as_table, report_of
from kubesched.sweep.results import FORMATS, SweepResults, failures_in, form_of
from kubesched.sweep.runs import SweepSetup, Tell, Workers

F = TypeVar("F", bound=Callable[..., Any])
SOME_FAILED = 3


class ReportOptions(NamedTuple):
    """How a report is written, and where."""

    output: str
    file: Path | None
    figures: Sequence[str]


def report_options(command: F) -> F:
    """Give a command the options about its report, as its parameter `report`."""

    @click.option("-o", "--output", type=click.Choice(["table", "json", "csv"]), default="table", show_default=True)
    @click.option("--file", type=click.Path(path_type=Path, dir_okay=False), help="Write the report to a file.")
    @click.option(
        "--figures", metavar="NAMES", default="", help="Figures to report, such as waiting.p99,resources.cpu.share."
    )
    @functools.wraps(command)
    def with_report(*args: Any, output: str, file: Path | None, figures: str, **kwargs: Any) -> Any:
        names = [name.strip() for name in figures.split(",") if name.strip()]
        return command(*args, report=ReportOptions(output, file, names), **kwargs)

    return with_report  # type: ignore[return-value]


@click.command("show")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@report_options
def show_command(folder: Path, report: ReportOptions) -> None:
    """Write the report again from the results in FOLDER, also of a sweep that still runs."""
    asked = read_asked(folder)
    if asked is None:
        raise SweepError(f"{folder}: there is no sweep.json; give a folder that `kubesched sweep` wrote")
    results = SweepResults(folder, form_of(folder) or "jsonl")
    found = report_of(asked.runs, results.rows, failures_in(folder))
    _write(found, report)


@click.command("sweep", cls=CommandWithSubcommands, subcommands={"show": show_command})
@click.argument("spec", type=click.Path(exists=True, dir_okay=False))
@click.option("--workers", type=click.IntRange(1, 1024), help="Processes. [default: as many as there are cores]")
@click.option("--dask", metavar="ADDRESS", help="Workers of a Dask cluster: tcp://HOST:PORT; local:2 starts two here.")
@click.option(
    "--results",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Where results go. [default: the name of SPEC with -results]",
)
@click.option("--format", "form", type=click.Choice(FORMATS), help="Format of results. [default: parquet]")
@click.option("--timeline", is_flag=True, help="Keep the samples over time of each run, too.")
@click.option("--resume", is_flag=True, help="Go on with the results that are there.")
@click.option("--force", is_flag=True, help="Go on though the sweep has changed: runs that are the same are kept.")
@click.option("--dry-run", is_flag=True, help="List the runs and end.")
@report_options
@click.pass_context
def sweep_command(
    ctx: click.Context,
    spec: str,
    workers: int | None,
    dask: str | None,
    folder: Path | None,
    form: str | None,
    timeline: bool,
    resume: bool,
    force: bool,
    dry_run: bool,
    report: ReportOptions,
) -> None:
    """Simulate many times: configurations x traces x sizes of clusters x seeds, on all cores.

    SPEC is a YAML file of kind Sweep. Results arrive in a folder while the sweep runs, a row for each run; a run that
    fails is told, and the others go on. The report does not depend on the number of workers or on interruptions.

    \b
    Examples:
      kubesched sweep examples/simulate/sweep.yaml --dry-run
      kubesched sweep examples/simulate/sweep.yaml --results sizes
      kubesched sweep examples/simulate/sweep.yaml --results sizes --resume
      kubesched sweep show sizes -o csv --figures waiting.p99
    """
    if dask is not None and workers is not None:
        raise click.UsageError("--workers is for processes of this machine, and --dask has workers of its own")
    prepared = prepare(spec, timeline=timeline)
    runs = prepared.plan()
    check(prepared.setup, runs)
    if dry_run:
        for run in runs:
            click.echo(run.name)
        click.echo(f"{len(runs)} runs", err=True)
        return
    folder = folder or Path(f"{Path(spec).stem}-results")
    asked = prepared.asked(runs)
    results = _opened(folder, form, asked, resume=resume, force=force)
    there = sum(run.id in results.rows for run in runs)
    progress = SweepProgress(len(runs), there)
    with closing(_workers(prepared.setup, workers, dask, progress.note)) as executor:
        write_asked(folder, asked)
        results.begin_again()
        failed = collect(runs, executor, results, progress)
    progress.end()
    results.finish(runs)
    _write(report_of([run.label for run in runs], results.rows, failures_in(folder)), report)
    if failed:
        ctx.exit(SOME_FAILED)


def _workers(setup: SweepSetup, count: int | None, dask: str | None, tell: Tell) -> Workers:
    if dask is not None:
        return DaskWorkers(setup, dask, tell)
    count = count or len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return InProcess(setup) if count == 1 else ProcessWorkers(setup, count, tell)


def _opened(folder: Path, form: str | None, asked: AskedSweep, *, resume: bool, force: bool) -> SweepResults:
    """Return the results in a folder, in which nothing may be that does not belong to this sweep."""
    before, there = read_asked(folder), form_of(folder)
    if before is not None and not resume:
        raise SweepError(f"{folder} has results already: go on with --resume, or name another folder with --results")
    if before is not None and not force and (changed := changes(before, asked)):
        raise SweepError(
            f"{folder}: changed since these results were written: {', '.join(changed)}; with --force runs that are "
            "the same are kept and the others are done again, with --results they go elsewhere"
        )
    if form is not None and there is not None and form != there:
        raise SweepError(f"{folder}: the results there are {there}: leave --format out, or name another folder")
    return SweepResults(folder, form or there or FORMATS[0])


def _write(found: SweepReport, options: ReportOptions) -> None:
    """Write a report."""
    for name, reason in found.missing[:20]:
        click.echo(f"missing: {name}: {reason}", err=True)
    if len(found.missing) > 20:
        click.echo(f"missing: {len(found.missing) - 20} more", err=True)
    if options.output == "table":
        table = as_table(found, options.figures)
        text = _printed(table, None if sys.stdout.isatty() and not options.file else 160)
    else:
        text = (as_json if options.output == "json" else as_csv)(found, options.figures)
    if options.file is None:
        click.echo(text, nl=False)
        return
    try:
        options.file.write_text(text)
    except OSError as error:
        raise SweepError(f"--file {options.file}: {error.strerror or error}") from None


def _printed(table: Table, width: int | None) -> str:
    text = io.StringIO()
    Console(file=text, width=width or Console().width).print(table)
    return text.getvalue()
