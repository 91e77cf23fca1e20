"""What can be tried: operations on nodes, each a value that changes a trial.

From nodes to cordoned, tainted, removed and new ones; `draining` and `workload_operations` have the others.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Protocol

import msgspec

from kubesched.api.devices import ResourceSlice
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod, Taint
from kubesched.api.storage import CSINode
from kubesched.api.tolerations import tolerated_by_any
from kubesched.asking.model import ClusterModel
from kubesched.asking.pod_owners import bound_to_node
from kubesched.asking.whatif.trial import WhatIfTrial
from kubesched.asking.whatif.whatif_answer import WhatIfStep
from kubesched.errors import KubeschedError

HOSTNAME = "kubernetes.io/hostname"
UNSCHEDULABLE = Taint(key="node.kubernetes.io/unschedulable", effect="NoSchedule")
NO_EXECUTE = "NoExecute"
EFFECTS = ("NoSchedule", "PreferNoSchedule", NO_EXECUTE)
MOST_NODES_NAMED = 5


class Operation(Protocol):
    """Something to try."""

    def apply(self, trial: WhatIfTrial) -> WhatIfStep:
        """Change the trial; return what was done."""


@dataclass(frozen=True, slots=True)
class Cordon:
    """Nodes that take no new pods."""

    nodes: tuple[str, ...]

    def apply(self, trial: WhatIfTrial) -> WhatIfStep:
        """Mark the nodes as unschedulable."""
        cordon(trial, self.nodes)
        return WhatIfStep(f"cordon {named(self.nodes)}", nodes=self.nodes)


@dataclass(frozen=True, slots=True)
class TaintNodes:
    """Nodes that get a taint, or with `remove` lose it; NoExecute evicts pods that do not tolerate it."""

    nodes: tuple[str, ...]
    taint: Taint
    remove: bool = False

    def apply(self, trial: WhatIfTrial) -> WhatIfStep:
        """Change the taints, and evict pods from them."""
        evicted = 0
        for name in self.nodes:
            node = trial.model.node(name)
            kept = tuple(taint for taint in node.spec.taints if not _is_same(taint, self.taint, by_key=self.remove))
            taints = kept if self.remove else (*kept, self.taint)
            trial.placer.put(msgspec.structs.replace(node, spec=msgspec.structs.replace(node.spec, taints=taints)))
            if self.taint.effect == NO_EXECUTE and not self.remove:
                evicted += self._evict(trial, name)
        words = f"{taint_text(self.taint)}{'-' if self.remove else ''}"
        message = f"{evicted} pods do not tolerate it" if evicted else ""
        return WhatIfStep(f"taint {named(self.nodes)} {words}", message, self.nodes)

    def _evict(self, trial: WhatIfTrial, node: str) -> int:
        intolerant = [pod for pod in trial.pods_on(node) if not _stays(pod.pod, self.taint)]
        for pod in intolerant:
            reason = bound_to_node(pod)
            if reason is not None:
                trial.delete(pod, f"{reason}, and does not tolerate {taint_text(self.taint)}")
            else:
                trial.displace(pod)
        return len(intolerant)


@dataclass(frozen=True, slots=True)
class RemoveNodes:
    """Nodes that vanish with all that runs there; no budget is asked."""

    nodes: tuple[str, ...]

    def apply(self, trial: WhatIfTrial) -> WhatIfStep:
        """Remove the nodes, then their pods."""
        for name in self.nodes:
            node = trial.model.node(name)
            pods = trial.pods_on(name)
            trial.placer.remove(node)
            for pod in pods:
                reason = bound_to_node(pod)
                if reason is not None:
                    trial.delete(pod, f"{reason}, which is gone")
                else:
                    trial.displace(pod)
        return WhatIfStep(f"remove {named(self.nodes)}", nodes=self.nodes)


@dataclass(frozen=True, slots=True)
class AddNodes:
    """New nodes like an existing one (with its DaemonSet pods, volume limits and devices), or like a template."""

    count: int
    like: Node

    def apply(self, trial: WhatIfTrial) -> WhatIfStep:
        """Add the nodes."""
        nodes = new_nodes_like(trial.model, self.like, self.count)
        names = tuple(node.name for node in nodes)
        existing = self.like.name in trial.model.cluster.table.row_of
        daemons = [pod.pod for pod in trial.pods_on(self.like.name) if bound_to_node(pod)] if existing else []
        own = list(_own_objects(trial, self.like.name)) if existing else []
        for node in nodes:
            trial.placer.put(node)
            for obj in own:
                trial.placer.put(_own_object_like(obj, self.like.name, node.name))
            for pod in daemons:
                trial.create(_daemon_like(pod, self.like.name, node.name))
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
    """Let nodes take new pods again."""
    for name in nodes:
        node = trial.model.node(name)
        taints = tuple(taint for taint in node.spec.taints if not _is_same(taint, UNSCHEDULABLE))
        spec = msgspec.structs.replace(node.spec, unschedulable=False, taints=taints)
        trial.placer.put(msgspec.structs.replace(node, spec=spec))


def parse_taint(text: str) -> tuple[Taint, bool]:
    """Return the taint that `key=value:Effect` means, and whether a `-` behind it removes it; raises KubeschedError."""
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
    """Return some names of nodes, and how many more there are."""
    more = len(nodes) - MOST_NODES_NAMED
    shown = ", ".join(nodes[:MOST_NODES_NAMED]) + (f" and {more} more" if more > 0 else "")
    return f"{'node' if len(nodes) == 1 else 'nodes'} {shown}"


def _is_same(taint: Taint, other: Taint, *, by_key: bool = False) -> bool:
    return taint.key == other.key and (taint.effect == other.effect or (by_key and not other.effect))


def _stays(pod: Pod, taint: Taint) -> bool:
    """Return whether a pod tolerates a NoExecute taint for good."""
    lasting = (each for each in pod.spec.tolerations if each.toleration_seconds is None)
    return tolerated_by_any(taint, lasting)


def new_nodes_like(model: ClusterModel, like: Node, count: int) -> list[Node]:
    """Return nodes like another, under names that are free."""
    return [_node_like(like, name) for name in islice(_free_names(model, like.name), count)]


def _free_names(model: ClusterModel, name: str) -> Iterator[str]:
    known, number = model.cluster.table.row_of, 1
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


def _own_objects(trial: WhatIfTrial, node: str) -> Iterator[CSINode | ResourceSlice]:
    """Yield what belongs to a node beside its object: its volume limits and its devices."""
    objects = trial.model.cluster.objects
    limits = objects.get(CSINode, node)
    if limits is not None:
        yield limits
    yield from (each for each in objects.of(ResourceSlice) if each.spec.node_name == node)


def _own_object_like(obj: CSINode | ResourceSlice, node: str, name: str) -> ApiObject:
    if isinstance(obj, CSINode):
        return msgspec.structs.replace(obj, metadata=ObjectMeta(name=name, uid=f"csinode-{name}"))
    pool = msgspec.structs.replace(obj.spec.pool, name=f"{obj.spec.pool.name.replace(node, name)}")
    if pool.name == obj.spec.pool.name:
        pool = msgspec.structs.replace(pool, name=f"{pool.name}-{name}")
    meta = ObjectMeta(name=f"{obj.name}-{name}", uid=f"{obj.name}-{name}")
    return msgspec.structs.replace(
        obj, metadata=meta, spec=msgspec.structs.replace(obj.spec, node_name=name, pool=pool)
    )


def _daemon_like(pod: Pod, node: str, name: str) -> Pod:
    """Return the pod that a DaemonSet has on a new node, or a static pod of it."""
    base = pod.name.removesuffix(f"-{node}")
    full = f"{base}-{name}"
    meta = msgspec.structs.replace(
        pod.metadata, name=full, uid=f"{pod.namespace}/{full}", creation_timestamp=None, resource_version=""
    )
    return msgspec.structs.replace(pod, metadata=meta, spec=msgspec.structs.replace(pod.spec, node_name=name))
