"""The metrics of autoscalers: the usage of pods, and the replicas that follow from it.

From a metric's target and pods to a number of replicas and the metric's status. The usage of pods comes from `usage`:
it is their requests, unless annotations give it.
"""

# upstream: pkg/controller/podautoscaler/{horizontal.go,replica_calculator.go} (v1.36)

from collections.abc import Sequence
from fractions import Fraction
from math import ceil
from typing import NamedTuple

from kubesched.api.quantity import ZERO, from_milli_value, quantity_of
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.pod.usage import RESOURCES, USAGE, container_usages

TOLERANCE = Fraction(1, 10)
_FIELDS = {"Resource": "resource", "ContainerResource": "containerResource"}


class MetricError(Exception):
    """A metric that cannot be computed; `reason` is the reason of the condition."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason = reason


class Measurement(NamedTuple):
    """The replicas for a metric, its status and name; `told`: its usage comes from annotations, not from requests."""

    replicas: int
    status: Document
    name: str
    told: bool


def measured(metric: Document, pods: Sequence[Document], current: int) -> Measurement:
    """Return the measurement of a metric over ready pods. Raises MetricError."""
    field = _FIELDS.get(metric["type"])
    if field is None:
        reason = f"FailedGet{metric['type']}Metric"
        raise MetricError(reason, "only metrics of the types Resource and ContainerResource are simulated")
    source = metric[field]
    name, target = source["name"], source["target"]
    if name not in RESOURCES:
        raise MetricError("FailedGetResourceMetric", f"nothing is known of the use of {name}; only of cpu and memory")
    if not pods:
        raise MetricError("FailedGetResourceMetric", "no ready pods to measure")
    used = sum(_used(pod, name, source.get("container")) for pod in pods)
    status: Document = {"name": name, "current": {"averageValue": str(from_milli_value(ceil(used / len(pods))))}}
    if source.get("container"):
        status["container"] = source["container"]
    if target["type"] == "Utilization":
        requested = sum(_requested(pod, name, source.get("container")) for pod in pods)
        utilization = used * 100 // requested
        status["current"]["averageUtilization"] = utilization
        ratio = Fraction(utilization, target["averageUtilization"])
        words = f"{name} resource utilization (percentage of request)"
    else:
        ratio = Fraction(used, len(pods) * quantity_of(target["averageValue"]).milli_value())
        words = f"{name} resource"
    near = abs(ratio - 1) <= TOLERANCE
    told = any(USAGE.format(name) in (pod["metadata"].get("annotations") or {}) for pod in pods)
    return Measurement(
        current if near else ceil(ratio * len(pods)), {"type": metric["type"], field: status}, words, told
    )


def _used(pod: Document, name: str, container: str | None) -> int:
    """Return the usage of a pod, or of one of its containers, in thousandths."""
    usages = container_usages(pod)
    return sum(usage[name].milli_value() for each, usage in usages.items() if container in (None, each))


def _requested(pod: Document, name: str, container: str | None) -> int:
    """Return the request of a pod, or of one of its containers, in thousandths. Raises MetricError if it is missing."""
    found = 0
    for each in pod["spec"]["containers"]:
        if container not in (None, each["name"]):
            continue
        requests = (each.get("resources") or {}).get("requests") or {}
        amount = quantity_of(requests[name]) if name in requests else ZERO
        if amount.sign() <= 0:
            meta = pod["metadata"]
            words = f"missing request for {name} in container {each['name']} of Pod {meta['name']}"
            raise MetricError("FailedGetResourceMetric", words)
        found += amount.milli_value()
    if not found:
        raise MetricError("FailedGetResourceMetric", f"container {container} not present in metrics for pods")
    return found
