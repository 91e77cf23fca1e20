"""One node: its free resources, its pods, the pending pods that would fit, and why each other kind does not.

From a model and the name of a node to a `NodeAnswer`. Each pod that is reported to fit was placed there on trial.
"""

from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import count
from typing import Final

import msgspec

from kubesched.api.nodes import Node
from kubesched.core.cluster.pod_groups import group_of
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import NATIVE
from kubesched.model.cluster_model import ClusterModel, gates_of
from kubesched.model.group_attempts import is_in_group
from kubesched.model.owners import Owners
from kubesched.model.rejections import PODS, Rejections
from kubesched.reports.plain_words import number, said_of_pod
from kubesched_answers.amounts import quantity
from kubesched_answers.explain.lacks import lacks_of
from kubesched_answers.explain.node_answer import HeldPod, NodeAnswer, NodeResource, PendingKind
from kubesched_answers.explain.pending_kinds import PodKind, pending_kinds, requests_of
from kubesched_answers.explain.pod_answer import Lack
from kubesched_answers.explain.shares import ClusterTotals
from kubesched_answers.placing import Placer
from kubesched_answers.remedies.proposers.taints import text_of as taint_text

# at most this number of fitting pods of a kind are counted
MOST_COPIES: Final = 1000
_HEALTHY: Final = {"Ready": "True"}


def explain_node(model: ClusterModel, name: str) -> NodeAnswer:
    """Return the answer about a node; raises UnknownObjectError."""
    node = model.node(name)
    table = model.cluster.table
    row = table.row_of[name]
    owners = Owners(model)
    pending = tuple(_pending(model, owners, row))
    waiting, fitting = sum(kind.pods for kind in pending), sum(kind.pods for kind in pending if kind.room_for)
    return NodeAnswer(
        name,
        f"Node {name} holds {number(len(table.pods_on[row]), 'pod')}. {_fits(waiting, fitting)}",
        tuple(_resources(model, row)),
        tuple(_notices(node)),
        tuple(_held(owners, table.pods_on[row].values())),
        pending,
        model.gaps,
    )


def _fits(waiting: int, fitting: int) -> str:
    if not waiting:
        return "No pod is pending that it could take."
    if not fitting:
        return f"It takes none of {number(waiting, 'pending pod')}."
    return f"Of {number(waiting, 'pending pod')} it would take any of {fitting:,}."


# -- what is there


def _resources(model: ClusterModel, row: int) -> Iterator[NodeResource]:
    table = model.cluster.table
    names = [*NATIVE, *sorted({*table.scalars.offered[row], *table.scalars.asked[row]})]
    for name in names:
        offered, asked = table.allocatable_of(row, name), table.requested_of(row, name)
        if offered or asked:
            yield _resource(name, offered, asked)
    yield _resource(PODS, int(table.allowed_pods[row]), int(table.pod_count[row]))


def _resource(name: str, offered: int, asked: int) -> NodeResource:
    used = round(asked / offered, 4) if offered else 1.0
    free = quantity(name, offered - asked)
    return NodeResource(name, quantity(name, offered), quantity(name, asked), free, used)


def _notices(node: Node) -> Iterator[str]:
    """Return the conditions that keep pods away from a node, and its bad conditions."""
    if node.metadata.deletion_timestamp is not None:
        yield "it is being deleted"
    if node.spec.unschedulable:
        yield "it is cordoned"
    for taint in node.spec.taints:
        yield f"it has taint {taint_text(taint)}"
    for condition in node.status.conditions:
        if condition.status != _HEALTHY.get(condition.type, "False"):
            why = ": ".join(filter(None, (condition.reason, condition.message)))
            yield f"its condition {condition.type} is {condition.status}" + (f" ({why})" if why else "")


def _held(owners: Owners, pods: Iterable[PodInfo]) -> Iterator[HeldPod]:
    for pod in sorted(pods, key=lambda pod: (-pod.priority, pod.full_name)):
        owner = owners.of(pod)
        yield HeldPod(
            pod.full_name, str(owner) if owner is not None else None, pod.priority, _requests(pod), pod.terminating
        )


def _requests(pod: PodInfo) -> dict[str, str]:
    return {name: quantity(name, amount) for name, amount in requests_of(pod).items()}


# -- what would fit


def _pending(model: ClusterModel, owners: Owners, row: int) -> Iterator[PendingKind]:
    """Return the pending pods by workload and by the node's lacks for them.

    Pods that fit come first, then pods with the smallest lacks; among equal ones the largest pods.
    """
    found: dict[object, PendingKind] = {}
    sizes: dict[str, float] = {}
    totals = ClusterTotals(model.cluster.table)
    for kind in pending_kinds(model):
        pod = kind.pod
        profile = model.profile_of(pod)
        if profile is None or pod.terminating or gates_of(profile, pod):
            continue
        sizes[pod.full_name] = totals.share(requests_of(pod), 1)[0]
        lacks, message = _lacks(model, pod, row)
        room = 0 if lacks or message else _room_for(model, kind, model.cluster.table.names[row])
        workload = owners.of(pod)
        owner = str(workload) if workload is not None else f"Pod {pod.full_name}"
        group = "/".join(group_of(pod) or ()) if is_in_group(model, pod) else None
        key = (owner, tuple(lack.message for lack in lacks), message, room, group)
        made = PendingKind(owner, len(kind.pods), pod.full_name, _requests(pod), room, lacks, message, group)
        known = found.get(key)
        found[key] = made if known is None else replace(known, pods=known.pods + made.pods)
    yield from sorted(
        found.values(),
        key=lambda kind: (
            not kind.room_for,
            len(kind.lacks) + bool(kind.message),
            -sizes[kind.example],
            -kind.pods,
            kind.owner,
        ),
    )


def _lacks(model: ClusterModel, pod: PodInfo, row: int) -> tuple[tuple[Lack, ...], str]:
    """Return the lacks of a node for a pod, and why the pod fits on no node at all."""
    rejections = Rejections(model.engine.evaluation_of(pod))
    # like the scheduler, stop at the first plugin that rejects the pod
    message = said_of_pod(rejections.pre_filter[0].message) if rejections.pre_filter else ""
    return lacks_of(model, rejections, row), message


def _room_for(model: ClusterModel, kind: PodKind, node: str) -> int:
    """Return how many pods of a kind a node takes, one after the other."""
    placer = Placer(model)
    try:
        for placed, pod in enumerate(_copies(model, kind)):
            if placed == MOST_COPIES or not placer.place_on(pod, node):
                return placed
    finally:
        placer.undo()
    return 0


def _copies(model: ClusterModel, kind: PodKind) -> Iterator[PodInfo]:
    """Yield the pods of a kind, then endless copies of the first."""
    yield from kind.pods
    pod = kind.pod.pod
    for copy in count():
        name = f"{pod.name}-copy-{copy}"
        meta = msgspec.structs.replace(pod.metadata, name=name, uid=f"{pod.namespace}/{name}")
        yield model.read(msgspec.structs.replace(pod, metadata=meta))
