"""NodePorts: a host port can be taken only once on a node and address.

From the ports in use on each row to a rejection. `0.0.0.0` stands for all addresses.
"""

# upstream: nodeports/node_ports.go (v1.36)

from collections.abc import Hashable, Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.columns import Rows
from kubesched.core.cluster.node_matching import count_of
from kubesched.core.cluster.pod_info import HostPort, PodInfo
from kubesched.core.cluster.ports import conflicts
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.columns.questions import FilterWorlds, shallow_copy
from kubesched.core.framework.plugin import PreFilterPlugin, WorldsFilterPlugin
from kubesched.core.framework.results.outcomes import PreFilterResult
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.framework.values.status import SKIP, Status, unschedulable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes, table_row, table_rows

_TAKEN = unschedulable("node(s) didn't have free ports for the requested pod ports")


class NodePorts(PreFilterPlugin, WorldsFilterPlugin):
    """Rejects nodes on which a host port of the pod is taken."""

    name = "NodePorts"
    reads = Reads.PORTS
    key_of_template = True
    without_pre_filter = 'reading "PreFilterNodePorts" from cycleState: not found'

    def __init__(self, cluster: ClusterState) -> None:
        self._table = cluster.table

    def key(self, pod: PodInfo) -> Hashable:
        """Return the pod's host ports."""
        return frozenset(pod.digest.host_ports)

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> PreFilterResult | Status | None:
        """Return Skip if the pod has no host port."""
        return None if pod.digest.host_ports else SKIP

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return a rejection if a port is taken on the node."""
        table, row = table_row(node)
        users = table.ports.users
        for port in pod.digest.host_ports:
            if conflicts(port.ip, users(port).get(row, ())):
                return _TAKEN
        return None

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Reject the nodes on which a port is taken."""
        return Verdict.rejecting(rows_taken(*table_rows(nodes), pod.digest.host_ports), _TAKEN)

    def filter_worlds(self, pod: PodInfo, rows: NDArray[np.intp]) -> FilterWorlds:
        """Return worlds with the ports in use on each row."""
        return PortWorlds(self._table, pod.digest.host_ports, rows)

    def events_to_register(self) -> Sequence[Registration]:
        """Return deleted pods and new nodes."""
        return (
            Registration(ClusterEvent(Resource.POD, Action.DELETE), after_pod_deleted),
            Registration(ClusterEvent(Resource.NODE, Action.ADD)),
        )


class PortWorlds(FilterWorlds):
    """The ports in use that conflict with the pod's: `used[port, world]`.

    As upstream, ports in use are a set: removing a pod frees its ports, even if another pod has them, too.
    """

    def __init__(self, table: NodeTable, wanted: Sequence[HostPort], rows: NDArray[np.intp]) -> None:
        self._table = table
        self._wanted = wanted
        self._index: dict[HostPort, int] = {}
        self._used = np.zeros((0, len(rows)), np.bool_)
        for want in wanted:
            users = table.ports.users(want)
            for ip in {ip for ips in users.values() for ip in ips}:
                port = HostPort(ip, want.protocol, want.port)
                if port not in self._index and in_the_way(port, wanted):
                    using = np.zeros(table.size, np.bool_)
                    using[[row for row, ips in users.items() if ip in ips]] = True
                    code = self._code(port)
                    self._used[code] = using[rows]

    def change(self, worlds: NDArray[np.intp], slots: NDArray[np.intp], sign: int) -> None:
        """Mark the ports of added pods as used and of removed pods as free."""
        pods = self._table.slots.pods
        for world, slot in zip(worlds.tolist(), slots.tolist(), strict=True):
            pod = pods[slot]
            assert pod is not None, "a world is changed by pods that have a slot"
            for port in pod.digest.host_ports:
                if port in self._index or (sign > 0 and in_the_way(port, self._wanted)):
                    code = self._code(port)
                    self._used[code, world] = sign > 0

    def verdict(self) -> Verdict:
        """Reject the worlds in which a port is taken."""
        taken: NDArray[np.bool_] = np.logical_or.reduce(self._used, axis=0)
        return Verdict.rejecting(taken, _TAKEN)

    def select(self, worlds: NDArray[np.intp]) -> "PortWorlds":
        """Return an independent copy of some worlds."""
        selected = shallow_copy(self)
        selected._index, selected._used = dict(self._index), self._used[:, worlds]
        return selected

    def _code(self, port: HostPort) -> int:
        """Return the index of a port; a new port gets the next one."""
        code = self._index.setdefault(port, len(self._index))
        if code == len(self._used):
            self._used = np.vstack([self._used, np.zeros((1, self._used.shape[1]), np.bool_)])
        return code


def rows_taken(table: NodeTable, rows: Rows, wanted: Iterable[HostPort]) -> NDArray[np.bool_]:
    """Return on which rows one of the ports is taken."""
    taken = np.zeros(table.size, np.bool_)
    for port in wanted:
        users = table.ports.users(port)
        if isinstance(rows, slice) or len(users) < count_of(rows):
            taken[[row for row, ips in users.items() if conflicts(port.ip, ips)]] = True
        else:
            taken[[row for row in rows.tolist() if conflicts(port.ip, users.get(row, ()))]] = True
    of_rows: NDArray[np.bool_] = taken[rows]
    return of_rows


def in_the_way(used: HostPort, wanted: Iterable[HostPort]) -> bool:
    """Return whether a port in use conflicts with a requested port."""
    return any(
        want.port == used.port and want.protocol == used.protocol and conflicts(want.ip, (used.ip,)) for want in wanted
    )


def after_pod_deleted(pod: PodInfo, old: PodInfo, new: PodInfo | None) -> Hint:
    """Return whether the deleted pod had, or was nominated to have, a host port that this pod wants."""
    if not old.spec.node_name and not old.status.nominated_node_name:
        return Hint.QUEUE_SKIP
    wanted = pod.digest.host_ports
    return Hint.when(any(in_the_way(port, wanted) for port in old.digest.host_ports))
