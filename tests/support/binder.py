"""The least of schedulers: pods go to nodes in turn, where they may.

From pods without a node to bindings. It honours node selectors, required node affinity, taints and the number of pods
that a node takes, and looks at nothing else: for tests of what makes pods.
"""

from collections import Counter

import msgspec

from kubesched.api.node_selectors import required_node_affinity
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.api.quantity import value_of
from kubesched.api.tolerations import first_untolerated, forbids_scheduling
from kubesched_controlplane.api.prefixes import NODES, PODS
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.storage.store import DELETED, Change, Changed

_decode_pod = msgspec.json.Decoder(Pod).decode
_decode_node = msgspec.json.Decoder(Node).decode


class Binder(Controller):
    """Binds pods."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._nodes: dict[str, Node] = {}
        self._on: dict[Key, str] = {}
        self._counts: Counter[str] = Counter()
        self._waiting: dict[Key, None] = {}
        self._turn = 0

    def watches(self) -> dict[str, Changed]:
        """Return who is told of changes, by set."""
        return {NODES: self._node_changed, PODS: self._pod_changed}

    def _node_changed(self, change: Change) -> None:
        if change.type == DELETED:
            del self._nodes[change.new.name]
            return
        self._nodes[change.new.name] = _decode_node(change.new.body)
        self._try_all()

    def _try_all(self) -> None:
        for key in self._waiting:
            self.workqueue.add(key)

    def _pod_changed(self, change: Change) -> None:
        key, node = (change.new.namespace, change.new.name), change.new.fields["spec.nodeName"]
        over = change.type == DELETED or change.new.fields["status.phase"] in ("Succeeded", "Failed")
        before = self._on.pop(key, "")
        if before:
            self._counts[before] -= 1
        if node and not over:
            self._on[key] = node
            self._counts[node] += 1
        if before and before not in self._on.get(key, ""):
            self._try_all()
        if node or over:
            self._waiting.pop(key, None)
        elif b'"schedulingGates"' not in change.new.body:
            self._waiting[key] = None
            self.workqueue.add(key)

    def reconcile(self, key: Key) -> None:
        """Bind a pod to the next node that it may go to."""
        stored = self.context.get(PODS, *key)
        if stored is None or stored.fields["spec.nodeName"] or b'"deletionTimestamp"' in stored.body:
            return
        pod, names = _decode_pod(stored.body), list(self._nodes)
        affinity = required_node_affinity(pod.spec)
        for number in range(len(names)):
            node = self._nodes[names[(self._turn + number) % len(names)]]
            room = value_of(node.status.allocatable.get("pods", 0)) - self._counts[node.metadata.name]
            untolerated = first_untolerated(node.spec.taints, pod.spec.tolerations, forbids_scheduling)
            if room > 0 and untolerated is None and affinity.matches(node.metadata.labels, node.metadata.name):
                self._turn += number + 1
                target = {"apiVersion": "v1", "kind": "Node", "name": node.metadata.name}
                binding = {"metadata": {"name": key[1], "namespace": key[0]}, "target": target}
                self.context.client.create_at(self.context.resources[PODS], key, "binding", binding)
                return
