"""PodGroupPodsCount (stand-in): placements that take more pods of a group are better.

Registered under its name, so that configurations can mention it; pod groups are not implemented yet.
"""

from kubesched.framework.plugin import PlacementScorePlugin


class PodGroupPodsCount(PlacementScorePlugin):
    """Scores nothing yet."""

    name = "PodGroupPodsCount"
