"""GangDefragmentation: the fewest moves of running pods that make space for a waiting gang.

From PodGroups of scheduling.x-k8s.io whose pods found no node to plans. The search runs beside scheduling: the
cluster is surveyed between two cycles, the solver runs in a thread, and the engine proves its result between two
cycles. In mode Propose a plan is announced by an event and an annotation of the PodGroup, the log, a metric, and the
message of its pods. In mode Evict it is also carried out.
"""

import asyncio
import importlib.util
import time
from collections.abc import Sequence
from functools import partial
from logging import Logger

from kubesched import (
    SUCCESS,
    Background,
    ClusterView,
    CycleState,
    NodeVerdicts,
    ObjectWriter,
    PlacementTrials,
    PluginError,
    PluginMetrics,
    PodInfo,
    PostFilterPlugin,
    PostFilterResult,
    PreEnqueuePlugin,
    Registration,
    Status,
    Waits,
    unresolvable,
    unschedulable,
)
from kubesched_contrib.coscheduling.gangs import Gangs
from kubesched_contrib.coscheduling.pod_group import KIND, group_name
from kubesched_contrib.gang_defragmentation.args import GangDefragmentationArgs
from kubesched_contrib.gang_defragmentation.carrying_out import Executor
from kubesched_contrib.gang_defragmentation.movability import BUDGETS
from kubesched_contrib.gang_defragmentation.plan import DefragmentationPlan, Refutation, prove
from kubesched_contrib.gang_defragmentation.survey import Exclusions, Surveyor, WaitingGang

PLAN = "kubesched.io/defragmentation-plan"
# limit on the plans that replace a refuted one
MOST_PROOFS = 4
PROPOSED, EVICTED, ABANDONED, NO_PLAN, REFUTED, TIMED_OUT = (
    "proposed",
    "evicted",
    "abandoned",
    "no plan",
    "refuted",
    "solver timed out",
)


class GangDefragmentation(PreEnqueuePlugin, PostFilterPlugin):
    """Makes space for gangs."""

    name = "GangDefragmentation"
    looks_up = (KIND, BUDGETS)
    writes = (KIND, "Pod/status", "Pod/eviction")

    def __init__(
        self,
        cluster: ClusterView,
        trials: PlacementTrials,
        waits: Waits,
        background: Background,
        writer: ObjectWriter,
        metrics: PluginMetrics,
        log: Logger,
        args: GangDefragmentationArgs | None = None,
    ) -> None:
        if importlib.util.find_spec("scipy") is None:
            raise PluginError("its solver is not installed; run: pip install 'kubesched-contrib[defragment]'")
        self._args = args or GangDefragmentationArgs()
        self._cluster = cluster
        self._trials = trials
        self._waits = waits
        self._writer = writer
        self._log = log
        self._gangs = Gangs(cluster)
        self._surveyor = Surveyor(cluster, trials, self._args)
        self._executor = Executor(cluster, waits, background, writer, self._args.plan_timeout_seconds)
        self._results = metrics.counter("plans_total", "Searches for plans, by result.", ["result"])
        self._seconds = metrics.histogram("solver_seconds", "Duration of the solver.", buckets=(0.01, 0.1, 1, 10, 60))
        # PodGroup -> since when its pods find no node, and its last search
        self._since: dict[str, float] = {}
        self._looked_at: dict[str, float] = {}
        # PodGroup -> the last announced plan
        self.plans: dict[str, DefragmentationPlan] = {}
        self._rests_until = float("-inf")
        timeout = MOST_PROOFS * 2 * self._args.solver_seconds + self._args.plan_timeout_seconds + 60
        background.every(self._args.interval_seconds, self._look, timeout_seconds=timeout)

    def events_to_register(self) -> Sequence[Registration]:
        """Return nothing: pods that are held back are activated when the moved pods have left."""
        return ()

    # -- in the cycle: waiting gangs

    def pre_enqueue(self, pod: PodInfo) -> Status | None:
        """Hold a pod of a gang back while pods move for it."""
        if self._executor.holds(pod.uid):
            return unresolvable("waiting for pods that are moved for its PodGroup")
        return None

    def post_filter(self, cycle: CycleState, pod: PodInfo, verdicts: NodeVerdicts) -> PostFilterResult:
        """Record that a pod of a gang found no node; return the plan for its gang in the message, if there is one.

        While the plan is carried out, the pod stays nominated to its planned node.
        """
        name = group_name(pod)
        promised = self._executor.promised.get(pod.uid)
        if promised is not None:
            return PostFilterResult(SUCCESS, promised)
        if not name:
            return PostFilterResult(unschedulable())
        self._since.setdefault(name, self._waits.now())
        plan = self.plans.get(name)
        return PostFilterResult(unschedulable(plan.sentence) if plan is not None else unschedulable())

    # -- beside the cycles

    async def _look(self) -> None:
        """Search a plan for the next gang."""
        gang = await self._waits.between_cycles(self._next_gang)
        if gang is None:
            return
        found = await self._plan_for(gang)
        if isinstance(found, str):
            self._results.labels(found).inc()
            self._forget(gang.name)
            if found != NO_PLAN:
                self._log.info("No defragmentation plan", extra={"podGroup": gang.name, "reason": found})
            return
        self._announce(found)
        if self._args.mode == "Evict" and self._waits.now() >= self._rests_until:
            await self._carry_out(found)

    def _next_gang(self) -> WaitingGang | None:
        """Return the waiting gang with the oldest search and the highest priority."""
        now = self._waits.now()
        waiting: list[WaitingGang] = []
        for name in list(self._since):
            gang = self._waiting(name)
            if gang is None:
                del self._since[name]
                self._looked_at.pop(name, None)
                self._forget(name)
            elif now - self._since[name] >= self._args.pending_seconds:
                waiting.append(gang)
        if not waiting:
            return None
        chosen = min(waiting, key=lambda gang: (self._looked_at.get(gang.name, 0.0), -gang.priority, gang.name))
        self._looked_at[chosen.name] = now
        return chosen

    def _waiting(self, name: str) -> WaitingGang | None:
        """Return a gang if it lacks nodes, and has the pods that it needs."""
        try:
            spec = self._gangs.spec(name)
        except PluginError:
            # Coscheduling reports it to its pods
            return None
        if spec is None:
            return None
        needed = spec.min_member - self._gangs.placed(name)
        pods = tuple(
            pod
            for pod in self._gangs.pending(name)
            if not (pod.spec.scheduling_gates or pod.terminating or pod.spec.resource_claims)
            and self._trials.has_profile(pod)
        )
        return WaitingGang(name, pods, needed) if 0 < needed <= len(pods) else None

    async def _plan_for(self, gang: WaitingGang) -> DefragmentationPlan | str:
        """Return a plan that passed the scheduler's filters, or the reason why there is none."""
        from kubesched_contrib.gang_defragmentation.solver import SolverTimeoutError, solve

        excluded = Exclusions(set(), set())
        for _ in range(MOST_PROOFS):
            survey = await self._waits.between_cycles(lambda: self._surveyor.survey(gang, excluded))
            began = time.perf_counter()
            try:
                arrangement = await asyncio.to_thread(solve, survey.problem, self._args.solver_seconds)
            except SolverTimeoutError:
                return TIMED_OUT
            finally:
                self._seconds.observe(time.perf_counter() - began)
            if arrangement is None or not arrangement.moves:
                # without moves the scheduler finds the places
                return NO_PLAN
            plan = survey.plan_of(arrangement)
            proved = await self._waits.between_cycles(partial(prove, plan, self._cluster, self._trials))
            if not isinstance(proved, Refutation):
                return proved
            if proved.moved is not None:
                excluded.moves.add(proved.moved.uid)
            if proved.place is not None:
                excluded.places.add((proved.place.pod.uid, proved.place.node_name))
        return REFUTED

    # -- announcements

    def _announce(self, plan: DefragmentationPlan) -> None:
        """Announce a plan once."""
        known, self.plans[plan.gang] = self.plans.get(plan.gang), plan
        if known is not None and known.as_json() == plan.as_json():
            return
        self._results.labels(PROPOSED).inc()
        self._log.info("Defragmentation plan", extra={"podGroup": plan.gang, "plan": plan.sentence})
        group = self._cluster.get(KIND, plan.gang)
        if group is not None:
            self._writer.event(group, "DefragmentationPlan", plan.sentence)
            self._writer.annotate(group, {PLAN: plan.as_json()})

    def _forget(self, name: str) -> None:
        """Withdraw the plan for a gang."""
        if self.plans.pop(name, None) is not None:
            group = self._cluster.get(KIND, name)
            if group is not None:
                self._writer.annotate(group, {PLAN: None})

    async def _carry_out(self, plan: DefragmentationPlan) -> None:
        """Move the pods of a plan."""
        problem = await self._executor.carry_out(plan)
        self._rests_until = self._waits.now() + self._args.cool_down_seconds
        self._results.labels(ABANDONED if problem else EVICTED).inc()
        group = self._cluster.get(KIND, plan.gang)
        if problem:
            self._log.warning("Defragmentation abandoned", extra={"podGroup": plan.gang, "reason": problem})
        if group is not None:
            note = f"the plan was given up: {problem}" if problem else plan.sentence
            reason = "DefragmentationAbandoned" if problem else "Defragmented"
            self._writer.event(group, reason, note, warning=bool(problem))
