"""VolumeRestrictions: volumes that only one pod may use.

From the claims and disks of a pod and of placed pods to a rejection. A ReadWriteOncePod claim that another pod uses
rejects every node, unless preemption evicts that pod; a disk rejects the nodes where it is mounted in a conflicting
way.
"""

# upstream: volumerestrictions/volume_restrictions.go (v1.36)

from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.api.storage import PersistentVolumeClaim
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.columns import Rows
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.pod_slots import NOWHERE
from kubesched.core.cluster.storage.volume_claims import CLAIM, READ_WRITE_ONCE_POD, claim_of, not_found
from kubesched.core.cluster.storage.volume_users import DiskMount, names_claim, volume_uses
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.columns.questions import FilterWorlds, shallow_copy
from kubesched.core.framework.plugin import UNCACHED, PreFilterPlugin, WorldsFilterPlugin
from kubesched.core.framework.values.cycle import CycleState, StateKey
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.framework.values.status import SKIP, Status, error, unresolvable, unschedulable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes, table_row, table_rows
from kubesched.core.plugins.volume_claim_events import CLAIMS_OF_VOLUMES

_DISK_TAKEN = unschedulable("node(s) had no available disk")
_CLAIM_TAKEN = unschedulable(
    "node(s) unavailable due to PersistentVolumeClaim with ReadWriteOncePod access mode already in-use by another pod"
)
_UNPREPARED = error('cannot read "PreFilterVolumeRestrictions" from cycleState')

Mounts = tuple[DiskMount, ...]
# how many of the pod's ReadWriteOncePod claims are in use
IN_USE = StateKey[int]("PreFilterVolumeRestrictions")


class VolumeRestrictions(PreFilterPlugin, WorldsFilterPlugin):
    """Rejects nodes on which a disk or claim of the pod conflicts with another pod's."""

    name = "VolumeRestrictions"
    looks_up = ("PersistentVolumeClaim",)
    reads = Reads.VOLUMES

    def __init__(self, cluster: ClusterState) -> None:
        self._objects = cluster.objects
        self._table = cluster.table

    # -- PreFilter

    def key(self, pod: PodInfo) -> Hashable:
        """Return the pod's disks; UNCACHED if its claims have to be checked in each cycle."""
        uses = pod.derive(volume_uses)
        if not uses.claims:
            return uses.mounts
        exclusive = self._exclusive_claims(pod)
        skipped = not uses.mounts and not isinstance(exclusive, Status) and not self._in_use(pod, exclusive)
        return () if skipped else UNCACHED

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Status | None:
        """Return Skip if nothing can conflict, or a rejection if a claim does not exist."""
        exclusive = self._exclusive_claims(pod)
        if isinstance(exclusive, Status):
            return exclusive
        in_use = self._in_use(pod, exclusive)
        if not in_use and not pod.derive(volume_uses).mounts:
            return SKIP
        cycle.write(IN_USE, in_use)
        return None

    def _exclusive_claims(self, pod: PodInfo) -> frozenset[str] | Status:
        """Return the names of the pod's ReadWriteOncePod claims, or a rejection for a missing claim."""
        names = set()
        for name in pod.derive(volume_uses).claims:
            claim = claim_of(self._objects, pod, name)
            if claim is None:
                return unresolvable(not_found(CLAIM, name))
            if READ_WRITE_ONCE_POD in claim.spec.access_modes:
                names.add(name)
        return frozenset(names)

    def _in_use(self, pod: PodInfo, names: frozenset[str]) -> int:
        """Return how many of some claims are used by a placed pod."""
        users, present = self._table.volume_users, self._table.present
        return sum(users.is_used(pod.namespace, name, present) for name in names)

    # -- Filter

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return a rejection if a disk on the node conflicts or a claim is in use anywhere."""
        table, row = table_row(node)
        rows_mounting = table.volume_users.rows_mounting
        for mount in pod.derive(volume_uses).mounts:
            for existing in rows_mounting(mount.disk).get(row, ()):
                if mount.conflicts(existing):
                    return _DISK_TAKEN
        return _claim_status(cycle.get(IN_USE))

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Reject the nodes with conflicting disks, and all nodes if a claim is in use."""
        mounts = pod.derive(volume_uses).mounts
        everywhere = _claim_status(cycle.get(IN_USE))
        taken = disk_conflicts(*table_rows(nodes), mounts) > 0
        if everywhere is None:
            return Verdict.rejecting(taken, _DISK_TAKEN)
        return Verdict(np.where(taken, np.int16(1), np.int16(2)), (None, _DISK_TAKEN, everywhere))

    def filter_worlds(self, pod: PodInfo, rows: NDArray[np.intp]) -> FilterWorlds:
        """Return worlds with the claims in use and the conflicting disks."""
        exclusive = self._exclusive_claims(pod)
        assert not isinstance(exclusive, Status), "a rejected pod has no other worlds"
        return RestrictionWorlds(self._table, pod, exclusive, self._in_use(pod, exclusive), rows)

    # -- events

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that can end a conflict."""
        return (
            Registration(ClusterEvent(Resource.POD, Action.DELETE), after_pod_deleted),
            Registration(ClusterEvent(Resource.NODE, Action.ADD)),
            Registration(
                ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, Action.ADD), after_claim_added, CLAIMS_OF_VOLUMES
            ),
        )


def _claim_status(in_use: int | None) -> Status | None:
    """Return the status for a number of claims in use; an error if PreFilter did not count them."""
    if in_use is None:
        return _UNPREPARED
    return _CLAIM_TAKEN if in_use > 0 else None


class RestrictionWorlds(FilterWorlds):
    """Two sums per world: references to the pod's exclusive claims, and conflicting mounts on the row.

    As upstream, a pod of any namespace with a claim of that name changes the first.
    """

    def __init__(
        self, table: NodeTable, pod: PodInfo, exclusive: frozenset[str], in_use: int, rows: NDArray[np.intp]
    ) -> None:
        self._table = table
        self._exclusive = exclusive
        self._mounts = pod.derive(volume_uses).mounts
        self._in_use: NDArray[np.int64] = np.full(len(rows), in_use, np.int64)
        self._conflicts = disk_conflicts(table, rows, self._mounts)
        # slot -> its pod's part of either sum
        self._references: NDArray[np.int64] = np.zeros(table.slots.size, np.int64)
        self._mounted: NDArray[np.int64] = np.zeros(table.slots.size, np.int64)
        users = table.volume_users
        concerned = {row for name in exclusive for row in users.rows_naming(name)}
        concerned.update(row for mount in self._mounts for row in users.rows_mounting(mount.disk))
        for row in concerned:
            for other in table.pods_on[row].values():
                self._learn(other)

    def _learn(self, other: PodInfo) -> None:
        uses = other.derive(volume_uses)
        self._references[other.slot] = sum(name in self._exclusive for name in uses.claims)
        self._mounted[other.slot] = sum(mount.conflicts(existing) for mount in self._mounts for existing in uses.mounts)

    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Add the claims and disks of added pods, or subtract the ones of removed pods."""
        for slot in slots[self._table.slots.row[slots] == NOWHERE].tolist():
            # a pod that is only nominated was not counted with any row
            other = self._table.slots.pods[slot]
            assert other is not None, "a world is changed by pods that have a slot"
            self._learn(other)
        self._in_use[worlds] += sign * self._references[slots]
        self._conflicts[worlds] += sign * self._mounted[slots]

    def verdict(self) -> Verdict:
        """Return the verdict of every world."""
        return Verdict.first_of(len(self._in_use), (self._conflicts > 0, _DISK_TAKEN), (self._in_use > 0, _CLAIM_TAKEN))

    def select(self, worlds: NDArray[np.intp]) -> "RestrictionWorlds":
        """Return an independent copy of some worlds."""
        selected = shallow_copy(self)
        selected._in_use, selected._conflicts = self._in_use[worlds], self._conflicts[worlds]
        return selected


def disk_conflicts(table: NodeTable, rows: Rows, mounts: Mounts) -> NDArray[np.int64]:
    """Return how many pairs of a wanted and an existing mount conflict on each row."""
    conflicts = np.zeros(table.size, np.int64)
    for mount in mounts:
        for row, existing in table.volume_users.rows_mounting(mount.disk).items():
            conflicts[row] += sum(count for other, count in existing.items() if mount.conflicts(other))
    return conflicts[rows]


# -- hints


def after_claim_added(pod: PodInfo, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> Hint:
    """Return whether the claim is one of the pod's."""
    return Hint.when(names_claim(pod, new))


def after_pod_deleted(pod: PodInfo, old: PodInfo, new: PodInfo | None) -> Hint:
    """Return whether the deleted pod had a conflicting disk, or the same claim in any mode."""
    if old.namespace != pod.namespace:
        return Hint.QUEUE_SKIP
    wanted, had = pod.derive(volume_uses), old.derive(volume_uses)
    in_the_way = not set(wanted.claims).isdisjoint(had.claims) or any(
        mount.conflicts(existing) for mount in wanted.mounts for existing in had.mounts
    )
    return Hint.when(in_the_way)
