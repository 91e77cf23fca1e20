"""The DefaultPreemption plugin: whether a pod may preempt, the candidate nodes, and the best of them.

From the verdicts of a failed scheduling cycle to a result with all candidates, the ties for best, and the node to
nominate. No pod is evicted here.
"""

# upstream: framework/preemption/preemption.go, plugins/defaultpreemption/default_preemption.go (v1.36)

from collections.abc import Generator, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from kubesched.api.scheduling import PodGroup
from kubesched.config.args import DefaultPreemptionArgs
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import PodGroupPostFilterPlugin, PostFilterPlugin, PreEnqueuePlugin
from kubesched.core.framework.results.messages import count_reasons, fit_error_message
from kubesched.core.framework.results.outcomes import NodeVerdicts, PostFilterResult
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.framework.values.extenders import ExtenderArgs, ExtenderResult
from kubesched.core.framework.values.preemption import (
    Candidates,
    GroupTrial,
    PodGroupPostFilterResult,
    RunningPreemptions,
)
from kubesched.core.framework.values.sampling import CANDIDATE_DRAW, preemption_candidates_to_find
from kubesched.core.framework.values.status import (
    SUCCESS,
    Code,
    Status,
    StatusTable,
    error,
    unresolvable,
    unschedulable,
)
from kubesched.core.plugins.default_preemption.disruption_budgets import DisruptionBudgets
from kubesched.core.plugins.default_preemption.dry_run import NO_VICTIMS, DryRun, dry_run, has_lower
from kubesched.core.plugins.default_preemption.group_preemption import victims_for_group

NEVER = "not eligible due to preemptionPolicy=Never."
STILL_TERMINATING = "not eligible due to a terminating pod on the nominated node."
NOT_HELPFUL = unresolvable("Preemption is not helpful for scheduling")
NOBODY_TO_EVICT = "No preemption victims found for incoming pod"


class DefaultPreemption(PostFilterPlugin, PodGroupPostFilterPlugin, PreEnqueuePlugin):
    """Finds victims for an unschedulable pod or pod group."""

    name = "DefaultPreemption"
    looks_up = ("PodDisruptionBudget",)

    def __init__(
        self,
        cluster: ClusterState,
        gates: FeatureGates | None = None,
        args: DefaultPreemptionArgs | None = None,
        preemptions: RunningPreemptions | None = None,
    ) -> None:
        gates = gates or FeatureGates({})
        self._cluster = cluster
        self._args = args or DefaultPreemptionArgs()
        self._asynchronous = gates.enabled("SchedulerAsyncPreemption")
        self._workload_aware = gates.enabled("WorkloadAwarePreemption")
        self._topology_aware = gates.enabled("TopologyAwareWorkloadScheduling")
        self._budgets = DisruptionBudgets(cluster)
        self.preemptions = preemptions if preemptions is not None else RunningPreemptions(cluster.table.pods)

    # -- the queue

    def events_to_register(self) -> Sequence[Registration]:
        """Return the deletion of pods, which ends a preemption; nothing if preemption is not asynchronous."""
        if not self._asynchronous:
            return ()
        return (Registration(ClusterEvent(Resource.POD, Action.DELETE), after_pod_deletion),)

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Gate a pod whose victims are still being evicted."""
        if not self._asynchronous:
            return None
        group_name = _group_name(pod)
        if group_name and self._workload_aware:
            group = self._group(pod, group_name)
            if group is not None and self.preemptions.holds(group.metadata.uid):
                return unresolvable("waiting for the preemption for this pod group to be finished")
            return None
        if self.preemptions.holds(pod.uid):
            return unresolvable("waiting for the preemption for this pod to be finished")
        return None

    # -- PostFilter

    def post_filter(self, cycle: CycleState, pod: PodInfo, verdicts: NodeVerdicts) -> PostFilterResult:
        """Return the candidate nodes for preemption and the node to nominate; a dry run."""
        refusal = self._group_refusal(pod) or self._refusal(pod, verdicts)
        if refusal:
            return PostFilterResult(unschedulable(f"preemption: {refusal}"))
        table = self._cluster.table
        if not table.node_count:
            return PostFilterResult(error("preemption: no nodes available"))
        key = self.name, pod.priority
        helpless: PostFilterResult | None = verdicts.remembered.get(key)
        if helpless is not None:
            return helpless
        rows = verdicts.rows_with(Code.UNSCHEDULABLE, table.present[: table.size])
        draw = cycle.get(CANDIDATE_DRAW)
        runs = list(self._runs(cycle, pod, rows, draw))
        candidates = self._candidates(runs, len(rows) if draw is None else self._limit(len(rows)))
        if not len(candidates):
            helpless = self._helpless(runs, verdicts.statuses)
            if helpless.status.rejected:
                # every row was tried, whatever the draw; no budget can help
                verdicts.remembered[key] = helpless
            return helpless
        best = candidates.best()
        nominated = best[0 if draw is None else draw // len(rows) % len(best)]
        return PostFilterResult(SUCCESS, nominated, candidates)

    def pod_group_post_filter(
        self, group: PodGroup, pods: Sequence[PodInfo], trial: GroupTrial
    ) -> Generator[ExtenderArgs, ExtenderResult, PodGroupPostFilterResult]:
        """Return the victims whose eviction lets a pod group fit, or why there are none."""
        return victims_for_group(self._cluster, self._budgets, group, pods, trial)

    def _group_refusal(self, pod: PodInfo) -> str:
        """Return why a pod of a group does not preempt alone, or the empty text."""
        group_name = _group_name(pod)
        if not group_name:
            return ""
        if self._topology_aware:
            group = self._group(pod, group_name)
            if group is None:
                return "pod group for pod not found"
            if group.spec.scheduling_constraints is not None:
                return "not eligible due to placement-based pod group scheduling limitation"
        return "not eligible due to workload aware preemption enabled" if self._workload_aware else ""

    def _refusal(self, pod: PodInfo, verdicts: NodeVerdicts) -> str:
        """Return why the pod may not preempt, or the empty text."""
        if pod.spec.preemption_policy == "Never":
            return NEVER
        table = self._cluster.table
        row = table.row_of.get(pod.status.nominated_node_name)
        if row is None or not table.present[row]:
            return ""
        if verdicts.status(row).code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE:
            # waiting for victims there does not help
            return ""
        leaving = any(
            other.priority < pod.priority and terminating_by_preemption(other) for other in table.pods_on[row].values()
        )
        return STILL_TERMINATING if leaving else ""

    def _group(self, pod: PodInfo, group_name: str) -> PodGroup | None:
        return self._cluster.objects.get(PodGroup, f"{pod.namespace}/{group_name}")

    # -- candidates

    def _limit(self, potential: int) -> int:
        args = self._args
        return preemption_candidates_to_find(
            potential, args.min_candidate_nodes_percentage, args.min_candidate_nodes_absolute
        )

    def _runs(self, cycle: CycleState, pod: PodInfo, rows: NDArray[np.intp], draw: int | None) -> Iterator[DryRun]:
        """Yield dry runs: one over all rows, or with a draw over parts of them until there are enough candidates."""
        table = self._cluster.table
        if draw is None or not len(rows) or not has_lower(table, pod.priority):
            yield dry_run(cycle, pod, table, rows, self._budgets)
            return
        limit = max(self._limit(len(rows)), 1)
        visited = np.roll(rows, -(draw % len(rows)))
        found = harmless = 0
        for start in range(0, len(rows), limit):
            run = dry_run(cycle, pod, table, visited[start : start + limit], self._budgets)
            yield run
            helped = run.chosen.any(axis=1)
            found += int(np.count_nonzero(helped))
            harmless += int(np.count_nonzero(helped & (run.violations == 0)))
            if harmless and found >= limit:
                return

    def _candidates(self, runs: Sequence[DryRun], limit: int) -> Candidates:
        """Return the candidates of some dry runs, at most as many as a search with this limit finds."""
        lines = [np.flatnonzero(run.chosen.any(axis=1)) for run in runs]
        violations = np.concatenate([run.violations[line] for run, line in zip(runs, lines, strict=True)])
        counts = np.concatenate(
            [np.count_nonzero(run.chosen[line], axis=1) for run, line in zip(runs, lines, strict=True)]
        )
        slots = np.concatenate([run.victims[run.chosen] for run in runs])
        rows = np.concatenate([run.rows[line] for run, line in zip(runs, lines, strict=True)])
        harmless = np.flatnonzero(violations == 0)
        # in the order of the visit: the search ends at the limit, but not before a candidate that violates no budget
        end = max(limit, int(harmless[0]) + 1) if len(harmless) else limit
        return Candidates(
            self._cluster.table, rows[:end], violations[:end], slots[: int(counts[:end].sum())], counts[:end]
        )

    def _helpless(self, runs: Sequence[DryRun], statuses: StatusTable) -> PostFilterResult:
        """Return why preemption helps on no node; it clears an earlier nomination."""
        ids = np.concatenate([run.ids for run in runs])
        rows = np.concatenate([run.rows for run in runs])
        failures = [statuses[index] for index in np.unique(ids[ids > 0]).tolist()]
        problems = [
            f'running "{status.plugin}" filter plugin: {status.message}' for status in failures if not status.rejected
        ]
        names = self._cluster.table.names
        # The pod fits with all pods back in place, though it did not fit before.
        problems += [f'expected at least one victim pod on node "{names[row]}"' for row in rows[ids == 0].tolist()]
        if problems:
            text = problems[0] if len(problems) == 1 else f"[{', '.join(problems)}]"
            return PostFilterResult(error(f"preemption: {text}"))
        node_count = self._cluster.table.node_count
        reasons = count_reasons(ids[ids > 0], statuses, NOT_HELPFUL, node_count - len(rows))
        without_victims = int(np.count_nonzero(ids == NO_VICTIMS))
        if without_victims:
            reasons[NOBODY_TO_EVICT] = without_victims
        return PostFilterResult(unschedulable(f"preemption: {fit_error_message(node_count, reasons)}"), "")


def after_pod_deletion(pod: PodInfo, old: object, new: object) -> Hint:
    """Return Skip: the plugins that rejected the pod decide whether a deletion helps."""
    return Hint.QUEUE_SKIP


def terminating_by_preemption(pod: PodInfo) -> bool:
    """Return whether a pod is terminating because the scheduler preempted it."""
    if not pod.terminating:
        return False
    for condition in pod.status.conditions:
        if condition.type == "DisruptionTarget":
            return condition.status == "True" and condition.reason == "PreemptionByScheduler"
    return False


def _group_name(pod: PodInfo) -> str:
    group = pod.spec.scheduling_group
    return (group.pod_group_name or "") if group is not None else ""
