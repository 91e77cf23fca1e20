"""The status of simulated nodes: conditions, addresses, capacity, node information and heartbeats.

Existing fields of a status stay, such as a Ready condition. A node with the annotation `kubesched.io/simulated:
"false"` is left alone. Allocatable amounts that equal the capacity follow it when it changes.
"""

# upstream: pkg/kubelet/{kubelet_node_status.go,nodestatus/setters.go} (v1.36)

import msgspec

from kubesched.api.release import GIT_VERSION
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import NODES
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.controllers.framework.workqueue import Workqueue
from kubesched_controlplane.kinds.checks import part
from kubesched_controlplane.nodes.addresses import OF_NODES, Addresses
from kubesched_controlplane.storage.store import ADDED, DELETED, Change, Changed, Stored

SIMULATED = "kubesched.io/simulated"
_CONDITIONS = (
    ("MemoryPressure", "False", "KubeletHasSufficientMemory", "kubelet has sufficient memory available"),
    ("DiskPressure", "False", "KubeletHasNoDiskPressure", "kubelet has no disk pressure"),
    ("PIDPressure", "False", "KubeletHasSufficientPID", "kubelet has sufficient PID available"),
    ("Ready", "True", "KubeletReady", "kubelet is posting ready status"),
)
_NODE_INFO = {
    "architecture": "amd64",
    "bootID": "",
    "containerRuntimeVersion": "simulated://1",
    "kernelVersion": "",
    "kubeProxyVersion": "",
    "kubeletVersion": GIT_VERSION,
    "machineID": "",
    "operatingSystem": "linux",
    "osImage": "simulated",
    "systemUUID": "",
}


class _Amounts(msgspec.Struct, frozen=True):
    capacity: dict[str, str | int] = {}
    allocatable: dict[str, str | int] = {}


class _NodeAmounts(msgspec.Struct, frozen=True):
    """The capacity and allocatable amounts of a node."""

    status: _Amounts = _Amounts()


_decode_amounts = msgspec.json.Decoder(_NodeAmounts).decode


class SimulatedNodes(Controller):
    """Keeps the status of simulated nodes."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._addresses = Addresses(*OF_NODES)
        # heartbeats have their own workqueue, so that waiting for a cluster to settle does not include them
        self._beats: Workqueue[Key] = Workqueue(context.loop, self.reconcile, self._note, context.written)
        # by node: allocatable amounts to write, None for amounts to remove
        self._to_follow: dict[Key, dict[str, str | int | None]] = {}

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {NODES: self._changed}

    def _changed(self, change: Change) -> None:
        key = ("", change.new.name)
        if change.type == ADDED:
            for each in (change.new.document().get("status") or {}).get("addresses") or ():
                self._addresses.taken(each.get("address") or "")
            self.workqueue.add_after(key, self.context.options.node_ready_seconds)
        elif change.type == DELETED:
            self.workqueue.forget(key)
            self._beats.forget(key)
        elif change.old is not None and (followed := _followed(change.old, change.new)):
            self._to_follow.setdefault(key, {}).update(followed)
            self.workqueue.add(key)

    def stop(self) -> None:
        """Stop watching and drop all queued keys."""
        super().stop()
        self._beats.stop()

    def reconcile(self, key: Key) -> None:
        """Complete the status of a node, renew the heartbeats of its conditions, or update its allocatable amounts."""
        node, followed = self.context.find(NODES, *key), self._to_follow.pop(key, None)
        if node is None or not is_simulated(node):
            return
        status = part(node, "status")
        if followed is not None:
            amounts = {**(status.get("allocatable") or {}), **followed}
            status["allocatable"] = {name: amount for name, amount in amounts.items() if amount is not None}
            self.context.update(NODES, node, "status")
            return
        known = {condition.get("type"): condition for condition in status.get("conditions") or ()}
        if "Ready" not in known or not status.get("addresses"):
            self._introduce(node, known)
        else:
            for condition in known.values():
                condition["lastHeartbeatTime"] = self.context.time()
        self.context.update(NODES, node, "status")
        if self.context.options.heartbeat_seconds > 0:
            self._beats.add_after(key, self.context.options.heartbeat_seconds)

    def _introduce(self, node: Document, known: dict[str, Document]) -> None:
        """Set the missing fields of the status that a node's kubelet would report."""
        status, now = node["status"], self.context.time()
        conditions = list(status.get("conditions") or ())
        for kind, state, reason, message in _CONDITIONS:
            if kind not in known:
                times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
                conditions.append({"type": kind, "status": state, "reason": reason, "message": message, **times})
        status["conditions"] = conditions
        if not status.get("addresses"):
            status["addresses"] = [
                {"type": "InternalIP", "address": self._addresses.new()},
                {"type": "Hostname", "address": node["metadata"]["name"]},
            ]
        if not status.get("capacity"):
            # what a manifest says is all that the node can take
            status["capacity"] = dict(status.get("allocatable") or self.context.options.capacity)
        if not status.get("allocatable"):
            status["allocatable"] = dict(status["capacity"])
        if not (status.get("nodeInfo") or {}).get("kubeletVersion"):
            status["nodeInfo"] = {**_NODE_INFO, "systemUUID": node["metadata"]["uid"]}


def _followed(old: Stored, new: Stored) -> dict[str, str | int | None]:
    """Return the allocatable amounts that follow a changed capacity, None for resources that were removed."""
    before, after = _decode_amounts(old.body).status, _decode_amounts(new.body).status
    if before.capacity == after.capacity:
        return {}
    return {
        name: after.capacity.get(name)
        for name in {*before.capacity, *after.capacity}
        # the same write may have changed the allocatable amount
        if before.capacity.get(name) == before.allocatable.get(name) == after.allocatable.get(name)
        and after.capacity.get(name) != before.capacity.get(name)
    }


def is_simulated(node: Document) -> bool:
    """Return whether a node is simulated and has no real kubelet."""
    return (node["metadata"].get("annotations") or {}).get(SIMULATED) != "false"
