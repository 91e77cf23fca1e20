"""The changes of pods between two moments of a running cluster.

From the pods before and after to changes. A pod that its controller replaces by another one, from the same template,
counts as one pod that moved.
"""

from collections import Counter
from collections.abc import Callable, Mapping
from typing import NamedTuple

from kubesched.core.cluster.pod_info import PodInfo
from kubesched_answers.whatif.whatif_answer import (
    BECOMES_BOUND,
    BECOMES_PENDING,
    DELETED,
    LOST,
    MOVES,
    NEW,
    NEW_PENDING,
    REPLACED,
    STAYS,
    STAYS_PENDING,
    PodChange,
)

BARE = "it has no controller and does not come back"
_REVISIONS = ("pod-template-hash", "controller-revision-hash")
Pods = Mapping[str, PodInfo]


class PodFacts(NamedTuple):
    """Facts about pods besides their objects; messages, preemptors and reasons are by UID."""

    owner: Callable[[PodInfo], str | None]
    # why a pod must not be scheduled, an empty text if it may
    refusal: Callable[[PodInfo], str]
    messages: Mapping[str, str]
    preempted_by: Mapping[str, str]
    # why operations deleted pods
    reasons: Mapping[str, str]


def changes_between(before: Pods, after: Pods, facts: PodFacts) -> tuple[list[PodChange], Counter[str]]:
    """Return the pods that did not stay in place, by name, and the counts of all changes."""
    replacements = _replacements(before, after)
    replacing = {new: old for old, new in replacements.items()}
    found: list[PodChange] = []
    counts: Counter[str] = Counter()
    for name in sorted({*before, *after}):
        old = before.get(name)
        if old is None and name in replacing:
            continue
        new = after.get(replacements.get(name, name))
        preemptor = facts.preempted_by.get(old.uid) if old is not None else None
        change = _change(name, old, new, facts, replacing.get(preemptor or "", preemptor))
        counts[change.change] += 1
        if change.change != STAYS:
            found.append(change)
    return found, counts


def _replacements(before: Pods, after: Pods) -> dict[str, str]:
    """Return the names of the pods that controllers created as replacements, by the names of the old pods."""
    gone: dict[object, list[PodInfo]] = {}
    came: dict[object, list[PodInfo]] = {}
    for name, pod in before.items():
        other = after.get(name)
        if other is None or other.uid != pod.uid:
            gone.setdefault(_kind(pod), []).append(pod)
    for name, pod in after.items():
        other = before.get(name)
        if other is None or other.uid != pod.uid:
            came.setdefault(_kind(pod), []).append(pod)
    found: dict[str, str] = {}
    for kind, left in gone.items():
        new = {pod.full_name: pod for pod in sorted(came.get(kind, ()), key=_bound_first)}
        # pods of StatefulSets have the name of the former one
        for pod in left:
            if new.pop(pod.full_name, None) is not None:
                found[pod.full_name] = pod.full_name
        rest = [pod for pod in sorted(left, key=_bound_first) if pod.full_name not in found]
        if _has_controller(kind):
            found.update((pod.full_name, name) for pod, name in zip(rest, new, strict=False))
    return found


def _has_controller(kind: object) -> bool:
    """Return whether pods of a kind have a controller, which replaces them."""
    return isinstance(kind, tuple) and bool(kind[1])


def _kind(pod: PodInfo) -> object:
    owner = pod.metadata.controller
    revision = next((pod.labels[label] for label in _REVISIONS if label in pod.labels), "")
    return pod.namespace, owner.uid if owner is not None else "", revision


def _bound_first(pod: PodInfo) -> tuple[bool, str]:
    return not pod.spec.node_name, pod.full_name


def _change(name: str, old: PodInfo | None, new: PodInfo | None, facts: PodFacts, preemptor: str | None) -> PodChange:
    shown = new or old
    assert shown is not None, "the pod was or is there"
    was = old.spec.node_name if old is not None else ""
    now = new.spec.node_name if new is not None else ""
    refusal = facts.refusal(new) if new is not None and not now else ""
    message = None if new is None or now else refusal or facts.messages.get(new.uid)
    is_same = old is not None and new is not None and (old.uid == new.uid or _kind(old) == _kind(new))
    if new is None:
        assert old is not None
        kind, message = _gone(old, facts)
    elif not is_same:
        kind = NEW if now else NEW_PENDING
    elif now:
        assert old is not None
        kind = (STAYS if old.uid == new.uid else REPLACED) if now == was else MOVES if was else BECOMES_BOUND
    else:
        kind = BECOMES_PENDING if was else STAYS_PENDING
    return PodChange(
        name,
        kind,
        facts.owner(shown),
        was or None,
        now or None,
        message or None,
        preemptor,
        True if refusal else None,
        new.full_name if new is not None and new.full_name != name else None,
    )


def _gone(pod: PodInfo, facts: PodFacts) -> tuple[str, str]:
    why = facts.reasons.get(pod.uid)
    if why is None and pod.metadata.controller is None and not pod.terminating:
        return LOST, BARE
    return DELETED, why or ("it is being deleted" if pod.terminating else "")
