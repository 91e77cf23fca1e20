"""Observers: metrics, logs and other readers of the scheduler's events.

From the queue, the cycles and the bindings to observers, in plain values and never in references to columns. The core
does not know the observers: it holds `Observers`, and with NOBODY nothing is measured. An observer that raises an error
is dropped with a line for the log; pods are not affected.
"""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observing.decision_details import RejectionDetails, ScoreDetails
from kubesched.core.framework.results.outcomes import GroupAttempt, PostFilterResult
from kubesched.core.framework.values.events import ClusterEvent
from kubesched.core.framework.values.extenders import ExtenderAnswer
from kubesched.core.framework.values.status import Code, Status

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

# The reasons for which pods enter a queue, apart from cluster events.
ATTEMPT_FAILED = "ScheduleAttemptFailure"
BACKOFF_COMPLETE = "BackoffComplete"
POPPED_FROM_BACKOFF = "PopFromBackoffQ"
FORCE_ACTIVATED = "ForceActivate"
TIMED_OUT = "UnschedulableTimeout"
# ours: the reference never changes its configuration
CONFIGURATION_CHANGED = "ConfigurationChanged"


# An extension point, its status code, and its duration in seconds.
Lap = tuple[str, Code, float]
# An extension point, the plugins that ran there, and how often each.
Asked = tuple[str, tuple[str, ...], int]


class Bound(msgspec.Struct, frozen=True, gc=False):
    """A pod that was bound; `total_seconds` count from when it first could be scheduled, over all attempts."""

    pod: PodInfo
    node_name: str
    profile: str
    attempts: int
    attempt_seconds: float
    total_seconds: float
    after_flush: bool
    evaluated_nodes: int
    feasible_nodes: int
    # of the configuration, of which there may be several one after the other (also below)
    generation: int = 1


class ChosenNode(msgspec.Struct, frozen=True, gc=False):
    """The node that was chosen for a pod; `scores` gathers the scores behind the choice, during the call."""

    pod: PodInfo
    node_name: str
    attempts: int
    feasible_nodes: int
    seconds: float
    scores: ScoreDetails
    generation: int = 1


class FailedAttempt(msgspec.Struct, frozen=True, gc=False):
    """A failed attempt; `result` is UNSCHEDULABLE or ERROR, `rejected_by` names plugins.

    `nominated_node_name` is where the pod is nominated to by PostFilter, empty if nowhere. `rejections` gathers the
    rejected nodes during the call; None if the nodes were not judged, or the pod failed after a node was chosen.
    `point` is the extension point that failed or rejected the pod, empty if none did.
    """

    pod: PodInfo
    profile: str
    result: str
    message: str
    rejected_by: Collection[str]
    seconds: float
    attempts: int = 0
    evaluated_nodes: int = 0
    nominated_node_name: str = ""
    rejections: RejectionDetails | None = None
    generation: int = 1
    point: str = ""


class Observer:
    """Base of observers: its methods do nothing. Overriding methods must return at once and change nothing."""

    def hears(self, hook: str) -> bool:
        """Return whether an overridden method is to be called; evaluated when observers are combined."""
        return True

    # -- the queue

    def pod_queued(self, pod: PodInfo, place: str, event: str, rejected_by: Collection[str]) -> None:
        """A pod entered "active", "backoff", "unschedulable" or "gated" because of an event."""

    def pod_gated(self, pod: PodInfo, plugin: str, status: Status) -> None:
        """A plugin's PreEnqueue gates a pod."""

    def hint_asked(self, plugin: str, event: str, hint: str, seconds: float) -> None:
        """A plugin's queueing hint ran: "Queue", "QueueSkip", or "Error" if it raised an error."""

    def hint_failed(self, plugin: str, event: str, pod: PodInfo, raised: BaseException) -> None:
        """A plugin's queueing hint raised an error."""

    # -- plugins

    def plugin_failed(self, plugin: str, hook: str, raised: BaseException) -> None:
        """A plugin's hook raised an error, or returned an invalid value (a PluginError); called for each node."""

    # -- attempts

    def attempt_began(self, pod: PodInfo) -> None:
        """A pod was popped, and its attempt begins."""

    def attempt_skipped(self, pod: PodInfo) -> None:
        """A pod was popped and needs no attempt."""

    def points_ran(self, profile: str, laps: Collection[Lap]) -> None:
        """Extension points were run, each with all its plugins; called after a cycle, a binding, a PreEnqueue."""

    def plugin_ran(self, plugin: str, point: str, status: str, seconds: float) -> None:
        """One plugin was run; called in sampled cycles only."""

    def plugins_asked(self, profile: str, asked: Collection[Asked]) -> None:
        """Plugins ran for a pod (PreFilter, PreScore) or for a number of nodes (Filter, Score)."""

    def pre_filter_rejected(self, pod: PodInfo, status: Status) -> None:
        """PreFilter rejected a pod."""

    def post_filter_ran(self, pod: PodInfo, status: Status, plugins: Mapping[str, PostFilterResult]) -> None:
        """PostFilter ran; `plugins` are the plugins that ran, with their results."""

    def extender_answered(self, answer: ExtenderAnswer) -> None:
        """An extender was called for a pod; called in the attempt that it is about."""

    def algorithm_ran(self, seconds: float) -> None:
        """The scheduling algorithm ran; called for every attempt."""

    def node_chosen(self, chosen: ChosenNode) -> None:
        """A node was chosen for a pod, which is assumed there next; not called for pods of groups."""

    def attempt_failed(self, failed: FailedAttempt) -> None:
        """An attempt failed, in the scheduling cycle or in the binding cycle."""

    def pod_put_back(self, pod: PodInfo, place: str, backoff_seconds: float) -> None:
        """A failed pod was requeued into `place`; it backs off for `backoff_seconds` (0: not at all)."""

    def group_attempt_began(self, group: str) -> None:
        """The attempt of a pod group, `namespace/name`, begins."""

    def group_attempted(self, attempt: GroupAttempt) -> None:
        """The attempt of a pod group ended; its pods are reported one by one as well."""

    # -- bindings

    def permit_awaited(self, status: str, seconds: float) -> None:
        """A pod waited in Permit, with this status as the result."""

    def binding_began(self, pod: PodInfo, node_name: str) -> None:
        """A pod is about to be bound."""

    def binding_failed(self, pod: PodInfo, node_name: str) -> None:
        """The binding of a pod was refused, or got no response."""

    def pod_bound(self, bound: Bound) -> None:
        """A pod is bound."""

    # -- preemption

    def preemption_began(self, preemptor: PodInfo, node_name: str, victims: int, to_evict: int) -> None:
        """Victims were selected, and the victims that are not terminating are being evicted."""

    def victim_skipped(self, preemptor: PodInfo, victim: PodInfo, node_name: str) -> None:
        """A victim is terminating already."""

    def victim_evicted(self, preemptor: PodInfo, victim: PodInfo, node_name: str, *, in_memory: bool) -> None:
        """A victim was deleted, or preempted in memory before it was bound."""

    def victim_gone(self, preemptor: PodInfo, victim: PodInfo, node_name: str) -> None:
        """A victim did not exist any more."""

    def preemption_ended(
        self, preemptor: PodInfo, node_name: str, failure: BaseException | None, seconds: float
    ) -> None:
        """All victims are terminating, or the preemption failed."""

    # -- reports

    def event_handled(self, event: ClusterEvent, obj: ApiObject, seconds: float) -> None:
        """A reported object was applied, and the pods that it may help were requeued."""

    # -- reports of single plugins

    def claim_created(self, *, succeeded: bool) -> None:
        """DynamicResources wrote a claim for a pod's extended resources."""

    def device_conditions_awaited(
        self, profile: str, drivers: Collection[str], conditioned: Collection[str], status: str, seconds: float
    ) -> None:
        """A pod waited for binding conditions of its devices.

        `drivers` has an entry for each device, `conditioned` one for each device with conditions.
        """

    def volume_stage_failed(self, stage: str) -> None:
        """VolumeBinding failed with an error at "predicate", "assume" or "bind"."""


_NO_HOOKS = ("hears",)
HOOKS = tuple(name for name in vars(Observer) if not name.startswith("_") and name not in _NO_HOOKS)
# Hooks with one argument after `self`. Most hooks that run for every pod have one, and a call for one argument takes
# half the time.
_OF_ONE_VALUE = frozenset(
    name for name in HOOKS if (code := getattr(Observer, name).__code__).co_argcount == 2 and not code.co_kwonlyargcount
)


class Observers(Observer):
    """Several observers as one; an observer that raises is dropped. `sampled` tells whether to time plugins in a cycle.

    `clock` is the clock for durations: the core has no clock. With `timed` False nothing is timed.
    """

    def __init__(
        self,
        observers: Iterable[Observer],
        *,
        clock: Callable[[], float],
        note: Callable[[str], None],
        sampled: Callable[[], bool] = lambda: False,
        timed: bool = True,
    ) -> None:
        self.clock = clock
        self.timed = timed
        self.sampled = sampled
        self._note = note
        self._observers = list(observers)
        self.listen()

    def listen(self) -> None:
        """Connect every method with the observers that override and hear it; call this when that changes."""
        heard = set()
        for hook in HOOKS:
            overriding = [o for o in self._observers if getattr(type(o), hook) is not getattr(Observer, hook)]
            listening = [o for o in overriding if o.hears(hook)]
            setattr(self, hook, self._telling(hook, listening))
            if listening:
                heard.add(hook)
        # the hooks that at least one observer overrides: expensive arguments are computed only for these
        self.heard = frozenset(heard)

    def _telling(self, hook: str, observers: Collection[Observer]) -> Callable[..., None]:
        """Return a function that calls the observers; an observer that raises is dropped."""
        methods = [(observer, getattr(observer, hook)) for observer in observers]

        def tell(*args: Any, **kwargs: Any) -> None:
            for observer, method in methods:
                try:
                    method(*args, **kwargs)
                except Exception as raised:
                    self._drop(observer, hook, raised)

        def tell_value(value: Any) -> None:
            for observer, method in methods:
                try:
                    method(value)
                except Exception as raised:
                    self._drop(observer, hook, raised)

        return tell_value if hook in _OF_ONE_VALUE else tell

    def _drop(self, observer: Observer, hook: str, raised: Exception) -> None:
        if observer in self._observers:
            self._observers.remove(observer)
            self.listen()
            name = type(observer).__name__
            self._note(f"observer {name} is dropped: its {hook} failed with {type(raised).__name__}: {raised}")


# No observers.
NOBODY = Observers((), clock=lambda: 0.0, note=lambda line: None, timed=False)


class Stopwatch:
    """Times one attempt and its extension points; made when the attempt begins. `closely` times every plugin.

    Measurements are kept, and `tell` reports them to observers: a call for each would take longer than the code.
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
        # the slowest extension point so far, and the slowest plugin with its point (over columns only if sampled)
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
        """Record the duration of an extension point, from `began` until now."""
        seconds = self.now() - began
        self._laps.append((point, Code.SUCCESS if status is None else status.code, seconds))
        if seconds > self.longest_point[1]:
            self.longest_point = point, seconds

    def asked(self, point: str, plugins: tuple[str, ...], times: int) -> None:
        """Record how often plugins ran."""
        self._asked.append((point, plugins, times))

    def plugin(self, plugin: str, point: str, answer: Any, began: float) -> None:
        """Record the duration of a plugin, from `began` until now; report it if this cycle is sampled.

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
        """Report the measurements to observers."""
        if self._laps:
            self.observers.points_ran(self.profile, self._laps)
            self._laps = []
        if self._asked:
            self.observers.plugins_asked(self.profile, self._asked)
            self._asked = []


class _Untimed(Stopwatch):
    """A stopwatch that measures nothing, for cycles without observers."""

    def __init__(self) -> None:
        super().__init__(NOBODY, "")

    def point(self, point: str, status: Status | None, began: float) -> None:
        """Record nothing."""

    def asked(self, point: str, plugins: tuple[str, ...], times: int) -> None:
        """Record nothing."""

    def plugin(self, plugin: str, point: str, answer: Any, began: float) -> None:
        """Record nothing."""


UNTIMED: Stopwatch = _Untimed()


def start(observers: Observers, profile: str, *, closely: bool = False) -> Stopwatch:
    """Return a stopwatch for a new attempt."""
    return Stopwatch(observers, profile, closely=closely) if observers.timed else UNTIMED
