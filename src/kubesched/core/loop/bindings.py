"""Bindings under way: from pods that took a place to pods that are bound, or back in the queue.

Each binding is a task beside the loop. What it gives back goes through the inbox: the place is freed between cycles,
and only once it is known whether a binding that was not answered has landed.
"""

# upstream: schedule_one.go (bindingCycle, handleBindingCycleError) (v1.36)

import asyncio
from collections.abc import Callable

from kubesched.api.meta import ApiObject
from kubesched.common.notes import sampled
from kubesched.core.binding.cycle import BindingServices, NotBound, bind_pod, tell_bound
from kubesched.core.binding.hooks import is_called_off
from kubesched.core.binding.waiting_pods import WaitingPod
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.cycle import PODS_TO_ACTIVATE
from kubesched.core.framework.effects import EffectError, Read
from kubesched.core.framework.extenders import is_interested
from kubesched.core.framework.status import error
from kubesched.core.framework.texts import described
from kubesched.core.loop.failing import Failing
from kubesched.core.loop.ground import Ground
from kubesched.core.loop.watching import POD_GONE, Watching
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.scheduling.commit import undo
from kubesched.core.scheduling.diagnosis import Diagnosis
from kubesched.core.scheduling.outcomes import SCHEDULER_ERROR, UNSCHEDULABLE, Failed, Placed

# how often a pod is looked up whose binding was not answered
FIRST_LOOK_SECONDS = 0.5
LAST_LOOK_SECONDS = 10.0
# how long a pod may take to be reported as bound after an extender said that it bound it
VERIFY_AFTER_SECONDS = (0.5, 1.0, 2.0, 4.0, 8.0)
CALLED_OFF = "the binding was called off before the pod was bound"
NOT_BOUND_AT_ALL = "an extender said that it bound the pod, but the pod is not bound"


class Bindings:
    """Starts bindings, and gives back what pods took that could not be bound."""

    def __init__(self, ground: Ground, watching: Watching, failing: Failing, services: BindingServices) -> None:
        self._ground = ground
        self._watching = watching
        self._failing = failing
        self._services = services
        # how many pods are being bound, or given back
        self.under_way = 0
        # a server in trouble is in trouble with all of them
        self._complain = sampled(services.note, ground.now)
        watching.withdraw = self._withdraw

    def begin(self, placed: Placed) -> None:
        """Start binding a pod."""
        self._activate(placed)
        if placed.waits:
            self._services.waiting.add(WaitingPod(placed.pod, placed.node_name, placed.waits))
        self._ground.tasks.start(self._bind(placed))

    async def _bind(self, placed: Placed) -> None:
        self.under_way += 1
        try:
            await self._bind_or_give_back(placed)
        finally:
            self.under_way -= 1
            placed.cycle.stopwatch.tell()

    async def _bind_or_give_back(self, placed: Placed) -> None:
        # that it could not be placed earlier must not be written after it is bound
        await self._failing.telling.quiet(placed.pod.uid)
        try:
            failure = await bind_pod(placed, self._services)
        except BaseException as raised:
            if is_called_off(raised):
                # a plugin that calls its own task off keeps no place; at the end of the process nobody acts on it
                given_up = NotBound(error(CALLED_OFF))
                self._ground.inbox.later(lambda: self._give_back(placed, given_up))
                raise
            failure = NotBound(error(f"internal error: {described(raised)}"))
        if failure is None:
            self._ground.inbox.later(lambda: self._activate(placed))
            if self._extender_binds(placed.pod):
                await self._verify(placed)
            return
        if failure.tried:
            await self._look(placed.pod)
        self._ground.inbox.later(lambda: self._give_back(placed, failure))

    def _extender_binds(self, pod: PodInfo) -> bool:
        return any(e.bind_verb and is_interested(e, pod.spec) for e in self._services.extenders)

    async def _verify(self, placed: Placed) -> None:
        """See that a pod which an extender says it bound is bound; put it back if it is not."""
        # differs (an extender that says it bound): the reference takes its word for it, and the pod is never heard of
        # again
        for seconds in VERIFY_AFTER_SECONDS:
            await asyncio.sleep(seconds)
            latest = self._watching.latest(placed.pod)
            if latest is None or latest.spec.node_name:
                return
        await self._look(placed.pod)
        self._ground.inbox.later(lambda: self._give_back(placed, NotBound(error(NOT_BOUND_AT_ALL), tried=True)))

    async def _look(self, pod: PodInfo) -> None:
        """Find out what became of a pod whose binding was refused or not answered; its place is kept until then."""
        # differs (a binding that is refused or not answered): the reference frees the place at once, and may give it
        # away although the binding landed
        found = await self._found(pod)
        if found is not None:
            self._ground.inbox.later(lambda: self._watching.put(found))
        else:
            self._ground.inbox.later(lambda: self._watching.drop(pod.pod))

    async def _found(self, pod: PodInfo) -> ApiObject | None:
        """Return a pod as the server has it, None if it has none; asks until there is an answer."""
        seconds = FIRST_LOOK_SECONDS
        while True:
            try:
                return await self._services.effects.perform(Read("Pod", pod.namespace, pod.name))
            except EffectError as refused:
                self._complain(f"cannot tell whether pod {pod.namespace}/{pod.name} is bound: {refused}")
            await asyncio.sleep(seconds)
            seconds = min(2 * seconds, LAST_LOOK_SECONDS)

    def _activate(self, placed: Placed) -> None:
        """Have the pods tried at once that plugins named in this cycle."""
        named = placed.cycle.get(PODS_TO_ACTIVATE)
        if named:
            self._ground.queue.activate(list(named), self._ground.now())
            named.clear()

    def _give_back(self, placed: Placed, why: NotBound) -> None:
        """Undo what a pod took that could not be bound, and put it back into the queue."""
        uid = placed.pod.uid
        confirmed = self._watching.latest(placed.pod)
        if confirmed is not None and confirmed.spec.node_name:
            # bound after all: the answer was lost, not the write
            self._ground.queue.done(uid)
            tell_bound(placed, self._services.observers)
            return
        for fault in undo(self._ground.cluster, placed.profile, placed.cycle, placed.pod, placed.node_name):
            self._services.note(fault.message)
        placed.cycle.stopwatch.tell()
        if confirmed is None:
            self._ground.cluster.remove_pod(uid)
            self._ground.queue.delete(uid)
            self._failing.tell(_failed(placed.queued, why))
        else:
            self._requeue(placed.queued, confirmed, why)
        # who was turned away does not wake itself by leaving
        only_others: Callable[[PodInfo], bool] | None = (lambda pod: pod.uid != uid) if why.status.rejected else None
        self._ground.queue.on_event(POD_GONE, placed.pod, None, self._ground.now(), only_others)

    def _requeue(self, queued: QueuedPod, latest: PodInfo, why: NotBound) -> None:
        """Put a pod back whose binding failed: to wait for events if Permit turned it away, else to back off."""
        queued.pod = latest
        self._ground.queue.resume(queued)
        self._failing.fail(_failed(queued, why))

    def _withdraw(self, assumed: PodInfo) -> bool:
        """Turn away an assumed pod that is going away, if it waits for permission still."""
        waiting = self._services.waiting.get(assumed.uid)
        return waiting is not None and waiting.reject("", "removed")


def _failed(queued: QueuedPod, why: NotBound) -> Failed:
    """Return the failure of an attempt that got as far as binding."""
    status = why.status
    if not why.by_permit:
        return Failed(queued, UNSCHEDULABLE if status.rejected else SCHEDULER_ERROR, status.message)
    diagnosis = Diagnosis(frozenset((status.plugin,)), dict.fromkeys(status.reasons, 1), "", 1)
    return Failed(queued, UNSCHEDULABLE, diagnosis.message(), diagnosis.unschedulable_plugins)
