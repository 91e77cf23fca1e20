"""Workloads of scheduler_perf as traces in virtual time.

From a workload to events: operations follow each other, and operations that wait for pods take a second, the polling
interval of the reference. Churns continue until the last operation. Scheduling takes no simulated time.
"""

from collections.abc import Iterator

import msgspec

from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.common.notes import Note
from kubesched.config.errors import ConfigError
from kubesched.config.feature_gates import FeatureGates
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.perf.admitted import AdmittedObjects
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
    UpdateAny,
    seconds_of,
)
from kubesched_lab.simulate.traces.perf.perf_cases import PerfRun
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace, TraceEvent

# duration of an operation that waits for pods
WAIT_SECONDS = 1.0
CHURN_MILLISECONDS = 500
# limit of events, which are sorted in memory
MOST_EVENTS = 5_000_000
replace = msgspec.structs.replace


def trace_of_perf(run: PerfRun, note: Note = lambda line: None) -> Trace:
    """Return a workload as a trace, and log the parts that the trace does not have. Raises TraceError."""
    for line in notes_of(run):
        note(line)

    def events(seed: int) -> Iterator[TraceEvent]:
        return iter(_PerfTrace(run).events())

    return Trace(f"{run.file.name}: {run.name}", events)


def notes_of(run: PerfRun) -> Iterator[str]:
    """Yield notes about settings of a workload that are not operations."""
    if run.unused_params:
        yield f"{run.name}: no operation uses the parameter {', '.join(run.unused_params)}"
    gates = ",".join(f"{name}={str(on).lower()}" for name, on in run.feature_gates.items() if _is_news(name, on))
    if gates:
        yield f"{run.name}: it is meant for --feature-gates {gates}"
    if run.scheduler_config is not None:
        yield f"{run.name}: it is meant for --config {run.scheduler_config}"


def _is_news(gate: str, on: bool) -> bool:
    """Return whether a gate differs from its default."""
    try:
        return FeatureGates.parse(f"{gate}={str(on).lower()}", ()).enabled(gate) != FeatureGates.parse("", ()).enabled(
            gate
        )
    except ConfigError:
        return False


class _PerfTrace:
    """Converts operations to events."""

    def __init__(self, run: PerfRun) -> None:
        self._run = run
        self._made = WorkloadObjects(run)
        self._admitted = AdmittedObjects()
        self._at = 0.0
        self._events: list[TraceEvent] = []
        # the existing pods of each namespace, with their labels
        self._pods: dict[str, dict[str, dict[str, str]]] = {}
        self._churns: list[tuple[float, Churn, str]] = []

    def events(self) -> list[TraceEvent]:
        """Return all events in the order of time."""
        for place, operation in enumerate(self._run.operations):
            self._carry_out(operation, place)
        for begins, churn, namespace in self._churns:
            self._churn(begins, churn, namespace)
        return sorted(self._events, key=lambda event: event.at)

    def _carry_out(self, operation: Operation, place: int) -> None:
        match operation:
            case CreateNodes():
                self._create(self._made.nodes(operation, place))
            case CreateNamespaces():
                self._create(self._made.namespaces(operation))
            case CreatePods():
                self._create_pods(operation, operation.namespace or f"namespace-{place}")
            case CreateAny() | CreateResourceClaims():
                self._create(self._made.any(operation))
            case UpdateAny():
                self._update(operation)
            case CreateResourceDriver():
                self._create(self._made.slices(operation))
            case AllocResourceClaims():
                self._create(self._made.allocated(operation))
            case DeletePods():
                self._delete_pods(operation)
            case Churn():
                self._churns.append((self._at, operation, operation.namespace or f"namespace-{place}"))
            case PodBarrier():
                self._at += WAIT_SECONDS
            case Pause():
                self._at += seconds_of(operation)

    def _create(self, objects: Iterator[MadeObject]) -> None:
        for made in objects:
            for obj in self._admitted.admit(made):
                self._put(obj)

    def _put(self, obj: ApiObject) -> None:
        if isinstance(obj, Pod):
            self._pods.setdefault(obj.namespace, {})[obj.name] = dict(obj.metadata.labels)
            self._add(PodArrival(self._at, obj))
        else:
            self._add(ObjectPut(self._at, obj))

    def _add(self, event: TraceEvent) -> None:
        if len(self._events) >= MOST_EVENTS:
            raise TraceError(f"{self._run.file.name}: {self._run.name}: has more than {MOST_EVENTS} events; shorten it")
        self._events.append(event)

    def _create_pods(self, operation: CreatePods, namespace: str) -> None:
        ends = self._at + seconds_of(operation)
        while True:
            for objects in self._made.pods(operation, namespace):
                self._create(iter(objects))
            if not operation.skip_wait_to_completion:
                self._at += WAIT_SECONDS
            if not operation.steady_state or self._at >= ends:
                return
            # all are bound: the next ones replace them
            for name in list(self._pods.get(namespace, {})):
                self._delete(self._at, namespace, name)

    def _delete(self, at: float, namespace: str, name: str) -> None:
        del self._pods[namespace][name]
        self._add(ObjectDeletion(at, "Pod", f"{namespace}/{name}"))

    def _delete_pods(self, operation: DeletePods) -> None:
        wanted = operation.label_selector.items()
        names = [name for name, labels in self._pods.get(operation.namespace, {}).items() if wanted <= labels.items()]
        at, step = self._at, 1 / operation.delete_pods_per_second if operation.delete_pods_per_second else 0.0
        for name in names:
            at += step
            self._delete(at, operation.namespace, name)
        if not operation.skip_wait_to_completion:
            self._at = at

    def _update(self, operation: UpdateAny) -> None:
        step = 1 / operation.update_per_second if operation.update_per_second else 0.0
        for made in self._made.any(operation):
            self._at += step
            for obj in self._admitted.admit(made):
                self._add(ObjectPut(self._at, obj))

    def _churn(self, begins: float, churn: Churn, namespace: str) -> None:
        """Create, or create and delete in turns, the objects of a churn until the last operation ends."""
        step = (churn.interval_milliseconds or CHURN_MILLISECONDS) / 1000
        ends, turn = self._at, 0
        slots: list[list[ApiObject]] = [[] for _ in range(churn.number)]
        while begins + (turn + 1) * step <= ends and not (churn.mode == "create" and 0 < churn.number <= turn):
            self._at = begins + (turn + 1) * step
            slot = slots[turn % churn.number] if churn.mode == "recreate" else []
            if slot:
                for obj in slot:
                    self._add(ObjectDeletion(self._at, type(obj).__name__, obj.full_name))
                slot.clear()
            else:
                for made in self._made.churned(churn, namespace):
                    for obj in self._admitted.admit(made):
                        self._put(obj)
                        slot.append(obj)
            turn += 1
        self._at = ends
