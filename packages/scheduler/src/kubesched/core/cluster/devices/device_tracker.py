"""The tracker of devices: offered and allocated ones, kept up to date as slices, claims and nodes change.

From ResourceSlices, taint rules, device classes and the claims' allocations to an inventory, the allocated state and a
column of codes: all claims have the same result on rows with equal codes, so that each distinct code is solved once.
Everything is brought up to date on demand.
"""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.api.devices import DeviceClass, DeviceTaintRule, ResourceSlice
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.devices.resource_claims import ResourceClaims
from kubesched.core.cluster.following import EVERYTHING, Cursor
from kubesched.core.cluster.interning import Interner
from kubesched.core.cluster.objects import Objects
from kubesched.core.cluster.table import NodeTable
from kubesched.core.devices import AllocatedState, DeviceFeatures, DeviceInventory, PoolId

# beyond this number of distinct signatures (or four for each row) codes are renumbered
CODES = 65_536


class DeviceTracker:
    """Devices under one set of features."""

    def __init__(self, table: NodeTable, objects: Objects, claims: ResourceClaims, features: DeviceFeatures) -> None:
        self._table = table
        self._objects = objects
        self.features = features
        self.state = AllocatedState(features)
        claims.follow(self.state)
        self._inventory = DeviceInventory((), (), features)
        self._inventory_of = (0, 0)
        self._named_by: dict[PoolId, set[str]] = {}
        self._classes: Mapping[str, DeviceClass] = {}
        self._classes_version = 0
        self._signatures: Interner[object] = Interner()
        self._codes: NDArray[np.int32] = np.zeros(0, np.int32)
        # the changes up to which the codes are valid
        self._cursor = Cursor(table, Reads.LABELS | Reads.PRESENCE)
        self._state_version = -1
        self._codes_inventory: DeviceInventory | None = None
        # a new object whenever codes are renumbered
        self.numbering = object()

    @property
    def inventory(self) -> DeviceInventory:
        """Return the inventory of the current slices."""
        versions = self._objects.versions
        wanted = versions.get(ResourceSlice.__name__, 0), versions.get(DeviceTaintRule.__name__, 0)
        if wanted != self._inventory_of:
            slices, rules = self._objects.of(ResourceSlice), self._objects.of(DeviceTaintRule)
            self._inventory = DeviceInventory(slices, rules, self.features, self._inventory)
            self._inventory_of = wanted
            self._named_by = _nodes_by_pool(slices)
        return self._inventory

    @property
    def classes(self) -> Mapping[str, DeviceClass]:
        """Return the device classes by name; a new mapping whenever one of them changed."""
        version = self._objects.versions.get(DeviceClass.__name__, 0)
        if version != self._classes_version:
            self._classes = {each.metadata.name: each for each in self._objects.of(DeviceClass)}
            self._classes_version = version
        return self._classes

    def signature_codes(self) -> NDArray[np.int32]:
        """Return a code for every row with a Node object; rows with equal codes are offered the same devices.

        Codes of different `numbering`s cannot be compared.
        """
        inventory = self.inventory
        stale = self._stale(inventory)
        if stale is None or self._is_full():
            self._start()
            self._sign(inventory, self._table.present_rows().tolist())
        else:
            if stale.shared_pools:
                self._sign_alike(inventory, stale.rows)
            self._sign(inventory, stale.rows)
        self._state_version = self.state.version
        self._codes_inventory = inventory
        return self._codes

    def _sign(self, inventory: DeviceInventory, rows: Iterable[int]) -> None:
        """Give some rows their codes, one by one."""
        code, nodes = self._signatures.code, self._table.nodes
        for row in rows:
            node = nodes[row]
            if node is not None:
                self._codes[row] = code(inventory.signature(node, self.state))

    def _sign_alike(self, inventory: DeviceInventory, apart: set[int]) -> None:
        """Set the codes of all other rows after a change of pools that they share.

        Rows with equal codes use the same shared pools, so they stay equal: one row per code is evaluated.
        """
        mask = self._table.present[: self._table.size].copy()
        mask[list(apart)] = False
        rows = np.flatnonzero(mask)
        _, first, kinds = np.unique(self._codes[rows], return_index=True, return_inverse=True)
        examples = rows[first]
        self._sign(inventory, examples.tolist())
        self._codes[rows] = self._codes[examples][kinds]

    @property
    def code_count(self) -> int:
        """Return how many codes there are so far."""
        return len(self._signatures)

    def _is_full(self) -> bool:
        return len(self._signatures) > max(CODES, 4 * self._table.size)

    def _start(self) -> None:
        if self._is_full():
            self._signatures = Interner()
            self.numbering = object()
        self._codes = np.zeros(self._table.size, np.int32)

    def _stale(self, inventory: DeviceInventory) -> "Stale | None":
        """Return the rows whose code may be out of date; None for all rows."""
        changed = self._cursor.advance()
        pools = self.state.pools_changed_since(self._state_version)
        if inventory is not self._codes_inventory or changed is EVERYTHING or pools is None:
            return None
        rows = set(changed.touching(self._cursor.reads) if changed is not None else ())
        shared = False
        for pool in pools:
            names: Iterable[str] | None = inventory.nodes_of(pool)
            if names is None:
                # also nodes that are named by a slice of the pool
                shared, names = True, self._named_by.get(pool, ())
            rows.update(row for name in names if (row := self._table.row_of.get(name)) is not None)
        return Stale(rows, shared)


class Stale(NamedTuple):
    """The rows whose code may be out of date, and whether pools changed that nodes share."""

    rows: set[int]
    shared_pools: bool


def _nodes_by_pool(slices: Iterable[ResourceSlice]) -> dict[PoolId, set[str]]:
    """Return the nodes that slices of each pool name."""
    found: dict[PoolId, set[str]] = {}
    for each in slices:
        if each.spec.node_name:
            found.setdefault(PoolId(each.spec.driver, each.spec.pool.name), set()).add(each.spec.node_name)
    return found
