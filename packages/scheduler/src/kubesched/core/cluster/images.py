"""The rows that hold an image.

From `status.images` of nodes to rows and sizes by image name, since a pod has a few images and most nodes hold none of
them.
"""

from collections.abc import Iterable, Mapping

from kubesched.api.nodes import ContainerImage


class Holders:
    """The rows that hold an image, with its size on each; `version` changes whenever `sizes` may change."""

    __slots__ = ("sizes", "version")

    def __init__(self) -> None:
        self.sizes: dict[int, int] = {}
        self.version = 0


class NodeImages:
    """Image name -> holders, and row -> images with sizes."""

    __slots__ = ("_changes", "_holders", "_of_row")

    def __init__(self) -> None:
        self._changes = 0
        self._holders: dict[str, Holders] = {}
        self._of_row: dict[int, dict[str, int]] = {}

    def assign(self, row: int, images: Iterable[ContainerImage]) -> None:
        """Set the images of a row; the last size of an image that is listed twice counts."""
        # differs (D-009): the reference's live cache gives every node the size that the first node reported, until the
        # image is on no node. A cache that is built from scratch, as in the corpus, has the size of each node
        new = {name: image.size_bytes for image in images for name in image.names}
        old = self._of_row.pop(row, {})
        for name in old.keys() - new.keys():
            self._drop(name, row)
        for name, size in new.items():
            if old.get(name) != size:
                self._hold(name, row, size)
        if new:
            self._of_row[row] = new

    def holders(self, name: str) -> Holders | None:
        """Return the nodes that hold an image, or None if no node does."""
        return self._holders.get(name)

    def on(self, row: int) -> Mapping[str, int]:
        """Return the images of a row with their sizes."""
        return self._of_row.get(row, {})

    def _hold(self, name: str, row: int, size: int) -> None:
        holders = self._holders.get(name)
        if holders is None:
            holders = self._holders[name] = Holders()
        holders.sizes[row] = size
        self._changes += 1
        holders.version = self._changes

    def _drop(self, name: str, row: int) -> None:
        holders = self._holders[name]
        del holders.sizes[row]
        self._changes += 1
        holders.version = self._changes
        if not holders.sizes:
            del self._holders[name]
