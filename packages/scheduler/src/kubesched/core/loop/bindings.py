"""Binding cycles: a task for each assumed pod binds it or puts it back into the queue.

From assumed pods to bound ones. A pod whose binding failed is forgotten between cycles, through the inbox. If the API
server did not answer, its node's resources stay taken until a read shows whether the pod is bound.
"""

# upstream: schedule_one.go (bindingCycle, handleBindingCycleError) (v1.36)

import asyncio
from collections.abc import Awaitable, Callable

from kubesched.api.meta import ApiObject
from kubesched.common.notes import sampled
from kubesched.config.types import Extender
from kubesched.core.binding.cancellation import is_called_off
from kubesched.core.binding.cycle import BindingContext, NotBound, bind_pod, tell_bound
from kubesched.core.binding.waiting_pods_map import PermitWait
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observing.observer import PERMIT
from kubesched.core.framework.values.cycle import PODS_TO_ACTIVATE
from kubesched.core.framework.values.effects import Bind, EffectError, Read
from kubesched.core.framework.values.extenders import is_interested
from kubesched.core.framework.values.status import error
from kubesched.core.framework.values.texts import described
from kubesched.core.loop.context import LoopContext
from kubesched.core.loop.event_handlers import POD_GONE, EventHandlers
from kubesched.core.loop.failure_handler import FailureHandler
from kubesched.core.loop.loop_events import BindingDone, BindingFailed, BindingVerified, Dropped, Permitted, Put
from kubesched.core.scheduling.commit import undo
from kubesched.core.scheduling.cycle import commit_failure
from kubesched.core.scheduling.outcomes import SCHEDULER_ERROR, UNSCHEDULABLE, Failed, Placed, PodAttempt

# The interval between two reads of a pod whose binding got no response; it doubles from the first to the last value.
FIRST_LOOK_SECONDS = 0.5
LAST_LOOK_SECONDS = 10.0
# The seconds between two checks whether a pod that an extender bound is reported as bound; after the last check the pod
# is read.
VERIFY_AFTER_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)
CALLED_OFF = "the binding was called off before the pod was bound"
NOT_BOUND_AT_ALL = "an extender said that it bound the pod, but the pod is not bound"


class Bindings:
    """Starts binding cycles; undoes Reserve and assume for pods that could not be bound."""

    def __init__(
        self,
        context: LoopContext,
        handlers: EventHandlers,
        failures: FailureHandler,
        bind_by_extender: Callable[[Extender, Bind], Awaitable[str]] | None,
    ) -> None:
        self._context = context
        self._handlers = handlers
        self._failures = failures
        # the assumed pods whose binding cycle has not ended, by UID
        self._placed: dict[str, Placed] = {}
        # the UIDs of the assumed pods that an extender binds, until they are reported as bound
        self._to_verify: set[str] = set()
        self.use(bind_by_extender)
        # the number of running binding cycles
        self.under_way = 0
        # one line a minute: a failing API server fails for all pods
        self._complain = sampled(context.note, context.now)

    def use(self, bind_by_extender: Callable[[Extender, Bind], Awaitable[str]] | None) -> None:
        """Bind by the engine that is in charge from now on; cycles under way end as they began."""
        context = self._context
        self._cycles = BindingContext(
            context.engine,
            context.waiting_pods,
            context.pods_in_pre_bind,
            permitted=lambda uid: context.inbox.post(Permitted(uid)),
            note=context.note,
            bind_by_extender=bind_by_extender,
        )

    def generations(self) -> set[int]:
        """Return the generations of configurations that binding cycles are under way under."""
        return {placed.attempt.generation for placed in self._placed.values()}

    def begin(self, placed: Placed) -> None:
        """Start the binding cycle of an assumed pod."""
        self._placed[placed.pod.uid] = placed
        if any(extender.bind_verb and is_interested(extender, placed.pod.spec) for extender in self._cycles.extenders):
            self._to_verify.add(placed.pod.uid)
        self._activate(placed)
        if placed.waits:
            self._context.waiting_pods.add(PermitWait(placed.pod, placed.node_name, placed.waits))
        self._context.tasks.start(self._bind(placed, self._cycles))

    # -- events

    def permitted(self, uid: str) -> None:
        """A pod has passed Permit: the queue keeps no events for it any more."""
        self._context.waiting_pods.remove(uid)
        self._context.queue.done(uid)

    def done(self, uid: str) -> None:
        """A pod is bound: activate the pods that plugins named."""
        placed = self._placed[uid]
        self._activate(placed)
        if uid not in self._to_verify:
            del self._placed[uid]

    def verified(self, uid: str) -> None:
        """A pod that an extender has bound is reported as bound, or is deleted."""
        self._to_verify.discard(uid)
        del self._placed[uid]

    def failed(self, uid: str, why: NotBound) -> None:
        """Undo Reserve and assume for a pod that could not be bound, and requeue it."""
        placed = self._placed.pop(uid)
        self._to_verify.discard(uid)
        self._context.waiting_pods.remove(uid)
        self._context.pods_in_pre_bind.end(uid)
        confirmed = self._handlers.latest(placed.pod)
        if confirmed is not None and confirmed.spec.node_name:
            # the pod is bound: only the response was lost
            self._context.queue.done(uid)
            tell_bound(placed, self._context.observers)
            return
        stopwatch = placed.attempt.stopwatch
        for fault in undo(self._context.cluster, placed.profile, placed.cycle, placed.pod, placed.node_name, stopwatch):
            self._context.note(fault.message)
        stopwatch.tell()
        if confirmed is None:
            self._context.cluster.remove_pod(uid)
            self._context.queue.delete(uid)
            self._failures.tell(_failed(placed.attempt, why))
        else:
            self._requeue(placed.attempt, confirmed, why)
        # a rejected pod is not requeued by the event of its own removal
        only_others: Callable[[PodInfo], bool] | None = (lambda pod: pod.uid != uid) if why.status.rejected else None
        self._context.queue.on_event(POD_GONE, placed.pod, None, self._context.now(), only_others)

    # -- the task

    async def _bind(self, placed: Placed, cycles: BindingContext) -> None:
        self.under_way += 1
        try:
            await self._bind_or_fail(placed, cycles)
        finally:
            self.under_way -= 1
            placed.attempt.stopwatch.tell()

    async def _bind_or_fail(self, placed: Placed, cycles: BindingContext) -> None:
        post = self._context.inbox.post
        # a condition of an earlier attempt must not be written after the binding
        await self._failures.status_writer.drain(placed.pod.uid)
        try:
            failure = await bind_pod(placed, cycles)
        except BaseException as raised:
            if is_called_off(raised):
                # a plugin that cancels its own task leaves nothing assumed; at the end of the process nothing follows
                post(BindingFailed(placed.pod.uid, NotBound(error(CALLED_OFF))))
                raise
            failure = NotBound(error(f"internal error: {described(raised)}"))
        if failure is None:
            verify = placed.pod.uid in self._to_verify
            post(BindingDone(placed.pod.uid))
            if verify:
                await self._verify(placed)
            return
        if failure.tried:
            await self._look(placed.pod)
        post(BindingFailed(placed.pod.uid, failure))

    async def _verify(self, placed: Placed) -> None:
        """Wait until a pod that an extender claims to have bound is reported as bound; requeue it otherwise."""
        # differs (D-047): the reference trusts the extender, and never schedules a pod that the extender did not bind
        for seconds in VERIFY_AFTER_SECONDS:
            await asyncio.sleep(seconds)
            latest = self._handlers.latest(placed.pod)
            if latest is None or latest.spec.node_name:
                self._context.inbox.post(BindingVerified(placed.pod.uid))
                return
        await self._look(placed.pod)
        self._context.inbox.post(BindingFailed(placed.pod.uid, NotBound(error(NOT_BOUND_AT_ALL), tried=True)))

    async def _look(self, pod: PodInfo) -> None:
        """Read a pod whose binding failed or got no response, and post it; it stays assumed until then."""
        # differs (D-040): the reference forgets the pod at once, and may overcommit the node if the pod was bound
        found = await self._found(pod)
        self._context.inbox.post(Put(found) if found is not None else Dropped(pod.pod))

    async def _found(self, pod: PodInfo) -> ApiObject | None:
        """Return a pod as the API server has it, None if it does not exist; retries until there is a response."""
        seconds = FIRST_LOOK_SECONDS
        while True:
            try:
                return await self._context.effects.perform(Read("Pod", pod.namespace, pod.name))
            except EffectError as refused:
                self._complain(f"cannot tell whether pod {pod.namespace}/{pod.name} is bound: {refused}")
            await asyncio.sleep(seconds)
            seconds = min(2 * seconds, LAST_LOOK_SECONDS)

    def _activate(self, placed: Placed) -> None:
        """Activate the pods that plugins named in this cycle (PODS_TO_ACTIVATE)."""
        named = placed.cycle.get(PODS_TO_ACTIVATE)
        if named:
            self._context.queue.activate(list(named), self._context.now())
            named.clear()

    def _requeue(self, attempt: PodAttempt, latest: PodInfo, why: NotBound) -> None:
        """Requeue a pod whose binding failed: unschedulable if Permit rejected it, else with backoff."""
        attempt.queued.pod = latest
        self._context.queue.resume(attempt.queued)
        self._failures.fail(_failed(attempt, why))


def _failed(attempt: PodAttempt, why: NotBound) -> Failed:
    """Return the failure of an attempt whose binding cycle failed."""
    if why.by_permit:
        return commit_failure(attempt, why.status, PERMIT)
    reason = UNSCHEDULABLE if why.status.rejected else SCHEDULER_ERROR
    return Failed(attempt, reason, why.status.message, point=why.point)
