"""Changes of pods without progress: pods that are created and deleted again and again, and alternating reasons.

From the changes of pods to whether more are created than a cluster needs, and to the number of changes without
progress. A node that evicts the pods of a ReplicaSet causes the first. The second comes from a gang that does not
fit: after each flush of the queue the scheduler tries its pods in another order, so that their conditions swap
reasons.
"""

from typing import Final

from kubesched_answers.whatif.running.kubelets import DELETION
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.storage.store import ADDED, DELETED, MODIFIED, Change, Store

PODS: Final = "pods"
# limit on the created pods for each pod that stays, and a constant, before the cluster counts as restless
MOST_FOR_EACH: Final = 20
MOST_MORE: Final = 1000
_OF_WRITES: Final = ("resourceVersion", "managedFields")


class PodTurnover:
    """Counts the created pods, and the pods that stay."""

    def __init__(self, store: Store) -> None:
        self._staying = {stored.uid for stored in store.set_of(PODS) if DELETION not in stored.body}
        self._created = 0
        # changes of pending pods in which only the reason differs
        self.reasons = 0
        self.stop = store.watch(PODS, self._changed)

    def begin(self) -> None:
        """Start to count created pods."""
        self._created = 0

    @property
    def is_endless(self) -> bool:
        """Return whether far more pods are created than stay."""
        return self._created > MOST_MORE + MOST_FOR_EACH * len(self._staying)

    def _changed(self, change: Change) -> None:
        if change.type == ADDED:
            self._created += 1
        self.reasons += _is_new_reason(change)
        if change.type == DELETED or DELETION in change.new.body:
            self._staying.discard(change.new.uid)
        else:
            self._staying.add(change.new.uid)


def _is_new_reason(change: Change) -> bool:
    """Return whether only the reason of a pending pod has changed."""
    old, new = change.old, change.new
    if change.type != MODIFIED or old is None or new.fields.get("spec.nodeName"):
        return False
    return _without_reasons(old.document()) == _without_reasons(new.document())


def _without_reasons(document: Document) -> Document:
    status = document.get("status") or {}
    conditions = [(each["type"], each["status"]) for each in status.get("conditions") or ()]
    meta = {field: value for field, value in document["metadata"].items() if field not in _OF_WRITES}
    return {**document, "metadata": meta, "status": {**status, "conditions": conditions}}
