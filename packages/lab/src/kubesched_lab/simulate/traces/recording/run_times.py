"""The run times of pods of a recording, which only later lines have.

From the lines of a recording to a number for each pod, in the order of their lines: the simulation needs it when the
pod arrives. Names are kept only while their pods exist, so memory is eight bytes a pod.
"""

from array import array
from collections.abc import Iterator
from enum import StrEnum
from math import isnan, nan

import msgspec

from kubesched_lab.simulate.traces.opening import decoded

_BEGINNING = b'{"recording"'


class Durations(StrEnum):
    """The pods whose recorded run time counts from their simulated binding; other pods end at their recorded times."""

    COMPLETED = "completed"
    ALL = "all"
    NONE = "none"

    def counts(self, ran: float | None, *, completed: bool) -> bool:
        """Return whether the run time of a pod counts; `completed` says that it ran to its end, and was not deleted."""
        return ran is not None and (self is Durations.ALL or (completed and self is Durations.COMPLETED))


class RunTimes:
    """The run times of pods in the order of their arrivals."""

    def __init__(self, durations: Durations) -> None:
        self._durations = durations
        self._times = array("d")
        # the index of each existing pod in the times
        self._places: dict[str, int] = {}

    def arrived(self, full_name: str) -> None:
        """Record the arrival of a pod."""
        self._places[full_name] = len(self._times)
        self._times.append(nan)

    def ended(self, full_name: str, ran: float | None, *, completed: bool) -> None:
        """Record that a pod completed, or was deleted."""
        place = self._places.pop(full_name, None)
        if place is not None and ran is not None and self._durations.counts(ran, completed=completed):
            self._times[place] = ran

    def in_order(self) -> Iterator[float | None]:
        """Yield the time of each pod, None if it is unknown."""
        for seconds in self._times:
            yield None if isnan(seconds) else seconds


class _PodMeta(msgspec.Struct):
    name: str = ""
    namespace: str = "default"


class _Object(msgspec.Struct):
    kind: str = ""
    metadata: _PodMeta = msgspec.field(default_factory=_PodMeta)


class _LineOfPod(msgspec.Struct):
    """The fields of a line that show arrivals and ends."""

    object: _Object | None = None
    ended: str = ""
    delete: str = ""
    ran: float | None = None


_decode = msgspec.json.Decoder(_LineOfPod).decode


def is_recording(line: bytes) -> bool:
    """Return whether a line is the first one of a recording."""
    return line.startswith(_BEGINNING)


def run_times(lines: Iterator[bytes], durations: Durations, name: str) -> RunTimes:
    """Return the run times of pods with lines; none if the lines are not a recording."""
    times = RunTimes(durations)
    if durations is Durations.NONE or not is_recording(next(lines, b"")):
        return times
    for number, text in enumerate(lines, 2):
        line = decoded(_decode, text, f"{name}, line {number}")
        if line.object is not None and line.object.kind == "Pod":
            meta = line.object.metadata
            times.arrived(f"{meta.namespace}/{meta.name}")
        elif line.ended:
            times.ended(line.ended, line.ran, completed=True)
        elif line.delete.startswith("Pod/"):
            times.ended(line.delete.removeprefix("Pod/"), line.ran, completed=False)
    return times
