"""Is an event worth another attempt? What plugins registered for, asked once per kind of pod.

From an event and a rejected pod to a strategy: stay, try again after the backoff, or at once. Hints are asked once per
(event, plugin, template and labels), not per pod, unless claims are made for each pod of the template; one that raises
counts as "try again".
"""

from collections.abc import Iterable, Mapping, Sequence
from enum import Enum
from typing import Any, NamedTuple

from kubesched.cluster.pod_info import PodInfo
from kubesched.framework.answers import checked_hint
from kubesched.framework.events import (
    Action,
    ClusterEvent,
    Hint,
    HintFunction,
    Resource,
    registrations_for_extenders,
)
from kubesched.framework.hooks import is_interrupt
from kubesched.framework.observer import Observers
from kubesched.framework.profile import Profile, registered_events
from kubesched.queue.queued_pod import QueuedPod

WILDCARD = ClusterEvent(Resource.WILDCARD, Action.ALL)
TAINT = Action.UPDATE_NODE_TAINT
LABEL = Action.UPDATE_NODE_LABEL


class Strategy(Enum):
    """What an event does for a pod."""

    SKIP = "skip"
    AFTER_BACKOFF = "after backoff"
    IMMEDIATELY = "immediately"


class Registered(NamedTuple):
    """A plugin's registration."""

    event: ClusterEvent
    plugin: str
    hint: HintFunction | None


# Under this name the queue remembers that an extender rejected a pod.
EXTENDER = "Extender"


class Asked(NamedTuple):
    """Who is asked what helps a pod: `extenders`, if there are any, groups of pods, and plugins' `hints`.

    Without hints (the gate SchedulerQueueingHints) whatever a plugin registered for helps the pods it rejected.
    """

    extenders: bool = False
    pod_groups: bool = False
    hints: bool = True


PLUGINS_ALONE = Asked()


def registrations_of(profile: Profile, asked: Asked) -> tuple[Registered, ...]:
    """Return what the plugins of a profile registered for, and extenders, which cannot say what helps them.

    Who registers for added nodes and not for taints is tried again whenever taints change, whatever its hint says;
    without hints whenever labels change, too.
    """
    # upstream: scheduler.go, buildQueueingHintMap (v1.36)
    found = []
    if asked.extenders:
        for registration in registrations_for_extenders(pod_groups=asked.pod_groups):
            found.append(Registered(registration.event, EXTENDER, None))
    for plugin in profile.plugins.values():
        registrations = registered_events(plugin)
        found += [Registered(each.event, plugin.name, each.hint if asked.hints else None) for each in registrations]
        of_nodes = [r.event.action for r in registrations if r.event.resource == Resource.NODE]
        if any(action & Action.ADD for action in of_nodes):
            for action in (TAINT,) if asked.hints else (TAINT, LABEL):
                if not any(registered & action for registered in of_nodes):
                    found.append(Registered(ClusterEvent(Resource.NODE, action), plugin.name, None))
    return tuple(found)


class Requeueing:
    """Asks the hints of all profiles, if hints are asked."""

    def __init__(
        self, profiles: Mapping[str, Profile], asked: Asked = PLUGINS_ALONE, observers: Observers | None = None
    ) -> None:
        self.asks_hints = asked.hints
        self._observers = observers
        self._registered = {name: registrations_of(profile, asked) for name, profile in profiles.items()}
        self._matches: dict[ClusterEvent, dict[str, list[Registered]]] = {}

    def events_of(self, plugin: str) -> tuple[ClusterEvent, ...]:
        """Return what a plugin registered for, in any profile."""
        return tuple(
            registered.event
            for registrations in self._registered.values()
            for registered in registrations
            if registered.plugin == plugin
        )

    def of_interest(self, event: ClusterEvent) -> bool:
        """Return whether any plugin registered for an event."""
        return is_wildcard(event) or any(self._matching(event).values())

    def asking(self, event: ClusterEvent, old: Any, new: Any) -> "EventHints":
        """Return the hints about one event, each asked once per kind of pod."""
        return EventHints(event, old, new, self._matching(event), self._observers)

    def _matching(self, event: ClusterEvent) -> Mapping[str, Sequence[Registered]]:
        """Return who registered for an event, by profile; there are few kinds of events."""
        found = self._matches.get(event)
        if found is None:
            found = self._matches[event] = {
                name: [registered for registered in registrations if registered.event.matches(event)]
                for name, registrations in self._registered.items()
            }
        return found


class EventHints:
    """The hints about one event."""

    def __init__(
        self,
        event: ClusterEvent,
        old: Any,
        new: Any,
        matching: Mapping[str, Sequence[Registered]],
        observers: Observers | None = None,
    ) -> None:
        self._event = event
        self._old = old
        self._new = new
        self._matching = matching
        self._about = {obj.uid for obj in (old, new) if isinstance(obj, PodInfo)}
        self._answers: dict[tuple[Any, ...], Hint] = {}
        self._observers = observers

    # upstream: backend/queue/scheduling_queue.go, isPodWorthRequeuing (v1.36)
    def strategy(self, queued: QueuedPod) -> Strategy:
        """Return what the event does for a pod that was rejected."""
        if not queued.rejected:
            return Strategy.AFTER_BACKOFF
        if is_wildcard(self._event):
            about_it = self._new is None or (isinstance(self._new, PodInfo) and self._new.uid == queued.uid)
            return Strategy.AFTER_BACKOFF if about_it else Strategy.SKIP
        registrations = self._matching.get(queued.pod.spec.scheduler_name)
        if registrations is None:
            return Strategy.AFTER_BACKOFF
        found = Strategy.SKIP
        for registered in registrations:
            pending = registered.plugin in queued.pending_plugins
            if not pending and registered.plugin not in queued.unschedulable_plugins:
                continue
            if self._hint(registered, queued.pod) is Hint.QUEUE_SKIP:
                continue
            if pending:
                return Strategy.IMMEDIATELY
            if not queued.pending_plugins:
                return Strategy.AFTER_BACKOFF
            found = Strategy.AFTER_BACKOFF
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
        began = observers.clock() if observers is not None else 0.0
        failure: BaseException | None = None
        try:
            answer = checked_hint(hint(pod, self._old, self._new), "a hint")
        except BaseException as raised:
            if is_interrupt(raised):
                raise
            # An attempt in vain costs less than a pod that is forgotten.
            answer, failure = Hint.QUEUE, raised
        if observers is not None:
            label = self._event.label
            said = answer.value if failure is None else "Error"
            observers.hint_asked(plugin, label, said, observers.clock() - began)
            if failure is not None:
                observers.hint_failed(plugin, label, pod, failure)
        return answer


def has_claims_of_its_own(pod: PodInfo) -> bool:
    """Return whether claims are made for the pod alone, so that an event may help it and no other of its template."""
    claims, volumes = pod.spec.resource_claims, pod.spec.volumes
    return any(claim.resource_claim_name is None for claim in claims) or any(
        volume.ephemeral is not None for volume in volumes
    )


def is_wildcard(event: ClusterEvent) -> bool:
    """Return whether an event stands for anything."""
    return event.resource == Resource.WILDCARD and event.action == Action.ALL


def matches_any(event: ClusterEvent, registered: Iterable[ClusterEvent]) -> bool:
    """Return whether any registration covers an event."""
    return any(registration.matches(event) for registration in registered)
