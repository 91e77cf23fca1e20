"""Runs, one after the other, in one process.

From a run to its outcome. Plugins are loaded once; traces and configurations are cached for the following runs. The
outcome of a failed run is a sentence with the reason.
"""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from pathlib import Path
from typing import Any, Generic, TypeVar

import msgspec

from kubesched.cli.plugin_options import load_plugins
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import KubeschedError
from kubesched.sources.custom_kinds import custom_kinds_of
from kubesched_lab.simulate.reports.flat import flat_row
from kubesched_lab.simulate.simulation import Run, simulate
from kubesched_lab.simulate.traces.reading import read_traces, workload_document
from kubesched_lab.simulate.traces.trace import Trace, at_speed, merged
from kubesched_lab.simulate.traces.workload_spec import trace_of_workload
from kubesched_lab.sweep.cluster_sizes import resized_trace
from kubesched_lab.sweep.errors import SweepError
from kubesched_lab.sweep.planning import varied_workload
from kubesched_lab.sweep.runs import RunOutcome, SweepRun, SweepSetup

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class _Cache(Generic[K, V]):
    """A cache of the newest values, by key."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._made: OrderedDict[K, V] = OrderedDict()

    def get(self, key: K, make: Callable[[], V]) -> V:
        """Return the cached value of a key, or compute it."""
        if key not in self._made:
            self._made[key] = make()
            while len(self._made) > self._most:
                self._made.popitem(last=False)
        self._made.move_to_end(key)
        return self._made[key]


def sentence(error: KubeschedError) -> str:
    """Return an error, which may list several problems, as one line."""
    return "; ".join(" ".join(text.split()) for text in getattr(error, "errors", ()) or (str(error),))


class RunCarrier:
    """Carries out runs of a sweep."""

    def __init__(self, setup: SweepSetup) -> None:
        self._setup = setup
        self._registry: Registry | None = None
        self._traces: _Cache[Any, Trace] = _Cache(2)
        self._configs: _Cache[bytes | None, tuple[Loaded, list[str]]] = _Cache(64)
        self._notes: list[str] = []

    def carry_out(self, run: SweepRun) -> RunOutcome:
        """Return the outcome of a run."""
        self._notes = []
        try:
            row, timeline = self._simulated(run)
        except KubeschedError as error:
            return RunOutcome(run.id, error=sentence(error))
        except MemoryError:
            return RunOutcome(run.id, error="out of memory")
        except Exception as error:  # a plugin may raise anything, and the other runs continue
            return RunOutcome(run.id, error=f"{type(error).__name__}: {error}")
        if row["pods.failedAttempts"] > row["pods.unschedulableAttempts"] and not row["pods.bound"]:
            return RunOutcome(run.id, error="; ".join(self._notes))
        return RunOutcome(run.id, row, timeline, notes=list(dict.fromkeys(self._notes)))

    def check_config(self, run: SweepRun) -> None:
        """Raise KubeschedError if the configuration of a run is not usable."""
        self._config(run)

    def check_workloads(self, run: SweepRun) -> None:
        """Raise KubeschedError if a Workload of a run is not usable."""
        for path in self._setup.traces[run.label.trace]:
            self._workload(path, run)

    def _simulated(self, run: SweepRun) -> tuple[dict[str, Any], dict[str, list[float]]]:
        common = self._setup.common
        loaded, kinds = self._config(run)
        key = msgspec.json.encode([run.label.trace, run.size, run.fields, run.speed, kinds])
        trace = self._traces.get(key, lambda: self._trace(run, kinds))
        figures = simulate(
            Run(
                trace,
                loaded,
                self._plugins(),
                run.label.config,
                run.label.seed,
                common.until,
                common.warm_up,
                common.pace,
                common.rates,
            ),
            self._notes.append,
        )
        timeline = figures.timeline if common.timeline else {}
        return {**flat_row(figures), **run.label.columns}, timeline

    def _plugins(self) -> Registry:
        if self._registry is None:
            self._registry = load_plugins(self._setup.plugins)
        return self._registry

    def _config(self, run: SweepRun) -> tuple[Loaded, list[str]]:
        def load() -> tuple[Loaded, list[str]]:
            common, registry = self._setup.common, self._plugins()
            gates = FeatureGates.parse(common.gates, (common.emulated_version,) if common.emulated_version else ())
            loaded = load_config(run.config_text, gates, registry)
            if loaded.config.extenders:
                raise SweepError("the configuration has extenders, which cannot be simulated: remove them")
            return loaded, sorted(custom_kinds_of(loaded, registry))

        return self._configs.get(run.config_text, load)

    def _workload(self, path: str, run: SweepRun) -> Trace | None:
        document = workload_document(path)
        if not isinstance(document, dict):
            return None
        return trace_of_workload(Path(path).name, varied_workload(document, run.fields, run.size))

    def _trace(self, run: SweepRun, kinds: list[str]) -> Trace:
        """Return the trace of a run, with the nodes and field values of the run."""
        workloads, others = [], []
        for path in self._setup.traces[run.label.trace]:
            trace = self._workload(path, run)
            if trace is None:
                others.append(path)
            else:
                workloads.append(trace)
        if others:
            mapping = Path(self._setup.mapping) if self._setup.mapping else None
            trace = read_traces(others, kinds, mapping, self._notes.append, self._setup.common.durations)
            workloads.insert(0, resized_trace(trace, run.size) if isinstance(run.size, int | float) else trace)
        return at_speed(merged(workloads), run.speed)
