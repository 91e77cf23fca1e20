"""A cluster in sums: utilisation, spread over zones, fragmentation.

From the table's columns to `ClusterMeasures`. Only nodes that take a pod without requests count for what fits.
"""

from collections.abc import Mapping
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from kubesched.api.meta import ObjectMeta
from kubesched.api.pods import Container, Pod, PodSpec
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import CPU, MEMORY, NATIVE
from kubesched.core.scheduling.engine import Engine
from kubesched.model.cluster_model import DEFAULT_SCHEDULER
from kubesched_answers.pod_owners import OwnerNames, bound_to_node
from kubesched_answers.whatif.whatif_answer import (
    ClusterMeasures,
    Fragmentation,
    OwnerSpread,
    ResourceUse,
    SpreadSummary,
    ZoneUse,
)

ZONE = "topology.kubernetes.io/zone"
Amounts = NDArray[np.int64]
ZonesOfOwners = Mapping[str, Mapping[str, int]]


class MeasuredCluster(Protocol):
    """A cluster to measure: a model, or a running cluster."""

    @property
    def cluster(self) -> ClusterState:
        """Return the table and the pending pods."""

    @property
    def engine(self) -> Engine:
        """Return the engine that judges nodes."""

    @property
    def pods(self) -> Mapping[str, PodInfo]:
        """Return all pods by `namespace/name`."""


class Meter:
    """Measures a cluster, before and after, with the same typical pod and owners."""

    def __init__(self, model: MeasuredCluster, owners: OwnerNames) -> None:
        self._model = model
        self._owners = owners
        self._typical = _typical_requests(model)
        # pods in each zone by owner, at the last measurement
        self.zones_of_owners: ZonesOfOwners = {}

    def measure(self) -> ClusterMeasures:
        """Return the current totals of the cluster."""
        table = self._model.cluster.table
        rows = table.present_rows()
        on_nodes = int(table.pod_count[rows].sum())
        pending = len(self._model.cluster.pending)
        zones = self._rows_by_zone(rows)
        by_zone = tuple(ZoneUse(zone, len(some), self._uses(some)) for zone, some in zones.items() if zone)
        self.zones_of_owners = self._zones_of_owners()
        spread = _summary(self.zones_of_owners)
        return ClusterMeasures(
            len(rows), on_nodes, pending, self._uses(rows), by_zone, spread, self._fragmentation(table.size)
        )

    # -- utilisation

    def _uses(self, rows: NDArray[np.intp]) -> tuple[ResourceUse, ...]:
        table = self._model.cluster.table
        found = [
            ResourceUse(name, int(table.requested[code, rows].sum()), int(table.allocatable[code, rows].sum()))
            for code, name in enumerate(NATIVE)
        ]
        found = [use for use in found if use.allocatable or use.requested]
        found.append(ResourceUse("pods", int(table.pod_count[rows].sum()), int(table.allowed_pods[rows].sum())))
        offered: dict[str, int] = {}
        asked: dict[str, int] = {}
        for row in rows.tolist():
            for amounts, of_row in ((offered, table.scalars.offered[row]), (asked, table.scalars.asked[row])):
                for name, amount in of_row.items():
                    amounts[name] = amounts.get(name, 0) + amount
        extended = sorted(name for name in {*offered, *asked} if offered.get(name) or asked.get(name))
        found.extend(ResourceUse(name, asked.get(name, 0), offered.get(name, 0)) for name in extended)
        return tuple(found)

    def _rows_by_zone(self, rows: NDArray[np.intp]) -> dict[str, NDArray[np.intp]]:
        column = self._model.cluster.table.label(ZONE)
        codes = column.codes[rows]
        zones = {column.values[code] if code else "": rows[codes == code] for code in np.unique(codes).tolist()}
        return dict(sorted(zones.items()))

    # -- spread

    def _zones_of_owners(self) -> ZonesOfOwners:
        """Return the number of pods in each zone, by owner; pods bound to their nodes do not count."""
        table = self._model.cluster.table
        zone_of = {
            row: zone
            for zone, rows in self._rows_by_zone(table.present_rows()).items()
            if zone
            for row in rows.tolist()
        }
        zones = sorted(set(zone_of.values()))
        found: dict[str, dict[str, int]] = {}
        for row, zone in zone_of.items():
            for pod in table.pods_on[row].values():
                owner = None if bound_to_node(pod) else self._owners.of(pod)
                if owner is not None:
                    counts = found.get(owner)
                    if counts is None:
                        counts = found[owner] = dict.fromkeys(zones, 0)
                    counts[zone] += 1
        return found

    # -- fragmentation

    def _fragmentation(self, size: int) -> Fragmentation:
        cpu, memory = self._typical
        rows = self._taking_rows(size)
        table = self._model.cluster.table
        free = np.maximum(table.allocatable[:, rows] - table.requested[:, rows], 0)
        places = table.allowed_pods[rows] - table.pod_count[rows]
        takes = places > 0
        stranded = ~(takes & (free[CPU] >= cpu) & (free[MEMORY] >= memory))
        return Fragmentation(
            int(free[CPU][takes].max(initial=0)),
            int(free[MEMORY][takes].max(initial=0)),
            int(free[CPU][stranded].sum()),
            int(free[MEMORY][stranded].sum()),
            cpu,
            memory,
        )

    def _taking_rows(self, size: int) -> NDArray[np.intp]:
        """Return the rows that take a pod without requests and tolerations, or would take it with fewer pods."""
        table, profiles = self._model.cluster.table, self._model.engine.profiles
        present = table.present[:size]
        if not present.any():
            return np.zeros(0, np.intp)
        name = DEFAULT_SCHEDULER if DEFAULT_SCHEDULER in profiles else next(iter(profiles))
        spec = PodSpec(containers=(Container(name="probe"),), scheduler_name=name)
        probe = Pod(metadata=ObjectMeta(name="probe", namespace="kubesched-probe", uid="kubesched-probe"), spec=spec)
        evaluation = self._model.engine.evaluation_of(self._model.cluster.reader.read(probe))
        mask = evaluation.feasible().mask[:size] & present
        full = np.flatnonzero(present & ~mask & (table.allowed_pods[:size] <= table.pod_count[:size]))
        verdicts = evaluation.verdicts() if len(full) else None
        for row in full.tolist():
            assert verdicts is not None
            mask[row] = verdicts.status(row).plugin == "NodeResourcesFit"
        return np.flatnonzero(mask)


def spread_changes(before: ZonesOfOwners, after: ZonesOfOwners) -> tuple[OwnerSpread, ...]:
    """Return the owners whose spread changed, the most uneven first."""
    found = []
    for owner in {*before, *after}:
        old, new = before.get(owner, {}), after.get(owner, {})
        if old != new:
            found.append(OwnerSpread(owner, old, new, _skew(old), _skew(new)))
    return tuple(sorted(found, key=lambda each: (each.skew_before - each.skew_after, each.owner)))


def _summary(zones_of: ZonesOfOwners) -> SpreadSummary:
    """Return how even the spread is, without owners of a single pod."""
    skews = {owner: _skew(zones) for owner, zones in zones_of.items() if sum(zones.values()) > 1}
    number = max((len(zones) for zones in zones_of.values()), default=0)
    if not skews:
        return SpreadSummary(number, 0, 0.0, 0)
    worst = min(skews, key=lambda owner: (-skews[owner], owner))
    mean = round(sum(skews.values()) / len(skews), 2)
    return SpreadSummary(number, len(skews), mean, skews[worst], worst if skews[worst] else None)


def _skew(zones: Mapping[str, int]) -> int:
    return max(zones.values(), default=0) - min(zones.values(), default=0)


def _typical_requests(model: MeasuredCluster) -> tuple[int, int]:
    """Return the medians of the CPU and memory that pods request."""
    resources = [pod.resources for pod in model.pods.values()]
    cpu = [each.milli_cpu for each in resources if each.milli_cpu]
    memory = [each.memory for each in resources if each.memory]
    return int(np.median(cpu)) if cpu else 0, int(np.median(memory)) if memory else 0
