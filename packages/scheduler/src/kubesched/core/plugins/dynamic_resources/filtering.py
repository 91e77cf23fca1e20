"""Filter: the nodes on which a pod's claims can be allocated.

From the claims of a pod and rows of the table to a verdict. Allocated claims must be usable on the node; other claims
must find devices there. Nodes that offer the same extended resources and can use the same devices are judged together.
"""

# upstream: dynamicresources.go, Filter; extendeddynamicresources.go, filterExtendedResources (v1.36)

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.api.devices import AllocationResult, ResourceClaim
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.devices.device_classes import DeviceClasses
from kubesched.core.cluster.node_matching import indices_of, matching_rows
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.status import Status, unresolvable
from kubesched.core.framework.values.verdict import Verdict
from kubesched.core.framework.views.nodes import NodeRow, Nodes, row_numbers, table_row, table_rows
from kubesched.core.plugins.dynamic_resources.extended import Variant, variant
from kubesched.core.plugins.dynamic_resources.node_allocatable import NodeAllocatable
from kubesched.core.plugins.dynamic_resources.preferring import preference_score
from kubesched.core.plugins.dynamic_resources.solving import CANNOT_ALLOCATE
from kubesched.core.plugins.dynamic_resources.state import AllocationPlan, PodDevices

NOT_AVAILABLE = unresolvable("resourceclaim not available on the node")
CANNOT_FIT = unresolvable("cannot fit resource")
STALE_CLAIM = unresolvable("cannot schedule extended resource claim")


class Part(NamedTuple):
    """The positions, among the judged rows, of nodes that need the same variant of the extended resource claim."""

    positions: NDArray[np.intp]
    variant: Variant | None


class DeviceFilter:
    """Judges nodes; the state of a cycle holds all that belongs to one pod."""

    def __init__(self, cluster: ClusterState, classes: DeviceClasses, node_allocatable: NodeAllocatable | None) -> None:
        self._table = cluster.table
        self._classes = classes
        # checks the CPU and memory that claims take; None if its gate is off
        self._node_allocatable = node_allocatable

    def judge(self, pod: PodInfo, state: PodDevices, nodes: Nodes) -> Verdict:
        """Return the verdict; the rows that passed are stored in the state."""
        verdicts = _Verdicts(len(nodes))
        rows = indices_of(table_rows(nodes)[1])
        state.resize(self._table.size)
        state.passed[rows] = False
        state.scores[rows] = 0
        allocates = bool(state.to_allocate())
        unavailable = np.zeros(len(rows), np.bool_)
        for mask in self.unavailable(state, rows):
            unavailable |= mask
        for part in self._parts(pod, state, rows, verdicts):
            if part.variant is None and not state.user_count:
                # the node's own device plugin provides all resources
                continue
            if self._node_allocatable is not None:
                self._judge_one_by_one(pod, state, nodes, part, verdicts)
            elif allocates:
                self._judge_alike(state, rows, part, verdicts)
            verdicts.reject(part.positions[unavailable[part.positions]], NOT_AVAILABLE)
            if allocates:
                state.passed[rows[part.positions]] = verdicts.which[part.positions] == 0
        return verdicts.verdict()

    def unavailable(self, state: PodDevices, rows: NDArray[np.intp]) -> list[NDArray[np.bool_]]:
        """Return for each claim the rows on which its allocation cannot be used."""
        masks = []
        for index, selector in enumerate(state.selectors):
            if index in state.broken:
                masks.append(np.ones(len(rows), np.bool_))
            elif selector is None:
                masks.append(np.zeros(len(rows), np.bool_))
            else:
                masks.append(~matching_rows(self._table, selector, rows))
        return masks

    # -- what a node offers itself

    def _parts(self, pod: PodInfo, state: PodDevices, rows: NDArray[np.intp], verdicts: "_Verdicts") -> Iterator[Part]:
        """Yield the rows by the variant of the extended resource claim they need; rows that cannot fit are rejected."""
        claim = state.extended_resource_claim
        everywhere = np.flatnonzero(self._table.present[rows])
        if claim is None:
            yield Part(everywhere, None)
            return
        if claim.spec.devices.requests:
            # of an earlier attempt; PostFilter deletes it
            verdicts.reject(everywhere, STALE_CLAIM)
            return
        backed = sorted(name for name in state.extended if self._classes.of_resource(name) is not None)
        verdicts.reject(self._without(state.extended.keys() - set(backed), rows), CANNOT_FIT)
        judged = everywhere[verdicts.which[everywhere] == 0]
        lacking = [Nodes(self._table, rows[judged]).allocatable(name) == 0 for name in backed]
        for alike in _alike(lacking, len(judged)):
            resources = tuple(name for name, mask in zip(backed, lacking, strict=True) if mask[alike[0]])
            yield Part(judged[alike], self._variant(pod, state, resources))

    def _without(self, resources: Set[str], rows: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the positions of rows whose allocatable lacks one of some resources; an amount of 0 is enough."""
        nodes = self._table.nodes
        absent = [
            position
            for position, row in enumerate(rows.tolist() if resources else ())
            if (node := nodes[row]) is None or not resources <= node.status.allocatable.keys()
        ]
        return np.array(absent, np.intp)

    def _variant(self, pod: PodInfo, state: PodDevices, resources: tuple[str, ...]) -> Variant | None:
        """Return the extended resource claim for nodes that do not offer some resources; None if no claim is needed."""
        if not resources and not state.user_count:
            return None
        claim = state.extended_resource_claim
        if claim is None:
            return None
        if resources not in state.variants:
            state.variants[resources] = variant(claim, pod.spec, resources, self._classes)
        return state.variants[resources]

    # -- what devices there are

    def _judge_alike(self, state: PodDevices, rows: NDArray[np.intp], part: Part, verdicts: "_Verdicts") -> None:
        """Judge nodes that can use the same devices together."""
        claims = self._claims(state, part.variant)
        positions = part.positions
        solved = state.search.judge(claims, self._table.nodes, rows[positions])
        for position, failure in solved.failures.items():
            verdicts.reject(positions[position : position + 1], failure)
        verdicts.reject(positions[~solved.fits], CANNOT_ALLOCATE)
        state.scores[rows[positions]] = solved.scores + _score_of_others(state)

    def _judge_one_by_one(
        self, pod: PodInfo, state: PodDevices, nodes: Nodes, part: Part, verdicts: "_Verdicts"
    ) -> None:
        """Judge nodes one by one, with the CPU and memory that the claims take on each."""
        rows = row_numbers(nodes)
        position_of = {rows[position]: position for position in part.positions.tolist()}
        for node in nodes:
            _, row = table_row(node)
            position = position_of.get(row)
            if position is None:
                continue
            plan = self._plan_on(pod, state, node, part.variant)
            if isinstance(plan, Status):
                verdicts.reject(np.array([position]), plan)
            elif plan.allocations:
                state.plans[node.name] = plan
                scores = [preference_score(state.claims[i], a) for i, a in plan.allocations.items()]
                state.scores[row] = sum(scores) + _score_of_allocated(state)

    def plan(self, pod: PodInfo, state: PodDevices, node_name: str) -> AllocationPlan | Status | None:
        """Return the allocations on a node that passed; None if it did not, or nothing is to be allocated."""
        row = self._table.row_of.get(node_name)
        if row is None or row >= len(state.passed) or not state.passed[row]:
            return None
        known = state.plans.get(node_name)
        if known is None:
            rows = np.array([row], np.intp)
            part = next(self._parts(pod, state, rows, _Verdicts(1)))
            found = self._plan_on(pod, state, NodeRow(self._table, row), part.variant)
            if isinstance(found, Status):
                return found
            known = state.plans[node_name] = found
        return known

    def _plan_on(
        self, pod: PodInfo, state: PodDevices, node: NodeRow, variant: Variant | None
    ) -> AllocationPlan | Status:
        """Return the allocations of the claims on a node, or why there are none."""
        checks = self._node_allocatable
        if checks is not None:
            for claim in state.claims:
                refusal = checks.sharing(pod, node, claim) if claim.status.allocation is not None else None
                if refusal is not None:
                    return refusal
        if not state.to_allocate():
            return AllocationPlan({})
        wanted = state.to_solve()
        found = state.search.allocate(node.node, self._claims(state, variant))
        if isinstance(found, Status):
            return found
        if found is None:
            return CANNOT_ALLOCATE
        allocations: dict[int, AllocationResult] = dict(state.shared)
        allocations.update(zip(wanted, found, strict=True))
        plan = AllocationPlan(
            {index: allocations[index] for index in sorted(allocations)},
            variant.claim if variant is not None else None,
            variant.mappings if variant is not None else (),
        )
        if checks is None:
            return plan
        taken = checks.taken(pod, node, state, plan)
        return taken if isinstance(taken, Status) else msgspec.structs.replace(plan, node_allocatable=taken)

    def _claims(self, state: PodDevices, variant: Variant | None) -> Sequence[ResourceClaim]:
        """Return the claims to allocate; the extended resource claim is the node's variant."""
        return [
            variant.claim if variant is not None and state.is_extended_resource_claim(index) else state.claims[index]
            for index in state.to_solve()
        ]


class _Verdicts:
    """Statuses of rows; the first rejection of a row stays."""

    def __init__(self, count: int) -> None:
        self.which: NDArray[np.int16] = np.zeros(count, np.int16)
        self._statuses: dict[Status | None, int] = {None: 0}

    def reject(self, positions: NDArray[np.intp], status: Status) -> None:
        """Reject the rows at some positions that were not rejected before."""
        fresh = positions[self.which[positions] == 0]
        if len(fresh):
            self.which[fresh] = self._statuses.setdefault(status, len(self._statuses))

    def verdict(self) -> Verdict:
        """Return the verdict."""
        return Verdict(self.which, tuple(self._statuses))


def _alike(masks: Sequence[NDArray[np.bool_]], count: int) -> Iterator[NDArray[np.intp]]:
    """Yield groups of positions that are equal in every mask; masks may be many."""
    if not count:
        return
    if not masks:
        yield np.arange(count)
        return
    patterns = np.ascontiguousarray(np.packbits(np.array(masks), axis=0).T)
    _, which = np.unique(patterns.view(f"V{patterns.shape[1]}").ravel(), return_inverse=True)
    order = np.argsort(which, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(which[order])) + 1)


def _score_of_others(state: PodDevices) -> int:
    """Return the preference score of claims that need no search."""
    shared = sum(preference_score(state.claims[index], allocation) for index, allocation in state.shared.items())
    return shared + _score_of_allocated(state)


def _score_of_allocated(state: PodDevices) -> int:
    return sum(
        preference_score(claim, claim.status.allocation)
        for claim in state.claims
        if claim.status.allocation is not None
    )
