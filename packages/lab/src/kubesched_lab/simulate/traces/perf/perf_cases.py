"""Files of scheduler_perf: test cases, each with its operations and with workloads that give them sizes.

    - name: SchedulingBasic
      workloadTemplate:
      - {opcode: createNodes, countParam: $initNodes}
      - {opcode: createPods, countParam: $measurePods, collectMetrics: true}
      workloads:
      - {name: 500Nodes, params: {initNodes: 500, measurePods: 1000}}

From a file to its workloads, and from a name to the matching ones. Paths in a file are relative to its folder.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kubesched.common.files import UnusableFileError, read_at_most
from kubesched.config.document import DocumentError, parse
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.perf.operations import (
    CreatePods,
    CreatePodSets,
    Operation,
    StopCollecting,
    operation_of,
    with_params,
)

LARGEST_FILE = 1 << 24
replace = msgspec.structs.replace


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A part of a file; unknown fields are errors."""


class MetricSelector(_Strict, frozen=True):
    """The figure that a threshold applies to."""

    name: str = "SchedulingThroughput"
    labels: dict[str, str] = {}
    data_bucket: str = "Average"
    expect_lower: bool = False


class PerfWorkload(_Strict, frozen=True):
    """Sizes for the operations of a test case."""

    name: str
    params: dict[str, Any] = {}
    labels: list[str] = []
    threshold: float | dict[str, float] = 0.0
    threshold_metric_selector: MetricSelector | None = None
    feature_gates: dict[str, bool] = {}


class _TestCaseEntry(_Strict, frozen=True):
    name: str
    workload_template: list[Any]
    workloads: list[PerfWorkload]
    feature_gates: dict[str, bool] = {}
    metrics_collector_config: dict[str, Any] | None = None
    scheduler_config_path: str = ""
    default_pod_template_path: str | None = None
    labels: list[str] = []
    default_threshold_metric_selector: MetricSelector | None = None


class PerfRun(msgspec.Struct, frozen=True):
    """A workload of a test case, ready to run: operations without parameters."""

    file: Path
    case: str
    workload: str
    operations: tuple[Operation, ...]
    labels: frozenset[str] = frozenset()
    feature_gates: dict[str, bool] = {}
    default_pod_template: str | None = None
    scheduler_config: Path | None = None
    # Go code of some test cases of the reference reads further parameters
    unused_params: tuple[str, ...] = ()
    threshold: float = 0.0
    threshold_metric: MetricSelector = MetricSelector()
    # the workload must not read other files
    alone: bool = False

    @property
    def name(self) -> str:
        """Return TestCase/workload."""
        return f"{self.case}/{self.workload}"

    def path(self, text: str) -> Path:
        """Return the file of a path in the workload; raises TraceError if the workload may not read files."""
        if self.alone:
            raise TraceError(
                f"{self.file.name}: {self.name}: it names another file, {text}, which a page does not read; "
                f"in a terminal, kubesched page --simulate '{self.file.name}#{self.name}' does"
            )
        return self.file.parent / text


def read_runs(file: Path) -> list[PerfRun]:
    """Return the workloads in a file; raises TraceError."""
    try:
        document = parse(read_at_most(file, LARGEST_FILE))
    except (UnusableFileError, DocumentError) as error:
        raise TraceError(f"{file}: {error}") from None
    return runs_of(document, file)


def are_test_cases(document: Any) -> bool:
    """Return whether a document is a list of test cases."""
    return isinstance(document, list) and any(isinstance(entry, dict) and "workloads" in entry for entry in document)


def runs_of(document: Any, file: Path) -> list[PerfRun]:
    """Return the workloads in a document; raises TraceError."""
    if not isinstance(document, list) or not document:
        raise TraceError(f"{file.name}: expected a list of test cases, each with name, workloadTemplate and workloads")
    found: dict[str, PerfRun] = {}
    for place, entry in enumerate(document):
        for run in _runs_of_case(entry, place, file):
            if run.name in found:
                raise TraceError(f"{file.name}: there are two workloads {run.name}; names must differ")
            found[run.name] = run
    return list(found.values())


def _runs_of_case(entry: Any, place: int, file: Path) -> Iterator[PerfRun]:
    named = entry.get("name") if isinstance(entry, dict) else None
    where = f"{file.name}: {named if isinstance(named, str) else f'test case {place}'}"
    try:
        case = msgspec.convert(entry, _TestCaseEntry)
    except msgspec.ValidationError as error:
        raise TraceError(f"{where}: {error}") from None
    if not case.workload_template:
        raise TraceError(f"{where}: workloadTemplate is empty")
    if not case.workloads:
        raise TraceError(f"{where}: workloads is empty")
    operations = [operation_of(each, f"{where}: op {i}") for i, each in enumerate(case.workload_template)]
    if not any(_collects(operation) for operation in operations):
        raise TraceError(
            f"{where}: no operation measures; expected collectMetrics: true, or startCollectingMetrics and "
            "stopCollectingMetrics"
        )
    for workload in case.workloads:
        yield _run(case, workload, operations, file, f"{where}/{workload.name}")


def _run(
    case: _TestCaseEntry, workload: PerfWorkload, operations: Sequence[Operation], file: Path, where: str
) -> PerfRun:
    used: set[str] = set()
    filled: list[Operation] = []
    for place, operation in enumerate(operations):
        here = f"{where}: op {place}"
        ready = with_params(operation, workload.params, used, here)
        if isinstance(ready, CreatePodSets):
            pods = with_params(ready.create_pods_op, workload.params, used, here)
            filled += (replace(pods, namespace=f"{ready.namespace_prefix}-{i}") for i in range(ready.count))
        else:
            filled.append(ready)
    return PerfRun(
        file=file,
        case=case.name,
        workload=workload.name,
        operations=tuple(filled),
        labels=frozenset([*case.labels, *workload.labels]),
        feature_gates={**case.feature_gates, **workload.feature_gates},
        default_pod_template=case.default_pod_template_path,
        scheduler_config=file.parent / case.scheduler_config_path if case.scheduler_config_path else None,
        unused_params=tuple(name for name in workload.params if name not in used),
        threshold=_threshold(workload, file),
        threshold_metric=workload.threshold_metric_selector
        or case.default_threshold_metric_selector
        or MetricSelector(),
    )


def _threshold(workload: PerfWorkload, file: Path) -> float:
    """Return the threshold; of several the one for the file's folder, which the reference calls a topic."""
    if isinstance(workload.threshold, dict):
        return workload.threshold.get(file.resolve().parent.name, 0.0)
    return workload.threshold


def _collects(operation: Operation) -> bool:
    if isinstance(operation, CreatePodSets):
        return operation.create_pods_op.collect_metrics
    return isinstance(operation, StopCollecting) or (isinstance(operation, CreatePods) and operation.collect_metrics)


def picked(runs: Sequence[PerfRun], name: str, where: str) -> list[PerfRun]:
    """Return the workloads of a name: TestCase/workload, TestCase, or the name of a workload; raises TraceError."""
    for found in (
        [run for run in runs if run.name == name],
        [run for run in runs if run.case == name],
        [run for run in runs if run.workload == name],
    ):
        if found:
            return found
    raise TraceError(f"{where}: there is no workload {name!r}; there are {names_of(runs)}")


def the_one(runs: Sequence[PerfRun], name: str, where: str) -> PerfRun:
    """Return the one workload of a name, or the only one of the file; raises TraceError."""
    found = picked(runs, name, where) if name else runs
    if len(found) > 1:
        raise TraceError(
            f"{where}: there are {len(found)} workloads{f' {name}' if name else ''}; "
            f"choose one with --workload, or as FILE#NAME: {names_of(found)}"
        )
    return found[0]


def labelled(runs: Sequence[PerfRun], labels: str) -> list[PerfRun]:
    """Return the workloads with all labels of a list such as performance,-short; a leading - excludes a label."""
    wanted = [label.strip() for label in labels.split(",") if label.strip()]
    return [run for run in runs if all((label.lstrip("+-") in run.labels) == (label[0] != "-") for label in wanted)]


def names_of(runs: Sequence[PerfRun], most: int = 40) -> str:
    """Return the names of workloads for a message."""
    names = [run.name for run in runs]
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
