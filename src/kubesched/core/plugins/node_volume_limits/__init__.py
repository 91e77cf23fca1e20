"""NodeVolumeLimits: how many volumes a node can attach.

From the volumes of an incoming pod, what is attached to each row, and the limits that CSI drivers report to a verdict
for every node. The volumes of placed pods are counted by the cluster, row by row.
"""

from kubesched.core.plugins.node_volume_limits.plugin import NodeVolumeLimits

__all__ = ["NodeVolumeLimits"]
