"""Trace files: a JSON object a line, each an event or a template.

    {"template": "web", "object": {...}}                        an object that events below are copies of
    {"at": 0, "object": {...}}                                  an object is created or changed
    {"at": 0, "from": "large", "name": "large-{}", "count": 9}  copies of a template: large-0 to large-8
    {"at": 3.5, "from": "web", "name": "web-1", "runs": 600}    a pod arrives, and runs for 600 seconds once it is bound
    {"at": 900, "delete": "Node/large-3"}                       Kind/name, or Kind/namespace/name

From lines, in the order of their times, to events; a file is read while it is simulated. Files that end in .gz are
unpacked. What is wrong is told with the file, the line, and the field.
"""

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.simulate.errors import TraceError
from kubesched.simulate.traces.admission import TraceAdmission, renamed
from kubesched.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace, TraceEvent

LONGEST_LINE = 1 << 24


class Line(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, rename={"from_": "from"}):
    """A line, before it is checked."""

    at: float | None = None
    template: str = ""
    object: dict[str, Any] | None = None
    from_: str = ""
    name: str = ""
    namespace: str = ""
    count: int = 1
    runs: float | None = None
    delete: str = ""


_decoder = msgspec.json.Decoder(Line)


def trace_of_file(path: Path) -> Trace:
    """Return the trace in a file; it is read when it is simulated."""

    def events(seed: int) -> Iterator[TraceEvent]:
        try:
            with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
                yield from read_events(file, path.name)
        except OSError as error:
            raise TraceError(f"{path}: {error.strerror or error}") from None
        except (EOFError, zlib.error):
            raise TraceError(f"{path}: the file is damaged: it cannot be unpacked to its end") from None

    return Trace(path.name, events)


def read_events(file: BinaryIO | gzip.GzipFile, name: str) -> Iterator[TraceEvent]:
    """Yield the events of a file; raises TraceError."""
    reader = _Reader(name)
    while text := file.readline(LONGEST_LINE):
        if text.strip():
            yield from reader.events_of(text)
        else:
            reader.skip()


class _Reader:
    """Reads one line after the other: templates are kept, times must not go back."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._number = 0
        self._at = 0.0
        self._admission = TraceAdmission()
        self._templates: dict[str, ApiObject] = {}

    def skip(self) -> None:
        """Count an empty line."""
        self._number += 1

    def events_of(self, text: bytes) -> Iterator[TraceEvent]:
        """Yield the events of a line."""
        self._number += 1
        try:
            line = _decoder.decode(text)
        except msgspec.DecodeError as error:
            raise self._wrong(str(error)) from None
        if line.template:
            self._keep(line)
            return
        at = self._time(line)
        given = [
            field for field, value in (("object", line.object), ("from", line.from_), ("delete", line.delete)) if value
        ]
        if len(given) != 1:
            found = " and ".join(given) or "none of them"
            raise self._wrong(f"expected one of `object`, `from`, `delete`; found {found}")
        if line.delete:
            yield self._deletion(line.delete, at)
            return
        for obj in self._objects(line):
            if isinstance(obj, Pod):
                yield PodArrival(at, obj, line.runs)
            elif line.runs is not None:
                raise self._wrong(f"`runs` is for pods, and this is a {type(obj).__name__}")
            else:
                yield ObjectPut(at, obj)

    def _keep(self, line: Line) -> None:
        if line.object is None:
            raise self._wrong("a `template` has an `object`")
        document = {**line.object, "metadata": {"name": "template", **(line.object.get("metadata") or {})}}
        self._templates[line.template] = self._admission.admit(document, self._place)

    def _time(self, line: Line) -> float:
        if line.at is None:
            raise self._wrong("`at`, the time in seconds, is missing")
        if not 0 <= line.at < 1e12:
            raise self._wrong(f"`at` is {line.at}; expected seconds since the beginning")
        if line.at < self._at:
            raise self._wrong(f"`at` is {line.at}, before the line above ({self._at}): sort the file by time")
        if line.runs is not None and not 0 <= line.runs < 1e12:
            raise self._wrong(f"`runs` is {line.runs}; expected seconds")
        self._at = line.at
        return line.at

    def _deletion(self, text: str, at: float) -> ObjectDeletion:
        kind, slash, full_name = text.partition("/")
        if not slash or not full_name:
            raise self._wrong(f"`delete` is {text!r}; expected Kind/name or Kind/namespace/name")
        if kind == "Pod" and "/" not in full_name:
            full_name = f"default/{full_name}"
        return ObjectDeletion(at, kind, full_name)

    def _objects(self, line: Line) -> Iterator[ApiObject]:
        if line.object is not None:
            yield self._admission.admit(line.object, self._place)
            return
        template = self._templates.get(line.from_)
        if template is None:
            known = ", ".join(sorted(self._templates)[:5]) or "none yet"
            raise self._wrong(f"there is no template {line.from_!r} above; templates: {known}")
        if not line.name:
            raise self._wrong("a copy of a template has a `name`, with {} for its number")
        if not 1 <= line.count <= 10_000_000:
            raise self._wrong(f"`count` is {line.count}; expected a number from 1")
        if line.count > 1 and "{}" not in line.name:
            raise self._wrong(f"`count` is {line.count}, so `name` needs {{}} for the number")
        if line.namespace:
            metadata = msgspec.structs.replace(template.metadata, namespace=line.namespace)
            template = msgspec.structs.replace(template, metadata=metadata)
        for number in range(line.count):
            yield renamed(template, line.name.replace("{}", str(number)))

    @property
    def _place(self) -> str:
        return f"{self._name}, line {self._number}"

    def _wrong(self, why: str) -> TraceError:
        return TraceError(f"{self._place}: {why}")
