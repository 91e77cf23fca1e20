"""The options of a scheduler process, from a command line and a configuration file.

From flags to one value that the rest of the process is built from. With --config the deprecated flags are ignored; the
leader-election flags count always. Every problem is an error before anything starts.
"""

# upstream: cmd/kube-scheduler/app/options/{options,deprecated}.go (v1.36)

import os
import stat

import msgspec

from kubesched.common.files import FileStamp, file_stamp
from kubesched.common.notes import Note
from kubesched.config.document import dump
from kubesched.config.encoding import to_wire
from kubesched.config.errors import ConfigError, Stage
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.intree import IN_TREE, merge_catalogs
from kubesched.config.load import Loaded, load
from kubesched.config.redacting import without_secrets
from kubesched.config.types import KubeSchedulerConfiguration
from kubesched.core.framework.building.registry import Registry
from kubesched.run.go_flags import ParsedFlags
from kubesched.run.legacy import legacy_config
from kubesched.run.option_files import OptionError, read_file
from kubesched.run.watchdog import LIMIT, SHORTEST_SECONDS
from kubesched.serving.decisions.memory import FLAG, parse_memory
from kubesched.serving.options import ServingOptions, options_from

# flag -> field of the configuration
_CONNECTION = {
    "kubeconfig": "kubeconfig",
    "kube-api-content-type": "content_type",
    "kube-api-qps": "qps",
    "kube-api-burst": "burst",
}
_PROFILING = {"profiling": "enable_profiling", "contention-profiling": "enable_contention_profiling"}
_LEADER_ELECTION = {
    "leader-elect": "leader_elect",
    "leader-elect-lease-duration": "lease_duration",
    "leader-elect-renew-deadline": "renew_deadline",
    "leader-elect-retry-period": "retry_period",
    "leader-elect-resource-lock": "resource_lock",
    "leader-elect-resource-name": "resource_name",
    "leader-elect-resource-namespace": "resource_namespace",
}


class RunOptions(msgspec.Struct, frozen=True):
    """The options of `kubesched run`; `flags` has the flags that are used unchanged."""

    loaded: Loaded
    registry: Registry
    flags: ParsedFlags
    serving: ServingOptions
    # of the configuration file, before it was read
    stamp: FileStamp | None = None

    @property
    def config(self) -> KubeSchedulerConfiguration:
        """Return the completed configuration."""
        return self.loaded.config


def gates_of(flags: ParsedFlags) -> FeatureGates:
    """Return the feature gates that the flags give."""
    switched = ",".join(f"{name}={value}" for name, value in flags["feature-gates"].items())
    return FeatureGates.parse(switched, flags["emulated-version"])


def read_options(flags: ParsedFlags, registry: Registry, note: Note) -> RunOptions:
    """Return the options that flags give; warn of deprecated ones."""
    gates = gates_of(flags)
    serving = options_from(flags.values)
    _check_limit(flags)
    record_bytes(flags)
    from_file = bool(flags["config"])
    if flags["reload"] and not from_file:
        raise OptionError("--reload needs a file to watch: add --config FILE")
    stamp = file_stamp(flags["config"]) if from_file else None
    return RunOptions(_load(flags, gates, registry, note), registry, flags, serving, stamp)


def reload_options(options: RunOptions) -> Loaded:
    """Return the configuration that the flags give now, read from its file again."""
    return _load(options.flags, options.loaded.gates, options.registry, lambda line: None)


def _load(flags: ParsedFlags, gates: FeatureGates, registry: Registry, note: Note) -> Loaded:
    from_file = bool(flags["config"])
    text = read_file(flags["config"], "--config") if from_file else legacy_config(flags, gates, note)

    def adjust(config: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
        if not from_file:
            config = _with(config, "client_connection", flags, _CONNECTION)
            changed = {field: flags[name] for name, field in _PROFILING.items() if name in flags.named}
            config = msgspec.structs.replace(config, **changed)
        return _with(config, "leader_election", flags, _LEADER_ELECTION)

    try:
        return load(text, gates, merge_catalogs(IN_TREE, registry.catalog()), adjust=adjust)
    except ConfigError as error:
        if not from_file or error.stage is not Stage.DECODE:
            # the flags may be the cause
            raise
        raise error.about(f"--config {flags['config']}") from None


def _check_limit(flags: ParsedFlags) -> None:
    """Raise OptionError unless a loop that has nothing to do turns often enough for the watchdog."""
    limit = flags[LIMIT]
    if limit.nanoseconds and limit.seconds < SHORTEST_SECONDS:
        raise OptionError(f"--{LIMIT}: must be 0 or at least {SHORTEST_SECONDS:.0f}s, not {limit}")


def record_bytes(flags: ParsedFlags) -> int:
    """Return the memory for the record of decisions, in bytes; raises OptionError if it is too little or too much."""
    try:
        return parse_memory(flags[FLAG])
    except ValueError as error:
        raise OptionError(f"--{FLAG}: {error}") from None


def _with(
    config: KubeSchedulerConfiguration, part: str, flags: ParsedFlags, fields: dict[str, str]
) -> KubeSchedulerConfiguration:
    """Return the configuration with the fields of one part that were given as flags."""
    changed = {field: flags[name] for name, field in fields.items() if name in flags.named}
    return msgspec.structs.replace(config, **{part: msgspec.structs.replace(getattr(config, part), **changed)})


def write_config(path: str, config: KubeSchedulerConfiguration) -> None:
    """Write a completed configuration as --config takes it; one with secrets is for its owner alone."""
    wire = to_wire(config)
    # differs (D-105): the reference writes private keys and passwords to a file that all users can read
    secret = without_secrets(wire) != wire
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600 if secret else 0o666)
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            if secret and stat.S_ISREG(os.fstat(descriptor).st_mode):
                os.fchmod(descriptor, 0o600)
            file.write(dump(wire))
    except OSError as error:
        reason = error.strerror or error
        raise OptionError(f"--write-config-to {path}: {reason}; give a writable file") from None
