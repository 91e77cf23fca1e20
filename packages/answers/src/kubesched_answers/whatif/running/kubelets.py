"""Kubelets of a running cluster in virtual time: bound pods become ready, deleted ones end.

From bound or deleted pods to their statuses and their ends, a second later. Pods never end on their own. A node whose
kubelet does not answer (Ready is not True) does nothing.
"""

from typing import Final

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import NODES, PODS
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.controllers.framework.pod_index import PodIndex
from kubesched_controlplane.kinds.pod.phases import RUNNING, TERMINAL
from kubesched_controlplane.kinds.pod.status import condition_of
from kubesched_controlplane.nodes import pod_status
from kubesched_controlplane.nodes.addresses import OF_PODS, Addresses
from kubesched_controlplane.storage.store import DELETED, MODIFIED, Change, Changed, Stored

DELETION: Final = b'"deletionTimestamp"'
SECONDS: Final = 1.0


class SwiftKubelets(Controller):
    """Starts and ends pods; running pods stay unchanged."""

    def __init__(self, context: ControllerContext, pod_index: PodIndex) -> None:
        super().__init__(context)
        self._pod_index = pod_index
        self._addresses = Addresses(*OF_PODS)

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {PODS: self._pod_changed, NODES: self._node_changed}

    def _node_changed(self, change: Change) -> None:
        """Continue with the pods of a node whose kubelet answers again."""
        if change.type == MODIFIED and change.old is not None and _is_well(change.new) and not _is_well(change.old):
            for key in self._pod_index.on(change.new.name):
                stored = self.context.get(PODS, *key)
                if stored is not None:
                    self._plan(stored)

    def _pod_changed(self, change: Change) -> None:
        if change.type != DELETED:
            self._plan(change.new)

    def _plan(self, stored: Stored) -> None:
        fields = stored.fields
        if fields.get("spec.nodeName") and (
            DELETION in stored.body or fields.get("status.phase") not in (RUNNING, *TERMINAL)
        ):
            self.workqueue.add_after((stored.namespace, stored.name), SECONDS)

    def reconcile(self, key: Key) -> None:
        """Start a pod, or end it."""
        stored = self.context.get(PODS, *key)
        node = None if stored is None else self.context.get(NODES, "", stored.fields.get("spec.nodeName", ""))
        if stored is None or node is None or not _is_well(node):
            return
        pod = stored.document()
        if DELETION in stored.body and "deletionTimestamp" in pod["metadata"]:
            self._end(stored, pod)
        elif pod["status"].get("phase") not in (RUNNING, *TERMINAL):
            now = self.context.now()
            pod_status.start(pod, "10.0.0.1", self._addresses.new(), now)
            pod_status.make_ready(pod, now)
            self.context.update(PODS, pod, "status")

    def _end(self, stored: Stored, pod: Document) -> None:
        if pod["metadata"].get("finalizers") and pod["status"].get("phase") not in TERMINAL:
            # finalizers hold it, but it runs no longer
            pod_status.finish(pod, 0 if pod["spec"].get("restartPolicy") == "Always" else 143, self.context.now())
            self.context.update(PODS, pod, "status")
        if pod["metadata"].get("deletionGracePeriodSeconds") != 0:
            self.context.delete(PODS, stored, grace_seconds=0)


def _is_well(node: Stored) -> bool:
    """Return whether a node's kubelet answers; a node without a condition is incomplete and counts as ready."""
    ready = condition_of(node.document(), "Ready")
    return ready is None or ready.get("status") == "True"
