"""The pods of one daemon set by node, and what all nodes add up to.

From pods and nodes to counts. What a node adds is remembered, so a change of one node costs the same however many there
are; changed nodes are checked again, and so are nodes whose state changes with time.
"""

from heapq import heappop, heappush
from typing import Final

import msgspec

from kubesched.controlplane.controllers.workloads.daemon_nodes import DaemonNode, NodeFitness
from kubesched.controlplane.controllers.workloads.pods import PodView


class NodeTally(msgspec.Struct, frozen=True):
    """What a node adds to the counts of a set."""

    desired: bool = False
    scheduled: bool = False
    misscheduled: bool = False
    ready: bool = False
    available: bool = False
    updated: bool = False
    # it has a pod of an old template, and none of the new one
    outdated: bool = False
    # it should have a pod that is available, and has none
    unavailable: bool = False


NOWHERE: Final = NodeTally()
_COUNTS: Final = ("desired", "scheduled", "misscheduled", "ready", "available", "updated", "unavailable")


class DaemonPods:
    """What is remembered of a daemon set."""

    def __init__(self, uid: str) -> None:
        self.uid = uid
        self.generation = -1
        # nodes to be looked at, and those whose place holds old pods
        self.changed: dict[str, None] = {}
        self.outdated: dict[str, None] = {}
        self.totals: dict[str, int] = dict.fromkeys(_COUNTS, 0)
        # nodes on which pods failed: how often, and until when they are left alone
        self.failed: dict[str, tuple[int, float]] = {}
        self._fitness: NodeFitness | None = None
        self._fits: dict[str, tuple[bool, bool]] = {}
        self._pods: dict[str, dict[str, PodView]] = {}
        self._places: dict[str, NodeTally] = {}
        # the node that each pod is for, by UID
        self._targets: dict[str, str] = {}
        self._due: list[tuple[float, str]] = []

    # -- nodes

    def begin(self, generation: int, fitness: NodeFitness, nodes: dict[str, DaemonNode]) -> None:
        """Start over with another template: all nodes are checked."""
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
        """Return whether a pod should be started on a node, and whether one that is there may stay."""
        found = self._fits.get(node.name)
        if found is None:
            assert self._fitness is not None
            found = self._fits[node.name] = self._fitness.judge(node)
        return found

    def recheck_at(self, name: str, at: float) -> None:
        """Mark a node to be checked at a time."""
        heappush(self._due, (at, name))

    def next_due(self, now: float) -> float | None:
        """Take in the nodes whose time has come; return when the next one's will have, None for never."""
        while self._due and self._due[0][0] <= now:
            self.changed[heappop(self._due)[1]] = None
        return self._due[0][0] if self._due else None

    # -- pods

    def target(self, pod: PodView) -> str:
        """Return the node that a pod is for, an empty text if that is not known."""
        return pod.node or self._targets.get(pod.uid, "")

    def put(self, pod: PodView, node: str) -> None:
        """Note a pod on the node that it is for."""
        if self._targets.get(pod.uid, node) != node:
            self.drop(pod)
        self._targets[pod.uid] = node
        self._pods.setdefault(node, {})[pod.name] = pod
        self.changed[node] = None

    def drop(self, pod: PodView) -> None:
        """Forget a pod."""
        node = self._targets.pop(pod.uid, "")
        pods = self._pods.get(node, {})
        pods.pop(pod.name, None)
        if not pods:
            self._pods.pop(node, None)
        self.changed[node] = None

    def on(self, node: str) -> list[PodView]:
        """Return the pods on a node, or meant for it."""
        return list(self._pods.get(node, {}).values())

    def label_values(self, label: str) -> set[str]:
        """Return the values of a label that pods have."""
        return {pod.labels.get(label, "") for pods in self._pods.values() for pod in pods.values()}

    def doubled(self) -> int:
        """Return how many nodes have more than one pod."""
        return sum(1 for pods in self._pods.values() if sum(1 for pod in pods.values() if pod.active) > 1)

    # -- counts

    def place(self, node: str) -> NodeTally:
        """Return a node's part in the counts."""
        return self._places.get(node, NOWHERE)

    def count(self, node: str, place: NodeTally) -> None:
        """Have a node add something else to the counts."""
        before = self._places.pop(node, NOWHERE)
        if place != NOWHERE:
            self._places[node] = place
        for field in _COUNTS:
            self.totals[field] += getattr(place, field) - getattr(before, field)
        if place.outdated:
            self.outdated[node] = None
        else:
            self.outdated.pop(node, None)
