"""InterPodAffinity: pod affinity and anti-affinity.

From the affinity terms of an incoming pod and the terms that placed pods carry to a verdict and a score for every node.
There is no loop over nodes or pods: the cluster counts pods per row, and they are summed here per domain.
"""

from kubesched.core.plugins.inter_pod_affinity.plugin import InterPodAffinity

__all__ = ["InterPodAffinity"]
