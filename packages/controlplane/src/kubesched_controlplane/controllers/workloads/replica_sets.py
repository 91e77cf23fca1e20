"""Replica sets and replication controllers: exactly as many pods as their replicas.

From replicas, selector and template to pods and to the status. Pods are counted as they change, so that only the
choice of pods to delete reads all of them.
"""

# upstream: pkg/controller/replicaset/{replica_set,replica_set_utils}.go, pkg/controller/replication (v1.36)

from collections.abc import Iterable
from typing import Final

import msgspec

from kubesched.api.labels import Selector, selector_from_set
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.framework.controller import ControllerContext, Key
from kubesched_controlplane.controllers.framework.views import OwnerReference, controller_of, metadata_of
from kubesched_controlplane.controllers.workloads.owning import BURST, PodOwners, counts
from kubesched_controlplane.controllers.workloads.pods import PodsByOwner, PodView
from kubesched_controlplane.controllers.workloads.tallies import PodTally
from kubesched_controlplane.controllers.workloads.victims import in_order_of_deletion
from kubesched_controlplane.storage.store import DELETED, Change

REPLICA_SETS = "replicasets.apps"
_FAILURE = "ReplicaFailure"
# the pods to delete are chosen in batches of this size
_MOST_CHOSEN: Final = 500


class ReplicaSetController(PodOwners):
    """Creates and deletes the pods of replica sets, and keeps their status."""

    prefix = REPLICA_SETS
    api_version, kind, component = "apps/v1", "ReplicaSet", "replicaset-controller"
    knows_its_status = True
    adopts_terminal = False
    # whether the status has a count of terminating pods
    counts_terminating = True

    def __init__(self, context: ControllerContext, pods: PodsByOwner) -> None:
        super().__init__(context, pods)
        # the UIDs of sets, by the UID of their controller
        self._siblings: dict[str, dict[str, None]] = {}
        # by the UID of a set: its pod counts, and the next pods to delete
        self._tallies: dict[str, PodTally] = {}
        self._chosen: dict[str, list[PodView]] = {}

    # -- counting pods

    def pod_changed(self, before: PodView | None, after: PodView | None) -> None:
        """Count a changed pod, and queue its owners."""
        for pod, number in ((before, -1), (after, 1)):
            if pod is not None and pod.owner is not None and pod.owner.uid in self._tallies:
                self._tallies[pod.owner.uid].count(pod, number)
        super().pod_changed(before, after)

    def forget(self, key: Key, uid: str) -> None:
        """Forget a deleted set."""
        self._tallies.pop(uid, None)
        self._chosen.pop(uid, None)

    def _tally(self, key: Key, replicas: Document) -> PodTally:
        uid, selector = replicas["metadata"]["uid"], self._known[key[0]][key[1]].selector
        labels = (replicas["spec"]["template"].get("metadata") or {}).get("labels") or {}
        tally = self._tallies.get(uid)
        if tally is None or tally.selector != selector or tally.labels != labels:
            tally = self._tallies[uid] = PodTally(selector, labels, self.pods.of(uid))
        return tally

    # -- reconciling

    def reconcile(self, key: Key) -> None:
        """Create or delete pods of a set, and write its status."""
        replicas = self.context.find(self.prefix, *key)
        if replicas is None:
            return
        self.adopt_and_release(replicas)
        tally = self._tally(key, replicas)
        error: ApiError | None = None
        if "deletionTimestamp" not in replicas["metadata"]:
            error = self._manage(key, replicas, tally)
        self._report(key, replicas, tally, error)
        if error is not None:
            self.retries.again(key)
        else:
            self.retries.forget(key)

    def _manage(self, key: Key, replicas: Document, tally: PodTally) -> ApiError | None:
        """Create missing pods or delete surplus pods, up to a limit; return the error of a failed request."""
        missing = (replicas["spec"].get("replicas") or 0) - tally.active
        try:
            if missing >= 0:
                self._chosen.pop(replicas["metadata"]["uid"], None)
                # each created pod queues the set again, for the rest
                for _ in range(min(missing, BURST)):
                    if not self.create_pod(replicas, self.pod_of(replicas, replicas["spec"]["template"])):
                        break
            else:
                for pod in self._victims(replicas, tally, -missing):
                    self.delete_pod(replicas, pod)
                if -missing > BURST:
                    self.workqueue.add(key)
        except ApiError as error:
            return error
        return None

    def _victims(self, replicas: Document, tally: PodTally, surplus: int) -> list[PodView]:
        """Return the next pods to delete; they are chosen in batches, and a chosen pod stays so until it changes."""
        uid, count = replicas["metadata"]["uid"], min(surplus, BURST)
        chosen = [pod for pod in self._chosen.pop(uid, ())[:surplus] if self.pods.get(pod.namespace, pod.name) is pod]
        if len(chosen) < count:
            chosen = [pod for pod in self.pods.of(uid) if pod.active and tally.selector.matches(pod.labels)]
            if surplus < len(chosen):
                most = min(surplus, _MOST_CHOSEN)
                chosen = in_order_of_deletion(chosen, self.context.now(), most, neighbours=self._neighbours(replicas))
        if len(chosen) > count:
            self._chosen[uid] = chosen[count:]
        return chosen[:count]

    def _report(self, key: Key, replicas: Document, tally: PodTally, error: ApiError | None) -> None:
        spec, meta = replicas["spec"], replicas["metadata"]
        available, next_sync = tally.available(spec.get("minReadySeconds") or 0, self.context.now())
        old = replicas.get("status") or {}
        status = {
            "replicas": tally.active,
            **counts(
                fullyLabeledReplicas=tally.labelled, readyReplicas=tally.ready.total(), availableReplicas=available
            ),
            **({"terminatingReplicas": tally.terminating} if self.counts_terminating else {}),
            **counts(observedGeneration=meta.get("generation") or 0),
        }
        conditions = self._conditions(old, error, tally.active - (spec.get("replicas") or 0))
        if conditions:
            status["conditions"] = conditions
        if status != old:
            replicas["status"] = status
            self.write_status(key, replicas)
        if next_sync is not None:
            self.workqueue.add_after(key, next_sync)

    def _conditions(self, old: Document, error: ApiError | None, surplus: int) -> list[Document]:
        conditions: list[Document] = old.get("conditions") or []
        failed = any(each.get("type") == _FAILURE for each in conditions)
        if error is not None and not failed:
            reason = "FailedCreate" if surplus < 0 else "FailedDelete"
            condition = {"type": _FAILURE, "status": "True", "lastTransitionTime": self.context.time()}
            return [*conditions, {**condition, "reason": reason, "message": error.message}]
        if error is None and failed:
            return [each for each in conditions if each.get("type") != _FAILURE]
        return conditions

    # -- sets of the same deployment

    def _owner_changed(self, change: Change) -> None:
        super()._owner_changed(change)
        controller = controller_of(metadata_of(change.new).owner_references)
        if controller is None:
            return
        if change.type != DELETED:
            self._siblings.setdefault(controller.uid, {})[change.new.uid] = None
        elif controller.uid in self._siblings:
            self._siblings[controller.uid].pop(change.new.uid, None)
            if not self._siblings[controller.uid]:
                del self._siblings[controller.uid]

    def _neighbours(self, replicas: Document) -> Iterable[PodView]:
        """Return the pods of all sets of the same deployment."""
        owners = msgspec.convert(replicas["metadata"].get("ownerReferences") or (), tuple[OwnerReference, ...])
        controller = controller_of(owners)
        uids = self._siblings.get(controller.uid, ()) if controller is not None else ()
        return [pod for uid in uids for pod in self.pods.of(uid)]


class ReplicationManager(ReplicaSetController):
    """Creates and deletes the pods of replication controllers, and keeps their status."""

    prefix = "replicationcontrollers"
    api_version, kind, component = "v1", "ReplicationController", "replication-controller"
    counts_terminating = False

    def selector_of(self, owner: Document) -> Selector:
        """Return the pod selector of a replication controller."""
        return selector_from_set(owner["spec"].get("selector") or {})
