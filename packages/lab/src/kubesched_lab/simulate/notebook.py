"""`from kubesched.simulate import simulate`: simulations in Python and notebooks.

From traces and configurations, in files or as values, to a `SimulationResult`. In a notebook, which has a running event
loop, the simulation runs in a separate thread, and an interrupt ends it.
"""

import asyncio
import ctypes
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Protocol, TypeVar, runtime_checkable

import click
import msgspec

from kubesched.api.meta import ApiObject
from kubesched.cli.durations import DurationType
from kubesched.cli.plugin_options import load_plugins
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import KubeschedError
from kubesched.sources.custom_kinds import custom_kinds_of
from kubesched_answers.sources.files import read_objects
from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.measuring.pod_log import PodLog
from kubesched_lab.simulate.measuring.rates import RateLabels
from kubesched_lab.simulate.options import DEFAULT, SeedsType, loaded_configs
from kubesched_lab.simulate.progress import progress_of
from kubesched_lab.simulate.reports.pod_files import PodRow, pod_row
from kubesched_lab.simulate.result import SimulationResult
from kubesched_lab.simulate.simulated_api import Pace
from kubesched_lab.simulate.simulation import Run
from kubesched_lab.simulate.simulation import simulate as simulate_run
from kubesched_lab.simulate.traces.manifest_trace import trace_of_objects
from kubesched_lab.simulate.traces.parquet_trace import trace_of_records
from kubesched_lab.simulate.traces.reading import read_traces
from kubesched_lab.simulate.traces.trace import Trace, merged
from kubesched_lab.simulate.traces.workload_spec import is_workload, trace_of_workload

T = TypeVar("T")


@runtime_checkable
class FrameLike(Protocol):
    """A DataFrame; this protocol recognises one without an import of pandas."""

    columns: Any

    def to_dict(self, orient: Any) -> Any:
        """Return the rows, for the orient "records"."""


TraceSource = str | Path | Trace | ApiObject | Mapping[str, Any] | FrameLike
ConfigSource = str | bytes | Path | Mapping[str, Any] | None
Configs = Mapping[str, ConfigSource] | Sequence[str | Path] | str | Path | None


def simulate(
    trace: TraceSource | Sequence[TraceSource],
    configs: Configs = None,
    *,
    seeds: int | str | Iterable[int] = 0,
    until: float | str | None = None,
    warm_up: float | str = 0.0,
    pace: Pace | None = None,
    rates: RateLabels | None = None,
    mapping: str | Path | None = None,
    gates: FeatureGates | None = None,
    registry: Registry | None = None,
    pods: bool = False,
    progress: bool = False,
) -> SimulationResult:
    """Simulate traces under configurations in virtual time, and return the result.

    A trace is a path (as of `kubesched simulate`), a `Trace`, an event with the columns of a Parquet trace
    (`{"at": 5, "name": "job", "cpu": 2, "runs": 60}`), a DataFrame with these columns, a manifest
    (`{"kind": "Node", ...}`) or an object; or several of these. Configurations are paths, texts, documents, or None
    for the default one, by name.

    >>> result = simulate("batch.yaml", {"default": None, "packed": "packed.yaml"}, seeds=range(1, 6), until="2h")
    >>> result.compare()
    >>> result.plot.timeline()
    >>> result.save("report.html")

    `until` and `warm_up` are seconds, or texts such as "2h". `pace` has the durations of bindings and containers,
    `rates` the labels with prices and watts. With `pods=True` the result has a record of each pod. Raises
    KubeschedError.
    """
    end = None if until is None else _seconds("until", until)
    begin = _seconds("warm_up", warm_up)
    if end is not None and begin >= end:
        raise KubeschedError("warm_up is as long as the simulation (until)")
    plugins = registry if registry is not None else load_plugins()
    loaded = loaded_configs(_texts(configs), gates or FeatureGates(), plugins)
    kinds = sorted({kind for each in loaded.values() for kind in custom_kinds_of(each, plugins)})
    read = _trace(trace, kinds, Path(mapping) if mapping is not None else None)
    runs = [
        Run(read, config, plugins, name, seed, end, begin, pace or Pace(), rates or RateLabels())
        for name, config in loaded.items()
        for seed in _seeds(seeds)
    ]
    rows: list[PodRow] | None = [] if pods else None
    return apart_from_loops(lambda: SimulationResult([_figures(run, rows, progress) for run in runs], rows))


def _figures(run: Run, rows: list[PodRow] | None, shown: bool) -> Figures:
    log = None if rows is None else PodLog(lambda record: rows.append(pod_row(run.config_name, run.seed, record)))
    with progress_of(f"{run.config_name}, seed {run.seed}", run.until) if shown else nullcontext() as tell:
        if tell is None:
            return simulate_run(run, pod_log=log)
        return simulate_run(run, lambda line: click.echo(line, err=True), tell, log)


def _seconds(name: str, given: float | str) -> float:
    if isinstance(given, int | float) and not isinstance(given, bool) and 0 <= given < 1e12:
        return float(given)
    try:
        return DurationType().convert(str(given), None, None)
    except click.UsageError:
        raise KubeschedError(f"{name} is {given!r}; expected seconds, or a text such as '2h'") from None


def _seeds(given: int | str | Iterable[int]) -> list[int]:
    if isinstance(given, int):
        return [given]
    try:
        found = SeedsType().convert(given, None, None) if isinstance(given, str) else [*dict.fromkeys(given)]
    except (click.UsageError, TypeError):
        found = []
    if not found or not all(isinstance(seed, int) for seed in found):
        raise KubeschedError(f"seeds is {given!r}; expected a number, range(1, 6), or '1-5'")
    return found


def _texts(given: Configs) -> dict[str, bytes | None]:
    """Return the texts of configurations by name."""
    if given is None:
        return {DEFAULT: None}
    if isinstance(given, str | Path):
        given = [given]
    if not isinstance(given, Mapping):
        paths = [Path(path) for path in given]
        given = {path.stem: path for path in paths}
        if len(given) < len(paths):
            raise KubeschedError("configs: two files have one name; give a dict, such as {'packed': 'packed.yaml'}")
    if not given:
        raise KubeschedError("configs is empty; leave it out for the default configuration")
    return {str(name): _text(str(name), source) for name, source in given.items()}


def _text(name: str, source: ConfigSource) -> bytes | None:
    if source is None or isinstance(source, bytes):
        return source
    if isinstance(source, Mapping):
        return msgspec.json.encode(source)
    if isinstance(source, str) and "\n" in source.strip():
        return source.encode()
    if not isinstance(source, str | Path):
        raise KubeschedError(f"configs[{name!r}] is a {type(source).__name__}; expected a path, a text, a dict or None")
    try:
        return Path(source).read_bytes()
    except OSError as error:
        raise KubeschedError(f"configs[{name!r}]: {source}: {error.strerror or error}") from None


def _trace(given: TraceSource | Sequence[TraceSource], kinds: Sequence[str], mapping: Path | None) -> Trace:
    """Return one trace of files, traces, events, and objects, which exist from the beginning."""
    sources = list(given) if isinstance(given, Sequence) and not isinstance(given, str) else [given]
    if not sources:
        raise KubeschedError("trace is empty; expected paths, a Trace, events or manifests as dicts")
    for number, source in enumerate(sources, 1):
        if not isinstance(source, str | Path | Trace | ApiObject | Mapping | FrameLike):
            kind = type(source).__name__
            raise KubeschedError(
                f"trace: number {number} is a {kind}; expected a path, a Trace, an event or a manifest"
            )
    paths = [str(source) for source in sources if isinstance(source, str | Path)]
    documents = [source for source in sources if isinstance(source, Mapping)]
    events = [each for each in documents if "kind" not in each]
    workloads = [each for each in documents if is_workload(each)]
    objects: list[Any] = [each for each in documents if "kind" in each and not is_workload(each)]
    objects += [source for source in sources if isinstance(source, ApiObject)]
    traces = [source for source in sources if isinstance(source, Trace)]
    for path in paths:
        if not Path(path.partition("#")[0]).exists():
            raise KubeschedError(f"{path}: No such file or directory")
    found_traces = [read_traces(paths, kinds, mapping)] if paths else []
    if objects:
        found_traces.insert(0, trace_of_objects("objects", read_objects(objects, kinds).objects))
    found_traces += [trace_of_workload(f"workload {number}", each) for number, each in enumerate(workloads, 1)]
    if events:
        found_traces.append(trace_of_records("events", events))
    frames = [source for source in sources if isinstance(source, FrameLike)]
    found_traces += [trace_of_records("frame", frame.to_dict("records")) for frame in frames]
    return merged([*found_traces, *traces])


def apart_from_loops(work: Callable[[], T]) -> T:
    """Return the result of a function that runs an event loop; use a thread if a loop is running here already.

    An interrupt (Ctrl-C, a notebook's stop button) reaches the thread, too.
    """
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return work()
    results: list[T] = []
    raised: list[BaseException] = []

    def run() -> None:
        try:
            results.append(work())
        except BaseException as error:
            raised.append(error)

    thread = threading.Thread(target=run, name="kubesched-simulation", daemon=True)
    try:
        thread.start()
        thread.join()
    except KeyboardInterrupt:
        if thread.ident is not None and thread.is_alive():
            ident = ctypes.c_ulong(thread.ident)
            ctypes.pythonapi.PyThreadState_SetAsyncExc(ident, ctypes.py_object(KeyboardInterrupt))
            thread.join()
        raise
    if raised:
        raise raised[0]
    return results[0]
