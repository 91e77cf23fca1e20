"""A small world for a living scheduler: objects, bindings with their preconditions, and reports, good and bad.

From effects to objects and back to reports, in virtual time. It keeps the promises of an API server that scheduling
relies on (one binding per pod, by UID), and on request it is slow, refuses, loses answers, and reports late, twice or
not at all.
"""

import asyncio
from collections import deque
from collections.abc import Awaitable, Callable, Collection
from datetime import UTC, datetime, timedelta
from random import Random

import msgspec
from tests.support.virtual_time import run_in_virtual_time

from kubesched.api.codec import decode, to_builtins
from kubesched.api.merging import strategic_merge
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import build_engine, build_scheduler
from kubesched.core.framework.effects import (
    Bind,
    ConflictError,
    Delete,
    Effect,
    EffectError,
    Emit,
    NotFoundError,
    Patch,
    Read,
    Write,
)
from kubesched.core.framework.observer import NOBODY, Observer, Observers
from kubesched.core.framework.registry import Registry
from kubesched.core.loop.comparer import compare
from kubesched.core.loop.loop_events import Recorded
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.loop.scheduler import ExtenderClient, LoopOptions, Scheduler
from kubesched.core.queue.queued_pod import Place
from kubesched.core.scheduling.decision import decide

Refuse = Callable[[Effect], str]

# the date at the beginning of virtual time
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


class World:
    """Objects by (kind, namespace/name), and a scheduler that is told of them."""

    def __init__(self, seed: int = 0) -> None:
        self.objects: dict[tuple[str, str], ApiObject] = {}
        self.events: list[Emit] = []
        # what the queue's validation found after a step
        self.invalid: list[str] = []
        # what the scheduler noted for its log
        self.notes: list[str] = []
        self.performed: list[Effect] = []
        self.bindings: dict[str, str] = {}
        self.scheduler: Scheduler | None = None
        self.random = Random(seed)
        self._version = 0
        self._reports: deque[Callable[[], None]] = deque()
        self._reported_until = 0.0
        # faults, all off to begin with
        self.refuse: Refuse = lambda effect: ""
        self.lose_answer: Callable[[Effect], bool] = lambda effect: False
        self.effect_seconds = 0.01
        self.report_seconds: Callable[[], float] = lambda: 0.0
        self.lose_report: Callable[[ApiObject], bool] = lambda obj: False
        self.repeat_report: Callable[[ApiObject], bool] = lambda obj: False

    # -- what people do

    def put(self, obj: ApiObject) -> None:
        """Create or replace an object; every write gives it a new version."""
        self._version += 1
        metadata = msgspec.structs.replace(obj.metadata, resource_version=str(self._version))
        stored = msgspec.structs.replace(obj, metadata=metadata)
        self.objects[type(obj).__name__, obj.full_name] = stored
        self._report(stored, gone=False)

    def delete(self, kind: str, full_name: str) -> None:
        """Delete an object, if it is there."""
        obj = self.objects.pop((kind, full_name), None)
        if obj is not None:
            self._report(obj, gone=True)

    def pod(self, name: str, namespace: str = "default") -> Pod | None:
        """Return a pod as it is now."""
        found = self.objects.get(("Pod", f"{namespace}/{name}"))
        return found if isinstance(found, Pod) else None

    def node_of(self, name: str) -> str:
        """Return where a pod is, or an empty text."""
        pod = self.pod(name)
        return pod.spec.node_name if pod is not None else ""

    def pods(self) -> list[Pod]:
        """Return all pods."""
        return [obj for obj in self.objects.values() if isinstance(obj, Pod)]

    def relist(self) -> None:
        """Report everything as it is, and the absence of what is gone, as a client does after a gap."""
        scheduler = self._scheduler()
        known: list[ApiObject] = [info.pod for info in scheduler.event_handlers.known_pods()]
        known += [node for node in scheduler.cluster.table.nodes if node is not None]
        for obj in self.objects.values():
            scheduler.put(obj)
        for obj in known:
            current = self.objects.get((type(obj).__name__, obj.full_name))
            if current is None or current.uid != obj.uid:
                scheduler.drop(obj)

    def _scheduler(self) -> Scheduler:
        assert self.scheduler is not None, "give the world a scheduler first"
        return self.scheduler

    # -- reports

    def _report(self, obj: ApiObject, *, gone: bool) -> None:
        if self.scheduler is None or self.lose_report(obj):
            return
        tell = self.scheduler.drop if gone else self.scheduler.put
        loop = asyncio.get_running_loop()
        for _ in range(2 if self.repeat_report(obj) else 1):
            # late, but never before what happened earlier: a watch is a stream
            self._reported_until = max(loop.time() + self.report_seconds(), self._reported_until)
            self._reports.append(lambda: tell(obj))
            loop.call_at(self._reported_until, self._deliver)

    def _deliver(self) -> None:
        """Deliver the oldest report; timers of one moment have no order, reports have."""
        self._reports.popleft()()
        self._validate()

    def _validate(self) -> None:
        """Take note of a queue that contradicts itself; in a timer's callback an exception would be lost."""
        if self.scheduler is not None:
            try:
                self.scheduler.queue.validate()
            except AssertionError as invalid:
                self.invalid.append(str(invalid))

    # -- what the scheduler does

    async def perform(self, effect: Effect) -> ApiObject | None:
        """Carry out an effect, or refuse it."""
        await asyncio.sleep(self.effect_seconds)
        refused = self.refuse(effect)
        if refused:
            raise EffectError(refused)
        self.performed.append(effect)
        result = self._carry_out(effect)
        self._validate()
        if self.lose_answer(effect):
            raise EffectError("the connection broke before the answer came")
        return result

    def submit(self, *effects: Effect) -> None:
        """Carry out effects without anybody waiting for them."""

        async def work() -> None:
            for effect in effects:
                await self.perform(effect)

        task = asyncio.get_running_loop().create_task(work())
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    def _carry_out(self, effect: Effect) -> ApiObject | None:
        if isinstance(effect, Bind):
            self._bind(effect)
        elif isinstance(effect, Patch):
            return self._patch(effect)
        elif isinstance(effect, Delete):
            found = self.objects.get((effect.kind, f"{effect.namespace}/{effect.name}"))
            if found is not None and found.uid == effect.uid:
                self.delete(effect.kind, found.full_name)
        elif isinstance(effect, Read):
            return self.objects.get((effect.kind, f"{effect.namespace}/{effect.name}"))
        elif isinstance(effect, Emit):
            self.events.append(effect)
        elif isinstance(effect, Write):
            return self._write(effect)
        return None

    def _write(self, write: Write) -> ApiObject:
        obj = write.obj
        if write.create and not obj.name:
            made_up = f"{obj.metadata.generate_name}{self._version}"
            meta = msgspec.structs.replace(obj.metadata, name=made_up, uid=f"uid-of-{made_up}")
            obj = msgspec.structs.replace(obj, metadata=meta)
        key = type(obj).__name__, obj.full_name
        found = self.objects.get(key)
        if not write.create:
            if found is None:
                raise NotFoundError(f"{key[0]} {obj.full_name} not found")
            if obj.metadata.resource_version != found.metadata.resource_version:
                raise ConflictError(f"{key[0]} {obj.full_name} has been modified")
        self.put(obj)
        return self.objects[key]

    def _bind(self, bind: Bind) -> None:
        pod = self.pod(bind.name, bind.namespace)
        if pod is None or pod.uid != bind.uid:
            raise NotFoundError(f"pods {bind.name!r} not found")
        if pod.spec.node_name:
            raise EffectError(f"pod {bind.name} is already assigned to node {pod.spec.node_name!r}", final=True)
        if pod.terminating or pod.spec.scheduling_gates:
            raise EffectError(f"pod {bind.name} cannot be bound", final=True)
        assert bind.uid not in self.bindings, "an API server binds a pod once"
        self.bindings[bind.uid] = bind.node_name
        spec = msgspec.structs.replace(pod.spec, node_name=bind.node_name)
        status = msgspec.structs.replace(pod.status, nominated_node_name="")
        self.put(msgspec.structs.replace(pod, spec=spec, status=status))

    def _patch(self, patch: Patch) -> ApiObject:
        full_name = f"{patch.namespace}/{patch.name}" if patch.namespace else patch.name
        found = self.objects.get((patch.kind, full_name))
        uid = patch.body.get("metadata", {}).get("uid")
        if found is None or (uid and uid != found.uid):
            raise NotFoundError(f"{patch.kind.lower()}s {patch.name!r} not found")
        body = {key: value for key, value in patch.body.items() if key != "metadata"}
        metadata = {key: value for key, value in patch.body.get("metadata", {}).items() if key in ("annotations",)}
        patched = decode(strategic_merge(to_builtins(found), {**body, "metadata": metadata}))
        self.put(patched)
        return self.objects[patch.kind, full_name]


def assert_settled(world: World, scheduler: Scheduler) -> None:
    """Hold what must hold when nothing is under way: every pod in one place, nothing overcommitted or left over."""
    scheduler.queue.validate()
    assert not world.invalid, world.invalid
    assert not scheduler.busy, "something is still under way"
    table, queue = scheduler.cluster.table, scheduler.queue
    for pod in world.pods():
        queued = queue.get(pod.uid)
        if pod.spec.node_name:
            assert queued is None, f"{pod.full_name} is bound and still queued"
            assert pod.uid in table.pods, f"{pod.full_name} is bound and not accounted"
        else:
            assert pod.uid not in table.pods, f"{pod.full_name} holds a place that nobody knows of"
            assert queued is not None, f"{pod.full_name} is lost"
            assert queued.place is not Place.IN_FLIGHT, f"{pod.full_name} is stuck"
    known = {pod.uid for pod in world.pods()}
    assert set(table.pods) <= known, "pods that are gone hold places"
    assert {queued.uid for queued in queue.pods()} <= known, "pods that are gone are queued"
    for row in table.present_rows().tolist():
        free = [table.scalars.free(row, name) for name in table.scalars.asked[row]]
        free += (table.allocatable[:, row] - table.requested[:, row]).tolist()
        assert min(free) >= 0, f"{table.names[row]} is overcommitted"
    waiting = {pod.uid for pod in world.pods() if not pod.spec.node_name and not pod.terminal}
    assert set(scheduler.cluster.pending) == waiting, "the cluster knows who waits"
    wrong = compare(world.objects.values(), scheduler.cluster, queue, scheduler.engine.profiles)
    assert not wrong, wrong


def assert_nobody_waits_in_vain(world: World) -> None:
    """Hold that no waiting pod fits anywhere, judged anew from what there is."""
    fresh = build_engine()
    for obj in world.objects.values():
        fresh.cluster.add(obj)
    for pod in list(fresh.cluster.pending.values()):
        if not pod.spec.scheduling_gates:
            decision = decide(fresh.evaluation_of(pod), lambda n: 0)
            assert not decision.node_name, f"{pod.full_name} fits on {decision.node_name} and waits all the same"


Story = Callable[[World, Scheduler], Awaitable[None]]


def live(
    story: Story,
    *,
    seed: int = 0,
    config: str | None = None,
    gates: FeatureGates | None = None,
    registry: Registry | None = None,
    extender_client: Callable[[World], ExtenderClient] | None = None,
    observers: Collection[Observer] = (),
    record: list[Recorded] | None = None,
) -> World:
    """Play a story in a new world with a living scheduler, in virtual time; hold what must hold in the end.

    After every step (a report delivered, an effect carried out) the queue is validated. `registry` brings plugins of
    the story's own, `extender_client` makes what answers for the extenders, `observers` see every plugin
    timed, `record` gets the events of the loop.
    """

    async def play() -> World:
        world = World(seed)
        clock = asyncio.get_running_loop().time
        watchers = Observers(observers, clock=clock, note=world.notes.append, sampled=lambda: True)
        scheduler = world.scheduler = build_scheduler(
            world,
            config,
            gates,
            registry,
            options=LoopOptions(seed=seed),
            extender_client=extender_client(world) if extender_client else None,
            services=LoopServices(
                world.notes.append,
                lambda: BEGINNING + timedelta(seconds=clock()),
                lambda event: record.append((clock(), event)) if record is not None else None,
            ),
            observers=watchers if observers else NOBODY,
        )
        running = asyncio.get_running_loop().create_task(scheduler.run())
        try:
            await story(world, scheduler)
            await asyncio.sleep(30)
            assert_settled(world, scheduler)
        finally:
            scheduler.stop()
            await running
        return world

    return run_in_virtual_time(play())
