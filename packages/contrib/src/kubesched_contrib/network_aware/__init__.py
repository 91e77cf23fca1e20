"""NetworkOverhead and TopologicalSort: workloads of an AppGroup near to each other, in order of their dependencies."""

from kubesched_contrib.network_aware.network_overhead import NetworkOverhead
from kubesched_contrib.network_aware.topological_sort import TopologicalSort

__all__ = ["NetworkOverhead", "TopologicalSort"]
