"""Where pods are, and why some are nowhere.

From the objects of a server, and what its scheduler did, to a report that people and programs can read.
"""

from collections import Counter
from collections.abc import Sequence

import msgspec

from kubesched.api.kinds import decode_json
from kubesched.api.pods import Pod
from kubesched.app.happenings import Happenings, Preempted
from kubesched.app.up import LocalCluster
from kubesched.controlplane.store import Stored

PENDING, BOUND, TERMINATING = "Pending", "Bound", "Terminating"


class Placement(msgspec.Struct, frozen=True, rename="camel"):
    """A pod, its node if it has one, how it stands, and what to say about that."""

    namespace: str
    name: str
    status: str
    node: str = ""
    nominated_node: str = ""
    reason: str = ""


class Report(msgspec.Struct, frozen=True):
    """How a cluster stands."""

    nodes: int
    pods: tuple[Placement, ...]
    preempted: tuple[Preempted, ...]

    def summary(self) -> str:
        """Return it in a line."""
        waiting = Counter(pod.status for pod in self.pods if not pod.node)
        bound = len(self.pods) - waiting.total()
        parts = [f"{bound} bound", *(f"{count} {_in_words(status)}" for status, count in sorted(waiting.items()))]
        if self.preempted:
            parts.append(f"{len(self.preempted)} preempted")
        return f"{_count(self.nodes, 'node')}, {_count(len(self.pods), 'pod')}: {', '.join(parts)}"


def read_report(cluster: LocalCluster) -> Report:
    """Return how a cluster stands, its pods by namespace and name."""
    store, schedulers = cluster.server.services.store, cluster.parts.scheduler.engine.profiles
    return Report(
        nodes=len(store.set_of("nodes")),
        pods=tuple(_placement(stored, tuple(schedulers), cluster.happenings) for stored in store.set_of("pods")),
        preempted=tuple(cluster.happenings.preempted),
    )


def _placement(stored: Stored, schedulers: Sequence[str], happenings: Happenings) -> Placement:
    pod = decode_json(Pod, stored.body)
    status, reason = _standing(pod, stored) if pod.spec.node_name else _waiting(pod, schedulers, happenings)
    if pod.metadata.deletion_timestamp is not None:
        status = TERMINATING
    return Placement(
        namespace=pod.namespace,
        name=pod.name,
        status=status,
        node=pod.spec.node_name,
        nominated_node="" if pod.spec.node_name else pod.status.nominated_node_name,
        reason=reason,
    )


def _standing(pod: Pod, stored: Stored) -> tuple[str, str]:
    """Return how a pod stands that is bound, and what its node says of it."""
    phase = pod.status.phase
    if phase in ("", PENDING):
        return BOUND, ""
    return phase, stored.document()["status"].get("message", "") if pod.terminal else ""


def _waiting(pod: Pod, schedulers: Sequence[str], happenings: Happenings) -> tuple[str, str]:
    """Return how a pod stands that is not bound, and why."""
    if pod.spec.scheduler_name not in schedulers:
        known = ", ".join(schedulers)
        return PENDING, f"there is no scheduler {pod.spec.scheduler_name!r} here; profiles are for {known}"
    for condition in pod.status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            return condition.reason, condition.message
    return PENDING, happenings.reason(pod.uid)


def _in_words(status: str) -> str:
    """Return `SchedulingGated` as `scheduling gated`."""
    return "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in status).strip()


def _count(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"
