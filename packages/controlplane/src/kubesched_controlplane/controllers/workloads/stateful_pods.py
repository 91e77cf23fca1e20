"""The pods of stateful sets: their identity by ordinal, and their volume claims.

From a set and an ordinal to a pod and its claims, and from the set's retention policy to the claims' owner references.
"""

# upstream: pkg/controller/statefulset/{stateful_set_utils,stateful_pod_control}.go (v1.36)

import re
from collections.abc import Callable
from typing import Final

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.controllers.workloads.owning import controller_reference
from kubesched_controlplane.controllers.workloads.pods import PodView
from kubesched_controlplane.kinds.checks import part

POD_NAME: Final = "statefulset.kubernetes.io/pod-name"
POD_INDEX: Final = "apps.kubernetes.io/pod-index"
REVISION: Final = "controller-revision-hash"
DELETE: Final = "Delete"
_NAME = re.compile(r"(.*)-([0-9]+)", re.DOTALL)
_MOST_INT32 = 2**31 - 1


def parent_and_ordinal(name: str) -> tuple[str, int]:
    """Return the set and the ordinal in a pod's name; -1 if the name has no ordinal."""
    found = _NAME.fullmatch(name)
    if found is None:
        return "", -1
    ordinal = int(found[2]) if len(found[2]) < 11 else _MOST_INT32 + 1
    return found[1], ordinal if ordinal <= _MOST_INT32 else -1


def first_ordinal(stateful_set: Document) -> int:
    """Return the ordinal of the first pod."""
    return (stateful_set["spec"].get("ordinals") or {}).get("start") or 0


def is_in_range(stateful_set: Document, ordinal: int) -> bool:
    """Return whether a set should have a pod with an ordinal."""
    start = first_ordinal(stateful_set)
    count: int = stateful_set["spec"]["replicas"]
    return start <= ordinal < start + count


def complete(pod: Document, stateful_set: Document, ordinal: int, revision: str) -> None:
    """Give a new pod its name, labels, host name and volumes by its ordinal, and the label of its revision."""
    identify(pod, stateful_set, ordinal)
    pod["metadata"]["labels"][REVISION] = revision
    pod["spec"] = {**pod["spec"], "hostname": pod["metadata"]["name"]}
    if stateful_set["spec"].get("serviceName"):
        pod["spec"]["subdomain"] = stateful_set["spec"]["serviceName"]
    add_claimed_volumes(pod, stateful_set, ordinal)


def identify(pod: Document, stateful_set: Document, ordinal: int) -> None:
    """Set the name and the labels of a pod by its ordinal."""
    meta, name = pod["metadata"], f"{stateful_set['metadata']['name']}-{ordinal}"
    meta["name"] = name
    part(meta, "labels").update({POD_NAME: name, POD_INDEX: str(ordinal)})


def add_claimed_volumes(pod: Document, stateful_set: Document, ordinal: int) -> None:
    """Add the volumes of a pod's claims, in place of other volumes with the same names."""
    claims = {template["metadata"]["name"]: name for template, name in claim_names(stateful_set, ordinal)}
    if not claims:
        return
    given = [volume for volume in pod["spec"].get("volumes") or () if volume.get("name") not in claims]
    claimed = [{"name": name, "persistentVolumeClaim": {"claimName": claim}} for name, claim in claims.items()]
    pod["spec"] = {**pod["spec"], "volumes": [*claimed, *given]}


def claim_names(stateful_set: Document, ordinal: int) -> list[tuple[Document, str]]:
    """Return the volume claim templates, each with the name of its claim for an ordinal."""
    set_name = stateful_set["metadata"]["name"]
    return [
        (template, f"{template['metadata']['name']}-{set_name}-{ordinal}")
        for template in stateful_set["spec"].get("volumeClaimTemplates") or ()
    ]


def claim_of(stateful_set: Document, template: Document, name: str) -> Document:
    """Return the claim for a volume claim template."""
    described, meta = template["metadata"], stateful_set["metadata"]
    made: Document = {"name": name, "namespace": meta["namespace"]}
    labels = {
        **(described.get("labels") or {}),
        **(stateful_set["spec"]["selector"].get("matchLabels") or {}),
    }
    if labels:
        made["labels"] = labels
    for field in ("annotations", "finalizers"):
        if described.get(field):
            made[field] = described[field]
    return {"metadata": made, "spec": template["spec"]}


# -- owner references of claims


def is_stale(claim: Document, pod_name: str, pod_uid: str = "") -> bool:
    """Return whether a former pod of the same name owns a claim, which will be deleted with that pod."""
    return any(
        _names(owner, "v1", "Pod", pod_name) and owner.get("uid") != pod_uid
        for owner in claim["metadata"].get("ownerReferences") or ()
    )


def owners_of_claim(claim: Document, stateful_set: Document, pod: PodView) -> list[Document] | None:
    """Return the owner references that a claim should have by its set's retention policy, None if unchanged."""
    owners = claim["metadata"].get("ownerReferences") or []
    of_set = _is_named("apps/v1", "StatefulSet", stateful_set["metadata"]["name"])
    of_pod = _is_named("v1", "Pod", pod.name)
    set_uid = stateful_set["metadata"]["uid"]
    if any(
        (of_set(owner) and owner.get("uid") != set_uid) or (of_pod(owner) and owner.get("uid") != pod.uid)
        for owner in owners
    ):
        # a former set or pod of the same name owns the claim, which will be deleted with that owner
        return None
    others = [owner for owner in owners if not of_set(owner) and not of_pod(owner)]
    policy = stateful_set["spec"].get("persistentVolumeClaimRetentionPolicy") or {}
    when_deleted, when_scaled = policy.get("whenDeleted") == DELETE, policy.get("whenScaled") == DELETE
    wanted = list(others)
    if not any(owner.get("controller") for owner in others) or not (when_deleted or when_scaled):
        scaled_down = not is_in_range(stateful_set, parent_and_ordinal(pod.name)[1])
        if when_scaled and scaled_down:
            reference = {"metadata": {"name": pod.name, "uid": pod.uid}}
            wanted.append(controller_reference("v1", "Pod", reference))
        elif when_deleted:
            wanted.append(controller_reference("apps/v1", "StatefulSet", stateful_set))
    return None if _keys(wanted) == _keys(owners) else wanted


def _is_named(api_version: str, kind: str, name: str) -> Callable[[Document], bool]:
    return lambda owner: _names(owner, api_version, kind, name)


def _names(owner: Document, api_version: str, kind: str, name: str) -> bool:
    return (owner.get("apiVersion"), owner.get("kind"), owner.get("name")) == (api_version, kind, name)


def _keys(owners: list[Document]) -> set[tuple[str, bool]]:
    return {(owner.get("uid") or "", bool(owner.get("controller"))) for owner in owners}
