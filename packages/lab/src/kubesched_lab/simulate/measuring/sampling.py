"""A sample of a simulated cluster: requested shares, fragmentation, spread of pods, cost of nodes.

From the scheduler's node table to numbers by name. Sums are of integers, so that a sample is the same on any machine.
Its time does not depend on the number of pods so far.
"""

from collections.abc import Collection
from math import isqrt

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.columns import LabelColumn, Rows
from kubesched.core.cluster.table import CPU, EPHEMERAL_STORAGE, MEMORY
from kubesched_lab.simulate.measuring.device_use import DeviceUse
from kubesched_lab.simulate.measuring.rates import SHARE_UNIT, NodeRates

ZONE = "topology.kubernetes.io/zone"
# limit of groups times zones; beyond it the skew of groups is left out
MOST_GROUPS = 1 << 20
Amounts = NDArray[np.int64]
Sample = dict[str, float]


class Sampler:
    """Takes samples of a table."""

    def __init__(self, cluster: ClusterState, rates: NodeRates) -> None:
        self._table = table = cluster.table
        self._rates = rates
        self._devices = DeviceUse(cluster)
        self._zones = table.label(ZONE)

    def sample(self, scalars: Collection[str]) -> Sample:
        """Return a sample of the cluster; `scalars` are the other resources that nodes have offered."""
        table = self._table
        rows: Rows = slice(0, table.size) if table.node_count == table.size else table.present_rows()
        total = table.allocatable[: MEMORY + 1, rows]
        free = (total - table.requested[: MEMORY + 1, rows]).clip(0)
        shares = (total - free) * SHARE_UNIT // total.clip(1)
        found: Sample = {"nodes": table.node_count}
        for name, code in (("cpu", CPU), ("memory", MEMORY)):
            found[f"resources.{name}"] = _share(int((total[code] - free[code]).sum()), int(total[code].sum()))
        found |= self._other_shares(rows)
        full = free * 100 < total
        found |= self._fragmentation(rows, free, total, full)
        used_up = np.zeros(table.size, np.bool_)
        used_up[rows] = full[CPU] | full[MEMORY]
        for name in scalars:
            if name not in ("cpu", "memory"):
                found |= self._scalar(name, rows, used_up)
        found |= self._devices.sampled(used_up)
        found |= self._spread(rows, shares)
        return found | self._rates.sampled(table, rows, shares)

    def _other_shares(self, rows: Rows) -> Sample:
        """Return the shares of ephemeral storage and of pod slots, if nodes offer any."""
        table = self._table
        found: Sample = {}
        for name, offered, used in (
            ("ephemeral-storage", table.allocatable[EPHEMERAL_STORAGE, rows], table.requested[EPHEMERAL_STORAGE, rows]),
            ("pods", table.allowed_pods[rows], table.pod_count[rows]),
        ):
            total = int(offered.sum())
            if total:
                found[f"resources.{name}"] = int(used.sum()) / total
        return found

    def _fragmentation(self, rows: Rows, free: Amounts, total: Amounts, full: NDArray[np.bool_]) -> Sample:
        """Return the largest pod that fits, and the stranded resources.

        The largest pod that fits has memory in proportion to its CPU, in the ratio of all nodes together. Unschedulable
        nodes, and nodes with their maximum number of pods, do not count. CPU is stranded on a node without free memory
        (less than a hundredth), and memory on a node without free CPU.
        """
        table = self._table
        cpu, memory = int(total[CPU].sum()), int(total[MEMORY].sum())
        taking = ~table.unschedulable[rows] & (table.pod_count[rows] < table.allowed_pods[rows])
        room = free * taking
        # bytes for a thousandth of a CPU
        ratio = max(1, memory // max(1, cpu))
        largest = int(np.minimum(room[CPU], room[MEMORY] // ratio).max(initial=0))
        return {
            "largestFreeMilliCpu": int(room[CPU].max(initial=0)),
            "largestFreeMemory": int(room[MEMORY].max(initial=0)),
            "largestPodMilliCpu": largest,
            "largestPodMemory": largest * ratio,
            "stranded.cpu": _share(int(free[CPU][full[MEMORY]].sum()), cpu),
            "stranded.memory": _share(int(free[MEMORY][full[CPU]].sum()), memory),
        }

    def _scalar(self, name: str, rows: Rows, used_up: NDArray[np.bool_]) -> Sample:
        """Return the requested share of a resource, and the share that is free on nodes without CPU or memory."""
        table = self._table
        code = table.column_of(name)
        if code is not None:
            offered, asked = table.allocatable[code, rows], table.requested[code, rows]
            there = used_up[rows]
        else:
            offering = sorted(table.scalars.rows_offering(name))
            offered = np.array([table.scalars.offered[row].get(name, 0) for row in offering], np.int64)
            asked = np.array([table.scalars.asked[row].get(name, 0) for row in offering], np.int64)
            there = used_up[offering]
        free, total = (offered - asked).clip(0), int(offered.sum())
        return {
            f"resources.{name}": _share(total - int(free.sum()), total),
            f"stranded.{name}": _share(int(free[there].sum()), total),
        }

    def _spread(self, rows: Rows, shares: Amounts) -> Sample:
        """Return the skews of nodes and zones.

        Skews are the difference between the most and the fewest pods: of nodes, of zones, and of zones for the pods of
        one namespace with equal labels, where it is largest. The deviation is that of the CPU shares of nodes.
        """
        pods = self._table.pod_count[rows]
        if not len(pods):
            return {}
        found: Sample = {"skew.nodes": int(pods.max() - pods.min()), "deviation.cpu": _deviation(shares[CPU])}
        zones = self._zones
        there = [code for code in range(1, len(zones)) if zones.counts[code]]
        if len(there) > 1:
            by_zone = np.bincount(zones.codes[rows], pods, len(zones))[there]
            found["skew.zones"] = int(by_zone.max() - by_zone.min())
            largest = self._largest_group_skew(zones, there)
            if largest is not None:
                found["skew.groups"] = largest
        return found

    def _largest_group_skew(self, zones: LabelColumn, there: list[int]) -> int | None:
        slots = self._table.slots
        rows, groups = slots.row[: slots.size], slots.group[: slots.size]
        placed = rows >= 0
        rows, groups = rows[placed], groups[placed]
        if not len(groups):
            return 0
        first = int(groups.min())
        of = len(zones)
        spots = (int(groups.max()) - first + 1) * of
        if spots > MOST_GROUPS:
            return None
        counts = np.bincount((groups - first) * of + zones.codes[rows], minlength=spots).reshape(-1, of)[:, there]
        return int((counts.max(axis=1) - counts.min(axis=1)).max())


def _share(part: int, whole: int) -> float:
    return part / whole if whole else 0.0


def _deviation(shares: Amounts) -> float:
    """Return the standard deviation of shares, from whole numbers."""
    count, total = len(shares), int(shares.sum())
    return isqrt(count * int((shares * shares).sum()) - total * total) / count / SHARE_UNIT
