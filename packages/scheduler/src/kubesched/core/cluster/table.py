"""The node table: rows are nodes, columns are NumPy arrays.

From nodes and the pods on them to columns; changes are logged. Rows are recycled; a row exists while there is a Node
object or a pod names the node. A row without a Node object (`present` False) does not count. Only `ClusterState` calls
the mutating methods.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from kubesched.api.go_numbers import int64
from kubesched.api.nodes import Node
from kubesched.api.pods import Taint
from kubesched.api.quantity import milli_value_of, value_of
from kubesched.api.resources import is_scalar_resource
from kubesched.core.cluster.changes import EVERYWHERE, WHOLE_ROW, ChangeLog, Reads
from kubesched.core.cluster.columns import LabelColumn, SetColumn, grown
from kubesched.core.cluster.images import NodeImages
from kubesched.core.cluster.interning import Interner
from kubesched.core.cluster.label_columns import LabelColumns
from kubesched.core.cluster.pod_counts import PodCounts
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.pod_slots import NOWHERE, PodSlots
from kubesched.core.cluster.pod_totals import PodTotals
from kubesched.core.cluster.ports import HostPorts
from kubesched.core.cluster.scalar_resources import ScalarResources
from kubesched.core.cluster.storage.volume_users import VolumeUsers

if TYPE_CHECKING:
    from kubesched.core.cluster.row_amounts import KeptAmounts

CPU, MEMORY, EPHEMERAL_STORAGE = 0, 1, 2
NATIVE = ("cpu", "memory", "ephemeral-storage")
INITIAL_CAPACITY = 64
# The most codes of a column, in addition to two for each row; beyond it the column is renumbered.
SPARE_CODES = 1024
# The most resources with columns, in addition to the resources that the configuration names.
MOST_COLUMNS = 128


class NodeTable:
    """All columns of all rows. Arrays have `capacity` entries, of which the first `size` are rows."""

    def __init__(self, log: ChangeLog | None = None) -> None:
        self.log = log or ChangeLog()
        self.size = 0
        self.capacity = INITIAL_CAPACITY
        self.node_count = 0
        self.row_of: dict[str, int] = {}
        self.names: list[str] = []
        self.nodes: list[Node | None] = []
        self.pods_on: list[dict[str, PodInfo]] = []
        self._free_rows: list[int] = []
        # the resources that have columns; scalar resources are all in `scalars`
        self.resources: Interner[str] = Interner()
        self.scalars = ScalarResources()
        for name in NATIVE:
            self.resources.code(name)
        capacity = self.capacity
        self.present: NDArray[np.bool_] = np.zeros(capacity, np.bool_)
        self.unschedulable: NDArray[np.bool_] = np.zeros(capacity, np.bool_)
        self.allocatable: NDArray[np.int64] = np.zeros((len(NATIVE), capacity), np.int64)
        self.requested: NDArray[np.int64] = np.zeros((len(NATIVE), capacity), np.int64)
        # milli-CPU and memory, with defaults for containers without requests
        self.non_zero_requested: NDArray[np.int64] = np.zeros((2, capacity), np.int64)
        self.allowed_pods: NDArray[np.int64] = np.zeros(capacity, np.int64)
        self.pod_count: NDArray[np.int64] = np.zeros(capacity, np.int64)
        # without timeAdded, which would make all taints different
        self.taints: SetColumn[Taint] = SetColumn(capacity)
        self.features: SetColumn[str] = SetColumn(capacity)
        self.images = NodeImages()
        self.labels = LabelColumns(capacity)
        self.ports = HostPorts()
        self.volume_users = VolumeUsers()
        self.counts = PodCounts()
        # the summed requests of pods, by keys of plugins
        self.totals: list[PodTotals] = []
        self.slots = PodSlots()
        self.pods: dict[str, PodInfo] = {}
        # cached lists of amounts for plugins written for one node (`row_amounts`)
        self.kept_amounts: dict[Callable[..., Any], KeptAmounts] = {}

    # -- reading

    def label(self, key: str) -> LabelColumn:
        """Return the column of a label key; it is made from the nodes on first use."""
        return self.labels.of(key, self.nodes)

    def label_columns(self) -> list[LabelColumn]:
        """Return the existing label columns."""
        return self.labels.asked_for()

    def present_rows(self) -> NDArray[np.intp]:
        """Return the rows that have a Node object."""
        return np.flatnonzero(self.present[: self.size])

    def allocatable_of(self, row: int, resource: str) -> int:
        """Return how much of a resource a row offers."""
        if resource in NATIVE:
            return int(self.allocatable[NATIVE.index(resource), row])
        return self.scalars.offered[row].get(resource, 0)

    def requested_of(self, row: int, resource: str) -> int:
        """Return how much of a resource the pods of a row request."""
        if resource in NATIVE:
            return int(self.requested[NATIVE.index(resource), row])
        return self.scalars.asked[row].get(resource, 0)

    # -- nodes

    def set_node(self, node: Node) -> int:
        """Add a node or replace the object under its name; log what differs; return its row."""
        row = self._row(node.metadata.name)
        old = self.nodes[row]
        self.nodes[row] = node
        if old is None:
            self.present[row] = True
            self.node_count += 1
            changed = WHOLE_ROW
        else:
            changed = node_difference(old, node)
            if self.log.wanted & WATCHED_OBJECTS:
                changed |= object_difference(old, node) & self.log.wanted
        if changed:
            self._fill(row, node, changed)
            self.log.record(row, changed)
            if old is None:
                self.log.record(EVERYWHERE, Reads.NODE_COUNT)
        return row

    def remove_node(self, name: str) -> int | None:
        """Remove the Node object from its row, which stays while it has pods; return the row, or None if unknown."""
        row = self.row_of.get(name)
        if row is None or self.nodes[row] is None:
            return None
        self._fill(row, _NO_NODE, WHOLE_ROW)
        self.nodes[row] = None
        self.present[row] = False
        self.node_count -= 1
        self.log.record(row, WHOLE_ROW)
        self.log.record(EVERYWHERE, Reads.NODE_COUNT)
        self._recycle(row)
        return row

    def _fill(self, row: int, node: Node, changed: int) -> None:
        """Write the columns of the groups in `changed` from the object."""
        if changed & Reads.RESOURCES:
            self._fill_allocatable(row, node)
        if changed & Reads.TAINTS:
            self.unschedulable[row] = node.spec.unschedulable
            self.taints.assign(row, untimed(node.spec.taints))
        if changed & Reads.LABELS:
            self.labels.assign(row, node.metadata.labels)
        if changed & Reads.IMAGES:
            self.images.assign(row, node.status.images)
        if changed & Reads.FEATURES:
            self.features.assign(row, node.status.declared_features)
        self._renumber()

    def _renumber(self) -> None:
        """Renumber the columns of which most codes are out of use; readers then evaluate in full."""
        most = SPARE_CODES + 2 * self.size
        sets: tuple[SetColumn[Any], ...] = (self.taints, self.features)
        crowded: list[LabelColumn | SetColumn[Any]] = [*self.labels.crowded(most)]
        crowded += (column for column in sets if len(column) > most)
        for column in crowded:
            column.renumber()
        if crowded:
            self.log.forget()

    def _fill_allocatable(self, row: int, node: Node) -> None:
        amounts = {name: _amount(name, raw) for name, raw in node.status.allocatable.items()}
        self.allowed_pods[row] = amounts.pop("pods", 0)
        self.scalars.offer(row, {name: amount for name, amount in amounts.items() if is_scalar_resource(name)})
        for code, name in enumerate(self.resources.values):
            if code < len(NATIVE):
                self.allocatable[code, row] = amounts.get(name, 0)
            else:
                self.allocatable[code, row] = self.scalars.offered[row].get(name, 0)

    # -- pods

    def add_pod(self, pod: PodInfo, node_name: str) -> int:
        """Account a pod on a node, which need not exist; return the row."""
        row = self._row(node_name)
        self.pods[pod.uid] = pod
        self.pods_on[row][pod.uid] = pod
        self.hold(pod, row)
        self._account(pod, row, 1)
        return row

    def hold(self, pod: PodInfo, row: int = NOWHERE) -> None:
        """Give a pod a slot without counting it on a row."""
        self.slots.place(pod, row, self.counts.join(pod).code)

    def release(self, pod: PodInfo) -> None:
        """Free a pod's slot."""
        self.counts.leave(self.counts.groups[int(self.slots.group[pod.slot])])
        self.slots.release(pod)

    def remove_pod(self, uid: str) -> PodInfo | None:
        """Remove a pod from its row; return it, or None if it is unknown."""
        pod = self.pods.pop(uid, None)
        if pod is None:
            return None
        row = self.slots.row_of(pod.slot)
        del self.pods_on[row][uid]
        self._account(pod, row, -1)
        self.release(pod)
        self._recycle(row)
        return pod

    def refresh_pod(self, pod: PodInfo) -> None:
        """Replace the object of a placed pod that is accounted equally; logged if a kept answer reads pods' objects."""
        old = self.pods[pod.uid]
        row = self.slots.row_of(old.slot)
        self.pods[pod.uid] = self.pods_on[row][pod.uid] = pod
        self.slots.replace(old, pod)
        if self.log.wanted & Reads.POD_OBJECTS:
            self.log.record(row, Reads.POD_OBJECTS)

    def relabel_pod(self, pod: PodInfo) -> None:
        """Replace the object of a placed pod that has other labels; the resources that it takes stay as they are.

        API servers copy topology labels of the node to a pod when it is bound.
        """
        old = self.pods[pod.uid]
        row = self.slots.row_of(old.slot)
        self.pods[pod.uid] = self.pods_on[row][pod.uid] = pod
        counts, before = self.counts, self.counts.groups[int(self.slots.group[old.slot])]
        counts.count(old, before, row, -1)
        after = counts.join(pod)
        counts.count(pod, after, row, 1)
        counts.leave(before)
        for totals in self.totals:
            totals.count(old, -1)
            totals.count(pod, 1)
        self.slots.replace(old, pod, after.code)
        self.log.record(row, Reads.PODS | (self.log.wanted & Reads.POD_OBJECTS))

    def _account(self, pod: PodInfo, row: int, sign: int) -> None:
        resources = pod.digest.resources
        requested, non_zero = self.requested, self.non_zero_requested
        _add(requested, CPU, row, sign * resources.milli_cpu)
        _add(requested, MEMORY, row, sign * resources.memory)
        if resources.ephemeral_storage:
            _add(requested, EPHEMERAL_STORAGE, row, sign * resources.ephemeral_storage)
        for name, amount in resources.scalar.items():
            total = self.scalars.ask(row, name, sign * amount)
            code = self.resources.codes.get(name)
            if code is not None:
                self.requested[code, row] = total
        _add(non_zero, CPU, row, sign * resources.non_zero_milli_cpu)
        _add(non_zero, MEMORY, row, sign * resources.non_zero_memory)
        self.pod_count[row] += sign
        groups = Reads.RESOURCES | Reads.PODS
        if pod.digest.host_ports:
            self.ports.add(row, pod.digest.host_ports, sign)
            groups |= Reads.PORTS
        if pod.spec.volumes and self.volume_users.count(pod, row, sign):
            groups |= Reads.VOLUMES
        group = self.counts.groups[int(self.slots.group[pod.slot])]
        self.counts.count(pod, group, row, sign)
        for totals in self.totals:
            totals.count(pod, sign)
        self.log.record(row, groups)

    # -- rows and columns

    def resource(self, name: str) -> int:
        """Return the code of a resource, which gets a column if it has none; for resources in the configuration."""
        code = self.resources.codes.get(name)
        return self._new_column(name) if code is None else code

    def column_of(self, name: str) -> int | None:
        """Return the code of a resource that many rows offer, or None for a resource without a column."""
        code = self.resources.codes.get(name)
        if code is None and len(self.resources) < MOST_COLUMNS and self.scalars.is_common(name):
            code = self._new_column(name)
        return code

    def _new_column(self, name: str) -> int:
        code = self.resources.code(name)
        if code == self.allocatable.shape[0]:
            blank = np.zeros((code, self.capacity), np.int64)
            self.allocatable = np.vstack([self.allocatable, blank])
            self.requested = np.vstack([self.requested, blank])
        for row in self.scalars.rows_offering(name):
            self.allocatable[code, row] = self.scalars.offered[row][name]
        for row, asked in enumerate(self.scalars.asked):
            if name in asked:
                self.requested[code, row] = asked[name]
        return code

    def _row(self, name: str) -> int:
        row = self.row_of.get(name)
        if row is not None:
            return row
        if self._free_rows:
            row = self._free_rows.pop()
        else:
            row = self.size
            if row == self.capacity:
                self._grow(2 * self.capacity)
            self.size += 1
            self.names.append(name)
            self.nodes.append(None)
            self.pods_on.append({})
            self.scalars.add_row()
            # all columns are too short
            self.log.record(EVERYWHERE, Reads.PRESENCE)
        self.names[row] = name
        self.row_of[name] = row
        return row

    def _recycle(self, row: int) -> None:
        if self.nodes[row] is None and not self.pods_on[row]:
            del self.row_of[self.names[row]]
            self.names[row] = ""
            self._free_rows.append(row)

    def _grow(self, capacity: int) -> None:
        self.capacity = capacity
        for name in _ARRAYS:
            setattr(self, name, grown(getattr(self, name), capacity))
        self.labels.grow(capacity)
        self.taints.codes = grown(self.taints.codes, capacity)
        self.features.codes = grown(self.features.codes, capacity)


_ARRAYS = (
    "present",
    "unschedulable",
    "allocatable",
    "requested",
    "non_zero_requested",
    "allowed_pods",
    "pod_count",
)
_NO_NODE = Node()


def _add(matrix: NDArray[np.int64], code: int, row: int, amount: int) -> None:
    """Add to one cell; a sum beyond 64 bits overflows as the reference's does."""
    total = matrix.item(code, row) + amount
    try:
        matrix[code, row] = total
    except OverflowError:
        matrix[code, row] = int64(total)


def _amount(resource: str, raw: str | int | float) -> int:
    """Return a quantity in the unit its resource is counted in."""
    return milli_value_of(raw) if resource == "cpu" else value_of(raw)


def node_difference(old: Node, new: Node) -> int:
    """Return the groups in which two versions of a node differ for scheduling."""
    changed = 0
    if old.status.allocatable != new.status.allocatable:
        changed |= Reads.RESOURCES
    if untimed(old.spec.taints) != untimed(new.spec.taints) or old.spec.unschedulable != new.spec.unschedulable:
        changed |= Reads.TAINTS
    if old.metadata.labels != new.metadata.labels:
        changed |= Reads.LABELS
    if old.status.images != new.status.images:
        changed |= Reads.IMAGES
    if old.status.declared_features != new.status.declared_features:
        changed |= Reads.FEATURES
    return changed


# the groups of a node's object that are compared only if a kept answer reads them
WATCHED_OBJECTS = Reads.ANNOTATIONS | Reads.NODE_OBJECT


def object_difference(old: Node, new: Node) -> int:
    """Return the groups without columns in which two versions of a node differ: annotations, and the rest."""
    changed = 0
    if old.metadata.annotations != new.metadata.annotations:
        changed |= Reads.ANNOTATIONS
    if _rest(old) != _rest(new):
        changed |= Reads.NODE_OBJECT
    return changed


def _rest(node: Node) -> tuple[object, ...]:
    """Return the fields of a node that have no columns, without annotations and fields that heartbeats change."""
    meta, spec, status = node.metadata, node.spec, node.status
    conditions = tuple((each.type, each.status, each.reason, each.message) for each in status.conditions)
    return (
        (meta.uid, meta.deletion_timestamp, meta.owner_references, meta.finalizers),
        (spec.provider_id, spec.pod_cidr, spec.pod_cidrs),
        (status.capacity, conditions, status.addresses, status.node_info),
    )


def untimed(taints: tuple[Taint, ...]) -> tuple[Taint, ...]:
    """Return taints without the time at which they were added."""
    if all(taint.time_added is None for taint in taints):
        return taints
    return tuple(Taint(key=taint.key, value=taint.value, effect=taint.effect) for taint in taints)
