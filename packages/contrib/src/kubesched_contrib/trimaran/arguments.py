"""The source of load metrics: the common arguments of Trimaran's plugins.

In: `metricProvider` and `watcherAddress` of a configuration. Out: the same, checked.
"""

from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import urlsplit

METRICS_SERVER = "KubernetesMetricsServer"
PROMETHEUS = "Prometheus"
SIGNAL_FX = "SignalFx"
DEFAULT_PROMETHEUS = "http://prometheus-k8s:9090"


@dataclass(frozen=True)
class MetricProviderSpec:
    """A metrics provider that is used without a load-watcher."""

    type: Literal["KubernetesMetricsServer", "Prometheus", "SignalFx"] = "KubernetesMetricsServer"
    address: str = ""
    token: str = field(default="", repr=False)
    # by default true for Prometheus, as in scheduler-plugins
    insecure_skip_verify: bool = True

    def __post_init__(self) -> None:
        if self.type == SIGNAL_FX:
            raise ValueError(
                "type: SignalFx is not supported; run load-watcher with SignalFx and name it in watcherAddress"
            )
        check_address("address", self.address)


@dataclass(frozen=True)
class TrimaranArgs:
    """The source of load metrics: load-watcher if it has an address, the provider otherwise."""

    metric_provider: MetricProviderSpec = field(default_factory=MetricProviderSpec)
    watcher_address: str = ""

    def __post_init__(self) -> None:
        check_address("watcherAddress", self.watcher_address)


def check_address(name: str, address: str) -> None:
    """Raise ValueError for an invalid http address; an empty address counts as unset. The message does not contain
    it.
    """
    try:
        parts = urlsplit(address)
        fine = not address or (parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0)
    except ValueError:
        fine = False
    if not fine:
        raise ValueError(f"{name}: write the address as http://host:port")
