"""Queueing hints for a pod that hard constraints rejected.

From an event's old and new object to a hint: pods matter if they are, or were, placed in the same namespace and a
constraint's selector matches differently; nodes matter if they have all topology keys.
"""

# upstream: podtopologyspread/plugin.go, isSchedulableAfterPodChange, isSchedulableAfterNodeChange (v1.36)

from collections.abc import Callable, Mapping
from weakref import WeakKeyDictionary

from kubesched.api.labels import InvalidSelectorError
from kubesched.api.nodes import Node
from kubesched.api.selector_sets import SelectorSet
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.plugins.pod_topology_spread.constraints import SpreadConstraint, SpreadKey


class SpreadHints:
    """The hint functions; `key` gives a pod's hard constraints."""

    def __init__(self, key: Callable[[PodInfo], SpreadKey]) -> None:
        self._key = key
        self._sets: WeakKeyDictionary[SpreadKey, SelectorSet] = WeakKeyDictionary()

    def registrations(self) -> tuple[Registration, ...]:
        """Return the events with their hint functions."""
        of_pods = Action.ADD | Action.DELETE | Action.UPDATE_POD_LABEL | Action.UPDATE_POD_TOLERATION
        of_nodes = Action.ADD | Action.DELETE | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_TAINT
        return (
            Registration(ClusterEvent(Resource.POD, of_pods), self.after_pod),
            Registration(ClusterEvent(Resource.NODE, of_nodes), self.after_node),
        )

    def after_pod(self, pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> Hint:
        """Return whether a pod that was added, deleted or changed may help."""
        if any(changed is not None and not _involved(changed, pod) for changed in (new, old)):
            return Hint.QUEUE_SKIP
        key = self._checked_key(pod)
        if old is not None and new is not None:
            return Hint.when(_tolerates_more(pod, old, new, key) or self._selectors(key).differ(old.labels, new.labels))
        changed = new if new is not None else old
        assert changed is not None, "an event has an object"
        return Hint.when(self._selectors(key).any_matches(changed.labels))

    def after_node(self, pod: PodInfo, old: Node | None, new: Node | None) -> Hint:
        """Return whether a node that was added, deleted or changed may help."""
        constraints = self._checked_key(pod).constraints
        before = old is not None and _has_all_keys(old.metadata.labels, constraints)
        after = new is not None and _has_all_keys(new.metadata.labels, constraints)
        if old is None or new is None:
            return Hint.when(before or after)
        if before != after:
            return Hint.QUEUE
        was, now = old.metadata.labels, new.metadata.labels
        moved = any(was.get(c.topology_key, "") != now.get(c.topology_key, "") for c in constraints)
        return Hint.when(after and (moved or old.spec.taints != new.spec.taints))

    def _checked_key(self, pod: PodInfo) -> SpreadKey:
        key = self._key(pod)
        if key.failure:
            raise InvalidSelectorError(key.failure)
        return key

    def _selectors(self, key: SpreadKey) -> SelectorSet:
        """Return the selectors of all constraints; pods of events are matched with them."""
        known = self._sets.get(key)
        if known is None:
            known = self._sets[key] = SelectorSet(constraint.selector for constraint in key.constraints)
        return known


def _involved(changed: PodInfo, pod: PodInfo) -> bool:
    """Return whether a pod is the rejected one, or is placed or nominated in its namespace."""
    if changed.uid == pod.uid:
        return True
    if not changed.spec.node_name and not changed.status.nominated_node_name:
        return False
    return changed.namespace == pod.namespace


def _tolerates_more(pod: PodInfo, old: PodInfo, new: PodInfo, key: SpreadKey) -> bool:
    """Return whether the pod's tolerations changed and a constraint honours taints."""
    changed = pod.uid == new.uid and new.spec.tolerations != old.spec.tolerations
    return changed and any(constraint.honor_taints for constraint in key.constraints)


def _has_all_keys(labels: Mapping[str, str], constraints: tuple[SpreadConstraint, ...]) -> bool:
    return all(constraint.topology_key in labels for constraint in constraints)
