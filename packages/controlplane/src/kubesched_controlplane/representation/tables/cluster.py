"""Tables of nodes, namespaces, events, leases, configuration and quotas."""

# upstream: pkg/printers/internalversion/printers.go (v1.36)

from datetime import datetime

from kubesched_controlplane.representation.tables.printing import (
    NONE,
    UNKNOWN,
    Cells,
    Document,
    Printer,
    age,
    columns,
    condition,
    name,
    since,
    spec,
    status,
)

_ROLE_PREFIX, _ROLE = "node-role.kubernetes.io/", "kubernetes.io/role"


def _node(node: Document, now: datetime) -> Cells:
    ready = condition(node, "Ready")
    state = "Unknown" if ready is None else "Ready" if ready.get("status") == "True" else "NotReady"
    if spec(node).get("unschedulable"):
        state += ",SchedulingDisabled"
    info = status(node).get("nodeInfo") or {}
    kernel = info.get("kernelVersion") or UNKNOWN
    if info.get("architecture"):
        kernel += f" ({info['architecture']})"
    return [
        name(node),
        state,
        ",".join(_roles(node)) or NONE,
        age(node, now),
        info.get("kubeletVersion") or "",
        _address(node, "InternalIP"),
        _address(node, "ExternalIP"),
        info.get("osImage") or UNKNOWN,
        kernel,
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _roles(node: Document) -> list[str]:
    labels = node["metadata"].get("labels") or {}
    found = {key.removeprefix(_ROLE_PREFIX) for key in labels if key.startswith(_ROLE_PREFIX)} | {labels.get(_ROLE, "")}
    return sorted(found - {""})


def _address(node: Document, kind: str) -> str:
    addresses = status(node).get("addresses") or ()
    return next((each["address"] for each in addresses if each.get("type") == kind), NONE)


def _event(event: Document, now: datetime) -> Cells:
    first = since(event.get("firstTimestamp") or event.get("eventTime"), now)
    last = since(event["lastTimestamp"], now) if event.get("lastTimestamp") else first
    count = event.get("count") or 1
    series = event.get("series")
    if series is not None:
        last, count = since(series.get("lastObservedTime"), now), series.get("count") or 0
    regarding, source = event.get("involvedObject") or {}, event.get("source") or {}
    kind, target = (regarding.get("kind") or "").lower(), regarding.get("name")
    component = source.get("component") or event.get("reportingComponent") or ""
    instance = source.get("host") or event.get("reportingInstance")
    return [
        last,
        event.get("type") or "",
        event.get("reason") or "",
        f"{kind}/{target}" if target else kind,
        regarding.get("fieldPath") or "",
        f"{component}, {instance}" if instance else component,
        (event.get("message") or "").strip(),
        first,
        count,
        name(event),
    ]


def _quota(quota: Document, now: datetime) -> Cells:
    hard, used = status(quota).get("hard") or {}, status(quota).get("used") or {}
    found: tuple[list[str], list[str]] = ([], [])
    for resource in sorted(hard):
        found[resource.startswith("limits.")].append(f"{resource}: {used.get(resource, '0')}/{hard[resource]}")
    return [name(quota), *(", ".join(each) for each in found), age(quota, now)]


def _candidate(candidate: Document, now: datetime) -> Cells:
    fields = ("leaseName", "binaryVersion", "emulationVersion")
    return [name(candidate), *(spec(candidate).get(field) or "" for field in fields), age(candidate, now)]


def _data(document: Document, *fields: str) -> int:
    return sum(len(document.get(field) or ()) for field in fields)


NODE_PRINTER = Printer(
    columns(
        "Name, Status, Roles, Age, Version | Internal-IP, External-IP, OS-Image, Kernel-Version, Container-Runtime"
    ),
    _node,
)
NAMESPACE_PRINTER = Printer(
    columns("Name, Status, Age"),
    lambda space, now: [name(space), status(space).get("phase") or "", age(space, now)],
)
EVENT_PRINTER = Printer(
    tuple(
        column._replace(priority=int(column.name in ("Subobject", "Source", "First Seen", "Count", "Name")))
        for column in columns("Last Seen, Type, Reason, Object, Subobject, Source, Message, First Seen, Count, Name")
    ),
    _event,
)
LEASE_PRINTER = Printer(
    columns("Name, Holder, Age"),
    lambda lease, now: [name(lease), spec(lease).get("holderIdentity") or "", age(lease, now)],
)
LEASE_CANDIDATE_PRINTER = Printer(columns("Name, LeaseName, BinaryVersion, EmulationVersion, Age"), _candidate)
CONFIG_MAP_PRINTER = Printer(
    columns("Name, Data, Age"),
    lambda found, now: [name(found), _data(found, "data", "binaryData"), age(found, now)],
)
SECRET_PRINTER = Printer(
    columns("Name, Type, Data, Age"),
    lambda found, now: [name(found), found.get("type") or "", _data(found, "data"), age(found, now)],
)
RESOURCE_QUOTA_PRINTER = Printer(columns("Name, Request, Limit, Age"), _quota)
RUNTIME_CLASS_PRINTER = Printer(
    columns("Name, Handler, Age"), lambda found, now: [name(found), found.get("handler") or "", age(found, now)]
)
