"""Observers: metrics, logs and other readers of what happens in a scheduler.

From the queue, the cycles and the bindings to observers, in plain values and never in references to columns. The core
does not know who listens: it holds `Observers`, and with NOBODY nothing is measured. An observer that raises is dropped
with a line for the log; no pod suffers from it.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any, NamedTuple

from kubesched.api.meta import ApiObject
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.events import ClusterEvent
from kubesched.core.framework.status import Code, Status

# Extension points under the names by which the reference measures them.
PRE_ENQUEUE = "PreEnqueue"
PRE_FILTER = "PreFilter"
FILTER = "Filter"
POST_FILTER = "PostFilter"
PRE_SCORE = "PreScore"
SCORE = "Score"
RESERVE = "Reserve"
UNRESERVE = "Unreserve"
PERMIT = "Permit"
PRE_BIND_PRE_FLIGHT = "PreBindPreFlight"
PRE_BIND = "PreBind"
BIND = "Bind"
POST_BIND = "PostBind"

# The results of an attempt.
SCHEDULED = "scheduled"
UNSCHEDULABLE = "unschedulable"
ERROR = "error"
WAITS_FOR_PREEMPTION = "waiting_on_preemption"

# Why pods enter a queue, where it is no cluster event.
ATTEMPT_FAILED = "ScheduleAttemptFailure"
BACKOFF_COMPLETE = "BackoffComplete"
POPPED_FROM_BACKOFF = "PopFromBackoffQ"
FORCE_ACTIVATED = "ForceActivate"
TIMED_OUT = "UnschedulableTimeout"


# An extension point, what it came to, and the seconds it took.
Lap = tuple[str, Code, float]
# An extension point, the plugins that were asked there, and how often each.
Asked = tuple[str, tuple[str, ...], int]


class Bound(NamedTuple):
    """A pod that was bound; `total_seconds` count from when it could first be tried, over all attempts."""

    pod: PodInfo
    node_name: str
    profile: str
    attempts: int
    attempt_seconds: float
    total_seconds: float
    after_flush: bool
    evaluated_nodes: int
    feasible_nodes: int


class FailedAttempt(NamedTuple):
    """An attempt that came to nothing; `result` is UNSCHEDULABLE or ERROR, `rejected_by` names plugins."""

    pod: PodInfo
    profile: str
    result: str
    message: str
    rejected_by: Collection[str]
    seconds: float


class GroupAttempt(NamedTuple):
    """What became of a group of pods: SCHEDULED, UNSCHEDULABLE, WAITS_FOR_PREEMPTION or ERROR, and of how many pods."""

    group: str
    profile: str
    result: str
    message: str
    scheduled_pods: int
    other_pods: int
    algorithm_seconds: float
    seconds: float


class Observer:
    """Does nothing at any point; override what is of interest. A method returns at once and changes nothing."""

    def hears(self, hook: str) -> bool:
        """Return whether an overridden method is to be called; asked when observers are combined."""
        return True

    # -- the queue

    def pod_queued(self, pod: PodInfo, place: str, event: str, rejected_by: Collection[str]) -> None:
        """A pod entered "active", "backoff", "unschedulable" or "gated" because of an event."""

    def pod_gated(self, pod: PodInfo, plugin: str, status: Status) -> None:
        """A plugin's PreEnqueue holds a pod back."""

    def hint_asked(self, plugin: str, event: str, hint: str, seconds: float) -> None:
        """A plugin was asked whether an event helps a pod: "Queue", "QueueSkip", or "Error" if it raised."""

    def hint_failed(self, plugin: str, event: str, pod: PodInfo, raised: BaseException) -> None:
        """A plugin raised when it was asked whether an event helps a pod."""

    # -- plugins

    def plugin_failed(self, plugin: str, hook: str, raised: BaseException) -> None:
        """A plugin's hook raised, or returned what it must not (a PluginError); called for each node."""

    # -- attempts

    def attempt_began(self, pod: PodInfo) -> None:
        """A pod was popped and is tried."""

    def attempt_skipped(self, pod: PodInfo) -> None:
        """A pod was popped and needs no attempt."""

    def points_ran(self, profile: str, laps: Collection[Lap]) -> None:
        """Extension points were run, each with all its plugins; called after a cycle, a binding, a PreEnqueue."""

    def plugin_ran(self, plugin: str, point: str, status: str, seconds: float) -> None:
        """One plugin was run; called in sampled cycles only."""

    def plugins_asked(self, profile: str, asked: Collection[Asked]) -> None:
        """Plugins were asked about a pod (PreFilter, PreScore) or about so many nodes (Filter, Score)."""

    def pre_filter_rejected(self, pod: PodInfo, status: Status) -> None:
        """PreFilter as a whole turned a pod away."""

    def post_filter_ran(self, pod: PodInfo, status: Status, plugins: Collection[str]) -> None:
        """PostFilter was asked to make room; `plugins` are those that were reached."""

    def algorithm_ran(self, seconds: float) -> None:
        """A decision was made, or could not be made; called for every attempt."""

    def attempt_failed(self, failed: FailedAttempt) -> None:
        """An attempt came to nothing, in the scheduling cycle or while binding."""

    def group_attempt_began(self, group: str) -> None:
        """A group of pods, `namespace/name`, is tried."""

    def group_attempted(self, attempt: GroupAttempt) -> None:
        """A group of pods was tried; its pods are reported one by one as well."""

    # -- bindings

    def permit_awaited(self, status: str, seconds: float) -> None:
        """A pod waited for permission, and this is what it got."""

    def binding_began(self, pod: PodInfo, node_name: str) -> None:
        """A pod is about to be sent to be bound."""

    def binding_failed(self, pod: PodInfo, node_name: str) -> None:
        """A pod that was sent to be bound was refused, or the API server did not answer."""

    def pod_bound(self, bound: Bound) -> None:
        """A pod is bound."""

    # -- preemption

    def preemption_began(self, preemptor: PodInfo, node_name: str, victims: int, to_evict: int) -> None:
        """Victims were selected, and those are being evicted that are not going already."""

    def victim_skipped(self, preemptor: PodInfo, victim: PodInfo, node_name: str) -> None:
        """A victim is going already."""

    def victim_evicted(self, preemptor: PodInfo, victim: PodInfo, node_name: str, *, in_memory: bool) -> None:
        """A victim was deleted, or called back before it was bound."""

    def victim_gone(self, preemptor: PodInfo, victim: PodInfo, node_name: str) -> None:
        """A victim that was to be evicted did not exist any more."""

    def preemption_ended(
        self, preemptor: PodInfo, node_name: str, failure: BaseException | None, seconds: float
    ) -> None:
        """All victims are going, or the failure kept some."""

    # -- reports

    def event_handled(self, event: ClusterEvent, obj: ApiObject, seconds: float) -> None:
        """A reported object was applied, and the pods that it may help were requeued."""

    # -- what single plugins count

    def claim_created(self, *, succeeded: bool) -> None:
        """DynamicResources wrote a claim for a pod's extended resources."""

    def device_conditions_awaited(
        self, profile: str, drivers: Collection[str], conditioned: Collection[str], status: str, seconds: float
    ) -> None:
        """A pod waited for its devices; drivers of all devices, and of those with conditions, one entry a device."""

    def volume_stage_failed(self, stage: str) -> None:
        """VolumeBinding failed with an error at "predicate", "assume" or "bind"."""


_NO_HOOKS = ("hears",)
HOOKS = tuple(name for name in vars(Observer) if not name.startswith("_") and name not in _NO_HOOKS)


class Observers(Observer):
    """Several observers as one; those that raise are dropped. `sampled` tells whether to time plugins in a cycle.

    `clock` is what durations are read from: the core has none of its own.
    """

    def __init__(
        self,
        observers: Iterable[Observer],
        *,
        clock: Callable[[], float],
        note: Callable[[str], None],
        sampled: Callable[[], bool] = lambda: False,
    ) -> None:
        self.clock = clock
        self.sampled = sampled
        self._note = note
        self._observers = list(observers)
        self.listen()

    def listen(self) -> None:
        """Have every hook call just those observers that define it and want to hear; call it when that changes."""
        for hook in HOOKS:
            overriding = [o for o in self._observers if getattr(type(o), hook) is not getattr(Observer, hook)]
            setattr(self, hook, self._telling(hook, [o for o in overriding if o.hears(hook)]))

    def _telling(self, hook: str, observers: Collection[Observer]) -> Callable[..., None]:
        methods = [(observer, getattr(observer, hook)) for observer in observers]

        def tell(*args: Any, **kwargs: Any) -> None:
            for observer, method in methods:
                try:
                    method(*args, **kwargs)
                except Exception as raised:
                    self._drop(observer, hook, raised)

        return tell

    def _drop(self, observer: Observer, hook: str, raised: Exception) -> None:
        if observer in self._observers:
            self._observers.remove(observer)
            self.listen()
            name = type(observer).__name__
            self._note(f"observer {name} is dropped: its {hook} failed with {type(raised).__name__}: {raised}")


# No observers.
NOBODY = Observers((), clock=lambda: 0.0, note=lambda line: None)


class Stopwatch:
    """Times one attempt, and what is run in it; made when the attempt begins. `closely` has every plugin timed.

    What it measures is kept, and observers are told by `tell`: a call for each would take longer than what is measured.
    """

    __slots__ = (
        "_asked",
        "_laps",
        "began",
        "longest_plugin",
        "longest_point",
        "now",
        "observers",
        "profile",
        "sampled",
    )

    def __init__(self, observers: Observers, profile: str, *, closely: bool = False) -> None:
        self.observers = observers
        self.profile = profile
        self._laps: list[Lap] = []
        self._asked: list[Asked] = []
        # what took longest so far: an extension point, and a plugin there; plugins that make columns only if sampled
        self.longest_point: tuple[str, float] = ("", 0.0)
        self.longest_plugin: tuple[str, str, float] = ("", "", 0.0)
        self.now = observers.clock
        self.sampled = closely or observers.sampled()
        self.began = self.now()

    @property
    def seconds(self) -> float:
        """Return how long the attempt has taken so far."""
        return self.now() - self.began

    def point(self, point: str, status: Status | None, began: float) -> None:
        """Keep that an extension point was run, from `began` until now."""
        seconds = self.now() - began
        self._laps.append((point, Code.SUCCESS if status is None else status.code, seconds))
        if seconds > self.longest_point[1]:
            self.longest_point = point, seconds

    def asked(self, point: str, plugins: tuple[str, ...], times: int) -> None:
        """Keep that plugins were asked."""
        self._asked.append((point, plugins, times))

    def plugin(self, plugin: str, point: str, answer: Any, began: float) -> None:
        """Take note that a plugin was run, from `began` until now; tell of it if this cycle is sampled.

        `answer` is a status, has one, or is None for success.
        """
        seconds = self.now() - began
        if seconds > self.longest_plugin[2]:
            self.longest_plugin = plugin, point, seconds
        if self.sampled:
            status: Status | None = getattr(answer, "status", answer)
            code = Code.SUCCESS if status is None else status.code
            self.observers.plugin_ran(plugin, point, code.text, seconds)

    def tell(self) -> None:
        """Tell what was kept."""
        if self._laps:
            self.observers.points_ran(self.profile, self._laps)
            self._laps = []
        if self._asked:
            self.observers.plugins_asked(self.profile, self._asked)
            self._asked = []


class _Untimed(Stopwatch):
    """A stopwatch that stands still, for cycles without observers."""

    def __init__(self) -> None:
        super().__init__(NOBODY, "")

    def point(self, point: str, status: Status | None, began: float) -> None:
        """Keep nothing."""

    def asked(self, point: str, plugins: tuple[str, ...], times: int) -> None:
        """Keep nothing."""

    def plugin(self, plugin: str, point: str, answer: Any, began: float) -> None:
        """Keep nothing."""


UNTIMED: Stopwatch = _Untimed()


def start(observers: Observers, profile: str, *, closely: bool = False) -> Stopwatch:
    """Return a stopwatch for an attempt that begins; without observers nothing is timed."""
    return UNTIMED if observers is NOBODY else Stopwatch(observers, profile, closely=closely)
