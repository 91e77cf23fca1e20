"""Recordings of other tools: from reports of objects to a trace.

From objects at some times, with the decisions of the recorded scheduler, to events without them. The `Recorder` of
`kubesched record` makes the same lines of them as of a live cluster.
"""

from collections.abc import Callable, Iterator, Mapping
from datetime import timedelta
from itertools import chain
from typing import Any, NamedTuple

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched_lab.simulate.traces.recording.recorder import Recorder
from kubesched_lab.simulate.traces.recording.run_times import Durations, RunTimes
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace, TraceEvent

Line = Mapping[str, Any]


class ObjectReport(NamedTuple):
    """An object at a time, or when it was deleted; objects at time 0 existed at the beginning."""

    at: float
    obj: ApiObject
    deleted: bool = False


def trace_of_reports(
    name: str,
    reports: Callable[[], Iterator[ObjectReport]],
    durations: Durations,
    shift: timedelta = timedelta(),
) -> Trace:
    """Return the trace of reports, which are ordered by time; the times in their objects are shifted."""
    known: list[RunTimes] = []

    def events(seed: int) -> Iterator[TraceEvent]:
        if not known:
            known.append(_run_times(_lines(reports(), shift), durations))
        return _events(_lines(reports(), shift), known[0].in_order(), durations)

    return Trace(name, events, has_replacements=True)


def _lines(reports: Iterator[ObjectReport], shift: timedelta) -> Iterator[Line]:
    """Yield the lines that a recorder writes."""
    written: list[Line] = []
    at = 0.0
    recorder = Recorder(written.append, lambda: at, shift)
    recorder.reports_finished = True
    initial: list[ApiObject] = []
    first: list[ObjectReport] = []
    for report in reports:
        if report.at > 0 or report.deleted:
            first.append(report)
            break
        initial.append(report.obj)
    recorder.begin(initial)
    for report in chain(first, reports):
        at = report.at
        if report.deleted:
            recorder.drop(report.obj)
        else:
            recorder.put(report.obj)
        yield from written
        written.clear()
    yield from written


def _run_times(lines: Iterator[Line], durations: Durations) -> RunTimes:
    times = RunTimes(durations)
    for line in lines:
        if isinstance(line.get("object"), Pod):
            times.arrived(line["object"].full_name)
        elif "ended" in line:
            times.ended(line["ended"], line.get("ran"), completed=True)
        elif line.get("delete", "").startswith("Pod/"):
            times.ended(line["delete"].removeprefix("Pod/"), line.get("ran"), completed=False)
    return times


def _events(lines: Iterator[Line], times: Iterator[float | None], durations: Durations) -> Iterator[TraceEvent]:
    for line in lines:
        at, ran = float(line["at"]), line.get("ran")
        if isinstance(line.get("object"), Pod):
            yield PodArrival(at, line["object"], next(times, None))
        elif (obj := line.get("object") or line.get("change")) is not None:
            yield ObjectPut(at, obj)
        elif "ended" in line:
            if not durations.counts(ran, completed=True):
                yield ObjectDeletion(at, "Pod", line["ended"])
        elif "delete" in line and not durations.counts(ran, completed=False):
            kind, _, full_name = line["delete"].partition("/")
            yield ObjectDeletion(at, kind, full_name)
