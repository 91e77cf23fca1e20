"""The cluster as it is followed: a model, what has changed lately, and the moments a decision may have been made in.

From changes in order to a model; and to the model as of other moments. A scheduler knows pods that it assumed before
their bindings are written, and it may not have seen the latest changes of others: so the state that it decided in is
the watched one with some of its own writes added or not yet made, and some latest changes of others not yet made.
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

# when pods came that were there at the beginning, and pods that have not come
ALWAYS, LAST = (0, 0.0), (1 << 62, 0.0)
# a decision is written so long after it was made, at most
LATEST_SECONDS = 10.0
# the watch of another kind may be so much later than that of pods
WATCH_SECONDS = 2.0
# changes that are kept, so that moments before them can be tried
MOST_KEPT = 2000
# own writes before and after a decision whose order is tried
MOST_REORDERED = 32
# pods whose order with a pod is not certain: so many are tried in all combinations
MOST_COMBINED = 6
# latest changes of others that the scheduler may not have seen
MOST_UNSEEN = 64

# objects that are others in a moment; None where there is none
Moment = dict[ObjectName, ApiObject | None]


class AppliedChange(NamedTuple):
    """A change, with the object as it was reported before, and as it was in the model: a pod in PreBind has a node."""

    change: ClusterChange
    before: ApiObject | None
    modelled: ApiObject | None

    @property
    def is_own(self) -> bool:
        """Return whether it is a write of a scheduler."""
        return is_own_write(self.before, self.change.obj)

    @property
    def is_pods(self) -> bool:
        """Return whether it is a change of a pod."""
        return self.change.name.kind == Pod.__name__


class Moments(NamedTuple):
    """Moments to try, and whether there may be more than these."""

    tried: Iterator[Moment]
    more: bool


class ClusterHistory:
    """Applies changes to a model, and keeps the last ones."""

    def __init__(self, model: ClusterModel) -> None:
        self.model = model
        self._applied: deque[AppliedChange] = deque(maxlen=MOST_KEPT)
        # pods in PreBind, which the scheduler has on their nodes already: UID -> node; and as they are reported
        self._expected: dict[str, str] = {}
        self._reported: dict[ObjectName, Pod] = {}
        # objects of custom kinds, which the model does not give back
        self._custom: dict[ObjectName, CustomObject] = {}
        # pods by UID: the number of the change with which they came, and when
        self._arrived: dict[str, tuple[int, float]] = {}

    def begin(self, objects: Iterable[ApiObject]) -> None:
        """Put the objects into the model that are there when the watch begins."""
        for obj in objects:
            if isinstance(obj, Pod) and not obj.spec.node_name:
                # before all that come
                self._arrived[obj.uid] = ALWAYS
                if obj.status.nominated_node_name and not has_failed(obj):
                    self._expected[obj.uid] = obj.status.nominated_node_name
            self._put(name_of_object(obj), None, obj)

    def known(self, name: ObjectName) -> ApiObject | None:
        """Return an object as it was last reported."""
        return self._reported.get(name) or self._modelled(name)

    def _modelled(self, name: ObjectName) -> ApiObject | None:
        return self._custom.get(name) or self.model.find(name)

    def expect(self, pod: Pod, node: str) -> None:
        """Have a waiting pod on a node: the scheduler has decided so, and PreBind is under way."""
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
        self._become(name, obj)

    def _become(self, name: ObjectName, obj: ApiObject | None) -> None:
        """Have an object in the model; one of the same name with another UID leaves it."""
        if isinstance(obj, CustomObject):
            self._custom[name] = obj
        elif name in self._custom:
            self.model.cluster.remove(self._custom.pop(name))
        known = self.model.find(name)
        if obj is not None and known is not None and known.uid != obj.uid:
            self.model.become(name, None)
        # one object that cannot be understood must not end the session
        self.model.take(name, obj)

    @contextmanager
    def as_of(self, moment: Moment) -> Iterator[None]:
        """Have the model as it was in a moment, for a while."""
        now = {name: self._modelled(name) for name in moment}
        try:
            for name, obj in moment.items():
                self._become(name, obj)
            yield
        finally:
            for name in reversed(now):
                self._become(name, now[name])

    # -- moments

    def moments(self, pod: Pod, at: float, ahead: Iterable[ClusterChange]) -> Moments:
        """Return other moments in which the scheduler may have decided a pod, the likeliest first.

        `at` is when the decision was reported; `ahead` are the changes that come next: bindings and nominations among
        them may have been decided before.
        """
        number, since = self._arrived.get(pod.uid, ALWAYS)
        recent = [
            each
            for each in self._applied
            if each.change.at > at - LATEST_SECONDS
            # one watch has all pods: what became of others before this one came was seen
            and (each.change.number > number or (not each.is_pods and each.change.at > since - WATCH_SECONDS))
        ]
        later = list(self._decided_later(pod, ahead))
        earlier = [each for each in recent if each.is_own and self._is_still(each, pod.uid)]
        more = len(later) > MOST_REORDERED or len(recent) > MOST_UNSEEN
        orders = list(self._orders(pod, earlier[-MOST_REORDERED:], later[:MOST_REORDERED]))
        if has_failed(pod) or self._is_grouped(pod):
            # its place in the queue is not known at all
            more |= len(earlier) + len(later) > MOST_COMBINED
        unseen = _unseen(recent[-MOST_UNSEEN:], keeps_own=not has_failed(pod))
        # the first order is the likeliest
        return Moments(_different(iter(orders), ({**each, **orders[0]} for each in unseen)), more)

    def _decided_later(self, pod: Pod, ahead: Iterable[ClusterChange]) -> Iterator[AppliedChange]:
        """Yield bindings and nominations that are written after the pod's, of pods that wait now."""
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
        """Return whether a binding or nomination counts, and is another pod's."""
        now = self.model.find(applied.change.name)
        return isinstance(now, Pod) and applied.change.obj is not None and now.uid == applied.change.obj.uid != uid

    def _orders(self, pod: Pod, earlier: Sequence[AppliedChange], later: Sequence[AppliedChange]) -> Iterator[Moment]:
        """Yield moments that differ in the order of the scheduler's own writes alone.

        The queue orders pods by priority, then by arrival: most often it is certain which of two was decided first.
        Where it is not (one was tried before, or came later with a higher priority), both orders are tried.
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
        """Return whether a pod is decided with its pod group, in an order that is not known."""
        return pod.spec.scheduling_group is not None and self.model.loaded.gates.enabled(GATE)

    def _comes_before(self, other: AppliedChange, pod: Pod) -> bool | None:
        """Return whether another pod was decided before one; None if that is not certain."""
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
    """Yield each moment once, and none that is the present."""
    seen: set[frozenset[tuple[ObjectName, int]]] = set()
    for moments in several:
        for moment in moments:
            key = frozenset((name, id(obj)) for name, obj in moment.items())
            if moment and key not in seen:
                seen.add(key)
                yield moment


def _unseen(recent: Sequence[AppliedChange], *, keeps_own: bool) -> Iterator[Moment]:
    """Yield moments in which the latest changes were not seen yet; with `keeps_own` those of others alone."""
    moment: Moment = {}
    kept: set[ObjectName] = set()
    for applied in reversed(recent):
        name = applied.change.name
        if keeps_own and applied.is_own:
            kept.add(name)
        if name not in kept:
            moment = {**moment, name: applied.modelled}
            yield moment
