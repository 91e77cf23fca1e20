"""`kubesched simulate`: traces in, figures out.

From a command line to runs, one for each configuration and seed, one after the other, and to their report. Progress
goes to standard error, the report to standard output or into a file.
"""

import functools
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, TypeVar

import click
from rich.console import Console

from kubesched.asking.sources.custom_kinds import custom_kinds_of
from kubesched.cli.gate_options import gate_options
from kubesched.cli.plugin_options import plugin_option
from kubesched.common.garbage_collection import collect_seldom
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.golang import parse_duration
from kubesched.core.assembly import load_config
from kubesched.core.framework.registry import Registry
from kubesched.errors import KubeschedError
from kubesched.simulate.measuring.figures import Figures
from kubesched.simulate.measuring.rates import POWER_LABEL, PRICE_LABEL, RateLabels
from kubesched.simulate.reports.texts import as_csv, as_json, as_table
from kubesched.simulate.simulated_api import Pace
from kubesched.simulate.simulation import Run, SimulationProgress, simulate
from kubesched.simulate.traces.reading import read_traces
from kubesched.simulate.traces.recorded_run_times import Durations
from kubesched.simulate.traces.trace import at_speed

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT = "default"
TELL_SECONDS = 0.2


class DurationType(click.ParamType[float]):
    """A duration such as 30s or 2h."""

    name = "duration"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """Return seconds."""
        if isinstance(value, float):
            return value
        try:
            seconds = parse_duration(str(value)).seconds
        except ValueError:
            seconds = -1.0
        if seconds < 0:
            self.fail(f"{value!r} is no duration such as 30s or 2h", param, ctx)
        return seconds


class SeedsType(click.ParamType[list[int]]):
    """Seeds: 1, or 1-5, or 1,2,7."""

    name = "seeds"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        """Return the seeds in order."""
        if isinstance(value, list):
            return value
        try:
            seeds = [seed for part in str(value).split(",") for seed in _span(part)]
        except ValueError:
            seeds = []
        if not seeds:
            self.fail(f"{value!r} are no seeds such as 1, 1-5 or 1,2,7", param, ctx)
        return list(dict.fromkeys(seeds))


def _span(text: str) -> range:
    first, dash, last = text.partition("-")
    return range(int(first), int(last if dash else first) + 1)


def pace_options(command: F) -> F:
    """Give a command the options about how long things take, as its parameter `pace`."""

    @click.option(
        "--binding-time",
        type=DurationType(),
        default="0s",
        show_default=True,
        help="How long a request of the scheduler takes.",
    )
    @click.option(
        "--starting-time",
        type=DurationType(),
        default="0s",
        show_default=True,
        help="How long containers take to start.",
    )
    @click.option(
        "--stopping-time",
        type=DurationType(),
        default="0s",
        show_default=True,
        help="How long evicted pods take to end.",
    )
    @click.option(
        "--recreate/--no-recreate",
        default=True,
        show_default=True,
        help="Create evicted pods again, as controllers do.",
    )
    @functools.wraps(command)
    def with_pace(
        *args: Any, binding_time: float, starting_time: float, stopping_time: float, recreate: bool, **kwargs: Any
    ) -> Any:
        return command(*args, pace=Pace(binding_time, starting_time, stopping_time, recreate), **kwargs)

    return with_pace  # type: ignore[return-value]


def rate_options(command: F) -> F:
    """Give a command the options about what nodes cost and draw, as its parameter `rates`."""

    @click.option(
        "--price-label",
        default=PRICE_LABEL,
        show_default=True,
        metavar="KEY",
        help="The label or annotation of nodes with their price an hour, such as 0.192.",
    )
    @click.option(
        "--power-label",
        default=POWER_LABEL,
        show_default=True,
        metavar="KEY",
        help="The label or annotation of nodes with their watts, idle and full, such as 90-350.",
    )
    @functools.wraps(command)
    def with_rates(*args: Any, price_label: str, power_label: str, **kwargs: Any) -> Any:
        return command(*args, rates=RateLabels(price_label, power_label), **kwargs)

    return with_rates  # type: ignore[return-value]


def replay_options(command: F) -> F:
    """Give a command the options about recordings, as its parameters `speed` and `durations`."""

    @click.option(
        "--speed",
        type=click.FloatRange(min=0, min_open=True, max=1e6),
        default=1.0,
        show_default=True,
        help="Have what the trace says happen so many times as fast; pods run as long as before.",
    )
    @click.option(
        "--durations",
        type=click.Choice([each.value for each in Durations]),
        default=Durations.COMPLETED.value,
        show_default=True,
        help="Pods of a recording that run as long as they did there: those that came to an end by themselves, all "
        "(also those that were deleted), or none. Others end at their recorded times.",
    )
    @functools.wraps(command)
    def with_replay(*args: Any, durations: str, **kwargs: Any) -> Any:
        return command(*args, durations=Durations(durations), **kwargs)

    return with_replay  # type: ignore[return-value]


@click.command("simulate")
@click.argument("traces", nargs=-1, required=True, metavar="TRACE...", type=click.Path(exists=True))
@click.option(
    "--config",
    "configs",
    multiple=True,
    metavar="[NAME=]FILE",
    help="A KubeSchedulerConfiguration; several are compared. Without one: the default configuration.",
)
@click.option(
    "--seed", "--seeds", "seeds", type=SeedsType(), default="0", show_default=True, help="1, or 1-5 for five runs."
)
@click.option(
    "--until", type=DurationType(), help="End after so much simulated time. [default: when nothing happens any more]"
)
@click.option(
    "--warm-up", type=DurationType(), default="0s", show_default=True, help="Measure nothing before that time."
)
@pace_options
@click.option("-o", "--output", type=click.Choice(["table", "json", "csv"]), default="table", show_default=True)
@click.option("--file", "file", type=click.Path(path_type=Path, dir_okay=False), help="Write the report to a file.")
@click.option("--mapping", type=click.Path(path_type=Path), help="What the columns of CSV files are (kind CsvMapping).")
@rate_options
@replay_options
@gate_options
@plugin_option
def simulate_command(
    traces: tuple[str, ...],
    configs: tuple[str, ...],
    seeds: list[int],
    until: float | None,
    warm_up: float,
    pace: Pace,
    output: str,
    file: Path | None,
    mapping: Path | None,
    rates: RateLabels,
    speed: float,
    durations: Durations,
    gates: FeatureGates,
    registry: Registry,
) -> None:
    """Simulate a cluster in virtual time: pods arrive, wait, run and leave, under the real scheduler.

    A TRACE is a file of events (.jsonl, .jsonl.gz), a CSV file with a --mapping, a Workload that generates pods
    (.yaml), or a cluster (manifests, a snapshot), all of which is there at the beginning.
    Several are one trace: nodes may be in one file, pods in another.

    The same traces, configurations and seeds give the same report, to the byte.

    \b
    Examples:
      kubesched simulate examples/simulate/batch.yaml
      kubesched simulate batch.yaml --config spread.yaml --config packed=pack.yaml --seeds 1-5
      kubesched simulate nodes.yaml pods.jsonl.gz --until 24h --warm-up 1h -o json --file report.json
    """
    if until is not None and warm_up >= until:
        raise click.BadParameter("the warm-up is as long as the simulation (--until)", param_hint="--warm-up")
    loaded = {name: load_config(text, gates, registry) for name, text in _configs(configs).items()}
    for name, config in loaded.items():
        if config.config.extenders:
            raise KubeschedError(f"configuration {name} has extenders, which cannot be simulated: leave them out")
    kinds = sorted({kind for each in loaded.values() for kind in custom_kinds_of(each, registry)})
    trace = at_speed(read_traces(traces, kinds, mapping, lambda line: click.echo(line, err=True), durations), speed)
    runs = [
        Run(trace, config, registry, name, seed, until, warm_up, pace, rates)
        for name, config in loaded.items()
        for seed in seeds
    ]
    collect_seldom()
    figures = [_run(run, number, len(runs)) for number, run in enumerate(runs, 1)]
    _write(figures, output, file)


def _configs(given: Sequence[str]) -> dict[str, bytes | None]:
    """Return the configurations by name; raises KubeschedError."""
    found: dict[str, bytes | None] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals:
            name, path = Path(text).stem, text
        if name in found:
            raise KubeschedError(f"--config: two configurations are named {name}; give one as NAME=FILE")
        try:
            found[name] = Path(path).read_bytes()
        except OSError as error:
            raise KubeschedError(f"--config {path}: {error.strerror or error}") from None
    return found or {DEFAULT: None}


def _run(run: Run, number: int, of: int) -> Figures:
    """Simulate one run; tell progress."""
    name = f"{run.config_name}, seed {run.seed}" + (f" ({number} of {of})" if of > 1 else "")
    with _progress(name) as tell:
        return simulate(run, lambda line: click.echo(f"{name}: {line}", err=True), tell)


@contextmanager
def _progress(name: str) -> Iterator["_Teller"]:
    teller = _Teller(name, shown=sys.stderr.isatty())
    try:
        yield teller
    finally:
        teller.end()


class _Teller:
    """Tells progress: a line that is written over on a terminal, one line at the end elsewhere."""

    def __init__(self, name: str, *, shown: bool) -> None:
        self._name = name
        self._shown = shown
        self._began = self._told = time.monotonic()
        self._last = SimulationProgress(0.0, 0, 0)

    def __call__(self, progress: SimulationProgress) -> None:
        self._last = progress
        now = time.monotonic()
        if self._shown and now - self._told > TELL_SECONDS:
            self._told = now
            click.echo(f"\r{self._line(now)}\x1b[K", nl=False, err=True)

    def end(self) -> None:
        """Tell how it ended."""
        if self._last.events:
            click.echo(
                ("\r" if self._shown else "") + self._line(time.monotonic()) + ("\x1b[K" if self._shown else ""),
                err=True,
            )

    def _line(self, now: float) -> str:
        last, seconds = self._last, max(now - self._began, 1e-9)
        return (
            f"{self._name}: {last.seconds:.0f} s simulated in {seconds:.1f} s, {last.bound} pods bound "
            f"({last.bound / seconds:.0f} a second)"
        )


def _write(figures: Sequence[Figures], output: str, file: Path | None) -> None:
    if output == "table":
        console = Console(
            file=file.open("w") if file else None, width=None if sys.stdout.isatty() and not file else 120
        )
        console.print(as_table(figures))
        return
    text = as_json(figures) if output == "json" else as_csv(figures)
    if file is None:
        click.echo(text, nl=False)
        return
    try:
        file.write_text(text)
    except OSError as error:
        raise KubeschedError(f"--file {file}: {error.strerror or error}") from None
