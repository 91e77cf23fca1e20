"""VolumeBinding: finds volumes for a pod's claims, or nodes where they can be provided, and has them bound.

From a pod's claims, the volumes and the storage classes to the nodes that reach them, a plan for the node that was
chosen, and the writes that carry it out.
"""

from kubesched.core.plugins.volume_binding.plugin import VolumeBinding

__all__ = ["VolumeBinding"]
