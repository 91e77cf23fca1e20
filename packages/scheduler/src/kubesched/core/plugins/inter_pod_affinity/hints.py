"""Queueing hints for a pod that InterPodAffinity rejected.

From an event's objects to a hint. Terms are matched without looking up namespaces, as in the reference. A malformed
list of terms raises an error, which counts as Queue.
"""

# upstream: interpodaffinity/plugin.go, isSchedulableAfterPodChange and isSchedulableAfterNodeChange (v1.36)

from collections.abc import Mapping

from kubesched.api.labels import InvalidSelectorError
from kubesched.api.nodes import Node
from kubesched.core.cluster.affinity_terms import AffinityTerm, matches_all
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.events import Hint


def after_pod_change(pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> Hint:
    """Return whether a pod that was added, deleted or changed its labels may help; the pod's own labels may, too."""
    if old is not None and new is not None and new.uid == pod.uid:
        return Hint.QUEUE
    if any(other is not None and _is_nowhere(other) for other in (old, new)):
        return Hint.QUEUE_SKIP
    near, apart = _required_affinity(pod), _required_anti_affinity(pod)
    if new is not None and old is not None:
        helps = (not _matches(near, old) and _matches(near, new)) or (_matches(apart, old) and not _matches(apart, new))
    elif new is not None:
        helps = _matches(near, new)
    else:
        assert old is not None, "an event has an object"
        helps = _matches(apart, old) or _matches(_required_anti_affinity(old), pod)
    return Hint.when(helps)


def after_node_change(pod: PodInfo, old: Node | None, new: Node) -> Hint:
    """Return whether a node that was added or changed its labels is in another domain of one of the pod's terms."""
    labels = new.metadata.labels
    before: Mapping[str, str] = {} if old is None else old.metadata.labels
    for term in _required_affinity(pod):
        value = labels.get(term.topology_key)
        if value is not None and before.get(term.topology_key) != value:
            return Hint.QUEUE
    for term in _required_anti_affinity(pod):
        value = before.get(term.topology_key)
        if old is None or (value is not None and labels.get(term.topology_key) != value):
            return Hint.QUEUE
    return Hint.QUEUE_SKIP


def _is_nowhere(pod: PodInfo) -> bool:
    """Return whether the pod is on no node and nominated to none."""
    return not pod.spec.node_name and not pod.status.nominated_node_name


def _matches(terms: tuple[AffinityTerm, ...], pod: PodInfo) -> bool:
    return matches_all(terms, pod.namespace, pod.labels)


def _required_affinity(pod: PodInfo) -> tuple[AffinityTerm, ...]:
    _check(pod, "requiredAffinityTerms: ")
    return pod.affinity.required_affinity


def _required_anti_affinity(pod: PodInfo) -> tuple[AffinityTerm, ...]:
    _check(pod, "requiredAntiAffinityTerms: ")
    return pod.affinity.required_anti_affinity


def _check(pod: PodInfo, list_name: str) -> None:
    for problem in pod.affinity.errors:
        if problem.startswith(list_name):
            raise InvalidSelectorError(problem.removeprefix(list_name))
