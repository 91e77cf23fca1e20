"""Scores by how full a node's storage would be.

From the findings for a pod's claims on many rows to scores from 0 to 100: for each storage class, the requested share
of the chosen volumes (or, if nothing is bound there, of the pools' capacity), through the configured function; the
score is the mean over the classes.
"""

# upstream: volumebinding/volume_binding.go, Score; volumebinding/scorer.go (v1.36)

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.config.args import UtilizationShapePoint
from kubesched.core.cluster.storage.free_volumes import storage_bytes
from kubesched.core.cluster.storage.reach import NONE
from kubesched.core.cluster.storage.volume_claims import storage_class_name
from kubesched.core.framework.columns.shape_scores import FULL, shape_scores
from kubesched.core.plugins.volume_binding.search import Findings, Match

Ints = NDArray[np.int64]
Mask = NDArray[np.bool_]


class ClassUse:
    """The requested bytes and the capacity of one storage class, on each row on which it is used."""

    def __init__(self, count: int) -> None:
        self.used: Mask = np.zeros(count, np.bool_)
        self.requested: Ints = np.zeros(count, np.int64)
        self.capacity: Ints = np.zeros(count, np.int64)


class Uses:
    """The use of storage classes by name."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.by_class: dict[str, ClassUse] = {}

    def of(self, class_name: str) -> ClassUse:
        """Return the use of a class, to be added to."""
        return self.by_class.setdefault(class_name, ClassUse(self._count))


class StorageScorer:
    """Scores rows by the configured shape."""

    def __init__(self, shape: Sequence[UtilizationShapePoint]) -> None:
        self._scores: Ints = np.array(shape_scores(shape), np.int64)

    def score(self, findings: Findings) -> Ints:
        """Return the score of every row; 0 where no class counts."""
        uses = Uses(findings.count)
        bound: Mask = np.zeros(findings.count, np.bool_)
        for match in findings.matches:
            bound |= match.chosen != NONE
            _add_match(match, uses)
        _add_provisions(findings, ~bound, uses)
        total: Ints = np.zeros(findings.count, np.int64)
        classes: Ints = np.zeros(findings.count, np.int64)
        for use in uses.by_class.values():
            total += np.where(use.used, self._of_use(use.requested, use.capacity), 0)
            classes += use.used
        means = total / np.maximum(classes, 1)
        # rounded, halves away from zero
        return np.floor(means + 0.5).astype(np.int64)

    def _of_use(self, requested: Ints, capacity: Ints) -> Ints:
        full = (capacity == 0) | (requested > capacity)
        shares = np.where(full, FULL, requested * FULL // np.maximum(capacity, 1))
        # a product beyond 64 bits is negative, as in the reference
        return self._scores[np.maximum(shares, 0)]


def _add_match(match: Match, uses: Uses) -> None:
    """Add the chosen volumes of a claim to the use of their classes."""
    requested = storage_bytes(match.claim.spec.resources.requests)
    free, chosen = match.free, match.chosen
    among_free = chosen < len(free.things)
    for code, name in enumerate(free.class_names.values):
        mask = among_free.copy()
        mask[among_free] = free.class_codes[chosen[among_free]] == code
        _add(uses.of(name), mask, requested, free.capacity_bytes[chosen[mask]])
    for index, volume in enumerate(match.prebound):
        mask = chosen == len(free.things) + index
        capacity = np.full(int(np.count_nonzero(mask)), storage_bytes(volume.spec.capacity), np.int64)
        _add(uses.of(volume.spec.storage_class_name), mask, requested, capacity)


def _add(use: ClassUse, mask: Mask, requested: int, capacity: Ints) -> None:
    use.used |= mask
    use.requested[mask] += requested
    use.capacity[mask] += capacity


def _add_provisions(findings: Findings, unbound: Mask, uses: Uses) -> None:
    """Add the pools from which claims are provisioned to the use of their classes, on rows where nothing is bound."""
    for provision in findings.provisions:
        if provision.pools is None or provision.chosen is None:
            continue
        # differs (D-024): the reference crashes if a claim names its class only in an annotation
        use = uses.of(storage_class_name(provision.claim))
        mask = provision.wanted & unbound & (provision.chosen != NONE)
        use.used |= mask
        use.requested[mask] += storage_bytes(provision.claim.spec.resources.requests)
        # several claims share the capacity
        use.capacity[mask] = provision.pools.capacity_bytes[provision.chosen[mask]]
