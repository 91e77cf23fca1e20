"""CSV files as traces, by a mapping.

From rows, in any order, to arrivals in the order of time; the first one is at 0. Files that end in .gz are unpacked.
Rows that cannot be used are counted and told, the first of them with its line. Names are made valid.
"""

import csv
import gzip
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

import msgspec

from kubesched.api.pods import Pod
from kubesched.simulate.errors import TraceError
from kubesched.simulate.traces.admission import TraceAdmission
from kubesched.simulate.traces.csv_mapping import CsvMapping, MappedRow, RowReader, UnusableRowError
from kubesched.simulate.traces.pod_template import admitted_pod, with_priority, with_requests
from kubesched.simulate.traces.trace import PodArrival, Trace, TraceEvent

_NOT_IN_NAMES = re.compile("[^a-z0-9.-]+")
replace = msgspec.structs.replace


def trace_of_csv(path: Path, mapping: CsvMapping, note: Callable[[str], None]) -> Trace:
    """Return the pods in a CSV file; raises TraceError."""
    rows = _rows(path, mapping, note)
    if not rows:
        raise TraceError(f"{path.name}: no row of the file is a pod by the mapping")
    rows.sort(key=lambda row: row.at)
    first = rows[0].at
    named = {"name": "template", "namespace": mapping.namespace}
    template = admitted_pod(mapping.template, named, TraceAdmission(), f"{path.name}: template")

    def events(seed: int) -> Iterator[TraceEvent]:
        sized: dict[tuple[object, ...], Pod] = {}
        names: dict[str, int] = {}
        for row in rows:
            key = (row.amounts, row.priority, row.labels)
            pod = sized.get(key)
            if pod is None:
                pod = sized[key] = _sized(template, row)
            for _ in range(row.pods):
                # rows of one name are pods of their own
                number = names[row.name] = names.get(row.name, 0) + 1
                name = f"{_valid(row.name)}-{number}"
                yield PodArrival(row.at - first, replace(pod, metadata=replace(pod.metadata, name=name)), row.runs)

    return Trace(path.name, events)


def _rows(path: Path, mapping: CsvMapping, note: Callable[[str], None]) -> list[MappedRow]:
    left_out, first, found = 0, "", []
    try:
        with _opened(path) as file:
            lines = csv.reader(file, delimiter=mapping.delimiter)
            columns = mapping.columns or next(lines, [])
            reader = RowReader(mapping, columns, path.name)
            for row in lines:
                try:
                    found.append(reader.read(row))
                except UnusableRowError as why:
                    if str(why):
                        left_out += 1
                        first = first or f"line {lines.line_num} {why}"
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise TraceError(f"{path}: cannot be read: {error}") from None
    if left_out:
        note(f"{path.name}: {left_out} rows are left out; {first}")
    return found


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", newline="", encoding="utf-8")
    return path.open(newline="", encoding="utf-8")


def _sized(template: Pod, row: MappedRow) -> Pod:
    """Return the template with the requests, priority and labels of a row."""
    pod = with_requests(template, dict(row.amounts))
    if row.priority is not None:
        pod = with_priority(pod, row.priority)
    return replace(pod, metadata=replace(pod.metadata, labels={**pod.metadata.labels, **dict(row.labels)}))


def _valid(name: str) -> str:
    """Return a name as Kubernetes takes it."""
    return _NOT_IN_NAMES.sub("-", name.lower()).strip("-.")[:200] or "pod"
