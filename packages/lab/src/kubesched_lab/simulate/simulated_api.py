"""The cluster around a simulated scheduler: it stores objects, ends pods when their time is over, and reports changes.

From the trace and the scheduler's effects to reports, in virtual time. It stands for the API server (`object_store` has
the rules), for kubelets (a pod ends when its time is over), and for controllers (an evicted pod, or a pod of
a deleted node, is created again).
"""

import asyncio
from collections import Counter
from datetime import datetime, timedelta
from typing import Any, Protocol, TypeVar, cast

import msgspec

from kubesched.api.devices import ResourceClaim
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod, PodStatus
from kubesched.api.storage import PersistentVolumeClaim
from kubesched.common.virtual_time import BEGINNING
from kubesched.core.framework.values.effects import Effect, EffectError
from kubesched.core.loop.inbox import Inbox
from kubesched.core.loop.loop_events import Dropped, Put
from kubesched.core.object_store import ObjectStore
from kubesched_lab.simulate.claims import claims_of, owning_pod, released, with_decisions
from kubesched_lab.simulate.traces.trace import ClusterEvent, ObjectDeletion, ObjectPut, PodArrival, Trace
from kubesched_lab.simulate.volumes import volumes_after

replace = msgspec.structs.replace
T = TypeVar("T", bound=ApiObject)


class Pace(msgspec.Struct, frozen=True):
    """Durations of an attempt, a binding, a container's start and its end; and whether lost pods are created again."""

    attempt_seconds: float = 0.0
    binding_seconds: float = 0.0
    starting_seconds: float = 0.0
    stopping_seconds: float = 0.0
    # None: yes, unless the trace has the pods that controllers created in their place
    recreate: bool | None = None


def pace_of(pace: Pace, trace: Trace) -> Pace:
    """Return a pace; if it leaves the recreation of lost pods open, the trace decides."""
    return pace if pace.recreate is not None else replace(pace, recreate=not trace.has_replacements)


class PodsWatcher(Protocol):
    """An observer of pods and nodes, for figures."""

    def arrived(self, pod: Pod) -> None:
        """Handle a pod that was created."""

    def bound(self, pod: Pod) -> None:
        """Handle a pod that was bound to its node."""

    def ended(self, pod: Pod) -> None:
        """Handle a pod that ran to its end, or was deleted."""

    def lost(self, pod: Pod) -> None:
        """Handle a running pod that was evicted, or lost its node."""

    def node_changed(self, old: Node | None, new: Node | None) -> None:
        """Handle a node that joined, changed or left."""


class _Running(msgspec.Struct):
    """A pod with its run time, and the timer of its end."""

    runs: float | None
    timer: asyncio.TimerHandle | None = None
    # the number of times that it was created again
    lives: int = 0


class SimulatedApi(ObjectStore):
    """Objects by kind and name, with their life cycles; carries out the scheduler's effects."""

    def __init__(self, pace: Pace, watcher: PodsWatcher, inbox: Inbox) -> None:
        super().__init__()
        self.grace_seconds = pace.stopping_seconds
        self._pace = pace
        self._watcher = watcher
        self._inbox = inbox
        self._loop = asyncio.get_running_loop()
        self._began = self._loop.time()
        self.pods: dict[str, Pod] = {}
        self._objects: dict[tuple[str, str], ApiObject] = {}
        self._claims: dict[str, PersistentVolumeClaim] = {}
        self._running: dict[str, _Running] = {}
        self._on_node: dict[str, dict[str, None]] = {}
        # the number of pods of a group that have not ended yet
        self._group_sizes: Counter[str] = Counter()
        # the number of bound pods with a known end in the future
        self.ends_to_come = 0
        self._all_ended: asyncio.Future[None] | None = None

    @property
    def date(self) -> datetime:
        """Return the simulated date."""
        return BEGINNING + timedelta(seconds=self._loop.time() - self._began)

    # -- events of the trace

    def apply(self, event: ClusterEvent) -> None:
        """Apply an event of the trace."""
        if isinstance(event, PodArrival):
            self._arrive(event.pod, event.runs, 0)
        elif isinstance(event, ObjectPut):
            if isinstance(event.obj, Pod):
                self._change(event.obj)
            else:
                known = self._objects.get((type(event.obj).__name__, event.obj.full_name))
                self.put(with_decisions(known, event.obj))
        elif not self._is_in_use(event):
            self._remove(event.kind, event.full_name)

    def _is_in_use(self, event: ObjectDeletion) -> bool:
        """Return whether an object was created for an existing pod; then it is deleted with the pod."""
        obj = self._objects.get((event.kind, event.full_name))
        return obj is not None and owning_pod(obj) in self.pods

    def _change(self, pod: Pod) -> None:
        """Apply a change by a user or controller to a pod, if the pod still exists."""
        known = self.pods.get(pod.full_name)
        if known is None:
            return
        metadata = replace(known.metadata, labels=pod.metadata.labels, annotations=pod.metadata.annotations)
        spec = replace(pod.spec, node_name=known.spec.node_name)
        status = replace(known.status, resource_claim_statuses=pod.status.resource_claim_statuses)
        self._put(replace(known, metadata=metadata, spec=spec, status=status))

    def _arrive(self, pod: Pod, runs: float | None, lives: int) -> None:
        known = self.pods.get(pod.full_name)
        if known is not None:
            if pod.metadata.uid in ("", known.metadata.uid):
                return
            # in the recorded cluster, the former pod of that name had ended by now
            self._remove_pod(known)
            self._watcher.ended(known)
        self._running[pod.full_name] = _Running(runs, None, lives)
        if pod.spec.scheduling_group is not None and not lives:
            self._group_sizes[_group_of(pod)] += 1
        uid = pod.metadata.uid or (f"{pod.full_name}#{lives}" if lives else pod.full_name)
        stored = self._put(pod, uid=uid, creation_timestamp=self.date)
        self._watcher.arrived(stored)
        if stored.spec.node_name:
            self._pod_bound(stored)

    def run_seconds(self, full_name: str) -> float | None:
        """Return the run time of a pod after its binding; None without an end, or without such a pod."""
        running = self._running.get(full_name)
        return running.runs if running is not None else None

    def put(self, obj: ApiObject) -> None:
        """Create or replace an object."""
        self._put(obj)

    def _put(self, obj: T, **metadata: Any) -> T:
        is_dated = isinstance(obj, Pod) or obj.metadata.creation_timestamp is not None
        if not is_dated and self._find(type(obj).__name__, obj.full_name) is None:
            metadata["creation_timestamp"] = self.date
        return super()._put(obj, **metadata)

    def _remove(self, kind: str, full_name: str) -> None:
        """Remove an object that the trace deletes, if it exists."""
        obj = self._find(kind, full_name)
        if isinstance(obj, Pod):
            self._remove_pod(obj)
            self._watcher.ended(obj)
            self._leave_group(obj)
        elif obj is not None:
            self._drop(obj)

    # -- objects

    def _find(self, kind: str, full_name: str) -> ApiObject | None:
        return self.pods.get(full_name) if kind == "Pod" else self._objects.get((kind, full_name))

    def _keep(self, obj: ApiObject) -> None:
        if isinstance(obj, Pod):
            self.pods[obj.full_name] = obj
            self._inbox.post(Put(obj))
            return
        key = (type(obj).__name__, obj.full_name)
        if isinstance(obj, Node):
            self._watcher.node_changed(cast(Node | None, self._objects.get(key)), obj)
        self._objects[key] = obj
        self._inbox.post(Put(obj))
        if isinstance(obj, PersistentVolumeClaim):
            self._claims[obj.full_name] = obj
        for follow_up in volumes_after(obj, self._claims):
            self._put(follow_up)

    def _drop(self, obj: ApiObject) -> None:
        if isinstance(obj, Pod):
            self._lose_pod(obj)
            return
        del self._objects[type(obj).__name__, obj.full_name]
        if isinstance(obj, PersistentVolumeClaim):
            self._claims.pop(obj.full_name, None)
        self._inbox.post(Dropped(obj))
        if isinstance(obj, Node):
            self._watcher.node_changed(obj, None)
            for full_name in list(self._on_node.get(obj.name, ())):
                self._lose_pod(self.pods[full_name])

    def _now(self) -> datetime:
        return self.date

    def _is_held(self, obj: ApiObject) -> bool:
        # the controllers of pods remove their finalizers at once
        return not isinstance(obj, Pod) and super()._is_held(obj)

    def _bound_status(self, pod: Pod) -> PodStatus:
        return replace(pod.status, nominated_node_name="", conditions=(), start_time=self.date)

    def _pod_bound(self, pod: Pod) -> None:
        """Let a bound pod run."""
        self._on_node.setdefault(pod.spec.node_name, {})[pod.full_name] = None
        self._watcher.bound(pod)
        running = self._running[pod.full_name]
        if running.runs is not None:
            self.ends_to_come += 1
            seconds = running.runs + self._pace.starting_seconds
            running.timer = self._loop.call_later(seconds, self._end_life, pod.full_name)

    # -- the lives of pods

    def _end_life(self, full_name: str) -> None:
        """End a pod whose time is over."""
        self._running[full_name].timer = None
        self._one_less_to_come()
        pod = self.pods[full_name]
        self._remove_pod(pod)
        self._watcher.ended(pod)
        if pod.spec.scheduling_group is not None:
            self._leave_group(pod)

    def _lose_pod(self, pod: Pod) -> None:
        """Remove a pod that was evicted or lost its node; its controller creates it again."""
        running = self._running[pod.full_name]
        self._remove_pod(pod)
        self._watcher.lost(pod)
        if self._pace.recreate is not False:
            spec = replace(pod.spec, node_name="")
            status = replace(pod.status, conditions=(), nominated_node_name="", start_time=None)
            again = replace(
                pod, metadata=replace(pod.metadata, uid="", deletion_timestamp=None), spec=spec, status=status
            )
            self._arrive(again, running.runs, running.lives + 1)

    def _release_claims(self, pod: Pod) -> None:
        """Release the claims of a deleted pod; delete the claims created for it."""
        for kind, full_name in claims_of(pod):
            claim = self._objects.get((kind, full_name))
            if isinstance(claim, ResourceClaim) and claim.status.allocation is not None:
                claim = self._put(released(claim, pod))
            if claim is not None and owning_pod(claim) == pod.full_name and pod.full_name not in self.pods:
                self._remove(kind, full_name)

    def _remove_pod(self, pod: Pod) -> None:
        del self.pods[pod.full_name]
        running = self._running.pop(pod.full_name)
        if running.timer is not None:
            running.timer.cancel()
            self._one_less_to_come()
        on_node = self._on_node.get(pod.spec.node_name)
        if on_node is not None:
            on_node.pop(pod.full_name, None)
            if not on_node:
                del self._on_node[pod.spec.node_name]
        self._inbox.post(Dropped(pod))
        if pod.spec.resource_claims or pod.spec.volumes:
            # only after the decision whether the pod is created again
            self._loop.call_soon(self._release_claims, pod)

    def _leave_group(self, pod: Pod) -> None:
        """Remove a pod from its group; delete the group with its last pod, as its owner does."""
        key = _group_of(pod)
        if key in self._group_sizes:
            self._group_sizes[key] -= 1
            if not self._group_sizes[key]:
                del self._group_sizes[key]
                self._remove("PodGroup", key)

    def _one_less_to_come(self) -> None:
        self.ends_to_come -= 1
        if not self.ends_to_come and self._all_ended is not None:
            self._all_ended.set_result(None)
            self._all_ended = None

    async def until_all_ended(self) -> None:
        """Wait until no bound pod has an end in the future."""
        if self.ends_to_come:
            self._all_ended = self._loop.create_future()
            await self._all_ended

    # -- effects of the scheduler

    async def perform(self, effect: Effect) -> ApiObject | None:
        """Carry out an effect; raises EffectError if it is refused."""
        if self._pace.binding_seconds:
            await asyncio.sleep(self._pace.binding_seconds)
        return self._carry_out(effect)

    def submit(self, *effects: Effect) -> None:
        """Carry out effects in the background; after a refused one, drop the rest."""
        self._loop.call_soon(self._carry_out_all, effects)

    def _carry_out_all(self, effects: tuple[Effect, ...]) -> None:
        for effect in effects:
            try:
                self._carry_out(effect)
            except EffectError:
                return


def _group_of(pod: Pod) -> str:
    """Return namespace and name of a pod's group."""
    group = pod.spec.scheduling_group
    return f"{pod.metadata.namespace}/{group.pod_group_name}" if group is not None else ""
