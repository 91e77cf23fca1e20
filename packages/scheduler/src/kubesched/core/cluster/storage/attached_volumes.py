"""The number of attached volumes of each CSI driver on each row, and the limits.

From CSINodes, the volumes of placed pods and VolumeAttachments to columns. Changes are only recorded; `refresh` counts
the rows again on which pods with volumes changed, and the rows that depend on a changed object. Rows without a limit
are not counted.
"""

# upstream: nodevolumelimits/csi.go (v1.36)

from collections.abc import Mapping
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kubesched.api.meta import ApiObject
from kubesched.api.storage import (
    CSINode,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    VolumeAttachment,
)
from kubesched.core.cluster.changes import EVERYWHERE, Reads
from kubesched.core.cluster.columns import grown
from kubesched.core.cluster.following import EVERYTHING, Cursor, too_many
from kubesched.core.cluster.interning import Interner
from kubesched.core.cluster.objects import Objects
from kubesched.core.cluster.storage.csi_translation import CSIVolume
from kubesched.core.cluster.storage.csi_volumes import Dependency, VolumeFinder
from kubesched.core.cluster.table import NodeTable

K = TypeVar("K")

NO_LIMIT: Final = np.iinfo(np.int32).max

# driver -> limit, if it has one; None for a node without a CSINode
Drivers = tuple[tuple[str, int | None], ...] | None
NO_CSI_NODE: Final = 0


class RowVolumes(NamedTuple):
    """The volumes attached to a row that has limits."""

    # volume -> how many pods on the row use it
    users: Mapping[CSIVolume, int]
    # the volumes of VolumeAttachments, used or not
    attachments: frozenset[CSIVolume]
    # driver -> number of volumes, used or attached
    totals: Mapping[str, int]
    # slot -> why the volumes of its pod are unknown
    problems: Mapping[int, str]
    depends_on: frozenset[Dependency]


NOTHING: Final = RowVolumes({}, frozenset(), {}, {}, frozenset())


class AttachedVolumes:
    """Columns over rows, up to date after `refresh`."""

    def __init__(self, table: NodeTable, objects: Objects) -> None:
        self._table = table
        self._objects = objects
        self._cursor = Cursor(table, Reads.PRESENCE)
        # for each row, the code of its set of drivers and limits
        self.drivers: NDArray[np.int32] = np.zeros(0, np.int32)
        self.driver_sets: Interner[Drivers] = Interner()
        self.driver_sets.code(None)
        # driver -> its limit per code
        self._limits: dict[str, NDArray[np.int32]] = {}
        self._totals: dict[str, NDArray[np.int32]] = {}
        self._rows: dict[int, RowVolumes] = {}
        # row -> name of the node it was last counted for, None for none
        self._names: dict[int, str | None] = {}
        self._users: dict[CSIVolume, set[int]] = {}
        # row with a pod whose volumes are unknown -> the reason, of the first such pod
        self.problems: dict[int, str] = {}
        self._dependents: dict[Dependency, set[int]] = {}
        self._changed: set[Dependency] = set()
        self._attachments: dict[str, dict[str, VolumeAttachment]] = {}
        for kind in (CSINode, PersistentVolume, PersistentVolumeClaim, StorageClass):
            objects.follow(kind, self._note, reports=False)
        objects.follow(VolumeAttachment, self._note_attachment, reports=False)

    # -- reading

    def on(self, row: int) -> RowVolumes:
        """Return the volumes attached to a row; nothing for rows without limits."""
        return self._rows.get(row, NOTHING)

    def has_limits(self, row: int) -> bool:
        """Return whether any driver on a row has a limit."""
        return any(limit is not None for _, limit in self.driver_sets.values[self.drivers[row]] or ())

    def rows_using(self, volume: CSIVolume) -> set[int]:
        """Return the rows, among those with limits, on which a pod uses a volume."""
        return self._users.get(volume, set())

    def totals(self, driver: str) -> NDArray[np.int32]:
        """Return how many volumes of a driver are attached to each row with limits."""
        totals = self._totals.get(driver)
        return np.zeros(len(self.drivers), np.int32) if totals is None else totals

    def limits(self, driver: str) -> NDArray[np.int32]:
        """Return the limit of a driver for each code in `drivers`."""
        known = self._limits.get(driver)
        have = 0 if known is None else len(known)
        if known is None or have < len(self.driver_sets):
            further = [_limit(drivers, driver) for drivers in self.driver_sets.values[have:]]
            fresh = np.array(further, np.int32)
            known = self._limits[driver] = fresh if known is None else np.concatenate([known, fresh])
        return known

    def content(self) -> dict[str, Any]:
        """Return the contents by names, for comparison."""
        self.refresh()
        table = self._table
        return {
            name: {
                "drivers": self.driver_sets.values[self.drivers[row]],
                "users": dict(self.on(row).users),
                "attachments": self.on(row).attachments,
                "totals": {driver: int(totals[row]) for driver, totals in self._totals.items() if totals[row]},
                "problems": sorted(self.on(row).problems.values()),
            }
            for name, row in table.row_of.items()
        }

    # -- keeping up

    def refresh(self) -> None:
        """Bring everything up to date."""
        table = self._table
        if self._cursor.seq == table.log.seq and not self._changed:
            return
        rows = table.volume_users.take_touched()
        changed = self._cursor.advance()
        if changed is EVERYTHING:
            # changes of pods and objects are recorded elsewhere; nodes are compared by their names
            rows.update(row for row in range(table.size) if self._names.get(row) != _name(table, row))
        elif changed is not None:
            rows.update(changed.touching(Reads.PRESENCE))
        for dependency in self._changed:
            rows |= self._rows_of(dependency)
        self._changed.clear()
        if len(self.drivers) < table.capacity:
            self.drivers = grown(self.drivers, table.capacity)
            self._totals = {driver: grown(totals, table.capacity) for driver, totals in self._totals.items()}
        for row in rows:
            self._count(row)

    def _note(self, old: ApiObject | None, new: ApiObject | None) -> None:
        obj = new if new is not None else old
        if obj is not None:
            self._change(type(obj), obj.full_name)

    def _change(self, kind: type[ApiObject], name: str) -> None:
        rows = self._rows_of((kind, name))
        if not rows:
            return
        self._changed.add((kind, name))
        log = self._table.log
        if too_many(len(rows), self._table.size):
            # many entries would evict older ones from the log
            log.record(EVERYWHERE, Reads.VOLUMES)
            return
        for row in rows:
            log.record(row, Reads.VOLUMES)

    def _rows_of(self, dependency: Dependency) -> set[int]:
        """Return the rows whose volumes or limits depend on an object."""
        rows = self._dependents.get(dependency, set())
        if dependency[0] is CSINode:
            row = self._table.row_of.get(dependency[1])
            return rows if row is None else rows | {row}
        return rows

    def _note_attachment(self, old: ApiObject | None, new: ApiObject | None) -> None:
        for obj in (old, new):
            if isinstance(obj, VolumeAttachment):
                on_node = self._attachments.setdefault(obj.spec.node_name, {})
                on_node.pop(obj.name, None)
                if obj is new:
                    on_node[obj.name] = obj
                if not on_node:
                    del self._attachments[obj.spec.node_name]
                # attachments of a node are counted together with its CSINode
                self._change(CSINode, obj.spec.node_name)

    def _count(self, row: int) -> None:
        """Count a row again."""
        self._replace(row, NOTHING)
        name = self._names[row] = _name(self._table, row)
        csi_node = None if name is None else self._objects.get(CSINode, name)
        self.drivers[row] = self.driver_sets.code(_drivers(csi_node))
        if not self.has_limits(row):
            return
        seen: set[Dependency] = set()
        finder = VolumeFinder(self._objects, seen=seen)
        users: dict[CSIVolume, int] = {}
        problems: dict[int, str] = {}
        slots = self._table.slots
        for slot in self._table.volume_users.slots_on.get(row, ()):
            pod = slots.pods[slot]
            assert pod is not None, "placed pods have a slot"
            found = finder.volumes_of(pod, placed=True)
            if found.problem is not None:
                problems[slot] = found.problem.text
            for volume in found.volumes:
                users[volume] = users.get(volume, 0) + 1
        attachments = self._attached_to(name or "", seen)
        totals: dict[str, int] = {}
        for volume in attachments.union(users):
            totals[volume.driver] = totals.get(volume.driver, 0) + 1
        if users or attachments or problems or seen:
            self._replace(row, RowVolumes(users, attachments, totals, problems, frozenset(seen)))

    def _attached_to(self, node_name: str, seen: set[Dependency]) -> frozenset[CSIVolume]:
        """Return the volumes that VolumeAttachments name for a node."""
        volumes = set()
        for attachment in self._attachments.get(node_name, {}).values():
            spec = attachment.spec
            pv_name = spec.source.persistent_volume_name
            if not spec.attacher or pv_name is None:
                continue
            seen.add((PersistentVolume, pv_name))
            pv = self._objects.get(PersistentVolume, pv_name)
            if pv is not None and pv.spec.csi is not None:
                volumes.add(CSIVolume(spec.attacher, pv.spec.csi.volume_handle))
        return frozenset(volumes)

    def _replace(self, row: int, new: RowVolumes) -> None:
        """Replace the contents of a row in the indices."""
        old = self._rows.pop(row, NOTHING)
        for driver in old.totals:
            self._totals[driver][row] = 0
        for volume in old.users:
            _drop(self._users, volume, row)
        for dependency in old.depends_on:
            _drop(self._dependents, dependency, row)
        self.problems.pop(row, None)
        if new is NOTHING:
            return
        self._rows[row] = new
        for driver, total in new.totals.items():
            if driver not in self._totals:
                self._totals[driver] = np.zeros(len(self.drivers), np.int32)
            self._totals[driver][row] = total
        for volume in new.users:
            self._users.setdefault(volume, set()).add(row)
        for dependency in new.depends_on:
            self._dependents.setdefault(dependency, set()).add(row)
        if new.problems:
            self.problems[row] = next(iter(new.problems.values()))


def _name(table: NodeTable, row: int) -> str | None:
    """Return the name of the node on a row, None if there is no Node object."""
    return None if table.nodes[row] is None else table.names[row]


def _drop(index: dict[K, set[int]], key: K, row: int) -> None:
    rows = index[key]
    rows.discard(row)
    if not rows:
        del index[key]


def _drivers(csi_node: CSINode | None) -> Drivers:
    """Return a node's drivers with their limits, each once; the last limit of a driver counts."""
    if csi_node is None:
        return None
    drivers: dict[str, int | None] = {}
    for driver in csi_node.spec.drivers:
        count = None if driver.allocatable is None else driver.allocatable.count
        if count is not None or driver.name not in drivers:
            drivers[driver.name] = count
    return tuple(sorted(drivers.items(), key=lambda item: item[0]))


def _limit(drivers: Drivers, name: str) -> int:
    limit = dict(drivers or ()).get(name)
    return NO_LIMIT if limit is None else limit
