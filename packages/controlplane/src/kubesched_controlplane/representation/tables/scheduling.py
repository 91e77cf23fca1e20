"""Tables of priority classes, pod groups and workloads."""

# upstream: pkg/printers/internalversion/printers.go (v1.36)

from datetime import datetime

from kubesched_controlplane.representation.tables.printing import (
    NONE,
    Cells,
    Document,
    Printer,
    age,
    columns,
    condition,
    name,
    spec,
)


def _priority_class(found: Document, now: datetime) -> Cells:
    return [
        name(found),
        found.get("value") or 0,
        bool(found.get("globalDefault")),
        age(found, now),
        found.get("preemptionPolicy") or "",
    ]


def _pod_group(group: Document, now: datetime) -> Cells:
    policy = "Gang" if (spec(group).get("schedulingPolicy") or {}).get("gang") is not None else "Basic"
    state = "Pending"
    scheduled, disrupted = condition(group, "PodGroupScheduled"), condition(group, "DisruptionTarget")
    if scheduled is not None:
        state = "Scheduled" if scheduled.get("status") == "True" else "Unschedulable"
    if disrupted is not None:
        state = disrupted.get("reason") or ""
    reference = (spec(group).get("podGroupTemplateRef") or {}).get("workload") or {}
    return [name(group), policy, reference.get("workloadName") or NONE, state, age(group, now)]


PRIORITY_CLASS_PRINTER = Printer(
    columns("Name, Value:integer, Global-Default:boolean, Age, PreemptionPolicy"), _priority_class
)
POD_GROUP_PRINTER = Printer(columns("Name, Policy, Workload, Status, Age"), _pod_group)
