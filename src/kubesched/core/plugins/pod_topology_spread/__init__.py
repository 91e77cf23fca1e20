"""PodTopologySpread: pods of a kind are spread evenly over zones, hosts or whatever nodes are grouped by.

From a pod's constraints (or the profile's default ones) and the pods on all nodes to the nodes where placing the pod
would make the spread too uneven, and how crowded each node's domains are.

    constraints  what a pod asks, as one hashable key      domains    pods counted per domain, kept up to date
    owners       the selector of pods that have none       filtering  the verdict column;  worlds  the same, what-if
    hints        which events help a rejected pod          scoring    the score column
"""

from kubesched.core.plugins.pod_topology_spread.plugin import PodTopologySpread

__all__ = ["PodTopologySpread"]
