"""InterPodAffinity: pods that want to be, or must not be, near other pods.

From the affinity terms of an incoming pod and those that pods on the nodes carry to a verdict and a score for every
node. There is no loop over nodes or pods: pods are counted by the cluster, per row, and summed here per domain.
"""

from kubesched.core.plugins.inter_pod_affinity.plugin import InterPodAffinity

__all__ = ["InterPodAffinity"]
