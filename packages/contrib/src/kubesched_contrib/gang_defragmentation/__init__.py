"""GangDefragmentation: the fewest moves of running pods that make space for a waiting gang."""

from kubesched_contrib.gang_defragmentation.args import GangDefragmentationArgs
from kubesched_contrib.gang_defragmentation.plugin import GangDefragmentation

__all__ = ["GangDefragmentation", "GangDefragmentationArgs"]
