"""Replica sets and replication controllers: as many pods as they say, no more and no fewer.

From a number, a selector and a template to pods and to counts.
"""

# upstream: pkg/controller/replicaset/{replica_set,replica_set_utils}.go, pkg/controller/replication (v1.36)

from collections.abc import Iterable

import msgspec

from kubesched.api.labels import Selector, selector_from_set
from kubesched.controlplane.simulation.controller import Key, Tools
from kubesched.controlplane.statuses import ApiError
from kubesched.controlplane.store import DELETED, Change, Document
from kubesched.controlplane.workloads.owning import BURST, PodOwners, counts
from kubesched.controlplane.workloads.pods import Owner, Pod, Pods, controller_of
from kubesched.controlplane.workloads.victims import in_order_of_deletion

REPLICA_SETS = "replicasets.apps"
_FAILURE = "ReplicaFailure"


class _Meta(msgspec.Struct, rename="camel"):
    owner_references: tuple[Owner, ...] = ()


class _Object(msgspec.Struct):
    metadata: _Meta


_decode = msgspec.json.Decoder(_Object).decode


class ReplicaSets(PodOwners):
    """Keeps the pods of replica sets in number."""

    store = REPLICA_SETS
    api_version, kind, component = "apps/v1", "ReplicaSet", "replicaset-controller"
    ignores_status = True
    adopts_over = False
    # the status says how many pods are going
    counts_terminating = True

    def __init__(self, tools: Tools, pods: Pods) -> None:
        super().__init__(tools, pods)
        # the UIDs of sets, by that of the one in charge of them
        self._siblings: dict[str, dict[str, None]] = {}

    def look_at(self, key: Key) -> None:
        """Make or delete pods of a set, and bring its status up to date."""
        replicas = self.tools.find(self.store, *key)
        if replicas is None:
            return
        active = [pod for pod in self.claim(replicas) if pod.active]
        error: ApiError | None = None
        if "deletionTimestamp" not in replicas["metadata"]:
            error = self._manage(key, replicas, active)
        self._report(key, replicas, error)
        if error is not None:
            self.retries.again(key)
        else:
            self.retries.forget(key)

    def _manage(self, key: Key, replicas: Document, active: list[Pod]) -> ApiError | None:
        """Make or delete some of the pods that are missing or too many; return why it could not be done."""
        missing = (replicas["spec"].get("replicas") or 0) - len(active)
        try:
            if missing > 0:
                # each that is made is a change, after which the rest is seen to
                for _ in range(min(missing, BURST)):
                    if not self.create_pod(replicas, self.pod_of(replicas, replicas["spec"]["template"])):
                        break
            elif missing < 0:
                if -missing < len(active):
                    active = in_order_of_deletion(active, self.tools, neighbours=self._neighbours(replicas))
                for pod in active[: min(-missing, BURST)]:
                    self.delete_pod(replicas, pod)
                if -missing > BURST:
                    self.agenda.add(key)
        except ApiError as error:
            return error
        return None

    def _report(self, key: Key, replicas: Document, error: ApiError | None) -> None:
        spec, meta = replicas["spec"], replicas["metadata"]
        template = (spec["template"].get("metadata") or {}).get("labels") or {}
        least, now = spec.get("minReadySeconds") or 0, self.tools.now()
        active = ready = available = labelled = terminating = 0
        next_look: float | None = None
        selector = self._known[key[0]][key[1]].selector
        for pod in self.pods.of(meta["uid"]):
            if not selector.matches(pod.labels):
                continue
            terminating += pod.terminating
            if not pod.active:
                continue
            active += 1
            labelled += template.items() <= pod.labels.items()
            if pod.ready:
                ready += 1
                seconds = pod.seconds_to_available(least, now)
                available += seconds == 0.0
                if seconds:
                    next_look = seconds if next_look is None else min(next_look, seconds)
        old = replicas.get("status") or {}
        status = {
            "replicas": active,
            **counts(fullyLabeledReplicas=labelled, readyReplicas=ready, availableReplicas=available),
            **({"terminatingReplicas": terminating} if self.counts_terminating else {}),
            **counts(observedGeneration=meta.get("generation") or 0),
        }
        conditions = self._conditions(old, error, active - (spec.get("replicas") or 0))
        if conditions:
            status["conditions"] = conditions
        if status != old:
            replicas["status"] = status
            self.tools.update(self.store, replicas, "status")
        if next_look is not None:
            self.agenda.add_after(key, next_look)

    def _conditions(self, old: Document, error: ApiError | None, surplus: int) -> list[Document]:
        conditions: list[Document] = old.get("conditions") or []
        failed = any(each.get("type") == _FAILURE for each in conditions)
        if error is not None and not failed:
            reason = "FailedCreate" if surplus < 0 else "FailedDelete"
            condition = {"type": _FAILURE, "status": "True", "lastTransitionTime": self.tools.time()}
            return [*conditions, {**condition, "reason": reason, "message": error.message}]
        if error is None and failed:
            return [each for each in conditions if each.get("type") != _FAILURE]
        return conditions

    # -- sets of the same deployment

    def _owner_changed(self, change: Change) -> None:
        super()._owner_changed(change)
        controller = controller_of(_decode(change.new.body).metadata.owner_references)
        if controller is None:
            return
        if change.type != DELETED:
            self._siblings.setdefault(controller.uid, {})[change.new.uid] = None
        elif controller.uid in self._siblings:
            self._siblings[controller.uid].pop(change.new.uid, None)
            if not self._siblings[controller.uid]:
                del self._siblings[controller.uid]

    def _neighbours(self, replicas: Document) -> Iterable[Pod]:
        """Return the pods of all sets of the same deployment."""
        owners = msgspec.convert(replicas["metadata"].get("ownerReferences") or (), tuple[Owner, ...])
        controller = controller_of(owners)
        uids = self._siblings.get(controller.uid, ()) if controller is not None else ()
        return [pod for uid in uids for pod in self.pods.of(uid)]


class ReplicationControllers(ReplicaSets):
    """Keeps the pods of replication controllers in number."""

    store = "replicationcontrollers"
    api_version, kind, component = "v1", "ReplicationController", "replication-controller"
    counts_terminating = False

    def selector_of(self, owner: Document) -> Selector:
        """Return which pods a replication controller selects."""
        return selector_from_set(owner["spec"].get("selector") or {})
