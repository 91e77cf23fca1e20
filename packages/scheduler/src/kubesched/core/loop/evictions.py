"""Evictions: victims get the condition DisruptionTarget and are deleted; the preemptor waits for that.

From a preemption to deletions. Less important pods that are nominated to the same node lose the nomination first. All
victims but the last are deleted concurrently; the preemptor is held until only the last one is left, and is retried
after a pause if an eviction failed, at once if a node was added meanwhile.
"""

# upstream: framework/preemption/executor.go (v1.36)

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

import msgspec

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.effects import Delete, EffectError, Emit, NotFoundError, Patch
from kubesched.core.framework.values.preemption import Preemption, RunningPreemptions
from kubesched.core.loop.conditions import condition_patch
from kubesched.core.loop.context import LoopContext
from kubesched.core.loop.loop_events import Activate, Dropped, LastVictim, LoopEvent, PreemptionEnded

TRY_AGAIN_SECONDS = 1.0


class Preemptor(msgspec.Struct, frozen=True):
    """A pod, or the pod group that `pod` belongs to; `pods` are the UIDs to activate if the preemption fails."""

    pod: PodInfo
    uid: str
    priority: int
    pods: tuple[str, ...]
    kind: str = "pod"

    @staticmethod
    def alone(pod: PodInfo) -> "Preemptor":
        """Return a pod that preempts alone."""
        return Preemptor(pod, pod.uid, pod.priority, (pod.uid,))


class Evictions:
    """Carries preemptions out."""

    def __init__(self, context: LoopContext, apply: Callable[[LoopEvent], None]) -> None:
        self._context = context
        # applies an event at once: PreEnqueue must not hold a preemptor whose victims are deleted
        self._apply = apply
        self._preemptions: RunningPreemptions = context.engine.services.preemptions
        self._retry: set[str] = set()
        self._running: set[str] = set()

    def retry_all(self) -> None:
        """Mark all preemptors to be retried when their evictions end: a node was added, or other plugins decide."""
        # differs (D-042): the reference misses a node that is added while victims are deleted
        self._retry |= self._running

    def begin(self, preemptor: Preemptor, preemption: Preemption) -> Coroutine[Any, Any, None] | None:
        """Gate a preemptor from now on; return the coroutine that evicts its victims, None if all are terminating."""
        node_name = preemption.node_name
        victims = [victim for victim in preemption.victims if not victim.terminating]
        for going in preemption.victims:
            if going.terminating:
                self._context.observers.victim_skipped(preemptor.pod, going, node_name)
        if not victims:
            return None
        self._context.observers.preemption_began(preemptor.pod, node_name, len(preemption.victims), len(victims))
        self._preemptions.begin(preemptor.uid)
        self._running.add(preemptor.uid)
        return self._run(preemptor, preemption, victims)

    async def _run(self, preemptor: Preemptor, preemption: Preemption, victims: Sequence[PodInfo]) -> None:
        uid, node_name = preemptor.uid, preemption.node_name
        began = self._context.observers.clock()
        failure: Exception | None = None
        try:
            await self._clear_nominations(preemptor, node_name)
            *others, last = victims
            await asyncio.gather(*(self._evict(preemptor, preemption, victim) for victim in others))
            self._apply(LastVictim(uid, last.uid))
            await self._evict(preemptor, preemption, last)
        except Exception as raised:
            # the next attempt finds the victims that are left
            failure = raised
        finally:
            self._apply(PreemptionEnded(uid))
            self._running.discard(uid)
            woken = uid in self._retry
            self._retry.discard(uid)
            # differs (D-085): the reference reports success and zero duration for every preemption
            self._context.observers.preemption_ended(
                preemptor.pod, node_name, failure, self._context.observers.clock() - began
            )
        if failure is not None and not woken:
            # differs (D-043): the reference retries at once, and without a pause while the API server does not answer
            await asyncio.sleep(TRY_AGAIN_SECONDS)
        if failure is not None or woken:
            self._context.inbox.post(Activate(preemptor.pods))
        if failure is not None and not isinstance(failure, EffectError):
            raise failure

    async def _clear_nominations(self, preemptor: Preemptor, node_name: str) -> None:
        for nominated in self._context.cluster.nominations.on(node_name):
            if nominated.priority < preemptor.priority:
                body = {"metadata": {"uid": nominated.uid}, "status": {"nominatedNodeName": ""}}
                try:
                    await self._context.effects.perform(
                        Patch("Pod", nominated.namespace, nominated.name, body, "status")
                    )
                except NotFoundError:
                    self._context.inbox.post(Dropped(nominated.pod))

    async def _evict(self, preemptor: Preemptor, preemption: Preemption, victim: PodInfo) -> None:
        node_name = preemption.node_name
        note = f"Preempted by {preemptor.kind} {preemptor.uid} on node {node_name}"
        if victim.uid not in self._context.cluster.table.pods:
            # its binding failed since it was chosen: it waits in the queue and takes no resources
            self._retry.add(preemptor.uid)
            self._context.observers.victim_gone(preemptor.pod, victim, node_name)
            return
        in_memory = self._called_back(victim, preemption.plugin)
        if in_memory:
            note += " (in kube-scheduler memory)."
        else:
            try:
                await self._delete(preemptor, victim)
            except NotFoundError:
                # deleted already; the report is late, lost, or came while the preemptor was held
                self._context.inbox.post(Dropped(victim.pod))
                self._retry.add(preemptor.uid)
                self._context.observers.victim_gone(preemptor.pod, victim, node_name)
                return
        self._context.observers.victim_evicted(preemptor.pod, victim, node_name, in_memory=in_memory)
        reporter = preemptor.pod.spec.scheduler_name
        await self._context.effects.perform(Emit(victim.pod, "Normal", "Preempted", "Preempting", note, reporter))

    def _called_back(self, victim: PodInfo, plugin: str) -> bool:
        """Preempt a victim that waits in Permit or PreBind; return whether that was in time."""
        waiting = self._context.waiting_pods.get(victim.uid)
        if waiting is not None:
            return waiting.preempt(plugin, "preempted")
        return self._context.pods_in_pre_bind.call_back(victim.uid, f"preempted by {plugin}")

    async def _delete(self, preemptor: Preemptor, victim: PodInfo) -> None:
        scheduler = preemptor.pod.spec.scheduler_name
        condition = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "PreemptionByScheduler",
            "message": f"{scheduler}: preempting to accommodate a higher priority {preemptor.kind}",
        }
        status = condition_patch(victim, condition, self._context.date())
        body = {"metadata": {"uid": victim.uid}, "status": status}
        await self._context.effects.perform(Patch("Pod", victim.namespace, victim.name, body, "status"))
        await self._context.effects.perform(Delete("Pod", victim.namespace, victim.name, victim.uid))
