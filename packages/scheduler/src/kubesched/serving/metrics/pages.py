"""The texts of /metrics/resources and /metrics/slis.

From pods, and from the results of health checks, to Prometheus text. The first takes some seconds for a hundred
thousand pods: write it in a thread, from a copy of the list of pods.
"""

# upstream: pkg/scheduler/metrics/resources, component-base/metrics/prometheus/slis (v1.36)

from collections.abc import Iterable
from typing import Final

from prometheus_client.process_collector import ProcessCollector

from kubesched.api.pods import Pod
from kubesched.api.resources import Requests, pod_limits, pod_requests
from kubesched.serving.metrics import catalog
from kubesched.serving.metrics.families import Family
from kubesched.serving.metrics.registry import MetricRegistry

_UNITS: Final = {"cpu": "cores", "memory": "bytes", "storage": "bytes", "ephemeral-storage": "bytes"}
SUCCESS, ERROR = "success", "error"


def resources_text(pods: Iterable[Pod]) -> str:
    """Return the resource requests and limits of pods, except terminated ones."""
    limits, requests = Family(catalog.POD_LIMIT, {}), Family(catalog.POD_REQUEST, {})
    for pod in pods:
        if not (pod.spec.node_name and pod.terminal):
            _show(limits, pod, pod_limits(pod))
            _show(requests, pod, pod_requests(pod))
    return "".join((*limits.lines(), *requests.lines()))


def _show(family: Family, pod: Pod, amounts: Requests) -> None:
    spec = pod.spec
    of_pod = (
        pod.namespace,
        pod.name,
        spec.node_name,
        spec.scheduler_name,
        "" if spec.priority is None else str(spec.priority),
    )
    for resource, amount in amounts.items():
        if not amount.is_zero():
            value = float(amount.unscaled) * 10.0**amount.exponent
            family.number(*of_pod, resource, _unit(resource)).value = value


def _unit(resource: str) -> str:
    if resource.startswith("hugepages-"):
        return "bytes"
    return "integer" if resource.startswith("attachable-volumes-") else _UNITS.get(resource, "")


class HealthMetrics:
    """The results of health checks, as /metrics/slis shows them."""

    def __init__(self) -> None:
        self._registry = MetricRegistry(others=None, about_itself=False)
        self._result = self._registry.family(catalog.HEALTH_CHECK)
        self._results = self._registry.family(catalog.HEALTH_CHECKS)
        self._started = self._registry.family(catalog.PROCESS_START).number()

    def checked(self, name: str, page: str, healthy: bool) -> None:
        """Count the result of a check ("ping") that was made for a page ("healthz", "livez" or "readyz")."""
        self._result.number(name, page).value = healthy
        self._results.number(name, page, SUCCESS if healthy else ERROR).value += 1

    def text(self) -> str:
        """Return the page."""
        for metric in ProcessCollector(registry=None).collect():
            if metric.name == catalog.PROCESS_START.name:
                self._started.value = metric.samples[0].value
        return self._registry.text()

    def reset(self) -> None:
        """Count from zero."""
        self._registry.reset()
