"""How balanced the use of a node's resources is, and whether a pod improves it.

From terms and columns to scores from 50 to 100. Floating point operations are the reference's, in its order, so that
the truncated integers are the same.
"""

# upstream: noderesources/balanced_allocation.go (v1.36)

from collections.abc import Iterable, Sequence
from math import sqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.plugin import MAX_NODE_SCORE
from kubesched.core.plugins.node_resources.scoring import Ints, Terms, Use

HALF: Final = MAX_NODE_SCORE // 2

Floats = NDArray[np.float64]


def balance_of_row(terms: Terms, table: NodeTable, row: int) -> int:
    """Return the score of one row."""
    allocatable, requested = table.allocatable.item, table.requested.item
    before: list[float] = []
    after: list[float] = []
    for code, request, _, _ in terms:
        capacity = allocatable(code, row)
        if capacity:
            used = requested(code, row)
            share, with_pod = float(used) / float(capacity), float(used + request) / float(capacity)
            before.append(share if share < 1.0 else 1.0)
            after.append(with_pod if with_pod < 1.0 else 1.0)
    return HALF + (HALF + _evenness(after) - _evenness(before)) // 2


def _evenness(shares: Sequence[float]) -> int:
    """Return 100 for even shares, less the further they are from each other."""
    count = len(shares)
    if count == 2:
        deviation = abs((shares[0] - shares[1]) / 2)
    elif count > 2:
        total = 0.0
        for share in shares:
            total += share
        mean = total / count
        squares = 0.0
        for share in shares:
            squares += (share - mean) * (share - mean)
        deviation = sqrt(squares / count)
    else:
        deviation = 0.0
    return int((1 - deviation) * MAX_NODE_SCORE)


def balance_of_nodes(found: Iterable[Use], count: int) -> Ints:
    """Return the scores of `count` nodes; `found` is the use of each resource."""
    offered, before, after = [], [], []
    for use in found:
        here = use.capacity != 0
        divisor = np.where(here, use.capacity, 1).astype(np.float64)
        offered.append(here)
        before.append(_shares(use.before, divisor, here))
        after.append(_shares(use.used, divisor, here))
    improvement = _evenness_of_nodes(after, offered, count) - _evenness_of_nodes(before, offered, count)
    return HALF + (HALF + improvement) // 2


def _shares(used: Ints, divisor: Floats, offered: NDArray[np.bool_]) -> Floats:
    """Return the shares in use, at most 1, and 0 where the resource is not offered."""
    return np.where(offered, np.minimum(used.astype(np.float64) / divisor, 1.0), 0.0)


def _evenness_of_nodes(shares: Sequence[Floats], offered: Sequence[NDArray[np.bool_]], count: int) -> Ints:
    if len(shares) < 2:
        return np.full(count, MAX_NODE_SCORE, np.int64)
    if len(shares) == 2:
        deviation = np.where(offered[0] & offered[1], np.abs((shares[0] - shares[1]) / 2), 0.0)
    else:
        deviation = _deviation_of_many(shares, offered)
    return ((1 - deviation) * float(MAX_NODE_SCORE)).astype(np.int64)


def _deviation_of_many(shares: Sequence[Floats], offered: Sequence[NDArray[np.bool_]]) -> Floats:
    """Return the standard deviation; nodes that offer two of the resources use the formula for two."""
    numbers = np.sum(offered, axis=0)
    total = np.zeros(len(numbers))
    # of nodes with two resources the shares differ by this much: one is added, the other taken away
    difference = np.zeros(len(numbers))
    sign = np.ones(len(numbers))
    for share, here in zip(shares, offered, strict=True):
        total += share
        difference += share * sign
        sign = np.where(here, -sign, sign)
    mean = total / np.maximum(numbers, 1)
    squares = np.zeros(len(numbers))
    for share, here in zip(shares, offered, strict=True):
        squares += np.where(here, (share - mean) * (share - mean), 0.0)
    many = np.sqrt(squares / np.maximum(numbers, 1))
    return np.where(numbers > 2, many, np.where(numbers == 2, np.abs(difference / 2), 0.0))
