"""Files of kube-scheduler-simulator: recordings of its recorder, and exports of its web page.

A record is a line: the time, the event and the object, which for Delete is no more than its name.

    {"time": "2026-01-01T10:00:00.5Z", "event": "Add", "resource": {"apiVersion": "v1", "kind": "Pod", ...}}

An export is one object with lists: pods, nodes, pvs, pvcs, storageClasses, priorityClasses, namespaces. All of its
objects exist from the beginning.
"""

from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from kubesched.api.codec import decode
from kubesched.api.meta import ApiObject, Timestamp
from kubesched.common.notes import Note
from kubesched.common.virtual_time import BEGINNING
from kubesched.errors import InvalidObjectError
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.admission import TraceAdmission
from kubesched_lab.simulate.traces.manifest_trace import trace_of_objects
from kubesched_lab.simulate.traces.opening import LONGEST_LINE, decoded, opened_trace, whole_trace
from kubesched_lab.simulate.traces.recording.recorded_objects import RECORDED_KINDS
from kubesched_lab.simulate.traces.recording.reports import ObjectReport, trace_of_reports
from kubesched_lab.simulate.traces.recording.run_times import Durations
from kubesched_lab.simulate.traces.trace import Trace

# the lists of an export: versions and kinds of their items
LISTS = {
    "namespaces": ("v1", "Namespace"),
    "priorityClasses": ("scheduling.k8s.io/v1", "PriorityClass"),
    "storageClasses": ("storage.k8s.io/v1", "StorageClass"),
    "pvcs": ("v1", "PersistentVolumeClaim"),
    "pvs": ("v1", "PersistentVolume"),
    "nodes": ("v1", "Node"),
    "pods": ("v1", "Pod"),
}
_EVENTS = ("Add", "Update", "Delete")


class SimulatorRecord(msgspec.Struct, forbid_unknown_fields=True):
    """A line of a recording."""

    time: Timestamp
    event: str
    resource: dict[str, Any]


class _ReadRecord(NamedTuple):
    """A record, with its object; `initial` if the object existed when the recording began."""

    time: datetime
    event: str
    obj: ApiObject
    initial: bool


_decode_record = msgspec.json.Decoder(SimulatorRecord).decode
_decode_export = msgspec.json.Decoder(dict[str, Any]).decode


def trace_of_simulator_records(path: Path, durations: Durations, note: Note) -> Trace:
    """Return the trace of a recording; raises TraceError during the reading."""
    began = _first_time(path)

    def reports() -> Iterator[ObjectReport]:
        # the lists of kinds follow one another, so initial objects are not only at the beginning of the file
        for record in _records(path, began):
            if record.initial:
                yield ObjectReport(0.0, record.obj)
        for record in _records(path, began):
            if not record.initial:
                # after the beginning, so that it does not count as initial
                at = max((record.time - began).total_seconds(), 1e-3)
                yield ObjectReport(at, record.obj, record.event == "Delete")

    return trace_of_reports(path.name, reports, durations, BEGINNING - began)


def _first_time(path: Path) -> datetime:
    for number, text in _lines(path):
        return _record(path, number, text).time
    raise TraceError(f"{path}: is empty")


def _records(path: Path, began: datetime) -> Iterator[_ReadRecord]:
    before = began
    for number, text in _lines(path):
        record = _record(path, number, text)
        if record.event not in _EVENTS:
            raise TraceError(f"{path.name}, line {number}: `event` is {record.event!r}; expected {', '.join(_EVENTS)}")
        if record.resource.get("kind") not in RECORDED_KINDS:
            continue
        try:
            obj = decode(record.resource)
        except InvalidObjectError as error:
            raise TraceError(f"{path.name}, line {number}: `resource`: {error}") from None
        created = obj.metadata.creation_timestamp
        # API servers have times in whole seconds
        initial = record.event == "Add" and created is not None and created < began - timedelta(seconds=1)
        # the times of several watches may be slightly out of order
        before = max(before, record.time)
        yield _ReadRecord(before, record.event, obj, initial)


def _record(path: Path, number: int, text: bytes) -> SimulatorRecord:
    return decoded(_decode_record, text, f"{path.name}, line {number}")


def _lines(path: Path) -> Iterator[tuple[int, bytes]]:
    with opened_trace(path) as file:
        for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
            if not line.isspace():
                yield number, line


# -- exports


def trace_of_simulator_export(path: Path, durations: Durations, note: Note) -> Trace:
    """Return an export as a trace; raises TraceError."""
    lists = decoded(_decode_export, whole_trace(path), path.name)
    for name in lists:
        if name not in LISTS and name != "schedulerConfig":
            raise TraceError(f"{path.name}: unknown field {name!r}; expected {', '.join(LISTS)}, schedulerConfig")
    if lists.get("schedulerConfig"):
        note(f"{path.name}: its schedulerConfig is not used: write it to a file, and give that file as --config")
    admission = TraceAdmission()
    objects = [
        admission.admit(document, f"{path.name}: {name}[{number}]")
        for name, kind in LISTS.items()
        for number, document in enumerate(_items(path, name, kind, lists.get(name)))
    ]
    return trace_of_objects(path.name, objects)


def _items(path: Path, name: str, kind: tuple[str, str], items: Any) -> Iterator[dict[str, Any]]:
    """Yield the documents of a list, with the kind that they omit."""
    if items is None:
        return
    if not isinstance(items, list):
        raise TraceError(f"{path.name}: `{name}`: expected a list")
    for number, item in enumerate(items):
        if not isinstance(item, dict) or not isinstance(item.get("metadata"), dict):
            raise TraceError(f"{path.name}: {name}[{number}]: expected an object with metadata")
        if item["metadata"].get("name") in _EVERYWHERE and not item["metadata"].get("uid"):
            continue
        yield {"apiVersion": kind[0], "kind": kind[1], **item}


# objects that every cluster has
_EVERYWHERE = frozenset(
    {"system-cluster-critical", "system-node-critical", "default", "kube-system", "kube-public", "kube-node-lease"}
)
