"""NodeVolumeLimits: how many volumes a node can attach.

Comes in: the volumes of an incoming pod, what is attached to each row, and the limits that CSI drivers report. Goes
out: a verdict for every node. Never counts the volumes of placed pods itself: the cluster does, row by row.
"""

from kubesched.core.plugins.node_volume_limits.plugin import NodeVolumeLimits

__all__ = ["NodeVolumeLimits"]
