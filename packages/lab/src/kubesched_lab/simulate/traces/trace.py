"""Traces: the events of a cluster with their times, as values.

From files and generators to the simulation. Times are seconds since the beginning. Events come in the order of their
times, and events of one moment in the order of the trace.
"""

import heapq
from collections.abc import Callable, Iterator, Sequence
from typing import Final

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod

# three thousand years: dates end with the year 9999
LAST_SECONDS: Final = 1e11


class PodArrival(msgspec.Struct, frozen=True, gc=False):
    """A pod is created; once it is bound it runs for `runs` seconds, without a number until the end."""

    at: float
    pod: Pod
    runs: float | None = None


class ObjectPut(msgspec.Struct, frozen=True, gc=False):
    """Another object is created or changed: a node joins, a budget is written; or an existing pod changes."""

    at: float
    obj: ApiObject


class ObjectDeletion(msgspec.Struct, frozen=True, gc=False):
    """An object is deleted: a pod, or a node, whose pods are lost."""

    at: float
    kind: str
    full_name: str


class ConfigurationChange(msgspec.Struct, frozen=True, gc=False):
    """Another configuration of the scheduler is put in force: its text, empty for the default."""

    at: float
    text: str


# events of the cluster itself
ClusterEvent = PodArrival | ObjectPut | ObjectDeletion
TraceEvent = ClusterEvent | ConfigurationChange


class Trace(msgspec.Struct, frozen=True):
    """A trace that can be read many times; the seed is for generated traces."""

    name: str
    events: Callable[[int], Iterator[TraceEvent]]
    # whether it has the pods that controllers created in place of lost ones, as recordings do
    has_replacements: bool = False


def merged(traces: Sequence[Trace]) -> Trace:
    """Return several traces as one: nodes may be in one file and pods in another."""
    if len(traces) == 1:
        return traces[0]

    def events(seed: int) -> Iterator[TraceEvent]:
        return heapq.merge(*(trace.events(seed) for trace in traces), key=lambda event: event.at)

    name = " + ".join(trace.name for trace in traces)
    return Trace(name, events, any(trace.has_replacements for trace in traces))


def at_speed(trace: Trace, speed: float) -> Trace:
    """Return a trace that is faster by a factor; pods run as long as before."""
    if speed == 1:
        return trace

    def events(seed: int) -> Iterator[TraceEvent]:
        for event in trace.events(seed):
            yield msgspec.structs.replace(event, at=event.at / speed)

    return msgspec.structs.replace(trace, events=events)
