"""How long pods of a recording ran, which later lines say.

From the lines of a recording to a number for each pod, in the order of their lines: the simulation needs it when the
pod arrives. Names are kept only while their pods are there, so memory is eight bytes a pod.
"""

from array import array
from collections.abc import Iterator
from enum import StrEnum
from math import nan

import msgspec

from kubesched.simulate.errors import TraceError

_BEGINNING = b'{"recording"'


class Durations(StrEnum):
    """The pods whose recorded run time counts from their simulated binding; others end at their recorded times."""

    COMPLETED = "completed"
    ALL = "all"
    NONE = "none"


class _PodMeta(msgspec.Struct):
    name: str = ""
    namespace: str = "default"


class _Object(msgspec.Struct):
    kind: str = ""
    metadata: _PodMeta = msgspec.field(default_factory=_PodMeta)


class _LineOfPod(msgspec.Struct):
    """What of a line tells arrivals and ends."""

    object: _Object | None = None
    ended: str = ""
    delete: str = ""
    ran: float | None = None


_decode = msgspec.json.Decoder(_LineOfPod).decode


def is_recording(line: bytes) -> bool:
    """Return whether a line is the first one of a recording."""
    return line.startswith(_BEGINNING)


def run_times(lines: Iterator[bytes], durations: Durations, name: str) -> "array[float]":
    """Return the run time of each pod that is a line of its own, not a number where it is not known."""
    times = array("d")
    if durations is Durations.NONE or not is_recording(next(lines, b"")):
        return times
    there: dict[str, int] = {}
    for number, text in enumerate(lines, 2):
        try:
            line = _decode(text)
        except msgspec.DecodeError as error:
            raise TraceError(f"{name}, line {number}: {error}") from None
        if line.object is not None and line.object.kind == "Pod":
            meta = line.object.metadata
            there[f"{meta.namespace}/{meta.name}"] = len(times)
            times.append(nan)
        elif line.ended or line.delete.startswith("Pod/"):
            place = there.pop(line.ended or line.delete.removeprefix("Pod/"), None)
            if place is not None and line.ran is not None and (line.ended or durations is Durations.ALL):
                times[place] = line.ran
    return times
