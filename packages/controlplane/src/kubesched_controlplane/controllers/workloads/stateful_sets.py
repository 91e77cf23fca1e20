"""Stateful sets: pods with ordinals, created and replaced in order, each with its own volume claims.

    0 ──available──▶ 1 ──available──▶ 2 ...      scaling down and updates: the last pod first

From a set to pods and claims, one pod at a time, or all at once if the pod management policy is `Parallel`.
"""

# upstream: pkg/controller/statefulset/{stateful_set,stateful_set_control,stateful_pod_control}.go (v1.36)

from datetime import datetime

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import PODS
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.framework.controller import ControllerContext, Key
from kubesched_controlplane.controllers.storage.volume_binder import CLAIMS
from kubesched_controlplane.controllers.workloads import stateful_pods as identity
from kubesched_controlplane.controllers.workloads.owning import BURST, PodOwners, counts, is_namespace_terminating
from kubesched_controlplane.controllers.workloads.pods import PodsByOwner, PodView
from kubesched_controlplane.controllers.workloads.revisions import Revisions, is_observed, template_of
from kubesched_controlplane.kinds.checks import part
from kubesched_controlplane.kinds.workload.rollouts import ON_DELETE, ROLLING_UPDATE

STATEFUL_SETS = "statefulsets.apps"
HASH = "controller.kubernetes.io/hash"


class _Sync(msgspec.Struct):
    """One reconcile of a stateful set: the set, its current and update revisions, its limits."""

    stateful_set: Document
    current: Document
    update: Document
    now: datetime
    in_order: bool
    # how many more pods may be created or deleted in this reconcile
    left: int = BURST

    @property
    def least_seconds(self) -> int:
        """Return how long a pod must be ready to be available."""
        return self.stateful_set["spec"].get("minReadySeconds") or 0

    def is_well(self, pod: PodView | None) -> bool:
        """Return whether a pod exists, is available and is not terminating."""
        return pod is not None and not pod.deleting and pod.available(self.least_seconds, self.now)


class _NotYetError(Exception):
    """A pod cannot be created yet; the set is retried after its backoff."""


class StatefulSetController(PodOwners):
    """Creates, replaces and deletes the pods of stateful sets, and keeps their status."""

    prefix = STATEFUL_SETS
    api_version, kind, component = "apps/v1", "StatefulSet", "statefulset-controller"

    def __init__(self, context: ControllerContext, pods: PodsByOwner, revisions: Revisions) -> None:
        super().__init__(context, pods)
        self._revisions = revisions

    def may_own(self, owner: Document, pod: PodView) -> bool:
        """Return whether a pod has the name of one of the set's pods."""
        name: str = owner["metadata"]["name"]
        return identity.parent_and_ordinal(pod.name)[0] == name

    def reconcile(self, key: Key) -> None:
        """Create, delete or replace the next pods of a set, and write its status."""
        stateful_set = self.context.find(self.prefix, *key)
        if stateful_set is None:
            return
        reference = self.reference(stateful_set)
        selector = self._known[key[0]][key[1]].selector
        revisions = self._revisions.of(stateful_set, selector, reference)
        pods = self.claim(stateful_set)
        part(stateful_set, "status")
        update = self._revisions.current(stateful_set, revisions, reference, HASH, _known_hash(stateful_set))
        named = stateful_set["status"].get("currentRevision")
        current = next((each for each in revisions if each["metadata"]["name"] == named), update)
        in_order = stateful_set["spec"]["podManagementPolicy"] != "Parallel"
        sync = _Sync(stateful_set, current, update, self.context.now(), in_order)
        problem: Exception | None = None
        try:
            if "deletionTimestamp" not in stateful_set["metadata"]:
                self._step(sync, pods)
        except (ApiError, _NotYetError) as error:
            problem = error
        self._report(key, sync)
        self._truncate(sync, revisions)
        if problem is None:
            self.retries.forget(key)
        elif not (isinstance(problem, ApiError) and is_namespace_terminating(problem)):
            self.retries.again(key)

    # -- steps

    def _step(self, sync: _Sync, pods: list[PodView]) -> None:
        stateful_set = sync.stateful_set
        start, count = identity.first_ordinal(stateful_set), stateful_set["spec"]["replicas"]
        # existing pods by ordinal; the wanted number may be huge
        replicas: dict[int, PodView] = {}
        condemned: list[tuple[int, PodView]] = []
        for pod in pods:
            ordinal = identity.parent_and_ordinal(pod.name)[1]
            if identity.is_in_range(stateful_set, ordinal):
                replicas[ordinal - start] = pod
            elif ordinal >= 0:
                condemned.append((ordinal, pod))
        condemned.sort(key=lambda each: each[0], reverse=True)
        # 1. Every ordinal gets a pod, after the pods before it are available.
        for place in range(count):
            if (self._see_to_replica(sync, start + place, replicas.get(place)) and sync.in_order) or not sync.left:
                return
        # 2. Pods beyond the last ordinal are deleted, the last one first.
        surplus = [each for _, each in condemned]
        for pod in surplus:
            self._settle_claims(stateful_set, pod)
        in_range = (replicas[place] for place in sorted(replicas))
        unwell = [pod for pod in (*in_range, *reversed(surplus)) if not sync.is_well(pod)]
        for pod in surplus:
            if (self._see_to_condemned(sync, pod, unwell[0] if unwell else None) and sync.in_order) or not sync.left:
                return
        # 3. Pods of another revision are replaced, the last one first, one at a time.
        if stateful_set["spec"]["updateStrategy"]["type"] != ON_DELETE:
            self._replace(sync, replicas)

    def _see_to_replica(self, sync: _Sync, ordinal: int, pod: PodView | None) -> bool:
        """Create or restore the pod of an ordinal; return whether later ordinals have to wait for it."""
        stateful_set = sync.stateful_set
        if pod is not None and pod.terminal:
            if not pod.deleting:
                self._delete(sync, pod)
            return True
        if pod is None:
            if self._has_stale_claims(stateful_set, ordinal):
                return True
            self._create(sync, ordinal)
            return True
        if pod.phase == "Pending":
            self._create_claims(stateful_set, pod.name, ordinal)
            self._settle_claims(stateful_set, pod)
        if sync.in_order and not (pod.phase == "Running" and sync.is_well(pod)):
            return True
        self._settle(sync, pod, ordinal)
        return False

    def _see_to_condemned(self, sync: _Sync, pod: PodView, first_unwell: PodView | None) -> bool:
        """Delete a surplus pod, in order the first unavailable one first; return whether other pods wait."""
        if pod.deleting:
            return True
        if sync.in_order and pod is not first_unwell and not (pod.phase == "Running" and sync.is_well(pod)):
            return True
        self._delete(sync, pod)
        return True

    def _replace(self, sync: _Sync, replicas: dict[int, PodView]) -> None:
        rolling = sync.stateful_set["spec"]["updateStrategy"].get("rollingUpdate") or {}
        count: int = sync.stateful_set["spec"]["replicas"]
        for place in range(count - 1, (rolling.get("partition") or 0) - 1, -1):
            pod = replicas.get(place)
            if pod is None:
                return
            if pod.labels.get(identity.REVISION) != sync.update["metadata"]["name"] and not pod.deleting:
                self._delete(sync, pod)
                return
            if not sync.is_well(pod):
                return

    # -- pods and their claims

    def _create(self, sync: _Sync, ordinal: int) -> None:
        stateful_set = sync.stateful_set
        revision = sync.current if self._stays_behind(sync, ordinal) else sync.update
        pod = self.pod_of(stateful_set, template_of(revision, stateful_set))
        identity.complete(pod, stateful_set, ordinal, revision["metadata"]["name"])
        name = pod["metadata"]["name"]
        self._create_claims(stateful_set, name, ordinal)
        sync.left -= 1
        try:
            self.context.create(PODS, pod)
        except ApiError as error:
            if not is_namespace_terminating(error) and error.reason != "AlreadyExists":
                self._tell(stateful_set, "Create", name, error)
            raise
        self._tell(stateful_set, "Create", name)
        made = self.pods.get(stateful_set["metadata"]["namespace"], name)
        if made is not None:
            self._settle_claims(stateful_set, made)

    def _stays_behind(self, sync: _Sync, ordinal: int) -> bool:
        """Return whether the pod of an ordinal is created from the current revision, not from the update revision."""
        stateful_set = sync.stateful_set
        updates, start = stateful_set["spec"]["updateStrategy"], identity.first_ordinal(stateful_set)
        rolling = updates.get("rollingUpdate")
        if rolling is not None:
            return ordinal < start + (rolling.get("partition") or 0)
        behind = stateful_set["status"].get("currentReplicas") or 0
        return updates["type"] == ROLLING_UPDATE and ordinal < start + behind

    def _delete(self, sync: _Sync, pod: PodView) -> None:
        sync.left -= 1
        stored = self.context.get(PODS, pod.namespace, pod.name)
        if stored is not None and stored.uid == pod.uid:
            self.context.delete(PODS, stored)
        self._tell(sync.stateful_set, "Delete", pod.name)

    def _settle(self, sync: _Sync, pod: PodView, ordinal: int) -> None:
        """Correct the labels of a pod, and the owner references of its claims."""
        stateful_set = sync.stateful_set
        if pod.labels.get(identity.POD_NAME) != pod.name:
            document = self.context.find(PODS, pod.namespace, pod.name)
            if document is not None:
                identity.identify(document, stateful_set, ordinal)
                self.context.update(PODS, document)
                self._tell(stateful_set, "Update", pod.name)
        self._settle_claims(stateful_set, pod)

    def _create_claims(self, stateful_set: Document, pod: str, ordinal: int) -> None:
        namespace = stateful_set["metadata"]["namespace"]
        for template, name in identity.claim_names(stateful_set, ordinal):
            claim = self.context.find(CLAIMS, namespace, name)
            if claim is None:
                self.context.create(CLAIMS, identity.claim_of(stateful_set, template, name))
                set_name = stateful_set["metadata"]["name"]
                message = f"Create Claim {name} Pod {pod} in StatefulSet {set_name} success"
                self.recorder.normal(stateful_set, "SuccessfulCreate", message)
            elif "deletionTimestamp" in claim["metadata"]:
                raise _NotYetError(f"pvc {name} is being deleted")

    def _settle_claims(self, stateful_set: Document, pod: PodView) -> None:
        """Correct the owner references of a pod's claims by the set's retention policy."""
        ordinal = identity.parent_and_ordinal(pod.name)[1]
        for _, name in identity.claim_names(stateful_set, ordinal):
            claim = self.context.find(CLAIMS, pod.namespace, name)
            owners = None if claim is None else identity.owners_of_claim(claim, stateful_set, pod)
            if claim is not None and owners is not None:
                claim["metadata"]["ownerReferences"] = owners
                if not owners:
                    del claim["metadata"]["ownerReferences"]
                self.context.update(CLAIMS, claim)

    def _has_stale_claims(self, stateful_set: Document, ordinal: int) -> bool:
        policy = stateful_set["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
        if policy.get("whenScaled") != identity.DELETE:
            return False
        meta = stateful_set["metadata"]
        for _, name in identity.claim_names(stateful_set, ordinal):
            claim = self.context.find(CLAIMS, meta["namespace"], name)
            if claim is not None and identity.is_stale(claim, f"{meta['name']}-{ordinal}"):
                # no event queues the set when the claim is deleted
                raise _NotYetError(f"pvc {name} belongs to a pod that is gone")
        return False

    def _tell(self, stateful_set: Document, verb: str, pod: str, error: ApiError | None = None) -> None:
        start = f"{verb} Pod {pod} in StatefulSet {stateful_set['metadata']['name']}"
        if error is None:
            self.recorder.normal(stateful_set, f"Successful{verb}", f"{start} successful")
        else:
            self.recorder.warning(stateful_set, f"Failed{verb}", f"{start} failed error: {error.message}")

    # -- status

    def _report(self, key: Key, sync: _Sync) -> None:
        stateful_set = sync.stateful_set
        spec, old = stateful_set["spec"], stateful_set["status"]
        names = (sync.current["metadata"]["name"], sync.update["metadata"]["name"])
        there = ready = available = current = updated = 0
        waits: list[float] = []
        for pod in self.pods.of(stateful_set["metadata"]["uid"]):
            if not self.may_own(stateful_set, pod):
                continue
            there += 1
            if pod.phase == "Running" and pod.ready:
                ready += 1
                seconds = pod.seconds_to_available(sync.least_seconds, sync.now)
                available += seconds == 0.0
                waits += [seconds] if seconds else []
            if not pod.deleting:
                revision = pod.labels.get(identity.REVISION)
                current += revision == names[0]
                updated += revision == names[1]
        if spec["updateStrategy"]["type"] == ROLLING_UPDATE and updated == ready == there == spec["replicas"]:
            current, names = updated, (names[1], names[1])
        status = {
            **counts(observedGeneration=stateful_set["metadata"].get("generation") or 0),
            "replicas": there,
            **counts(readyReplicas=ready, currentReplicas=current, updatedReplicas=updated),
            "currentRevision": names[0],
            "updateRevision": names[1],
            "collisionCount": old.get("collisionCount") or 0,
            **({"conditions": old["conditions"]} if old.get("conditions") else {}),
            "availableReplicas": available,
        }
        stored = self.context.find(self.prefix, *key)
        if stored is not None and status != stored.get("status"):
            stored["status"] = status
            self.context.update(self.prefix, stored, "status")
        if waits:
            self.workqueue.add_after(key, min(waits))

    def _truncate(self, sync: _Sync, revisions: list[Document]) -> None:
        stateful_set = sync.stateful_set
        live = {pod.labels.get(identity.REVISION, "") for pod in self.pods.of(stateful_set["metadata"]["uid"])}
        live |= {each["metadata"]["name"] for each in (sync.current, sync.update)}
        limit = stateful_set["spec"].get("revisionHistoryLimit")
        if limit is not None and len(revisions) > limit:
            self._revisions.truncate(revisions, live, limit)


def _known_hash(stateful_set: Document) -> str:
    """Return the hash in the update revision of an observed status, empty if there is none.

    With it, stateful sets that were imported without their revisions keep their pods.
    """
    named = stateful_set["status"].get("updateRevision") or ""
    prefix = f"{stateful_set['metadata']['name']}-"
    return named.removeprefix(prefix) if is_observed(stateful_set) and named.startswith(prefix) else ""
