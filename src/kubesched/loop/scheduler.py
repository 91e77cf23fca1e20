"""The living scheduler: one loop that takes in reports, schedules pods and starts their bindings.

    reports ──▶ inbox ──▶ cluster, queue ──pop──▶ scheduling cycle ──Placed──▶ binding cycle (a task) ──▶ effects
                  ▲                                    │ Failed                      │ not bound
                  └────────────────────────────────────┴──────── undo, put back ◀────┘

Everything that changes the table waits in the inbox and is applied between cycles. A cycle runs through without a pause
unless an extender has to be asked. The loop yields after every slice, so that reports and bindings make progress.
"""

# upstream: schedule_one.go, scheduler.go (v1.36)

import asyncio
from collections import deque
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any, Protocol

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.binding.cycle import BindingServices, NotBound, bind_pod
from kubesched.binding.waiting_pods import PreBindingPods, WaitingPod, WaitingPods
from kubesched.cluster.pod_info import PodInfo
from kubesched.config.types import Extender
from kubesched.framework.effects import Bind, Effect, EffectError, Effects, Read
from kubesched.framework.extenders import Answer, Question
from kubesched.framework.outcomes import Candidate
from kubesched.framework.status import error
from kubesched.loop.failing import put_back
from kubesched.loop.preempting import Preempting
from kubesched.loop.waits import LoopWaits
from kubesched.loop.watching import POD_GONE, Watching
from kubesched.plugins.default_preemption import DefaultPreemption
from kubesched.queue.queued_pod import QueuedPod
from kubesched.queue.requeueing import Requeueing
from kubesched.queue.scheduling_queue import QueueOptions, SchedulingQueue
from kubesched.scheduling.commit import undo
from kubesched.scheduling.cycle import CycleContext, schedule
from kubesched.scheduling.diagnosis import Diagnosis
from kubesched.scheduling.engine import Engine
from kubesched.scheduling.outcomes import SCHEDULER_ERROR, UNSCHEDULABLE, Failed, Placed, Skipped
from kubesched.scheduling.visit_order import VisitOrder

SLICE_SECONDS = 0.005
TICK_SECONDS = 1.0
# No further pod is popped while so many pods are being bound.
MOST_BINDINGS = 1000
# how often a pod is looked up whose binding was not answered
FIRST_LOOK_SECONDS = 0.5
LAST_LOOK_SECONDS = 10.0


class Carrier(Protocol):
    """Carries questions to extenders."""

    async def ask(self, question: Question) -> Answer:
        """Return the answer to a question; an answer with an error if there is none."""

    async def bind(self, extender: Extender, bind: Bind) -> str:
        """Have an extender bind a pod; return what went wrong, or an empty text."""


class LoopOptions(msgspec.Struct, frozen=True):
    """How the loop runs."""

    queue: QueueOptions = QueueOptions()
    seed: int = 0
    announce_expectation: bool = True


class Scheduler:
    """Schedules the pods that it is told of, until it is stopped."""

    def __init__(
        self,
        engine: Engine,
        effects: Effects,
        options: LoopOptions | None = None,
        carrier: Carrier | None = None,
        note: Callable[[str], None] = lambda line: None,
        waits: LoopWaits | None = None,
    ) -> None:
        options = options or LoopOptions()
        self.engine = engine
        self.cluster = engine.cluster
        self._effects = effects
        self._carrier = carrier
        self._note = note
        loaded = engine.loaded
        extenders = loaded.config.extenders
        requeueing = Requeueing(
            engine.profiles, extenders=bool(extenders), pod_groups=loaded.gates.enabled("GenericWorkload")
        )
        self.queue = SchedulingQueue(engine.profiles, self.cluster.nominations, requeueing, options.queue)
        self.watching = Watching(self.cluster, self.queue, engine.profiles, loaded.gates, self.now)
        self.watching.withdraw = self._withdraw
        if waits is not None:
            self.watching.changed = waits.notify
        self.waiting = WaitingPods()
        self.pre_binding = PreBindingPods()
        self.preempting = Preempting(
            effects,
            self.cluster.nominations,
            self.waiting,
            self.pre_binding,
            activate=self._activate_later,
            gone=lambda pod: self.drop(pod.pod),
        )
        self._context = CycleContext(
            cluster=self.cluster,
            profiles=engine.profiles,
            evaluators=engine.evaluators,
            pick=Random(options.seed).randrange,
            visit_order=VisitOrder(self.cluster.table),
            extenders=extenders,
            percentage_of_nodes_to_score=loaded.config.percentage_of_nodes_to_score,
        )
        self._services = BindingServices(
            effects,
            self.waiting,
            self.pre_binding,
            permitted=lambda uid: self._later(lambda: self.queue.done(uid)),
            note=note,
            ask_to_bind=carrier.bind if carrier is not None else None,
            extenders=extenders,
            announce_expectation=options.announce_expectation,
        )
        self._inbox: deque[Callable[[], None]] = deque()
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._stopping = False

    def now(self) -> float:
        """Return the loop's time."""
        return asyncio.get_running_loop().time()

    @property
    def busy(self) -> bool:
        """Return whether any report, binding or preemption is under way."""
        return bool(self._inbox or self._tasks or len(self.waiting) or len(self.pre_binding))

    # -- what is reported, from outside

    def put(self, obj: ApiObject) -> None:
        """Report an object that was added or changed."""
        self._later(lambda: self._take_in(obj))

    def drop(self, obj: ApiObject) -> None:
        """Report an object that is gone."""
        self._later(lambda: self.watching.drop(obj))

    def stop(self) -> None:
        """End `run` after the current slice; bindings under way are left to finish."""
        self._stopping = True
        self._wake.set()

    def _later(self, change: Callable[[], None]) -> None:
        self._inbox.append(change)
        self._wake.set()

    def _take_in(self, obj: ApiObject) -> None:
        nodes = self.cluster.table.node_count
        self.watching.put(obj)
        if self.cluster.table.node_count > nodes:
            self.preempting.node_appeared()

    def _activate_later(self, uid: str) -> None:
        self._later(lambda: self.queue.activate([uid], self.now()))

    # -- the loop

    async def run(self) -> None:
        """Schedule until stopped."""
        next_flush = self.now()
        while not self._stopping:
            self._wake.clear()
            self._apply_inbox()
            if self.now() >= next_flush:
                self.queue.flush(self.now())
                next_flush = self.now() + TICK_SECONDS
            if await self._slice():
                await asyncio.sleep(0)
            else:
                await self._rest(next_flush - self.now())

    async def settle(self) -> None:
        """Wait until no binding, preemption or other task is under way and the inbox is empty."""
        while self._tasks or self._inbox:
            if self._tasks:
                await asyncio.wait(list(self._tasks), return_when=asyncio.FIRST_COMPLETED)
            await asyncio.sleep(0)

    async def _rest(self, seconds: float) -> None:
        try:
            async with asyncio.timeout(max(seconds, 0.0)):
                await self._wake.wait()
        except TimeoutError:
            pass

    def _apply_inbox(self) -> None:
        while self._inbox:
            change = self._inbox.popleft()
            try:
                change()
            except Exception as raised:
                # one strange object must not stop the others
                self._note(f"a report could not be taken in: {type(raised).__name__}: {raised}")

    async def _slice(self) -> bool:
        """Schedule pods for a few milliseconds; return whether there may be more."""
        loop = asyncio.get_running_loop()
        end = loop.time() + SLICE_SECONDS
        while not self._inbox and len(self._tasks) < MOST_BINDINGS:
            queued = self.queue.pop()
            if queued is None:
                return False
            await self._attempt(queued)
            if loop.time() >= end:
                return True
        return bool(self._inbox)

    async def _attempt(self, queued: QueuedPod) -> None:
        try:
            outcome = await self._cycle(queued)
        except Exception as raised:
            # a fault of ours: this pod's attempt fails, the loop goes on
            outcome = Failed(queued, SCHEDULER_ERROR, f"internal error: {type(raised).__name__}: {raised}")
        if isinstance(outcome, Placed):
            self._begin_binding(outcome)
        elif isinstance(outcome, Skipped):
            self.queue.done(queued.uid)
        else:
            self._fail(outcome)

    async def _cycle(self, queued: QueuedPod) -> Placed | Failed | Skipped:
        """Run a scheduling cycle, asking extenders on its behalf."""
        running = schedule(self._context, queued)
        try:
            question = next(running)
            while True:
                assert self._carrier is not None, "extenders are configured but nobody carries questions to them"
                question = running.send(await self._carrier.ask(question))
        except StopIteration as finished:
            outcome: Placed | Failed | Skipped = finished.value
            return outcome

    # -- binding

    def _begin_binding(self, placed: Placed) -> None:
        if placed.waits:
            self.waiting.add(WaitingPod(placed.pod, placed.node_name, placed.waits))
        self._start(self._bind(placed))

    async def _bind(self, placed: Placed) -> None:
        try:
            failure = await bind_pod(placed, self._services)
        except Exception as raised:
            failure = NotBound(error(f"internal error: {type(raised).__name__}: {raised}"))
        if failure is not None:
            if failure.tried:
                await self._look(placed.pod)
            self._later(lambda: self._give_back(placed, failure))

    async def _look(self, pod: PodInfo) -> None:
        """Find out what became of a pod whose binding was refused or not answered; its place is kept until then."""
        # differs: the reference frees the place at once, and may give it away although the binding landed
        seconds = FIRST_LOOK_SECONDS
        while True:
            try:
                found = await self._effects.perform(Read("Pod", pod.namespace, pod.name))
            except EffectError as refused:
                self._note(str(refused))
                await asyncio.sleep(seconds)
                seconds = min(2 * seconds, LAST_LOOK_SECONDS)
                continue
            if found is not None:
                self.put(found)
            else:
                self.drop(pod.pod)
            return

    def _give_back(self, placed: Placed, why: NotBound) -> None:
        """Undo what a pod took that could not be bound, and put it back into the queue."""
        uid = placed.pod.uid
        now = self.now()
        confirmed = self.watching.latest(placed.pod)
        if confirmed is not None and confirmed.spec.node_name:
            # bound after all: the answer was lost, not the write
            self.queue.done(uid)
            return
        for fault in undo(self.cluster, placed.profile, placed.cycle, placed.pod, placed.node_name):
            self._note(fault.message)
        if confirmed is None:
            self.cluster.pending.pop(uid, None)
            self.queue.delete(uid)
        else:
            self._requeue(placed.queued, confirmed, why)
        # who was turned away does not wake itself by leaving
        only_others: Callable[[PodInfo], bool] | None = (lambda pod: pod.uid != uid) if why.status.rejected else None
        self.queue.on_event(POD_GONE, placed.pod, None, now, only_others)

    def _requeue(self, queued: QueuedPod, latest: PodInfo, why: NotBound) -> None:
        """Put a pod back whose binding failed: to wait for events if Permit turned it away, else to back off."""
        queued.pod = latest
        self.queue.resume(queued)
        status = why.status
        if why.by_permit:
            reasons = dict.fromkeys(status.reasons, 1)
            diagnosis = Diagnosis(frozenset((status.plugin,)), reasons, "", 1)
            self._fail(Failed(queued, UNSCHEDULABLE, diagnosis.message(), diagnosis.unschedulable_plugins))
        else:
            self._fail(Failed(queued, UNSCHEDULABLE if status.rejected else SCHEDULER_ERROR, status.message))

    def _withdraw(self, assumed: PodInfo) -> bool:
        """Turn away an assumed pod that is going away, if it waits for permission still."""
        waiting = self.waiting.get(assumed.uid)
        return waiting is not None and waiting.reject("", "removed")

    # -- failing

    def _fail(self, failed: Failed) -> None:
        # who waits is known to the queue alone
        self.cluster.pending.pop(failed.queued.uid, None)
        if failed.effects:
            self._effects.submit(*failed.effects)
        if failed.preemption is not None:
            self._begin_preemption(failed.queued.pod, failed.preemption)
        effects = put_back(failed, self.queue, self.cluster.nominations, self.now())
        if effects:
            self._start(self._perform(effects))

    def _begin_preemption(self, preemptor: PodInfo, candidate: Candidate) -> None:
        """Start evicting; from now on the preemptor is held back until its victims are going."""
        profile = self.engine.profiles[preemptor.spec.scheduler_name]
        plugin = profile.plugins.get(DefaultPreemption.name)
        if isinstance(plugin, DefaultPreemption):
            work = self.preempting.begin(preemptor, candidate, plugin.under_way)
            if work is not None:
                self._start(work)

    async def _perform(self, effects: list[Effect]) -> None:
        for effect in effects:
            try:
                await self._effects.perform(effect)
            except EffectError as refused:
                self._note(str(refused))

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        """Run something beside the loop, and keep hold of it until it is done."""
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._finished)

    def _finished(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        self._wake.set()
        if not task.cancelled() and task.exception() is not None:
            self._note(f"a task failed: {task.exception()!r}")
