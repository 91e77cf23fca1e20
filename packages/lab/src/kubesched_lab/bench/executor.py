"""Runs a workload: its operations, one after the other, with churns and slow deletions in the background.

From a workload and a target to measurements. Operations wait by polling the `PodBook` 20 times a second.
"""

# upstream: test/integration/scheduler_perf/executor.go (v1.36)

import asyncio
import gc
from collections.abc import Callable, Iterable

from kubesched.common.notes import Note
from kubesched_lab.bench.errors import BenchError
from kubesched_lab.bench.figures import Measured
from kubesched_lab.bench.measuring import Measurement
from kubesched_lab.bench.pod_book import Labels
from kubesched_lab.bench.target import BenchTarget
from kubesched_lab.simulate.traces.perf.made_object import MadeObject
from kubesched_lab.simulate.traces.perf.objects import WorkloadObjects
from kubesched_lab.simulate.traces.perf.operations import (
    AllocResourceClaims,
    Churn,
    CreateAny,
    CreateNamespaces,
    CreateNodes,
    CreatePods,
    CreateResourceClaims,
    CreateResourceDriver,
    DeletePods,
    Operation,
    Pause,
    PodBarrier,
    StartCollecting,
    StopCollecting,
    UpdateAny,
    seconds_of,
)
from kubesched_lab.simulate.traces.perf.perf_cases import PerfRun
from kubesched_lab.simulate.traces.perf.perf_trace import CHURN_MILLISECONDS

LOOK_SECONDS = 0.05
# the timeout of the reference for pods
PATIENCE_SECONDS = 600.0


async def run_workload(
    run: PerfRun, target: BenchTarget, tell: Note = lambda line: None, patience: float = PATIENCE_SECONDS
) -> list[Measured]:
    """Run a workload on a target; return its measurements. Raises BenchError, TraceError."""
    executor = _Executor(run, target, tell, patience)
    try:
        return await executor.run()
    finally:
        await executor.end()


class _Executor:
    """Carries out the operations of one workload."""

    def __init__(self, run: PerfRun, target: BenchTarget, tell: Note, patience: float) -> None:
        self._run = run
        self._target = target
        self._tell = tell
        self._patience = patience
        self._made = WorkloadObjects(run)
        self._measurement: Measurement | None = None
        self._measured: list[Measured] = []
        self._beside: list[asyncio.Task[None]] = []
        self._namespaces: set[str] = set()
        # pods that no operation has waited for, by namespace
        self._open: dict[str, int] = {}

    async def run(self) -> list[Measured]:
        """Carry out all operations."""
        for place, operation in enumerate(self._run.operations):
            self._tell(f"op {place}: {operation.__struct_config__.tag}")
            try:
                await self._carry_out(operation, place)
            except BenchError as error:
                raise BenchError(f"{self._run.name}: op {place}: {error}") from None
        return self._measured

    async def end(self) -> None:
        """End the background tasks of operations."""
        self._target.book.watched = None
        for task in self._beside:
            task.cancel()
        await asyncio.gather(*self._beside, return_exceptions=True)

    async def _carry_out(self, operation: Operation, place: int) -> None:
        match operation:
            case CreateNodes():
                await self._create(self._made.nodes(operation, place))
            case CreateNamespaces():
                for made in self._made.namespaces(operation):
                    await self._require(made.name, made)
            case CreatePods():
                await self._create_pods(operation, operation.namespace or f"namespace-{place}")
            case CreateAny() | CreateResourceClaims():
                await self._require(operation.namespace)
                await self._create(self._made.any(operation))
            case UpdateAny():
                await self._update(operation)
            case CreateResourceDriver() | AllocResourceClaims():
                await self._carry_out_of_devices(operation)
            case DeletePods():
                await self._delete_pods(operation)
            case Churn():
                namespace = operation.namespace or f"namespace-{place}"
                await self._require(namespace)
                self._beside.append(asyncio.create_task(self._churn(operation, namespace)))
            case PodBarrier():
                await self._pass_barrier(operation)
            case Pause():
                await asyncio.sleep(seconds_of(operation))
            case StartCollecting():
                await self._start(operation.name, operation.namespaces, operation.label_selector)
            case StopCollecting():
                await self._stop()

    async def _carry_out_of_devices(self, operation: CreateResourceDriver | AllocResourceClaims) -> None:
        if isinstance(operation, CreateResourceDriver):
            await self._create(self._made.slices(operation))
            return
        for made in self._made.allocated(operation):
            await self._target.update(made, ["status"])

    # -- objects

    async def _create(self, objects: Iterable[MadeObject]) -> None:
        await self._target.prepared([made] for made in objects).create()

    async def _require(self, namespace: str, made: MadeObject | None = None) -> None:
        """Create a namespace unless it exists."""
        if namespace and namespace not in self._namespaces:
            self._namespaces.add(namespace)
            self._open.setdefault(namespace, 0)
            document = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
            await self._create([made or MadeObject(document, "namespace")])

    async def _update(self, operation: UpdateAny) -> None:
        await self._require(operation.namespace)
        for made in self._made.any(operation):
            if operation.update_per_second:
                await asyncio.sleep(1 / operation.update_per_second)
            await self._target.update(made, operation.subresources)

    async def _churn(self, churn: Churn, namespace: str) -> None:
        """Create, or create and delete in turns, until the workload ends."""
        seconds = (churn.interval_milliseconds or CHURN_MILLISECONDS) / 1000
        slots: list[list[MadeObject]] = [[] for _ in range(churn.number)]
        turn = 0
        while not (churn.mode == "create" and 0 < churn.number <= turn):
            await asyncio.sleep(seconds)
            slot = slots[turn % churn.number] if churn.mode == "recreate" else []
            if slot:
                for made in slot:
                    await self._target.delete(made)
                slot.clear()
            else:
                slot += self._made.churned(churn, namespace)
                await self._create(slot)
            turn += 1

    # -- pods

    async def _create_pods(self, operation: CreatePods, namespace: str) -> None:
        await self._require(namespace)
        prepared = self._target.prepared(self._made.pods(operation, namespace))
        if operation.collect_metrics:
            await self._start(namespace, [namespace], {})
        book = self._target.book
        if operation.steady_state:
            await self._keep_steady(operation, namespace)
        else:
            await prepared.create()
            if operation.skip_wait_to_completion:
                self._open[namespace] = self._open.get(namespace, 0) + operation.count
            else:
                await self._until(lambda: book.scheduled(namespace, {}), operation.count, namespace)
        if operation.collect_metrics:
            await self._stop()

    async def _keep_steady(self, operation: CreatePods, namespace: str) -> None:
        """Create pods; when all are bound, replace them with new ones, for the duration of the operation."""
        book, total = self._target.book, 0
        try:
            async with asyncio.timeout(seconds_of(operation)):
                while True:
                    await self._target.prepared(self._made.pods(operation, namespace)).create()
                    while book.scheduled(namespace, {}) < operation.count:
                        self._target.check()
                        await asyncio.sleep(0.001)
                    total += operation.count
                    names = book.names(namespace, {})
                    await self._target.delete_pods(namespace, names, at_once=True)
        except TimeoutError:
            pass
        if not total and not book.scheduled(namespace, {}):
            raise BenchError(f"no pod of namespace {namespace} was scheduled in {operation.duration}")

    async def _delete_pods(self, operation: DeletePods) -> None:
        names = self._target.book.names(operation.namespace, operation.label_selector)
        deleting = self._delete(operation.namespace, names, operation.delete_pods_per_second)
        if operation.skip_wait_to_completion:
            self._beside.append(asyncio.create_task(deleting))
        else:
            await deleting

    async def _delete(self, namespace: str, names: list[str], a_second: int) -> None:
        if not a_second:
            await self._target.delete_pods(namespace, names)
            return
        for name in names:
            await asyncio.sleep(1 / a_second)
            await self._target.delete_pods(namespace, [name])

    async def _pass_barrier(self, barrier: PodBarrier) -> None:
        for namespace in barrier.namespaces or list(self._open):
            if namespace not in self._open:
                raise BenchError(f"no operation has created the namespace {namespace}")
            await self._until(self._counted(barrier, namespace), self._open[namespace], namespace)
            if barrier.stage_requirement == "Scheduled":
                self._open[namespace] = 0

    def _counted(self, barrier: PodBarrier, namespace: str) -> Callable[[], int]:
        book, selector = self._target.book, barrier.label_selector
        if barrier.stage_requirement == "Attempted":
            return lambda: book.tried(namespace, selector)
        return lambda: book.scheduled(namespace, selector)

    async def _until(self, count: Callable[[], int], wanted: int, namespace: str) -> None:
        """Wait until a number of pods are counted; raises BenchError if none is added for too long."""
        loop = asyncio.get_running_loop()
        last, since = -1, loop.time()
        while (found := count()) < wanted:
            self._check()
            if found != last:
                last, since = found, loop.time()
            elif loop.time() - since > self._patience:
                raise BenchError(
                    f"{found} of {wanted} pods of namespace {namespace} are scheduled, and no more for "
                    f"{self._patience:g} s"
                )
            await asyncio.sleep(LOOK_SECONDS)

    def _check(self) -> None:
        """Raise the error of a background task, or of the scheduler."""
        self._target.check()
        for task in self._beside:
            if task.done() and not task.cancelled():
                task.result()

    # -- measuring

    async def _start(self, name: str, namespaces: Iterable[str], selector: Labels) -> None:
        if self._measurement is not None:
            raise BenchError("measuring has begun already; stopCollectingMetrics comes first")
        gc.collect()
        self._measurement = await Measurement.begin(name, namespaces, selector, self._target)

    async def _stop(self) -> None:
        if self._measurement is None:
            raise BenchError("measuring has not begun; startCollectingMetrics comes first")
        self._measured.append(await self._measurement.end(self._run))
        self._measurement = None
