"""The engine alone: the scheduler's loop in real time over an API in memory, in this process.

From objects to reports, without requests. The measurement covers deciding, assuming, binding and processing reports.
"""

import asyncio
import resource
import sys
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from datetime import timedelta

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.common.notes import Note
from kubesched.common.virtual_time import BEGINNING
from kubesched.config.load import Loaded
from kubesched.core.assembly import engine_of, scheduler_of
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import SCHEDULED, Bound, FailedAttempt, Observer, Observers
from kubesched.core.loop.loop_waits import LoopServices
from kubesched.core.loop.scheduler import LoopOptions
from kubesched_lab.bench.errors import BenchError
from kubesched_lab.bench.figures import Usage, spread_of
from kubesched_lab.bench.pod_book import PodBook
from kubesched_lab.bench.target import AttemptFigures
from kubesched_lab.simulate.simulated_api import Pace, SimulatedApi
from kubesched_lab.simulate.traces.perf.admitted import AdmittedObjects
from kubesched_lab.simulate.traces.perf.made_object import MadeObject
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival

replace = msgspec.structs.replace
# ru_maxrss is in KiB on Linux and in bytes on macOS
_RSS_UNIT = 1 << 20 if sys.platform == "darwin" else 1 << 10
# number of objects that are reported before other tasks run
_AT_ONCE = 500


class _BookKeeper:
    """Reports the state of pods in the API to a PodBook."""

    def __init__(self, book: PodBook) -> None:
        self._book = book
        self._now = time.perf_counter

    def arrived(self, pod: Pod) -> None:
        gated = bool(pod.spec.scheduling_gates)
        self._book.created(pod.namespace, pod.name, pod.metadata.labels, self._now(), attempted=gated)

    def bound(self, pod: Pod) -> None:
        self._book.bound(pod.namespace, pod.name, self._now())

    def ended(self, pod: Pod) -> None:
        self._book.gone(pod.namespace, pod.name)

    def lost(self, pod: Pod) -> None:
        self._book.gone(pod.namespace, pod.name)

    def node_changed(self, old: Node | None, new: Node | None) -> None:
        pass


class _AttemptObserver(Observer):
    """Counts attempts and records their durations during a measurement."""

    def __init__(self, book: PodBook) -> None:
        self._book = book
        self.results: dict[str, int] = {}
        self.durations: list[float] = []

    def attempt_failed(self, failed: FailedAttempt) -> None:
        self._book.attempted(failed.pod.namespace, failed.pod.name)
        self.results[failed.result] = self.results.get(failed.result, 0) + 1
        self.durations.append(1000 * failed.seconds)

    def pod_bound(self, bound: Bound) -> None:
        self.results[SCHEDULED] = self.results.get(SCHEDULED, 0) + 1
        self.durations.append(1000 * bound.attempt_seconds)

    def reset(self) -> None:
        """Reset all counts."""
        self.results, self.durations = {}, []

    async def read(self) -> AttemptFigures:
        """Return the figures since the last reset."""
        return AttemptFigures(self.results, spread_of(self.durations))


class _Objects:
    """Objects that are ready to be reported to the scheduler."""

    def __init__(self, objects: list[ApiObject], api: SimulatedApi) -> None:
        self._objects = objects
        self._api = api

    async def create(self) -> None:
        for place, obj in enumerate(self._objects, 1):
            self._api.apply(PodArrival(0.0, obj) if isinstance(obj, Pod) else ObjectPut(0.0, obj))
            if place % _AT_ONCE == 0:
                await asyncio.sleep(0)


class EngineTarget:
    """The engine, its API in memory, and the pods there."""

    def __init__(self, api: SimulatedApi, book: PodBook, observer: _AttemptObserver) -> None:
        self.book = book
        self.scheduling: asyncio.Task[None] | None = None
        self._api = api
        self._observer = observer
        self._admitted = AdmittedObjects()

    def prepared(self, objects: Iterable[list[MadeObject]]) -> _Objects:
        """Admit objects, and return them ready for creation."""
        return _Objects([obj for each in objects for made in each for obj in self._admitted.admit(made)], self._api)

    async def update(self, made: MadeObject, subresources: list[str]) -> None:
        """Update an object."""
        for obj in self._admitted.admit(made):
            self._api.apply(ObjectPut(0.0, obj))

    async def delete(self, made: MadeObject) -> None:
        """Delete an object."""
        full_name = f"{made.namespace}/{made.name}" if made.namespace else made.name
        if made.kind == "Pod":
            await self.delete_pods(made.namespace, [made.name])
        else:
            self._api.apply(ObjectDeletion(0.0, made.kind, full_name))

    async def delete_pods(self, namespace: str, names: list[str], *, at_once: bool = False) -> None:
        """Delete pods, and the claims that were created for them; pods with finalizers become terminating."""
        for name in names:
            pod = self._api.pods.get(f"{namespace}/{name}")
            if pod is None:
                continue
            if pod.metadata.finalizers:
                self._api.put(replace(pod, metadata=replace(pod.metadata, deletion_timestamp=self._api.date)))
                continue
            self._api.apply(ObjectDeletion(0.0, "Pod", pod.full_name))
            for status in pod.status.resource_claim_statuses:
                self._api.apply(ObjectDeletion(0.0, "ResourceClaim", f"{namespace}/{status.resource_claim_name}"))

    def usage(self) -> Usage:
        """Return the resource usage of this process so far."""
        return Usage(time.process_time(), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * _RSS_UNIT / (1 << 20))

    async def meter(self) -> _AttemptObserver:
        """Start to measure attempts."""
        self._observer.reset()
        return self._observer

    def check(self) -> None:
        """Raise BenchError if the scheduler has ended."""
        if self.scheduling is not None and self.scheduling.done():
            raise BenchError(f"the scheduler has ended: {self.scheduling.exception()}")


class EngineFactory(msgspec.Struct, frozen=True):
    """Starts engines with a configuration."""

    loaded: Loaded
    registry: Registry
    seed: int = 0
    note: Note = lambda line: None

    @asynccontextmanager
    async def running(self) -> AsyncIterator[EngineTarget]:
        """Run an engine until the block ends."""
        loop = asyncio.get_running_loop()
        began = loop.time()
        services = LoopServices(self.note, lambda: BEGINNING + timedelta(seconds=loop.time() - began))
        book = PodBook()
        observer = _AttemptObserver(book)
        api = SimulatedApi(Pace(recreate=False), _BookKeeper(book), services.inbox)
        engine = engine_of(
            self.loaded,
            self.registry,
            effects=api,
            waits=services.waits,
            waiting_pods=services.waiting_pods,
            observers=Observers([observer], clock=time.perf_counter, note=self.note),
            background=services.plugin_tasks,
        )
        scheduler = scheduler_of(engine, services, options=LoopOptions(seed=self.seed))
        target = EngineTarget(api, book, observer)
        target.scheduling = loop.create_task(scheduler.run())
        try:
            yield target
        finally:
            scheduler.stop()
            await asyncio.wait([target.scheduling])
