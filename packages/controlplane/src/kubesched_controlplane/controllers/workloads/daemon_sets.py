"""Daemon sets: one pod on every node that fits the template.

    node or pod changes ──▶ that node is checked: are pods missing, surplus, or failed?
    template changes ─────▶ all nodes are checked; old pods are replaced within maxUnavailable or maxSurge

From daemon sets and nodes to pods and to the status of daemon sets.
"""

# upstream: pkg/controller/daemon/{daemon_controller,update}.go (v1.36)

from typing import Final

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import NODES, PODS
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.framework.controller import ControllerContext, Key
from kubesched_controlplane.controllers.workloads.daemon_nodes import (
    DaemonNode,
    NodeFitness,
    bound_to,
    daemon_spec,
    node_of,
    target_of,
)
from kubesched_controlplane.controllers.workloads.daemon_places import NOWHERE, DaemonPods, NodeTally
from kubesched_controlplane.controllers.workloads.owning import BURST, PodOwners, counts, is_namespace_terminating
from kubesched_controlplane.controllers.workloads.pods import PodsByOwner, PodView
from kubesched_controlplane.controllers.workloads.revisions import REVISIONS, Revisions, is_observed
from kubesched_controlplane.kinds.checks import part
from kubesched_controlplane.kinds.workload.rollouts import ROLLING_UPDATE, TEMPLATE_GENERATION
from kubesched_controlplane.kinds.workload.templates import share_of
from kubesched_controlplane.storage.store import DELETED, Change, Changed

DAEMON_SETS = "daemonsets.apps"
HASH: Final = "controller-revision-hash"
_GENERATION: Final = "pod-template-generation"
_LEAST_FAILED_SECONDS, _MOST_FAILED_SECONDS = 1.0, 900.0


class _Sync(msgspec.Struct):
    """One reconcile of a daemon set."""

    daemon_set: Document
    places: DaemonPods
    # the label value of pods of the current template
    template_hash: str

    @property
    def least_seconds(self) -> int:
        """Return how long a pod must be ready to be available."""
        return self.daemon_set["spec"].get("minReadySeconds") or 0

    def is_new(self, pod: PodView) -> bool:
        """Return whether a pod was created from the current template."""
        return pod.labels.get(HASH) == self.template_hash

    def surge(self, nodes: int) -> int:
        """Return maxSurge as a number of nodes; 0 unless pods are replaced by a rolling update."""
        updates = self.daemon_set["spec"]["updateStrategy"]
        share = (updates.get("rollingUpdate") or {}).get("maxSurge")
        return share_of(share, nodes, round_up=True) if updates["type"] == ROLLING_UPDATE and share else 0


class DaemonSetController(PodOwners):
    """Creates, replaces and deletes the pods of daemon sets, and keeps their status."""

    prefix = DAEMON_SETS
    api_version, kind, component = "apps/v1", "DaemonSet", "daemonset-controller"

    def __init__(self, context: ControllerContext, pods: PodsByOwner, revisions: Revisions) -> None:
        super().__init__(context, pods)
        self._revisions = revisions
        self._nodes: dict[str, DaemonNode] = {}
        self._places: dict[Key, DaemonPods] = {}

    # -- events

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {NODES: self._node_changed, **super().watches()}

    def _node_changed(self, change: Change) -> None:
        name = change.new.name
        if change.type == DELETED:
            self._nodes.pop(name, None)
        else:
            node = node_of(change.new)
            if self._nodes.get(name) == node:
                return
            self._nodes[name] = node
        for key, places in self._places.items():
            places.node_changed(name)
            self.workqueue.add(key)

    def pod_changed(self, before: PodView | None, after: PodView | None) -> None:
        """Mark the node of a pod to be checked, and queue the pod's owner."""
        for pod in (before, after):
            places = None if pod is None or pod.owner is None else self._places.get((pod.namespace, pod.owner.name))
            if pod is None or pod.owner is None or places is None or places.uid != pod.owner.uid:
                continue
            if pod is after:
                self._put(places, pod)
            elif after is None or after.owner != pod.owner:
                places.drop(pod)
        super().pod_changed(before, after)

    def _put(self, places: DaemonPods, pod: PodView) -> None:
        node = places.target(pod)
        if not node:
            document = self.context.find(PODS, pod.namespace, pod.name)
            node = "" if document is None else target_of(document)
        places.put(pod, node)

    def forget(self, key: Key, uid: str) -> None:
        """Forget a deleted daemon set."""
        self._places.pop(key, None)

    # -- reconciling

    def reconcile(self, key: Key) -> None:
        """Create and delete pods on changed nodes, replace old pods, and write the status."""
        daemon_set = self.context.find(self.prefix, *key)
        if daemon_set is None or "deletionTimestamp" in daemon_set["metadata"]:
            return
        self.adopt_and_release(daemon_set)
        reference = self.reference(daemon_set)
        revisions = self._revisions.of(daemon_set, self._known[key[0]][key[1]].selector, reference)
        revisions = [self._labelled(revision) for revision in revisions]
        known_as = "" if revisions else self._known_hash(daemon_set)
        current = self._revisions.current(daemon_set, revisions, reference, HASH, known_as)
        sync = _Sync(daemon_set, self._remembered(key, daemon_set), current["metadata"]["labels"][HASH])
        problem: ApiError | None = None
        try:
            self._see_to_nodes(sync)
            if not sync.places.changed and daemon_set["spec"]["updateStrategy"]["type"] == ROLLING_UPDATE:
                self._replace(sync)
        except ApiError as error:
            problem = error
        self._report(key, sync)
        self._truncate(sync, revisions, current)
        self._recheck(key, sync.places)
        if problem is None:
            self.retries.forget(key)
        elif not is_namespace_terminating(problem):
            self.retries.again(key)

    def _labelled(self, revision: Document) -> Document:
        """Return a revision with the hash label of its pods; without the label, its name becomes the hash."""
        labels = part(revision["metadata"], "labels")
        if HASH in labels:
            return revision
        labels[HASH] = revision["metadata"]["name"]
        return self.context.update(REVISIONS, revision)

    def _known_hash(self, daemon_set: Document) -> str:
        """Return the controller-revision-hash that pods of the current template generation have, or an empty text.

        With it, daemon sets that were imported without their revisions keep their pods.
        """
        meta = daemon_set["metadata"]
        generation = (meta.get("annotations") or {}).get(TEMPLATE_GENERATION)
        if not generation or not is_observed(daemon_set):
            return ""
        fitting = (pod.labels for pod in self.pods.of(meta["uid"]) if pod.labels.get(_GENERATION) == generation)
        return next((labels[HASH] for labels in fitting if HASH in labels), "")

    def _remembered(self, key: Key, daemon_set: Document) -> DaemonPods:
        """Return the pods of a daemon set by node; a new generation of the set marks all nodes to be checked."""
        meta = daemon_set["metadata"]
        places = self._places.get(key)
        if places is None or places.uid != meta["uid"]:
            places = self._places[key] = DaemonPods(meta["uid"])
            for pod in self.pods.of(meta["uid"]):
                self._put(places, pod)
        if places.generation != meta.get("generation"):
            places.begin(meta.get("generation") or 0, NodeFitness(daemon_set["spec"]["template"]), self._nodes)
        return places

    def _recheck(self, key: Key, places: DaemonPods) -> None:
        now = self.context.loop.time()
        due = places.next_due(now)
        if due is not None:
            self.workqueue.add_after(key, due - now)
        if places.changed:
            self.workqueue.add(key)

    # -- nodes

    def _see_to_nodes(self, sync: _Sync) -> None:
        """Create and delete pods on changed nodes, up to a limit."""
        places, left = sync.places, BURST
        places.next_due(self.context.loop.time())
        while places.changed and left > 0:
            name = next(iter(places.changed))
            del places.changed[name]
            left -= self._reconcile_node(sync, name)

    def _reconcile_node(self, sync: _Sync, name: str) -> int:
        """Create or delete pods on a node; return how many. After an error the node is checked again."""
        places, node = sync.places, self._nodes.get(name)
        pods = [pod for pod in places.on(name) if not (pod.deleting and pod.terminal)]
        if node is None:
            # the pod garbage collector deletes pods of a deleted node, unless they are not bound yet
            places.count(name, NOWHERE)
            missing, doomed = False, [pod for pod in pods if name and not pod.node and not pod.deleting]
        else:
            should_run, may_stay = places.fits(node)
            places.count(name, self._judge(sync, name, pods, should_run=should_run))
            missing, doomed = self._decide(sync, name, pods, should_run=should_run, may_stay=may_stay)
        try:
            if missing:
                self._start(sync, name)
            for pod in doomed:
                self.delete_pod(sync.daemon_set, pod)
        except ApiError:
            places.changed[name] = None
            raise
        return missing + len(doomed)

    def _judge(self, sync: _Sync, name: str, pods: list[PodView], *, should_run: bool) -> NodeTally:
        """Return the contribution of a node to the counts, by its oldest pod."""
        if not should_run:
            return NodeTally(misscheduled=bool(pods))
        if not pods:
            return NodeTally(desired=True, unavailable=True)
        now, least = self.context.now(), sync.least_seconds
        waits = [seconds for pod in pods if (seconds := pod.seconds_to_available(least, now))]
        if waits:
            sync.places.recheck_at(name, self.context.loop.time() + min(waits))
        alive = [pod for pod in pods if not pod.deleting]
        new = [pod for pod in alive if sync.is_new(pod)]
        eldest = min(pods, key=_seniority)
        return NodeTally(
            desired=True,
            scheduled=True,
            ready=eldest.ready,
            available=eldest.available(least, now),
            updated=sync.is_new(eldest),
            outdated=len(alive) > len(new) and not new,
            unavailable=not any(pod.available(least, now) for pod in alive),
        )

    def _decide(
        self, sync: _Sync, name: str, pods: list[PodView], *, should_run: bool, may_stay: bool
    ) -> tuple[bool, list[PodView]]:
        """Return whether to create a pod on a node, and which pods to delete."""
        if should_run and not pods:
            return True, []
        if not may_stay:
            return False, [pod for pod in pods if not pod.deleting]
        doomed = [pod for pod in pods if pod.terminal and not pod.deleting and self._may_go(sync, name, pod)]
        running = sorted((pod for pod in pods if pod.active), key=_seniority)
        if not sync.surge(1):
            return False, doomed + running[1:]
        if len(running) <= 1:
            return not running and should_run, doomed
        return False, doomed + self._surplus(sync, running)

    def _surplus(self, sync: _Sync, running: list[PodView]) -> list[PodView]:
        """Return which of several pods on a node to delete: an old pod stays until a new one is available."""
        new = [pod for pod in running if sync.is_new(pod)]
        old = [pod for pod in running if not sync.is_new(pod)]
        doomed = new[1:] + old[1:]
        if new and old and (not old[0].ready or new[0].available(sync.least_seconds, self.context.now())):
            doomed.append(old[0])
        return doomed

    def _may_go(self, sync: _Sync, name: str, pod: PodView) -> bool:
        """Return whether to delete a terminal pod now: failed pods back off."""
        named = f"daemon pod {pod.namespace}/{pod.name} on node {name}"
        if pod.phase == "Succeeded":
            message = f"Found succeeded {named}, will try to delete it"
            self.recorder.normal(sync.daemon_set, "SucceededDaemonPod", message)
            return True
        now = self.context.loop.time()
        times, until = sync.places.failed.get(name, (0, 0.0))
        if now < until:
            sync.places.recheck_at(name, until)
            return False
        if now > until + 2 * _MOST_FAILED_SECONDS:
            times = 0
        wait = min(_LEAST_FAILED_SECONDS * 2**times, _MOST_FAILED_SECONDS)
        sync.places.failed[name] = (min(times + 1, 20), now + wait)
        self.recorder.warning(sync.daemon_set, "FailedDaemonPod", f"Found failed {named}, will try to kill it")
        return True

    def _start(self, sync: _Sync, node: str) -> None:
        daemon_set = sync.daemon_set
        template = daemon_set["spec"]["template"]
        pod = self.pod_of(daemon_set, template)
        labels = part(pod["metadata"], "labels")
        labels[HASH] = sync.template_hash
        generation = (daemon_set["metadata"].get("annotations") or {}).get(TEMPLATE_GENERATION)
        if generation:
            labels[_GENERATION] = generation
        pod["spec"] = bound_to(daemon_spec(template["spec"]), node)
        self.create_pod(daemon_set, pod)

    # -- replacing

    def _replace(self, sync: _Sync) -> None:
        """Delete old pods, or surge new ones, within the limits of the update; unavailable pods do not count."""
        places, desired = sync.places, sync.places.totals["desired"]
        surge = sync.surge(desired)
        share = sync.daemon_set["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"]
        if surge:
            left = max(0, surge - places.doubled())
        else:
            left = max(0, max(1, share_of(share, desired, round_up=True)) - places.totals["unavailable"])
        for name in list(places.outdated):
            useless = places.place(name).unavailable
            if not useless and not left:
                continue
            left -= not useless
            if surge:
                self._start(sync, name)
                continue
            for pod in places.on(name):
                if pod.active:
                    self.delete_pod(sync.daemon_set, pod)

    # -- status

    def _report(self, key: Key, sync: _Sync) -> None:
        totals, stored = sync.places.totals, self.context.find(self.prefix, *key)
        if stored is None:
            return
        old = stored.get("status") or {}
        status = {
            "currentNumberScheduled": totals["scheduled"],
            "numberMisscheduled": totals["misscheduled"],
            "desiredNumberScheduled": totals["desired"],
            "numberReady": totals["ready"],
            **counts(
                observedGeneration=sync.places.generation,
                updatedNumberScheduled=totals["updated"],
                numberAvailable=totals["available"],
                numberUnavailable=totals["desired"] - totals["available"],
            ),
        }
        collisions = (sync.daemon_set.get("status") or {}).get("collisionCount")
        if collisions is not None:
            status["collisionCount"] = collisions
        if old.get("conditions"):
            status["conditions"] = old["conditions"]
        if status != old:
            stored["status"] = status
            self.context.update(self.prefix, stored, "status")

    def _truncate(self, sync: _Sync, revisions: list[Document], current: Document) -> None:
        limit = sync.daemon_set["spec"].get("revisionHistoryLimit")
        if limit is None or len(revisions) <= limit + 1:
            return
        hashes = sync.places.label_values(HASH)
        live = {each["metadata"]["name"] for each in revisions if each["metadata"]["labels"].get(HASH) in hashes}
        self._revisions.truncate(revisions, live | {current["metadata"]["name"]}, limit)


def _seniority(pod: PodView) -> tuple[bool, str, str]:
    """Return the sort key of pods on a node: scheduled pods first, then the oldest."""
    return not pod.node, pod.created, pod.name
