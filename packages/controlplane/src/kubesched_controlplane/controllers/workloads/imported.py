"""Imported workloads keep their current revision, and with it their pods.

From an imported deployment, stateful set or daemon set to its current revision or replica set with the template as this
server defaults it. A missing revision or replica set is created from the labels and owner references of the pods.
"""

from collections import Counter
from collections.abc import Iterable
from typing import Any, Final

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.workloads import daemon_sets, rollouts, stateful_sets
from kubesched_controlplane.controllers.workloads.deployments import DEPLOYMENTS
from kubesched_controlplane.controllers.workloads.owning import controller_reference
from kubesched_controlplane.controllers.workloads.replica_sets import REPLICA_SETS
from kubesched_controlplane.controllers.workloads.revisions import REVISIONS, revision_data, revision_of
from kubesched_controlplane.controllers.workloads.template_sets import set_for
from kubesched_controlplane.storage.store import Store
from kubesched_controlplane.transport.local_client import LocalClient

PODS: Final = "pods"
# the label of pods with their revision
REVISION: Final = "controller-revision-hash"
_PREFIXES: Final = {
    "Deployment": DEPLOYMENTS,
    "StatefulSet": stateful_sets.STATEFUL_SETS,
    "DaemonSet": daemon_sets.DAEMON_SETS,
}


class ImportedWorkloads:
    """Restores current revisions after an import, when all objects are stored and the controllers do not run yet."""

    def __init__(self, client: LocalClient) -> None:
        self._client = client
        self._store: Store = client.server.registry.store
        self._pods = self._by_owner(PODS)
        self._revisions = self._by_owner(REVISIONS)
        self._sets = self._by_owner(REPLICA_SETS)

    def _by_owner(self, prefix: str) -> dict[str, list[Document]]:
        """Return objects by the UID of their controller."""
        found: dict[str, list[Document]] = {}
        for stored in self._store.set_of(prefix):
            document = stored.document()
            if (owner := _owner(document)) is not None:
                found.setdefault(owner["uid"], []).append(document)
        return found

    def settle(self, kind: str, namespace: str, name: str) -> None:
        """Make the template of a workload its current revision, so that its controller keeps the pods."""
        stored = self._store.get(_PREFIXES[kind], namespace, name)
        if stored is None:
            return
        if kind == "Deployment":
            self._settle_deployment(stored.document())
        else:
            self._settle_set(kind, stored.document())

    def _replace(self, prefix: str, document: Document) -> None:
        """Store an object without its kind's update validation, which would refuse the change."""
        services = self._client.server.registry
        strategy = services.strategy(services.catalog.by_prefix[prefix])
        self._store.put(prefix, document, strategy.fields(document))

    # -- stateful sets and daemon sets

    def _settle_set(self, kind: str, owner: Document) -> None:
        revisions = sorted(self._revisions.get(owner["metadata"]["uid"], ()), key=lambda each: each["revision"])
        pods = self._pods.get(owner["metadata"]["uid"], [])
        data = revision_data(owner)
        current = next((each for each in revisions if each.get("data") == data), None)
        if current is None and revisions:
            current = {**revisions[-1], "data": data}
            self._replace(REVISIONS, current)
        if current is None and pods:
            current = self._made(kind, owner, _most_common_revision(owner, pods))
        if current is not None:
            self._mark(pods, _told_by_pods(kind, current))

    def _made(self, kind: str, owner: Document, told: str) -> Document | None:
        """Create the revision of a set's template, named as its pods are labelled; return None if that fails."""
        label = daemon_sets.HASH if kind == "DaemonSet" else stateful_sets.HASH
        known_as = told.removeprefix(f"{owner['metadata']['name']}-") if kind == "StatefulSet" else told
        revision = revision_of(owner, 1, controller_reference("apps/v1", kind, owner), label, known_as)
        try:
            return self._client.create(self._client.resource("apps/v1", "ControllerRevision"), revision)
        except ApiError:
            # the controller will create one with its own name
            return None

    def _mark(self, pods: Iterable[Document], told: str) -> None:
        """Add the revision label to pods without one."""
        for pod in pods:
            labels = pod["metadata"].setdefault("labels", {})
            if told and not labels.get(REVISION):
                labels[REVISION] = told
                self._replace(PODS, pod)

    # -- deployments

    def _settle_deployment(self, deployment: Document) -> None:
        sets = self._sets.get(deployment["metadata"]["uid"], [])
        if rollouts.new_set(deployment, sets) is not None:
            return
        current = _current_set(deployment, sets)
        if current is not None:
            template = deployment["spec"]["template"]
            labels = {
                **(template["metadata"].get("labels") or {}),
                rollouts.TEMPLATE_HASH: (current["metadata"].get("labels") or {}).get(rollouts.TEMPLATE_HASH, ""),
            }
            current["spec"]["template"] = {**template, "metadata": {**template["metadata"], "labels": labels}}
            self._replace(REPLICA_SETS, current)
        elif not sets:
            self._bring_back_set(deployment)

    def _bring_back_set(self, deployment: Document) -> None:
        """Create the replica set that owns most of a deployment's pods, if it was not imported."""
        meta, spec = deployment["metadata"], deployment["spec"]
        wanted = (spec["selector"].get("matchLabels") or {}).items()
        found: Counter[tuple[str, str, str]] = Counter()
        for pods in self._pods.values():
            for pod in pods:
                owner, labels = _owner(pod) or {}, pod["metadata"].get("labels") or {}
                own_hash = labels.get(rollouts.TEMPLATE_HASH, "")
                is_ours = pod["metadata"]["namespace"] == meta["namespace"] and wanted and wanted <= labels.items()
                if is_ours and own_hash and owner.get("kind") == "ReplicaSet":
                    found[owner["name"], owner["uid"], own_hash] += 1
        found_before = {stored.uid for stored in self._store.set_of(REPLICA_SETS)}
        for (name, uid, own_hash), count in found.most_common(1):
            if uid in found_before:
                continue
            deployment.setdefault("status", {})
            made = set_for(deployment, own_hash)
            made["metadata"]["name"] = name
            made["spec"]["replicas"] = count
            try:
                stored = self._client.take_over(self._client.resource("apps/v1", "ReplicaSet"), made)
            except ApiError:
                continue
            stored["metadata"]["uid"] = uid
            self._replace(REPLICA_SETS, stored)


def _owner(document: Document) -> dict[str, Any] | None:
    references = document["metadata"].get("ownerReferences") or ()
    return next((each for each in references if each.get("controller")), None)


def _most_common_revision(owner: Document, pods: Iterable[Document]) -> str:
    """Return the update revision of a set's status, or else the most common revision label of its pods."""
    named = (owner.get("status") or {}).get("updateRevision") or ""
    told = Counter((pod["metadata"].get("labels") or {}).get(REVISION, "") for pod in pods)
    told.pop("", None)
    return str(named or next((name for name, _ in told.most_common(1)), ""))


def _told_by_pods(kind: str, revision: Document) -> str:
    """Return the label value of a revision's pods: its name for stateful sets, its hash for daemon sets."""
    if kind == "StatefulSet":
        return str(revision["metadata"]["name"])
    return str((revision["metadata"].get("labels") or {}).get(daemon_sets.HASH, ""))


def _current_set(deployment: Document, sets: Iterable[Document]) -> Document | None:
    """Return the replica set with the same revision annotation as its deployment."""
    revision = rollouts.annotation(deployment, rollouts.REVISION)
    return next((each for each in sets if revision and rollouts.annotation(each, rollouts.REVISION) == revision), None)
