"""Trace files: a JSON object a line, each an event or a template.

    {"template": "web", "object": {...}}                        an object that events below are copies of
    {"at": 0, "object": {...}}                                  an object is created or changed
    {"at": 0, "from": "large", "name": "large-{}", "count": 9}  copies of a template: large-0 to large-8
    {"at": 3.5, "from": "web", "name": "web-1", "runs": 600}    a pod arrives, and runs for 600 seconds once it is bound
    {"at": 900, "delete": "Node/large-3"}                       Kind/name, or Kind/namespace/name

Recordings (`kubesched record`) have these as well:

    {"recording": {"version": 1, ...}}                          the first line
    {"at": 4, "change": {...}}                                  an object changes, if it still exists
    {"at": 4, "bound": "default/web-1", "node": "large-3"}      where the recorded scheduler put a pod; not replayed
    {"at": 604, "ended": "default/web-1", "ran": 600}           a pod has come to its end, 600 seconds after its binding

Scenarios, which the page saves, begin with their configuration and seed (`scenario_header`), and have user actions:

    {"at": 9, "action": "Cordon node n1", "turns": 2, "lines": 1}  a title; the next line is its event
    {"at": 9, "action": "Apply a configuration", "configuration": "apiVersion: ..."}  a new configuration

From lines, in the order of their times, to events; a file is read during the simulation. Files that end in .gz are
unpacked. Errors name the file, the line, and the field.
"""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.api.sharing import sharing
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.admission import TraceAdmission, renamed
from kubesched_lab.simulate.traces.opening import LONGEST_LINE, decoded, opened_trace
from kubesched_lab.simulate.traces.recording.run_times import Durations, RunTimes, is_recording, run_times
from kubesched_lab.simulate.traces.scenario_header import header_in
from kubesched_lab.simulate.traces.trace import (
    LAST_SECONDS,
    ConfigurationChange,
    ObjectDeletion,
    ObjectPut,
    PodArrival,
    Trace,
    TraceEvent,
)

_EVENT_FIELDS = ("object", "from_", "delete", "change", "bound", "ended")


class Line(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True, rename={"from_": "from"}):
    """A line, before it is checked."""

    at: float | None = None
    template: str = ""
    object: dict[str, Any] | None = None
    from_: str = ""
    name: str = ""
    namespace: str = ""
    # the UID of a copy that other objects refer to
    uid: str = ""
    count: int = 1
    runs: float | None = None
    delete: str = ""
    recording: dict[str, Any] | None = None
    change: dict[str, Any] | None = None
    bound: str = ""
    node: str = ""
    ended: str = ""
    ran: float | None = None
    scenario: dict[str, Any] | None = None
    action: str = ""
    turns: int = 0
    lines: int = 0
    configuration: str | None = None
    workloads: tuple[dict[str, Any], ...] = ()


replace = msgspec.structs.replace
_decoder = msgspec.json.Decoder(Line)


def trace_of_file(path: Path, durations: Durations = Durations.COMPLETED) -> Trace:
    """Return the trace in a file, which is read during the simulation; `durations` is about pods of recordings."""

    def lines() -> Iterator[bytes]:
        with opened_trace(path) as file:
            yield from _lines_of(file)

    return _trace(path.name, lines, durations)


def _trace(name: str, lines: Callable[[], Iterator[bytes]], durations: Durations) -> Trace:
    # the run times of pods of a recording, read once
    times: list[RunTimes] = []

    def events(seed: int) -> Iterator[TraceEvent]:
        if not times:
            times.append(run_times(lines(), durations, name))
        reader = LineReader(name, durations, times[0].in_order())
        for line in lines():
            yield from reader.events_of(line)

    first = next(lines(), b"")
    header = header_in(name, first)
    return Trace(name, events, has_replacements=header.replacements if header else is_recording(first))


def _lines_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield lines; leave out an incomplete last line of a recording, whose recorder was killed."""
    recording = False
    try:
        while line := file.readline(LONGEST_LINE):
            recording = recording or is_recording(line)
            if recording and not line.endswith(b"\n"):
                return
            yield line
    except EOFError:
        if not recording:
            raise


class LineReader:
    """Reads one line after the other: templates are kept, times must not decrease."""

    def __init__(self, name: str, durations: Durations, times: Iterator[float | None], unit: str = "line") -> None:
        self._name = name
        self._unit = unit
        self._durations = durations
        # run times of pods in the order of their lines
        self._times = times
        self._number = 0
        self._at = 0.0
        self._admission = TraceAdmission()
        self._templates: dict[str, ApiObject] = {}
        # pods in separate lines have much in common
        self._share = sharing(Pod)

    def events_of(self, text: bytes) -> Iterator[TraceEvent]:
        """Yield the events of a line."""
        line = self.read(text)
        if line is not None:
            yield from self.events_of_line(line)

    def read(self, text: bytes) -> Line | None:
        """Go to the next line, and return it; None for an empty one. Raises TraceError."""
        self.begin()
        if text.isspace():
            return None
        return decoded(_decoder.decode, text, self._place)

    def begin(self) -> None:
        """Go to the next line, or row."""
        self._number += 1

    def events_of_line(self, line: Line) -> Iterator[TraceEvent]:
        """Yield the events of a line that was begun; raises TraceError."""
        if line.template:
            self._keep(line)
            return
        if line.recording is not None or line.scenario is not None:
            return
        at = self._time(line)
        if line.action:
            if line.configuration is not None:
                yield ConfigurationChange(at, line.configuration)
            return
        given = [field for field in _EVENT_FIELDS if getattr(line, field)]
        if len(given) != 1:
            found = " and ".join(field.rstrip("_") for field in given) or "none of them"
            raise self.wrong(f"expected one of `object`, `from`, `delete`; found {found}")
        if line.delete:
            if not self._durations.counts(line.ran, completed=False):
                yield self._deletion(line.delete, at)
        elif line.ended:
            if not self._durations.counts(line.ran, completed=True):
                yield self._deletion(f"Pod/{line.ended}", at)
        elif line.change is not None:
            yield ObjectPut(at, self._admission.admit(line.change, self._place))
        elif not line.bound:
            yield from self._arrivals(line, at)

    def _arrivals(self, line: Line, at: float) -> Iterator[TraceEvent]:
        for obj in self._objects(line):
            if isinstance(obj, Pod):
                yield PodArrival(at, obj, self._runs(line))
            elif line.runs is not None:
                raise self.wrong(f"`runs` is for pods, and this is a {type(obj).__name__}")
            else:
                yield ObjectPut(at, obj)

    def _runs(self, line: Line) -> float | None:
        """Return the run time of a pod, from its line or from later lines of the recording."""
        if line.object is None:
            return line.runs
        recorded = next(self._times, None)
        return line.runs if recorded is None else recorded

    def _keep(self, line: Line) -> None:
        if line.object is None:
            raise self.wrong("a `template` needs an `object`")
        document = {**line.object, "metadata": {"name": "template", **(line.object.get("metadata") or {})}}
        self._templates[line.template] = self._admission.admit(document, self._place)

    def template(self, name: str) -> ApiObject | None:
        """Return a template."""
        return self._templates.get(name)

    def keep(self, name: str, template: ApiObject) -> None:
        """Keep a template."""
        self._templates[name] = template

    def _time(self, line: Line) -> float:
        if line.at is None:
            raise self.wrong("`at`, the time in seconds, is missing")
        if not 0 <= line.at < LAST_SECONDS:
            raise self.wrong(f"`at` is {line.at}; expected seconds since the beginning")
        if line.at < self._at:
            raise self.wrong(f"`at` is {line.at}, before the {self._unit} above ({self._at}): sort the file by time")
        if line.runs is not None and not 0 <= line.runs < LAST_SECONDS:
            raise self.wrong(f"`runs` is {line.runs}; expected seconds")
        self._at = line.at
        return line.at

    def _deletion(self, text: str, at: float) -> ObjectDeletion:
        kind, slash, full_name = text.partition("/")
        if not slash or not full_name:
            raise self.wrong(f"`delete` is {text!r}; expected Kind/name or Kind/namespace/name")
        if kind == "Pod" and "/" not in full_name:
            full_name = f"default/{full_name}"
        return ObjectDeletion(at, kind, full_name)

    def _objects(self, line: Line) -> Iterator[ApiObject]:
        if line.object is not None:
            obj = self._admission.admit(line.object, self._place)
            yield self._share(obj) if isinstance(obj, Pod) else obj
            return
        template = self._templates.get(line.from_)
        if template is None:
            known = ", ".join(sorted(self._templates)[:5]) or "none yet"
            raise self.wrong(f"there is no template {line.from_!r} above; templates: {known}")
        if not line.name:
            raise self.wrong("a copy of a template needs a `name`, with {} for its number")
        if not 1 <= line.count <= 10_000_000:
            raise self.wrong(f"`count` is {line.count}; expected a number from 1")
        if line.count > 1 and "{}" not in line.name:
            raise self.wrong(f"`count` is {line.count}, so `name` needs {{}} for the number")
        if line.uid and line.count > 1:
            raise self.wrong("a `uid` belongs to one object, and `count` creates several")
        if line.namespace:
            metadata = replace(template.metadata, namespace=line.namespace)
            template = replace(template, metadata=metadata)
        for number in range(line.count):
            copy = renamed(template, line.name.replace("{}", str(number)))
            yield copy if not line.uid else replace(copy, metadata=replace(copy.metadata, uid=line.uid))

    @property
    def _place(self) -> str:
        return f"{self._name}, {self._unit} {self._number}"

    def wrong(self, why: str) -> TraceError:
        """Return an error about the line."""
        return TraceError(f"{self._place}: {why}")
