"""The use of a node's resources with the pod: the arithmetic that scores share.

From configured resources and a pod to terms, one per resource that counts for the pod, and from terms and columns to
used amounts and capacities. The strategies turn these into scores from 0 to 100.
"""

# upstream: noderesources/resource_allocation.go, least_allocated.go, most_allocated.go, requested_to_capacity_ratio.go
# (v1.36)

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.api.go_numbers import int64
from kubesched.api.resources import is_scalar_resource
from kubesched.config.args import ResourceSpec, ScoringStrategy, UtilizationShapePoint
from kubesched.core.cluster.table import CPU, MEMORY, NATIVE, NodeTable
from kubesched.core.framework.columns.shape_scores import FULL, shape_scores
from kubesched.core.framework.views.nodes import Nodes, table_rows

LARGEST: Final = 2**63 - 1
_INT64: Final = 2**63

Ints = NDArray[np.int64]


class Term(NamedTuple):
    """A resource that counts in the score of a pod.

    With `assumed`, pods that do not request it count with a default amount.
    """

    code: int
    request: int
    weight: int
    assumed: bool


Terms = tuple[Term, ...]


class DeviceColumns(NamedTuple):
    """For every row of the table, how many devices back a resource and how many of them are taken."""

    capacity: Ints
    allocated: Ints


class Use(NamedTuple):
    """A term on many nodes: the capacity, the used amount, and the used amount with the pod."""

    capacity: Ints
    before: Ints
    used: Ints
    weight: int


def terms_of(
    resources: Sequence[ResourceSpec], requests: Mapping[str, int], table: NodeTable, *, assumed: bool
) -> Terms:
    """Return the terms of a pod with these requests.

    CPU, memory and ephemeral storage always count, scalar resources only for pods that request them; other resources
    do not count.
    """
    terms = []
    for resource in resources:
        request = requests.get(resource.name, 0)
        if resource.name in NATIVE or (request and is_scalar_resource(resource.name)):
            code = table.resource(resource.name)
            terms.append(Term(code, request, resource.weight, assumed and code in (CPU, MEMORY)))
    return tuple(terms)


def uses(terms: Terms, nodes: Nodes, devices: Mapping[int, DeviceColumns] | None = None) -> Iterator[Use]:
    """Yield the use of each term's resource on the nodes; devices, by resource code, count where a node offers none."""
    table, rows = table_rows(nodes)
    for code, request, weight, assumed in terms:
        capacity = table.allocatable[code, rows]
        before = (table.non_zero_requested if assumed else table.requested)[code, rows]
        if devices and code in devices:
            here = capacity == 0
            capacity = np.where(here, devices[code].capacity[rows], capacity)
            before = np.where(here, devices[code].allocated[rows], before)
        used = before + request
        if request > LARGEST // 2:
            # differs (D-008): the reference's sum may overflow; here the sum stays at the largest number, also for one
            # row
            used[used < 0] = LARGEST
        yield Use(capacity, before, used, weight)


class ResourceScorer(ABC):
    """Scores a node by the use of each resource; resources that a node does not offer do not count."""

    # Whether a resource that scores 0 does not count either.
    ignores_zero: ClassVar[bool] = False
    # Whether the mean over resources is rounded, halves up, instead of truncated.
    rounds: ClassVar[bool] = False

    @abstractmethod
    def of_use(self, used: int, capacity: int) -> int:
        """Return the score of one resource; the capacity is not zero."""

    @abstractmethod
    def of_uses(self, used: Ints, capacity: Ints) -> Ints:
        """Return the scores of many nodes for one resource; no capacity is zero."""

    def score(self, terms: Terms, table: NodeTable, row: int) -> int:
        """Return the score of one row."""
        allocatable, of_use, ignores_zero = table.allocatable.item, self.of_use, self.ignores_zero
        total = weights = 0
        for code, request, weight, assumed in terms:
            capacity = allocatable(code, row)
            if capacity:
                present = table.non_zero_requested if assumed else table.requested
                used = present.item(code, row) + request
                scored = of_use(used if used < LARGEST else LARGEST, capacity)
                if scored or not ignores_zero:
                    total += scored * weight
                    weights += weight
        return self.mean(total, weights)

    def mean(self, total: int, weights: int) -> int:
        """Return the weighted mean of a total, 0 if no resource counts."""
        if not weights:
            return 0
        # exact where the reference divides floating point numbers: so small ones have the same quotient
        return (2 * total + weights) // (2 * weights) if self.rounds else total // weights

    def score_nodes(self, found: Iterable[Use], count: int) -> Ints:
        """Return the scores of `count` nodes."""
        totals = np.zeros(count, np.int64)
        weights = np.zeros(count, np.int64)
        for capacity, _, used, weight in found:
            counts = capacity != 0
            scored = self.of_uses(used, capacity if counts.all() else np.where(counts, capacity, 1))
            if self.ignores_zero:
                counts &= scored != 0
            if counts.all():
                totals += scored * weight
                weights += weight
            else:
                totals += np.where(counts, scored, 0) * weight
                weights += np.where(counts, weight, 0)
        if self.rounds:
            totals, weights = 2 * totals + weights, 2 * weights
        return totals // np.maximum(weights, 1)

    def score_together(self, terms: Terms, nodes: Nodes) -> int:
        """Return the score of all nodes taken as one node, with the terms' requests added once."""
        total = weights = 0
        for (capacity, before, _, weight), term in zip(uses(terms, nodes), terms, strict=True):
            offered = int(capacity.sum())
            if offered:
                scored = self.of_use(int(before[capacity != 0].sum()) + term.request, offered)
                if scored or not self.ignores_zero:
                    total += scored * weight
                    weights += weight
        return self.mean(total, weights)


class LeastAllocated(ResourceScorer):
    """Prefers nodes with more free resources."""

    def of_use(self, used: int, capacity: int) -> int:
        """Return the free share in per cent."""
        return 0 if used > capacity else _per_cent(capacity - used, capacity)

    def of_uses(self, used: Ints, capacity: Ints) -> Ints:
        """Return the free shares in per cent."""
        return _per_cents(np.maximum(capacity - used, 0), capacity)


class MostAllocated(ResourceScorer):
    """Prefers nodes with more used resources."""

    def of_use(self, used: int, capacity: int) -> int:
        """Return the used share in per cent."""
        return _per_cent(capacity if used > capacity else used, capacity)

    def of_uses(self, used: Ints, capacity: Ints) -> Ints:
        """Return the used shares in per cent."""
        return _per_cents(np.minimum(used, capacity), capacity)


class RequestedToCapacityRatio(ResourceScorer):
    """Scores by a piecewise linear function of the used share."""

    ignores_zero = True
    rounds = True

    def __init__(self, shape: Sequence[UtilizationShapePoint]) -> None:
        self._values = shape_scores(shape)
        self._column = np.array(self._values, np.int64)

    def of_use(self, used: int, capacity: int) -> int:
        """Return the function's value."""
        return self._values[FULL if used > capacity else max(0, _per_cent(used, capacity))]

    def of_uses(self, used: Ints, capacity: Ints) -> Ints:
        """Return the function's values."""
        shares = np.where(used > capacity, FULL, _per_cents(np.minimum(used, capacity), capacity))
        return self._column[np.maximum(shares, 0)]


def _per_cent(part: int, whole: int) -> int:
    """Return the part in per cent of the whole, truncated; a product beyond 64 bits overflows as in the reference."""
    product = part * FULL
    if product >= _INT64:
        product = int64(product)
        if product < 0:
            return -(-product // whole)
    return product // whole


def _per_cents(parts: Ints, wholes: Ints) -> Ints:
    """Return the parts in per cent of the wholes."""
    products = parts * FULL
    quotients = products // wholes
    if products.min(initial=0) < 0:
        quotients += (products < 0) & (products % wholes != 0)
    return quotients


def strategy_of(strategy: ScoringStrategy) -> ResourceScorer:
    """Return the configured strategy."""
    if strategy.type == "RequestedToCapacityRatio":
        parameters = strategy.requested_to_capacity_ratio
        return RequestedToCapacityRatio(parameters.shape if parameters is not None else ())
    return MostAllocated() if strategy.type == "MostAllocated" else LeastAllocated()
