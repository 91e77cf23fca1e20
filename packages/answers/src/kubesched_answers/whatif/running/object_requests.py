"""Requests about workloads and other objects: scale, apply, delete, and reschedule all pods.

From a name or manifests to requests as kubectl sends them, and to texts about their results.
"""

from typing import Any

from msgspec.structs import replace

from kubesched.api.codec import decode, to_builtins
from kubesched.api.last_applied import with_last_applied
from kubesched.api.pods import Pod, PodStatus
from kubesched.errors import InvalidObjectError, KubeschedError
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import DEFAULT_SCHEDULER, UnknownObjectError, nearest
from kubesched.sources.reduction import reduced
from kubesched.sources.workloads import is_workload, reduced_workload
from kubesched_answers.pod_owners import bound_to_node
from kubesched_answers.templates.applying import applied
from kubesched_answers.whatif.running import node_requests
from kubesched_answers.whatif.running.cluster import RunningCluster
from kubesched_answers.whatif.running.filling import with_images
from kubesched_answers.whatif.whatif_answer import WhatIfStep
from kubesched_answers.whatif.workload_operations import ApplyManifests, DeleteObject, ScaleWorkload
from kubesched_answers.whatif.workloads import REPLICAS_FIELDS, NamedObject
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError

MOST_NAMED = 5


# -- scale


def scale(cluster: RunningCluster, operation: ScaleWorkload) -> WhatIfStep:
    """Set the number of replicas of a workload."""
    resource, workload = find(cluster, operation.workload)
    cluster.asked_for.add(str(workload))
    field = REPLICAS_FIELDS[workload.kind]
    cluster.client.patch(resource, workload.namespace, workload.name, {"spec": {field: operation.replicas}})
    count = sum(1 for pod in cluster.pods.values() if cluster.owned_by(pod, workload) and not pod.terminating)
    return WhatIfStep(f"scale {workload} to {operation.replicas}", f"it has {count} pods now")


def find(cluster: RunningCluster, wanted: NamedObject) -> tuple[Resource, NamedObject]:
    """Return an object with its namespace; raises UnknownObjectError, also if several namespaces have it."""
    resource = next((each for each in cluster.server.registry.catalog.resources if each.kind == wanted.kind), None)
    if resource is None:
        raise UnknownObjectError(f"{wanted.kind} is not served here; deleting it changes nothing")
    known = [(each.namespace, each.name) for each in cluster.server.registry.store.set_of(resource.prefix)]
    found = [each for each in known if each[1] == wanted.name and wanted.namespace in ("", each[0])]
    if len(found) > 1:
        found = [each for each in found if each[0] == cluster.source.namespace] or found
    if len(found) == 1:
        return resource, NamedObject(wanted.kind, *found[0])
    if found:
        spaces = ", ".join(namespace for namespace, _ in sorted(found))
        raise UnknownObjectError(f"{wanted} is in several namespaces ({spaces}); write KIND/NAMESPACE/NAME")
    names = [f"{namespace}/{name}" if wanted.namespace else name for namespace, name in known]
    asked = f"{wanted.namespace}/{wanted.name}" if wanted.namespace else wanted.name
    raise UnknownObjectError(f"there is no {wanted.kind} {asked}{nearest(asked, names)}")


# -- apply


def apply(cluster: RunningCluster, operation: ApplyManifests) -> WhatIfStep:
    """Create or change objects as kubectl apply does."""
    for manifest in operation.manifests:
        try:
            _apply(cluster, manifest)
        except ApiError as error:
            raise InvalidObjectError(f"{manifest.named}: {error.message}") from None
    names = ", ".join(f"{each.kind} {each.name}" for each in operation.manifests[:MOST_NAMED])
    more = len(operation.manifests) - MOST_NAMED
    return WhatIfStep(f"apply {operation.origin}", names + (f" and {more} more" if more > 0 else ""))


def _apply(cluster: RunningCluster, manifest: Manifest) -> None:
    document = manifest.document
    resource = cluster.server.registry.catalog.of_kind(str(document.get("apiVersion")), manifest.kind)
    if resource is None:
        raise KubeschedError(f"{manifest.named}: kind {manifest.kind} is not served here")
    meta = document.get("metadata")
    if not isinstance(meta, dict):
        raise InvalidObjectError(f"{manifest.named}: metadata is not set")
    if resource.namespaced and not meta.get("namespace"):
        meta = {**meta, "namespace": cluster.source.namespace}
        document = {**document, "metadata": meta}
    namespace = str(meta.get("namespace") or "") if resource.namespaced else ""
    cluster.asked_for.add(str(NamedObject(manifest.kind, namespace, manifest.name)))
    stored = cluster.server.registry.store.get(resource.prefix, namespace, manifest.name)
    if stored is None:
        made = cluster.client.create(resource, with_last_applied(document, manifest.document))
        if document.get("status") and "status" in resource.subresources:
            _write_status(cluster, resource, made, document["status"])
        return
    live = stored.document()
    found = applied(manifest._replace(document=_comparable(document)), live).document
    kept = {**live["metadata"], **found["metadata"]}
    changed = cluster.client.update(resource, {**found, "metadata": kept})
    if document.get("status") and "status" in resource.subresources:
        _write_status(cluster, resource, changed, document["status"])


def _write_status(cluster: RunningCluster, resource: Resource, stored: Document, status: Document) -> None:
    if resource.kind == "Node":
        node_requests.write_status(cluster, stored, status)
    else:
        cluster.client.update(resource, {**stored, "status": status}, "status")


def _comparable(document: Document) -> Document:
    """Return a manifest reduced to the fields that were read of the cluster's objects, so that equal ones are
    equal.
    """
    if is_workload(document):
        return with_images(reduced_workload(document))
    if document.get("kind") != "Pod":
        return document
    found: Document = to_builtins(reduced(decode(document)))
    return {**found, "metadata": document["metadata"]}


# -- delete


def delete(cluster: RunningCluster, operation: DeleteObject) -> WhatIfStep:
    """Delete an object as kubectl delete does."""
    resource, found = find(cluster, operation.object)
    if found.kind == "Node":
        return node_requests.remove(cluster, (found.name,))
    pods = [pod for pod in cluster.pods.values() if cluster.owned_by(pod, found)]
    if found.kind == "Pod":
        pods = [cluster.pods[f"{found.namespace}/{found.name}"]]
    elif found.kind == "Namespace":
        pods = [pod for pod in cluster.pods.values() if pod.namespace == found.name]
    why = "it is deleted" if found.kind == "Pod" else f"{found} is deleted"
    cluster.reasons.update((pod.uid, why) for pod in pods)
    cluster.client.delete(resource, found.namespace, found.name)
    has_pods = pods and found.kind != "Pod"
    return WhatIfStep(
        f"delete {found}", f"it has {len(pods)} {'pod' if len(pods) == 1 else 'pods'}" if has_pods else ""
    )


# -- reschedule all pods


def reschedule_all(cluster: RunningCluster) -> WhatIfStep:
    """Replace every pod, except pods bound to their nodes, by one without a node."""
    store, resource = cluster.server.registry.store, cluster.client.resource("v1", "Pod")
    movable = [
        pod
        for pod in cluster.pods.values()
        if pod.spec.node_name and not bound_to_node(pod) and not pod.terminating and _is_ours(cluster, pod.pod)
    ]
    movable.sort(key=lambda pod: (str(pod.metadata.creation_timestamp or ""), pod.full_name))
    for pod in movable:
        stored = store.get(resource.prefix, pod.namespace, pod.name)
        assert stored is not None, "it was reported"
        store.remove(resource.prefix, stored)
        document = stored.document()
        document["metadata"]["uid"] = uid = f"{pod.uid}-again"
        cluster.reasons[uid] = ""
        document["spec"].pop("nodeName", None)
        document["status"] = {"phase": "Pending", **_kept_status(pod.pod)}
        store.put(resource.prefix, document, cluster.server.registry.strategy(resource).fields(document))
    return WhatIfStep("reschedule all", f"{len(movable)} pods are placed again, from an empty start")


def _is_ours(cluster: RunningCluster, pod: Pod) -> bool:
    return (pod.spec.scheduler_name or DEFAULT_SCHEDULER) in cluster.engine.profiles


def _kept_status(pod: Pod) -> dict[str, Any]:
    """Return the part of a status that names the claims created for a pod."""
    kept = replace(PodStatus(), resource_claim_statuses=pod.status.resource_claim_statuses)
    found: dict[str, Any] = to_builtins(kept)
    return found
