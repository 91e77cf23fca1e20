"""Tables of devices and resource claims."""

# upstream: pkg/printers/internalversion/printers.go (v1.36)

from datetime import datetime

from kubesched_controlplane.representation.tables.printing import (
    Cells,
    Document,
    Printer,
    age,
    columns,
    is_terminating,
    name,
    since,
    spec,
    status,
)


def _state(claim: Document) -> str:
    found = ["deleted"] if is_terminating(claim) else []
    if status(claim).get("allocation") is not None:
        found.append("allocated")
        found += ["reserved"] if status(claim).get("reservedFor") else []
    elif not found:
        found.append("pending")
    return ",".join(found)


def _slice(found: Document, now: datetime) -> Cells:
    wanted = spec(found)
    pool = (wanted.get("pool") or {}).get("name") or ""
    return [name(found), wanted.get("nodeName") or "", wanted.get("driver") or "", pool, age(found, now)]


def _taint_rule(rule: Document, now: datetime) -> Cells:
    taint = spec(rule).get("taint") or {}
    added = since(taint["timeAdded"], now) if taint.get("timeAdded") else ""
    return [name(rule), *(taint.get(field) or "" for field in ("key", "value", "effect")), added, age(rule, now)]


RESOURCE_CLAIM_PRINTER = Printer(
    columns("Name, State, Age"), lambda claim, now: [name(claim), _state(claim), age(claim, now)]
)
RESOURCE_SLICE_PRINTER = Printer(columns("Name, Node, Driver, Pool, Age"), _slice)
DEVICE_TAINT_RULE_PRINTER = Printer(columns("Name, Key, Value, Effect, TimeAdded, Age"), _taint_rule)
