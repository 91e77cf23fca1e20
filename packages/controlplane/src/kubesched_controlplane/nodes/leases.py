"""Leases of simulated nodes: each has one in kube-node-lease and renews it.

From nodes to Lease objects. Large clusters renew less often, so that no more than `MOST_RENEWALS_A_SECOND` are written.
"""

# upstream: component-helpers/apimachinery/lease/controller.go, pkg/kubelet/util/nodelease.go (v1.36)

from math import inf

from kubesched_controlplane.api.prefixes import NODES
from kubesched_controlplane.api.times import micro_timestamp
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.kinds.checks import part
from kubesched_controlplane.nodes.nodes import is_simulated
from kubesched_controlplane.storage.store import ADDED, DELETED, Change, Changed

LEASES = "leases.coordination.k8s.io"
NAMESPACE = "kube-node-lease"
DURATION_SECONDS = 40
MOST_RENEWALS_A_SECOND = 50


class NodeLeaseController(Controller):
    """Creates and renews the leases of nodes."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        self._nodes: set[Key] = set()

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {NODES: self._changed} if self.context.options.lease_seconds > 0 else {}

    def seconds_left(self) -> float:
        """Return infinity: waiting for a cluster to settle does not include its leases."""
        return inf

    def _changed(self, change: Change) -> None:
        key = ("", change.new.name)
        if change.type == ADDED:
            self._nodes.add(key)
            self.workqueue.add(key)
        elif change.type == DELETED:
            # the garbage collector deletes the lease, which the node owns
            self._nodes.discard(key)
            self.workqueue.forget(key)

    def reconcile(self, key: Key) -> None:
        """Create or renew the lease of a node."""
        name = key[1]
        node = self.context.find(NODES, *key)
        if node is None or not is_simulated(node):
            return
        renewed = micro_timestamp(self.context.now())
        lease = self.context.find(LEASES, NAMESPACE, name)
        if lease is None:
            owner = {"apiVersion": "v1", "kind": "Node", "name": name, "uid": node["metadata"]["uid"]}
            meta = {"name": name, "namespace": NAMESPACE, "ownerReferences": [owner]}
            spec = {"holderIdentity": name, "leaseDurationSeconds": DURATION_SECONDS, "renewTime": renewed}
            document = {"apiVersion": "coordination.k8s.io/v1", "kind": "Lease", "metadata": meta, "spec": spec}
            self.context.create(LEASES, document)
        else:
            part(lease, "spec")["renewTime"] = renewed
            self.context.update(LEASES, lease)
        self.workqueue.add_after(
            key, max(self.context.options.lease_seconds, len(self._nodes) / MOST_RENEWALS_A_SECOND)
        )
