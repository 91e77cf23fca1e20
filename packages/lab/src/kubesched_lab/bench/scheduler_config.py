"""The scheduler settings of a workload: its feature gates and its configuration.

From a workload to a loaded configuration for the engine, and to a configuration file and flags for a process.
"""

# upstream: test/integration/scheduler_perf/scheduler_perf.go setupTestCase, util.go mustSetupCluster (v1.36)

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kubesched.common.files import UnusableFileError, read_at_most
from kubesched.common.notes import Note
from kubesched.config.document import DocumentError, dump, parse
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched_lab.bench.errors import BenchError
from kubesched_lab.simulate.traces.perf.perf_cases import PerfRun

LARGEST_CONFIG = 1 << 20
# the last release in which queueing hints could be disabled
_WITHOUT_HINTS = "1.33"
_HINTS = "SchedulerQueueingHints"


def engine_config(run: PerfRun, config: Path | None, registry: Registry, note: Note) -> Loaded:
    """Return the engine's configuration for a workload, or the one in a file; raises KubeschedError."""
    return load_config(config_text(run, config), gates_of(run.feature_gates, note), registry)


def gates_of(wanted: Mapping[str, bool], note: Note) -> FeatureGates:
    """Return the feature gates of a workload; log gates that cannot be set, and leave them out."""
    versions = [_WITHOUT_HINTS] if wanted.get(_HINTS) is False else []
    kept: dict[str, bool] = {}
    for name, on in wanted.items():
        if name == _HINTS and on:
            continue
        try:
            FeatureGates.parse(_text({**kept, name: on}), versions)
        except ConfigError as error:
            # a gate may need another one that comes later
            try:
                FeatureGates.parse(_text(wanted), versions)
            except ConfigError:
                note(f"feature gate {name}={str(on).lower()} is left out: {error}")
                continue
        kept[name] = on
    return FeatureGates.parse(_text(kept), versions)


def _text(gates: Mapping[str, bool]) -> str:
    return ",".join(f"{name}={str(on).lower()}" for name, on in gates.items())


def gate_flags(run: PerfRun) -> list[str]:
    """Return --feature-gates of kube-scheduler for a workload, without SchedulerQueueingHints, which v1.36 locks."""
    kept = {name: on for name, on in run.feature_gates.items() if name != _HINTS}
    return [f"--feature-gates={_text(kept)}"] if kept else []


def config_text(run: PerfRun, config: Path | None) -> bytes | None:
    """Return the configuration of a workload, or the one in a file; None for the default."""
    file = config or run.scheduler_config
    if file is None:
        return None
    try:
        return read_at_most(file, LARGEST_CONFIG)
    except UnusableFileError as error:
        raise BenchError(f"{file}: {error}") from None


def process_config(run: PerfRun, config: Path | None, kubeconfig: Path) -> str:
    """Return a configuration for a scheduler's process: no leader election, 5000 requests a second."""
    text = config_text(run, config)
    try:
        document: Any = parse(text) if text is not None else {}
    except DocumentError as error:
        raise BenchError(f"{config or run.scheduler_config}: {error}") from None
    if not isinstance(document, dict):
        raise BenchError(f"{config or run.scheduler_config}: expected a KubeSchedulerConfiguration")
    connection = {"qps": 5000, "burst": 5000, **(document.get("clientConnection") or {}), "kubeconfig": str(kubeconfig)}
    return dump(
        {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            **document,
            "leaderElection": {"leaderElect": False},
            "clientConnection": connection,
        }
    )
