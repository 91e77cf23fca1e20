"""One hard constraint: the totals of its domains, and the domains in which the pod does not exceed the skew.

From counts per domain to a status index per domain. The pod fits a domain while its total, the pod included if it
matches itself, exceeds the lowest total of any domain by no more than `max_skew`.
"""

# upstream: podtopologyspread/filtering.go, Filter, minMatchNum (v1.36)

from collections.abc import Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.columns import ABSENT
from kubesched.core.framework.values.status import unresolvable, unschedulable
from kubesched.core.plugins.pod_topology_spread.constraints import SpreadConstraint
from kubesched.core.plugins.pod_topology_spread.domains import DomainTotals, Minimum, Move

_REASON: Final = "node(s) didn't match pod topology spread constraints"
TOO_UNEVEN: Final = unschedulable(_REASON)
MISSING_LABEL: Final = unresolvable(f"{_REASON} (missing required label)")


class HardConstraint:
    """One constraint with its counts and a status index for every domain."""

    __slots__ = ("_missing", "_uneven", "constraint", "counted", "limit", "minimum", "self_match", "statuses")

    def __init__(
        self, constraint: SpreadConstraint, self_match: bool, counted: DomainTotals, uneven: int, missing: int
    ) -> None:
        self.constraint = constraint
        self.self_match = int(self_match)
        self.counted = counted
        self.minimum = Minimum(counted)
        self._uneven = uneven
        self._missing = missing
        self.limit = self._limit()
        self.statuses = self._all_statuses()

    def global_minimum(self) -> int:
        """Return the minimum that a domain's total is compared with; 0 if there are fewer domains than minDomains."""
        return 0 if self.too_few_domains else self.minimum.lowest

    @property
    def too_few_domains(self) -> bool:
        """Return whether there are fewer domains than minDomains."""
        return self.minimum.domains < self.constraint.min_domains

    def _limit(self) -> int:
        """Return the highest total of a domain at which the pod still fits."""
        return self.constraint.max_skew + self.global_minimum() - self.self_match

    def _all_statuses(self) -> NDArray[np.int16]:
        statuses = (self.counted.totals > self.limit) * np.int16(self._uneven)
        statuses[ABSENT] = self._missing
        return statuses

    def follow(self, moves: Sequence[Move]) -> list[int] | None:
        """Apply changed totals; return the domains whose status changed, None if all may have."""
        for move in moves:
            self.minimum.move(move.before, move.after)
        limit = self._limit()
        if limit != self.limit:
            self.limit = limit
            self.statuses = self._all_statuses()
            return None
        changed = []
        statuses, totals = self.statuses, self.counted.totals
        for domain in {move.domain for move in moves}:
            status = self._uneven if totals[domain] > limit else 0
            if statuses[domain] != status:
                statuses[domain] = status
                changed.append(domain)
        return changed
