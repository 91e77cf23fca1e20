"""NodeResourceTopologyMatch: pods that fit into one NUMA zone of their node."""

from kubesched_contrib.node_resource_topology.plugin import NodeResourceTopologyMatch

__all__ = ["NodeResourceTopologyMatch"]
