"""Shared options of commands about simulations: durations, seeds, pace, cost of nodes.

From arguments on a command line to values.
"""

import functools
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import click

from kubesched.cli.durations import DurationType
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import KubeschedError
from kubesched_lab.simulate.measuring.rates import POWER_LABEL, PRICE_LABEL, RateLabels
from kubesched_lab.simulate.simulated_api import Pace
from kubesched_lab.simulate.traces.reading import without_workload
from kubesched_lab.simulate.traces.recording.run_times import Durations

F = TypeVar("F", bound=Callable[..., Any])
DEFAULT = "default"
MOST_SEEDS = 100_000


class TracePath(click.ParamType[str]):
    """A file or a folder that exists; for scheduler_perf files also FILE#NAME."""

    name = "path"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the text unchanged."""
        click.Path(exists=True).convert(without_workload(str(value)), param, ctx)
        return str(value)


class SeedsType(click.ParamType[list[int]]):
    """Seeds: 1, or 1-5, or 1,2,7."""

    name = "seeds"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> list[int]:
        """Return the seeds in order."""
        if isinstance(value, list):
            return value
        try:
            spans = [_span(part) for part in str(value).split(",")]
            count = sum(map(len, spans))
        except (ValueError, OverflowError):
            count = 0
        if not count:
            self.fail(f"{value!r} is not a list of seeds such as 1, 1-5 or 1,2,7", param, ctx)
        if count > MOST_SEEDS:
            self.fail(f"{value!r} has {count} seeds; expected at most {MOST_SEEDS}", param, ctx)
        return list(dict.fromkeys(seed for span in spans for seed in span))


def _span(text: str) -> range:
    first, dash, last = text.partition("-")
    return range(int(first), int(last if dash else first) + 1)


def pace_options(command: F) -> F:
    """Add the options about durations of simulated steps to a command, as its parameter `pace`."""

    @click.option(
        "--attempt-time",
        type=DurationType(),
        default="0s",
        show_default=True,
        help="Duration of an attempt to schedule a pod.",
    )
    @click.option(
        "--binding-time",
        type=DurationType(),
        default="0s",
        show_default=True,
        help="Duration of a request of the scheduler.",
    )
    @click.option(
        "--starting-time",
        type=DurationType(),
        default="0s",
        show_default=True,
        help="Time that containers take to start.",
    )
    @click.option(
        "--stopping-time",
        type=DurationType(),
        default="0s",
        show_default=True,
        help="Time that evicted pods take to end.",
    )
    @click.option(
        "--recreate/--no-recreate",
        default=None,
        help="Create evicted pods again, as controllers do. By default this is off for recordings, which have the pods "
        "that controllers created in their place.",
    )
    @functools.wraps(command)
    def with_pace(
        *args: Any,
        attempt_time: float,
        binding_time: float,
        starting_time: float,
        stopping_time: float,
        recreate: bool | None,
        **kwargs: Any,
    ) -> Any:
        pace = Pace(attempt_time, binding_time, starting_time, stopping_time, recreate)
        return command(*args, pace=pace, **kwargs)

    return with_pace  # type: ignore[return-value]


def rate_options(command: F) -> F:
    """Add the options about price and power of nodes to a command, as its parameter `rates`."""

    @click.option(
        "--price-label",
        default=PRICE_LABEL,
        show_default=True,
        metavar="KEY",
        help="Label or annotation of nodes with their price an hour, such as 0.192.",
    )
    @click.option(
        "--power-label",
        default=POWER_LABEL,
        show_default=True,
        metavar="KEY",
        help="Label or annotation of nodes with their watts, idle and full, such as 90-350.",
    )
    @functools.wraps(command)
    def with_rates(*args: Any, price_label: str, power_label: str, **kwargs: Any) -> Any:
        return command(*args, rates=RateLabels(price_label, power_label), **kwargs)

    return with_rates  # type: ignore[return-value]


def replay_options(command: F) -> F:
    """Add the options about recordings to a command, as its parameters `speed` and `durations`."""

    @click.option(
        "--speed",
        type=click.FloatRange(min=0, min_open=True, max=1e6),
        default=1.0,
        show_default=True,
        help="Speed up the events of the trace by this factor; pods run for their original duration.",
    )
    @click.option(
        "--durations",
        type=click.Choice([each.value for each in Durations]),
        default=Durations.COMPLETED.value,
        show_default=True,
        help="Pods of a recording that keep their recorded run time: those that completed, all "
        "(also those that were deleted), or none. Others end at their recorded times.",
    )
    @functools.wraps(command)
    def with_replay(*args: Any, durations: str, **kwargs: Any) -> Any:
        return command(*args, durations=Durations(durations), **kwargs)

    return with_replay  # type: ignore[return-value]


def configs_of(given: Sequence[str]) -> dict[str, bytes | None]:
    """Return the texts of configurations, given as [NAME=]FILE, by name; raises KubeschedError."""
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


def loaded_configs(texts: Mapping[str, bytes | None], gates: FeatureGates, registry: Registry) -> dict[str, Loaded]:
    """Return configurations by name, checked; raises KubeschedError."""
    loaded = {name: load_config(text, gates, registry) for name, text in texts.items()}
    for name, config in loaded.items():
        if config.config.extenders:
            raise KubeschedError(f"configuration {name} has extenders, which cannot be simulated: remove them")
    return loaded
