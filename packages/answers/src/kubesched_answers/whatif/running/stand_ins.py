"""Stand-ins for workloads that were not read and are known only by their pods.

From pods whose controller is no document of the source to documents of such controllers, with as many replicas as
they have pods, and the template of their newest pod. For a controller of another group (an operator's) the stand-in
is a ReplicaSet with its name and UID.
"""

from collections.abc import Iterable, Mapping
from typing import Final, NamedTuple

from kubesched.api.codec import to_builtins
from kubesched.api.meta import OwnerReference
from kubesched.api.pods import Pod
from kubesched.model.owners import TEMPLATE_HASH
from kubesched_controlplane.api.documents import Document

# controllers without stand-ins: their pods are bound to their nodes, or end without them
_LEFT_ALONE: Final = ("DaemonSet", "Node")
_KNOWN: Final = {
    "ReplicaSet": "apps/v1",
    "StatefulSet": "apps/v1",
    "ReplicationController": "v1",
    "Job": "batch/v1",
}
# labels that controllers write
WRITTEN_LABELS: Final = frozenset(
    {
        "apps.kubernetes.io/pod-index",
        "statefulset.kubernetes.io/pod-name",
        "controller-revision-hash",
        "controller-uid",
        "job-name",
        "batch.kubernetes.io/controller-uid",
        "batch.kubernetes.io/job-name",
        "batch.kubernetes.io/job-completion-index",
        "pod-template-generation",
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
    }
)
MARK: Final = "kubesched.io/stands-for"

Key = tuple[str, str, str]


class StandIns(NamedTuple):
    """Documents of controllers, and the owner references that replace the pods' own ones, by UID."""

    documents: tuple[Document, ...]
    references: Mapping[str, OwnerReference]
    # pods that get the mark as a label, since their controller could not select them otherwise, by UID of the owner
    marked: Mapping[str, str]
    # the owners with stand-ins, by UID
    originals: Mapping[str, OwnerReference]


def stand_ins(pods: Iterable[Pod], known: Iterable[Document]) -> StandIns:
    """Return stand-ins for the unknown controllers of pods."""
    there = {(each["kind"], each["metadata"].get("namespace", "default"), each["metadata"]["name"]) for each in known}
    owned: dict[str, tuple[OwnerReference, list[Pod]]] = {}
    for pod in pods:
        owner = pod.metadata.controller
        if owner is None or pod.terminal or owner.kind in _LEFT_ALONE:
            continue
        if (owner.kind, pod.namespace, owner.name) not in there:
            owned.setdefault(owner.uid or f"{owner.kind}/{pod.namespace}/{owner.name}", (owner, []))[1].append(pod)
    documents: list[Document] = []
    references: dict[str, OwnerReference] = {}
    marked: dict[str, str] = {}
    originals: dict[str, OwnerReference] = {}
    for uid, (owner, found) in owned.items():
        document, mark = _stand_in(uid, owner, found)
        if mark:
            marked[uid] = mark
        documents += _priority_class(document, found)
        documents.append(document)
        originals[uid] = owner
        if document["kind"] != owner.kind or not owner.uid:
            references[uid] = OwnerReference(
                api_version=document["apiVersion"], kind=document["kind"], name=owner.name, uid=uid, controller=True
            )
        above = _deployment_above(document, found, there)
        if above is not None:
            documents.append(above)
    return StandIns(tuple(documents), references, marked, originals)


def _stand_in(uid: str, owner: OwnerReference, pods: list[Pod]) -> tuple[Document, str]:
    version = _KNOWN.get(owner.kind)
    kind = owner.kind if version is not None and owner.api_version in ("", version) else "ReplicaSet"
    alive = [pod for pod in pods if not pod.terminating]
    newest = max(alive or pods, key=lambda pod: (str(pod.metadata.creation_timestamp or ""), pod.name))
    labels = set.intersection(*(set(pod.metadata.labels.items()) for pod in pods))
    shared = {key: value for key, value in sorted(labels) if key not in WRITTEN_LABELS}
    mark = "" if shared else owner.name[:63]
    selected = shared or {MARK: mark}
    template = _template_of(newest, selected)
    spec: Document = {"template": template}
    if kind == "Job":
        spec |= {"parallelism": len(alive), "selector": {"matchLabels": selected}, "manualSelector": True}
        template["spec"]["restartPolicy"] = "Never"
    elif kind == "ReplicationController":
        spec |= {"replicas": len(alive), "selector": selected}
    else:
        spec |= {"replicas": len(alive), "selector": {"matchLabels": selected}}
    if kind == "StatefulSet":
        ordinals = [int(each) for pod in alive if (each := pod.name.rpartition("-")[2]).isdecimal()]
        first = min(ordinals, default=0)
        spec |= {
            "serviceName": owner.name,
            "replicas": max(ordinals, default=first - 1) - first + 1,
            "ordinals": {"start": first},
            "podManagementPolicy": "Parallel",
        }
    meta = {"name": owner.name, "namespace": newest.namespace, "uid": uid, "labels": dict(selected)}
    return {"apiVersion": _KNOWN[kind], "kind": kind, "metadata": meta, "spec": spec}, mark


def _priority_class(replicas: Document, pods: list[Pod]) -> list[Document]:
    """Set a class with the priority of the pods in the template; return it, or None if they have none or name one."""
    spec = replicas["spec"]["template"]["spec"]
    value = pods[0].spec.priority
    if not value or spec.get("priorityClassName"):
        return []
    name = f"priority-{value}".replace("--", "-minus-")
    spec["priorityClassName"] = name
    meta = {"name": name, "uid": f"PriorityClass/{name}"}
    return [{"apiVersion": "scheduling.k8s.io/v1", "kind": "PriorityClass", "metadata": meta, "value": value}]


def _template_of(pod: Pod, labels: Mapping[str, str]) -> Document:
    """Return a template from a pod."""
    document = to_builtins(pod)
    annotations = {**(document["metadata"].get("annotations") or {})}
    spec = {field: value for field, value in document["spec"].items() if field not in ("nodeName", "priority")}
    for volume in spec.get("volumes") or ():
        volume.setdefault("name", "volume")
    meta: Document = {"labels": dict(labels)}
    if annotations:
        meta["annotations"] = annotations
    return {"metadata": meta, "spec": spec}


def _deployment_above(replicas: Document, pods: list[Pod], there: set[Key]) -> Document | None:
    """Make a ReplicaSet whose name ends with its pods' hash part of a Deployment; return that, unless it exists."""
    meta = replicas["metadata"]
    mark = pods[0].metadata.labels.get(TEMPLATE_HASH, "")
    if replicas["kind"] != "ReplicaSet" or not mark or not meta["name"].endswith(f"-{mark}"):
        return None
    name = meta["name"].removesuffix(f"-{mark}")
    uid = f"Deployment/{meta['namespace']}/{name}"
    if ("Deployment", meta["namespace"], name) in there:
        return None
    there.add(("Deployment", meta["namespace"], name))
    meta["ownerReferences"] = [
        {"apiVersion": "apps/v1", "kind": "Deployment", "name": name, "uid": uid, "controller": True}
    ]
    template = replicas["spec"]["template"]
    labels = {key: value for key, value in template["metadata"]["labels"].items() if key != TEMPLATE_HASH}
    if not labels:
        return None
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name, "namespace": meta["namespace"], "uid": uid},
        "spec": {
            "replicas": replicas["spec"]["replicas"],
            "selector": {"matchLabels": labels},
            "template": {**template, "metadata": {**template["metadata"], "labels": labels}},
        },
    }
