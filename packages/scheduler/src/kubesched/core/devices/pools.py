"""The pools of devices that a node can use.

From the slices that are relevant for a node, and all slices of the same pools, to pool views: the order in which
devices are tried, the pools that cannot be used yet (incomplete) or at all (invalid), and the shared counters.

Invariants: only the newest generation of a pool among the relevant slices counts; views are ordered by driver and pool
name, those with binding conditions last, and their devices by slice name and position.
"""

# upstream: dynamic-resource-allocation/structured/internal/incubating/pools_incubating.go (v1.36)

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from kubesched.api.nodes import Node
from kubesched.core.devices.amounts import nanos_of
from kubesched.core.devices.contents import CounterName
from kubesched.core.devices.errors import AllocationError
from kubesched.core.devices.features import DeviceFeatures
from kubesched.core.devices.slices import OfferedDevice, OfferedSlice
from kubesched.core.devices.state import PoolId

Mask = tuple[bool | str, ...]
"""Per device of a slice: whether the node can reach it, or why that cannot be said."""


class PoolTarget(NamedTuple):
    """A slice that is relevant for a node; `mask` is set for perDeviceNodeSelection."""

    slice: OfferedSlice
    mask: Mask | None = None


class PoolView:
    """A pool as a node sees it; compared by identity."""

    __slots__ = ("counters", "devices", "elsewhere", "id", "incomplete", "invalid", "masks", "targets")

    def __init__(self, pool: PoolId, *, incomplete: bool = False, invalid: bool = False) -> None:
        self.id = pool
        self.incomplete = incomplete
        self.invalid = invalid
        # the relevant slices in order, counters among them
        self.targets: tuple[PoolTarget, ...] = ()
        self.devices: tuple[OfferedDevice, ...] = ()
        # parallel to devices: whether the node can use it
        self.masks: Mask = ()
        # devices that consume the same counters, but cannot be used on this node
        self.elsewhere: tuple[OfferedDevice, ...] = ()
        self.counters: dict[CounterName, int] = {}

    @property
    def usable(self) -> bool:
        """Return whether its devices may be allocated."""
        return not (self.incomplete or self.invalid)

    def has_binding_conditions(self) -> bool:
        """Return whether one of its devices has binding conditions."""
        return any(offered.device.binding_conditions for offered in self.devices)


def target(offered: OfferedSlice, node: Node) -> PoolTarget | None:
    """Return the slice as a target if it is relevant for the node; raises AllocationError for an invalid selector."""
    if not _is_relevant(offered, node):
        return None
    return PoolTarget(
        offered, tuple(_reaches(device, node) for device in offered.devices) if offered.per_device else None
    )


def newest(targets: Sequence[PoolTarget]) -> list[PoolTarget]:
    """Return the targets of the newest generation among them."""
    generation = max(each.slice.generation for each in targets)
    return [each for each in targets if each.slice.generation == generation]


def build_view(
    pool: PoolId, targets: Sequence[PoolTarget], pool_slices: Sequence[OfferedSlice], features: DeviceFeatures
) -> PoolView | None:
    """Return the pool with these targets of one generation; None if a newer generation replaces it.

    `pool_slices` are all slices of the pool, relevant or not.
    """
    wanted = targets[0].slice.slice.spec.pool.resource_slice_count
    elsewhere: list[OfferedSlice] = []
    if len(targets) != wanted:
        generation = targets[0].slice.generation
        if any(each.generation > generation for each in pool_slices):
            return None
        current = [each for each in pool_slices if each.generation == generation]
        if len(current) != wanted:
            return PoolView(pool, incomplete=True)
        relevant = {each.slice.name for each in targets}
        elsewhere = [each for each in current if each.name not in relevant]
    ordered = sorted(targets, key=lambda each: each.slice.name)
    return _assemble(pool, ordered, elsewhere, features)


def ordered_views(views: Iterable[PoolView], features: DeviceFeatures) -> tuple[PoolView, ...]:
    """Return the pools in search order."""
    if features.stable_only:
        return tuple(sorted(views, key=lambda view: view.id))
    return tuple(sorted(views, key=lambda view: (view.has_binding_conditions(), view.id)))


def _is_relevant(offered: OfferedSlice, node: Node) -> bool:
    """Return whether devices of the slice can be used on the node."""
    try:
        if offered.reach.is_known:
            return offered.reach.includes(node)
        for device in offered.devices:
            if device.reach is not None and device.reach.includes(node):
                return True
    except AllocationError as error:
        where = f"slice {offered.name}"
        if not offered.reach.is_known:
            where = f"device {device.device.name} in {where}"
        raise AllocationError(
            f"gather pool information: failed to perform node selection for {where}: {error}"
        ) from None
    return False


def _reaches(device: OfferedDevice, node: Node) -> bool | str:
    if device.reach is None:
        return True
    try:
        return device.reach.includes(node)
    except AllocationError as error:
        return str(error)


def _assemble(
    pool: PoolId, targets: Sequence[PoolTarget], elsewhere: Sequence[OfferedSlice], features: DeviceFeatures
) -> PoolView:
    """Return the view of a complete pool."""
    partitionable = features.partitionable_devices
    offering = [each for each in targets if not (partitionable and each.slice.has_counters)]
    view = PoolView(pool)
    view.targets = tuple(targets)
    view.devices = tuple(device for each in offering for device in each.slice.devices)
    view.masks = tuple(reachable for each in offering for reachable in (each.mask or (True,) * len(each.slice.devices)))
    if len({offered.id for offered in view.devices}) != len(view.devices):
        return PoolView(pool, invalid=True)
    if not partitionable:
        return view
    counters = _counters_of(targets)
    if counters is None:
        return PoolView(pool, invalid=True)
    view.counters = counters
    view.elsewhere = tuple(device for each in elsewhere for device in each.devices)
    drawing = [*(device for each in targets for device in each.slice.devices), *view.elsewhere]
    if not all(_draws_from(device, counters, _sets_of(targets)) for device in drawing):
        return PoolView(pool, invalid=True)
    return view


def _counters_of(targets: Sequence[PoolTarget]) -> dict[CounterName, int] | None:
    """Return all counters of a pool; None if two sets have the same name."""
    counters: dict[CounterName, int] = {}
    names = set()
    for each in targets:
        for counter_set in each.slice.slice.spec.shared_counters:
            if counter_set.name in names:
                return None
            names.add(counter_set.name)
            for name, counter in counter_set.counters.items():
                counters[counter_set.name, name] = nanos_of(counter.value)
    return counters


def _sets_of(targets: Sequence[PoolTarget]) -> set[str]:
    return {counter_set.name for each in targets for counter_set in each.slice.slice.spec.shared_counters}


def _draws_from(offered: OfferedDevice, counters: dict[CounterName, int], sets: set[str]) -> bool:
    """Return whether all counters that a device consumes exist."""
    return all(drawn.counter_set in sets for drawn in offered.device.consumes_counters) and all(
        name in counters for name, _ in offered.content.counters
    )
