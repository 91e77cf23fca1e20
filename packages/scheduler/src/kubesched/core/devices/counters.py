"""The remaining amounts of the shared counters of a pool.

From a pool, its use and the devices of the current search to the amounts that are left.
"""

# upstream: structured/internal/incubating/allocator_incubating.go checkAvailableCounters (v1.36)

from __future__ import annotations

from collections.abc import Sequence

from kubesched.core.devices.contents import CounterName
from kubesched.core.devices.pools import PoolView
from kubesched.core.devices.state import PoolUse

Draws = Sequence[tuple[CounterName, int]]


class CounterLedger:
    """The remaining amounts of the counters of each pool during one search."""

    __slots__ = ("_available", "_left", "_uses")

    def __init__(self, uses: dict[PoolView, PoolUse], available: dict[PoolView, dict[CounterName, int]]) -> None:
        """`available` keeps the amounts that all searches of one allocator start from."""
        self._uses = uses
        self._available = available
        self._left: dict[PoolView, dict[CounterName, int]] = {}

    def draw(self, pool: PoolView, draws: Draws) -> bool:
        """Subtract amounts from counters of a pool; undo it and return False if any counter of the pool is exceeded."""
        left = self._left.get(pool)
        if left is None:
            left = self._left[pool] = dict(self._start(pool))
        for name, amount in draws:
            left[name] -= amount
        if min(left.values(), default=0) >= 0:
            return True
        self.put_back(pool, draws)
        return False

    def put_back(self, pool: PoolView, draws: Draws) -> None:
        """Add amounts back to counters of a pool."""
        left = self._left[pool]
        for name, amount in draws:
            left[name] += amount

    def _start(self, pool: PoolView) -> dict[CounterName, int]:
        """Return the amounts that devices in use leave."""
        start = self._available.get(pool)
        if start is None:
            start = self._available[pool] = dict(pool.counters)
            use = self._uses[pool]
            for offered in (*pool.devices, *pool.elsewhere):
                if use.touches(offered.id.device):
                    for name, amount in offered.content.counters:
                        start[name] -= amount
        return start
