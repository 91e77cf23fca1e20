"""VolumeZone: bound volumes and nodes in the same zone.

From the zone and region labels of the volumes that a pod's claims are bound to, to a rejection of nodes with other
labels. Nodes without any such label match every zone. Claims that wait for their first consumer have no zone yet.
"""

# upstream: volumezone/volume_zone.go (v1.36)

from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.api.storage import PersistentVolume, PersistentVolumeClaim, StorageClass
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.columns import ABSENT, Rows
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.storage.csi_translation import BETA_REGION, BETA_ZONE, REGION, ZONE, ZONE_DELIMITER
from kubesched.core.cluster.storage.volume_claims import (
    CLAIM,
    STORAGE_CLASS,
    VOLUME,
    WAIT_FOR_FIRST_CONSUMER,
    claim_of,
    not_found,
    storage_class_name,
)
from kubesched.core.cluster.storage.volume_users import names_claim, volume_uses
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.plugin import UNCACHED, FilterPlugin, PreFilterPlugin
from kubesched.core.framework.values.cycle import CycleState, StateKey
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.framework.values.status import SKIP, Status, unresolvable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes, table_rows
from kubesched.core.plugins.volume_claim_events import CLAIMS_OF_VOLUMES

TOPOLOGY_LABELS = (BETA_ZONE, BETA_REGION, ZONE, REGION)
# the label to use if a node lacks the beta label
_TODAY = {BETA_ZONE: ZONE, BETA_REGION: REGION}
_CONFLICT = unresolvable("node(s) had no available volume zone")


class Topology(NamedTuple):
    """A label that nodes need, with its allowed values."""

    key: str
    values: frozenset[str]


Topologies = tuple[Topology, ...]
TOPOLOGIES = StateKey[Topologies]("PreFilterVolumeZone")


class VolumeZone(PreFilterPlugin, FilterPlugin):
    """Rejects nodes in other zones than a bound volume."""

    name = "VolumeZone"
    looks_up = ("PersistentVolume", "PersistentVolumeClaim", "StorageClass")
    reads = Reads.LABELS

    def __init__(self, cluster: ClusterState) -> None:
        self._objects = cluster.objects

    def key(self, pod: PodInfo) -> Hashable:
        """Return the labels that nodes need; claims that share a zone share the answer."""
        if not pod.derive(volume_uses).claims:
            return ()
        topologies = self._topologies(pod)
        return UNCACHED if isinstance(topologies, Status) else topologies

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Status | None:
        """Return Skip if no volume has a zone, or a rejection if a claim or its volume does not exist."""
        topologies = self._topologies(pod)
        if isinstance(topologies, Status):
            return topologies
        if not topologies:
            return SKIP
        cycle.write(TOPOLOGIES, topologies)
        return None

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        """Return a rejection if the node's labels differ from the labels of a volume."""
        topologies = self._wanted(cycle, pod)
        if isinstance(topologies, Status):
            return topologies
        labels = node.labels
        if not any(label in labels for label in TOPOLOGY_LABELS):
            return None
        return None if all(_matches(labels, topology) for topology in topologies) else _CONFLICT

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Reject the nodes whose labels differ from the labels of a volume."""
        topologies = self._wanted(cycle, pod)
        if isinstance(topologies, Status):
            return Verdict.uniform(len(nodes), topologies)
        conflict = np.zeros(len(nodes), np.bool_)
        for topology in topologies:
            conflict |= ~_rows_matching(*table_rows(nodes), topology)
        if conflict.any():
            labelled = np.zeros(len(nodes), np.bool_)
            for label in TOPOLOGY_LABELS:
                labelled |= nodes.label_codes(label) != ABSENT
            conflict &= labelled
        return Verdict.rejecting(conflict, _CONFLICT)

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that can bring a volume and a node into the same zone."""
        changed = Action.ADD | Action.UPDATE
        return (
            Registration(ClusterEvent(Resource.STORAGE_CLASS, Action.ADD), after_storage_class_added),
            Registration(ClusterEvent(Resource.NODE, Action.ADD | Action.UPDATE_NODE_LABEL)),
            Registration(
                ClusterEvent(Resource.PERSISTENT_VOLUME_CLAIM, changed), after_claim_change, CLAIMS_OF_VOLUMES
            ),
            Registration(ClusterEvent(Resource.PERSISTENT_VOLUME, changed), after_volume_change),
        )

    # -- the volumes of a pod

    def _wanted(self, cycle: CycleState, pod: PodInfo) -> Topologies | Status:
        """Return the topologies that PreFilter found; without PreFilter, look them up."""
        topologies = cycle.get(TOPOLOGIES)
        return self._topologies(pod) if topologies is None else topologies

    def _topologies(self, pod: PodInfo) -> Topologies | Status:
        """Return the topologies of the volumes that the pod's claims are bound to, or a rejection."""
        found: dict[Topology, None] = {}
        for name in pod.derive(volume_uses).claims:
            if not name:
                return unresolvable("PersistentVolumeClaim had no name")
            claim = claim_of(self._objects, pod, name)
            if claim is None:
                return unresolvable(not_found(CLAIM, name))
            pv_name = claim.spec.volume_name
            if not pv_name:
                problem = self._unbound(claim)
                if problem is not None:
                    return problem
                continue
            pv = self._objects.get(PersistentVolume, pv_name)
            if pv is None:
                return unresolvable(not_found(VOLUME, pv_name))
            found.update(dict.fromkeys(topologies_of(pv)))
        return tuple(found)

    def _unbound(self, claim: PersistentVolumeClaim) -> Status | None:
        """Return why a claim without a volume cannot be used; None if it waits for its first consumer."""
        name = storage_class_name(claim)
        if not name:
            return unresolvable("PersistentVolumeClaim had no pv name and storageClass name")
        storage_class = self._objects.get(StorageClass, name)
        if storage_class is None:
            return unresolvable(not_found(STORAGE_CLASS, name))
        if storage_class.volume_binding_mode is None:
            return unresolvable(f'VolumeBindingMode not set for StorageClass "{name}"')
        if storage_class.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER:
            return None
        return unresolvable("PersistentVolume had no name")


def topologies_of(pv: PersistentVolume) -> Topologies:
    """Return the zone and region labels of a volume; an invalid label is ignored."""
    labels = pv.metadata.labels
    parsed = ((key, _zones(labels[key])) for key in TOPOLOGY_LABELS if key in labels)
    return tuple(Topology(key, values) for key, values in parsed if values)


def _zones(text: str) -> frozenset[str]:
    """Return the zones in a label, none if one of them is empty."""
    zones = frozenset(zone.strip() for zone in text.split(ZONE_DELIMITER))
    return frozenset() if "" in zones else zones


def _matches(labels: Mapping[str, str], topology: Topology) -> bool:
    value = labels.get(topology.key)
    if value is None:
        value = labels.get(_TODAY.get(topology.key, topology.key))
    return value in topology.values


def _rows_matching(table: NodeTable, rows: Rows, topology: Topology) -> NDArray[np.bool_]:
    """Return the rows that have one of the values."""
    codes, answers = _answers(table, topology.key, topology.values, rows)
    matching: NDArray[np.bool_] = answers[codes]
    today = _TODAY.get(topology.key)
    if today is not None:
        codes_today, answers_today = _answers(table, today, topology.values, rows)
        matching |= (codes == ABSENT) & answers_today[codes_today]
    return matching


def _answers(
    table: NodeTable, key: str, values: Iterable[str], rows: Rows
) -> tuple[NDArray[np.int32], NDArray[np.bool_]]:
    """Return the rows' codes of a label, and for each code whether its value is among `values`."""
    column = table.label(key)
    answers = np.zeros(len(column), np.bool_)
    answers[[code for value in values if (code := column.of_value.get(value)) is not None]] = True
    return column.codes[rows], answers


# -- hints


def after_storage_class_added(pod: PodInfo, old: StorageClass | None, new: StorageClass) -> Hint:
    """Return whether the class has the mode WaitForFirstConsumer."""
    return Hint.when(new.volume_binding_mode == WAIT_FOR_FIRST_CONSUMER)


def after_claim_change(pod: PodInfo, old: PersistentVolumeClaim | None, new: PersistentVolumeClaim) -> Hint:
    """Return whether the claim is one of the pod's."""
    return Hint.when(names_claim(pod, new))


def after_volume_change(pod: PodInfo, old: PersistentVolume | None, new: PersistentVolume) -> Hint:
    """Return whether the volume is new, or its zone or region labels changed."""
    moved = old is None or topologies_of(old) != topologies_of(new)
    return Hint.when(moved)
