"""Tables of workloads, disruption budgets and autoscalers."""

# upstream: pkg/printers/internalversion/printers.go (v1.36)

from datetime import datetime
from typing import Any

from kubesched_controlplane.api.times import moment
from kubesched_controlplane.representation.tables.printing import (
    NONE,
    UNKNOWN,
    UNSET,
    Cells,
    Document,
    Printer,
    age,
    columns,
    condition,
    containers,
    human_duration,
    is_terminating,
    labels,
    name,
    selector,
    selector_text,
    since,
    some,
    spec,
    status,
    yes_or_no,
)

# conditions by precedence; the empty one stands for a terminating job
_JOB_STATES = ("Complete", "Failed", "", "Suspended", "FailureTarget", "SuccessCriteriaMet")
_METRICS = {
    "External": "external",
    "Pods": "pods",
    "Object": "object",
    "Resource": "resource",
    "ContainerResource": "containerResource",
}


def _replicas(document: Document) -> Cells:
    """Return the name, and the numbers of desired, current and ready replicas."""
    found = status(document)
    return [
        name(document),
        spec(document).get("replicas") or 0,
        found.get("replicas") or 0,
        found.get("readyReplicas") or 0,
    ]


def _ready(document: Document) -> str:
    return f"{status(document).get('readyReplicas') or 0}/{spec(document).get('replicas') or 0}"


def _controller(document: Document, now: datetime) -> Cells:
    template = containers(spec(document).get("template"))
    return [*_replicas(document), age(document, now), *template, labels(spec(document).get("selector"))]


def _replica_set(document: Document, now: datetime) -> Cells:
    template = containers(spec(document).get("template"))
    return [*_replicas(document), age(document, now), *template, selector(spec(document).get("selector"))]


def _stateful_set(document: Document, now: datetime) -> Cells:
    return [name(document), _ready(document), age(document, now), *containers(spec(document).get("template"))]


def _deployment(document: Document, now: datetime) -> Cells:
    found = status(document)
    return [
        name(document),
        _ready(document),
        found.get("updatedReplicas") or 0,
        found.get("availableReplicas") or 0,
        age(document, now),
        *containers(spec(document).get("template")),
        selector_text(spec(document).get("selector"), "<invalid>"),
    ]


def _daemon_set(document: Document, now: datetime) -> Cells:
    found, template = status(document), spec(document).get("template") or {}
    counts = ("desiredNumberScheduled", "currentNumberScheduled", "numberReady", "updatedNumberScheduled")
    return [
        name(document),
        *(found.get(count) or 0 for count in (*counts, "numberAvailable")),
        labels(spec(template).get("nodeSelector")),
        age(document, now),
        *containers(template),
        selector(spec(document).get("selector")),
    ]


def _job(job: Document, now: datetime) -> Cells:
    found, wanted = status(job), spec(job)
    succeeded, parallelism = found.get("succeeded") or 0, wanted.get("parallelism") or 0
    if wanted.get("completions") is not None:
        completions = f"{succeeded}/{wanted['completions']}"
    else:
        completions = f"{succeeded}/1 of {parallelism}" if parallelism > 1 else f"{succeeded}/1"
    return [
        name(job),
        next((kind or "Terminating" for kind in _JOB_STATES if _is_so(job, kind)), "Running"),
        completions,
        _job_duration(found, now),
        age(job, now),
        *containers(wanted.get("template")),
        selector(wanted.get("selector")),
    ]


def _is_so(job: Document, kind: str) -> bool:
    if not kind:
        return is_terminating(job)
    found = condition(job, kind)
    return found is not None and found.get("status") == "True"


def _job_duration(found: Document, now: datetime) -> str:
    if not found.get("startTime"):
        return ""
    end = moment(found["completionTime"]) if found.get("completionTime") else now
    return human_duration((end - moment(found["startTime"])).total_seconds())


def _cron_job(job: Document, now: datetime) -> Cells:
    wanted, found = spec(job), status(job)
    template = spec(wanted.get("jobTemplate") or {})
    return [
        name(job),
        wanted.get("schedule") or "",
        wanted.get("timeZone") or NONE,
        yes_or_no(wanted.get("suspend")),
        len(found.get("active") or ()),
        since(found["lastScheduleTime"], now) if found.get("lastScheduleTime") else NONE,
        age(job, now),
        *containers(template.get("template")),
        selector(template.get("selector")),
    ]


def _revision(revision: Document, now: datetime) -> Cells:
    owners = revision["metadata"].get("ownerReferences") or ()
    owner = next((each for each in owners if each.get("controller")), None)
    controller = NONE
    if owner is not None:
        group = owner["apiVersion"].rpartition("/")[0]
        kind = f"{owner['kind'].lower()}.{group}" if group else owner["kind"].lower()
        controller = f"{kind}/{owner['name']}"
    return [name(revision), controller, revision.get("revision") or 0, age(revision, now)]


def _budget(budget: Document, now: datetime) -> Cells:
    limits = (spec(budget).get(field) for field in ("minAvailable", "maxUnavailable"))
    allowed = status(budget).get("disruptionsAllowed") or 0
    return [name(budget), *("N/A" if each is None else str(each) for each in limits), allowed, age(budget, now)]


def _autoscaler(scaler: Document, now: datetime) -> Cells:
    wanted, found = spec(scaler), status(scaler)
    target, least = wanted.get("scaleTargetRef") or {}, wanted.get("minReplicas")
    metrics, current = wanted.get("metrics") or (), found.get("currentMetrics") or ()
    shown = [_metric(each, current[number] if number < len(current) else {}) for number, each in enumerate(metrics)]
    return [
        name(scaler),
        f"{target.get('kind', '')}/{target.get('name', '')}",
        some(shown, 2, ", ") or NONE,
        UNSET if least is None else str(least),
        wanted.get("maxReplicas") or 0,
        found.get("currentReplicas") or 0,
        age(scaler, now),
    ]


def _metric(metric: Document, reading: Any) -> str:
    """Return the current value of a metric and its target."""
    kind = metric.get("type", "")
    if kind not in _METRICS:
        return "<unknown type>"
    source = metric.get(_METRICS[kind]) or {}
    target, current = source.get("target") or {}, ((reading or {}).get(_METRICS[kind]) or {}).get("current") or {}
    average = target.get("averageValue")
    if kind in ("Resource", "ContainerResource"):
        if average is not None:
            return f"{source.get('name', '')}: {current.get('averageValue', UNKNOWN)}/{average}"
        used, wanted = current.get("averageUtilization"), target.get("averageUtilization")
        used_text = UNKNOWN if used is None else f"{used}%"
        return f"{source.get('name', '')}: {used_text}/{'<auto>' if wanted is None else f'{wanted}%'}"
    if kind == "Pods" or average is None:
        field = "averageValue" if kind == "Pods" else "value"
        return f"{current.get(field, UNKNOWN)}/{target.get(field, '0')}"
    return f"{current.get('averageValue', UNKNOWN)}/{average} (avg)"


_COUNTED = "Name, Desired:integer, Current:integer, Ready:integer, Age | Containers, Images, Selector"

REPLICATION_CONTROLLER_PRINTER = Printer(columns(_COUNTED), _controller)
REPLICA_SET_PRINTER = Printer(columns(_COUNTED), _replica_set)
STATEFUL_SET_PRINTER = Printer(columns("Name, Ready, Age | Containers, Images"), _stateful_set)
DEPLOYMENT_PRINTER = Printer(
    columns("Name, Ready, Up-to-date, Available, Age | Containers, Images, Selector"), _deployment
)
DAEMON_SET_PRINTER = Printer(
    columns(
        "Name, Desired:integer, Current:integer, Ready:integer, Up-to-date:integer, Available:integer, "
        "Node Selector, Age | Containers, Images, Selector"
    ),
    _daemon_set,
)
CONTROLLER_REVISION_PRINTER = Printer(columns("Name, Controller, Revision, Age"), _revision)
JOB_PRINTER = Printer(columns("Name, Status, Completions, Duration, Age | Containers, Images, Selector"), _job)
CRON_JOB_PRINTER = Printer(
    columns(
        "Name, Schedule, Timezone, Suspend:boolean, Active:integer, Last Schedule, Age | Containers, Images, Selector"
    ),
    _cron_job,
)
POD_DISRUPTION_BUDGET_PRINTER = Printer(
    columns("Name, Min Available, Max Unavailable, Allowed Disruptions:integer, Age"), _budget
)
HORIZONTAL_POD_AUTOSCALER_PRINTER = Printer(
    columns("Name, Reference, Targets, MinPods, MaxPods, Replicas, Age"), _autoscaler
)
