"""The API of a cluster in memory: objects, bindings with their preconditions, and reports, good and bad.

From the effects of a scheduler to objects, by the rules of `object_store`, and back to reports. On request it is slow,
refuses requests, loses responses, and reports late, twice or not at all. It has no controllers and no kubelets: only
the test creates and ends pods.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from datetime import datetime
from random import Random

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.core.framework.values.effects import Bind, Delete, Effect, EffectError, Emit, Evict
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.object_store import ObjectStore
from kubesched.testing.builders import DELETED_AT
from kubesched.testing.pod_lookup import PodEvent, PodLookup


class FakeApi(ObjectStore, PodLookup):
    """Objects by (kind, namespace/name), and the scheduler that they are reported to.

    The kind of a custom object is in the notation of plugins: `foos.v1.example.com`.
    """

    def __init__(self, seed: int = 0) -> None:
        super().__init__()
        self.objects: dict[tuple[str, str], ApiObject] = {}
        # the recorded events
        self.events: list[Emit] = []
        # findings of the queue's validation after a step
        self.invalid: list[str] = []
        # lines of the scheduler's log
        self.notes: list[str] = []
        # actions of the scheduler, in order
        self.performed: list[Effect] = []
        self.bindings: dict[str, str] = {}
        self.scheduler: Scheduler | None = None
        self.random = Random(seed)
        self._reports: deque[Callable[[], None]] = deque()
        self._reported_until = 0.0
        # faults, all off at first: why an effect is refused
        self.refuse: Callable[[Effect], str] = lambda effect: ""
        # whether the response to a completed effect is lost
        self.lose_answer: Callable[[Effect], bool] = lambda effect: False
        # duration of an effect
        self.effect_seconds = 0.01
        # delay of the report of an object
        self.report_seconds: Callable[[], float] = lambda: 0.0
        # whether an object is reported not at all, or twice
        self.lose_report: Callable[[ApiObject], bool] = lambda obj: False
        self.repeat_report: Callable[[ApiObject], bool] = lambda obj: False

    # -- actions of the test

    def put(self, *objects: ApiObject) -> None:
        """Create or replace objects; every write gives an object a new version."""
        for obj in objects:
            self._put(obj)

    def delete(self, kind: str, full_name: str) -> None:
        """Delete an object, if it exists: `delete("Pod", "default/web")`; a pod may terminate for a while."""
        obj = self.objects.get((kind, full_name))
        if obj is not None and obj.metadata.deletion_timestamp is not None and not self.grace_seconds:
            # the test created it as terminating, and ends it as a kubelet does
            self._drop(obj)
        elif obj is not None:
            super()._end(obj)

    def pod(self, name: str, namespace: str = "default") -> Pod | None:
        """Return the current state of a pod, None if it does not exist."""
        found = self.objects.get(("Pod", f"{namespace}/{name}"))
        return found if isinstance(found, Pod) else None

    def pods(self) -> list[Pod]:
        """Return all pods."""
        return [obj for obj in self.objects.values() if isinstance(obj, Pod)]

    def events_of(self, name: str, namespace: str = "default") -> list[PodEvent]:
        """Return the events about a pod, the oldest first."""
        about = (emit for emit in self.events if emit.regarding.full_name == f"{namespace}/{name}")
        return [PodEvent(emit.reason, emit.note) for emit in about]

    @property
    def evicted(self) -> list[str]:
        """Return the names of the pods that the scheduler deleted or evicted, in order."""
        return [effect.name for effect in self.performed if isinstance(effect, Delete | Evict)]

    @property
    def bound(self) -> list[str]:
        """Return the names of the pods in the order in which they were bound."""
        return [effect.name for effect in self.performed if isinstance(effect, Bind)]

    def relist(self) -> None:
        """Report all current objects, and the deletion of missing ones, as a client does after a gap."""
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
        assert self.scheduler is not None, "give it a scheduler first"
        return self.scheduler

    # -- reports

    def _report(self, obj: ApiObject, *, gone: bool) -> None:
        if self.scheduler is None or self.lose_report(obj):
            return
        tell = self.scheduler.drop if gone else self.scheduler.put
        loop = self._timers()
        for _ in range(2 if self.repeat_report(obj) else 1):
            # late, but never before earlier events: a watch is a stream
            self._reported_until = max(loop.time() + self.report_seconds(), self._reported_until)
            self._reports.append(lambda: tell(obj))
            loop.call_at(self._reported_until, self._deliver)

    def _deliver(self) -> None:
        """Deliver the oldest report: timers of one moment have no order, but reports do."""
        self._reports.popleft()()
        self._validate()

    def _validate(self) -> None:
        """Record an inconsistent queue; an exception in a timer's callback would be lost."""
        if self.scheduler is not None:
            try:
                self.scheduler.queue.validate()
            except AssertionError as invalid:
                self.invalid.append(str(invalid))

    # -- actions of the scheduler

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
            raise EffectError("the connection broke before the response arrived")
        return result

    def submit(self, *effects: Effect) -> None:
        """Carry out effects in the background."""

        async def work() -> None:
            for effect in effects:
                await self.perform(effect)

        task = asyncio.get_running_loop().create_task(work())
        task.add_done_callback(lambda done: done.cancelled() or done.exception())

    # -- objects

    def _find(self, kind: str, full_name: str) -> ApiObject | None:
        return self.objects.get((kind, full_name))

    def _keep(self, obj: ApiObject) -> None:
        self.objects[type(obj).__name__, obj.full_name] = obj
        self._report(obj, gone=False)

    def _drop(self, obj: ApiObject) -> None:
        self._report(self.objects.pop((type(obj).__name__, obj.full_name)), gone=True)

    def _end(self, obj: ApiObject) -> None:
        # tests replace `delete`, for example to create evicted pods again
        self.delete(type(obj).__name__, obj.full_name)

    def _now(self) -> datetime:
        return DELETED_AT

    def _pod_bound(self, pod: Pod) -> None:
        assert pod.uid not in self.bindings, "an API server binds a pod once"
        self.bindings[pod.uid] = pod.spec.node_name

    def _record(self, emit: Emit) -> None:
        self.events.append(emit)
