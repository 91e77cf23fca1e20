"""Deletion of pods on nodes with NoExecute taints, and on nodes that do not exist.

From taints and missing nodes to deletions of pods, at once or after their toleration seconds.
"""

# upstream: pkg/controller/tainteviction/taint_eviction.go, pkg/controller/podgc/gc_controller.go (v1.36)

import msgspec

from kubesched.api.nodes import Node
from kubesched.api.pods import Pod, Taint, Toleration
from kubesched.api.tolerations import NO_EXECUTE, tolerates
from kubesched_controlplane.api.prefixes import NODES, PODS
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.controllers.framework.pod_index import PodIndex
from kubesched_controlplane.kinds.pod.phases import FAILED, TERMINAL
from kubesched_controlplane.kinds.pod.status import set_condition
from kubesched_controlplane.storage.store import DELETED, Change, Changed, Stored

_BY_TAINT = ("DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint")
_BY_ABSENCE = ("DeletionByPodGC", "PodGC: node no longer exists")
_decode_pod = msgspec.json.Decoder(Pod).decode
_decode_node = msgspec.json.Decoder(Node).decode


class TaintEvictionController(Controller):
    """Deletes pods that do not tolerate the NoExecute taints of their node, or no longer tolerate them."""

    def __init__(self, context: ControllerContext, pod_index: PodIndex) -> None:
        super().__init__(context)
        self._pod_index = pod_index
        self._taints: dict[str, tuple[Taint, ...]] = {}
        # by UID: until when a pod tolerates the taints of its node
        self._until: dict[str, float] = {}

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {NODES: self._node_changed, PODS: self._pod_changed}

    def _node_changed(self, change: Change) -> None:
        name = change.new.name
        taints: tuple[Taint, ...] = ()
        if change.type != DELETED and NO_EXECUTE.encode() in change.new.body:
            node = _decode_node(change.new.body)
            taints = tuple(taint for taint in node.spec.taints if taint.effect == NO_EXECUTE)
        if taints == self._taints.get(name, ()):
            return
        if taints:
            self._taints[name] = taints
        else:
            del self._taints[name]
        for key in self._pod_index.on(name):
            self.workqueue.add(key)

    def _pod_changed(self, change: Change) -> None:
        if change.type == DELETED:
            self._until.pop(change.new.uid, None)
        elif change.new.fields.get("spec.nodeName") in self._taints:
            self._add(change)

    def reconcile(self, key: Key) -> None:
        """Delete a pod whose tolerations of its node's taints have expired."""
        stored = self.context.get(PODS, *key)
        if stored is None:
            return
        taints = self._taints.get(stored.fields.get("spec.nodeName", ""), ())
        pod = _decode_pod(stored.body)
        if not taints or pod.metadata.deletion_timestamp or pod.status.phase in TERMINAL:
            self._until.pop(stored.uid, None)
            return
        seconds = tolerated_seconds(taints, pod.spec.tolerations)
        if seconds is None:
            self._until.pop(stored.uid, None)
            return
        now = self.context.loop.time()
        until = self._until.setdefault(stored.uid, now + seconds) if seconds > 0 else now
        if now < until:
            self.workqueue.add_after(key, until - now)
            return
        mark_disrupted(self.context, stored, *_BY_TAINT)
        self.context.delete(PODS, stored)


def tolerated_seconds(taints: tuple[Taint, ...], tolerations: tuple[Toleration, ...]) -> float | None:
    """Return for how long taints are tolerated: None is for ever, 0 not at all."""
    least: float | None = None
    for taint in taints:
        found = [toleration for toleration in tolerations if tolerates(toleration, taint)]
        if not found:
            return 0.0
        for toleration in found:
            if toleration.toleration_seconds is not None:
                seconds = max(0.0, float(toleration.toleration_seconds))
                least = seconds if least is None else min(least, seconds)
    return least


class PodGarbageCollector(Controller):
    """Deletes pods whose node does not exist, after a delay."""

    def __init__(self, context: ControllerContext, pod_index: PodIndex) -> None:
        super().__init__(context)
        self._pod_index = pod_index

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {NODES: self._node_changed, PODS: self._pod_changed}

    def _node_changed(self, change: Change) -> None:
        if change.type == DELETED and self._pod_index.on(change.new.name):
            self.workqueue.add_after(("", change.new.name), self.context.options.orphan_seconds)

    def _pod_changed(self, change: Change) -> None:
        node = change.new.fields.get("spec.nodeName")
        if node and change.type != DELETED and self.context.get(NODES, "", node) is None:
            self.workqueue.add_after(("", node), self.context.options.orphan_seconds)

    def reconcile(self, key: Key) -> None:
        """Delete the pods of a node that still does not exist."""
        if self.context.get(NODES, *key) is not None:
            return
        for pod in self._pod_index.on(key[1]):
            stored = self.context.get(PODS, *pod)
            if stored is None:
                continue
            if stored.fields.get("status.phase") not in TERMINAL:
                mark_disrupted(self.context, stored, *_BY_ABSENCE, phase=FAILED)
            self.context.delete(PODS, stored, grace_seconds=0)


def mark_disrupted(context: ControllerContext, stored: Stored, reason: str, message: str, phase: str = "") -> None:
    """Add the condition DisruptionTarget to a pod that is about to be deleted; set its phase if one is given."""
    pod = stored.document()
    if phase:
        pod["status"]["phase"] = phase
    condition = {"type": "DisruptionTarget", "status": "True", "reason": reason, "message": message}
    set_condition(pod["status"], condition, context.now())
    context.update(PODS, pod, "status")
