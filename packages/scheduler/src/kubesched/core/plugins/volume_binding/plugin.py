"""VolumeBinding's hooks.

From a scheduling cycle to the claims, the search for volumes and their binding. PreFilter stores a pod's claims in the
cycle; columns of pods with claims are never cached, since every decision changes the free volumes. The plan is made
for the chosen node only, from the cluster as Filter saw it.
"""

# upstream: volumebinding/volume_binding.go (v1.36)

from collections.abc import Hashable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from kubesched.config.args import VolumeBindingArgs
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.storage.volumes import OutOfSyncError
from kubesched.core.framework.observing.observer import NOBODY, Observers
from kubesched.core.framework.plugin import (
    UNCACHED,
    FilterPlugin,
    PreBindPlugin,
    PreFilterPlugin,
    PreScorePlugin,
    ReservePlugin,
    ScorePlugin,
)
from kubesched.core.framework.services.waiting import NoWaits, Waits
from kubesched.core.framework.values.cycle import PRE_FILTERED, CycleState, StateKey
from kubesched.core.framework.values.effects import Effects, RecordingEffects
from kubesched.core.framework.values.events import Registration
from kubesched.core.framework.values.status import SKIP, Code, Status, error
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import Nodes, table_rows
from kubesched.core.plugins.volume_binding.assuming import Reserved, assume, take_back
from kubesched.core.plugins.volume_binding.binding import Binder
from kubesched.core.plugins.volume_binding.claims import PodClaims, claim_references, find_claims
from kubesched.core.plugins.volume_binding.hints import registrations
from kubesched.core.plugins.volume_binding.scoring import StorageScorer
from kubesched.core.plugins.volume_binding.search import NAME, VolumePlan, VolumeSearch

# The error of a hook that does not find the state which PreFilter writes.
NOT_FOUND: Final = "not found"


class PodVolumes:
    """The state of a cycle for a pod's volumes."""

    def __init__(self, claims: PodClaims) -> None:
        self.claims = claims
        # node -> the volumes reserved there; empty without unbound claims
        self.reserved: dict[str, Reserved] = {}
        # whether Filter ran; if it is disabled nothing is planned
        self.filtered = False


STATE = StateKey[PodVolumes](NAME)


class VolumeBinding(PreFilterPlugin, FilterPlugin, PreScorePlugin, ScorePlugin, ReservePlugin, PreBindPlugin):
    """Finds volumes for claims, and binds them."""

    name = NAME
    looks_up = (
        "CSINode",
        "CSIDriver",
        "CSIStorageCapacity",
        "PersistentVolume",
        "PersistentVolumeClaim",
        "StorageClass",
    )
    without_pre_filter = NOT_FOUND
    # an answer that depends on volumes and claims is not kept
    reads = Reads.LABELS
    key_of_template = True
    score_reads = Reads.NOTHING
    score_key_of_template = True
    in_range = True
    parallel = True

    def __init__(
        self,
        cluster: ClusterState,
        args: VolumeBindingArgs | None = None,
        gates: FeatureGates | None = None,
        effects: Effects | None = None,
        waits: Waits | None = None,
        observers: Observers = NOBODY,
    ) -> None:
        self._observers = observers
        args, gates = args or VolumeBindingArgs(), gates or FeatureGates({})
        self._cluster = cluster
        self._search = VolumeSearch(cluster, attributes_classes=gates.enabled("VolumeAttributesClass"))
        scores = gates.enabled("StorageCapacityScoring")
        self._scorer = StorageScorer(args.shape or ()) if scores else None
        timeout_seconds = float(args.bind_timeout_seconds)
        self._binder = Binder(cluster, effects or RecordingEffects(), waits or NoWaits(), timeout_seconds)

    def events_to_register(self) -> Sequence[Registration]:
        """Return the events that can make volumes available."""
        return registrations()

    # -- filtering

    def key(self, pod: PodInfo) -> Hashable:
        """Return one key for all pods without claims; UNCACHED for pods with claims."""
        return UNCACHED if pod.derive(claim_references) else ""

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Status | None:
        """Skip pods without claims; reject those whose claims cannot be used, or should be bound by now."""
        if not pod.derive(claim_references):
            return SKIP
        claims = find_claims(self._cluster, pod)
        if isinstance(claims, Status):
            return claims
        cycle.write(STATE, PodVolumes(claims))
        return None

    def filter_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Verdict:
        """Reject nodes that cannot access the pod's volumes, or on which none can be provisioned."""
        state = cycle.get(STATE)
        if state is None:
            return Verdict.uniform(len(nodes), error(NOT_FOUND))
        state.filtered = True
        _, rows = table_rows(nodes)
        verdict = self._search.look(state.claims, rows).verdict()
        if any(status is not None and status.code is Code.ERROR for status in verdict.statuses):
            self._observers.volume_stage_failed("predicate")
        return verdict

    # -- scoring

    def score_key(self, pod: PodInfo) -> Hashable:
        """Return one key for all pods that are scored alike."""
        return UNCACHED if self._scorer is not None and pod.derive(claim_references) else ""

    def pre_score(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> Status | None:
        """Skip scoring unless storage capacity is scored."""
        if self._scorer is None:
            return SKIP
        return self._unprepared(cycle) if pod.derive(claim_references) else None

    def score_nodes(self, cycle: CycleState, pod: PodInfo, nodes: Nodes) -> NDArray[np.int64] | Status:
        """Return the scores by the use of the nodes' storage."""
        state = cycle.get(STATE)
        if self._scorer is None or state is None or not state.filtered:
            return np.zeros(len(nodes), np.int64)
        _, rows = table_rows(nodes)
        return self._scorer.score(self._search.look(state.claims, rows))

    # -- the chosen node

    def plan(self, cycle: CycleState, node_name: str) -> VolumePlan | None:
        """Return the volumes to bind and the claims to provision on a node; None without a plan for the node."""
        state = cycle.get(STATE)
        return None if state is None else self._plan(state, node_name)

    def reserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Assume the volumes and claims of the plan for the node."""
        state = cycle.get(STATE)
        if state is None:
            return self._unprepared(cycle)
        plan = self._plan(state, node_name)
        if plan is None or not state.claims.unbound:
            return None
        try:
            state.reserved[node_name] = assume(self._cluster, plan, node_name)
        except OutOfSyncError as problem:
            self._observers.volume_stage_failed("assume")
            return error(str(problem))
        return None

    def unreserve(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        """Restore the assumed volumes and claims."""
        state = cycle.get(STATE)
        reserved = None if state is None else state.reserved.get(node_name)
        if reserved is not None:
            take_back(self._cluster, reserved)

    def pre_bind_pre_flight(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Return Skip if there is nothing to bind."""
        state = cycle.get(STATE)
        if state is None:
            return self._unprepared(cycle) or SKIP
        return None if node_name in state.reserved else SKIP

    async def pre_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Status | None:
        """Bind the reserved volumes, and wait until they are bound."""
        state = cycle.get(STATE)
        if state is None:
            return self._unprepared(cycle)
        reserved = state.reserved.get(node_name)
        if reserved is None:
            return None
        problem = await self._binder.bind(pod, node_name, reserved)
        if problem:
            self._observers.volume_stage_failed("bind")
        return error(problem) if problem else None

    def _plan(self, state: PodVolumes, node_name: str) -> VolumePlan | None:
        """Return the plan for a node; None if Filter did not run, or rejects the node."""
        row = self._cluster.table.row_of.get(node_name)
        if not state.filtered or row is None:
            return None
        return self._search.look(state.claims, np.array([row], np.intp)).plan(0)

    def _unprepared(self, cycle: CycleState) -> Status | None:
        """Return the error of a cycle in which PreFilter did not run."""
        return None if self.name in (cycle.get(PRE_FILTERED) or ()) else error(NOT_FOUND)
