"""The status of PodDisruptionBudgets: expected pods, healthy pods, allowed disruptions.

From pods, and the controllers that own them, to counts. The pods of a budget are indexed, so that the cost of a
pod's event does not grow with their number.
"""

# upstream: pkg/controller/disruption/disruption.go (v1.36)

from collections import Counter
from collections.abc import Iterable, Iterator
from datetime import timedelta

import msgspec

from kubesched.api.labels import NOTHING, InvalidSelectorError, Selector, from_label_selector
from kubesched.api.meta import LabelSelector
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import PODS
from kubesched_controlplane.api.times import moment
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.controllers.framework.views import ObjectMeta
from kubesched_controlplane.kinds.workload.templates import share_of
from kubesched_controlplane.storage.store import DELETED, Change, Changed, Stored

BUDGETS = "poddisruptionbudgets.policy"
# a pod whose eviction was allowed counts as disrupted for so long
_GONE_SECONDS = 120
# (API group, kind) -> prefix
_OWNERS = {
    ("", "ReplicationController"): "replicationcontrollers",
    ("apps", "ReplicaSet"): "replicasets.apps",
    ("apps", "StatefulSet"): "statefulsets.apps",
    ("apps", "Deployment"): "deployments.apps",
}


class _Condition(msgspec.Struct, frozen=True, gc=False):
    type: str = ""
    status: str = ""


class _Status(msgspec.Struct, frozen=True):
    conditions: tuple[_Condition, ...] = ()


class _Pod(msgspec.Struct, frozen=True):
    """The fields of a pod that budgets read."""

    metadata: ObjectMeta
    status: _Status = _Status()


# API version, kind, name, UID
_Reference = tuple[str, str, str, str]


class _Member(msgspec.Struct, frozen=True, gc=False):
    """A pod that a budget selects."""

    ready: bool
    terminating: bool
    owner: _Reference | None

    @property
    def healthy(self) -> bool:
        """Return whether the pod is ready and not terminating."""
        return self.ready and not self.terminating


class _Watched:
    """The pods that a budget selects, by name, with their number of healthy pods and their owners."""

    def __init__(self, selector: Selector) -> None:
        self.selector = selector
        self.members: dict[str, _Member] = {}
        self.healthy = 0
        self.owners: Counter[_Reference] = Counter()

    def put(self, name: str, member: _Member | None) -> bool:
        """Store the state of a pod, None if it is not selected any more; return whether the state changed."""
        before = self.members.pop(name, None)
        if member is not None:
            self.members[name] = member
        if member == before:
            return False
        for each, number in ((before, -1), (member, 1)):
            if each is None:
                continue
            self.healthy += number * each.healthy
            if each.owner is not None:
                self.owners[each.owner] += number
                if not self.owners[each.owner]:
                    del self.owners[each.owner]
        return True


_decode_pod = msgspec.json.Decoder(_Pod).decode


class DisruptionController(Controller):
    """Keeps the status of PodDisruptionBudgets."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._watched: dict[str, dict[str, _Watched]] = {}

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {BUDGETS: self._budget_changed, PODS: self._pod_changed, **dict.fromkeys(_OWNERS.values(), self._scaled)}

    def _budget_changed(self, change: Change) -> None:
        namespace, name = change.new.namespace, change.new.name
        budgets = self._watched.setdefault(namespace, {})
        if change.type == DELETED:
            budgets.pop(name, None)
            if not budgets:
                del self._watched[namespace]
            self.workqueue.forget((namespace, name))
            return
        selector = _selector_of(change.new.document())
        known = budgets.get(name)
        if known is None or known.selector != selector:
            watched = budgets[name] = _Watched(selector)
            for stored in self.context.store.set_of(PODS).in_order(namespace):
                if selector.matches(stored.labels):
                    watched.put(stored.name, _member(stored))
        self.workqueue.add((namespace, name))

    def _pod_changed(self, change: Change) -> None:
        pod = change.new
        member: _Member | None = None
        for name, watched in self._watched.get(pod.namespace, {}).items():
            selected = change.type != DELETED and watched.selector.matches(pod.labels)
            if selected:
                member = member or _member(pod)
            if watched.put(pod.name, member if selected else None):
                self.workqueue.add((pod.namespace, name))

    def _scaled(self, change: Change) -> None:
        for name in self._watched.get(change.new.namespace, ()):
            self.workqueue.add((change.new.namespace, name))

    def reconcile(self, key: Key) -> None:
        """Bring the status of a budget up to date."""
        budget = self.context.find(BUDGETS, *key)
        watched = self._watched.get(key[0], {}).get(key[1])
        if budget is None or watched is None:
            return
        status = budget.get("status") or {}
        expected, desired = self._goal(budget["spec"], key[0], watched)
        disrupted = dict(self._still_terminating(key, status, watched.members))
        healthy = watched.healthy - sum(watched.members[name].healthy for name in disrupted)
        allowed = max(0, healthy - desired) if expected > 0 else 0
        generation = budget["metadata"].get("generation", 0)
        budget["status"] = {
            "conditions": self._conditions(status, allowed, generation),
            "currentHealthy": healthy,
            "desiredHealthy": desired,
            "disruptionsAllowed": allowed,
            "expectedPods": expected,
            "observedGeneration": generation,
            **({"disruptedPods": disrupted} if disrupted else {}),
        }
        if budget["status"] != status:
            self.context.update(BUDGETS, budget, "status")

    def _goal(self, spec: Document, namespace: str, watched: _Watched) -> tuple[int, int]:
        """Return the number of expected pods, and how many of them should be healthy."""
        least, most_gone = spec.get("minAvailable"), spec.get("maxUnavailable")
        if most_gone is not None:
            expected = self._scale(namespace, watched.owners)
            return expected, max(0, expected - share_of(most_gone, expected, round_up=True))
        if isinstance(least, int):
            return len(watched.members), least
        if least is not None:
            expected = self._scale(namespace, watched.owners)
            return expected, share_of(least, expected, round_up=True)
        return 0, 0

    def _scale(self, namespace: str, owners: Iterable[_Reference]) -> int:
        """Return the sum of the replicas of the owners, each counted once."""
        wanted: dict[str, int] = {}
        for reference in owners:
            owner = self._owner(namespace, *reference)
            # a deployment counts in place of its replica sets, between which a rollout moves the pods
            for each in () if owner is None else owner["metadata"].get("ownerReferences") or ():
                if each.get("controller") and each.get("kind") == "Deployment":
                    owner = self._owner(namespace, each["apiVersion"], each["kind"], each["name"], each["uid"]) or owner
            if owner is not None:
                wanted[owner["metadata"]["uid"]] = owner["spec"].get("replicas") or 0
        return sum(wanted.values())

    def _owner(self, namespace: str, version: str, kind: str, name: str, uid: str) -> Document | None:
        prefix = _OWNERS.get((version.rpartition("/")[0], kind))
        owner = self.context.find(prefix, namespace, name) if prefix else None
        return owner if owner is not None and owner["metadata"]["uid"] == uid else None

    def _still_terminating(self, key: Key, status: Document, members: dict[str, _Member]) -> Iterator[tuple[str, str]]:
        """Yield the pods, and the time of their allowed eviction, that are not terminating yet; requeue the budget."""
        now = self.context.now()
        for name, since in (status.get("disruptedPods") or {}).items():
            pod = members.get(name)
            left = (moment(since) + timedelta(seconds=_GONE_SECONDS) - now).total_seconds()
            if pod is not None and not pod.terminating and left >= 0:
                self.workqueue.add_after(key, left + 1)
                yield name, since

    def _conditions(self, status: Document, allowed: int, generation: int) -> list[Document]:
        state, reason = ("True", "SufficientPods") if allowed else ("False", "InsufficientPods")
        others = [each for each in status.get("conditions") or () if each.get("type") != "DisruptionAllowed"]
        old: Document = next(
            (each for each in status.get("conditions") or () if each.get("type") == "DisruptionAllowed"), {}
        )
        since = old.get("lastTransitionTime") if old.get("status") == state else self.context.time()
        condition = {"type": "DisruptionAllowed", "status": state, "reason": reason, "message": ""}
        return [*others, {**condition, "lastTransitionTime": since, "observedGeneration": generation}]


def _selector_of(budget: Document) -> Selector:
    selector = (budget.get("spec") or {}).get("selector")
    try:
        return from_label_selector(None if selector is None else msgspec.convert(selector, LabelSelector))
    except InvalidSelectorError:
        return NOTHING


def _member(stored: Stored) -> _Member:
    pod = _decode_pod(stored.body)
    owner = next((each for each in pod.metadata.owner_references if each.controller), None)
    return _Member(
        any(condition.type == "Ready" and condition.status == "True" for condition in pod.status.conditions),
        pod.metadata.deletion_timestamp is not None,
        None if owner is None else (owner.api_version, owner.kind, owner.name, owner.uid),
    )
