"""The events of the loop, as values: reports of informers, and results of tasks beside the loop.

From informers, binding cycles and evictions to `Scheduler.apply`, the one place that changes the cluster and the queue
between cycles. The events of a run with their times, attempts included, are its story, which can be printed, and
replayed on another scheduler. Pods are identified by UID.
"""

from collections.abc import Callable, Sequence

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.config.load import Loaded
from kubesched.core.binding.cycle import NotBound


class Put(msgspec.Struct, frozen=True):
    """An object was added or changed."""

    obj: ApiObject


class Dropped(msgspec.Struct, frozen=True):
    """An object was deleted."""

    obj: ApiObject


class Unreadable(msgspec.Struct, frozen=True):
    """An object cannot be decoded; without a reason: it is deleted or can be decoded again."""

    kind: str
    full_name: str
    reason: str


class Permitted(msgspec.Struct, frozen=True):
    """A pod passed Permit: from now on the queue keeps no events for it."""

    uid: str


class BindingDone(msgspec.Struct, frozen=True):
    """A pod is bound, or an extender reports that it is."""

    uid: str


class BindingVerified(msgspec.Struct, frozen=True):
    """A pod that an extender has bound is reported as bound, or is deleted."""

    uid: str


class BindingFailed(msgspec.Struct, frozen=True):
    """A pod could not be bound."""

    uid: str
    why: NotBound


class LastVictim(msgspec.Struct, frozen=True):
    """All victims of a preemptor but one are deleted."""

    preemptor_uid: str
    victim_uid: str


class PreemptionEnded(msgspec.Struct, frozen=True):
    """All victims of a preemptor are deleted, or an eviction failed."""

    preemptor_uid: str


class Activate(msgspec.Struct, frozen=True):
    """Waiting pods are moved to activeQ."""

    uids: Sequence[str]


class Tick(msgspec.Struct, frozen=True):
    """Time has passed: pods whose backoff is over are moved to activeQ."""


class Attempt(msgspec.Struct, frozen=True):
    """A pod was popped, and a scheduling cycle (of its group, if it has one) runs."""

    uid: str


class Reconfigured(msgspec.Struct, frozen=True):
    """Another configuration is in force from now on."""

    configuration: Loaded


class Call(msgspec.Struct, frozen=True):
    """A function to call between cycles: the one event that is no value, and cannot be replayed."""

    function: Callable[[], None]


LoopEvent = (
    Put
    | Dropped
    | Unreadable
    | Permitted
    | BindingDone
    | BindingVerified
    | BindingFailed
    | LastVictim
    | PreemptionEnded
    | Activate
    | Tick
    | Attempt
    | Reconfigured
    | Call
)
# An event, and when it was applied, on the loop's clock.
Recorded = tuple[float, LoopEvent]


def is_about(event: LoopEvent, uid: str) -> bool:
    """Return whether an event is about a pod."""
    if isinstance(event, Put | Dropped):
        return event.obj.uid == uid
    if isinstance(event, LastVictim):
        return uid in (event.preemptor_uid, event.victim_uid)
    if isinstance(event, PreemptionEnded):
        return uid == event.preemptor_uid
    if isinstance(event, Activate):
        return uid in event.uids
    return getattr(event, "uid", "") == uid


def story(recorded: Sequence[Recorded], uid: str) -> list[str]:
    """Return a line for each event about a pod, with its time."""
    return [f"{time:.3f} {_told(event)}" for time, event in recorded if is_about(event, uid)]


def _told(event: LoopEvent) -> str:
    if isinstance(event, Put | Dropped):
        obj = event.obj
        return f"{type(event).__name__} {type(obj).__name__} {obj.full_name} version {obj.metadata.resource_version}"
    return repr(event)
