"""Traces of any format as a trace file: JSON lines or Parquet.

From events to lines, each with the fields that `trace_file` reads. Pods that differ only in their names are copies of a
template. Reading the file gives the same events, except for kubectl's last-applied annotation: it is left out, since a
recipient of the trace should not see environment and commands.
"""

import gzip
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from kubesched.api.codec import encode, to_builtins
from kubesched.api.last_applied import LAST_APPLIED
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.pods import Pod
from kubesched.common.extras import extra_module
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.parquet_trace import REPLACEMENTS
from kubesched_lab.simulate.traces.trace import ConfigurationChange, ObjectDeletion, PodArrival, Trace, TraceEvent

SUFFIXES = (".jsonl", ".jsonl.gz", ".parquet")
BATCH = 4096
MOST_TEMPLATES = 10_000
_COLUMNS = {"at": "double", "template": "string", "object": "string", "change": "string", "from": "string"}
_COLUMNS |= {"name": "string", "namespace": "string", "runs": "double", "delete": "string"}
replace = msgspec.structs.replace


def write_trace(trace: Trace, seed: int, path: Path) -> int:
    """Write a trace to a file, and return the number of events; raises TraceError."""
    if not path.name.endswith(SUFFIXES):
        raise TraceError(f"{path}: expected a file that ends in {', '.join(SUFFIXES)}")
    try:
        with path.open("wb") as file:
            if path.suffix == ".parquet":
                return _write_parquet(trace, seed, file)
            return _write_lines(trace, seed, file, packed=path.suffix == ".gz")
    except OSError as error:
        raise TraceError(f"{path}: {error.strerror or error}") from None


def lines_of(trace: Trace, seed: int) -> Iterator[dict[str, Any]]:
    """Yield the lines of a trace file."""
    writer = LineWriter()
    for event in trace.events(seed):
        yield from writer.lines_of(event)


class LineWriter:
    """Writes one event after the other; templates of pods are lines before the first similar pod."""

    def __init__(self) -> None:
        self._templates: dict[bytes, str] = {}

    def lines_of(self, event: TraceEvent) -> Iterator[dict[str, Any]]:
        """Yield the lines of an event."""
        if isinstance(event, ObjectDeletion):
            yield {"at": event.at, "delete": f"{event.kind}/{event.full_name}"}
        elif isinstance(event, PodArrival):
            yield from self._arrival(event)
        elif isinstance(event, ConfigurationChange):
            yield {"at": event.at, "action": "Apply a configuration", "configuration": event.text}
        else:
            # an existing pod changes
            field = "change" if isinstance(event.obj, Pod) else "object"
            yield {"at": event.at, field: to_builtins(_with_uid(event.obj))}

    def _arrival(self, event: PodArrival) -> Iterator[dict[str, Any]]:
        pod, templates = event.pod, self._templates
        known = encode(_unnamed(pod))
        name = templates.get(known)
        if name is None and len(templates) < MOST_TEMPLATES:
            name = templates[known] = f"pod-{len(templates)}"
            yield {"template": name, "object": to_builtins(_unnamed(pod))}
        line: dict[str, Any] = {"at": event.at}
        line |= {"from": name, "name": pod.name} if name else {"object": to_builtins(_with_uid(pod))}
        if name and pod.metadata.uid:
            line["uid"] = pod.metadata.uid
        yield line if event.runs is None else line | {"runs": event.runs}


def _unnamed(pod: Pod) -> Pod:
    """Return a pod as a template; its UID makes readers use it unchanged."""
    return replace(pod, metadata=replace(_without_last_applied(pod.metadata), name="template", uid="template"))


def _with_uid(obj: ApiObject) -> ApiObject:
    """Return an object with a UID, so that readers use it unchanged."""
    return replace(obj, metadata=replace(_without_last_applied(obj.metadata), uid=obj.uid or obj.full_name))


def _without_last_applied(meta: ObjectMeta) -> ObjectMeta:
    """Return metadata without kubectl's last-applied manifest."""
    if LAST_APPLIED not in meta.annotations:
        return meta
    return replace(meta, annotations={key: text for key, text in meta.annotations.items() if key != LAST_APPLIED})


def _write_lines(trace: Trace, seed: int, file: BinaryIO, *, packed: bool) -> int:
    count = 0
    with ExitStack() as opened:
        if packed:
            # omit the name and the time of gzip's header
            file = opened.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))  # type: ignore[assignment]
        if trace.has_replacements:
            # keep the header, so that it stays a recording
            file.write(b'{"recording":{"version":1}}\n')
        for line in lines_of(trace, seed):
            count += "at" in line
            file.write(msgspec.json.encode(line) + b"\n")
    return count


def _write_parquet(trace: Trace, seed: int, file: BinaryIO) -> int:
    pyarrow = extra_module("pyarrow", "parquet", "Parquet")
    files = extra_module("pyarrow.parquet", "parquet", "Parquet")
    schema = pyarrow.schema([(name, pyarrow.type_for_alias(kind)) for name, kind in _COLUMNS.items()])
    if trace.has_replacements:
        schema = schema.with_metadata({REPLACEMENTS: b"true"})
    count, rows = 0, []
    with files.ParquetWriter(file, schema) as writer:
        for line in lines_of(trace, seed):
            count += "at" in line
            if "action" in line:
                raise TraceError("Parquet files cannot hold a configuration change within a trace: write .jsonl")
            # a column for all pods would be too large for these
            line.pop("uid", None)
            for name in ("object", "change"):
                if name in line:
                    line[name] = msgspec.json.encode(line[name]).decode()
            rows.append(line)
            if len(rows) >= BATCH:
                writer.write_table(pyarrow.Table.from_pylist(rows, schema))
                rows = []
        if rows:
            writer.write_table(pyarrow.Table.from_pylist(rows, schema))
    return count
