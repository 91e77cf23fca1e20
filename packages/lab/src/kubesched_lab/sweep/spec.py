"""The specification of a sweep: which traces, configurations, sizes of clusters and seeds.

    apiVersion: simulate.kubesched.io/v1alpha1
    kind: Sweep
    traces: {batch: batch.yaml}
    configurations:
    - name: fit
      set:
        profiles[0].plugins.score.enabled[NodeResourcesFit].weight: [1, 5]
    nodes: [0.5, 1]
    set: {"pods[0].arrivals.rate": [1, 2, 4]}
    seeds: 1-5

From the text of a file to a `SweepSpec`; raises SweepError, which names the file and the field. Unknown fields are
errors. No files are read.
"""

from typing import Any

import click
import msgspec

from kubesched.config.document import DocumentError, parse
from kubesched.config.golang import parse_duration
from kubesched_lab.simulate.measuring.rates import POWER_LABEL, PRICE_LABEL, RateLabels
from kubesched_lab.simulate.options import SeedsType
from kubesched_lab.simulate.simulated_api import Pace
from kubesched_lab.simulate.traces.recording.run_times import Durations
from kubesched_lab.simulate.traces.workload_spec import API_VERSION
from kubesched_lab.sweep.errors import SweepError, about
from kubesched_lab.sweep.tune_spec import TuneSpec, check_tune

KIND = "Sweep"


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A part of the document; unknown fields are errors."""


class ConfigurationSpec(_Strict, frozen=True):
    """A configuration: a file, an inline document, or the default one; `set` derives several from it."""

    name: str = ""
    file: str = ""
    inline: dict[str, Any] | None = None
    set: dict[str, Any] = {}


class PaceSpec(_Strict, frozen=True):
    """Durations of simulated steps, as the options of `kubesched simulate` have them."""

    attempt_time: str | float = 0.0
    binding_time: str | float = 0.0
    starting_time: str | float = 0.0
    stopping_time: str | float = 0.0
    recreate: bool | None = None


class RatesSpec(_Strict, frozen=True):
    """Labels or annotations of nodes with their price an hour and their watts."""

    price: str = PRICE_LABEL
    power: str = POWER_LABEL


class SweepSpec(_Strict, frozen=True):
    """The specification of a sweep."""

    api_version: str
    kind: str
    traces: list[str | list[str]] | dict[str, str | list[str]]
    configurations: list[str | ConfigurationSpec] = msgspec.field(default_factory=lambda: [ConfigurationSpec()])
    seeds: int | str | list[int] = 0
    nodes: list[int | float | dict[str, int]] = []
    set: dict[str, Any] = {}
    speed: int | float | list[int | float] = 1
    until: str | float | None = None
    warm_up: str | float = 0.0
    pace: PaceSpec = PaceSpec()
    rates: RatesSpec = RatesSpec()
    durations: Durations = Durations.COMPLETED
    feature_gates: dict[str, bool] = {}
    emulated_version: str = ""
    plugins: list[str] = []
    mapping: str = ""
    tune: TuneSpec | None = None


class Common(msgspec.Struct, frozen=True):
    """Settings common to all runs of a sweep."""

    until: float | None = None
    warm_up: float = 0.0
    pace: Pace = Pace()
    rates: RateLabels = RateLabels()
    durations: Durations = Durations.COMPLETED
    gates: str = ""
    emulated_version: str = ""
    timeline: bool = False


def spec_of(name: str, text: bytes) -> SweepSpec:
    """Return the specification in a text; raises SweepError, which begins with `name`."""
    try:
        document = parse(text)
    except DocumentError as error:
        raise SweepError(f"{name}: {error}") from None
    kind = document.get("kind") if isinstance(document, dict) else None
    if kind != KIND:
        raise SweepError(f"{name}: kind is {kind or 'absent'}; expected {KIND} in {API_VERSION}")
    try:
        spec = msgspec.convert(document, SweepSpec)
    except msgspec.ValidationError as error:
        raise SweepError(f"{name}: {error}") from None
    with about(name):
        return _checked(spec)


def _checked(spec: SweepSpec) -> SweepSpec:
    if spec.api_version != API_VERSION:
        raise SweepError(f"apiVersion is {spec.api_version}; expected {API_VERSION}")
    if not spec.traces:
        raise SweepError("traces: expected at least one file")
    if not spec.configurations:
        raise SweepError("configurations: expected at least one; leave the field out for the default configuration")
    seeds_of(spec)
    common = common_of(spec)
    if common.until is not None and common.warm_up >= common.until:
        raise SweepError("warmUp: the warm-up is as long as the simulation (until)")
    for index, size in enumerate(spec.nodes):
        counts = list(size.values()) if isinstance(size, dict) else [size]
        if not counts or not all(0 < count <= 1e6 for count in counts):
            raise SweepError(f"nodes[{index}]: expected a factor such as 0.5, or counts of pools such as {{large: 10}}")
    if not speeds_of(spec) or not all(0 < speed <= 1e6 for speed in speeds_of(spec)):
        raise SweepError("speed: expected a number above 0, or a list of numbers")
    if spec.tune is not None:
        check_tune(spec.tune)
    return spec


def seeds_of(spec: SweepSpec) -> list[int]:
    """Return the seeds; raises SweepError."""
    given = spec.seeds
    if isinstance(given, list):
        given = ",".join(map(str, given))
    try:
        seeds = SeedsType().convert(str(given), None, None)
    except click.BadParameter as error:
        raise SweepError(f"seeds: {error.message}") from None
    if max(seeds) >= 1 << 63:
        raise SweepError(f"seeds: {max(seeds)} is too large; expected numbers below 2^63")
    return seeds


def speeds_of(spec: SweepSpec) -> list[int | float]:
    """Return the speeds of the traces, as factors."""
    return spec.speed if isinstance(spec.speed, list) else [spec.speed]


def common_of(spec: SweepSpec, *, timeline: bool = False) -> Common:
    """Return the settings common to all runs; raises SweepError."""
    pace = spec.pace
    return Common(
        until=None if spec.until is None else _seconds(spec.until, "until"),
        warm_up=_seconds(spec.warm_up, "warmUp"),
        pace=Pace(
            _seconds(pace.attempt_time, "pace.attemptTime"),
            _seconds(pace.binding_time, "pace.bindingTime"),
            _seconds(pace.starting_time, "pace.startingTime"),
            _seconds(pace.stopping_time, "pace.stoppingTime"),
            pace.recreate,
        ),
        rates=RateLabels(spec.rates.price, spec.rates.power),
        durations=spec.durations,
        gates=",".join(f"{name}={str(on).lower()}" for name, on in sorted(spec.feature_gates.items())),
        emulated_version=spec.emulated_version,
        timeline=timeline,
    )


def values_of(given: Any, where: str) -> list[Any]:
    """Return the values of a field in `set`: a list, or one value."""
    values = given if isinstance(given, list) else [given]
    if not values:
        raise SweepError(f"{where}: expected a value, or a list of values")
    return values


def _seconds(given: str | float, where: str) -> float:
    try:
        seconds = parse_duration(given).seconds if isinstance(given, str) else float(given)
    except ValueError:
        seconds = -1.0
    if not 0 <= seconds < 1e12:
        raise SweepError(f"{where}: {given!r} is not a duration such as 30s or 2h")
    return seconds
