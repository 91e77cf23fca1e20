"""The rows on which an in-tree volume plugin is migrated to its CSI driver, by the CSINodes.

From CSINodes to a mask per plugin, made again when CSINodes or the set of nodes change.
"""

import numpy as np
from numpy.typing import NDArray

from kubesched.api.storage import CSINode
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.columns import Rows
from kubesched.core.cluster.following import Cursor
from kubesched.core.cluster.storage.csi_translation import migrated_plugins


class MigratedNodes:
    """Masks over the rows of a cluster."""

    def __init__(self, cluster: ClusterState) -> None:
        self._cluster = cluster
        self._masks: dict[str, NDArray[np.bool_]] = {}
        self._version = -1
        self._cursor = Cursor(cluster.table, Reads.NODE_COUNT)

    def rows(self, plugin_name: str, rows: Rows) -> NDArray[np.bool_]:
        """Return the rows on which an in-tree plugin is migrated to its CSI driver."""
        table = self._cluster.table
        if not self._current():
            self._masks = {}
            for csi_node in self._cluster.objects.of(CSINode):
                row = table.row_of.get(csi_node.name)
                for name in migrated_plugins(csi_node) if row is not None else ():
                    self._masks.setdefault(name, np.zeros(table.size, np.bool_))[row] = True
        mask = self._masks.get(plugin_name)
        return (np.zeros(table.size, np.bool_) if mask is None else mask)[rows]

    def _current(self) -> bool:
        """Return whether the masks are up to date."""
        version = self._cluster.objects.versions.get("CSINode", 0)
        current = self._cursor.advance() is None and version == self._version
        self._version = version
        return current
