"""NodeVolumeLimits: the limits of volumes attached to a node.

From the volumes of an incoming pod, the volumes attached to each row, and the limits that CSI drivers report to a
verdict for every node. The cluster counts the volumes of placed pods, row by row.
"""

from kubesched.core.plugins.node_volume_limits.plugin import NodeVolumeLimits

__all__ = ["NodeVolumeLimits"]
