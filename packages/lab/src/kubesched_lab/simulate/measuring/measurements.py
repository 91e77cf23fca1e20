"""The measurements of a running simulation; their memory does not grow with simulated time.

From pods and nodes (`simulated_api`), the scheduler's observers and samples of the table to `figures`. Events before
the end of the warm-up do not count.
"""

from collections import Counter
from collections.abc import Callable, Iterable
from typing import TypeVar

import msgspec

from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.api.quantity import milli_value_of, value_of
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observing.observer import UNSCHEDULABLE, FailedAttempt, Observer
from kubesched_lab.simulate.measuring.histogram import Histogram
from kubesched_lab.simulate.measuring.pod_log import ENDED, LOST, PENDING, RUNNING, PodLog, PodRecord
from kubesched_lab.simulate.measuring.rates import NodeRates, RateLabels
from kubesched_lab.simulate.measuring.sampling import Sample, Sampler
from kubesched_lab.simulate.measuring.timeline import Timeline
from kubesched_lab.simulate.measuring.usage import Gauge, Gauges

K = TypeVar("K")
# classes of pods by the CPU that they request: upper bounds in thousandths
SIZES = ((1000, "below 1 CPU"), (4000, "1 to 4 CPU"), (16000, "4 to 16 CPU"))
LARGEST_SIZE = "16 CPU and more"
# names of the counters
COUNTS: tuple[str, ...] = ("arrived", "bound", "ended", "lost", "deletedBeforeBound", "preempted")
COUNTS += ("attempts", "failedAttempts", "unschedulableAttempts")


class Living(msgspec.Struct):
    """A pod in the cluster: its arrival, its size class and its requests."""

    arrived: float
    counted: bool
    size: str
    priority: int
    amounts: dict[str, int]
    bound: float | None = None
    attempts: int = 0


class Measurements(Observer):
    """Counts, waiting times, usage, and samples over time."""

    def __init__(self, now: Callable[[], float], log: PodLog | None, labels: RateLabels) -> None:
        self._now = now
        self._log = log
        self._living: dict[str, Living] = {}
        self._counting = True
        self.began = 0.0
        self.counts: Counter[str] = Counter()
        self.waiting = Histogram()
        self.waiting_by_priority: dict[int, Histogram] = {}
        self.waiting_by_size: dict[str, Histogram] = {}
        self.used, self.offered = Gauges(), Gauges()
        self.pending, self.running, self.nodes = Gauge(), Gauge(), Gauge()
        # pods by their attempts until they were bound, and victims by their priority
        self.attempts_until_bound: Counter[int] = Counter()
        self.preempted_by_priority: Counter[int] = Counter()
        self.rates = NodeRates(labels)
        self.timeline = Timeline()
        # the first error of an attempt, such as an exception of a plugin; empty without errors
        self.first_error = ""

    def watch(self, cluster: ClusterState) -> None:
        """Follow the pods of a scheduler's cluster, and take samples of it."""
        self._read = cluster.reader.read
        self._sampler = Sampler(cluster, self.rates)

    def warm_up(self) -> None:
        """Ignore all events until `start`."""
        self._counting = False

    def start(self) -> None:
        """Start to count."""
        now = self.began = self._now()
        self._counting = True
        for counts in (self.counts, self.attempts_until_bound, self.preempted_by_priority):
            counts.clear()
        for gauges in (self.used, self.offered):
            gauges.restart(now)
        for gauge in (self.pending, self.running, self.nodes, self.rates.price):
            gauge.restart(now)

    # -- pods

    def arrived(self, pod: Pod) -> None:
        """Record a pod that was created."""
        info = self._read(pod)
        now = self._now()
        size, amounts = info.derive(_size)
        self._living[pod.uid] = Living(now, self._counting, size, info.priority, amounts)
        self.counts["arrived"] += 1
        self.pending.add(1, now)

    def bound(self, pod: Pod) -> None:
        """Record a pod that was bound."""
        now, living = self._now(), self._living[pod.uid]
        self.pending.add(-1, now)
        self.running.add(1, now)
        self.used.add(living.amounts, 1, now)
        living.bound = now
        self.counts["bound"] += 1
        if living.counted:
            self.attempts_until_bound[living.attempts] += 1
            waited = now - living.arrived
            self.waiting.add(waited)
            _histogram(self.waiting_by_priority, living.priority).add(waited)
            _histogram(self.waiting_by_size, living.size).add(waited)

    def ended(self, pod: Pod) -> None:
        """Record a pod that ran to its end, or was deleted."""
        self.counts["ended" if pod.spec.node_name else "deletedBeforeBound"] += 1
        self._leave(pod, ENDED)

    def lost(self, pod: Pod) -> None:
        """Record a running pod that was evicted, or lost its node."""
        self.counts["lost"] += 1
        self._leave(pod, LOST)

    def stayed(self, pods: Iterable[Pod]) -> None:
        """Record the pods that still exist at the end."""
        if self._log is not None:
            for pod in pods:
                end = RUNNING if pod.spec.node_name else PENDING
                self._log.write(_record(pod, self._living[pod.uid], None, end))

    def _leave(self, pod: Pod, end: str) -> None:
        now, living = self._now(), self._living.pop(pod.uid)
        if self._log is not None:
            self._log.write(_record(pod, living, now, end))
        if pod.spec.node_name:
            self.running.add(-1, now)
            self.used.add(living.amounts, -1, now)
        else:
            self.pending.add(-1, now)

    def node_changed(self, old: Node | None, new: Node | None) -> None:
        """Record a node that joined, changed or left."""
        now = self._now()
        self.rates.node_changed(old, new, now)
        for node, sign in ((old, -1), (new, 1)):
            if node is not None:
                self.nodes.add(sign, now)
                self.offered.add(_offered(node), sign, now)

    # -- the scheduler's observers

    def attempt_began(self, pod: PodInfo) -> None:
        """Count an attempt."""
        self.counts["attempts"] += 1
        living = self._living.get(pod.uid)
        if living is not None:
            living.attempts += 1

    def attempt_failed(self, failed: FailedAttempt) -> None:
        """Count an attempt that failed."""
        self.counts["failedAttempts"] += 1
        if failed.result == UNSCHEDULABLE:
            self.counts["unschedulableAttempts"] += 1
        else:
            self.first_error = self.first_error or f"pod {failed.pod.namespace}/{failed.pod.name}: {failed.message}"

    def victim_evicted(self, preemptor: PodInfo, victim: PodInfo, node_name: str, *, in_memory: bool) -> None:
        """Count a pod that was preempted."""
        if not in_memory:
            self.counts["preempted"] += 1
            self.preempted_by_priority[victim.priority] += 1

    # -- samples

    def sample(self) -> None:
        """Take a sample of the cluster."""
        counts: Sample = {
            "at": self._now(),
            "pending": self.pending.value,
            "running": self.running.value,
            "bound": self.counts["bound"],
        }
        self.timeline.add(counts | self._sampler.sample(self.offered.of))


def _record(pod: Pod, living: Living, left: float | None, end: str) -> PodRecord:
    """Return the record of a pod's life."""
    return PodRecord(
        pod.namespace,
        pod.name,
        pod.spec.node_name,
        living.arrived,
        living.bound,
        left,
        end,
        living.priority,
        living.amounts,
        living.attempts,
    )


def _histogram(histograms: dict[K, Histogram], key: K) -> Histogram:
    """Return the histogram of a key; create it if it is missing."""
    found = histograms.get(key)
    if found is None:
        found = histograms[key] = Histogram()
    return found


def _size(info: PodInfo) -> tuple[str, dict[str, int]]:
    """Return a pod's size class, and its requests."""
    taken = info.resources
    amounts = {"cpu": taken.milli_cpu, "memory": taken.memory, **taken.scalar}
    return next((name for below, name in SIZES if taken.milli_cpu < below), LARGEST_SIZE), amounts


def _offered(node: Node) -> dict[str, int]:
    """Return the capacity of a node, in the units of `_amounts`."""
    given = node.status.allocatable or node.status.capacity
    return {
        name: milli_value_of(quantity) if name == "cpu" else value_of(quantity)
        for name, quantity in given.items()
        if name not in ("pods", "ephemeral-storage")
    }
