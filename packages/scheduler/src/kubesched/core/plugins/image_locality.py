"""ImageLocality: prefer nodes that already hold the pod's images.

From the images that nodes report to a score. An image counts by its size, scaled by the share of nodes that hold it, so
that a node which is the only one to hold an image does not attract every pod. Hence a node's score depends on the other
nodes; the question is evaluated again only when the holders of one of its images, or the number of nodes, changed.
"""

# upstream: imagelocality/image_locality.go (v1.36)

from collections.abc import Hashable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.changes import Changes, Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.columns.questions import Feasible, ScoreQuestion
from kubesched.core.framework.plugin import MAX_NODE_SCORE, QuestionScorePlugin
from kubesched.core.framework.values.events import Registration
from kubesched.core.framework.values.status import Status

_MIB: Final = 1024 * 1024
# Images below the first size score 0; above the second, per container, more bytes make no difference.
MIN_BYTES: Final = 23 * _MIB
MAX_BYTES_PER_CONTAINER: Final = 1000 * _MIB


class Images(NamedTuple):
    """The images of a pod, sorted, one as often as it occurs; and the number of its containers."""

    names: tuple[str, ...]
    containers: int


class ImageLocality(QuestionScorePlugin):
    """Scores nodes by the bytes that need not be pulled."""

    name = "ImageLocality"
    score_reads = Reads.IMAGES | Reads.NODE_COUNT
    score_key_of_template = True
    in_range = True

    def __init__(self, cluster: ClusterState) -> None:
        self._table = cluster.table

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return the pod's images."""
        return pod.derive(images_of)

    def score_question(self, pod: PodInfo) -> ScoreQuestion:
        """Return the question of a pod."""
        return ImageQuestion(self, pod, self._table)

    def events_to_register(self) -> Sequence[Registration]:
        """Return nothing: it rejects no pod."""
        return ()


class ImageQuestion(ScoreQuestion):
    """The scores of all rows for some images."""

    normalized = False
    raw: NDArray[np.int64] = np.zeros(0, np.int64)

    def __init__(self, plugin: ImageLocality, pod: PodInfo, table: NodeTable) -> None:
        super().__init__(plugin, pod, table)
        self._images = pod.derive(images_of)
        self._versions: list[int] = []

    def evaluate(self) -> None:
        """Add up the images that each row holds."""
        table = self.table
        self._versions = self._current_versions()
        held = np.zeros(table.size, np.int64)
        for name in self._images.names:
            holders = table.images.holders(name)
            if holders is not None:
                sizes = holders.sizes
                rows = np.fromiter(sizes.keys(), np.intp, len(sizes))
                scaled = np.fromiter(sizes.values(), np.float64, len(sizes)) * (len(sizes) / table.node_count)
                held[rows] += scaled.astype(np.int64)
        self.raw = scores_of(held, self._images.containers)

    def catch_up(self, changes: Changes) -> None:
        """Evaluate again if the holders of one of the images changed; changes of other images do not matter."""
        if self._versions != self._current_versions():
            self.evaluate()
            self.generation += 1

    def scores(self, feasible: Feasible) -> NDArray[np.int64] | int | Status:
        """Return the raw scores, which are in range."""
        return self.raw

    def _current_versions(self) -> list[int]:
        holders = self.table.images.holders
        return [0 if (found := holders(name)) is None else found.version for name in self._images.names]


def images_of(pod: PodInfo) -> Images:
    """Return the images that a pod needs: for all its containers and its image volumes."""
    spec = pod.spec
    containers = [container.image for container in (*spec.init_containers, *spec.containers)]
    volumes = [volume.image.reference for volume in spec.volumes if volume.image is not None]
    return Images(tuple(sorted(map(normalized_image_name, (*containers, *volumes)))), len(containers))


def normalized_image_name(name: str) -> str:
    """Return the name with its tag, `latest` where it has none."""
    return name if name.rfind(":") > name.rfind("/") else f"{name}:latest"


def scores_of(held_bytes: NDArray[np.int64], containers: int) -> NDArray[np.int64]:
    """Return scores from 0 to 100 for the scaled bytes that nodes hold."""
    highest = MAX_BYTES_PER_CONTAINER * containers
    bounded = np.where(held_bytes < MIN_BYTES, MIN_BYTES, np.minimum(held_bytes, highest))
    # exact or of non-negative operands, hence rounded as the reference does
    return MAX_NODE_SCORE * (bounded - MIN_BYTES) // (highest - MIN_BYTES)
