"""Volume limits in worlds: many rows at once, as they are or with pods added and removed.

From the numbers that the cluster keeps per row to a verdict per world: limits, attached volumes, and how many of the
wanted volumes are new to the row. A volume counts once however many pods use it, so a world counts the users of
volumes from the first added or removed pod on.
"""

# upstream: nodevolumelimits/csi.go, Filter (v1.36)

from functools import partial

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.node_matching import by_distinct
from kubesched.core.cluster.pod_slots import NOWHERE
from kubesched.core.cluster.storage.attached_volumes import NO_CSI_NODE, AttachedVolumes, Drivers
from kubesched.core.cluster.storage.csi_translation import CSIVolume
from kubesched.core.cluster.storage.csi_volumes import PodCSIVolumes, VolumeFinder
from kubesched.core.framework.columns.questions import FilterWorlds, shallow_copy
from kubesched.core.framework.values.status import Status, error, unschedulable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.plugins.node_volume_limits.request import VolumeLimitRequest

EXCEEDED = unschedulable("node(s) exceed max volume count")


def not_installed(driver: str) -> Status:
    """Return the rejection of a node that lacks a driver."""
    return unschedulable(f"{driver} CSI driver is not installed on the node")


def has_driver(drivers: Drivers, name: str) -> bool:
    """Return whether a node has a driver."""
    return drivers is not None and any(driver == name for driver, _ in drivers)


class PlacedVolumes:
    """The volumes of pods by slot, looked up once; valid for one state of the table."""

    def __init__(self, cluster: ClusterState) -> None:
        self._finder = VolumeFinder(cluster.objects)
        self._table = cluster.table
        self._known: dict[int, PodCSIVolumes] = {}
        self._attachable: NDArray[np.bool_] | None = None

    def of(self, slot: int) -> PodCSIVolumes:
        """Return the volumes of a pod."""
        found = self._known.get(slot)
        if found is None:
            pod = self._table.slots.pods[slot]
            assert pod is not None, "a world is changed by pods that have a slot"
            found = self._known[slot] = self._finder.volumes_of(pod, placed=True)
        return found

    def may_have(self, slots: NDArray[np.intp]) -> NDArray[np.bool_]:
        """Return which pods may have volumes: by their template, or because they are only nominated."""
        if self._attachable is None:
            self._attachable = self._table.slots.row[: self._table.slots.size] == NOWHERE
            for on_row in self._table.volume_users.slots_on.values():
                self._attachable[list(on_row)] = True
        return self._attachable[slots]


class LimitWorlds(FilterWorlds):
    """Numbers per wanted driver and world; statuses that do not depend on pods are set once."""

    def __init__(self, cluster: ClusterState, request: VolumeLimitRequest, rows: NDArray[np.intp]) -> None:
        attached = cluster.attached_volumes
        self._attached = attached
        self._rows = rows
        self._placed = PlacedVolumes(cluster)
        self._statuses: list[Status | None] = [None, EXCEEDED]
        codes = attached.drivers[rows]
        # the index of the status that does not depend on pods
        self._settled = self._settle(attached, request, codes)
        counts = request.wanted.counts
        self._index = {driver: index for index, (driver, _) in enumerate(counts)}
        shape = (len(counts), len(rows))
        self._limits: NDArray[np.int32] = np.zeros(shape, np.int32)
        self._totals: NDArray[np.int32] = np.zeros(shape, np.int32)
        self._new: NDArray[np.int32] = np.zeros(shape, np.int32)
        for index, (driver, count) in enumerate(counts):
            self._limits[index] = attached.limits(driver)[codes]
            self._totals[index] = attached.totals(driver)[rows]
            self._new[index] = count
        self._known = request.known
        for volume in request.known:
            using = attached.rows_using(volume)
            if using:
                self._new[self._index[volume.driver]] -= np.isin(rows, list(using))
        # world -> volume -> number of users, for worlds that were changed
        self._users: dict[int, dict[CSIVolume, int]] = {}
        # world -> slot -> why the volumes of its pod are unknown
        self._problems: dict[int, dict[int, str]] = {}
        if attached.problems and counts:
            for world in np.flatnonzero(np.isin(rows, list(attached.problems))).tolist():
                self._problems[world] = dict(attached.on(int(rows[world])).problems)

    def _settle(
        self, attached: AttachedVolumes, request: VolumeLimitRequest, codes: NDArray[np.int32]
    ) -> NDArray[np.int16]:
        settled = np.zeros(len(codes), np.int16)
        bare = codes == NO_CSI_NODE
        for wanted, mask in ((request.wanted, ~bare), (request.without_csi_node, bare)):
            if wanted.problem is not None:
                settled[mask] = self._code(wanted.problem)
            # differs (D-022): the reference reports a random missing driver; here it is the first by name
            for name in reversed(wanted.required):
                installed = by_distinct(codes, attached.driver_sets, partial(has_driver, name=name), np.bool_)
                settled[mask & ~installed] = self._code(not_installed(name))
        return settled

    def _code(self, status: Status) -> int:
        if status not in self._statuses:
            self._statuses.append(status)
        return self._statuses.index(status)

    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Add pods with their volumes to some worlds, or remove them."""
        if not self._index:
            return
        concerned = self._placed.may_have(slots)
        for world, slot in zip(worlds[concerned].tolist(), slots[concerned].tolist(), strict=True):
            row = int(self._rows[world])
            if not self._attached.has_limits(row):
                continue
            found = self._placed.of(slot)
            if found.problem is not None:
                problems = self._problems.setdefault(world, {})
                if sign > 0:
                    problems[slot] = found.problem.text
                else:
                    problems.pop(slot, None)
            for volume in found.volumes:
                self._use(world, row, volume, sign)

    def _use(self, world: int, row: int, volume: CSIVolume, sign: int) -> None:
        """Add or remove a user of a volume; only the first and the last user make a difference."""
        index = self._index.get(volume.driver)
        if index is None:
            return
        users = self._users.get(world)
        if users is None:
            users = self._users[world] = dict(self._attached.on(row).users)
        before = users.get(volume, 0)
        users[volume] = before + sign
        if (before > 0) == (before + sign > 0):
            return
        if volume not in self._attached.on(row).attachments:
            self._totals[index, world] += sign
        if volume in self._known:
            self._new[index, world] -= sign

    def verdict(self) -> Verdict:
        """Return the verdict of every world."""
        which = self._settled.copy()
        for world, problems in self._problems.items():
            if problems and not which[world]:
                which[world] = self._code(error(next(iter(problems.values()))))
        exceeded = ((self._totals + self._new > self._limits) & (self._new > 0)).any(axis=0)
        which[exceeded & (which == 0)] = 1
        return Verdict(which, tuple(self._statuses))

    def select(self, worlds: NDArray[np.intp]) -> "LimitWorlds":
        """Return an independent copy of some worlds."""
        selected = shallow_copy(self)
        selected._rows = self._rows[worlds]
        selected._statuses = list(self._statuses)
        selected._settled = self._settled[worlds]
        selected._limits, selected._totals, selected._new = (
            self._limits[:, worlds],
            self._totals[:, worlds],
            self._new[:, worlds],
        )
        chosen = worlds.tolist()
        selected._users = {new: dict(self._users[old]) for new, old in enumerate(chosen) if old in self._users}
        selected._problems = {new: dict(self._problems[old]) for new, old in enumerate(chosen) if old in self._problems}
        return selected
