"""For how many pods a remedy helps.

From a remedy that was found for one pod, and pods with the same cause, to the number of them that have a place once it
is applied. What the remedy changes of its own pod is changed of each of them; they are placed one beside the other.
Of very many kinds of pods only some are tried.
"""

from collections.abc import Sequence
from typing import Final, NamedTuple

import msgspec

from kubesched.api.pods import Pod
from kubesched.asking.answers import ObjectChange
from kubesched.asking.explain.pending_kinds import PodKind, kinds_of
from kubesched.asking.group_attempts import is_in_group
from kubesched.asking.model import ClusterModel, changed, name_of_object
from kubesched.asking.placing import Placer
from kubesched.asking.remedies.remedy import Remedy
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.errors import KubeschedError

# each kind takes an evaluation of all nodes
MOST_KINDS: Final = 200


class Helped(NamedTuple):
    """How many pods have a place with a remedy, and how many were tried."""

    pods: int
    tried: int


def pods_helped(
    model: ClusterModel, remedy: Remedy, found_for: PodInfo, pods: Sequence[PodInfo], most_kinds: int = MOST_KINDS
) -> Helped:
    """Return how many of some pods have a place with a remedy, in their order; the model is as before."""
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
                placed += _placed_of(model, placer, kind, of_pod)
        finally:
            placer.undo()
    return Helped(placed, sum(len(kind.pods) for kind in kinds))


def _groups_helped(model: ClusterModel, remedy: Remedy, kinds: Sequence[PodKind]) -> Helped:
    """Return how many pods of groups have a place with a remedy, which changes pods of one group alone."""
    pods = [pod for kind in kinds for pod in kind.pods]
    with model.fork(remedy.changes):
        placer = Placer(model)
        try:
            return Helped(sum(placer.place_if_it_fits(model.pods[pod.full_name]) for pod in pods), len(pods))
        finally:
            placer.undo()


def _placed_of(model: ClusterModel, placer: Placer, kind: PodKind, changes: Sequence[ObjectChange]) -> int:
    """Place the pods of a kind until one has no place; return how many have one."""
    pattern = _changed(kind.pod.pod, changes)
    if pattern is None:
        return 0
    for placed, pod in enumerate(kind.pods):
        meta = msgspec.structs.replace(pattern.metadata, name=pod.name, uid=pod.uid)
        like = model.read(msgspec.structs.replace(pattern, metadata=meta)) if changes else pod
        if not placer.place_if_it_fits(like):
            return placed
    return len(kind.pods)


def _changed(pod: Pod, changes: Sequence[ObjectChange]) -> Pod | None:
    """Return a pod with the changes of another, None if they do not apply to it."""
    for change in changes:
        try:
            after = changed(change, pod)
        except KubeschedError:
            return None
        if not isinstance(after, Pod):
            return None
        pod = after
    return pod
