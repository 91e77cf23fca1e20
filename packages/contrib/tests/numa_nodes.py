"""Nodes with NUMA zones, and pods that ask for them."""

from collections.abc import Mapping, Sequence
from typing import Any

from kubesched.testing import a_container, a_custom_object, a_node, a_pod
from kubesched_contrib.node_resource_topology.topology import KIND

Available = Mapping[str, Any]


def a_topology(
    name: str,
    *zones: Available,
    policy: str = "single-numa-node",
    scope: str = "container",
    costs: Sequence[Sequence[int]] = (),
    **fields: Any,
) -> Any:
    """Return a NodeResourceTopology whose zones have so much available."""
    attributes = [
        {"name": "topologyManagerPolicy", "value": policy},
        {"name": "topologyManagerScope", "value": scope},
    ]
    written = [
        {
            "name": f"node-{number}",
            "type": "Node",
            "resources": [
                {"name": name, **dict.fromkeys(("capacity", "allocatable", "available"), amount)}
                for name, amount in zone.items()
            ],
            "costs": [{"name": f"node-{other}", "value": value} for other, value in enumerate(costs[number])]
            if costs
            else [],
        }
        for number, zone in enumerate(zones)
    ]
    return a_custom_object(KIND, name, **{"attributes": attributes, "zones": written, **fields})


def a_big_node(name: str = "n1", **amounts: Any) -> Any:
    """Return a node that has room for anything; only its zones matter."""
    return a_node(name, cpu="64", memory="256Gi", allocatable={"example.com/nic": 8, **amounts})


def a_guaranteed_container(cpu: Any, memory: Any = "1Gi", devices: Available | None = None, **options: Any) -> Any:
    """Return a container whose limits are its requests."""
    amounts = {"cpu": cpu, "memory": memory, **(devices or {})}
    return a_container(requests=amounts, limits=amounts, **options)


def a_guaranteed_pod(name: str = "pod", cpu: Any = "2", memory: Any = "1Gi", **options: Any) -> Any:
    """Return a Guaranteed pod with one container."""
    devices = options.pop("devices", {})
    containers = options.pop("containers", None) or [a_guaranteed_container(cpu, memory, devices=devices)]
    return a_pod(name, containers=containers, **options)
