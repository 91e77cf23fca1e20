"""The API of a cluster in memory: objects, bindings with their preconditions, and reports, good and bad.

From the effects of a scheduler to objects and back to reports. It keeps the promises of an API server that scheduling
relies on (one binding per pod, by UID). On request it is slow, refuses requests, loses responses, and reports late,
twice or not at all. It has no controllers and no kubelets: only the test creates and ends pods.
"""

import asyncio
from collections import deque
from collections.abc import Callable
from random import Random

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.api.patching import patched
from kubesched.api.pods import Pod
from kubesched.core.framework.effects import (
    Bind,
    ConflictError,
    Delete,
    Effect,
    EffectError,
    Emit,
    Evict,
    NotFoundError,
    Patch,
    Read,
    Write,
)
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing.builders import DELETED_AT
from kubesched.testing.pod_lookup import PodEvent, PodLookup


class FakeApi(PodLookup):
    """Objects by (kind, namespace/name), and the scheduler that they are reported to.

    The kind of a custom object is in the notation of plugins: `foos.v1.example.com`.
    """

    def __init__(self, seed: int = 0) -> None:
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
        self._version = 0
        self._reports: deque[Callable[[], None]] = deque()
        self._reported_until = 0.0
        # termination time of a deleted pod
        self.grace_seconds = 0.0
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

    def _timers(self) -> asyncio.AbstractEventLoop:
        return asyncio.get_running_loop()

    # -- actions of the test

    def put(self, *objects: ApiObject) -> None:
        """Create or replace objects; every write gives an object a new version."""
        for obj in objects:
            self._version += 1
            metadata = msgspec.structs.replace(obj.metadata, resource_version=str(self._version))
            stored = msgspec.structs.replace(obj, metadata=metadata)
            self.objects[type(obj).__name__, obj.full_name] = stored
            self._report(stored, gone=False)

    def delete(self, kind: str, full_name: str) -> None:
        """Delete an object, if it exists: `delete("Pod", "default/web")`; a pod may terminate for a while."""
        obj = self.objects.get((kind, full_name))
        if isinstance(obj, Pod) and self.grace_seconds:
            if not obj.terminating:
                metadata = msgspec.structs.replace(obj.metadata, deletion_timestamp=DELETED_AT)
                self.put(msgspec.structs.replace(obj, metadata=metadata))
                self._timers().call_later(self.grace_seconds, self._vanish, kind, full_name)
        else:
            self._vanish(kind, full_name)

    def _vanish(self, kind: str, full_name: str) -> None:
        obj = self.objects.pop((kind, full_name), None)
        if obj is not None:
            self._report(obj, gone=True)

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

    def _carry_out(self, effect: Effect) -> ApiObject | None:
        if isinstance(effect, Bind):
            self._bind(effect)
        elif isinstance(effect, Patch):
            return self._patch(effect)
        elif isinstance(effect, Delete):
            found = self.objects.get((effect.kind, f"{effect.namespace}/{effect.name}"))
            if found is not None and found.uid == effect.uid:
                self.delete(effect.kind, found.full_name)
        elif isinstance(effect, Evict):
            return self._carry_out(Delete("Pod", effect.namespace, effect.name, effect.uid))
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
        change = {**body, "metadata": metadata}
        self.put(patched(found, change))
        return self.objects[patch.kind, full_name]
