"""Resuming a recording: its state when it ended.

From a file to the objects that exist at its end, each with its digest, and to the time of its last line. The file is
read line by line, with one entry in memory for each object that exists.
"""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

import msgspec

from kubesched.api.codec import decode_json
from kubesched.api.kinds import KINDS
from kubesched.errors import InvalidObjectError, KubeschedError
from kubesched_lab.record.recording_header import VERSION, HeaderLine
from kubesched_lab.simulate.traces.opening import opened_trace
from kubesched_lab.simulate.traces.recording.recorded_objects import is_waiting_class
from kubesched_lab.simulate.traces.recording.recorder import Key, RecordedObject, known_object


class RecordingState(msgspec.Struct):
    """The state at the end of a recording."""

    began: datetime
    at: float
    known: dict[Key, RecordedObject]


class _LineOfRecording(msgspec.Struct):
    at: float = 0.0
    object: msgspec.Raw = msgspec.Raw()
    change: msgspec.Raw = msgspec.Raw()
    bound: str = ""
    ended: str = ""
    delete: str = ""


class _KindOf(msgspec.Struct):
    kind: str = ""


_decode = msgspec.json.Decoder(_LineOfRecording).decode
_kind_of = msgspec.json.Decoder(_KindOf).decode


def read_end(path: Path) -> RecordingState:
    """Return the state at the end of a recording; raises KubeschedError."""
    lines = _lines(path)
    state = RecordingState(_began(path, next(lines, b"")), 0.0, {})
    reader = _StateReader(state)
    for number, line in enumerate(lines, 2):
        try:
            reader.read(line)
        except (msgspec.MsgspecError, InvalidObjectError) as error:
            raise KubeschedError(
                f"{path}, line {number}: {error}; the recording cannot continue: record into another file"
            ) from None
    return state


def _lines(path: Path) -> Iterator[bytes]:
    with opened_trace(path) as file:
        yield from file


def _began(path: Path, line: bytes) -> datetime:
    try:
        header = msgspec.json.decode(line, type=HeaderLine).recording
    except msgspec.MsgspecError:
        raise KubeschedError(f"{path}: is not a recording of kubesched record: name another file") from None
    if header.version > VERSION:
        raise KubeschedError(f"{path}: is a recording of version {header.version}, of a newer kubesched")
    if header.anonymised or header.began is None:
        raise KubeschedError(
            f"{path}: an anonymised recording cannot continue, since the key of its codes is not stored: "
            "record into another file"
        )
    return header.began


class _StateReader:
    """Follows the lines of a recording."""

    def __init__(self, state: RecordingState) -> None:
        self._state = state
        self._waiting_classes: set[str] = set()

    def read(self, text: bytes) -> None:
        """Apply a line to the state."""
        line = _decode(text)
        state = self._state
        state.at = max(state.at, line.at)
        if line.bound:
            if (known := state.known.get(("Pod", line.bound))) is not None:
                known.bound_at = line.at
        elif line.ended:
            state.known.pop(("Pod", line.ended), None)
        elif line.delete:
            kind, _, full_name = line.delete.partition("/")
            state.known.pop((kind, full_name), None)
        elif raw := bytes(line.object) or bytes(line.change):
            self._keep(raw, line.at)

    def _keep(self, raw: bytes, at: float) -> None:
        kind = _kind_of(raw).kind
        if kind not in KINDS:
            return
        obj = decode_json(KINDS[kind], raw)
        if is_waiting_class(obj):
            self._waiting_classes.add(obj.name)
        key = (kind, obj.full_name)
        before = self._state.known.get(key)
        bound_at = before.bound_at if before is not None else None
        if kind == "Pod" and obj.spec.node_name:  # type: ignore[attr-defined]
            bound_at = at
        self._state.known[key] = known_object(obj, self._waiting_classes, bound_at)
