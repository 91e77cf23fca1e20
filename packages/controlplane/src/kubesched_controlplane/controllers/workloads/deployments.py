"""Deployments: a replica set for each revision of the template, scaled from the old sets to the new one.

    template ──hash──▶ new set ──scaled up──▶ rollout complete ──▶ old sets kept for rollbacks, then deleted
                    old sets ──scaled down──┘

From a deployment and its replica sets to the replicas of the sets and the deployment's status, which is written once,
at the end of a reconcile.
"""

# upstream: pkg/controller/deployment/{deployment_controller,sync,rolling,recreate,progress}.go (v1.36)

from kubesched.api.labels import NOTHING, InvalidSelectorError, Selector, from_label_selector
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.controllers.framework.recorder import ControllerEventRecorder
from kubesched_controlplane.controllers.framework.retrying import Retries
from kubesched_controlplane.controllers.framework.views import controller_of, metadata_of
from kubesched_controlplane.controllers.workloads import rollouts
from kubesched_controlplane.controllers.workloads.conditions import find_condition
from kubesched_controlplane.controllers.workloads.owning import is_namespace_terminating
from kubesched_controlplane.controllers.workloads.pods import PodsByOwner, PodView
from kubesched_controlplane.controllers.workloads.progress import (
    count_pods,
    note_pause,
    note_progress,
    report,
    seconds_to_deadline,
)
from kubesched_controlplane.controllers.workloads.replica_sets import REPLICA_SETS
from kubesched_controlplane.controllers.workloads.rollouts import PROGRESSING, wanted
from kubesched_controlplane.controllers.workloads.template_sets import (
    deployment_reference,
    hand_on_annotations,
    next_revision,
    set_for,
    set_revision,
    set_sizes,
)
from kubesched_controlplane.kinds.checks import as_selector, part
from kubesched_controlplane.kinds.workload.rollouts import RECREATE
from kubesched_controlplane.storage.store import DELETED, Change, Changed

DEPLOYMENTS = "deployments.apps"


class DeploymentController(Controller):
    """Rolls out deployments."""

    def __init__(self, context: ControllerContext, pods: PodsByOwner) -> None:
        super().__init__(context)
        self._pods = pods
        self._recorder = ControllerEventRecorder(context, "deployment-controller")
        self._retries = Retries(self.workqueue)
        self._selectors: dict[str, dict[str, Selector]] = {}
        # the names of replica sets by the UID of their deployment; orphans by namespace
        self._sets: dict[str, dict[str, None]] = {}
        self._orphans: dict[str, dict[str, None]] = {}
        pods.listen("ReplicaSet", self)

    # -- events

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {REPLICA_SETS: self._set_changed, DEPLOYMENTS: self._deployment_changed}

    def _deployment_changed(self, change: Change) -> None:
        namespace, name = change.new.namespace, change.new.name
        selectors = self._selectors.setdefault(namespace, {})
        if change.type == DELETED:
            selectors.pop(name, None)
            self.workqueue.forget((namespace, name))
            self._retries.forget((namespace, name))
            self._sets.pop(change.new.uid, None)
            return
        if name not in selectors or change.old is None:
            selector = (change.new.document().get("spec") or {}).get("selector")
            try:
                selectors[name] = from_label_selector(as_selector(selector))
            except InvalidSelectorError:
                selectors[name] = NOTHING
        self._add(change)

    def _set_changed(self, change: Change) -> None:
        stored = change.new
        owners = [
            controller_of(metadata_of(each).owner_references) for each in (change.old, stored) if each is not None
        ]
        for owner in owners:
            if owner is not None:
                self._sets.get(owner.uid, {}).pop(stored.name, None)
                if owner.kind == "Deployment":
                    self.workqueue.add((stored.namespace, owner.name))
        orphans = self._orphans.setdefault(stored.namespace, {})
        orphans.pop(stored.name, None)
        if change.type == DELETED:
            return
        if owners[-1] is not None:
            self._sets.setdefault(owners[-1].uid, {})[stored.name] = None
            return
        orphans[stored.name] = None
        for name, selector in self._selectors.get(stored.namespace, {}).items():
            if not selector.empty and selector.matches(stored.labels):
                self.workqueue.add((stored.namespace, name))

    def pod_changed(self, before: PodView | None, after: PodView | None) -> None:
        """Queue a deployment that waits for its old pods to be deleted."""
        if before is None or before.owner is None or (after is not None and not after.terminal):
            return
        replicas = self.context.get(REPLICA_SETS, before.namespace, before.owner.name)
        owner = None if replicas is None else controller_of(metadata_of(replicas).owner_references)
        if owner is not None:
            self.workqueue.add((before.namespace, owner.name))

    def orphan_changed(self, pod: PodView) -> None:
        """Ignore orphan pods; replica sets adopt them."""

    # -- reconciling

    def reconcile(self, key: Key) -> None:
        """Take the next step of a deployment's rollout, and write its status."""
        deployment = self.context.find(DEPLOYMENTS, *key)
        if deployment is None:
            return
        before = self.context.find(DEPLOYMENTS, *key)
        part(deployment, "status")
        sets = self._claim(deployment)
        problem: ApiError | None = None
        try:
            self._step(key, deployment, sets)
        except ApiError as error:
            problem = error
        if deployment != before:
            self.context.update(DEPLOYMENTS, deployment, "status")
        if problem is None:
            self._retries.forget(key)
        elif not is_namespace_terminating(problem):
            self._retries.again(key)

    def _step(self, key: Key, deployment: Document, sets: list[Document]) -> None:
        if "deletionTimestamp" in deployment["metadata"]:
            count_pods(deployment, *self._split(deployment, sets), self.context.now())
            return
        note_pause(deployment, self.context.now())
        new, old = self._split(deployment, sets)
        if deployment["spec"].get("paused") or self._is_scaled(deployment, [*old, *([new] if new else ())]):
            self._scale(deployment, new, old)
            if deployment["spec"].get("paused"):
                self._clean_up(deployment, old)
            count_pods(deployment, *self._fresh(deployment), self.context.now())
            return
        if deployment["spec"]["strategy"]["type"] == RECREATE:
            self._recreate(deployment, new, old)
        else:
            self._roll(deployment, new, old)
        report(deployment, *self._fresh(deployment), self.context.now())
        left = seconds_to_deadline(deployment, self.context.now())
        if left is not None:
            self.workqueue.add_after(key, left)

    def _fresh(self, deployment: Document) -> tuple[Document | None, list[Document]]:
        """Return the new set and the old sets, read again."""
        return self._split(deployment, self._claim(deployment))

    def _split(self, deployment: Document, sets: list[Document]) -> tuple[Document | None, list[Document]]:
        new = rollouts.new_set(deployment, sets)
        old = [each for each in sets if new is None or each["metadata"]["uid"] != new["metadata"]["uid"]]
        if new is not None:
            new = self._keep_in_line(deployment, new, old)
        return new, old

    # -- adoption and release

    def _claim(self, deployment: Document) -> list[Document]:
        """Return the replica sets of a deployment; release sets that no longer match, adopt orphans that match."""
        meta = deployment["metadata"]
        namespace, deleting = meta["namespace"], "deletionTimestamp" in meta
        selector = self._selectors[namespace][meta["name"]]
        found = []
        for name in list(self._sets.get(meta["uid"], ())):
            replicas = self.context.find(REPLICA_SETS, namespace, name)
            if replicas is None:
                continue
            if selector.matches(replicas["metadata"].get("labels") or {}):
                found.append(replicas)
            elif not deleting and "deletionTimestamp" not in replicas["metadata"]:
                owners = replicas["metadata"].get("ownerReferences") or ()
                replicas["metadata"]["ownerReferences"] = [each for each in owners if each["uid"] != meta["uid"]]
                self.context.update(REPLICA_SETS, replicas)
        for name in () if deleting or selector.empty else list(self._orphans.get(namespace, ())):
            stored = self.context.get(REPLICA_SETS, namespace, name)
            if stored is None or not selector.matches(stored.labels):
                continue
            replicas = stored.document()
            if "deletionTimestamp" not in replicas["metadata"]:
                owners = replicas["metadata"].get("ownerReferences") or ()
                replicas["metadata"]["ownerReferences"] = [*owners, deployment_reference(deployment)]
                found.append(self.context.update(REPLICA_SETS, replicas))
        return rollouts.by_age(found)

    # -- revisions

    def _keep_in_line(self, deployment: Document, new: Document, old: list[Document]) -> Document:
        """Copy annotations and minReadySeconds to the new set, and its revision to the deployment."""
        before = dict(new["metadata"].get("annotations") or {})
        least = deployment["spec"].get("minReadySeconds") or 0
        hand_on_annotations(deployment, new, next_revision(old))
        if new["metadata"]["annotations"] != before or (new["spec"].get("minReadySeconds") or 0) != least:
            new["spec"]["minReadySeconds"] = least
            new = self.context.update(REPLICA_SETS, new)
        set_revision(deployment, rollouts.annotation(new, rollouts.REVISION))
        if rollouts.has_deadline(deployment) and find_condition(deployment["status"], PROGRESSING) is None:
            message = f'Found new replica set "{new["metadata"]["name"]}"'
            note_progress(deployment, self.context.now(), "True", "FoundNewReplicaSet", message)
        return new

    def _create_set(self, deployment: Document, old: list[Document]) -> Document | None:
        """Create the set of the current template; return None after a collision of names, which is counted."""
        meta = deployment["metadata"]
        collisions = deployment["status"].get("collisionCount")
        replicas = set_for(deployment)
        name = replicas["metadata"]["name"]
        replicas["spec"]["replicas"] = rollouts.new_set_size(deployment, [*old, replicas], replicas)
        revision = next_revision(old)
        hand_on_annotations(deployment, replicas, revision)
        set_sizes(replicas, deployment)
        try:
            made = self.context.create(REPLICA_SETS, replicas)
        except ApiError as error:
            if error.reason == "AlreadyExists":
                deployment["status"]["collisionCount"] = (collisions or 0) + 1
                self.workqueue.add((meta["namespace"], meta["name"]))
                return None
            if not is_namespace_terminating(error):
                message = f'Failed to create new replica set "{name}": {error.message}'
                if rollouts.has_deadline(deployment):
                    note_progress(deployment, self.context.now(), "False", "ReplicaSetCreateError", message)
                self._recorder.warning(deployment, "ReplicaSetCreateError", message)
            raise
        if wanted(made):
            self._note_scaling(deployment, name, 0, wanted(made))
        set_revision(deployment, str(revision))
        if rollouts.has_deadline(deployment):
            note_progress(
                deployment, self.context.now(), "True", "NewReplicaSetCreated", f'Created new replica set "{name}"'
            )
        return made

    def _clean_up(self, deployment: Document, old: list[Document]) -> None:
        """Delete the oldest replica sets beyond the revision history limit."""
        limit = deployment["spec"].get("revisionHistoryLimit")
        if limit in (None, rollouts.FOR_EVER):
            return
        alive = [each for each in old if "deletionTimestamp" not in each["metadata"]]
        ordered = sorted(rollouts.by_age(alive), key=lambda each: rollouts.revision_of(each) or 0)
        for replicas in ordered[: max(0, len(alive) - limit)]:
            status, meta = replicas.get("status") or {}, replicas["metadata"]
            seen = (status.get("observedGeneration") or 0) >= (meta.get("generation") or 0)
            stored = self.context.get(REPLICA_SETS, meta["namespace"], meta["name"])
            if stored is not None and seen and not status.get("replicas") and not wanted(replicas):
                self.context.delete(REPLICA_SETS, stored)

    # -- scaling

    def _is_scaled(self, deployment: Document, sets: list[Document]) -> bool:
        """Return whether a deployment was scaled since its sets were last scaled."""
        sizes = [rollouts.whole_annotation(each, rollouts.DESIRED_REPLICAS) for each in rollouts.active(sets)]
        return any(size is not None and size != wanted(deployment) for size in sizes)

    def _scale(self, deployment: Document, new: Document | None, old: list[Document]) -> None:
        only = rollouts.active_or_latest(new, old)
        if only is not None:
            self._resize(deployment, only, wanted(deployment))
        elif new is not None and rollouts.is_saturated(deployment, new):
            for each in rollouts.active(old):
                self._resize(deployment, each, 0)
        elif rollouts.is_rolling(deployment):
            sets = rollouts.active([*old, *([new] if new is not None else ())])
            for each, size in rollouts.proportional_sizes(deployment, sets):
                self._resize(deployment, each, size, note=True)

    def _resize(self, deployment: Document, replicas: Document, size: int, *, note: bool = False) -> bool:
        """Scale a set; with `note`, update its annotations even at the same size. Return whether it was scaled."""
        before = wanted(replicas)
        if before == size and not note:
            return False
        changed = set_sizes(replicas, deployment)
        if before == size and not changed:
            return False
        replicas["spec"]["replicas"] = size
        self.context.update(REPLICA_SETS, replicas)
        if before != size:
            self._note_scaling(deployment, replicas["metadata"]["name"], before, size)
        return before != size

    def _note_scaling(self, deployment: Document, name: str, before: int, size: int) -> None:
        direction = "up" if size > before else "down"
        message = f"Scaled {direction} replica set {name} from {before} to {size}"
        self._recorder.normal(deployment, "ScalingReplicaSet", message)

    def _roll(self, deployment: Document, new: Document | None, old: list[Document]) -> None:
        if new is None:
            new = self._create_set(deployment, old)
            if new is None:
                return
        if wanted(new) != wanted(deployment):
            size = min(rollouts.new_set_size(deployment, [*old, new], new), wanted(deployment))
            if self._resize(deployment, new, size):
                return
        shrinking = rollouts.old_set_sizes(deployment, rollouts.active(old), new)
        for each, size in shrinking:
            self._resize(deployment, each, size)
        if not shrinking and rollouts.is_complete(deployment, deployment["status"]):
            self._clean_up(deployment, old)

    def _recreate(self, deployment: Document, new: Document | None, old: list[Document]) -> None:
        shrunk = [self._resize(deployment, each, 0) for each in rollouts.active(old)]
        if any(shrunk) or self._old_pods_run(old):
            return
        if new is None:
            new = self._create_set(deployment, old)
            if new is None:
                return
        self._resize(deployment, new, wanted(deployment))
        if rollouts.is_complete(deployment, deployment["status"]):
            self._clean_up(deployment, old)

    def _old_pods_run(self, old: list[Document]) -> bool:
        if rollouts.total(old, "replicas"):
            return True
        return any(not pod.terminal for each in old for pod in self._pods.of(each["metadata"]["uid"]))
