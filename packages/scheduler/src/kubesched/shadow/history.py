"""The followed cluster: a model, its latest changes, and the moments in which a decision may have been made.

From changes in order to a model, and to the model at other moments. A scheduler knows the pods that it assumed before
their bindings are written, and it may not have seen the latest changes by other clients. So the state of its decision
is the watched state with some own writes added or removed, and some latest changes by other clients removed.
"""

from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import combinations
from typing import NamedTuple

from kubesched.api.custom import CustomObject
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.model.cluster_model import ClusterModel, name_of_object
from kubesched.model.group_attempts import GATE
from kubesched.reports.answers import ObjectName
from kubesched.shadow.changes import ClusterChange
from kubesched.shadow.pod_changes import decision_in, fails, has_failed, is_own_write, matters, placed

# arrival times of pods that existed at the beginning, and of pods that do not exist yet
ALWAYS, LAST = (0, 0.0), (1 << 62, 0.0)
# longest time from a decision to its write
LATEST_SECONDS = 10.0
# longest delay of the watch of another kind after the watch of pods
WATCH_SECONDS = 2.0
# limit of kept changes; moments before them can be tried
MOST_KEPT = 2000
# limit of own writes before and after a decision whose order is tried
MOST_REORDERED = 32
# limit of pods of uncertain order that are tried in all combinations
MOST_COMBINED = 6
# limit of latest changes by other clients that the scheduler may not have seen
MOST_UNSEEN = 64

# objects that differ in a moment; None for objects that do not exist
Moment = dict[ObjectName, ApiObject | None]


class AppliedChange(NamedTuple):
    """A change, with the object as reported before, and as in the model, where a pod in PreBind has a node."""

    change: ClusterChange
    before: ApiObject | None
    modelled: ApiObject | None

    @property
    def is_own(self) -> bool:
        """Return whether a scheduler made the change."""
        return is_own_write(self.before, self.change.obj)

    @property
    def is_pods(self) -> bool:
        """Return whether it is a change of a pod."""
        return self.change.name.kind == Pod.__name__


class Moments(NamedTuple):
    """Moments to try, and whether there may be more."""

    tried: Iterator[Moment]
    more: bool


class ClusterHistory:
    """Applies changes to a model, and keeps the latest ones."""

    def __init__(self, model: ClusterModel) -> None:
        self.model = model
        self._applied: deque[AppliedChange] = deque(maxlen=MOST_KEPT)
        # pods in PreBind, which the scheduler already counts on their nodes: UID -> node; and as reported
        self._expected: dict[str, str] = {}
        self._reported: dict[ObjectName, Pod] = {}
        # objects of custom kinds, which the model does not return
        self._custom: dict[ObjectName, CustomObject] = {}
        # pods by UID: the number and the time of the change that created them
        self._arrived: dict[str, tuple[int, float]] = {}

    def begin(self, objects: Iterable[ApiObject]) -> None:
        """Put the objects into the model that exist when the watch begins."""
        for obj in objects:
            if isinstance(obj, Pod) and not obj.spec.node_name:
                # before all later pods
                self._arrived[obj.uid] = ALWAYS
                if obj.status.nominated_node_name and not has_failed(obj):
                    self._expected[obj.uid] = obj.status.nominated_node_name
            self._put(name_of_object(obj), None, obj)

    def known(self, name: ObjectName) -> ApiObject | None:
        """Return an object as last reported."""
        return self._reported.get(name) or self._modelled(name)

    def _modelled(self, name: ObjectName) -> ApiObject | None:
        return self._custom.get(name) or self.model.find(name)

    def expect(self, pod: Pod, node: str) -> None:
        """Put a waiting pod on a node: the scheduler has decided so, and PreBind is under way."""
        self._expected[pod.uid] = node
        self._put(name_of_object(pod), pod, pod)

    def apply(self, change: ClusterChange) -> None:
        """Apply a change to the model."""
        before, modelled, obj = self.known(change.name), self._modelled(change.name), change.obj
        if isinstance(before, Pod) and (obj is None or before.uid != obj.uid):
            self._arrived.pop(before.uid, None)
            self._expected.pop(before.uid, None)
        if isinstance(obj, Pod) and not obj.spec.node_name and not obj.spec.scheduling_gates:
            self._arrived.setdefault(obj.uid, (change.number, change.at))
        self._put(change.name, before, obj)
        if matters(before, obj):
            self._applied.append(AppliedChange(change, before, modelled))

    def _put(self, name: ObjectName, before: ApiObject | None, obj: ApiObject | None) -> None:
        self._reported.pop(name, None)
        if isinstance(obj, Pod) and obj.uid in self._expected:
            node = self._expected[obj.uid]
            if obj.spec.node_name or _nominates_elsewhere(before, obj, node) or fails(before, obj):
                del self._expected[obj.uid]
            else:
                self._reported[name] = obj
                obj = placed(obj, node)
        self._put_object(name, obj)

    def _put_object(self, name: ObjectName, obj: ApiObject | None) -> None:
        """Put an object into the model; remove an object of the same name with another UID."""
        if isinstance(obj, CustomObject):
            self._custom[name] = obj
        elif name in self._custom:
            self.model.cluster.remove(self._custom.pop(name))
        known = self.model.find(name)
        if obj is not None and known is not None and known.uid != obj.uid:
            self.model.set_object(name, None)
        # one malformed object must not end the session
        self.model.set_if_valid(name, obj)

    @contextmanager
    def as_of(self, moment: Moment) -> Iterator[None]:
        """Put the model into the state of a moment for the duration of a block."""
        now = {name: self._modelled(name) for name in moment}
        try:
            for name, obj in moment.items():
                self._put_object(name, obj)
            yield
        finally:
            for name in reversed(now):
                self._put_object(name, now[name])

    # -- moments

    def moments(self, pod: Pod, at: float, ahead: Iterable[ClusterChange]) -> Moments:
        """Return other moments in which the scheduler may have decided a pod, the most likely first.

        `at` is the time of the decision's report. `ahead` has the next changes: bindings and nominations among them may
        have been decided earlier.
        """
        number, since = self._arrived.get(pod.uid, ALWAYS)
        recent = [
            each
            for each in self._applied
            if each.change.at > at - LATEST_SECONDS
            # one watch has all pods: earlier changes of other pods were seen when this one arrived
            and (each.change.number > number or (not each.is_pods and each.change.at > since - WATCH_SECONDS))
        ]
        later = list(self._decided_later(pod, ahead))
        earlier = [each for each in recent if each.is_own and self._is_still(each, pod.uid)]
        more = len(later) > MOST_REORDERED or len(recent) > MOST_UNSEEN
        orders = list(self._orders(pod, earlier[-MOST_REORDERED:], later[:MOST_REORDERED]))
        if has_failed(pod) or self._is_grouped(pod):
            # its place in the queue is unknown
            more |= len(earlier) + len(later) > MOST_COMBINED
        unseen = _unseen(recent[-MOST_UNSEEN:], keeps_own=not has_failed(pod))
        # the first order is the most likely
        return Moments(_different(iter(orders), ({**each, **orders[0]} for each in unseen)), more)

    def _decided_later(self, pod: Pod, ahead: Iterable[ClusterChange]) -> Iterator[AppliedChange]:
        """Yield bindings and nominations of currently waiting pods that are written after the pod's."""
        latest: dict[ObjectName, ApiObject | None] = {}
        for change in ahead:
            known, obj = latest.get(change.name, self.known(change.name)), change.obj
            latest[change.name] = obj
            if isinstance(obj, Pod) and isinstance(known, Pod) and obj.uid != pod.uid and is_own_write(known, obj):
                decision = decision_in(known, obj)
                if decision is not None and decision.node:
                    change = change._replace(obj=placed(obj, decision.node))
                yield AppliedChange(change, known, known)

    def _is_still(self, applied: AppliedChange, uid: str) -> bool:
        """Return whether a binding or nomination is current, and of another pod."""
        now = self.model.find(applied.change.name)
        return isinstance(now, Pod) and applied.change.obj is not None and now.uid == applied.change.obj.uid != uid

    def _orders(self, pod: Pod, earlier: Sequence[AppliedChange], later: Sequence[AppliedChange]) -> Iterator[Moment]:
        """Yield moments that differ only in the order of the scheduler's own writes.

        The queue orders pods by priority, then by arrival, so the order of two decisions is usually certain. If it is
        not (one pod was tried before, or arrived later with a higher priority), both orders are tried.
        """
        undone = [(self._comes_before(each, pod), each.change.name, each.modelled) for each in reversed(earlier)]
        taken = [(self._comes_before(each, pod), each.change.name, each.change.obj) for each in later]
        certain: Moment = {name: obj for before, name, obj in undone if before is False}
        certain |= {name: obj for before, name, obj in taken if before is True}
        yield certain
        for group in (taken, undone):
            open_ones = [(name, obj) for before, name, obj in group if before is None]
            yield from ({**certain, **dict(open_ones[: count + 1])} for count in range(len(open_ones)))
            yield from ({**certain, name: obj} for name, obj in open_ones)
        both = [(name, obj) for before, name, obj in (*undone, *taken) if before is None]
        sizes = range(2, len(both) + 1) if len(both) <= MOST_COMBINED else ()
        yield from ({**certain, **dict(some)} for size in sizes for some in combinations(both, size))

    def _is_grouped(self, pod: Pod) -> bool:
        """Return whether a pod is decided with its pod group, in an unknown order."""
        return pod.spec.scheduling_group is not None and self.model.loaded.gates.enabled(GATE)

    def _comes_before(self, other: AppliedChange, pod: Pod) -> bool | None:
        """Return whether another pod was decided before this one; None if that is not certain."""
        waiting = other.before
        assert isinstance(waiting, Pod)
        if has_failed(waiting) or has_failed(pod) or self._is_grouped(waiting) or self._is_grouped(pod):
            return None
        mine, its = (self._arrived.get(each.uid, LAST)[0] for each in (pod, waiting))
        if its < mine:
            return True if waiting.priority >= pod.priority else None
        return False if waiting.priority <= pod.priority else None


def _nominates_elsewhere(before: ApiObject | None, after: Pod, node: str) -> bool:
    had = before.status.nominated_node_name if isinstance(before, Pod) else ""
    return after.status.nominated_node_name not in (had, node)


def _different(*several: Iterator[Moment]) -> Iterator[Moment]:
    """Yield each moment once, and skip the present one."""
    seen: set[frozenset[tuple[ObjectName, int]]] = set()
    for moments in several:
        for moment in moments:
            key = frozenset((name, id(obj)) for name, obj in moment.items())
            if moment and key not in seen:
                seen.add(key)
                yield moment


def _unseen(recent: Sequence[AppliedChange], *, keeps_own: bool) -> Iterator[Moment]:
    """Yield moments in which the latest changes were not seen yet; with `keeps_own` only changes by other clients."""
    moment: Moment = {}
    kept: set[ObjectName] = set()
    for applied in reversed(recent):
        name = applied.change.name
        if keeps_own and applied.is_own:
            kept.add(name)
        if name not in kept:
            moment = {**moment, name: applied.modelled}
            yield moment
