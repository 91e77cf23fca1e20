"""The scheduler's metrics: observations, counted under the reference's names.

From observations to metric families, updated at the points where the reference updates them; gauges are read from the
scheduler when the page is fetched. An update delays a scheduling cycle by no more than a microsecond.
"""

# upstream: pkg/scheduler/metrics (v1.36)

from collections import Counter
from collections.abc import Callable, Collection, Mapping

from kubesched.api.meta import ApiObject
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.observing.observer import (
    FILTER,
    PRE_FILTER,
    PRE_SCORE,
    SCHEDULED,
    SCORE,
    Asked,
    Bound,
    FailedAttempt,
    Lap,
    Observer,
)
from kubesched.core.framework.results.outcomes import GroupAttempt, PostFilterResult
from kubesched.core.framework.values.events import ClusterEvent
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.loop.gauges import Gauges
from kubesched.core.queue.queued_pod import Place
from kubesched.serving.metrics import catalog
from kubesched.serving.metrics.families import Buckets, Family
from kubesched.serving.metrics.registry import MetricRegistry

# pods with this many attempts or more share a label
MOST_ATTEMPTS = 15
PREEMPTION = "DefaultPreemption"


class SchedulerMetrics(Observer):
    """Counts observations of the scheduler."""

    def __init__(self, registry: MetricRegistry) -> None:
        self._registry = registry
        family = registry.family
        self._attempts = family(catalog.ATTEMPTS)
        self._attempt_seconds = family(catalog.ATTEMPT_DURATION)
        self._algorithm_seconds = family(catalog.ALGORITHM_DURATION).buckets()
        self._point_seconds = family(catalog.POINT_DURATION)
        self._plugin_seconds = family(catalog.PLUGIN_DURATION)
        self._evaluations = family(catalog.PLUGIN_EVALUATIONS)
        self._pod_attempts = family(catalog.POD_ATTEMPTS).buckets()
        self._pod_seconds = family(catalog.POD_DURATION)
        self._after_flush = family(catalog.AFTER_FLUSH).number()
        self._permit_seconds = family(catalog.PERMIT_WAIT)
        self._incoming = family(catalog.INCOMING_PODS)
        self._hint_seconds = family(catalog.HINT_DURATION)
        self._event_seconds = family(catalog.EVENT_DURATION)
        self._preemption_attempts = family(catalog.PREEMPTION_ATTEMPTS).number()
        self._victims = family(catalog.PREEMPTION_VICTIMS).buckets()
        self._preemption_seconds = family(catalog.PREEMPTION_DURATION)
        self._preemptions = family(catalog.PREEMPTIONS)
        self._claim_creates = family(catalog.CLAIM_CREATES)
        self._condition_allocations = family(catalog.CONDITION_ALLOCATIONS)
        self._condition_seconds = family(catalog.CONDITION_WAIT)
        self._volume_errors = family(catalog.VOLUME_STAGE_ERRORS)
        # (profile, point, plugins) -> evaluations; counted per plugin when the page is fetched
        self._asked: dict[tuple[str, str, tuple[str, ...]], int] = {}
        self._points: dict[tuple[str, str, Code], Buckets] = {}
        registry.before_text(self._take_apart)
        registry.on_reset(self._asked.clear)

    def expect(self, profile: Profile) -> None:
        """Serve zeros for the counters of a profile and its plugins."""
        name = profile.scheduler_name
        points = {
            PRE_FILTER: profile.pre_filter,
            FILTER: profile.filter,
            PRE_SCORE: profile.pre_score,
            SCORE: profile.score,
        }
        for point, plugins in points.items():
            for plugin in plugins:
                self._evaluations.bind(plugin.name, point, name)
        family = self._registry.family
        family(catalog.BATCH_ATTEMPTS).bind(name, "no_hint")
        family(catalog.BATCH_FLUSHES).bind(name, "pod_not_batchable")
        family(catalog.NODE_HINT_DURATION).bind("no_hint", name)
        family(catalog.STORE_RESULTS_DURATION).bind(name)

    def _take_apart(self) -> None:
        counts: Counter[tuple[str, str, str]] = Counter()
        for (profile, point, plugins), times in list(self._asked.items()):
            for plugin in plugins:
                counts[plugin, point, profile] += times
        for labels, times in counts.items():
            self._evaluations.number(*labels).value = times

    # -- the queue and event handlers

    def pod_queued(self, pod: PodInfo, place: str, event: str, rejected_by: Collection[str]) -> None:
        """Count a pod that enters a queue; gated pods count as unschedulable."""
        queue = Place.UNSCHEDULABLE.text if place == Place.GATED.text else place
        self._incoming.number(queue, event).value += 1

    def hint_asked(self, plugin: str, event: str, hint: str, seconds: float) -> None:
        """Observe the duration of a queueing hint."""
        self._hint_seconds.buckets(plugin, event, hint).observe(seconds)

    def event_handled(self, event: ClusterEvent, obj: ApiObject, seconds: float) -> None:
        """Observe how long an event took to handle."""
        self._event_seconds.buckets(event.label).observe(seconds)

    # -- attempts

    def points_ran(self, profile: str, laps: Collection[Lap]) -> None:
        """Observe the durations of extension points."""
        for point, code, seconds in laps:
            cell = self._points.get((profile, point, code))
            if cell is None:
                cell = self._points[profile, point, code] = self._point_seconds.buckets(point, code.text, profile)
            cell.observe(seconds)

    def plugin_ran(self, plugin: str, point: str, status: str, seconds: float) -> None:
        """Observe the duration of a plugin."""
        self._plugin_seconds.buckets(plugin, point, status).observe(seconds)

    def plugins_asked(self, profile: str, asked: Collection[Asked]) -> None:
        """Count the evaluations of plugins."""
        counts = self._asked
        for point, plugins, times in asked:
            key = profile, point, plugins
            counts[key] = counts.get(key, 0) + times

    def post_filter_ran(self, pod: PodInfo, status: Status, plugins: Mapping[str, PostFilterResult]) -> None:
        """Count a preemption attempt."""
        self._preemption_attempts.value += PREEMPTION in plugins

    def algorithm_ran(self, seconds: float) -> None:
        """Observe the duration of the scheduling algorithm."""
        self._algorithm_seconds.observe(seconds)

    def attempt_failed(self, failed: FailedAttempt) -> None:
        """Count a failed attempt."""
        self._attempts.number(failed.result, failed.profile).value += 1
        self._attempt_seconds.buckets(failed.result, failed.profile).observe(failed.seconds)

    def group_attempted(self, attempt: GroupAttempt) -> None:
        """Count an attempt to schedule a pod group; its metrics are served from the first attempt on."""
        family, labels = self._registry.family, (attempt.result, attempt.profile)
        family(catalog.GROUP_ATTEMPTS).number(*labels).value += 1
        family(catalog.GROUP_ATTEMPT_DURATION).buckets(*labels).observe(attempt.seconds)
        family(catalog.GROUP_ALGORITHM_DURATION).buckets().observe(attempt.algorithm_seconds)

    def permit_awaited(self, status: str, seconds: float) -> None:
        """Observe how long a pod waited in Permit."""
        self._permit_seconds.buckets(status).observe(seconds)

    def pod_bound(self, bound: Bound) -> None:
        """Count a successful attempt, and the scheduled pod."""
        self._attempts.number(SCHEDULED, bound.profile).value += 1
        self._attempt_seconds.buckets(SCHEDULED, bound.profile).observe(bound.attempt_seconds)
        self._pod_attempts.observe(bound.attempts)
        attempts = str(bound.attempts) if bound.attempts < MOST_ATTEMPTS else f"{MOST_ATTEMPTS}+"
        self._pod_seconds.buckets(attempts).observe(bound.total_seconds)
        self._after_flush.value += bound.after_flush

    # -- preemption

    def preemption_began(self, preemptor: PodInfo, node_name: str, victims: int, to_evict: int) -> None:
        """Observe the number of victims."""
        self._victims.observe(victims)

    def preemption_ended(
        self, preemptor: PodInfo, node_name: str, failure: BaseException | None, seconds: float
    ) -> None:
        """Count a preemption."""
        result = "success" if failure is None else "error"
        self._preemption_seconds.buckets(result).observe(seconds)
        self._preemptions.number(result).value += 1

    # -- single plugins

    def claim_created(self, *, succeeded: bool) -> None:
        """Count a ResourceClaim that was created, or could not be."""
        self._claim_creates.number("success" if succeeded else "failure").value += 1

    def device_conditions_awaited(
        self, profile: str, drivers: Collection[str], conditioned: Collection[str], status: str, seconds: float
    ) -> None:
        """Observe how long binding conditions of devices were waited for."""
        for driver in drivers:
            self._condition_seconds.buckets(profile, driver, status).observe(seconds)
        for driver in conditioned:
            self._condition_allocations.number(profile, driver, status).value += 1

    def volume_stage_failed(self, stage: str) -> None:
        """Count an error of a stage of volume scheduling."""
        self._volume_errors.number(stage).value += 1


class SchedulerGauges:
    """Gauges of the scheduler, read each time the page is fetched."""

    def __init__(self, registry: MetricRegistry, read: Callable[[], Gauges]) -> None:
        self._read = read
        self._pending = registry.family(catalog.PENDING_PODS)
        self._unschedulable = registry.family(catalog.UNSCHEDULABLE_PODS)
        self._in_flight = registry.family(catalog.IN_FLIGHT_EVENTS)
        self._cache = registry.family(catalog.CACHE_SIZE)
        self._operations = registry.family(catalog.OPERATIONS)
        registry.before_text(self._update)

    def _update(self) -> None:
        gauges = self._read()
        _show(self._pending, {(queue,): count for queue, count in gauges.pending.items()})
        _show(self._unschedulable, {(plugin, profile): count for (plugin, profile), count in gauges.rejections.items()})
        _show(self._in_flight, {(event,): count for event, count in gauges.kept_events.items()})
        _show(self._cache, {(kind,): count for kind, count in gauges.cache.items()})
        _show(self._operations, {(name,): count for name, count in gauges.operations.items()})


def _show(family: Family, counts: Mapping[tuple[str, ...], int]) -> None:
    """Set the cells of a gauge; cells whose labels are not in `counts` are set to zero."""
    for values in family.values():
        family.number(*values).value = 0
    for values, count in counts.items():
        family.number(*values).value += count
