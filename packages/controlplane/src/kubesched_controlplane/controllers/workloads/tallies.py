"""Counts of a replica set's pods, kept as pods change.

From changes of pods to counts, so that the cost of a reconcile does not grow with the number of pods.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime

from kubesched.api.labels import Selector
from kubesched_controlplane.controllers.workloads.pods import PodView, seconds_left


class PodTally:
    """The counts of one owner's pods, for one selector and one set of template labels."""

    __slots__ = ("active", "labelled", "labels", "ready", "selector", "terminating")

    def __init__(self, selector: Selector, labels: Mapping[str, str], pods: Iterable[PodView]) -> None:
        self.selector = selector
        self.labels = dict(labels)
        self.active = self.labelled = self.terminating = 0
        # the number of ready pods, by the time since when they are ready
        self.ready: Counter[str] = Counter()
        for pod in pods:
            self.count(pod, 1)

    def count(self, pod: PodView, number: int) -> None:
        """Add a pod to the counts (1), or subtract it (-1)."""
        if not self.selector.matches(pod.labels):
            return
        if pod.terminating:
            self.terminating += number
        if not pod.active:
            return
        self.active += number
        if self.labels.items() <= pod.labels.items():
            self.labelled += number
        if pod.ready_since is not None:
            self.ready[pod.ready_since] += number
            if not self.ready[pod.ready_since]:
                del self.ready[pod.ready_since]

    def available(self, least_seconds: int, now: datetime) -> tuple[int, float | None]:
        """Return the number of available pods, and the seconds until the next pod is available."""
        available, soonest = 0, None
        for since, number in self.ready.items():
            seconds = seconds_left(since, least_seconds, now)
            if seconds == 0.0:
                available += number
            elif seconds is not None:
                soonest = seconds if soonest is None else min(soonest, seconds)
        return available, soonest
