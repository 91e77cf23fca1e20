"""`kubesched bench`: runs workloads, and prints figures.

From a command line to runs, one for each workload, scheduler and repetition, one after the other, and to their report.
Progress goes to standard error, the report to standard output or into a file.
"""

import asyncio
import sys
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import Any

import click
import msgspec
from rich.console import Console

from kubesched.cli.durations import DurationType
from kubesched.cli.event_loop import run_loop
from kubesched.cli.plugin_options import load_plugins
from kubesched.common.files import writing_problem
from kubesched.common.notes import Note
from kubesched.errors import KubeschedError
from kubesched_lab.bench.cluster_runs import ClusterBench, run_on_cluster
from kubesched_lab.bench.engine_runs import run_in_child, run_in_process
from kubesched_lab.bench.errors import BenchError
from kubesched_lab.bench.executor import PATIENCE_SECONDS
from kubesched_lab.bench.figures import Measured, RunResult
from kubesched_lab.bench.results import BenchmarkResults, as_json, document_of, lowest_ratio, read_results, summaries
from kubesched_lab.bench.scheduler_process import OWN, SchedulerCommand, named
from kubesched_lab.bench.shipped import runs_named, shipped_runs
from kubesched_lab.bench.tables import footnotes, table_of_results, table_of_workloads
from kubesched_lab.simulate.traces.perf.perf_cases import PerfRun, labelled

WIDTH = 160
TOO_SLOW = 3
_WORDS = "kubesched_lab.bench.words"
_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
Runner = Callable[[PerfRun, int], Sequence[RunResult]]


class _BenchCommand(click.Command):
    """A command that keeps its command line, which reports quote."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_WORDS] = list(args)
        return super().parse_args(ctx, args)


@click.command("bench", cls=_BenchCommand)
@click.argument("workloads", nargs=-1, metavar="[FILE|NAME]...")
@click.option(
    "--on",
    type=click.Choice(["engine", "embedded", "cluster"]),
    default="engine",
    show_default=True,
    help="Where to run: the engine alone, the embedded control plane, or the cluster of --kubeconfig.",
)
@click.option("--kubeconfig", type=_FILE, help="Kubeconfig of the cluster, for a user who may create nodes and pods.")
@click.option(
    "--scheduler-kubeconfig", type=_FILE, help="Kubeconfig for --scheduler and --against. [default: --kubeconfig]"
)
@click.option("--scheduler", metavar="COMMAND", help="Command of a scheduler to start for each run; see above.")
@click.option(
    "--against", metavar="COMMAND", help="Command of a second scheduler, to run in turns with the first and compare."
)
@click.option(
    "--label", default="", metavar="LABELS", help="Run only workloads with these labels, such as performance,-short."
)
@click.option("--list", "listing", is_flag=True, help="List the workloads and exit.")
@click.option(
    "--repeat", type=click.IntRange(1, 1000), default=1, show_default=True, help="Number of runs of each workload."
)
@click.option("--config", type=_FILE, help="KubeSchedulerConfiguration file to measure. [default: the workload's]")
@click.option("--plugin", "plugins", multiple=True, metavar="SOURCE", help="Custom plugins, on the engine.")
@click.option("-o", "--output", type=click.Choice(["table", "json"]), default="table", show_default=True)
@click.option("--file", type=click.Path(path_type=Path, dir_okay=False), help="Write the report to a file.")
@click.option("--compare", type=_FILE, help="Compare with the results of an earlier run (-o json).")
@click.option(
    "--fail-below",
    type=click.FloatRange(0, min_open=True),
    metavar="RATIO",
    help=f"With --compare: exit with code {TOO_SLOW} if a throughput is below this ratio.",
)
@click.option(
    "--patience",
    type=DurationType(),
    default=f"{PATIENCE_SECONDS:.0f}s",
    show_default=True,
    help="Timeout without a further scheduled pod.",
)
@click.option("--yes", is_flag=True, help="Run also on a cluster that has nodes or pods already.")
@click.option(
    "--in-process", is_flag=True, help="Run the engine in this process; the memory figure then includes all runs."
)
@click.pass_context
def bench(
    ctx: click.Context,
    /,
    workloads: tuple[str, ...],
    on: str,
    label: str,
    listing: bool,
    repeat: int,
    output: str,
    file: Path | None,
    compare: Path | None,
    fail_below: float | None,
    **how: Any,
) -> None:
    """Measure a scheduler with workloads in the form of Kubernetes' scheduler_perf.

    A NAME is TestCase/workload, or TestCase for all of its sizes. kubesched bundles workloads (--list), and
    FILE#NAME takes one from your file (performance-config.yaml with its templates, unchanged). FILE alone means all of
    its workloads. The default is SchedulingBasic/500Nodes.

    On the engine, the scheduler's loop runs over an API in memory: no requests, no other processes. On the embedded
    control plane and on clusters, objects are created over HTTP. --scheduler starts a scheduler for each run. In its
    command, {config} is a configuration file with the kubeconfig and 5000 requests a second, {kubeconfig} the
    kubeconfig alone, {port} a free port where the benchmark reads /healthz and /metrics, and {gates} the flag
    --feature-gates for the workload. Without --scheduler, the embedded control plane gets `kubesched run`, and a
    cluster its own scheduler.

    A benchmark works in new namespaces, and deletes all objects that it created, also after Ctrl-C and SIGTERM. It
    refuses a cluster with nodes or pods without --yes.

    \b
    Examples:
      kubesched bench
      kubesched bench SchedulingBasic/5000Nodes_10000Pods TopologySpreading --repeat 3 -o json --file new.json
      kubesched bench --label performance --compare old.json --fail-below 0.9
      kubesched bench performance-config.yaml#SchedulingBasic/500Nodes --on embedded
      kubesched bench --on cluster --kubeconfig admin.kubeconfig --scheduler 'kubesched run --config {config}' \\
          --against 'kube-scheduler --config {config}'

    Exit code: 0, also if a threshold is not met; 1 if a workload cannot run (the rest do); 3 with --fail-below.
    """
    if fail_below is not None and compare is None:
        raise click.BadParameter("needs --compare OLD.json", param_hint="--fail-below")
    runs = labelled(shipped_runs(), label) if listing and not workloads else runs_named(workloads, label)
    if listing:
        _print([table_of_workloads(runs)], None)
        return
    if file is not None and (problem := writing_problem(file)):
        raise BenchError(f"--file {file}: {problem}")
    earlier = read_results(compare) if compare is not None else None
    runner = _engine_runner(**how) if on == "engine" else _cluster_runner(on, **how)
    # the parent of a child process prints them
    tell = _silent if how["in_process"] and output == "json" else _print_line
    results, failed = _all_results(runs, repeat, runner, tell)
    if not results:
        ctx.exit(1)
    document = document_of(results, on, ["kubesched", "bench", *ctx.meta[_WORDS]])
    _report(document, output, file, earlier, compare)
    if earlier is not None and fail_below is not None:
        slowest = lowest_ratio(summaries(results), summaries(earlier.results))
        if slowest is not None and slowest[0] < fail_below:
            _print_line(f"{slowest[1]}: the throughput is {slowest[0]:.2f} of that in {compare}, below {fail_below:g}")
            ctx.exit(TOO_SLOW)
    if failed:
        ctx.exit(1)


def _engine_runner(
    *,
    config: Path | None,
    plugins: tuple[str, ...],
    patience: float,
    in_process: bool,
    scheduler: str | None,
    against: str | None,
    **others: Any,
) -> Runner:
    """Return a function that runs a workload on the engine."""
    if scheduler or against or others["kubeconfig"]:
        raise click.UsageError("--scheduler, --against and --kubeconfig need --on embedded or --on cluster")
    if in_process:
        registry = load_plugins(plugins)
        return lambda run, turn: [run_in_process(run, config, registry, _print_line, patience, _progress(run))]
    options = ["--patience", f"{patience}s", *(("--config", str(config)) if config else ())]
    options += [word for plugin in plugins for word in ("--plugin", plugin)]
    return lambda run, turn: [run_in_child(run, options)]


def _cluster_runner(
    on: str,
    *,
    kubeconfig: Path | None,
    scheduler_kubeconfig: Path | None,
    scheduler: str | None,
    against: str | None,
    config: Path | None,
    patience: float,
    yes: bool,
    plugins: tuple[str, ...],
    in_process: bool,
) -> Runner:
    """Return a function that runs a workload on a cluster."""
    if (on == "cluster") != (kubeconfig is not None):
        raise click.UsageError("--on cluster needs --kubeconfig, and --kubeconfig needs --on cluster")
    if against and not scheduler and on == "cluster":
        raise click.UsageError("--against needs --scheduler: the cluster's own scheduler would run at the same time")
    if plugins or in_process:
        raise click.UsageError(
            "--plugin and --in-process are for the engine; give a --scheduler its options in its command"
        )
    own = SchedulerCommand("kubesched run", OWN) if on == "embedded" else None
    first = named(scheduler) if scheduler else own
    commands = [command for command in (first, named(against) if against else None) if command is not None]
    if len(commands) == 2 and commands[0].name == commands[1].name:
        commands = [SchedulerCommand(f"{each.name} ({i})", each.text) for i, each in enumerate(commands, 1)]
    settings = ClusterBench(commands, _absolute(kubeconfig), _absolute(scheduler_kubeconfig), config, patience, yes)
    return lambda run, turn: run_loop(run_on_cluster(run, msgspec.structs.replace(settings, tell=_progress(run)), turn))


def _absolute(file: Path | None) -> Path | None:
    return None if file is None else file.absolute()


def _all_results(runs: Sequence[PerfRun], repeat: int, runner: Runner, tell: Note) -> tuple[list[RunResult], list[str]]:
    """Run each workload a number of times, with progress; return the results, and the names of failed workloads."""
    results: list[RunResult] = []
    failed: list[str] = []
    for run in runs:
        if run.unused_params:
            tell(f"{run.name}: no operation uses the parameter {', '.join(run.unused_params)}")
        for turn in range(repeat):
            of = f" ({turn + 1} of {repeat})" if repeat > 1 else ""
            try:
                found = runner(run, turn)
            except KubeschedError as error:
                _print_line(f"Error: {error}")
                failed.append(run.name)
                break
            except (KeyboardInterrupt, asyncio.CancelledError):
                _print_line(f"{run.name}: interrupted; the report has the runs before")
                return results, [*failed, run.name]
            for result in found:
                results.append(msgspec.structs.replace(result, repeat=turn))
                rates = ", ".join(_rate(measured) for measured in result.measured)
                tell(f"{run.name}{of}, {result.scheduler}: {rates}")
    return results, failed


def _rate(measured: Measured) -> str:
    rate = f", {measured.throughput.average:.0f} a second" if measured.throughput is not None else ""
    return f"{measured.pods} pods in {measured.seconds:.2f} s{rate}"


def _report(
    document: BenchmarkResults, output: str, file: Path | None, earlier: BenchmarkResults | None, compared: Path | None
) -> None:
    if output == "json":
        _write(as_json(document), file)
        return
    found = summaries(document.results)
    before = summaries(earlier.results) if earlier is not None else []
    first = found[0].scheduler if found else ""
    name = compared.name if compared is not None else first
    machine = document.machine
    lines = [*footnotes(found), f"Python {machine.python}, {machine.cpus} CPUs, {machine.architecture}"]
    _print([table_of_results(found, document.on, before, name), *lines], file)


def _print(shown: Sequence[object], file: Path | None) -> None:
    if file is None:
        console = Console(width=None if sys.stdout.isatty() else WIDTH)
        for each in shown:
            console.print(each, highlight=False)
        return
    console = Console(width=WIDTH, file=StringIO())
    for each in shown:
        console.print(each, highlight=False)
    _write(console.file.getvalue(), file)  # type: ignore[attr-defined]


def _write(text: str, file: Path | None) -> None:
    if file is None:
        click.echo(text, nl=False)
        return
    try:
        file.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BenchError(f"--file {file}: {error.strerror or error}") from None


def _progress(run: PerfRun) -> Note:
    """Return a function that shows the progress of a run, on a terminal in a line that is overwritten."""
    if not sys.stderr.isatty():
        return _silent
    return lambda line: click.echo(f"\r{run.name}: {line}\x1b[K\r", nl=False, err=True)


def _silent(line: str) -> None:
    pass


def _print_line(line: str) -> None:
    click.echo(line, err=True)
