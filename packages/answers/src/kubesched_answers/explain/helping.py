"""The number of pods that a remedy helps.

From a remedy that was found for one pod, and pods with the same cause, to the number of them that have a place with
it. Its changes of its own pod are applied to each pod with the same value there; all of them are placed one after the
other. With very many kinds of pods, only some are tried.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Final, NamedTuple

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.pods import Pod
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import ClusterModel, changed, name_of_object
from kubesched.model.group_attempts import is_in_group
from kubesched.reports.answers import ObjectChange
from kubesched_answers.explain.pending_kinds import PodKind, kinds_of
from kubesched_answers.placing import Placer
from kubesched_answers.remedies.remedy import Remedy

# each kind takes an evaluation of all nodes
MOST_KINDS: Final = 200


class Helped(NamedTuple):
    """The number of pods that have a place with a remedy, and the number of tried pods."""

    pods: int
    tried: int


def pods_helped(
    model: ClusterModel, remedy: Remedy, found_for: PodInfo, pods: Sequence[PodInfo], most_kinds: int = MOST_KINDS
) -> Helped:
    """Return how many of some pods have a place with a remedy, tried in order; the model is unchanged at the end."""
    kinds = kinds_of(pods)[:most_kinds]
    if is_in_group(model, found_for):
        return _groups_helped(model, remedy, kinds)
    own = name_of_object(found_for.pod)
    of_pod = [change for change in remedy.changes if change.object == own]
    others = [change for change in remedy.changes if change.object != own]
    placed = 0
    with model.fork(others):
        placer = Placer(model)
        try:
            for kind in kinds:
                placed += _placed_of(model, placer, kind, _Changes(found_for.pod, of_pod))
        finally:
            placer.undo()
    return Helped(placed, sum(len(kind.pods) for kind in kinds))


def _groups_helped(model: ClusterModel, remedy: Remedy, kinds: Sequence[PodKind]) -> Helped:
    """Return how many pods of groups have a place with a remedy that changes pods of one group only."""
    pods = [pod for kind in kinds for pod in kind.pods]
    with model.fork(remedy.changes):
        placer = Placer(model)
        try:
            return Helped(sum(placer.place_if_it_fits(model.pods[pod.full_name]) for pod in pods), len(pods))
        finally:
            placer.undo()


def _placed_of(model: ClusterModel, placer: Placer, kind: PodKind, changes: "_Changes") -> int:
    """Place the pods of a kind until one has no place; return the number of placed pods."""
    pattern = changes.made_to(kind.pod.pod)
    if pattern is None:
        return 0
    for placed, pod in enumerate(kind.pods):
        meta = msgspec.structs.replace(pattern.metadata, name=pod.name, uid=pod.uid)
        like = model.read(msgspec.structs.replace(pattern, metadata=meta)) if changes.changes else pod
        if not placer.place_if_it_fits(like):
            return placed
    return len(kind.pods)


class _Changes(NamedTuple):
    """The changes of one pod, applied to other pods."""

    found_for: Pod
    changes: Sequence[ObjectChange]

    def made_to(self, pod: Pod) -> Pod | None:
        """Return a pod with the changes; None if it differs from the first pod where they apply."""
        for change in self.changes:
            if not _is_alike(change.patch or (), to_builtins(self.found_for), to_builtins(pod)):
                return None
            try:
                after = changed(change, pod)
            except KubeschedError:
                return None
            if not isinstance(after, Pod):
                return None
            pod = after
        return pod


def _is_alike(patch: Sequence[Mapping[str, Any]], one: Any, other: Any) -> bool:
    """Return whether two documents have the same values where a patch changes them, in containers of equal names."""
    return all(_part(one, operation["path"]) == _part(other, operation["path"]) for operation in patch)


def _part(document: Any, path: str) -> tuple[Any, ...]:
    """Return the names of the list entries on the way to a path, and the value at the path, None if there is none."""
    names = []
    for step in path.split("/")[1:]:
        if isinstance(document, list):
            document = document[int(step)] if step.isdecimal() and int(step) < len(document) else None
            names.append(document.get("name") if isinstance(document, dict) else None)
        else:
            key = step.replace("~1", "/").replace("~0", "~")
            document = document.get(key) if isinstance(document, dict) else None
    return (*names, document)
