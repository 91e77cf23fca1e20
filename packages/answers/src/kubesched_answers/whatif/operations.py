"""Operations on nodes for trials, each a value that changes a trial.

From nodes to cordoned, tainted, removed and new ones; `draining` and `workload_operations` have further operations.
"""

from collections.abc import Container, Iterator
from dataclasses import dataclass
from itertools import islice

import msgspec

from kubesched.api.devices import ResourceSlice
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod, Taint
from kubesched.api.storage import CSINode
from kubesched.core.cluster.objects import Objects
from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.pod_owners import bound_to_node
from kubesched_answers.whatif.trial import WhatIfTrial
from kubesched_answers.whatif.whatif_answer import WhatIfStep

HOSTNAME = "kubernetes.io/hostname"
UNSCHEDULABLE = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
NO_EXECUTE = "NoExecute"
EFFECTS = ("NoSchedule", "PreferNoSchedule", NO_EXECUTE)
MOST_NODES_NAMED = 5


class Operation:
    """An operation to try."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class Cordon(Operation):
    """Nodes to mark as unschedulable."""

    nodes: tuple[str, ...]

    def apply(self, trial: WhatIfTrial) -> WhatIfStep:
        """Mark the nodes as unschedulable."""
        cordon(trial, self.nodes)
        return WhatIfStep(f"cordon {named(self.nodes)}", nodes=self.nodes)


@dataclass(frozen=True, slots=True)
class TaintNodes(Operation):
    """Nodes to taint, or with `remove` to untaint; NoExecute evicts pods that do not tolerate the taint."""

    nodes: tuple[str, ...]
    taint: Taint
    remove: bool = False


@dataclass(frozen=True, slots=True)
class RemoveNodes(Operation):
    """Nodes that are removed with all their pods, without regard to budgets."""

    nodes: tuple[str, ...]

    def apply(self, trial: WhatIfTrial) -> WhatIfStep:
        """Remove the nodes, then their pods."""
        for name in self.nodes:
            node = trial.model.node(name)
            pods = trial.pods_on(name)
            trial.placer.remove(node)
            for pod in pods:
                if bound_to_node(pod):
                    trial.delete(pod)
                else:
                    trial.displace(pod)
        return WhatIfStep(f"remove {named(self.nodes)}", nodes=self.nodes)


@dataclass(frozen=True, slots=True)
class AddNodes(Operation):
    """New nodes, as copies of an existing one (with its DaemonSet pods, volume limits and devices) or of a
    template.
    """

    count: int
    like: Node

    def apply(self, trial: WhatIfTrial) -> WhatIfStep:
        """Add the nodes."""
        nodes = new_nodes_like(trial.model, self.like, self.count)
        names = tuple(node.name for node in nodes)
        existing = self.like.name in trial.model.cluster.table.row_of
        daemons = [pod.pod for pod in trial.pods_on(self.like.name) if bound_to_node(pod)] if existing else []
        own = list(own_objects(trial.model.cluster.objects, self.like.name)) if existing else []
        for node in nodes:
            trial.placer.put(node)
            for obj in own:
                trial.placer.put(own_object_like(obj, self.like.name, node.name))
            for pod in daemons:
                trial.create(daemon_like(pod, self.like.name, node.name))
        word = "node" if self.count == 1 else "nodes"
        return WhatIfStep(f"add {self.count} {word} like {self.like.name}", nodes=names)


# -- parts


def cordon(trial: WhatIfTrial, nodes: tuple[str, ...]) -> None:
    """Mark nodes as unschedulable, with the taint that their controller adds."""
    for name in nodes:
        node = trial.model.node(name)
        taints = node.spec.taints
        if not any(_is_same(taint, UNSCHEDULABLE) for taint in taints):
            taints = (*taints, UNSCHEDULABLE)
        spec = msgspec.structs.replace(node.spec, unschedulable=True, taints=taints)
        trial.placer.put(msgspec.structs.replace(node, spec=spec))


def uncordon(trial: WhatIfTrial, nodes: tuple[str, ...]) -> None:
    """Mark nodes as schedulable again."""
    for name in nodes:
        node = trial.model.node(name)
        taints = tuple(taint for taint in node.spec.taints if not _is_same(taint, UNSCHEDULABLE))
        spec = msgspec.structs.replace(node.spec, unschedulable=False, taints=taints)
        trial.placer.put(msgspec.structs.replace(node, spec=spec))


def parse_taint(text: str) -> tuple[Taint, bool]:
    """Return the taint in `key=value:Effect`, and whether a final `-` removes it; raises KubeschedError."""
    remove = text.endswith("-")
    left, _, effect = text.removesuffix("-").partition(":")
    key, _, value = left.partition("=")
    if not key or (effect not in EFFECTS and not (remove and not effect)):
        raise KubeschedError(f"taint {text}: write it as key=value:Effect; the effects are {', '.join(EFFECTS)}")
    return Taint(key=key, value=value, effect=effect), remove


def taint_text(taint: Taint) -> str:
    """Return a taint as kubectl writes it."""
    return f"{taint.key}{'=' if taint.value else ''}{taint.value}{':' if taint.effect else ''}{taint.effect}"


def named(nodes: tuple[str, ...]) -> str:
    """Return some names of nodes, and the number of the rest."""
    more = len(nodes) - MOST_NODES_NAMED
    shown = ", ".join(nodes[:MOST_NODES_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{'node' if len(nodes) == 1 else 'nodes'} {shown}"


def _is_same(taint: Taint, other: Taint, *, by_key: bool = False) -> bool:
    return taint.key == other.key and (taint.effect == other.effect or (by_key and not other.effect))


def new_nodes_like(model: ClusterModel, like: Node, count: int) -> list[Node]:
    """Return copies of a node, under free names."""
    return nodes_like(model.cluster.table.row_of, like, count)


def nodes_like(known: Container[str], like: Node, count: int) -> list[Node]:
    """Return copies of a node, under names that are not known."""
    return [_node_like(like, name) for name in islice(_free_names(known, like.name), count)]


def _free_names(known: Container[str], name: str) -> Iterator[str]:
    number = 1
    while True:
        if f"{name}-new-{number}" not in known:
            yield f"{name}-new-{number}"
        number += 1


def _node_like(node: Node, name: str) -> Node:
    labels = dict(node.metadata.labels)
    if HOSTNAME in labels or not labels:
        labels[HOSTNAME] = name
    spec = msgspec.structs.replace(node.spec, provider_id="", pod_cidr="", pod_cidrs=(), unschedulable=False)
    spec = msgspec.structs.replace(
        spec, taints=tuple(each for each in spec.taints if not _is_same(each, UNSCHEDULABLE))
    )
    meta = ObjectMeta(name=name, uid=name, labels=labels, annotations=node.metadata.annotations)
    return msgspec.structs.replace(node, metadata=meta, spec=spec)


def own_objects(objects: Objects, node: str) -> Iterator[CSINode | ResourceSlice]:
    """Yield the objects of a node besides its Node: its volume limits and its devices."""
    limits = objects.get(CSINode, node)
    if limits is not None:
        yield limits
    yield from (each for each in objects.of(ResourceSlice) if each.spec.node_name == node)


def own_object_like(obj: CSINode | ResourceSlice, node: str, name: str) -> ApiObject:
    """Return the copy of such an object, for another node."""
    if isinstance(obj, CSINode):
        return msgspec.structs.replace(obj, metadata=ObjectMeta(name=name, uid=f"csinode-{name}"))
    pool = msgspec.structs.replace(obj.spec.pool, name=f"{obj.spec.pool.name.replace(node, name)}")
    if pool.name == obj.spec.pool.name:
        pool = msgspec.structs.replace(pool, name=f"{pool.name}-{name}")
    meta = ObjectMeta(name=f"{obj.name}-{name}", uid=f"{obj.name}-{name}")
    return msgspec.structs.replace(
        obj, metadata=meta, spec=msgspec.structs.replace(obj.spec, node_name=name, pool=pool)
    )


def daemon_like(pod: Pod, node: str, name: str) -> Pod:
    """Return the copy of a DaemonSet's pod, or of a static pod, for a new node."""
    base = pod.name.removesuffix(f"-{node}")
    full = f"{base}-{name}"
    meta = msgspec.structs.replace(
        pod.metadata, name=full, uid=f"{pod.namespace}/{full}", creation_timestamp=None, resource_version=""
    )
    return msgspec.structs.replace(pod, metadata=meta, spec=msgspec.structs.replace(pod.spec, node_name=name))
