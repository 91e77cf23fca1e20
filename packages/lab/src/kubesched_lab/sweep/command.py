"""`kubesched sweep`: many simulations, with results in a folder and a report.

From a command line to a plan, to workers, and to a folder of results. Progress goes to standard error, the report to
standard output or into a file. Exit code 3: some runs failed.
"""

import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import NamedTuple

import click

from kubesched.cli.command_group import CommandWithSubcommands
from kubesched_lab.sweep.collecting import collect
from kubesched_lab.sweep.errors import SweepError
from kubesched_lab.sweep.executors.dask_workers import DaskWorkers
from kubesched_lab.sweep.executors.in_process import InProcess
from kubesched_lab.sweep.executors.interrupts import Interrupts, interrupts_noted
from kubesched_lab.sweep.executors.processes import ProcessWorkers
from kubesched_lab.sweep.preparing import PreparedSweep, check, prepare
from kubesched_lab.sweep.progress import SweepProgress
from kubesched_lab.sweep.report import report_of
from kubesched_lab.sweep.report_output import ReportOptions, report_missing, report_options, report_sweep, report_trials
from kubesched_lab.sweep.request import SweepRequest, changes, read_request
from kubesched_lab.sweep.results import FORMATS, SweepResults, failures_in, form_of
from kubesched_lab.sweep.runs import RunOutcome, SweepRun, SweepSetup, Tell, Workers
from kubesched_lab.sweep.trial_files import best_so_far, check_same, read_search, write_search
from kubesched_lab.sweep.tuning import ConfigSearch, Rows, TuneTrial

SOME_FAILED = 3


@click.command("show")
@click.argument("folder", type=click.Path(path_type=Path, file_okay=False))
@report_options
def show_command(folder: Path, report: ReportOptions) -> None:
    """Write the report of results again.

    FOLDER is the results folder of `kubesched sweep`. The sweep may still run, or may have been interrupted.

    \b
    Examples:
      kubesched sweep show sizes
      kubesched sweep show sizes --file sizes.csv
    """
    request = read_request(folder)
    if request is None:
        raise SweepError(f"{folder}: no sweep.json found; give the results folder of `kubesched sweep`")
    if request.tuned:
        report_trials(read_search(folder), report)
        return
    results = SweepResults(folder, form_of(folder) or "jsonl")
    found = report_of(request.runs, results.rows, failures_in(folder))
    report_missing(found)
    report_sweep(found, report)


class SweepOptions(NamedTuple):
    """How a sweep is carried out, and where its results go."""

    workers: int | None
    dask: str | None
    folder: Path
    form: str | None
    resume: bool
    force: bool


@click.command("sweep", cls=CommandWithSubcommands, subcommands={"show": show_command})
@click.argument("spec", type=click.Path(exists=True, dir_okay=False))
@click.option(
    "--workers", type=click.IntRange(1, 1024), help="Number of worker processes. [default: the number of cores]"
)
@click.option(
    "--dask",
    metavar="ADDRESS",
    help="Use a Dask cluster: tcp://HOST:PORT of its scheduler, or local:2 for two local workers.",
)
@click.option(
    "--results",
    "folder",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="FOLDER",
    help="Folder for the results. [default: the name of SPEC with -results]",
)
@click.option("--format", "form", type=click.Choice(FORMATS), help="Format of results. [default: parquet]")
@click.option("--timeline", is_flag=True, help="Also write the samples over time of each run.")
@click.option("--resume", is_flag=True, help="Continue with the existing results.")
@click.option(
    "--force", is_flag=True, help="Continue although the sweep has changed; results of unchanged runs are kept."
)
@click.option("--tune", is_flag=True, help="Search for the configuration that is best for an objective (field `tune`).")
@click.option("--dry-run", is_flag=True, help="List the runs and exit.")
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
    tune: bool,
    dry_run: bool,
    report: ReportOptions,
) -> None:
    """Simulate many times: configurations x traces x sizes of clusters x seeds, on all cores.

    SPEC is a YAML file of kind Sweep. The sweep writes a row for each run to a folder as soon as the run ends. If a run
    fails, the sweep reports it and continues. The report does not depend on the number of workers or on interruptions.

    With --tune, the sweep searches for the field values of one configuration that are best for an objective. It writes
    the best configuration to best.yaml among the results.

    \b
    Examples:
      kubesched sweep examples/simulate/sweep.yaml --dry-run
      kubesched sweep examples/simulate/sweep.yaml --results sizes
      kubesched sweep examples/simulate/sweep.yaml --results sizes --resume
      kubesched sweep show sizes -o csv --figures waiting.p99
      kubesched sweep examples/simulate/tune.yaml --tune --results tuned
    """
    if dask is not None and workers is not None:
        raise click.UsageError(
            "--workers is for processes of this machine, and a Dask cluster has its own workers: leave one out"
        )
    prepared = prepare(spec, timeline=timeline)
    options = SweepOptions(workers, dask, folder or Path(f"{Path(spec).stem}-results"), form, resume, force)
    if tune:
        failed = _tune(prepared, options, report, dry_run=dry_run)
    else:
        failed = _sweep(prepared, options, report, dry_run=dry_run)
    if failed:
        ctx.exit(SOME_FAILED)


def _sweep(prepared: PreparedSweep, options: SweepOptions, report: ReportOptions, *, dry_run: bool) -> int:
    """Carry out all runs; return the number of failed runs."""
    runs = prepared.plan()
    check(prepared.setup, runs)
    if dry_run:
        for run in runs:
            click.echo(run.name)
        click.echo(f"{len(runs)} runs", err=True)
        return 0
    request = prepared.request(runs)
    results = _opened(options, request)
    progress = SweepProgress(len(runs))
    with _running_workers(prepared.setup, options, progress) as workers:
        results.begin(request)
        failed = collect(runs, workers, results, progress)
    progress.end()
    results.finish(runs)
    labels = [run.label for run in runs]
    report_sweep(report_of(labels, results.rows, failures_in(options.folder)), report)
    return failed


def _tune(prepared: PreparedSweep, options: SweepOptions, report: ReportOptions, *, dry_run: bool) -> int:
    """Search for a configuration; return the number of failed runs."""
    search = ConfigSearch(prepared)
    count = (search.spec.trials + 1) * search.runs_a_trial
    if dry_run:
        click.echo(f"{search.spec.trials} trials and the configuration as it is, each of {search.runs_a_trial} runs")
        return 0
    request = prepared.request([], tuned=True)
    results = _opened(options, request)
    progress, failed = SweepProgress(count), 0
    before = [] if options.force else read_search(options.folder).trials
    trials: list[TuneTrial] = []
    with _running_workers(prepared.setup, options, progress) as workers:

        def carry_out(runs: Sequence[SweepRun]) -> Rows:
            nonlocal failed
            failed += collect(runs, workers, results, progress)
            return results.rows

        results.begin(request)
        for batch in search.trials(carry_out):
            trials += batch
            check_same(before, trials, options.folder)
            write_search(options.folder, search, trials)
            progress.note(f"{len(trials) - 1} of {search.spec.trials} trials, {best_so_far(search, trials)}")
    progress.end()
    results.finish(list(search.runs.values()))
    report_trials(read_search(options.folder), report)
    return failed


@contextmanager
def _running_workers(setup: SweepSetup, options: SweepOptions, progress: SweepProgress) -> Iterator[Workers]:
    """Start workers for the duration of a block; after an interrupt, report where the results are."""
    try:
        with interrupts_noted() as interrupts, closing(_workers(setup, options, progress.note, interrupts)) as workers:
            yield _InterruptibleWorkers(workers, interrupts)
    except KeyboardInterrupt:
        progress.end()
        click.echo(f"interrupted: finished runs are in {options.folder}; continue with --resume", err=True)
        raise


class _InterruptibleWorkers:
    """Workers whose outcomes end with the first interrupt."""

    def __init__(self, workers: Workers, interrupts: Interrupts) -> None:
        self._workers = workers
        self._interrupts = interrupts
        self.close = workers.close

    def outcomes(self, runs: Sequence[SweepRun]) -> Iterator[RunOutcome]:
        """Yield an outcome for each run, in the order in which they end."""
        return self._interrupts.heeded(self._workers.outcomes(runs))


def _workers(setup: SweepSetup, options: SweepOptions, tell: Tell, interrupts: Interrupts) -> Workers:
    if options.dask is not None:
        return DaskWorkers(setup, options.dask, tell, interrupts)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    count = options.workers or cores
    return InProcess(setup) if count == 1 else ProcessWorkers(setup, count, tell)


def _opened(options: SweepOptions, request: SweepRequest) -> SweepResults:
    """Return the results in a folder; refuse a folder with results of another sweep."""
    folder, form = options.folder, options.form
    before, there = read_request(folder), form_of(folder)
    if before is not None and not options.resume:
        raise SweepError(f"{folder} already has results: continue with --resume, or name another folder with --results")
    if before is not None and not options.force and (changed := changes(before, request)):
        raise SweepError(
            f"{folder}: changed since these results were written: {', '.join(changed)}; with --force runs that are "
            "the same are kept and the others are done again, with --results they go elsewhere"
        )
    if form is not None and there is not None and form != there:
        raise SweepError(f"{folder}: the existing results are {there}: leave out --format, or name another folder")
    return SweepResults(folder, form or there or FORMATS[0])
