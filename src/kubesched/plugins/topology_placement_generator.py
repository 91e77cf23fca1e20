"""TopologyPlacementGenerator (stand-in): sets of nodes for a group of pods, by topology.

Registered under its name, so that configurations can mention it; pod groups are not implemented yet.
"""

from kubesched.framework.plugin import PlacementGeneratePlugin


class TopologyPlacementGenerator(PlacementGeneratePlugin):
    """Proposes nothing yet."""

    name = "TopologyPlacementGenerator"
