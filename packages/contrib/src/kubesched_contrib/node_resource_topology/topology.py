"""NodeResourceTopology objects: the kubelet's topology manager, and the available amounts of each NUMA zone.

From a custom object to a `NodeTopology`. Like the reference, it ignores zones of types other than Node, zones whose
name has no NUMA number, and unknown policies; an invalid object raises InvalidObjectError with the field's path.
"""

import re
from collections.abc import Mapping
from datetime import datetime
from enum import IntEnum
from typing import Any, NamedTuple

from kubesched import InvalidObjectError, resource_amounts
from kubesched_contrib.object_fields import list_in, objects_in

KIND = "noderesourcetopologies.v1alpha2.topology.node.k8s.io"
# number of bits in a mask of NUMA nodes
MOST_ZONES = 64
DEFAULT_MAX_NUMA_NODES = 8
MOST_NUMA_NODES = 1024
# amounts are limited to this, so that their sums fit into 64 bits
LARGEST = 2**50
SINGLE_NUMA_NODE = "single-numa-node"
_POLICIES = ("none", "best-effort", "restricted", SINGLE_NUMA_NODE)
_SCOPES = ("container", "pod")
# the values of the field topologyPolicies, which attributes override
_OLD_POLICIES = {
    "SingleNUMANodePodLevel": (SINGLE_NUMA_NODE, "pod"),
    "SingleNUMANodeContainerLevel": (SINGLE_NUMA_NODE, "container"),
    "BestEffortPodLevel": ("best-effort", "pod"),
    "BestEffortContainerLevel": ("best-effort", "container"),
    "RestrictedPodLevel": ("restricted", "pod"),
    "RestrictedContainerLevel": ("restricted", "container"),
}
_ZONE_NAME = re.compile(r"(?:.*-)?node-([0-9]{1,4})", re.ASCII)


class TopologyScope(IntEnum):
    """The scope of the topology manager; NOTHING for a node without a NodeResourceTopology."""

    NOTHING = 0
    CONTAINER = 1
    POD = 2


class NumaZone(NamedTuple):
    """A NUMA zone: its number, its available amounts by resource, and its distances by number of the other zone."""

    numa_id: int
    available: Mapping[str, int]
    costs: Mapping[int, int]


class NodeTopology(NamedTuple):
    """The topology manager of a node, its zones by NUMA number, and when the object was last written."""

    policy: str
    scope: TopologyScope
    max_numa_nodes: int
    zones: tuple[NumaZone, ...]
    written: datetime | None


def read_topology(obj: Any) -> NodeTopology:
    """Return the parsed fields of a NodeResourceTopology."""
    fields = obj.fields
    policy, scope = "none", "container"
    old = list_in(fields, "topologyPolicies")
    if old and old[0] in _OLD_POLICIES:
        policy, scope = _OLD_POLICIES[old[0]]
    highest = DEFAULT_MAX_NUMA_NODES
    for attribute in objects_in(fields, "attributes"):
        name, value = attribute.get("name"), attribute.get("value")
        if name == "topologyManagerPolicy" and value in _POLICIES:
            policy = value
        elif name == "topologyManagerScope" and value in _SCOPES:
            scope = value
        elif name == "topologyManagerMaxNUMANodes":
            highest = _max_numa_nodes(value, highest)
    zones: dict[int, NumaZone] = {}
    for index, zone in enumerate(objects_in(fields, "zones")):
        numa_id = numa_id_of(zone.get("name"))
        # of two zones with one number the first counts
        if zone.get("type") == "Node" and numa_id is not None and numa_id not in zones:
            path = f"zones[{index}]"
            zones[numa_id] = NumaZone(numa_id, _available(zone, path), _costs(zone, path))
    return NodeTopology(
        policy,
        TopologyScope[scope.upper()],
        highest,
        tuple(zones[numa_id] for numa_id in sorted(zones)),
        obj.last_written,
    )


def numa_id_of(name: object) -> int | None:
    """Return the number in a zone's name such as `node-1`; None if there is none, or it exceeds the bits of a
    mask.
    """
    found = _ZONE_NAME.fullmatch(name) if isinstance(name, str) else None
    return int(found[1]) if found and int(found[1]) < MOST_ZONES else None


def _max_numa_nodes(value: object, otherwise: int) -> int:
    if isinstance(value, str) and value.isascii() and value.isdecimal() and int(value[:9]) > 1:
        return min(int(value[:9]), MOST_NUMA_NODES)
    return otherwise


def _available(zone: Mapping[str, Any], path: str) -> dict[str, int]:
    """Return the available amounts of a zone; a negative amount counts as zero."""
    amounts = {}
    for index, resource in enumerate(objects_in(zone, "resources", path)):
        field = f"{path}.resources[{index}]"
        name = resource.get("name")
        if not isinstance(name, str) or not name:
            raise InvalidObjectError(f"{field}.name: expected the name of a resource, got {name!r}")
        try:
            amount = resource_amounts({name: resource.get("available", 0)})[name]
        except InvalidObjectError as error:
            raise InvalidObjectError(f"{field}.available: {error}; write it as 4 or 8Gi") from None
        amounts[name] = max(0, min(amount, LARGEST))
    return amounts


def _costs(zone: Mapping[str, Any], path: str) -> dict[int, int]:
    costs = {}
    for cost in objects_in(zone, "costs", path):
        numa_id, value = numa_id_of(cost.get("name")), cost.get("value")
        if numa_id is not None and isinstance(value, int):
            costs[numa_id] = max(0, min(value, 2**15))
    return costs
