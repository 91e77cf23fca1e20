"""The pods of one daemon set by node, and the counts of its status.

From pods and nodes to counts. The counts of each node are remembered, so that the cost of an event does not grow with
the number of nodes; only changed nodes are checked again, and nodes whose state changes with time.
"""

from heapq import heappop, heappush
from typing import Final

import msgspec

from kubesched_controlplane.controllers.workloads.daemon_nodes import DaemonNode, NodeFitness
from kubesched_controlplane.controllers.workloads.pods import PodView


class NodeTally(msgspec.Struct, frozen=True):
    """The contribution of one node to the counts of a daemon set."""

    desired: bool = False
    scheduled: bool = False
    misscheduled: bool = False
    ready: bool = False
    available: bool = False
    updated: bool = False
    # the node has a pod of an old template, and none of the current one
    outdated: bool = False
    # the node should have an available pod, and has none
    unavailable: bool = False


NOWHERE: Final = NodeTally()
_COUNTS: Final = ("desired", "scheduled", "misscheduled", "ready", "available", "updated", "unavailable")


class DaemonPods:
    """The pods of one daemon set by node, the counts of its nodes, and the nodes to check."""

    def __init__(self, uid: str) -> None:
        self.uid = uid
        self.generation = -1
        # nodes to check, and nodes with only old pods
        self.changed: dict[str, None] = {}
        self.outdated: dict[str, None] = {}
        self.totals: dict[str, int] = dict.fromkeys(_COUNTS, 0)
        # nodes on which pods failed: how often, and until when failed pods back off
        self.failed: dict[str, tuple[int, float]] = {}
        self._fitness: NodeFitness | None = None
        self._fits: dict[str, tuple[bool, bool]] = {}
        self._pods: dict[str, dict[str, PodView]] = {}
        self._places: dict[str, NodeTally] = {}
        # the node of each pod, bound or not, by the pod's UID
        self._targets: dict[str, str] = {}
        self._due: list[tuple[float, str]] = []

    # -- nodes

    def begin(self, generation: int, fitness: NodeFitness, nodes: dict[str, DaemonNode]) -> None:
        """Start over with another template, and mark all nodes to be checked."""
        self.generation = generation
        self._fitness = fitness
        self._fits.clear()
        self.failed.clear()
        self.changed = dict.fromkeys((*nodes, *self._pods))

    def node_changed(self, name: str) -> None:
        """Mark a new, changed or deleted node to be checked."""
        self._fits.pop(name, None)
        self.changed[name] = None

    def fits(self, node: DaemonNode) -> tuple[bool, bool]:
        """Return whether a pod should be started on a node, and whether an existing pod may stay there."""
        found = self._fits.get(node.name)
        if found is None:
            assert self._fitness is not None
            found = self._fits[node.name] = self._fitness.judge(node)
        return found

    def recheck_at(self, name: str, at: float) -> None:
        """Mark a node to be checked at a time."""
        heappush(self._due, (at, name))

    def next_due(self, now: float) -> float | None:
        """Mark the nodes that are due to be checked; return when the next node is due, None for never."""
        while self._due and self._due[0][0] <= now:
            self.changed[heappop(self._due)[1]] = None
        return self._due[0][0] if self._due else None

    # -- pods

    def target(self, pod: PodView) -> str:
        """Return the node of a pod, bound or not; an empty text if it is unknown."""
        return pod.node or self._targets.get(pod.uid, "")

    def put(self, pod: PodView, node: str) -> None:
        """Add or replace a pod under its node, and mark the node to be checked."""
        if self._targets.get(pod.uid, node) != node:
            self.drop(pod)
        self._targets[pod.uid] = node
        self._pods.setdefault(node, {})[pod.name] = pod
        self.changed[node] = None

    def drop(self, pod: PodView) -> None:
        """Remove a pod, and mark its node to be checked."""
        node = self._targets.pop(pod.uid, "")
        pods = self._pods.get(node, {})
        pods.pop(pod.name, None)
        if not pods:
            self._pods.pop(node, None)
        self.changed[node] = None

    def on(self, node: str) -> list[PodView]:
        """Return the pods that are bound to a node or should be."""
        return list(self._pods.get(node, {}).values())

    def label_values(self, label: str) -> set[str]:
        """Return all values of a label among the pods."""
        return {pod.labels.get(label, "") for pods in self._pods.values() for pod in pods.values()}

    def doubled(self) -> int:
        """Return how many nodes have more than one active pod."""
        return sum(1 for pods in self._pods.values() if sum(1 for pod in pods.values() if pod.active) > 1)

    # -- counts

    def place(self, node: str) -> NodeTally:
        """Return the contribution of a node to the counts."""
        return self._places.get(node, NOWHERE)

    def count(self, node: str, place: NodeTally) -> None:
        """Replace the contribution of a node to the counts."""
        before = self._places.pop(node, NOWHERE)
        if place != NOWHERE:
            self._places[node] = place
        for field in _COUNTS:
            self.totals[field] += getattr(place, field) - getattr(before, field)
        if place.outdated:
            self.outdated[node] = None
        else:
            self.outdated.pop(node, None)
