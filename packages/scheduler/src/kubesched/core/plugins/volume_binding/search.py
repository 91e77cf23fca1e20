"""Finding volumes for a pod's claims: on many nodes at once for Filter and Score, on one for the plan.

From a pod's claims to, for each row, the objections to it, the volume of each claim there, and the claims to provision.
Claims are matched smallest first, each with the smallest free volume; a claim without a volume is provisioned if its
class and the free capacity allow. The same steps for one row make the plan.
"""

# upstream: volumebinding/binder.go, FindPodVolumes (v1.36)

from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from kubesched.api.labels import IN, InvalidSelectorError, Selector, from_label_selector, new_requirement, selector_of
from kubesched.api.node_selectors import CompiledNodeSelector
from kubesched.api.storage import (
    CSIDriver,
    PersistentVolume,
    PersistentVolumeClaim,
    StorageClass,
    TopologySelectorTerm,
)
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.columns import Rows
from kubesched.core.cluster.node_matching import count_of, indices_of, matching_rows, rows_with_labels
from kubesched.core.cluster.storage.csi_translation import TranslationError, in_tree_plugin_of_pv, translate_pv
from kubesched.core.cluster.storage.free_volumes import (
    FILESYSTEM,
    STORAGE,
    Demand,
    FreeVolumes,
    Size,
    affinity_selector,
    exact_size,
    kind_of,
    storage_bytes,
)
from kubesched.core.cluster.storage.reach import NONE, Positions
from kubesched.core.cluster.storage.storage_pools import StoragePools
from kubesched.core.cluster.storage.volume_claims import storage_class_name
from kubesched.core.cluster.table import NodeTable
from kubesched.core.framework.values.status import Status, error, unresolvable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.plugins.volume_binding.claims import PodClaims
from kubesched.core.plugins.volume_binding.migrated_nodes import MigratedNodes

NAME: Final = "VolumeBinding"
SELECTED_NODE: Final = "volume.kubernetes.io/selected-node"
NOT_SUPPORTED_PROVISIONER: Final = "kubernetes.io/no-provisioner"

# Objections to a row, in the order in which they are reported.
_NODE_CONFLICT, _BIND_CONFLICT, _NO_SPACE, _VOLUME_MISSING = 1, 2, 4, 8
_REASONS: Final = {
    _NODE_CONFLICT: "node(s) didn't match PersistentVolume's node affinity",
    _BIND_CONFLICT: "node(s) didn't find available persistent volumes to bind",
    _NO_SPACE: "node(s) did not have enough free storage",
    _VOLUME_MISSING: "node(s) unavailable due to one or more pvc(s) bound to non-existent pv(s)",
}
_STATUSES: Final[tuple[Status | None, ...]] = (
    None,
    *(unresolvable(*(why for flag, why in _REASONS.items() if flags & flag)).by(NAME) for flags in range(1, 16)),
)

Mask = NDArray[np.bool_]


class Match(NamedTuple):
    """The volume of a claim on each row: a position among the free volumes, then among the volumes that refer to it."""

    claim: PersistentVolumeClaim
    free: FreeVolumes
    prebound: Sequence[PersistentVolume]
    chosen: Positions

    def volume(self, index: int) -> PersistentVolume | None:
        """Return the volume of a row, given by its index, if there is one."""
        position = int(self.chosen[index])
        if position == NONE:
            return None
        free = self.free.things
        return free[position] if position < len(free) else self.prebound[position - len(free)]


class Provision(NamedTuple):
    """The rows on which a claim has to be provisioned, and the pools if capacity is tracked."""

    claim: PersistentVolumeClaim
    wanted: Mask
    pools: StoragePools | None = None
    chosen: Positions | None = None


class VolumePlan(NamedTuple):
    """The volumes to bind and the claims to provision for a pod on one node."""

    bindings: tuple[tuple[PersistentVolumeClaim, PersistentVolume], ...] = ()
    provisions: tuple[PersistentVolumeClaim, ...] = ()


class Findings:
    """The results of the search on some rows."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.count = count_of(rows)
        self._flags = np.zeros(self.count, np.int16)
        self._errors: list[Status] = []
        # rows with a final result
        self.settled: Mask = np.zeros(self.count, np.bool_)
        self.matches: list[Match] = []
        self.provisions: list[Provision] = []

    def object_to(self, mask: Mask, flag: int) -> None:
        """Add an objection to some rows."""
        self._flags[mask] |= flag

    def fail(self, mask: Mask, message: str) -> None:
        """Set an error for the rows of the mask that are not settled, and settle them."""
        failing = mask & ~self.settled
        self._errors.append(error(message))
        self._flags[failing] = len(_STATUSES) + len(self._errors) - 1
        self.settled |= failing

    def verdict(self) -> Verdict:
        """Return the verdict on the rows."""
        return Verdict(self._flags, (*_STATUSES, *self._errors))

    def plan(self, index: int) -> VolumePlan | None:
        """Return the plan for a row, given by its index; None for a row with an objection."""
        if self._flags[index]:
            return None
        found = [(match.claim, match.volume(index)) for match in self.matches]
        return VolumePlan(
            tuple((claim, volume) for claim, volume in found if volume is not None),
            tuple(provision.claim for provision in self.provisions if provision.wanted[index]),
        )


class VolumeSearch:
    """Searches volumes for claims in a cluster."""

    def __init__(self, cluster: ClusterState, *, attributes_classes: bool) -> None:
        self._cluster = cluster
        self._table: NodeTable = cluster.table
        # whether claims may have a VolumeAttributesClass
        self._attributes_classes = attributes_classes
        self._migrated = MigratedNodes(cluster)

    def look(self, claims: PodClaims, rows: Rows) -> Findings:
        """Return the findings for a pod's claims on some rows."""
        findings = Findings(rows)
        self._check_bound(claims.bound, findings)
        if claims.unbound:
            selected, others = self._part_by_selected_node(claims.unbound, findings)
            self._match(sorted(others, key=lambda claim: exact_size(claim.spec.resources.requests)), findings)
            self._provide(selected, findings)
        return findings

    # -- claims that are bound

    def _check_bound(self, claims: Sequence[PersistentVolumeClaim], findings: Findings) -> None:
        undecided = np.ones(findings.count, np.bool_)
        for claim in claims:
            volume = self._cluster.volumes.volume(claim.spec.volume_name)
            if volume is None:
                findings.object_to(undecided & ~findings.settled, _VOLUME_MISSING)
                return
            reached = self._reached(volume, undecided, findings)
            undecided &= ~findings.settled
            findings.object_to(undecided & ~reached, _NODE_CONFLICT)
            undecided &= reached

    def _reached(self, volume: PersistentVolume, undecided: Mask, findings: Findings) -> Mask:
        """Return the rows that can access a bound volume; it is translated to CSI where its plugin is migrated."""
        reached = self._matching(affinity_selector(volume), findings.rows)
        plugin = in_tree_plugin_of_pv(volume)
        if plugin is None or not plugin.migrated:
            return reached
        migrated = self._migrated.rows(plugin.name, findings.rows)
        if migrated.any():
            try:
                translated = affinity_selector(translate_pv(volume))
            except TranslationError as problem:
                findings.fail(migrated & undecided, f"could not translate pv: {problem}")
            else:
                reached = np.where(migrated, self._matching(translated, findings.rows), reached)
        return reached

    def _matching(self, selector: CompiledNodeSelector | None, rows: Rows) -> Mask:
        if selector is None:
            return np.ones(count_of(rows), np.bool_)
        return matching_rows(self._table, selector, rows)

    # -- claims that wait for a node

    def _part_by_selected_node(
        self, claims: Sequence[PersistentVolumeClaim], findings: Findings
    ) -> tuple[list[PersistentVolumeClaim], list[PersistentVolumeClaim]]:
        """Split off the claims with a selected node, where they are being provisioned; settle all other nodes."""
        selected: list[PersistentVolumeClaim] = []
        others: list[PersistentVolumeClaim] = []
        for claim in claims:
            node_name = claim.metadata.annotations.get(SELECTED_NODE)
            if node_name is None:
                others.append(claim)
                continue
            selected.append(claim)
            elsewhere = indices_of(findings.rows) != self._table.row_of.get(node_name, -1)
            elsewhere &= ~findings.settled
            findings.object_to(elsewhere, _BIND_CONFLICT)
            findings.settled |= elsewhere
        return selected, others

    # upstream: volumebinding/binder.go, findMatchingVolumes (v1.36)
    def _match(self, claims: Sequence[PersistentVolumeClaim], findings: Findings) -> None:
        """Match each claim with the smallest free volume on each row."""
        for claim in claims:
            demand = self._demand(claim)
            if isinstance(demand, str):
                findings.fail(~findings.settled, demand)
                return
            findings.matches.append(self._matched(claim, demand, findings))

    # upstream: component-helpers/storage/volume/pv_helpers.go, FindMatchingVolume (v1.36)
    def _matched(self, claim: PersistentVolumeClaim, demand: Demand, findings: Findings) -> Match:
        """Return the volume of a claim on each row.

        A volume that refers to the claim is its only choice. A pod may name a claim twice, and each time it gets
        another volume, as upstream.
        """
        of_class = self._cluster.volumes.of_class(storage_class_name(claim))
        free, size = of_class.free, exact_size(claim.spec.resources.requests)
        free.settle()
        prebound = [volume for volume in of_class.referring_to(claim) if _fits(volume, demand, size)]
        earlier = [match for match in findings.matches if match.claim is claim]
        turn = len(earlier)
        if turn < len(prebound):
            reached = self._matching(affinity_selector(prebound[turn]), findings.rows)
            chosen = np.where(reached, np.int32(len(free.things) + turn), np.int32(NONE))
        else:
            taken = [match.chosen for match in findings.matches if match.free is free]
            chosen = free.smallest(findings.rows, demand, size, taken)
        if prebound and earlier:
            chosen[earlier[-1].chosen == NONE] = NONE
        return Match(claim, free, prebound, chosen)

    def _demand(self, claim: PersistentVolumeClaim) -> Demand | str:
        """Return the requirements of a claim on its volume, or the error."""
        spec = claim.spec
        attributes_class = spec.volume_attributes_class_name or ""
        if attributes_class and not self._attributes_classes:
            return (
                f"unsupported volumeAttributesClassName is set on claim {claim.full_name} when the feature-gate "
                "VolumeAttributesClass is disabled"
            )
        try:
            selector = None if spec.selector is None else from_label_selector(spec.selector)
        except InvalidSelectorError as problem:
            return f"error creating internal label selector for claim: {claim.full_name}: {problem}"
        mode = FILESYSTEM if spec.volume_mode is None else spec.volume_mode
        return Demand(mode, spec.access_modes, attributes_class, selector)

    def _provide(self, selected: Sequence[PersistentVolumeClaim], findings: Findings) -> None:
        """Object to the rows on which claims without a volume cannot be provisioned."""
        undecided = ~findings.settled
        wanting = [(claim, undecided) for claim in selected]
        wanting += [(match.claim, undecided & (match.chosen == NONE)) for match in findings.matches]
        for claim, unmatched in wanting:
            wanted = unmatched & undecided
            if wanted.any():
                undecided = undecided & ~self._provide_one(claim, wanted, findings)

    # upstream: volumebinding/binder.go, checkVolumeProvisions (v1.36)
    def _provide_one(self, claim: PersistentVolumeClaim, wanted: Mask, findings: Findings) -> Mask:
        """Add the provision of a claim; return the wanted rows on which it cannot be provisioned."""
        storage_class = self._cluster.objects.get(StorageClass, storage_class_name(claim))
        assert storage_class is not None, "without its class a claim does not wait for a node"
        if storage_class.provisioner in ("", NOT_SUPPORTED_PROVISIONER):
            findings.object_to(wanted, _BIND_CONFLICT)
            return wanted
        outside = wanted & ~allowed_rows(self._table, storage_class.allowed_topologies, findings.rows)
        findings.object_to(outside, _BIND_CONFLICT)
        pools = self._capacity_pools(storage_class, claim)
        if pools is None:
            findings.provisions.append(Provision(claim, wanted))
            return outside
        chosen = pools.first(findings.rows, storage_bytes(claim.spec.resources.requests))
        full: Mask = wanted & ~outside & (chosen == NONE)
        findings.object_to(full, _NO_SPACE)
        findings.provisions.append(Provision(claim, wanted, pools, chosen))
        full |= outside
        return full

    def _capacity_pools(self, storage_class: StorageClass, claim: PersistentVolumeClaim) -> StoragePools | None:
        """Return the pools that must have capacity for a claim; None if its driver does not track capacity."""
        driver = self._cluster.objects.get(CSIDriver, storage_class.provisioner)
        if STORAGE not in claim.spec.resources.requests or driver is None or not driver.spec.storage_capacity:
            return None
        return self._cluster.volumes.pools(storage_class.name)


def _fits(volume: PersistentVolume, demand: Demand, size: Size) -> bool:
    """Return whether a volume that refers to a claim fits it; access modes and labels do not count."""
    kind = kind_of(volume)
    return (
        exact_size(volume.spec.capacity) >= size
        and kind.volume_mode == demand.volume_mode
        and kind.attributes_class == demand.attributes_class
        and volume.metadata.deletion_timestamp is None
    )


# upstream: pkg/apis/core/v1/helper/helpers.go, MatchTopologySelectorTerms (v1.36)
def allowed_rows(table: NodeTable, terms: tuple[TopologySelectorTerm, ...], rows: Rows) -> Mask:
    """Return the rows on which a class allows volumes to be provisioned; without any term, all."""
    if not terms:
        return np.ones(count_of(rows), np.bool_)
    mask = np.zeros(count_of(rows), np.bool_)
    for selector in _topology_selectors(terms):
        mask |= rows_with_labels(table, selector, rows)
    return mask


@lru_cache(1024)
def _topology_selectors(terms: tuple[TopologySelectorTerm, ...]) -> list[Selector]:
    """Return the terms as selectors; a term without expressions, or with an unparsable one, allows nothing."""
    selectors = []
    for term in terms:
        try:
            requirements = [new_requirement(e.key, IN, e.values) for e in term.match_label_expressions]
        except InvalidSelectorError:
            continue
        if requirements:
            selectors.append(selector_of(requirements))
    return selectors
