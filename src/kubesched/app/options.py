"""What a command line and a configuration file amount to.

From flags to one value that the rest of the process is built from. Without --config the deprecated flags count; with it
they are ignored, as are none of the leader-election flags. Everything that is wrong is an error before anything starts.
"""

# upstream: cmd/kube-scheduler/app/options/{options,deprecated}.go (v1.36)

from pathlib import Path

import msgspec

from kubesched.app.go_flags import Given
from kubesched.config import IN_TREE, merge_catalogs
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.load import Loaded, load
from kubesched.config.types import KubeSchedulerConfiguration
from kubesched.errors import KubeschedError
from kubesched.framework.registry import Registry

LARGEST_CONFIG = 10 * 2**20
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


class OptionError(KubeschedError):
    """Options that do not fit together, or a file that cannot be read."""


class RunOptions(msgspec.Struct, frozen=True):
    """Everything `kubesched run` was asked for; `flags` has what needs no translation."""

    loaded: Loaded
    registry: Registry
    flags: Given

    @property
    def config(self) -> KubeSchedulerConfiguration:
        """Return the completed configuration."""
        return self.loaded.config


def read_options(flags: Given, registry: Registry, config_text: bytes | None = None) -> RunOptions:
    """Return what the flags amount to; `config_text` stands for a configuration that was translated from a policy."""
    gates = FeatureGates.parse(
        ",".join(f"{name}={value}" for name, value in flags["feature-gates"].items()), flags["emulated-version"]
    )
    problems = [*_port_problems(flags), *_pair_problems(flags)]
    if problems:
        raise OptionError("; ".join(problems))
    from_file = bool(flags["config"])
    text = _read(flags["config"]) if from_file else config_text

    def adjust(config: KubeSchedulerConfiguration) -> KubeSchedulerConfiguration:
        if not from_file:
            config = _with(config, "client_connection", flags, _CONNECTION)
            changed = {field: flags[name] for name, field in _PROFILING.items() if name in flags.named}
            config = msgspec.structs.replace(config, **changed)
        return _with(config, "leader_election", flags, _LEADER_ELECTION)

    loaded = load(text, gates, merge_catalogs(IN_TREE, registry.catalog()), adjust=adjust)
    return RunOptions(loaded, registry, flags)


def _with(
    config: KubeSchedulerConfiguration, part: str, flags: Given, fields: dict[str, str]
) -> KubeSchedulerConfiguration:
    """Return the configuration with those fields of a part that were given as flags."""
    changed = {field: flags[name] for name, field in fields.items() if name in flags.named}
    return msgspec.structs.replace(config, **{part: msgspec.structs.replace(getattr(config, part), **changed)})


def _read(path: str) -> bytes:
    try:
        with Path(path).open("rb") as file:
            text = file.read(LARGEST_CONFIG + 1)
    except OSError as error:
        raise OptionError(f"--config {path}: {error.strerror or error}; name a file that can be read") from None
    if len(text) > LARGEST_CONFIG:
        raise OptionError(f"--config {path}: larger than {LARGEST_CONFIG} bytes; is it the right file?")
    return text


def _port_problems(flags: Given) -> list[str]:
    port = flags["secure-port"]
    if not 0 <= port <= 65535:
        return [f"--secure-port {port} must be between 0 and 65535, inclusive. 0 for turning off secure port"]
    return []


def _pair_problems(flags: Given) -> list[str]:
    problems = []
    if bool(flags["tls-cert-file"]) != bool(flags["tls-private-key-file"]):
        problems.append("--tls-cert-file and --tls-private-key-file must be given together")
    if flags["requestheader-client-ca-file"] and not flags["requestheader-username-headers"]:
        problems.append("--requestheader-client-ca-file needs --requestheader-username-headers")
    return problems
