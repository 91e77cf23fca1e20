"""Backoff: how long a pod backs off, and the order of the queues.

Comes in: counts, priorities and times (seconds, on the caller's clock). Goes out: durations, expiries and sort keys.
Pure functions; the queues themselves are in the other modules.

Invariants: no backoff is an expiry before all other expiries, so expiries always compare; smaller keys are served
first.
"""

# upstream: scheduler/backend/queue/backoff_queue.go, framework/plugins/queuesort/priority_sort.go (v1.36)

import math
from typing import Final, TypeVar

import msgspec

NO_BACKOFF: Final = -math.inf
"""The expiry of a pod that need not wait."""

# differs (D-078): the reference retries a slow pod as often as any other. Here an attempt that took longer than
# SLOW_SECONDS is followed by a wait of SLOW_FACTOR times its duration, up to a limit. So one pod takes at most a tenth
# of the loop
SLOW_SECONDS: Final = 1.0
SLOW_FACTOR: Final = 10.0
MOST_SLOW_SECONDS: Final = 600.0

_WINDOW_SECONDS = 1.0

Key = TypeVar("Key")


class BackoffPolicy(msgspec.Struct, frozen=True, gc=False):
    """The backoff durations; `windows` is the gate SchedulerPopFromBackoffQ."""

    initial_seconds: float = 1.0
    max_seconds: float = 10.0
    windows: bool = True


def backoff_seconds(policy: BackoffPolicy, unschedulable_count: int, consecutive_errors: int = 0) -> float:
    """Return how long a pod backs off; while attempts end in errors, only those are counted."""
    count = consecutive_errors if consecutive_errors > 0 else unschedulable_count
    if count <= 0 or policy.max_seconds == 0:
        return 0.0
    try:
        seconds = math.ldexp(policy.initial_seconds, count - 1)
    except OverflowError:
        return policy.max_seconds
    return seconds if seconds < policy.max_seconds else policy.max_seconds


def backoff_expiry(
    policy: BackoffPolicy, timestamp: float, unschedulable_count: int, consecutive_errors: int = 0
) -> float:
    """Return when the backoff of a pod that entered the queue at `timestamp` ends, or NO_BACKOFF."""
    if policy.max_seconds == 0 or (unschedulable_count <= 0 and consecutive_errors <= 0):
        return NO_BACKOFF
    return align_to_window(policy, timestamp + backoff_seconds(policy, unschedulable_count, consecutive_errors))


def slow_backoff_seconds(took_seconds: float) -> float:
    """Return the additional backoff after a failed attempt that took so long, zero for attempts that were not slow."""
    if took_seconds <= SLOW_SECONDS:
        return 0.0
    return min(SLOW_FACTOR * took_seconds, MOST_SLOW_SECONDS)


def align_to_window(policy: BackoffPolicy, time: float) -> float:
    """Return the start of the ordering window of a time; within a window the order of activeQ decides."""
    return math.floor(time / _WINDOW_SECONDS) * _WINDOW_SECONDS if policy.windows else time


def is_backing_off(policy: BackoffPolicy, expiry: float, now: float) -> bool:
    """Return whether a pod is backing off; it is until the window of its expiry is over."""
    return expiry >= align_to_window(policy, now)


def backoff_order(policy: BackoffPolicy, expiry: float, active_key: Key) -> tuple[float, Key] | tuple[float]:
    """Return the key of backoffQ: by expiry, and with windows by the order of activeQ within one."""
    return (expiry, active_key) if policy.windows else (expiry,)


def error_backoff_order(expiry: float) -> float:
    """Return the key of the queue of pods whose last attempt ended in an error: by expiry only."""
    return expiry
