"""The devices that slices offer to each node, and signatures of nodes that are offered the same.

From ResourceSlices and DeviceTaintRules to the pools of a node, computed on demand and kept; and to signatures: the
results for one node are valid for all nodes with the same signature.

Invariants: an inventory is immutable. When slices or rules change another one is made from it, which reuses the
unchanged parts. A signature consists of the contents of a node's devices, in the order in which they are tried, and of
their use. Names of nodes, pools, slices and devices are not part of it if a pool belongs to one node; other pools are
part of it with their identity and the version of their use.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from itertools import count

from kubesched.api.devices import Device, DeviceTaintRule, ResourceSlice
from kubesched.api.nodes import Node
from kubesched.core.devices.contents import Contents
from kubesched.core.devices.errors import AllocationError
from kubesched.core.devices.features import DeviceFeatures
from kubesched.core.devices.pools import PoolTarget, PoolView, build_view, newest, ordered_views, target
from kubesched.core.devices.slices import OfferedSlice, rules_for
from kubesched.core.devices.state import NO_USE, AllocatedState, DeviceId, PoolId, PoolUse

_REMEMBERED = 100_000


class NodePools:
    """The pools of one node, and their last signature."""

    __slots__ = ("codes", "labels", "signature", "uses", "versions", "views")

    def __init__(
        self, labels: dict[str, str], views: tuple[PoolView, ...], codes: tuple[tuple[int, bool], ...]
    ) -> None:
        self.labels = labels
        self.views = views
        # parallel to views: the code of the pool's contents, and whether it belongs to this node alone
        self.codes = codes
        self.uses: list[PoolUse] | None = None
        self.versions: list[int] = []
        self.signature: Hashable = None


class DeviceInventory:
    """The slices, indexed by node."""

    def __init__(
        self,
        slices: Iterable[ResourceSlice],
        taint_rules: Iterable[DeviceTaintRule],
        features: DeviceFeatures,
        previous: DeviceInventory | None = None,
    ) -> None:
        """Reuse the unchanged parts of a previous inventory; slices are compared by identity."""
        self.features = features
        self.version: int = previous.version + 1 if previous is not None else 1
        if previous is not None and previous.features != features:
            previous = None
        self._new_codes: Iterator[int] = previous._new_codes if previous is not None else count(1)
        self._contents: Contents = previous._contents if previous is not None else Contents(self._new_codes)
        self._codes: dict[Hashable, int] = previous._codes if previous is not None else {}
        rules = tuple(taint_rules) if features.device_taint_rules else ()
        known = {each.slice.metadata.name: each for each in previous._slices} if previous is not None else {}
        self._slices: list[OfferedSlice] = [self._offered(slice_, rules, known) for slice_ in slices]
        self._by_pool: dict[PoolId, list[OfferedSlice]] = {}
        self._on_node: dict[str, list[OfferedSlice]] = {}
        self._anywhere: list[OfferedSlice] = []
        self._counters: dict[PoolId, list[PoolTarget]] = {}
        for offered in self._slices:
            self._file(offered)
        touched = self._touched_since(previous) if previous is not None else set()
        self._views: dict[tuple[PoolTarget, ...], PoolView | None] = {}
        if previous is not None:
            self._views = {key: view for key, view in previous._views.items() if key[0].slice.pool not in touched}
        self._unusable: dict[PoolId, PoolView] = self._unusable_counter_pools()
        self._nodes: dict[str, NodePools] = self._unaffected(previous, touched) if previous is not None else {}

    def pools_of(self, node: Node) -> tuple[PoolView, ...]:
        """Return the pools that the node can use, in search order; raises AllocationError for an invalid selector."""
        return self._pools_of(node).views

    def signature(self, node: Node, state: AllocatedState) -> Hashable:
        """Return a value that is equal for nodes on which all claims have the same result.

        Comparable between calls with the same state object, also across its changes and across inventories made
        from one another, so that results may be kept by it. Not errors: their texts name devices and pools.
        """
        try:
            pools = self._pools_of(node)
        except AllocationError:
            return (self.version, node.metadata.name)
        use_of = state.use_of
        uses = [use_of(view.id) or NO_USE for view in pools.views]
        versions = [use.version for use in uses]
        # `==` on lists of uses compares identities
        if pools.uses != uses or pools.versions != versions:
            pools.signature = tuple(
                (code, _positions(view, use) if own else use.version)
                for (code, own), view, use in zip(pools.codes, pools.views, uses, strict=True)
            )
            pools.uses, pools.versions = uses, versions
        return pools.signature

    def nodes_of(self, pool: PoolId) -> tuple[str, ...] | None:
        """Return the nodes whose signature depends on the use of the pool; None for any node."""
        names = {each.reach.node_name for each in self._by_pool.get(pool, ()) if not each.has_counters}
        return None if "" in names else tuple(sorted(names))

    def device(self, device: DeviceId) -> Device | None:
        """Return an offered device of the newest generation of its pool, taints of rules included."""
        slices = self._by_pool.get(PoolId(device.driver, device.pool), ())
        generation = max((each.generation for each in slices), default=0)
        for each in slices:
            if each.generation == generation:
                for offered in each.devices:
                    if offered.id == device:
                        return offered.device
        return None

    def _offered(
        self, slice_: ResourceSlice, rules: tuple[DeviceTaintRule, ...], known: dict[str, OfferedSlice]
    ) -> OfferedSlice:
        concerning = rules_for(slice_, rules) if rules else ()
        before = known.get(slice_.metadata.name)
        if before is not None and before.slice is slice_ and before.rules == concerning:
            return before
        return OfferedSlice(slice_, concerning, self._contents)

    def _file(self, offered: OfferedSlice) -> None:
        """Add a slice to the indexes."""
        spec = offered.slice.spec
        self._by_pool.setdefault(offered.pool, []).append(offered)
        if not self.features.partitionable_devices and (
            spec.per_device_node_selection is not None or offered.has_counters
        ):
            return
        if offered.has_counters:
            self._counters.setdefault(offered.pool, []).append(PoolTarget(offered))
        elif offered.reach.node_name:
            self._on_node.setdefault(offered.reach.node_name, []).append(offered)
        elif offered.reach.is_known or offered.per_device:
            self._anywhere.append(offered)

    def _touched_since(self, previous: DeviceInventory) -> set[PoolId]:
        """Return the pools whose slices have changed."""
        now, before = self._by_pool, previous._by_pool
        return {pool for pool in now.keys() | before.keys() if now.get(pool) != before.get(pool)}

    def _unaffected(self, previous: DeviceInventory, touched: set[PoolId]) -> dict[str, NodePools]:
        """Return the previous pools of the nodes that do not depend on changed pools."""
        affected = set()
        for pool in touched:
            for inventory in (previous, self):
                affected |= {each.reach.node_name for each in inventory._by_pool.get(pool, ()) if not each.has_counters}
        unusable, was_unusable = (
            {pool: view.incomplete for pool, view in each._unusable.items()} for each in (self, previous)
        )
        if "" in affected or unusable != was_unusable or len(previous._nodes) > _REMEMBERED:
            return {}
        return {name: pools for name, pools in previous._nodes.items() if name not in affected}

    def _unusable_counter_pools(self) -> dict[PoolId, PoolView]:
        """Return the pools that are unusable because of their counters.

        Slices with counters are relevant for every node, so that such a pool is unusable on all nodes, also on nodes
        that can use none of its devices.
        """
        views = ((pool, self._view(pool, targets)) for pool, targets in self._counters.items())
        return {pool: view for pool, view in views if view is not None and not view.usable}

    def _pools_of(self, node: Node) -> NodePools:
        pools = self._nodes.get(node.metadata.name)
        labels = node.metadata.labels
        if pools is None or (pools.labels is not labels and pools.labels != labels):
            pools = self._nodes[node.metadata.name] = self._gather(node)
        return pools

    def _gather(self, node: Node) -> NodePools:
        """Return the pools of a node, made from its slices."""
        relevant: dict[PoolId, list[PoolTarget]] = {}
        for offered in (*self._on_node.get(node.metadata.name, ()), *self._anywhere):
            found = target(offered, node)
            if found is not None:
                relevant.setdefault(offered.pool, []).append(found)
        views = {pool: view for pool, view in self._unusable.items() if pool not in relevant}
        for pool, targets in relevant.items():
            view = self._view(pool, [*targets, *self._counters.get(pool, ())])
            if view is not None:
                views[pool] = view
        ordered = ordered_views(views.values(), self.features)
        return NodePools(node.metadata.labels, ordered, tuple(self._code(view) for view in ordered))

    def _view(self, pool: PoolId, targets: list[PoolTarget]) -> PoolView | None:
        """Return the view of a pool with these targets; nodes with the same targets share it."""
        current = tuple(newest(targets))
        if current not in self._views:
            self._views[current] = build_view(pool, current, self._by_pool[pool], self.features)
        return self._views[current]

    def _code(self, view: PoolView) -> tuple[int, bool]:
        """Return a number for the contents of a pool, and whether the pool belongs to one node alone."""
        own, key = _what_it_is(view)
        if len(self._codes) > _REMEMBERED:
            # numbers are never reused: equal contents may just get different ones
            self._codes.clear()
        code = self._codes.get(key)
        if code is None:
            code = self._codes[key] = next(self._new_codes)
        return code, own


def _what_it_is(view: PoolView) -> tuple[bool, Hashable]:
    """Return whether a pool belongs to one node alone, and its contents."""
    if not view.usable:
        return True, (view.id.driver, view.incomplete)
    own = not view.elsewhere and all(each.slice.reach.node_name or each.slice.has_counters for each in view.targets)
    specs = () if own else tuple(each.slice.slice.spec for each in view.targets)
    return own, (
        view.id.driver,
        () if own else (view.id, tuple((spec.node_name, spec.node_selector) for spec in specs)),
        tuple(offered.content.code for offered in view.devices),
        () if all(reachable is True for reachable in view.masks) else view.masks,
        tuple(sorted(view.counters.items())),
        tuple(offered.content.code for offered in view.elsewhere),
    )


def _positions(view: PoolView, use: PoolUse) -> Hashable:
    """Return the devices of a pool that are in use, by position, and their consumed capacity."""
    taken = 0
    shares: list[Hashable] = []
    for position, offered in enumerate(view.devices):
        name = offered.id.device
        if name in use.dedicated:
            taken |= 1 << position
        if name in use.shared:
            shares.append((position, tuple(sorted(use.capacity.get(name, {}).items()))))
    return (taken, *shares)
