"""PodTopologySpread: spreads matching pods evenly over zones, hosts or other topology domains.

From a pod's constraints (or the profile's default ones) and the pods on all nodes to a rejection of nodes on which the
pod would exceed the skew, and to a score by how crowded each node's domains are.

    constraints  a pod's constraints, as one hashable key  domains    pods counted per domain, kept up to date
    owners       the selector of default constraints       filtering  the verdict column;  worlds  the same, what-if
    hints        queueing hints for a rejected pod         scoring    the score column
"""

from kubesched.core.plugins.pod_topology_spread.plugin import PodTopologySpread

__all__ = ["PodTopologySpread"]
