"""NodeResourceTopologyMatch: pods whose resources a node can give from one NUMA zone."""

from kubesched_contrib.node_resource_topology.plugin import NodeResourceTopologyMatch

__all__ = ["NodeResourceTopologyMatch"]
