"""The table of pods: ready containers, status, restarts."""

# upstream: pkg/printers/internalversion/printers.go (printPod) (v1.36)

from collections.abc import Iterable
from datetime import datetime

from kubesched_controlplane.representation.tables.printing import (
    NONE,
    Cells,
    Document,
    Printer,
    age,
    columns,
    condition,
    containers,
    is_terminating,
    labels,
    name,
    since,
    spec,
    status,
)

_TERMINAL = ("Succeeded", "Failed")
_ENDED = {"Succeeded": "The pod has completed successfully.", "Failed": "The pod failed."}


class _Summary:
    """The totals of a pod's containers, and its status."""

    def __init__(self, reason: str) -> None:
        self.reason = reason
        self.ready = 0
        self.restarts = 0
        self.last_restart = ""

    def count_restarts(self, container: Document) -> None:
        """Count the restarts of a container."""
        self.restarts += container.get("restartCount") or 0
        ended = (container.get("lastState") or {}).get("terminated") or {}
        self.last_restart = max(self.last_restart, ended.get("finishedAt") or "")


def _cells(pod: Document, now: datetime) -> Cells:
    summary = _summary(pod)
    restarts = str(summary.restarts)
    if summary.restarts and summary.last_restart:
        restarts = f"{restarts} ({since(summary.last_restart, now)} ago)"
    total = len(spec(pod).get("containers") or ()) + len(_sidecars(pod))
    found = status(pod)
    address = next((each.get("ip") for each in found.get("podIPs") or ()), None)
    return [
        name(pod),
        f"{summary.ready}/{total}",
        summary.reason,
        restarts,
        age(pod, now),
        address or NONE,
        spec(pod).get("nodeName") or NONE,
        found.get("nominatedNodeName") or NONE,
        _readiness_gates(pod),
    ]


def _summary(pod: Document) -> _Summary:
    found = status(pod)
    reason = found.get("reason") or found.get("phase") or ""
    scheduled = condition(pod, "PodScheduled")
    if scheduled is not None and scheduled.get("reason") == "SchedulingGated":
        reason = "SchedulingGated"
    summary = _Summary(reason)
    initialized = condition(pod, "Initialized")
    if not _initializing(pod, summary) or (initialized is not None and initialized.get("status") == "True"):
        _running(pod, summary)
    if is_terminating(pod):
        if found.get("reason") == "NodeLost":
            summary.reason = "Unknown"
        elif found.get("phase") not in _TERMINAL:
            summary.reason = "Terminating"
    return summary


def _sidecars(pod: Document) -> set[str]:
    """Return the names of the sidecars: init containers that are restarted always."""
    found = spec(pod).get("initContainers") or ()
    return {each.get("name", "") for each in found if each.get("restartPolicy") == "Always"}


def _initializing(pod: Document, summary: _Summary) -> bool:
    """Add the init containers to the summary; return whether one of them has not completed."""
    sidecars = _sidecars(pod)
    for number, container in enumerate(status(pod).get("initContainerStatuses") or ()):
        summary.count_restarts(container)
        state = container.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting") or {}
        if ended is not None and not ended.get("exitCode"):
            continue
        if container.get("name") in sidecars and container.get("started"):
            summary.ready += bool(container.get("ready"))
            continue
        if ended is not None:
            summary.reason = f"Init:{_why_ended(ended)}"
        elif waiting.get("reason") and waiting["reason"] != "PodInitializing":
            summary.reason = f"Init:{waiting['reason']}"
        else:
            summary.reason = f"Init:{number}/{len(spec(pod).get('initContainers') or ())}"
        return True
    return False


def _why_ended(ended: Document) -> str:
    if ended.get("reason"):
        return str(ended["reason"])
    return f"Signal:{ended['signal']}" if ended.get("signal") else f"ExitCode:{ended.get('exitCode', 0)}"


def _running(pod: Document, summary: _Summary) -> None:
    """Add the containers to the summary; of the init containers only sidecars are counted."""
    summary.restarts, summary.last_restart = 0, ""
    for container in _not_ended(pod):
        summary.count_restarts(container)
    running, failure = False, ""
    for container in reversed(status(pod).get("containerStatuses") or ()):
        summary.count_restarts(container)
        state = container.get("state") or {}
        ended, waiting = state.get("terminated"), state.get("waiting") or {}
        if waiting.get("reason"):
            summary.reason = waiting["reason"]
        elif ended is not None:
            summary.reason = _why_ended(ended)
            failure = summary.reason if ended.get("exitCode") else failure
        elif container.get("ready") and state.get("running") is not None:
            running = True
            summary.ready += 1
    if summary.reason == "Completed":
        ready = condition(pod, "Ready")
        if running and ready is not None and ready.get("status") == "True":
            summary.reason = "Running"
        elif failure or running:
            summary.reason = failure or "NotReady"


def _not_ended(pod: Document) -> Iterable[Document]:
    sidecars = _sidecars(pod)
    return (each for each in status(pod).get("initContainerStatuses") or () if each.get("name") in sidecars)


def _readiness_gates(pod: Document) -> str:
    gates = spec(pod).get("readinessGates") or ()
    if not gates:
        return NONE
    met = (condition(pod, gate.get("conditionType", "")) for gate in gates)
    return f"{sum(each is not None and each.get('status') == 'True' for each in met)}/{len(gates)}"


def _conditions(pod: Document) -> list[Document]:
    phase = status(pod).get("phase")
    if phase not in _ENDED:
        return []
    return [{"type": "Completed", "status": "True", "reason": phase, "message": _ENDED[phase]}]


def _template_cells(template: Document, now: datetime) -> Cells:
    found = template.get("template") or {}
    return [name(template), *containers(found), labels((found.get("metadata") or {}).get("labels"))]


POD_PRINTER = Printer(
    columns("Name, Ready, Status, Restarts, Age | IP, Node, Nominated Node, Readiness Gates"), _cells, _conditions
)
POD_TEMPLATE_PRINTER = Printer(columns("Name, Containers, Images, Pod Labels"), _template_cells)
