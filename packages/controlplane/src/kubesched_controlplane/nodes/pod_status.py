"""The pod statuses that a kubelet writes: started, ready, finished, refused.

From a pod's document to the same document with a new status.
"""

# upstream: pkg/kubelet/{kubelet_pods.go,status/generate.go} (v1.36)

from datetime import datetime
from typing import Any

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.times import moment, timestamp
from kubesched_controlplane.kinds.pod.phases import FAILED, RUNNING, SUCCEEDED
from kubesched_controlplane.kinds.pod.status import condition_of, set_condition
from kubesched_controlplane.nodes.resizing import reported

# the exit code of a process that SIGKILL has ended
_KILLED = 137


def start(pod: Document, host_address: str, pod_address: str, now: datetime) -> None:
    """Set the status of a pod whose containers start."""
    status = pod["status"]
    status["phase"] = RUNNING
    status["startTime"] = timestamp(now)
    status["hostIP"], status["hostIPs"] = host_address, [{"ip": host_address}]
    status["podIP"], status["podIPs"] = pod_address, [{"ip": pod_address}]
    _observe(pod)
    set_condition(status, {"type": "PodReadyToStartContainers", "status": "True"}, now)
    set_condition(status, {"type": "Initialized", "status": "True"}, now)
    status["containerStatuses"] = [_running(container, pod, now) for container in pod["spec"]["containers"]]
    if pod["spec"].get("initContainers"):
        status["initContainerStatuses"] = [
            _running(container, pod, now, ready=True)
            if container.get("restartPolicy") == "Always"
            else _ended(_running(container, pod, now), 0, now, ready=True)
            for container in pod["spec"]["initContainers"]
        ]
    waiting = [container["name"] for container in pod["spec"]["containers"]]
    _set_readiness(pod, now, "ContainersNotReady", f"containers with unready status: [{' '.join(waiting)}]")


def make_ready(pod: Document, now: datetime) -> None:
    """Set the containers of a pod ready, and the pod unless a readiness gate is closed."""
    for status in pod["status"].get("containerStatuses") or ():
        status["ready"] = True
    _observe(pod)
    set_condition(pod["status"], {"type": "ContainersReady", "status": "True"}, now)
    closed = closed_gates(pod)
    if not closed:
        set_condition(pod["status"], {"type": "Ready", "status": "True"}, now)
        return
    messages = [f'corresponding condition of pod readiness gate "{gate}" {why}.' for gate, why in closed]
    condition = {"type": "Ready", "status": "False", "reason": "ReadinessGatesNotReady", "message": ", ".join(messages)}
    set_condition(pod["status"], condition, now)


def starts_ephemeral_containers(pod: Document, now: datetime) -> bool:
    """Set new ephemeral containers of a pod running; return whether there are any."""
    known = {status["name"] for status in pod["status"].get("ephemeralContainerStatuses") or ()}
    added = [each for each in pod["spec"].get("ephemeralContainers") or () if each["name"] not in known]
    if added:
        statuses = pod["status"].setdefault("ephemeralContainerStatuses", [])
        statuses += [_running({**container, "resources": None}, pod, now) for container in added]
    return bool(added)


def closed_gates(pod: Document) -> list[tuple[str, str]]:
    """Return the readiness gates that are not open, and why."""
    found = []
    for gate in pod["spec"].get("readinessGates") or ():
        condition = condition_of(pod, gate["conditionType"])
        if condition is None:
            found.append((gate["conditionType"], "does not exist"))
        elif condition.get("status") != "True":
            found.append((gate["conditionType"], f'has status other than "True": {condition.get("status")}'))
    return found


def needs_readiness(pod: Document) -> bool:
    """Return whether the readiness in a pod's status is outdated: by its generation, or by its readiness gates."""
    generation = pod["metadata"].get("generation")
    if generation and pod["status"].get("observedGeneration") != generation:
        return True
    ready = condition_of(pod, "Ready")
    return (ready is not None and ready.get("status") == "True") is bool(closed_gates(pod))


def seconds_running(pod: Document, now: datetime) -> float:
    """Return for how long the containers of a pod have been running since their last start."""
    states = [status.get("state") or {} for status in pod["status"].get("containerStatuses") or ()]
    times = [state["running"].get("startedAt") for state in states if state.get("running")]
    started = max((moment(time) for time in times if time), default=now)
    return max(0.0, (now - started).total_seconds())


def restart(pod: Document, code: int, now: datetime) -> None:
    """Set the status of a pod whose containers ended and are restarted."""
    for status in pod["status"].get("containerStatuses") or ():
        status["lastState"] = _ended(status, code, now)["state"]
        status["restartCount"] = (status.get("restartCount") or 0) + 1
        status["state"] = {"running": {"startedAt": timestamp(now)}}
        status["started"] = status["ready"] = True


def finish(pod: Document, code: int, now: datetime) -> None:
    """Set the status of a pod whose containers ended: Succeeded, or Failed with an exit code."""
    status = pod["status"]
    status["phase"] = FAILED if code else SUCCEEDED
    _observe(pod)
    for field in ("containerStatuses", "initContainerStatuses"):
        if status.get(field):
            status[field] = [
                each if "terminated" in (each.get("state") or {}) else _ended(each, code, now) for each in status[field]
            ]
    set_condition(status, {"type": "PodReadyToStartContainers", "status": "False"}, now)
    _set_readiness(pod, now, "PodFailed" if code else "PodCompleted", "")


def exceed_deadline(pod: Document, now: datetime) -> None:
    """Set the status of a pod that failed by its active deadline."""
    finish(pod, _KILLED, now)
    status = pod["status"]
    status["reason"] = "DeadlineExceeded"
    status["message"] = "Pod was active on the node longer than the specified deadline"


def refuse(pod: Document, reason: str, message: str, now: datetime) -> None:
    """Set the status of a pod that its node refuses."""
    status = pod["status"]
    status["phase"], status["reason"] = FAILED, reason
    status["message"] = f"Pod was rejected: {message}"
    status["startTime"] = timestamp(now)
    _observe(pod)


def _observe(pod: Document) -> None:
    generation = pod["metadata"].get("generation")
    if generation:
        pod["status"]["observedGeneration"] = generation


def _set_readiness(pod: Document, now: datetime, reason: str, message: str) -> None:
    for kind in ("Ready", "ContainersReady"):
        condition = {"type": kind, "status": "False", "reason": reason}
        set_condition(pod["status"], {**condition, "message": message} if message else condition, now)


def _running(container: Document, pod: Document, now: datetime, *, ready: bool = False) -> Document:
    image = container.get("image") or ""
    return {
        "name": container["name"],
        "state": {"running": {"startedAt": timestamp(now)}},
        "lastState": {},
        "ready": ready,
        "started": True,
        "restartCount": 0,
        "image": image,
        "imageID": f"simulated://{image}",
        "containerID": f"simulated://{pod['metadata']['uid']}/{container['name']}",
        **reported(container),
    }


def _ended(status: Document, code: int, now: datetime, *, ready: bool = False) -> Document:
    running: dict[str, Any] = (status.get("state") or {}).get("running") or {}
    end = {
        "exitCode": code,
        "reason": "Error" if code else "Completed",
        "startedAt": running.get("startedAt") or timestamp(now),
        "finishedAt": timestamp(now),
        "containerID": status.get("containerID") or "",
    }
    return {**status, "state": {"terminated": end}, "ready": ready, "started": False}
