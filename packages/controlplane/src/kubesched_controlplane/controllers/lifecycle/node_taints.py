"""Taints that follow from a node's conditions, and from its being unschedulable.

From a node to the same node with the taints that its state calls for: NoSchedule ones for new pods, NoExecute ones
for running pods.
"""

# upstream: pkg/controller/nodelifecycle/node_lifecycle_controller.go (v1.36)

from kubesched.api.tolerations import NO_EXECUTE, NO_SCHEDULE
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import NODES
from kubesched_controlplane.controllers.framework.controller import Controller, Key
from kubesched_controlplane.kinds.nodes import NOT_READY
from kubesched_controlplane.storage.store import DELETED, Change, Changed

UNREACHABLE = "node.kubernetes.io/unreachable"
UNSCHEDULABLE = "node.kubernetes.io/unschedulable"
# condition and status -> taint
_KEYS = {
    ("Ready", "False"): NOT_READY,
    ("Ready", "Unknown"): UNREACHABLE,
    ("MemoryPressure", "True"): "node.kubernetes.io/memory-pressure",
    ("DiskPressure", "True"): "node.kubernetes.io/disk-pressure",
    ("PIDPressure", "True"): "node.kubernetes.io/pid-pressure",
    ("NetworkUnavailable", "True"): "node.kubernetes.io/network-unavailable",
}
_OWNED = {(key, NO_SCHEDULE) for key in (*_KEYS.values(), UNSCHEDULABLE)} | {
    (NOT_READY, NO_EXECUTE),
    (UNREACHABLE, NO_EXECUTE),
}


class NodeTaintController(Controller):
    """Keeps the taints of nodes in line with their conditions."""

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {NODES: self._changed}

    def _changed(self, change: Change) -> None:
        if change.type != DELETED:
            self._add(change)

    def reconcile(self, key: Key) -> None:
        """Add and remove taints of a node by its conditions."""
        node = self.context.find(NODES, *key)
        if node is None:
            return
        taints = node["spec"].get("taints") or []
        present = {(taint.get("key"), taint.get("effect")) for taint in taints}
        wanted = _wanted(node, present)
        if present & _OWNED == set(wanted):
            return
        kept = [taint for taint in taints if (taint.get("key"), taint.get("effect")) not in _OWNED - set(wanted)]
        now = self.context.time()
        added = [
            {"key": name, "effect": effect, "timeAdded": now}
            for name, effect in wanted
            if (name, effect) not in present
        ]
        node["spec"]["taints"] = kept + added
        if not node["spec"]["taints"]:
            del node["spec"]["taints"]
        self.context.update(NODES, node)


def _wanted(node: Document, present: set[tuple[str, str]]) -> list[tuple[str, str]]:
    """Return the taints, by key and effect, that a node's state calls for."""
    conditions = (node.get("status") or {}).get("conditions") or ()
    wanted = []
    for condition in conditions:
        key = _KEYS.get((condition.get("type"), condition.get("status")))
        if key is not None:
            wanted.append((key, NO_SCHEDULE))
        if key in (NOT_READY, UNREACHABLE):
            wanted.append((key, NO_EXECUTE))
    if node["spec"].get("unschedulable"):
        wanted.append((UNSCHEDULABLE, NO_SCHEDULE))
    # a node without a Ready condition keeps the taint that it was created with
    unheard = all(condition.get("type") != "Ready" for condition in conditions)
    if unheard and (NOT_READY, NO_SCHEDULE) in present:
        wanted.append((NOT_READY, NO_SCHEDULE))
    return wanted
