"""Kinds of node: the nodes that could be added to a cluster.

From the nodes of a cluster, or node manifests, to kinds; from a kind to new nodes, each with the objects of a node:
the pods of DaemonSets, its CSINode, its resource slices.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import inf
from typing import Final

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.devices import ResourceSlice
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.nodes import Node, NodeSpec
from kubesched.api.pods import Pod, Taint
from kubesched.api.quantity import value_of
from kubesched.api.storage import CSINode
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.remedies.proposers.taints import OF_CONDITIONS
from kubesched_controlplane.controllers.workloads.daemon_nodes import DaemonNode, NodeFitness

HOSTNAME: Final = "kubernetes.io/hostname"
INSTANCE_TYPE: Final = "node.kubernetes.io/instance-type"
ZONE: Final = "topology.kubernetes.io/zone"
_PLACES: Final = ("zone", "region")
# names of the labels that hold a node's pool, without prefix
_POOLS: Final = frozenset(
    (
        "agentpool",
        "gke-nodepool",
        "instancegroup",
        "node-group",
        "node-pool",
        "nodegroup",
        "nodegroup-name",
        "nodepool",
        "pool",
        "worker-pool-name",
    )
)
# a label with different values on this number of nodes belongs to the node, not to its kind
_MANY: Final = 10
MOST_KINDS: Final = 12


@dataclass(frozen=True, slots=True)
class NodePrices:
    """The source of node prices: a node label, or a table by the values of a label."""

    label: str = ""
    column: str = INSTANCE_TYPE
    table: Mapping[str, float] = field(default_factory=dict)

    def of(self, node: Node) -> float | None:
        """Return the price of a node, None if it is unknown."""
        labels = node.metadata.labels
        if self.label and self.label in labels:
            return price_in(labels[self.label])
        return self.table.get(labels.get(self.column, ""))


def price_in(text: str) -> float | None:
    """Return the price in a text, None if there is none."""
    try:
        price = float(text)
    except ValueError:
        return None
    return price if 0 <= price < inf else None


@dataclass(frozen=True, slots=True, eq=False)
class NodeKind:
    """Nodes that differ only in names and zones.

    `sample` has no labels of a single node or of a zone; `zones` are the labels of each zone that the kind has nodes
    in. `companions` are the objects of an existing node that a new one also gets: pods of DaemonSets, a CSINode,
    resource slices.
    """

    name: str
    sample: Node
    zones: tuple[Mapping[str, str], ...]
    count: int = 0
    companions: tuple[Pod | CSINode | ResourceSlice, ...] = ()
    price: float | None = None

    def new_node(self, number: int, zone: Mapping[str, str]) -> tuple[ApiObject, ...]:
        """Return a new node of the kind, and its companions."""
        name = f"new-{number}-{self.sample.name}"
        labels = {**self.sample.metadata.labels, **zone, HOSTNAME: name}
        node = msgspec.structs.replace(self.sample, metadata=ObjectMeta(name=name, uid=name, labels=labels))
        return (node, *(_for_node(each, name, place) for place, each in enumerate(self.companions)))


def pool_label_of(nodes: Iterable[Node]) -> str:
    """Return the label that names the pool of most nodes; empty if no node has such a label."""
    times: Counter[str] = Counter()
    for node in nodes:
        times.update(key for key in node.metadata.labels if key.rpartition("/")[2] in _POOLS)
    return min(times, key=lambda key: (-times[key], key), default="")


def kinds_of_cluster(model: ClusterModel, pool_label: str, prices: NodePrices) -> list[NodeKind]:
    """Return the kinds of node that a cluster has, the most frequent first."""
    nodes = [node for node in model.cluster.table.nodes if node is not None]
    of_one = _labels_of_one_node(nodes)
    alike: dict[object, list[Node]] = {}
    for node in nodes:
        alike.setdefault(_key(node, of_one), []).append(node)
    groups = sorted(alike.values(), key=lambda group: (-len(group), group[0].name))[:MOST_KINDS]
    return _told_apart([_kind(model, group, of_one, pool_label, prices) for group in groups])


def kinds_of_manifests(model: ClusterModel, nodes: Sequence[Node], prices: NodePrices) -> list[NodeKind]:
    """Return one kind for each node manifest, with the DaemonSets that would run there."""
    return [
        NodeKind(
            node.name,
            _plain(node, frozenset((HOSTNAME,))),
            (_zone_of(node),),
            companions=tuple(_pods_for(model, node)),
            price=prices.of(node),
        )
        for node in nodes
    ]


# -- grouping


def _kind(
    model: ClusterModel, group: list[Node], of_one: frozenset[str], pool_label: str, prices: NodePrices
) -> NodeKind:
    # nodes of one instance type differ a little in memory; the smallest represents all
    smallest = min(group, key=lambda node: (value_of(node.status.allocatable.get("memory", 0)), node.name))
    labels = smallest.metadata.labels
    instance_type, pool = labels.get(INSTANCE_TYPE, ""), labels.get(pool_label, "")
    name = f"{instance_type} ({pool})" if instance_type and pool else instance_type or pool
    zones = {tuple(sorted(_zone_of(node).items())): None for node in group}
    return NodeKind(
        name or f"like {smallest.name}",
        _plain(smallest, of_one),
        tuple(dict(zone) for zone in sorted(zones)),
        len(group),
        tuple(_companions(model, smallest.name)),
        prices.of(smallest),
    )


def _told_apart(kinds: list[NodeKind]) -> list[NodeKind]:
    """Return the kinds under distinct names: where kinds share a name, the name of a node is added."""
    times = Counter(kind.name for kind in kinds)
    return [
        kind if times[kind.name] == 1 else replace(kind, name=f"{kind.name} like {kind.sample.name}") for kind in kinds
    ]


def _key(node: Node, of_one: frozenset[str]) -> object:
    labels = node.metadata.labels
    allocatable = {name: str(amount) for name, amount in node.status.allocatable.items()}
    if INSTANCE_TYPE in labels:
        allocatable = {
            name: amount for name, amount in allocatable.items() if name not in ("memory", "ephemeral-storage")
        }
    kept = {key: value for key, value in labels.items() if key not in of_one and not _is_place(key)}
    return frozenset(allocatable.items()), frozenset(kept.items()), frozenset(_lasting(node.spec.taints))


def _labels_of_one_node(nodes: Sequence[Node]) -> frozenset[str]:
    """Return the labels that identify a single node: its name, its machine."""
    values: dict[str, set[str]] = {}
    times: Counter[str] = Counter()
    found = {HOSTNAME}
    for node in nodes:
        for key, value in node.metadata.labels.items():
            values.setdefault(key, set()).add(value)
            times[key] += 1
            if value == node.name:
                found.add(key)
    found |= {key for key, different in values.items() if len(different) == times[key] >= _MANY}
    return frozenset(found)


def _is_place(key: str) -> bool:
    prefix, _, name = key.rpartition("/")
    return name in _PLACES and ("topology" in prefix or "failure-domain" in prefix)


def _zone_of(node: Node) -> dict[str, str]:
    return {key: value for key, value in node.metadata.labels.items() if _is_place(key)}


def _lasting(taints: Iterable[Taint]) -> tuple[Taint, ...]:
    """Return taints without times, and without taints of conditions."""
    return tuple(
        Taint(key=taint.key, value=taint.value, effect=taint.effect)
        for taint in taints
        if not taint.key.startswith(OF_CONDITIONS)
    )


def _plain(node: Node, of_one: frozenset[str]) -> Node:
    """Return a fresh node of the same kind: without labels of that one node, not cordoned."""
    labels = {k: v for k, v in node.metadata.labels.items() if k not in of_one and not _is_place(k)}
    meta = ObjectMeta(name=node.name, labels=labels, annotations=node.metadata.annotations)
    return msgspec.structs.replace(node, metadata=meta, spec=NodeSpec(taints=_lasting(node.spec.taints)))


# -- what comes with a node


def _companions(model: ClusterModel, node: str) -> Iterator[Pod | CSINode | ResourceSlice]:
    """Yield the pods of DaemonSets on a node, its CSINode and its resource slices."""
    table, objects = model.cluster.table, model.cluster.objects
    yield from (info.pod for info in table.pods_on[table.row_of[node]].values() if _daemon_set_of(info.pod))
    drivers = objects.get(CSINode, node)
    if drivers is not None:
        yield drivers
    yield from (each for each in objects.of(ResourceSlice) if each.spec.node_name == node)


def _pods_for(model: ClusterModel, node: Node) -> list[Pod]:
    """Return a pod of each DaemonSet that would run on a new node."""
    samples: dict[tuple[str, str], Pod] = {}
    for info in model.cluster.table.pods.values():
        owner = _daemon_set_of(info.pod)
        if owner:
            samples.setdefault((info.namespace, owner), info.pod)
    described = DaemonNode(node.name, dict(node.metadata.labels), node.spec.taints)
    return [pod for pod in samples.values() if _fitness(pod).judge(described)[0]]


def _daemon_set_of(pod: Pod) -> str:
    """Return the name of the DaemonSet of a pod, an empty text if it has none."""
    controller = pod.metadata.controller
    return controller.name if controller is not None and controller.kind == "DaemonSet" else ""


def _fitness(pod: Pod) -> NodeFitness:
    # the node affinity and the node name of a daemon pod belong to its node
    spec = msgspec.structs.replace(pod.spec, affinity=None, node_name="")
    return NodeFitness(to_builtins(msgspec.structs.replace(pod, spec=spec)))


def _for_node(companion: Pod | CSINode | ResourceSlice, node: str, number: int) -> ApiObject:
    """Return the companions of a node for another node."""
    if isinstance(companion, CSINode):
        return msgspec.structs.replace(companion, metadata=ObjectMeta(name=node, uid=f"csi/{node}"))
    if isinstance(companion, ResourceSlice):
        meta = ObjectMeta(name=f"{node}-{number}", uid=f"slice/{node}-{number}")
        pool = msgspec.structs.replace(companion.spec.pool, name=node)
        spec = msgspec.structs.replace(companion.spec, node_name=node, pool=pool)
        return msgspec.structs.replace(companion, metadata=meta, spec=spec)
    name = f"{companion.name}-on-{node}"
    of_pod = msgspec.structs.replace(companion.metadata, name=name, uid=f"{companion.namespace}/{name}")
    on_node = msgspec.structs.replace(companion.spec, node_name=node)
    return msgspec.structs.replace(companion, metadata=of_pod, spec=on_node)
