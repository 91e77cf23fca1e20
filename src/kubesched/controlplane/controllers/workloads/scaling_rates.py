"""How fast an autoscaler may change a number of replicas: stabilization windows, policies, the least and the most.

From what metrics ask for, and what was asked for and done before, to a number, and why it is not what was asked for.
"""

# upstream: pkg/controller/podautoscaler/horizontal.go (normalizeDesiredReplicasWithBehaviors) (v1.36)

from collections import deque
from math import ceil
from typing import NamedTuple

import msgspec

from kubesched.controlplane.api.documents import Document

DOWN_WINDOW_SECONDS = 300
# the longest window and the longest period that an autoscaler may have
_LONGEST_SECONDS = 3600
_UP: Document = {
    "selectPolicy": "Max",
    "policies": [
        {"type": "Pods", "value": 4, "periodSeconds": 15},
        {"type": "Percent", "value": 100, "periodSeconds": 15},
    ],
}
_DOWN: Document = {"selectPolicy": "Max", "policies": [{"type": "Percent", "value": 100, "periodSeconds": 15}]}


class Bounds(NamedTuple):
    """The least and the most replicas, and how fast they may change."""

    least: int
    most: int
    up: Document
    down: Document


class ScalingOutcome(NamedTuple):
    """How many replicas there are to be, and what conditions say of it."""

    replicas: int
    able: tuple[str, str]
    limited: tuple[bool, str, str]


class History(msgspec.Struct):
    """What was asked for and what was changed, with the time of each."""

    wanted: deque[tuple[float, int]] = msgspec.field(default_factory=deque)
    changes: deque[tuple[float, int]] = msgspec.field(default_factory=deque)

    def forget(self, now: float) -> None:
        """Forget what no window reaches back to."""
        for past in (self.wanted, self.changes):
            while past and past[0][0] < now - _LONGEST_SECONDS:
                past.popleft()

    def change_since(self, time: float) -> int:
        """Return by how many replicas the number has changed since then."""
        return sum(change for at, change in self.changes if at > time)


def bounds_of(spec: Document) -> Bounds:
    """Return the bounds in an autoscaler's spec."""
    behavior = spec.get("behavior") or {}
    least = spec.get("minReplicas")
    return Bounds(
        1 if least is None else least,
        spec["maxReplicas"],
        {**_UP, **(behavior.get("scaleUp") or {})},
        {**_DOWN, **(behavior.get("scaleDown") or {})},
    )


def rated(wanted: int, current: int, bounds: Bounds, history: History, now: float) -> ScalingOutcome:
    """Return the number of replicas after stabilization and scaling policies."""
    history.forget(now)
    stable = _stabilized(wanted, current, bounds, history, now)
    history.wanted.append((now, wanted))
    able = ("ReadyForNewScale", "recommended size matches current size")
    if stable > wanted:
        words = "recent recommendations were higher than current one, applying the highest recent recommendation"
        able = ("ScaleDownStabilized", words)
    elif stable < wanted:
        words = "recent recommendations were lower than current one, applying the lowest recent recommendation"
        able = ("ScaleUpStabilized", words)
    replicas, reason, message = _limited(stable, current, bounds, history, now)
    return ScalingOutcome(replicas, able, (replicas != stable, reason, message))


def _stabilized(wanted: int, current: int, bounds: Bounds, history: History, now: float) -> int:
    """Return the nearest to the current number of what was wanted within the windows."""
    up_since = now - (bounds.up.get("stabilizationWindowSeconds") or 0)
    window = bounds.down.get("stabilizationWindowSeconds")
    down_since = now - (DOWN_WINDOW_SECONDS if window is None else window)
    lowest = min((value for at, value in history.wanted if at > up_since), default=wanted)
    highest = max((value for at, value in history.wanted if at > down_since), default=wanted)
    lowest, highest = min(lowest, wanted), max(highest, wanted)
    return min(max(current, lowest), highest)


def _limited(wanted: int, current: int, bounds: Bounds, history: History, now: float) -> tuple[int, str, str]:
    if wanted > current:
        limit = max(current, _limit(current, bounds.up, history, now, 1))
        if wanted > min(limit, bounds.most):
            if limit < bounds.most:
                words = "the desired replica count is increasing faster than the maximum scale rate"
                return limit, "ScaleUpLimit", words
            return bounds.most, "TooManyReplicas", "the desired replica count is more than the maximum replica count"
    elif wanted < current:
        limit = min(current, _limit(current, bounds.down, history, now, -1))
        if wanted < max(limit, bounds.least):
            if limit > bounds.least:
                words = "the desired replica count is decreasing faster than the maximum scale rate"
                return limit, "ScaleDownLimit", words
            return bounds.least, "TooFewReplicas", "the desired replica count is less than the minimum replica count"
    return wanted, "DesiredWithinRange", "the desired count is within the acceptable range"


def _limit(current: int, rules: Document, history: History, now: float, direction: int) -> int:
    """Return the number that policies allow to go to, up (1) or down (-1)."""
    if rules["selectPolicy"] == "Disabled":
        return current
    reached: list[int] = []
    for policy in rules["policies"]:
        start = current - history.change_since(now - policy["periodSeconds"])
        if policy["type"] == "Pods":
            reached.append(start + direction * policy["value"])
        elif direction > 0:
            reached.append(ceil(start * (1 + policy["value"] / 100)))
        else:
            reached.append(int(start * (1 - policy["value"] / 100)))
    largest_change = max if direction > 0 else min
    smallest_change = min if direction > 0 else max
    return (smallest_change if rules["selectPolicy"] == "Min" else largest_change)(reached)
