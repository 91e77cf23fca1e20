"""The replica sets of a deployment: their hashes, and the annotations that the deployment controller writes.

From a deployment's template to a replica set, and from the annotations of a deployment to its sets' annotations.
Nothing is written to the server.
"""

# upstream: pkg/controller/deployment/{sync.go (getNewReplicaSet),util/deployment_util.go} (v1.36)

from typing import Final

from kubesched.api.last_applied import LAST_APPLIED
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.controllers.workloads import rollouts
from kubesched_controlplane.controllers.workloads.hashing import short_hash
from kubesched_controlplane.controllers.workloads.owning import controller_reference
from kubesched_controlplane.controllers.workloads.rollouts import wanted
from kubesched_controlplane.kinds.checks import part

# annotations of a deployment that are not copied to its sets
_OWN_ANNOTATIONS: Final = (
    LAST_APPLIED,
    rollouts.REVISION,
    rollouts.REVISION_HISTORY,
    rollouts.DESIRED_REPLICAS,
    rollouts.MOST_REPLICAS,
    "deprecated.deployment.rollback.to",
)
_LONGEST_HISTORY: Final = 2000
_LONGEST_NAME: Final = 253


def next_revision(old: list[Document]) -> int:
    """Return the revision after the highest of the sets."""
    return max((rollouts.revision_of(each) or 0 for each in old), default=0) + 1


def deployment_reference(deployment: Document) -> Document:
    """Return the controller reference to a deployment."""
    return controller_reference("apps/v1", "Deployment", deployment)


def set_for(deployment: Document, known_as: str = "") -> Document:
    """Return a replica set for a deployment's template, with no replicas.

    The hash in its name and in the labels of its pods is `known_as`, or is computed from the template.
    """
    meta, spec = deployment["metadata"], deployment["spec"]
    template = spec["template"]
    name_hash = known_as or short_hash(template, deployment["status"].get("collisionCount"))
    name = f"{meta['name'][: _LONGEST_NAME - 1 - len(name_hash)]}-{name_hash}"
    mark = {rollouts.TEMPLATE_HASH: name_hash}
    described = template.get("metadata") or {}
    labels = {**(described.get("labels") or {}), **mark}
    selector = spec["selector"]
    return {
        "metadata": {
            "name": name,
            "namespace": meta["namespace"],
            "labels": labels,
            "ownerReferences": [deployment_reference(deployment)],
        },
        "spec": {
            "replicas": 0,
            "minReadySeconds": spec.get("minReadySeconds") or 0,
            "selector": {**selector, "matchLabels": {**(selector.get("matchLabels") or {}), **mark}},
            "template": {**template, "metadata": {**described, "labels": labels}},
        },
    }


def set_sizes(replicas: Document, deployment: Document) -> bool:
    """Write the replicas of a deployment into the annotations of a set; return whether they changed."""
    annotations = part(replicas["metadata"], "annotations")
    sizes = {
        rollouts.DESIRED_REPLICAS: str(wanted(deployment)),
        rollouts.MOST_REPLICAS: str(rollouts.most_replicas(deployment)),
    }
    changed = any(annotations.get(name) != size for name, size in sizes.items())
    annotations.update(sizes)
    return changed


def set_revision(deployment: Document, revision: str) -> None:
    """Write the revision annotation of a deployment."""
    if revision and rollouts.annotation(deployment, rollouts.REVISION) != revision:
        part(deployment["metadata"], "annotations")[rollouts.REVISION] = revision


def hand_on_annotations(deployment: Document, replicas: Document, revision: int) -> None:
    """Copy the annotations of a deployment to a set and raise its revision; keep former revisions as history."""
    annotations = part(replicas["metadata"], "annotations")
    for name, value in (deployment["metadata"].get("annotations") or {}).items():
        if name not in _OWN_ANNOTATIONS:
            annotations[name] = value
    before = annotations.get(rollouts.REVISION, "")
    number = rollouts.revision_of(replicas)
    if number is None or number >= revision:
        return
    annotations[rollouts.REVISION] = str(revision)
    if not before:
        return
    history = [each for each in annotations.get(rollouts.REVISION_HISTORY, "").split(",") if each] + [before]
    while len(",".join(history)) > _LONGEST_HISTORY:
        del history[0]
    annotations[rollouts.REVISION_HISTORY] = ",".join(history)
