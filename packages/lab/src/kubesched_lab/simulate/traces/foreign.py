"""Files of other tools, recognised by their content.

From a path to the trace of a recording by kube-scheduler-simulator, kwok or SimKube, or of an export by
kube-scheduler-simulator; None for all other files.
"""

import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from kubesched.common.notes import Note
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.kwok_recording import MARKS, trace_of_kwok
from kubesched_lab.simulate.traces.opening import opened_trace
from kubesched_lab.simulate.traces.recording.run_times import Durations
from kubesched_lab.simulate.traces.scheduler_simulator import (
    LISTS,
    trace_of_simulator_export,
    trace_of_simulator_records,
)
from kubesched_lab.simulate.traces.simkube import trace_of_simkube
from kubesched_lab.simulate.traces.trace import Trace

ForeignReader = Callable[[Path, Durations, Note], Trace]

_HEAD = 1 << 16
_RECORD = re.compile(rb'\s*\{\s*"(?:time|event|resource)"\s*:')
_EXPORT = re.compile(rb'\s*\{\s*"(?:' + "|".join(LISTS).encode() + rb'|schedulerConfig)"\s*:')
_SIMKUBE = re.compile(rb'\s*\{\s*"(?:version|config|events|index|pod_lifecycles)"\s*:')
# bytes of the first page of an etcd database
_ETCD, _ETCD_AT = b"\xed\xda\x0c\xed", 16


def foreign_trace(path: str, durations: Durations, note: Note) -> Trace | None:
    """Return the trace in a file of another tool, None for other files; raises TraceError."""
    file = Path(path)
    if not file.is_file():
        return None
    head = head_of(file)
    reading = foreign_reader(path, head)
    if reading is None:
        return None
    return reading(file, durations, note)


def foreign_reader(path: str, head: bytes) -> ForeignReader | None:
    """Return the reader for a file of another tool, by its first bytes, None for other files; raises TraceError."""
    if head[_ETCD_AT : _ETCD_AT + len(_ETCD)] == _ETCD:
        raise TraceError(
            f"{path}: is an etcd database, as kwokctl snapshot save writes it: let kwokctl snapshot record or "
            "kwokctl snapshot export write the cluster as YAML"
        )
    if _RECORD.match(head):
        return trace_of_simulator_records
    if _EXPORT.match(head):
        return trace_of_simulator_export
    if _SIMKUBE.match(head) or path.endswith(".sktrace") or (is_map_of_msgpack(head) and b"events" in head):
        return trace_of_simkube
    if path.removesuffix(".gz").endswith((".yaml", ".yml")) and _has(Path(path), MARKS):
        return trace_of_kwok
    return None


def is_map_of_msgpack(head: bytes) -> bool:
    """Return whether a file is msgpack, as traces of SimKube are, by its first bytes."""
    return bool(head) and (0x80 <= head[0] <= 0x8F or head[0] in (0xDE, 0xDF))


def head_of(file: Path) -> bytes:
    """Return the first bytes of a file, unpacked; empty if it is not readable, since later readers report that."""
    try:
        with opened_trace(file) as stream:
            return stream.read(_HEAD)
    except TraceError:
        return b""


def _has(file: Path, texts: Sequence[bytes]) -> bool:
    """Return whether a file has one of some texts."""
    longest, before = max(map(len, texts)), b""
    with suppress(TraceError), opened_trace(file) as stream:
        while piece := stream.read(1 << 20):
            if any(text in before + piece for text in texts):
                return True
            before = piece[-longest:]
    return False
