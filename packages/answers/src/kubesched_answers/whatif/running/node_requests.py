"""Requests about nodes: cordon, taint, delete, and create copies.

From names and values to requests, and to texts about their results.
"""

from kubesched.api.codec import to_builtins
from kubesched.api.nodes import Node
from kubesched.model.cluster_model import UnknownObjectError, nearest
from kubesched_answers.pod_owners import bound_to_node
from kubesched_answers.whatif.operations import (
    NO_EXECUTE,
    AddNodes,
    TaintNodes,
    daemon_like,
    named,
    nodes_like,
    own_object_like,
    own_objects,
    taint_text,
)
from kubesched_answers.whatif.running.cluster import RunningCluster
from kubesched_answers.whatif.whatif_answer import WhatIfStep
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.prefixes import NODES
from kubesched_controlplane.api.times import timestamp

# prefixes of the taints of node controllers
LIFECYCLE = "node.kubernetes.io/"


def cordon(cluster: RunningCluster, name: str) -> None:
    """Mark a node as unschedulable."""
    found(cluster, name)
    cluster.client.patch(cluster.client.resource("v1", "Node"), "", name, {"spec": {"unschedulable": True}})


def cordon_nodes(cluster: RunningCluster, names: tuple[str, ...]) -> WhatIfStep:
    """Cordon nodes."""
    for name in names:
        cordon(cluster, name)
    return WhatIfStep(f"cordon {named(names)}", nodes=names)


def taint(cluster: RunningCluster, operation: TaintNodes) -> WhatIfStep:
    """Change the taints of nodes, as kubectl taint does."""
    wanted = operation.taint
    for name in operation.nodes:
        node = found(cluster, name)
        kept = [
            each
            for each in node["spec"].get("taints") or ()
            if each.get("key") != wanted.key
            or (each.get("effect") != wanted.effect and not (operation.remove and not wanted.effect))
        ]
        added = {field: text for field, text in to_builtins(wanted).items() if text}
        node["spec"]["taints"] = kept if operation.remove else [*kept, added]
        cluster.client.update(cluster.client.resource("v1", "Node"), node)
    words = f"{taint_text(wanted)}{'-' if operation.remove else ''}"
    evicts = wanted.effect == NO_EXECUTE and not operation.remove
    message = "pods that do not tolerate it are deleted" if evicts else ""
    return WhatIfStep(f"taint {named(operation.nodes)} {words}", message, operation.nodes)


def remove(cluster: RunningCluster, names: tuple[str, ...]) -> WhatIfStep:
    """Delete nodes; the garbage collector of pods deletes their pods."""
    for name in names:
        found(cluster, name)
        for pod in cluster.pods.values():
            if pod.spec.node_name == name and (why := bound_to_node(pod)):
                cluster.reasons[pod.uid] = f"{why}, which was removed"
        cluster.client.delete(cluster.client.resource("v1", "Node"), "", name)
    return WhatIfStep(f"remove {named(names)}", nodes=names)


def add(cluster: RunningCluster, operation: AddNodes) -> WhatIfStep:
    """Create copies of a node, with the objects of such a node; they are ready at once."""
    like = operation.like
    known = cluster.server.registry.store.get(NODES, "", like.name) is not None
    nodes = nodes_like(cluster.engine.cluster.table.row_of, like, operation.count)
    pods = [pod.pod for pod in cluster.pods.values() if pod.spec.node_name == like.name and bound_to_node(pod)]
    own = list(own_objects(cluster.engine.cluster.objects, like.name)) if known else []
    for node in nodes:
        create(cluster, node)
        for obj in own:
            document = to_builtins(own_object_like(obj, like.name, node.name))
            cluster.create_exported(document)
        for pod in pods:
            owner = next((each for each in pod.metadata.owner_references if each.controller), None)
            if owner is None or not cluster.has_controller(pod.namespace, owner):
                cluster.create_exported(to_builtins(daemon_like(pod, like.name, node.name)))
    word = "node" if operation.count == 1 else "nodes"
    return WhatIfStep(f"add {operation.count} {word} like {like.name}", nodes=tuple(node.name for node in nodes))


def create(cluster: RunningCluster, node: Node) -> None:
    """Create a node whose kubelet answers."""
    document = to_builtins(node)
    taints = [each for each in document["spec"].get("taints") or () if not each["key"].startswith(LIFECYCLE)]
    document["spec"] = {field: value for field, value in document["spec"].items() if field != "taints"}
    document["spec"] |= {"taints": taints} if taints else {}
    document["metadata"].pop("uid", None)
    stored = cluster.client.create(cluster.client.resource("v1", "Node"), document)
    write_status(cluster, stored, document.get("status") or {})


def write_status(cluster: RunningCluster, stored: Document, status: Document) -> None:
    """Report a node's status, as its kubelet does: it is ready."""
    now = timestamp(cluster.date)
    ready = {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": ""}
    times = {"lastHeartbeatTime": now, "lastTransitionTime": now}
    written = {**status, "conditions": [{**ready, **times}]}
    cluster.client.update(cluster.client.resource("v1", "Node"), {**stored, "status": written}, "status")


def found(cluster: RunningCluster, name: str) -> Document:
    """Return a node; raises UnknownObjectError."""
    stored = cluster.server.registry.store.get(NODES, "", name)
    if stored is None:
        names = [each.name for each in cluster.server.registry.store.set_of(NODES)]
        raise UnknownObjectError(f"there is no node {name}{nearest(name, names)}")
    return stored.document()
