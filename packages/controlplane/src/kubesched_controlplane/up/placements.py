"""The placements of pods, with the reasons of pods without a node.

From the objects of a server, and the record of its scheduler, to a report for people and programs.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from kubesched.api.codec import decode_json
from kubesched.api.meta import OwnerReference
from kubesched.api.owners import ReplicaSet
from kubesched.api.pods import Pod
from kubesched_controlplane.controllers.workloads.replica_sets import REPLICA_SETS
from kubesched_controlplane.storage.store import Store, Stored
from kubesched_controlplane.up.cluster import LocalCluster
from kubesched_controlplane.up.record import Preempted, SchedulingRecord

PENDING, BOUND, TERMINATING = "Pending", "Bound", "Terminating"
GATED = "SchedulingGated"
OVER = ("Succeeded", "Failed")


class PodPlacement(msgspec.Struct, frozen=True, rename="camel"):
    """A pod, its node if it has one, its status and the reason."""

    namespace: str
    name: str
    status: str
    node: str = ""
    nominated_node: str = ""
    reason: str = ""
    # its controller, such as Deployment/web
    owner: str = ""


class PlacementReport(msgspec.Struct, frozen=True):
    """The placements of all pods."""

    nodes: int
    pods: tuple[PodPlacement, ...]
    preempted: tuple[Preempted, ...]
    # pods of this scheduler without a node, except gated, terminating and terminal ones
    unschedulable: int = 0

    def summary(self) -> str:
        """Return the counts of nodes and pods in a line."""
        # a terminal pod no longer counts as bound
        waiting = Counter(pod.status for pod in self.pods if not pod.node or pod.status in OVER)
        bound = len(self.pods) - waiting.total()
        parts = [f"{bound} bound", *(f"{count} {_in_words(status)}" for status, count in sorted(waiting.items()))]
        if self.preempted:
            parts.append(f"{len(self.preempted)} preempted")
        return f"{_count(self.nodes, 'node')}, {_count(len(self.pods), 'pod')}: {', '.join(parts)}"


def read_report(cluster: LocalCluster) -> PlacementReport:
    """Return the placements of a cluster's pods, sorted by namespace and name."""
    store, schedulers = cluster.server.registry.store, cluster.parts.scheduler.engine.profiles
    owners = _Owners(store)
    pods = tuple(_placement(stored, owners, tuple(schedulers), cluster.record) for stored in store.set_of("pods"))
    ours = {stored.key for stored in store.set_of("pods") if stored.fields.get("spec.schedulerName") in schedulers}
    return PlacementReport(
        nodes=len(store.set_of("nodes")),
        pods=pods,
        preempted=tuple(cluster.record.preempted),
        unschedulable=sum(_found_no_node(pod) and f"{pod.namespace}/{pod.name}" in ours for pod in pods),
    )


def _found_no_node(pod: PodPlacement) -> bool:
    return not pod.node and pod.status not in (GATED, TERMINATING, *OVER)


def _placement(stored: Stored, owners: "_Owners", schedulers: Sequence[str], record: SchedulingRecord) -> PodPlacement:
    pod = decode_json(Pod, stored.body)
    status, reason = _bound_status(pod, stored) if pod.spec.node_name else _waiting(pod, schedulers, record)
    if pod.metadata.deletion_timestamp is not None:
        status = TERMINATING
    return PodPlacement(
        namespace=pod.namespace,
        name=pod.name,
        status=status,
        node=pod.spec.node_name,
        nominated_node="" if pod.spec.node_name else pod.status.nominated_node_name,
        reason=reason,
        owner=owners.of(pod),
    )


class _Owners:
    """Finds the controllers of pods; for the ReplicaSet of a Deployment, the Deployment."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._above: dict[tuple[str, str], OwnerReference | None] = {}

    def of(self, pod: Pod) -> str:
        """Return the controller of a pod as `Kind/name`, or an empty text."""
        owner = pod.metadata.controller
        if owner is not None and owner.kind == "ReplicaSet":
            owner = self._above_replica_set(pod.namespace, owner.name) or owner
        return f"{owner.kind}/{owner.name}" if owner is not None else ""

    def _above_replica_set(self, namespace: str, name: str) -> OwnerReference | None:
        key = (namespace, name)
        if key not in self._above:
            stored = self._store.get(REPLICA_SETS, namespace, name)
            self._above[key] = None if stored is None else decode_json(ReplicaSet, stored.body).metadata.controller
        return self._above[key]


def _bound_status(pod: Pod, stored: Stored) -> tuple[str, str]:
    """Return the status of a bound pod, and the message of its kubelet if it is terminal."""
    phase = pod.status.phase
    if phase in ("", PENDING):
        return BOUND, ""
    return phase, stored.document()["status"].get("message", "") if pod.terminal else ""


def _waiting(pod: Pod, schedulers: Sequence[str], record: SchedulingRecord) -> tuple[str, str]:
    """Return the status of a pod that is not bound, and the reason."""
    if pod.spec.scheduler_name not in schedulers:
        known = ", ".join(schedulers)
        return PENDING, f"there is no scheduler {pod.spec.scheduler_name!r} here; profiles are for {known}"
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.reason, condition.message
    return PENDING, record.reason(pod.uid)


def _in_words(status: str) -> str:
    """Return `SchedulingGated` as `scheduling gated`."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in status).strip()


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
