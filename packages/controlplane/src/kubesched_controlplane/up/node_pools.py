"""Node pools: groups of equal nodes, from a short notation.

    gpu=1:20, taint=key=value:NoSchedule, ... ──▶ fields ──▶ NodePool ──▶ Node documents

Node number *i* of a pool has the same name and zone however large the pool is, so a pool can be given again, larger.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from typing import Any, NamedTuple

import msgspec

from kubesched.api.labels import label_key_problems, label_value_problems, subdomain_problems
from kubesched.api.quantity import InvalidQuantityError, parse_quantity
from kubesched.api.tolerations import NO_EXECUTE, NO_SCHEDULE, PREFER_NO_SCHEDULE
from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.kinds.checks import dns_label_problems

MOST_NODES = 100_000
GPU = "nvidia.com/gpu"
# labels of NVIDIA's GPU feature discovery
GPU_PRESENT, GPU_COUNT = f"{GPU}.present", f"{GPU}.count"
POOL = "kubesched.io/pool"
USUAL_ZONES = 3
# prefix of taints for the state of a node
_OF_STATE = "node.kubernetes.io/"
_EFFECTS = (NO_SCHEDULE, PREFER_NO_SCHEDULE, NO_EXECUTE)
_DEFAULTS = Options().capacity


class PoolError(KubeschedError):
    """A malformed description of a pool; the message quotes it and names the expected form."""


class Gpus(NamedTuple):
    """The number of GPUs of a node, and the number of nodes with GPUs; None: all."""

    each: int
    nodes: int | None = None


class NodePool(msgspec.Struct, frozen=True):
    """Nodes that differ only in their zones and GPUs.

    A field that is None has the value of the node that the pool copies (`like`), or the default.
    """

    name: str
    nodes: int
    zones: int | None = None
    cpu: str | None = None
    memory: str | None = None
    pods: int | None = None
    gpu: Gpus | None = None
    label: Sequence[tuple[str, str]] = ()
    taint: Sequence[tuple[str, str, str]] = ()
    # the name of a node
    like: str = ""

    def manifests(self, beside: Mapping[str, Document] | None = None) -> Iterator[Manifest]:
        """Yield the pool's nodes; `beside` are existing nodes by name. Raises PoolError if `like` is none of them."""
        there = beside or {}
        model = _model(self.like, there) if self.like else _usual(in_zones=not there)
        names = (name for number in count(1) if (name := f"{self.name}-{number}") not in there)
        for number, name in zip(range(self.nodes), names, strict=False):
            yield Manifest(f"pool {self.name}: node {number + 1}", self._node(number, name, model))

    def _node(self, number: int, name: str, model: "_Model") -> Document:
        labels = {**model.labels, "kubernetes.io/hostname": name, POOL: self.name}
        zones = self.zones or model.zones
        if zones:
            # round-robin over zones; nodes with GPUs come first, so they are spread over all zones, too
            labels["topology.kubernetes.io/zone"] = zone_name(number % zones)
        said = {"cpu": self.cpu, "memory": self.memory, "pods": None if self.pods is None else str(self.pods)}
        room = {resource: quantity for resource, quantity in said.items() if quantity is not None}
        if self.gpu is not None and (self.gpu.nodes is None or number < self.gpu.nodes):
            labels |= {GPU_PRESENT: "true", GPU_COUNT: str(self.gpu.each)}
            room[GPU] = str(self.gpu.each)
        taints = [{"key": key, "value": value, "effect": effect} for key, value, effect in self.taint]
        # capacity and allocatable are the model's, with the pool's own quantities in both
        status = {field: {**quantities, **room} for field, quantities in model.status.items()}
        return {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": name, "labels": {**labels, **dict(self.label)}},
            "spec": {"taints": [*model.taints, *taints]} if model.taints or taints else {},
            "status": status,
        }


# -- models of nodes


class _Model(NamedTuple):
    """The model of a pool's nodes: labels, taints, capacity and the number of zones."""

    labels: Mapping[str, str]
    taints: Sequence[Document]
    status: Mapping[str, Mapping[str, str]]
    zones: int | None


def _usual(*, in_zones: bool) -> _Model:
    """Return a model with default labels and capacity; nodes get zones only in a cluster without other nodes."""
    labels = {"kubernetes.io/os": "linux", "kubernetes.io/arch": "amd64"}
    return _Model(labels, (), {"capacity": _DEFAULTS}, USUAL_ZONES if in_zones else None)


def _model(name: str, there: Mapping[str, Document]) -> _Model:
    """Return the model of an existing node, without the taints for its state; raises PoolError."""
    node = there.get(name)
    if node is None:
        known = ", ".join(sorted(there)[:5]) or "none"
        raise PoolError(f"there is no node {name!r} to copy; the nodes are: {known}")
    status = node.get("status") or {}
    taints = (node.get("spec") or {}).get("taints") or ()
    return _Model(
        (node.get("metadata") or {}).get("labels") or {},
        [
            {field: value for field, value in taint.items() if field != "timeAdded"}
            for taint in taints
            if not str(taint.get("key")).startswith(_OF_STATE)
        ],
        {field: status[field] for field in ("capacity", "allocatable") if status.get(field)} or {"capacity": _DEFAULTS},
        None,
    )


def zone_name(number: int) -> str:
    """Return zone-a for 0, zone-b for 1, and after zone-z zone-aa."""
    letters = ""
    number += 1
    while number:
        number, letter = divmod(number - 1, 26)
        letters = chr(ord("a") + letter) + letters
    return f"zone-{letters}"


# -- parsing


def parse_pool(text: str, defaults: Mapping[str, Any]) -> NodePool:
    """Parse a pool of the form NAME=VALUE,...; raises PoolError."""
    fields: dict[str, Any] = {}
    for part in text.split(","):
        field, equals, value = part.partition("=")
        if not equals or field not in _FIELDS:
            raise PoolError(f"{part!r}: expected NAME=VALUE with one of {', '.join(_FIELDS)}")
        try:
            found = parse_field(field, value)
        except PoolError as error:
            raise PoolError(f"{field}={error}") from None
        if field in _REPEATED:
            fields[field] = [*fields.get(field, ()), found]
        elif field in fields:
            raise PoolError(f"{part!r}: {field} is given twice")
        else:
            fields[field] = found
    missing = [field for field in ("name", "nodes") if field not in fields]
    if missing:
        raise PoolError(f"{text!r}: {missing[0]} is missing; for example name=large,nodes=3,cpu=32")
    return checked(NodePool(**{**defaults, **fields}))


def checked(pool: NodePool) -> NodePool:
    """Return a pool if its fields are consistent; raise PoolError otherwise."""
    if pool.gpu is not None and (pool.gpu.nodes or 0) > pool.nodes:
        raise PoolError(
            f"{pool.gpu.nodes} nodes should have GPUs, but the pool has {pool.nodes}: give at most that number"
        )
    if len({(key, effect) for key, _, effect in pool.taint}) < len(pool.taint):
        raise PoolError("two taints have the same key and effect: leave one out")
    return pool


def parse_field(field: str, text: str) -> Any:
    """Parse the value of a pool's field; raises PoolError, which quotes the text, if it is malformed."""
    try:
        return _FIELDS[field](text)
    except PoolError as error:
        shown = text if len(text) <= 80 else text[:77] + "..."
        raise PoolError(f"{shown!r}: {error}") from None


def _name(text: str) -> str:
    # shorter than a node name, which also has the number of the node
    if dns_label_problems(text) or len(text) > 50:
        raise PoolError("expected a name of lower-case letters, digits and '-', such as large")
    return text


def _whole(most: int, example: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 12 else 0
        if not 1 <= number <= most:
            raise PoolError(f"expected a number from 1 to {most}, such as {example}")
        return number

    return parse


def _quantity(least: str, most: str, example: str) -> Callable[[str], str]:
    def parse(text: str) -> str:
        try:
            right = parse_quantity(least) <= parse_quantity(text) <= parse_quantity(most)
        except InvalidQuantityError:
            right = False
        if not right:
            raise PoolError(f"expected a quantity from {least} to {most}, such as {example}")
        return text

    return parse


def _gpus(text: str) -> Gpus:
    each, colon, nodes = text.partition(":")
    try:
        return Gpus(_whole(1000, 1)(each), _whole(MOST_NODES, 1)(nodes) if colon else None)
    except PoolError:
        raise PoolError("expected GPUS or GPUS:NODES, such as 1:20 for one GPU on 20 of the nodes") from None


def _label(text: str) -> tuple[str, str]:
    key, equals, value = text.partition("=")
    if not equals or label_key_problems(key) or label_value_problems(value):
        raise PoolError("expected KEY=VALUE of a label, such as example.com/disk=fast")
    return key, value


def _node_name(text: str) -> str:
    if subdomain_problems(text):
        raise PoolError("expected the name of a node")
    return text


def _taint(text: str) -> tuple[str, str, str]:
    both, _, effect = text.rpartition(":")
    key, _, value = both.partition("=")
    if effect not in _EFFECTS or label_key_problems(key) or label_value_problems(value):
        raise PoolError(
            f"expected KEY=VALUE:EFFECT, such as {GPU}=present:NoSchedule, the effect one of {', '.join(_EFFECTS)}"
        )
    return key, value, effect


_FIELDS: dict[str, Callable[[str], Any]] = {
    "name": _name,
    "nodes": _whole(MOST_NODES, 100),
    "zones": _whole(MOST_NODES, 3),
    "cpu": _quantity("1m", "1000000", "8"),
    # at least 1Mi: a number without a unit would be bytes
    "memory": _quantity("1Mi", "1Pi", "32Gi"),
    "pods": _whole(1_000_000, 110),
    "gpu": _gpus,
    "label": _label,
    "taint": _taint,
    "like": _node_name,
}
_REPEATED = ("label", "taint")
