"""The allocated state: whole devices, shares of devices and the capacity they consume.

From the allocations of claims, put one by one under the claims' keys, to the use of each pool. Putting the same
allocation twice changes nothing; another allocation under a known key replaces the earlier one.

Invariants: the use depends only on the last allocations, not on their order; devices with admin access are not in use;
every change of a pool's use gives it a new version.
"""

# upstream: dynamicresources/allocateddevices.go, structured/schedulerapi/types.go (v1.36)
# differs (D-012): the reference forgets a device when one of several claims that hold it is deleted; here the last
# claim counts

from __future__ import annotations

from collections import deque
from collections.abc import Hashable, Iterable
from typing import Final, NamedTuple

from kubesched.api.devices import AllocationResult, DeviceRequestAllocationResult, ResourceClaim
from kubesched.core.devices.amounts import Amounts, nanos_of
from kubesched.core.devices.features import DeviceFeatures

_REMEMBERED_CHANGES = 4096


class PoolId(NamedTuple):
    """A pool of a driver."""

    driver: str
    pool: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}"


class DeviceId(NamedTuple):
    """A device of a pool."""

    driver: str
    pool: str
    device: str

    def __str__(self) -> str:
        return f"{self.driver}/{self.pool}/{self.device}"


class PoolUse:
    """The use of one pool; only the state that it belongs to changes it."""

    __slots__ = ("_capacity_shares", "capacity", "dedicated", "shared", "version")

    def __init__(self) -> None:
        # device name -> number of claims that have the whole device; that have a share; whose share consumes capacity
        self.dedicated: dict[str, int] = {}
        self.shared: dict[str, int] = {}
        self._capacity_shares: dict[str, int] = {}
        # device name -> capacity -> amount that the shares consume
        self.capacity: dict[str, Amounts] = {}
        self.version = 0

    def touches(self, device: str) -> bool:
        """Return whether a device is allocated, whole or in part."""
        return device in self.dedicated or device in self.shared

    def is_empty(self) -> bool:
        """Return whether no device of the pool is in use."""
        return not self.dedicated and not self.shared

    def add(self, result: DeviceRequestAllocationResult, shares: bool) -> None:
        """Count an allocated device."""
        if not (shares and result.share_id is not None):
            _count(self.dedicated, result.device)
            return
        _count(self.shared, result.device)
        if result.consumed_capacity:
            _count(self._capacity_shares, result.device)
            consumed = self.capacity.setdefault(result.device, {})
            for name, raw in result.consumed_capacity.items():
                consumed[name] = consumed.get(name, 0) + nanos_of(raw)

    def remove(self, result: DeviceRequestAllocationResult, shares: bool) -> None:
        """Undo `add`."""
        if not (shares and result.share_id is not None):
            _discount(self.dedicated, result.device)
            return
        _discount(self.shared, result.device)
        if result.consumed_capacity:
            consumed = self.capacity[result.device]
            for name, raw in result.consumed_capacity.items():
                consumed[name] -= nanos_of(raw)
            if _discount(self._capacity_shares, result.device) == 0:
                del self.capacity[result.device]


NO_USE: Final = PoolUse()
"""The use of a pool of which nothing is in use."""


class AllocatedState:
    """The use of all pools."""

    __slots__ = ("_allocations", "_changes", "_forgotten", "_pools", "_shares", "version")

    def __init__(self, features: DeviceFeatures) -> None:
        self._shares = features.consumable_capacity
        self._allocations: dict[Hashable, AllocationResult] = {}
        self._pools: dict[PoolId, PoolUse] = {}
        self._changes: deque[tuple[int, PoolId]] = deque()
        self._forgotten = 0
        self.version = 0

    @classmethod
    def of_claims(cls, claims: Iterable[ResourceClaim], features: DeviceFeatures) -> AllocatedState:
        """Return the state with the allocations of these claims."""
        state = cls(features)
        for claim in claims:
            state.put(claim.full_name, claim.status.allocation)
        return state

    def put(self, key: Hashable, allocation: AllocationResult | None) -> None:
        """Set the allocation of the claim under a key; None for none."""
        before = self._allocations.get(key)
        if before is allocation:
            return
        if before is not None:
            del self._allocations[key]
            self._apply(before, add=False)
        if allocation is not None:
            self._allocations[key] = allocation
            self._apply(allocation, add=True)

    def get(self, key: Hashable) -> AllocationResult | None:
        """Return the last allocation under a key."""
        return self._allocations.get(key)

    def use_of(self, pool: PoolId) -> PoolUse | None:
        """Return the use of a pool; None if no device is in use."""
        return self._pools.get(pool)

    def pools_changed_since(self, version: int) -> set[PoolId] | None:
        """Return the pools whose use changed after that version of the state; None if that is no longer known."""
        if version < self._forgotten:
            return None
        changed = set()
        for at, pool in reversed(self._changes):
            if at <= version:
                break
            changed.add(pool)
        return changed

    def _apply(self, allocation: AllocationResult, add: bool) -> None:
        touched = set()
        for result in allocation.devices.results:
            if result.admin_access:
                continue
            pool = PoolId(result.driver, result.pool)
            use = self._pools.get(pool)
            if use is None:
                use = self._pools[pool] = PoolUse()
            if add:
                use.add(result, self._shares)
            else:
                use.remove(result, self._shares)
            touched.add(pool)
        for pool in touched:
            self._changed(pool)

    def _changed(self, pool: PoolId) -> None:
        self.version += 1
        use = self._pools[pool]
        use.version = self.version
        if use.is_empty():
            del self._pools[pool]
        self._changes.append((self.version, pool))
        if len(self._changes) > _REMEMBERED_CHANGES:
            self._forgotten = self._changes.popleft()[0]


def _count(counts: dict[str, int], name: str) -> None:
    counts[name] = counts.get(name, 0) + 1


def _discount(counts: dict[str, int], name: str) -> int:
    left = counts[name] - 1
    if left:
        counts[name] = left
    else:
        del counts[name]
    return left
