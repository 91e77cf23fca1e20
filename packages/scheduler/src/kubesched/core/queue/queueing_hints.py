"""Queueing hints: whether an event may make a rejected pod schedulable.

From an event and a rejected pod to a strategy: skip, requeue after the backoff, or at once. A hint is called once per
(event, plugin, template and labels), not per pod, unless claims are generated for each pod of the template; a hint
that raises an error counts as QUEUE. Only pods that wait for the plugin or object of the event are considered.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence, Set
from enum import Enum
from typing import Any, Final, NamedTuple

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.profile import Profile, registered_events
from kubesched.core.framework.calling.answers import checked_hint, checked_subject_names
from kubesched.core.framework.calling.hooks import Raised, call_back
from kubesched.core.framework.observing.observer import NOBODY, Observers
from kubesched.core.framework.values.events import (
    Action,
    ClusterEvent,
    Hint,
    HintFunction,
    Resource,
    Subject,
    registrations_for_extenders,
)
from kubesched.core.queue.queued_pod import QueuedPod

WILDCARD = ClusterEvent(Resource.WILDCARD, Action.ALL)
TAINT = Action.UPDATE_NODE_TAINT
LABEL = Action.UPDATE_NODE_LABEL


class QueueingStrategy(Enum):
    """How an event requeues a pod."""

    SKIP = "skip"
    AFTER_BACKOFF = "after backoff"
    IMMEDIATELY = "immediately"


class Registered(NamedTuple):
    """A plugin's registration."""

    event: ClusterEvent
    plugin: str
    hint: HintFunction | None
    subject: Subject | None = None


# The subject for which a rejected pod waits: all events of a plugin, or a plugin's events about one object (its name).
WaitsFor = str | tuple[str, str]
# For pods that any event may help.
ANYTHING: Final = ""

# Stands for the plugin's name if an extender rejected the pod.
EXTENDER = "Extender"


class HintOptions(NamedTuple):
    """The sources of events: `extenders`, if there are any, `pod_groups`, and plugins' `hints`.

    Without hints (the gate SchedulerQueueingHints) every registered event of a plugin requeues the pods it rejected.
    """

    extenders: bool = False
    pod_groups: bool = False
    hints: bool = True


PLUGIN_HINTS = HintOptions()


def registrations_of(profile: Profile, asked: HintOptions) -> tuple[Registered, ...]:
    """Return the registrations of a profile's plugins, and of extenders, which register for all events.

    A plugin that registers for added nodes but not for taints is registered for taints without a hint; if hints are
    off, for labels, too.
    """
    # upstream: scheduler.go, buildQueueingHintMap (v1.36)
    found = []
    if asked.extenders:
        for registration in registrations_for_extenders(pod_groups=asked.pod_groups):
            found.append(Registered(registration.event, EXTENDER, None))
    for plugin in profile.plugins.values():
        registrations = registered_events(plugin)
        if asked.hints:
            found += [Registered(each.event, plugin.name, each.hint, each.subject) for each in registrations]
        else:
            found += [Registered(each.event, plugin.name, None) for each in registrations]
        of_nodes = [r.event.action for r in registrations if r.event.resource == Resource.NODE]
        if any(action & Action.ADD for action in of_nodes):
            for action in (TAINT,) if asked.hints else (TAINT, LABEL):
                if not any(registered & action for registered in of_nodes):
                    found.append(Registered(ClusterEvent(Resource.NODE, action), plugin.name, None))
    return tuple(found)


class QueueingHints:
    """The hints of all profiles, by event."""

    def __init__(
        self, profiles: Mapping[str, Profile], asked: HintOptions = PLUGIN_HINTS, observers: Observers = NOBODY
    ) -> None:
        self.asks_plugins = asked.hints
        self._observers = observers
        self._registered = {name: registrations_of(profile, asked) for name, profile in profiles.items()}
        self._matches: dict[ClusterEvent, dict[str, list[Registered]]] = {}
        self._interest: dict[ClusterEvent, tuple[Set[WaitsFor], Sequence[tuple[str, Subject]]]] = {}
        # scheduler -> plugin -> the subjects by which its pods are found
        self._subjects: dict[str, dict[str, set[Subject]]] = {}
        for name, registrations in self._registered.items():
            of_profile = self._subjects.setdefault(name, {})
            for registered in registrations:
                if registered.subject is not None:
                    of_profile.setdefault(registered.plugin, set()).add(registered.subject)

    def events_of(self, plugin: str) -> tuple[ClusterEvent, ...]:
        """Return the events that a plugin registered for, in any profile."""
        return tuple(
            registered.event
            for registrations in self._registered.values()
            for registered in registrations
            if registered.plugin == plugin
        )

    def of_interest(self, event: ClusterEvent) -> bool:
        """Return whether any plugin registered for an event."""
        return is_wildcard(event) or any(self._matching(event).values())

    def waits_for(self, queued: QueuedPod) -> set[WaitsFor]:
        """Return the events that a rejected pod waits for, as index keys; depends on the pod and the plugins that
        rejected it.
        """
        subjects = self._subjects.get(queued.pod.spec.scheduler_name)
        if subjects is None or not queued.rejected:
            return {ANYTHING}
        rejected_by = queued.rejected_by
        return _subject_keys(queued.pod, subjects, rejected_by & subjects.keys()) | rejected_by

    def may_wait_for(self, pod: PodInfo) -> set[WaitsFor]:
        """Return the objects that a pod waits for if the plugins reject it that register events by subjects."""
        subjects = self._subjects.get(pod.spec.scheduler_name)
        return {ANYTHING} if subjects is None else _subject_keys(pod, subjects, subjects)

    def helps(self, event: ClusterEvent, old: Any, new: Any) -> Set[WaitsFor] | None:
        """Return the index keys of the pods that an event may help; None for all pods."""
        if is_wildcard(event):
            return None
        plugins, narrowed = self._interested(event)
        if not narrowed:
            return plugins
        found: set[WaitsFor] = set(plugins)
        for plugin, subject in narrowed:
            names = _names_of(subject.of_event, old, new)
            found.update([plugin] if names is None else [(plugin, name) for name in names])
        return found

    def _interested(self, event: ClusterEvent) -> tuple[Set[WaitsFor], Sequence[tuple[str, Subject]]]:
        """Return the plugins whose pods an event may help, and the plugins that narrow them down by a subject."""
        known = self._interest.get(event)
        if known is None:
            matching = [registered for of_profile in self._matching(event).values() for registered in of_profile]
            plugins = {registered.plugin for registered in matching if registered.subject is None}
            narrowed = {(each.plugin, each.subject) for each in matching if each.subject is not None}
            known = self._interest[event] = ({ANYTHING, *plugins}, tuple(narrowed))
        return known

    def asking(self, event: ClusterEvent, old: Any, new: Any) -> "EventHints":
        """Return the hints for one event, each called once per kind of pod."""
        return EventHints(event, old, new, self._matching(event), self._observers)

    def _matching(self, event: ClusterEvent) -> Mapping[str, Sequence[Registered]]:
        """Return the registrations for an event, by profile; cached, since there are few kinds of events."""
        found = self._matches.get(event)
        if found is None:
            found = self._matches[event] = {
                name: [registered for registered in registrations if registered.event.matches(event)]
                for name, registrations in self._registered.items()
            }
        return found


class EventHints:
    """The hints for one event."""

    def __init__(
        self,
        event: ClusterEvent,
        old: Any,
        new: Any,
        matching: Mapping[str, Sequence[Registered]],
        observers: Observers = NOBODY,
    ) -> None:
        self._event = event
        self._old = old
        self._new = new
        self._matching = matching
        self._about = {obj.uid for obj in (old, new) if isinstance(obj, PodInfo)}
        self._answers: dict[tuple[Any, ...], Hint] = {}
        self._observers = observers

    # upstream: backend/queue/scheduling_queue.go, isPodWorthRequeuing (v1.36)
    def strategy(self, queued: QueuedPod) -> QueueingStrategy:
        """Return how the event requeues a rejected pod."""
        if not queued.rejected:
            return QueueingStrategy.AFTER_BACKOFF
        if is_wildcard(self._event):
            about_it = self._new is None or (isinstance(self._new, PodInfo) and self._new.uid == queued.uid)
            return QueueingStrategy.AFTER_BACKOFF if about_it else QueueingStrategy.SKIP
        registrations = self._matching.get(queued.pod.spec.scheduler_name)
        if registrations is None:
            return QueueingStrategy.AFTER_BACKOFF
        found = QueueingStrategy.SKIP
        for registered in registrations:
            pending = registered.plugin in queued.pending_plugins
            if not pending and registered.plugin not in queued.unschedulable_plugins:
                continue
            if self._hint(registered, queued.pod) is Hint.QUEUE_SKIP:
                continue
            if pending:
                return QueueingStrategy.IMMEDIATELY
            if not queued.pending_plugins:
                return QueueingStrategy.AFTER_BACKOFF
            found = QueueingStrategy.AFTER_BACKOFF
        return found

    def _hint(self, registered: Registered, pod: PodInfo) -> Hint:
        if registered.hint is None:
            return Hint.QUEUE
        if pod.uid in self._about or pod.derive(has_claims_of_its_own):
            return self._ask(registered.plugin, registered.hint, pod)
        key = (registered, id(pod.digest), pod.terminating, tuple(sorted(pod.labels.items())))
        answer = self._answers.get(key)
        if answer is None:
            answer = self._answers[key] = self._ask(registered.plugin, registered.hint, pod)
        return answer

    def _ask(self, plugin: str, hint: HintFunction, pod: PodInfo) -> Hint:
        observers = self._observers
        began = observers.clock()
        label = self._event.label
        answer = call_back(checked_hint, "a hint", hint, pod, self._old, self._new)
        seconds = observers.clock() - began
        if isinstance(answer, Hint):
            observers.hint_asked(plugin, label, answer.value, seconds)
            return answer
        observers.hint_asked(plugin, label, "Error", seconds)
        observers.hint_failed(plugin, label, pod, answer.exception)
        # A needless attempt is better than a pod that is never retried.
        return Hint.QUEUE


def _subject_keys(pod: PodInfo, subjects: Mapping[str, Collection[Subject]], plugins: Iterable[str]) -> set[WaitsFor]:
    """Return the objects that a pod waits for according to the subjects of some plugins; ANYTHING if one fails."""
    found: set[WaitsFor] = set()
    for plugin in plugins:
        for subject in subjects[plugin]:
            names = _names_of(subject.of_pod, pod)
            found.update([ANYTHING] if names is None else [(plugin, name) for name in names])
    return found


def _names_of(names: Callable[..., Collection[str] | None], *about: Any) -> set[str] | None:
    """Return the names of a subject; None if it has none or raises an error."""
    found = call_back(checked_subject_names, "a subject", names, *about)
    return None if isinstance(found, Raised) else found


def has_claims_of_its_own(pod: PodInfo) -> bool:
    """Return whether claims are generated for the pod alone, so that an event may help only it of its template."""
    claims, volumes = pod.spec.resource_claims, pod.spec.volumes
    return any(claim.resource_claim_name is None for claim in claims) or any(
        volume.ephemeral is not None for volume in volumes
    )


def is_wildcard(event: ClusterEvent) -> bool:
    """Return whether an event is the wildcard event."""
    return event.resource == Resource.WILDCARD and event.action == Action.ALL


def matches_any(event: ClusterEvent, registered: Iterable[ClusterEvent]) -> bool:
    """Return whether any registration covers an event."""
    return any(registration.matches(event) for registration in registered)
