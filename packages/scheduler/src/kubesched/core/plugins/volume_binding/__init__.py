"""VolumeBinding: finds volumes for a pod's claims, or nodes where they can be provisioned, and binds them.

From a pod's claims, the volumes and the storage classes to the nodes that can access them, a plan for the chosen node,
and the writes that carry it out.
"""

from kubesched.core.plugins.volume_binding.plugin import VolumeBinding

__all__ = ["VolumeBinding"]
