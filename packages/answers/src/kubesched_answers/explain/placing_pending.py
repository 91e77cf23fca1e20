"""Pending pods on the nodes where the scheduler would place them.

From a model to places for the pods that fit, in the order of the scheduling queue. No pod is evicted: a pod that needs
preemption keeps waiting.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import msgspec

from kubesched.api.devices import ResourceClaim, ResourceClaimConsumerReference, ResourceClaimStatus
from kubesched.api.pods import Pod
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.model.cluster_model import ClusterModel, name_of_object
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.model.group_attempts import is_tried
from kubesched_answers.explain.pending_kinds import PodKind, pending_kinds, queue_order
from kubesched_answers.placing import Placer, claims_of


def place_what_fits(placer: Placer, kinds: Sequence[PodKind]) -> None:
    """Place the pods that fit, in the order of the queue.

    Once a pod of a kind has no place, its kind is skipped until pods of other kinds have been placed.
    """
    queue = sorted(((pod, kind) for kind in kinds for pod in kind.pods), key=lambda each: queue_order(each[0]))
    progress = True
    while progress:
        progress, left, stuck = False, [], set()
        for pod, kind in queue:
            if kind not in stuck and placer.place_if_it_fits(pod):
                progress = True
            else:
                stuck.add(kind)
                left.append((pod, kind))
        queue = left


def with_pods_placed(model: ClusterModel) -> ClusterObjects:
    """Return the objects of a model after its pending pods are placed; the model is unchanged at the end."""
    placer = Placer(model)
    try:
        place_what_fits(placer, [kind for kind in pending_kinds(model) if is_tried(model, kind.pod)])
        now, placed = model.objects_now(), model.cluster.table.pods
        pods = [placed.get(pod.uid, pod) for pod in model.pods.values()]
        volumes, claims = model.cluster.volumes.assumed()
        written = {name_of_object(obj): obj for obj in (*volumes, *claims, *_allocated_claims(model, placed.values()))}
        others = (written.get(name_of_object(obj), obj) for obj in now.objects if not isinstance(obj, Pod))
        return replace(now, objects=(*others, *(pod.pod for pod in pods)))
    finally:
        placer.undo()


def _allocated_claims(model: ClusterModel, pods: Iterable[PodInfo]) -> Iterator[ResourceClaim]:
    """Yield the claims with the devices allocated to pods on nodes, as PreBind would write them."""
    claims: dict[str, ResourceClaim] = {}
    users: dict[str, list[ResourceClaimConsumerReference]] = {}
    for pod in pods:
        for claim in claims_of(model, pod):
            claims[claim.uid] = claim
            user = ResourceClaimConsumerReference(resource="pods", name=pod.name, uid=pod.uid)
            users.setdefault(claim.uid, []).append(user)
    for uid, claim in claims.items():
        allocation = model.cluster.claims.pending_allocation(uid)
        if allocation is not None:
            status = ResourceClaimStatus(allocation=allocation, reserved_for=tuple(users[uid]))
            yield msgspec.structs.replace(claim, status=status)
