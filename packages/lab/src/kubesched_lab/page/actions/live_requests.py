"""Requests to an API server for the actions of users, with the requests that undo them.

From an action and the model of a live cluster to values. The API server is asked for facts that the model does not
have.
"""

from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Final, NamedTuple

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.paths import path_of, plural_of
from kubesched.client.rest import Query, Refused, RestClient
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.pod_owners import bound_to_node
from kubesched_answers.whatif.operations import named, new_nodes_like
from kubesched_answers.whatif.workloads import REPLICAS_FIELDS
from kubesched_controlplane.server.catalog import RESOURCES
from kubesched_lab.page.actions.requests import (
    ADD_NODES,
    CORDON,
    CREATE,
    DELETE,
    DRAIN,
    REMOVE,
    SCALE,
    UNCORDON,
    ActionError,
    ActionRequest,
)
from kubesched_lab.page.actions.trace_events import local_data, refuse_bare

MERGE_PATCH: Final = "application/merge-patch+json"
JSON: Final = "application/json"
GONE_FOR_GOOD: Final = "deleted pods cannot be restored; their controller creates new ones"
# the scale subresource
SCALED: Final = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet")


class LiveRequest(NamedTuple):
    """A request to the API server; `what` names the object in messages."""

    method: str
    path: str
    what: str
    body: Any = None
    content_type: str = JSON


class LiveAction(NamedTuple):
    """Requests of an action, and the requests that undo it.

    Objects that the action `creates` are deleted to undo it. The deletions come from the API server's responses
    (`deletion_of`), since names and UIDs are known only then. A drain has `drained` nodes, evictions, and a number of
    pods that it leaves.
    """

    title: str
    requests: tuple[LiveRequest, ...]
    undo: tuple[LiveRequest, ...] = ()
    creates: bool = False
    cannot_undo: str = ""
    drained: tuple[str, ...] = ()
    evicted: tuple[LiveRequest, ...] = ()
    left: int = 0


async def live_action(model: ClusterModel, asked: ActionRequest, rest: RestClient) -> LiveAction:
    """Return the requests of an action; raises KubeschedErrors."""
    asked.check()
    return await _MAKERS[asked.do](model, asked, rest)


# -- nodes


def _unschedulable(node: str, value: bool) -> LiveRequest:
    body = {"spec": {"unschedulable": value or None}}
    return LiveRequest("PATCH", path_of("Node", name=node), f"node {node}", body, MERGE_PATCH)


async def _cordon(model: ClusterModel, asked: ActionRequest, rest: RestClient) -> LiveAction:
    nodes = asked.named_nodes(model)
    value = asked.do == CORDON
    changed = tuple(name for name in nodes if model.node(name).spec.unschedulable != value)
    word = "Cordon" if value else "Uncordon"
    if not changed:
        raise ActionError(f"{word} {named(nodes)}: nothing changes")
    return LiveAction(
        f"{word} {named(changed)}",
        tuple(_unschedulable(name, value) for name in changed),
        tuple(_unschedulable(name, not value) for name in changed),
    )


async def _drain(model: ClusterModel, asked: ActionRequest, rest: RestClient) -> LiveAction:
    nodes = asked.named_nodes(model)
    pods = [pod for name in nodes for pod in _pods_on(model, name)]
    refuse_bare(pods, force=asked.force)
    movable = [pod for pod in pods if not bound_to_node(pod) and not pod.terminating]
    if not asked.force:
        await _refuse_local_data(rest, nodes, {pod.full_name for pod in movable})
    changed = [name for name in nodes if not model.node(name).spec.unschedulable]
    return LiveAction(
        f"Drain {named(nodes)}",
        tuple(_unschedulable(name, True) for name in changed),
        tuple(_unschedulable(name, False) for name in changed),
        drained=nodes,
        evicted=tuple(_eviction(pod.namespace, pod.name, pod.uid) for pod in movable),
        left=len(pods) - len(movable),
    )


async def _refuse_local_data(rest: RestClient, nodes: tuple[str, ...], movable: set[str]) -> None:
    """Raise ActionError, as `kubectl drain` does, if data in emptyDir volumes of pods would be lost."""
    for node in nodes:
        query = {"fieldSelector": f"spec.nodeName={node}"}
        listed = await _read(rest, path_of("Pod"), f"pods of node {node}", query)
        for document in listed.get("items") or ():
            meta, volumes = document["metadata"], document["spec"].get("volumes") or ()
            name = f"{meta.get('namespace')}/{meta['name']}"
            if name in movable and any("emptyDir" in volume for volume in volumes):
                raise ActionError(local_data(name))


def _pods_on(model: ClusterModel, node: str) -> list[Any]:
    table = model.cluster.table
    return sorted(table.pods_on[table.row_of[node]].values(), key=lambda pod: pod.full_name)


def _eviction(namespace: str, name: str, uid: str) -> LiveRequest:
    body = {
        "apiVersion": "policy/v1",
        "kind": "Eviction",
        "metadata": {"namespace": namespace, "name": name},
        "deleteOptions": {"preconditions": {"uid": uid}},
    }
    return LiveRequest("POST", path_of("Pod", namespace, name, "eviction"), f"pod {namespace}/{name}", body)


async def _remove(model: ClusterModel, asked: ActionRequest, rest: RestClient) -> LiveAction:
    nodes = asked.named_nodes(model)
    documents = [await _read(rest, path_of("Node", name=name), f"node {name}") for name in nodes]
    return LiveAction(
        f"Remove {named(nodes)}",
        tuple(LiveRequest("DELETE", path_of("Node", name=name), f"node {name}") for name in nodes),
        tuple(_creation(_manifest_of(each)) for each in documents),
    )


async def _add_nodes(model: ClusterModel, asked: ActionRequest, rest: RestClient) -> LiveAction:
    if asked.like:
        like = model.node(asked.like)
        documents = [_manifest_of(to_builtins(each)) for each in new_nodes_like(model, like, asked.count)]
        title = f"Add {asked.count} {'node' if asked.count == 1 else 'nodes'} like {asked.like}"
    elif asked.pool:
        pool = asked.node_pool()
        there = {name: to_builtins(model.node(name)) for name in model.node_names()}
        documents = [each.document for each in pool.manifests(there)]
        title = f"Add {pool.nodes} {'node' if pool.nodes == 1 else 'nodes'} of pool {pool.name}"
    else:
        raise ActionError("like, pool: name a node that new ones are like, or a pool (name=large,nodes=3,cpu=32)")
    return _created(title, documents)


# -- workloads and other objects


async def _scale(model: ClusterModel, asked: ActionRequest, rest: RestClient) -> LiveAction:
    workload = asked.named_workload(model)
    namespace = workload.namespace or model.source.namespace
    api_version = next(each.api_version for each in RESOURCES if each.kind == workload.kind)
    subresource = "scale" if workload.kind in SCALED else ""
    path = path_of(workload.kind, namespace, workload.name, subresource, api_version)
    what = f"{workload.kind} {namespace}/{workload.name}"
    now = await _read(rest, path, what)
    field = "replicas" if subresource else REPLICAS_FIELDS[workload.kind]
    before = (now.get("spec") or {}).get(field) or 0
    if before == asked.replicas:
        raise ActionError(f"{what} has {before} replicas already")

    def scaling(replicas: int) -> LiveRequest:
        return LiveRequest("PATCH", path, what, {"spec": {field: replicas}}, MERGE_PATCH)

    return LiveAction(f"Scale {what} to {asked.replicas}", (scaling(asked.replicas),), (scaling(before),))


async def _create(model: ClusterModel, asked: ActionRequest, rest: RestClient) -> LiveAction:
    manifests = asked.manifests()
    names = ", ".join(f"{each.kind} {each.name}" for each in manifests[:5])
    more = f" and {len(manifests) - 5} more" if len(manifests) > 5 else ""
    return _created(f"Create {names}{more}", [each.document for each in manifests], model.source.namespace)


def _created(title: str, documents: list[dict[str, Any]], namespace: str = "default") -> LiveAction:
    return LiveAction(title, tuple(_creation(each, namespace) for each in documents), creates=True)


async def _delete(model: ClusterModel, asked: ActionRequest, rest: RestClient) -> LiveAction:
    namespace, _, name = asked.named_pod(model).partition("/")
    pod = model.pods[f"{namespace}/{name}"]
    what, path = f"pod {namespace}/{name}", path_of("Pod", namespace, name)
    controlled = pod.metadata.controller is not None
    undo = () if controlled else (_creation(_manifest_of(await _read(rest, path, what))),)
    body = {"apiVersion": "v1", "kind": "DeleteOptions", "preconditions": {"uid": pod.uid}}
    request = LiveRequest("DELETE", path, what, body)
    return LiveAction(f"Delete {what}", (request,), undo, cannot_undo=GONE_FOR_GOOD if controlled else "")


# -- parts


async def _read(rest: RestClient, path: str, what: str, query: Query | None = None) -> dict[str, Any]:
    try:
        found: dict[str, Any] = msgspec.json.decode(await rest.get(path, query))
    except Refused as refused:
        raise ActionError(f"{what}: {refused}") from None
    return found


def _manifest_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """Return an object as a manifest to create it again: without fields that a server fills in, a pod without its node
    and status.
    """
    metadata = {
        key: value
        for key, value in (document.get("metadata") or {}).items()
        if key in ("name", "namespace", "labels", "annotations", "ownerReferences")
    }
    new = {**document, "metadata": metadata}
    if document.get("kind") == "Pod":
        new.pop("status", None)
        new["spec"] = {key: value for key, value in document["spec"].items() if key != "nodeName"}
    return new


def _creation(document: Mapping[str, Any], namespace: str = "default") -> LiveRequest:
    kind, version = str(document.get("kind", "")), str(document.get("apiVersion", ""))
    metadata = document.get("metadata") or {}
    known = next((each for each in RESOURCES if each.kind == kind and each.api_version == version), None)
    space = metadata.get("namespace") or namespace
    if known is not None and not known.namespaced:
        space = ""
    plural = known.plural if known is not None else plural_of(kind)
    parts = ["/apis" if "/" in version else "/api", version, *(("namespaces", space) if space else ()), plural]
    name = metadata.get("name") or metadata.get("generateName", "")
    return LiveRequest("POST", "/".join(parts), f"{kind} {space + '/' if space else ''}{name}", document)


def deletion_of(creation: LiveRequest, answer: bytes) -> LiveRequest:
    """Return the request that deletes the object that an API server returned for a creation.

    Raises ActionError if the response has no name: the path would be that of all objects of the kind.
    """
    try:
        metadata = msgspec.json.decode(answer, type=_Created).metadata
    except msgspec.DecodeError:
        metadata = _CreatedMetadata()
    if not (metadata.name and metadata.uid):
        raise ActionError(f"{creation.what}: the API server did not say what it created, so it cannot be undone")
    body = {
        "apiVersion": "v1",
        "kind": "DeleteOptions",
        "propagationPolicy": "Background",
        "preconditions": {"uid": metadata.uid},
    }
    return LiveRequest("DELETE", f"{creation.path}/{metadata.name}", creation.what, body)


class _CreatedMetadata(msgspec.Struct):
    name: str = ""
    uid: str = ""


class _Created(msgspec.Struct):
    metadata: _CreatedMetadata = msgspec.field(default_factory=_CreatedMetadata)


_MAKERS: Mapping[str, Callable[[ClusterModel, ActionRequest, RestClient], Awaitable[LiveAction]]] = {
    CORDON: _cordon,
    UNCORDON: _cordon,
    DRAIN: _drain,
    REMOVE: _remove,
    ADD_NODES: _add_nodes,
    SCALE: _scale,
    CREATE: _create,
    DELETE: _delete,
}
