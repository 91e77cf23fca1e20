"""In-place resize of pods: the statuses that a kubelet writes.

From a pod whose spec and status have different resources to a status with the spec's resources, or to a pending
condition.
"""

# upstream: pkg/kubelet/{allocation/allocation_manager.go,status/status_manager.go} (v1.36)

from copy import deepcopy
from datetime import datetime
from typing import Final

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.kinds.pod.status import condition_of, set_condition

PENDING: Final = "PodResizePending"
DEFERRED, INFEASIBLE = "Deferred", "Infeasible"
_FIELDS: Final = (("containers", "containerStatuses"), ("initContainers", "initContainerStatuses"))


def reported(container: Document) -> Document:
    """Return the resources in a container's status."""
    resources = deepcopy(container.get("resources") or {})
    found: Document = {"resources": resources}
    if resources.get("requests"):
        found["allocatedResources"] = resources["requests"]
    return found


def is_resized(pod: Document) -> bool:
    """Return whether the spec of a running container has other resources than its status."""
    return bool(_changed(pod))


def resized(pod: Document, now: datetime) -> Document:
    """Return a pod whose status has the resources of its spec; containers are restarted by their resize policy."""
    found = deepcopy(pod)
    for container, status in _changed(found):
        restarts = _is_restarted(container, status)
        status.pop("allocatedResources", None)
        status.update(reported(container))
        if restarts:
            status["restartCount"] = (status.get("restartCount") or 0) + 1
            status["state"] = {"running": {"startedAt": timestamp(now)}}
    conditions = [each for each in found["status"].get("conditions") or () if each.get("type") != PENDING]
    found["status"]["conditions"] = conditions
    return found


def postpone(pod: Document, reason: str, message: str, now: datetime) -> bool:
    """Set the condition PodResizePending of a pod; return whether it changed."""
    known = condition_of(pod, PENDING) or {}
    if (known.get("reason"), known.get("message")) == (reason, message):
        return False
    condition = {"type": PENDING, "status": "True", "reason": reason, "message": message}
    if pod["metadata"].get("generation"):
        condition["observedGeneration"] = pod["metadata"]["generation"]
    set_condition(pod["status"], condition, now)
    return True


def _changed(pod: Document) -> list[tuple[Document, Document]]:
    """Return the running containers whose status reports other resources than the spec, with their statuses."""
    found = []
    for of_spec, of_status in _FIELDS:
        containers = {container["name"]: container for container in pod["spec"].get(of_spec) or ()}
        for status in pod["status"].get(of_status) or ():
            container = containers.get(status.get("name"))
            known = status.get("resources")
            if container is None or known is None or not (status.get("state") or {}).get("running"):
                continue
            if known != (container.get("resources") or {}):
                found.append((container, status))
    return found


def _is_restarted(container: Document, status: Document) -> bool:
    """Return whether a resource has changed whose resize policy is to restart the container."""
    policies = {each["resourceName"]: each.get("restartPolicy") for each in container.get("resizePolicy") or ()}
    before, after = status["resources"], container.get("resources") or {}
    return any(
        policy == "RestartContainer"
        and any(
            (before.get(kind) or {}).get(name) != (after.get(kind) or {}).get(name) for kind in ("requests", "limits")
        )
        for name, policy in policies.items()
    )
