"""Rows of tables as pods, by a mapping, for any file format.

From rows, in any order, to arrivals in the order of time; the first one is at 0. Unusable rows are counted and
reported, with the position of the first one. Names are made valid.
"""

import re
from collections.abc import Iterable, Iterator

import msgspec

from kubesched.api.pods import Pod
from kubesched.common.notes import Note
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.admission import TraceAdmission
from kubesched_lab.simulate.traces.csv_mapping import CsvMapping, MappedRow, RowReader, UnusableRowError
from kubesched_lab.simulate.traces.pod_template import admitted_pod, with_priority, with_requests
from kubesched_lab.simulate.traces.trace import PodArrival, Trace, TraceEvent

_NOT_IN_NAMES = re.compile("[^a-z0-9.-]+")
replace = msgspec.structs.replace


def mapped_rows(name: str, rows: Iterable[tuple[str, list[str]]], reader: RowReader, note: Note) -> list[MappedRow]:
    """Return the usable rows; each comes with its place, such as "line 7"."""
    left_out, first, found = 0, "", []
    for place, row in rows:
        try:
            found.append(reader.read(row))
        except UnusableRowError as why:
            if str(why):
                left_out += 1
                first = first or f"{place} {why}"
    if left_out:
        note(f"{name}: {left_out} rows are left out; {first}")
    return found


def trace_of_rows(name: str, rows: list[MappedRow], mapping: CsvMapping) -> Trace:
    """Return the pods of some rows; raises TraceError."""
    if not rows:
        raise TraceError(f"{name}: the mapping finds no pod in the rows of the file")
    rows.sort(key=lambda row: row.at)
    first = rows[0].at
    named = {"name": "template", "namespace": mapping.namespace}
    template = admitted_pod(mapping.template, named, TraceAdmission(), f"{name}: template")

    def events(seed: int) -> Iterator[TraceEvent]:
        sized: dict[tuple[object, ...], Pod] = {}
        names: dict[str, int] = {}
        for row in rows:
            key = (row.amounts, row.priority, row.labels)
            pod = sized.get(key)
            if pod is None:
                pod = sized[key] = sized_pod(template, dict(row.amounts), row.priority, dict(row.labels))
            for _ in range(row.pods):
                # rows of the same name are different pods
                number = names[row.name] = names.get(row.name, 0) + 1
                pod_name = f"{_valid(row.name)}-{number}"
                yield PodArrival(row.at - first, replace(pod, metadata=replace(pod.metadata, name=pod_name)), row.runs)

    return Trace(name, events)


def sized_pod(template: Pod, amounts: dict[str, int], priority: int | None, labels: dict[str, str]) -> Pod:
    """Return the template with the requests, priority and labels of a row."""
    pod = with_requests(template, amounts)
    if priority is not None:
        pod = with_priority(pod, priority)
    return replace(pod, metadata=replace(pod.metadata, labels={**pod.metadata.labels, **labels}))


def _valid(name: str) -> str:
    """Return a name that is valid in Kubernetes."""
    return _NOT_IN_NAMES.sub("-", name.lower()).strip("-.")[:200] or "pod"
