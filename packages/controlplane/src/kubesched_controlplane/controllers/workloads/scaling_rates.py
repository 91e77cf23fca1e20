"""The limits of autoscalers: stabilization windows, scaling policies, minimum and maximum of replicas.

From the replicas that metrics recommend, and past recommendations and changes, to the replicas to set, with conditions.
"""

# upstream: pkg/controller/podautoscaler/horizontal.go (normalizeDesiredReplicasWithBehaviors) (v1.36)

from collections import deque
from math import ceil
from typing import NamedTuple

import msgspec

from kubesched_controlplane.api.documents import Document

DOWN_WINDOW_SECONDS = 300
# the longest stabilization window and policy period that validation allows
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
    """The minimum and maximum of replicas, and the rules for scaling up and down."""

    least: int
    most: int
    up: Document
    down: Document


class ScalingOutcome(NamedTuple):
    """The replicas to set, and the contents of the conditions AbleToScale and ScalingLimited."""

    replicas: int
    able: tuple[str, str]
    limited: tuple[bool, str, str]


class History(msgspec.Struct):
    """Past recommendations and past changes of replicas, each with its time."""

    wanted: deque[tuple[float, int]] = msgspec.field(default_factory=deque)
    changes: deque[tuple[float, int]] = msgspec.field(default_factory=deque)

    def forget(self, now: float) -> None:
        """Remove entries that are older than the longest window."""
        for past in (self.wanted, self.changes):
            while past and past[0][0] < now - _LONGEST_SECONDS:
                past.popleft()

    def change_since(self, time: float) -> int:
        """Return the sum of the changes of replicas since a time."""
        return sum(change for at, change in self.changes if at > time)


def bounds_of(spec: Document) -> Bounds:
    """Return the bounds of an autoscaler's spec, with defaults."""
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
    """Return the current replicas, bounded by the recommendations within the stabilization windows."""
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
    """Return the furthest number of replicas that policies allow, up (1) or down (-1)."""
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
