"""The times in a pod's spec: probe delays, preStop hooks, active deadlines.

From a pod's document to seconds.
"""

# upstream: pkg/kubelet/{active_deadline.go,prober/worker.go,kuberuntime/kuberuntime_container.go} (v1.36)

from collections.abc import Iterator
from datetime import datetime

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.times import moment


def seconds_until_ready(spec: Document) -> float:
    """Return the longest initial delay of a startup or readiness probe."""
    probes = (
        container.get(probe) or {} for container in _lasting(spec) for probe in ("startupProbe", "readinessProbe")
    )
    return max((float(probe.get("initialDelaySeconds") or 0) for probe in probes), default=0.0)


def seconds_before_stop(spec: Document) -> float:
    """Return the longest time that a preStop hook sleeps."""
    hooks = ((container.get("lifecycle") or {}).get("preStop") or {} for container in _lasting(spec))
    return max((float((hook.get("sleep") or {}).get("seconds") or 0) for hook in hooks), default=0.0)


def seconds_until_deadline(pod: Document, now: datetime, speed: float) -> float | None:
    """Return the seconds until the active deadline of a pod, divided by the speed; None without a deadline."""
    limit, started = pod["spec"].get("activeDeadlineSeconds"), pod["status"].get("startTime")
    if limit is None or not started:
        return None
    return float(limit) / speed - (now - moment(started)).total_seconds()


def _lasting(spec: Document) -> Iterator[Document]:
    """Yield the containers that run as long as the pod does."""
    yield from spec.get("containers") or ()
    for container in spec.get("initContainers") or ():
        if container.get("restartPolicy") == "Always":
            yield container
