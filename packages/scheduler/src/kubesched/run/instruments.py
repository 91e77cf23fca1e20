"""The instruments of a scheduler process for its operator: metrics, log, and the dump on a signal.

From a log and the metrics flags to the observers of the core, of clients and of leader election, and to the served
texts. Created once, before the scheduler; call `follow` when the scheduler exists.
"""

import time
from collections.abc import Callable, Iterable
from random import Random
from urllib.parse import urlsplit

from kubesched.api.meta import ApiObject
from kubesched.client.election.leader_thread import ExitingObserver
from kubesched.common.platform_name import platform_name
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.observing.observer import Observers
from kubesched.core.loop.comparer import compare
from kubesched.core.loop.dumper import nodes_text, queue_summary, queue_text
from kubesched.core.loop.gauges import Gauges, read_gauges
from kubesched.core.loop.scheduler import Scheduler
from kubesched.run.klog.logs import Log
from kubesched.run.klog.observer import LogObserver
from kubesched.run.plugin_failures import PluginFailures
from kubesched.serving.decisions.recorder import DecisionRecorder
from kubesched.serving.metrics.client_metrics import LeaderMetrics, RequestMetrics
from kubesched.serving.metrics.options import MetricOptions
from kubesched.serving.metrics.pages import HealthMetrics
from kubesched.serving.metrics.process_metrics import describe_process
from kubesched.serving.metrics.registry import MetricRegistry
from kubesched.serving.metrics.scheduler_metrics import SchedulerGauges, SchedulerMetrics

# the share of scheduling cycles in which plugins are timed one by one
SAMPLED = 0.1
# the level at which tracebacks of plugins are logged
TRACEBACKS = 4


class Instruments:
    """The log, the metrics and their pages; `version` is the reported version (`v1.36.4`).

    Decisions are recorded in `decision_bytes` of memory, not at all if that is 0.
    """

    def __init__(
        self, log: Log, options: MetricOptions, gates: FeatureGates, version: str, decision_bytes: int = 0
    ) -> None:
        self.log = log
        # None unless decisions are recorded
        self.decisions = DecisionRecorder(decision_bytes) if decision_bytes else None
        self.registry = MetricRegistry(options)
        self.health = HealthMetrics()
        self.leader = LeaderMetrics(self.registry)
        self._metrics = SchedulerMetrics(self.registry)
        describe_process(self.registry, gates, version, platform_name())
        draw = Random().random
        self.observers = Observers(
            (self._metrics, LogObserver(log), self._tracebacks(), *([self.decisions] if self.decisions else ())),
            clock=time.perf_counter,
            note=log.warning,
            sampled=lambda: draw() < SAMPLED,
        )

    def _tracebacks(self) -> PluginFailures:
        def write(plugin: str, hook: str, text: str) -> None:
            self.log.info(f"Plugin {plugin} failed in {hook}", v=TRACEBACKS, traceback=text)

        return PluginFailures(write, wanted=lambda: self.log.enabled(TRACEBACKS))

    def requests(self, server: str) -> RequestMetrics:
        """Return the metrics of requests to a server."""
        return RequestMetrics(self.registry, urlsplit(server).netloc)

    def follow(self, scheduler: Scheduler, gauges: Callable[[], Gauges] | None = None) -> None:
        """Serve the gauges of a scheduler, and zeros for counters of its profiles.

        `gauges` reads them where pages are not written on the scheduler's loop.
        """
        SchedulerGauges(self.registry, gauges or (lambda: read_gauges(scheduler)))
        self.expect(scheduler.engine.profiles.values())

    def expect(self, profiles: Iterable[Profile]) -> None:
        """Serve zeros for counters of profiles."""
        for profile in profiles:
            self._metrics.expect(profile)

    def set_verbosity(self, level: int) -> None:
        """Set the verbosity of the log."""
        self.log.set_verbosity(level)
        self.observers.listen()


class ObservedElection(ExitingObserver):
    """Ends the process when the lease is lost; sets the metrics of leader election."""

    def __init__(
        self, lease: str, log: Log, metrics: LeaderMetrics, before_exit: Callable[[], None] = lambda: None
    ) -> None:
        self._lease = lease
        self._log = log
        self._metrics = metrics
        self._before_exit = before_exit
        super().__init__(self._say)
        metrics.leading(lease, leads=False)

    def _say(self, line: str) -> None:
        self._metrics.leading(self._lease, leads=False)
        self._log.error(None, line)
        self._before_exit()

    def became_leader(self) -> None:
        """Set the metric: this process leads."""
        self._metrics.leading(self._lease, leads=True)

    def stopped(self) -> None:
        """Set the metric: this process leads no more."""
        super().stopped()
        self._metrics.leading(self._lease, leads=False)

    def slow_path(self) -> None:
        """Count a renewal that had to read the lease first."""
        self._metrics.slow_path(self._lease)


# upstream: backend/cache/debugger (v1.36)
def dump(scheduler: Scheduler, objects: Iterable[ApiObject], log: Log) -> None:
    """Log the scheduler's nodes and queue, and their differences from the informers' objects; call between cycles."""
    log.info("Cache comparer started", v=3)
    for line in compare(objects, scheduler.cluster, scheduler.queue, scheduler.engine.profiles):
        log.info("Cache mismatch", difference=line)
    log.info("Cache comparer finished", v=3)
    log.info("Dump of cached NodeInfo", nodes=nodes_text(scheduler.cluster))
    summary, pods = queue_summary(scheduler.queue), queue_text(scheduler.queue)
    log.info("Dump of scheduling queue", summary=summary, pods=pods)
