"""`kubesched simulate`: traces in, figures out.

From a command line to runs, one for each configuration and seed, one after the other, and to their report. Progress
goes to standard error, the report to standard output or into files.
"""

from pathlib import Path

import click
from click.core import ParameterSource

from kubesched.cli.durations import DurationType
from kubesched.cli.gate_options import gate_options
from kubesched.cli.notes import note
from kubesched.cli.plugin_options import plugin_option
from kubesched.common.garbage_collection import collect_seldom
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.framework.building.registry import Registry
from kubesched.sources.custom_kinds import custom_kinds_of
from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.measuring.pod_log import PodLog
from kubesched_lab.simulate.measuring.rates import RateLabels
from kubesched_lab.simulate.options import (
    SeedsType,
    TracePath,
    configs_of,
    loaded_configs,
    pace_options,
    rate_options,
    replay_options,
)
from kubesched_lab.simulate.progress import progress_of
from kubesched_lab.simulate.report_options import ReportTarget, report_options
from kubesched_lab.simulate.reports.pod_files import RunWriter
from kubesched_lab.simulate.simulated_api import Pace
from kubesched_lab.simulate.simulation import Run, simulate
from kubesched_lab.simulate.traces import trace_writing
from kubesched_lab.simulate.traces.reading import read_traces
from kubesched_lab.simulate.traces.recording.run_times import Durations
from kubesched_lab.simulate.traces.scenario_header import scenario_header
from kubesched_lab.simulate.traces.trace import at_speed

_WORDS = "kubesched_lab.simulate.words"


class _SimulateCommand(click.Command):
    """A command that keeps its command line, which reports quote."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        ctx.meta[_WORDS] = list(args)
        return super().parse_args(ctx, args)


@click.command("simulate", cls=_SimulateCommand)
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...", type=TracePath())
@click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="[NAME=]FILE",
    help="A KubeSchedulerConfiguration file; repeat it to compare several. [default: the default configuration]",
)
@click.option(
    "--seed",
    "--seeds",
    "seeds",
    type=SeedsType(),
    default="0",
    show_default=True,
    help="Seed, or a range such as 1-5 for five runs.",
)
@click.option(
    "--until", type=DurationType(), help="End after this simulated time. [default: when there are no more events]"
)
@click.option(
    "--warm-up", type=DurationType(), default="0s", show_default=True, help="Start measuring at this simulated time."
)
@pace_options
@report_options
@click.option(
    "--mapping",
    type=click.Path(path_type=Path),
    help="Meaning of the columns of CSV or Parquet files (a file of kind CsvMapping).",
)
@click.option(
    "--write-trace",
    type=click.Path(path_type=Path, dir_okay=False),
    help="Write the trace to a file, .jsonl, .jsonl.gz or .parquet, instead of simulating it.",
)
@click.option("--workload", metavar="NAME", help="Workload to run from a scheduler_perf file: TestCase/workload.")
@rate_options
@replay_options
@gate_options
@plugin_option
@click.pass_context
def simulate_command(
    ctx: click.Context,
    traces: tuple[str, ...],
    configs: tuple[str, ...],
    seeds: list[int],
    until: float | None,
    warm_up: float,
    pace: Pace,
    target: ReportTarget,
    mapping: Path | None,
    write_trace: Path | None,
    workload: str | None,
    rates: RateLabels,
    speed: float,
    durations: Durations,
    gates: FeatureGates,
    registry: Registry,
) -> None:
    """Simulate a cluster in virtual time: pods arrive, wait, run and leave, under the real scheduler.

    A TRACE is a file of events (.jsonl, .jsonl.gz, .parquet), a CSV or Parquet file with a --mapping, a Workload that
    generates pods (.yaml), a workload of scheduler_perf (FILE.yaml#TestCase/workload), a recording (of kubesched,
    kwok, kube-scheduler-simulator or SimKube), or a cluster (manifests, a snapshot), which exists from the
    beginning. A scenario that the page saved contains its configuration and seed; --config and --seed override them.
    Several files make one trace: nodes may be in one file, pods in another.

    The same traces, configurations and seeds give the same report, to the byte.

    \b
    Examples:
      kubesched simulate examples/simulate/batch.yaml
      kubesched simulate batch.yaml --config spread.yaml --config packed=pack.yaml --seeds 1-5
      kubesched simulate nodes.yaml pods.jsonl.gz --until 24h --warm-up 1h --file report.html
      kubesched simulate batch.yaml --file runs.parquet --pods pods.parquet --plots pictures
      kubesched simulate 'performance-config.yaml#SchedulingBasic/500Nodes' --no-recreate
    """
    if until is not None and warm_up >= until:
        raise click.BadParameter("the warm-up is as long as the simulation (--until)", param_hint="--warm-up")
    header = next((found for path in traces if (found := scenario_header(path)) is not None), None)
    if header is not None and ctx.get_parameter_source("seeds") is ParameterSource.DEFAULT:
        seeds = [header.seed]
    texts = configs_of(configs)
    if header is not None and header.configuration and not configs:
        texts = {"scenario": header.configuration.encode()}
    loaded = loaded_configs(texts, gates, registry)
    kinds = sorted({kind for each in loaded.values() for kind in custom_kinds_of(each, registry)})

    if header is not None and header.configurations_at and configs:
        times = ", ".join(f"{seconds:g} s" for seconds in header.configurations_at)
        note(f"the scenario puts another configuration in force at {times}: --config is the one of the beginning")
    trace = at_speed(read_traces(traces, kinds, mapping, note, durations, workload or ""), speed)
    if write_trace is not None:
        count = trace_writing.write_trace(trace, seeds[0], write_trace)
        note(f"{write_trace}: {count} events")
        return
    runs = [
        Run(trace, config, registry, name, seed, until, warm_up, pace, rates)
        for name, config in loaded.items()
        for seed in seeds
    ]
    collect_seldom()
    with target.pod_rows() as log:
        figures = [_run(run, number, len(runs), log) for number, run in enumerate(runs, 1)]
    target.write(figures, ["kubesched", "simulate", *ctx.meta[_WORDS]])


def _run(run: Run, number: int, of: int, log: RunWriter | None) -> Figures:
    """Simulate one run and show its progress."""
    name = f"{run.config_name}, seed {run.seed}" + (f" ({number} of {of})" if of > 1 else "")
    pod_log = PodLog(log(run.config_name, run.seed)) if log is not None else None
    with progress_of(name, run.until) as tell:
        return simulate(run, lambda line: note(f"{name}: {line}"), tell, pod_log)
