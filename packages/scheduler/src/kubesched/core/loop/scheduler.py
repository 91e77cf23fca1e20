"""The scheduler: one loop that applies reports, schedules pods and starts their binding cycles.

    reports ──▶ inbox ──▶ cluster, queue ──pop──▶ scheduling cycle ──Placed──▶ binding cycle (a task) ──▶ effects
                  ▲                                    │ Failed                      │ not bound
                  └────────────────────────────────────┴──────── undo, requeue ◀─────┘

Everything that changes the table waits in the inbox and is applied between cycles. A cycle runs through without a pause
unless an extender has to be asked. The loop yields after every slice, so that reports and bindings make progress.
"""

# upstream: schedule_one.go, scheduler.go (v1.36)

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from random import Random
from typing import Any, TypeVar

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.common.time_share import TimeShare
from kubesched.config.load import Loaded
from kubesched.core.binding.cancellation import is_called_off
from kubesched.core.cluster.pod_groups import group_of
from kubesched.core.framework.observing.extender_answers import told
from kubesched.core.framework.values.extenders import ExtenderArgs, ExtenderPrioritizeArgs, ExtenderResult
from kubesched.core.framework.values.texts import described
from kubesched.core.loop.bindings import Bindings
from kubesched.core.loop.configurations import Configurations, QueueSettings
from kubesched.core.loop.context import LoopContext
from kubesched.core.loop.event_handlers import EventHandlers, NodePreCheck
from kubesched.core.loop.evictions import Evictions
from kubesched.core.loop.extender_client import ExtenderClient, answered
from kubesched.core.loop.failure_handler import FailureHandler
from kubesched.core.loop.loop_events import (
    Activate,
    Attempt,
    BindingDone,
    BindingFailed,
    BindingVerified,
    Call,
    Dropped,
    LastVictim,
    LoopEvent,
    Permitted,
    PreemptionEnded,
    Put,
    Reconfigured,
    Tick,
    Unreadable,
)
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.loop.pod_groups import PodGroupScheduler
from kubesched.core.loop.slow_cycles import note_duration
from kubesched.core.queue.backoff import BackoffPolicy
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.queue.queueing_hints import HintOptions, QueueingHints
from kubesched.core.queue.scheduling_queue import FLUSH_AFTER_SECONDS, QueueOptions, SchedulingQueue
from kubesched.core.scheduling.cycle import CycleContext, schedule
from kubesched.core.scheduling.engine import Engine
from kubesched.core.scheduling.extender_calls import Asking
from kubesched.core.scheduling.outcomes import SCHEDULER_ERROR, Failed, Outcome, Placed, Skipped, begin_attempt
from kubesched.errors import InvalidObjectError

T = TypeVar("T")
# makes an attempt, if there is a pod for it; returns whether there was one
AttemptNext = Callable[[], Awaitable[bool]]
SLICE_SECONDS = 0.005
TICK_SECONDS = 1.0
# Attempts of pods that still back off may take this share of the time, and after a pause at most these seconds at once.
EARLY_SHARE = 0.03
MOST_EARLY_SECONDS = 1.0
# The most tasks, such as bindings, that send requests at the same time; at this number the scheduler pops no pod.
MOST_BINDINGS = 1000
ENDS_OF_BINDINGS = (BindingDone, BindingVerified, BindingFailed)


class LoopOptions(msgspec.Struct, frozen=True):
    """The options of the loop.

    `seed` is that of the choice among equally good nodes; None takes the first of them. In virtual time each attempt
    takes `attempt_seconds`, since virtual time does not pass during an attempt. `around_attempt` is called instead of
    `Scheduler.attempt_next`, which it gets: simulations pause before an attempt.
    """

    seed: int | None = 0
    attempt_seconds: float = 0.0
    around_attempt: Callable[[AttemptNext], Awaitable[bool]] | None = None
    max_in_unschedulable_seconds: float = FLUSH_AFTER_SECONDS


class Scheduler:
    """Schedules the reported pods until it is stopped."""

    def __init__(
        self,
        engine: Engine,
        services: LoopServices,
        options: LoopOptions,
        extender_client: ExtenderClient | None = None,
        pre_check: NodePreCheck | None = None,
    ) -> None:
        self.cluster = engine.cluster
        self._note = services.note
        settings = partial(_queue_settings, options=options)
        self.configurations = Configurations(engine, extender_client, settings, services.waits.date)
        self._attempt_seconds = options.attempt_seconds
        around = options.around_attempt
        self._next: AttemptNext = self.attempt_next if around is None else partial(around, self.attempt_next)
        self._stopping = False
        self._held = False
        # pods are scheduled only while all of these return True
        self._conditions: list[Callable[[], bool]] = [services.plugin_tasks.nothing_awaited]
        self._observers = engine.services.observers
        # the number of calls to extenders that are running, and how many of these ask for priorities
        self.asking = 0
        self.prioritizing = 0
        self._asked_seconds = 0.0
        # the number of turns of the loop, which the watchdog compares
        self.turns = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        # wakes the loop for the next flush
        self._alarm: asyncio.TimerHandle | None = None
        self.inbox = services.inbox
        self._record = services.record
        self._tasks = services.tasks
        self._plugin_tasks = services.plugin_tasks
        hints, queue_options = self.configurations.in_force.queue_settings
        self.queue = SchedulingQueue(engine.profiles, engine.cluster, hints, queue_options, self._observers)
        self.waiting_pods, self.pods_in_pre_bind = services.waiting_pods, services.pods_in_pre_bind
        self.event_handlers = EventHandlers(
            self.cluster,
            self.queue,
            engine.profiles,
            engine.loaded.gates,
            self.now,
            observers=self._observers,
            waiting_pods=services.waiting_pods,
            changed=services.waits.notify,
            pre_check=pre_check,
        )
        self._loop_context = context = LoopContext(engine, self.queue, services, self.busy_time)
        self.evictions = Evictions(context, self.apply)
        self._failures = FailureHandler(context, self.evictions)
        bind_by_extender = extender_client.bind if extender_client is not None else None
        self.bindings = Bindings(context, self.event_handlers, self._failures, bind_by_extender)
        self._context = CycleContext(engine, _first if options.seed is None else Random(options.seed).randrange)
        self._handlers = self._handlers_of_events()
        self._early_attempts = TimeShare(self.busy_time, EARLY_SHARE, MOST_EARLY_SECONDS)
        self._pod_groups: PodGroupScheduler | None = None
        if engine.loaded.gates.enabled("GenericWorkload"):
            self._pod_groups = PodGroupScheduler(context, self._context, self.bindings, self._failures, self._drive)

    @property
    def engine(self) -> Engine:
        """Return the engine of the configuration that is in force."""
        return self.configurations.in_force.engine

    def now(self) -> float:
        """Return the loop's time."""
        if self._loop is None:
            # stored, because finding the running loop takes a system call in some versions of Python
            self._loop = asyncio.get_running_loop()
        return self._loop.time()

    def busy_time(self) -> float:
        """Return the loop's time, less the time spent waiting for extenders."""
        return self.now() - self._asked_seconds

    @property
    def busy(self) -> bool:
        """Return whether any report, binding or preemption is under way."""
        return bool(len(self.inbox) or len(self._tasks) or len(self.waiting_pods) or len(self.pods_in_pre_bind))

    @property
    def _sending(self) -> int:
        """Return how many tasks send requests; pods in Permit or PreBind may wait without end and do not count."""
        return (
            len(self._tasks)
            - len(self.waiting_pods)
            - len(self.pods_in_pre_bind)
            - self._failures.status_writer.retrying
        )

    # -- reports of informers, and control

    def put(self, obj: ApiObject) -> None:
        """Report an object that was added or changed."""
        self.inbox.post(Put(obj))

    def drop(self, obj: ApiObject) -> None:
        """Report an object that was deleted."""
        self.inbox.post(Dropped(obj))

    def unreadable(self, kind: str, full_name: str, why: str) -> None:
        """Report an object that cannot be decoded, or (without a reason) that it is deleted or can be decoded again."""
        self.inbox.post(Unreadable(kind, full_name, why))

    def stop(self) -> None:
        """End `run` after the current slice; bindings under way are left to finish."""
        self.hold()
        self._stopping = True
        self.inbox.wake()

    def hold(self) -> None:
        """Schedule no further pods; reports are still applied, and running bindings go on."""
        self._held = True
        self._failures.status_writer.drop_retries()

    def only_while(self, condition: Callable[[], bool]) -> None:
        """Add a condition for scheduling pods; it is evaluated every few milliseconds."""
        self._conditions.append(condition)

    def go(self) -> None:
        """Schedule again after `hold`."""
        self._held = False
        self.inbox.wake()

    # -- another configuration

    def reconfigure(self, loaded: Loaded) -> None:
        """Put another configuration in force between two cycles; raises PluginError if a plugin cannot be built.

        The feature gates of the start stay in force. `configurations.prepare` builds it beforehand, with its extenders.
        """
        if loaded.gates.all() != self.engine.loaded.gates.all():
            raise ValueError("feature gates cannot be changed while a scheduler runs")
        if not self.configurations.is_prepared(loaded):
            self.configurations.prepare(loaded, self.configurations.in_force.extender_client)
        self.inbox.post(Reconfigured(loaded))

    def _reconfigured(self, loaded: Loaded) -> None:
        """Swap profiles, extenders and the queue's order; binding cycles under way end under the old configuration."""
        in_force = self.configurations.put_in_force(loaded)
        engine, client = in_force.engine, in_force.extender_client
        engine.take_charge()
        self._loop_context.engine = engine
        self._context = CycleContext(engine, self._context.pick)
        if self._pod_groups is not None:
            self._pod_groups.context = self._context
        self.bindings.use(client.bind if client is not None else None)
        self.queue.reconfigure(engine.profiles, *in_force.queue_settings, self.now())
        self.event_handlers.serve(engine.profiles)
        self.evictions.retry_all()
        self._plugin_tasks.start()
        self._release()

    def _release(self) -> None:
        """Release retired configurations that no binding cycle is under way under."""
        self.configurations.release(self.bindings.generations)

    # -- events

    def _handlers_of_events(self) -> Mapping[type[Any], Callable[[Any], object]]:
        """Return the handler of each kind of event."""
        bindings, preemptions = self.bindings, self.engine.services.preemptions
        return {
            Put: lambda event: self._put(event.obj),
            Dropped: lambda event: self.event_handlers.drop(event.obj),
            Unreadable: lambda event: self.cluster.objects.unreadable.mark(event.kind, event.full_name, event.reason),
            Permitted: lambda event: bindings.permitted(event.uid),
            BindingDone: lambda event: bindings.done(event.uid),
            BindingVerified: lambda event: bindings.verified(event.uid),
            BindingFailed: lambda event: bindings.failed(event.uid, event.why),
            LastVictim: lambda event: preemptions.last_victim(event.preemptor_uid, event.victim_uid),
            PreemptionEnded: lambda event: preemptions.end(event.preemptor_uid),
            Activate: lambda event: self.queue.activate(event.uids, self.now()),
            Tick: lambda _: self.queue.flush(self.now()),
            Reconfigured: lambda event: self._reconfigured(event.configuration),
            Call: lambda event: event.function(),
        }

    def apply(self, event: LoopEvent) -> None:
        """Apply an event to the cluster and the queue; no cycle is running, except for events of evictions."""
        self._record(event)
        self._handlers[type(event)](event)
        if type(event) in ENDS_OF_BINDINGS:
            self._release()

    def _put(self, obj: ApiObject) -> None:
        nodes = self.cluster.table.node_count
        try:
            self.event_handlers.put(obj)
        except InvalidObjectError as error:
            # one object must not affect others
            self._note(f"{type(obj).__name__} {obj.full_name} cannot be understood and is left out: {error}")
        if self.cluster.table.node_count > nodes:
            self.evictions.retry_all()

    # -- the loop

    async def run(self) -> None:
        """Schedule until stopped."""
        self._plugin_tasks.start()
        try:
            await self._turn()
        finally:
            if self._alarm is not None:
                self._alarm.cancel()
            await self._plugin_tasks.stop()

    async def _turn(self) -> None:
        next_flush = self.now()
        while not self._stopping:
            self.turns += 1
            if not self.inbox.drain(self.apply, self.now() + SLICE_SECONDS, self.now):
                # a long list: let other tasks run in between
                await asyncio.sleep(0)
                continue
            if self.now() >= next_flush:
                self.apply(Tick())
                next_flush = self.now() + TICK_SECONDS
            if await self._slice():
                await asyncio.sleep(0)
            else:
                await self._rest(next_flush)

    async def _rest(self, next_flush: float) -> None:
        """Wait for an event; also for the next flush, if pods wait for time to pass or nothing may be scheduled yet."""
        if self._alarm is None and (self.queue.waits_for_flush or not self._may_schedule()):
            self._alarm = asyncio.get_running_loop().call_at(next_flush, self._ring)
        await self.inbox.rest()

    def _ring(self) -> None:
        self._alarm = None
        self.inbox.wake()

    async def settle(self) -> None:
        """Wait until no binding, preemption or other task is under way and the inbox is empty."""
        while len(self._tasks) or len(self.inbox):
            await self._tasks.one_done()
            await asyncio.sleep(0)

    async def _slice(self) -> bool:
        """Schedule pods for a few milliseconds; return whether there may be more."""
        if not self._may_schedule():
            return False
        end = self.now() + SLICE_SECONDS
        while not len(self.inbox):
            if self._sending >= MOST_BINDINGS:
                self._tasks.awaited = True
                return False
            if not await self._next():
                return False
            if self.now() >= end:
                return True
        return True

    def _may_schedule(self) -> bool:
        """Return whether pods may be scheduled now."""
        return not self._held and all(condition() for condition in self._conditions)

    async def attempt_next(self) -> bool:
        """Pop a pod and run the scheduling cycle of it or its group; return whether there was one."""
        queued = self.queue.pop_active()
        if queued is not None:
            await self._begin_attempt(queued)
            return True
        # differs (D-049): the reference makes early attempts without a limit
        if not self._early_attempts.available or (queued := self.queue.pop_backing_off()) is None:
            return False
        began = self.busy_time()
        await self._begin_attempt(queued)
        self._early_attempts.charge(began, self.busy_time())
        return True

    async def _begin_attempt(self, queued: QueuedPod) -> None:
        """Schedule a popped pod, alone or with its group."""
        self._record(Attempt(queued.uid))
        if self._pod_groups is not None and group_of(queued.pod) is not None:
            await self._pod_groups.attempt(queued)
        else:
            await self._attempt(queued)

    async def _attempt(self, queued: QueuedPod) -> None:
        began = self.busy_time()
        attempt = begin_attempt(queued, self._observers, self.engine.generation)
        try:
            outcome: Outcome = await self._drive(schedule(self._context, attempt))
        except BaseException as raised:
            if is_called_off(raised):
                raise
            # an internal error fails this attempt; the loop goes on
            outcome = Failed(attempt, SCHEDULER_ERROR, f"internal error: {described(raised)}")
        note_duration((attempt,), self.busy_time() - began, self._note)
        if isinstance(outcome, Placed):
            self.bindings.begin(outcome)
        elif isinstance(outcome, Skipped):
            self.queue.done(queued.uid)
            self._observers.attempt_skipped(queued.pod)
        else:
            self._failures.fail(outcome)

    async def _drive(self, cycle: Asking[T], pods: int = 1) -> T:
        """Run the scheduling cycle of some pods; call extenders for it."""
        if self._attempt_seconds:
            await asyncio.sleep(self._attempt_seconds * pods)
        return await answered(cycle, self._ask)

    async def _ask(self, question: ExtenderArgs) -> ExtenderResult:
        """Call an extender; return its result."""
        client = self.configurations.in_force.extender_client
        assert client is not None, "extenders are configured but there is no client to call them"
        prioritizing = isinstance(question, ExtenderPrioritizeArgs)
        began = self.now()
        self.asking += 1
        self.prioritizing += prioritizing
        try:
            return told(self._observers, question, await client.ask(question), self.now() - began)
        finally:
            self._asked_seconds += self.now() - began
            self.asking -= 1
            self.prioritizing -= prioritizing


def _first(count: int) -> int:
    """Return the index of the first of equally good nodes."""
    return 0


def _queue_settings(engine: Engine, options: LoopOptions) -> QueueSettings:
    """Return the hints and the options of the queue for an engine's configuration."""
    config, gates, observers = engine.loaded.config, engine.loaded.gates, engine.services.observers
    pop_early = gates.enabled("SchedulerPopFromBackoffQ")
    backoff = BackoffPolicy(config.pod_initial_backoff_seconds, config.pod_max_backoff_seconds, pop_early)
    hints, groups = gates.enabled("SchedulerQueueingHints"), gates.enabled("GenericWorkload")
    requeueing = QueueingHints(engine.profiles, HintOptions(bool(config.extenders), groups, hints), observers)
    return requeueing, QueueOptions(backoff, options.max_in_unschedulable_seconds, pop_early)
