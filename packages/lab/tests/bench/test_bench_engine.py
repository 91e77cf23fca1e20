"""Workloads on the engine: every opcode of the golden file, and the workloads that come with the package."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from kubesched.core.framework.building.registry import Registry
from kubesched_lab.bench.engine_runs import run_in_process
from kubesched_lab.bench.errors import BenchError
from kubesched_lab.bench.figures import RunResult
from kubesched_lab.bench.shipped import runs_named, shipped_runs
from kubesched_lab.simulate.traces.perf.perf_cases import PerfRun, labelled, read_runs, runs_of

GOLDEN = Path("packages/lab/tests/simulate/traces/perf/data/performance-config.yaml")


def ran(run: PerfRun, patience: float = 10.0) -> RunResult:
    notes: list[str] = []
    result = run_in_process(run, None, Registry(), notes.append, patience)
    assert notes == []
    return result


def run_of(*operations: Mapping[str, object], threshold: float = 0.0) -> PerfRun:
    case = {
        "name": "C",
        "workloadTemplate": list(operations),
        "workloads": [{"name": "w", "threshold": threshold}],
    }
    (run,) = runs_of([case], Path("f.yaml"))
    return run


NODES = {"opcode": "createNodes", "count": 2}
MEASURED = {"opcode": "createPods", "count": 5, "collectMetrics": True}


def test_a_workload_gives_figures() -> None:
    (measured,) = ran(run_of(NODES, MEASURED, threshold=0.001)).measured
    assert (measured.name, measured.pods, measured.attempts) == ("namespace-1", 5, {"scheduled": 5})
    assert measured.throughput is not None
    assert measured.throughput.samples == 0
    assert measured.attempt_duration is not None
    assert measured.pod_duration is not None
    assert measured.cpu_milliseconds_a_pod is not None
    assert measured.threshold is not None
    assert measured.threshold.met


def test_pods_that_fit_nowhere_are_not_waited_for_without_end() -> None:
    with pytest.raises(BenchError, match=r"C/w: op 0: 0 of 5 pods of namespace namespace-0 are scheduled, and no more"):
        ran(run_of(MEASURED), patience=0.1)


def test_measuring_needs_a_beginning_and_an_end() -> None:
    with pytest.raises(BenchError, match="op 1: measuring has not begun"):
        ran(run_of(NODES, {"opcode": "stopCollectingMetrics"}))
    start = {"opcode": "startCollectingMetrics", "namespaces": ["a"]}
    with pytest.raises(BenchError, match="op 2: measuring has begun already"):
        ran(run_of(NODES, start, start, MEASURED))
    with pytest.raises(BenchError, match="op 1: no operation has created the namespace other"):
        ran(run_of(NODES, {"opcode": "barrier", "namespaces": ["other"]}, MEASURED))


@pytest.mark.slow
def test_every_opcode_is_carried_out() -> None:
    (run,) = (run for run in read_runs(GOLDEN) if run.name == "AllOfThem/small")
    first, steady = ran(run).measured
    assert (first.name, first.pods) == ("", 2)
    assert steady.pods > 10


@pytest.mark.parametrize("name", ["SchedulingBasic/5Nodes", "PreemptionBasic/5Nodes", "SchedulingGangs/5Nodes"])
def test_a_shipped_workload_runs(name: str) -> None:
    (run,) = runs_named([name], "")
    (measured,) = ran(run).measured
    assert measured.pods >= 5


@pytest.mark.slow
@pytest.mark.parametrize("run", labelled(shipped_runs(), "short"), ids=lambda run: run.name)
def test_all_shipped_workloads_run(run: PerfRun) -> None:
    (measured,) = ran(run).measured
    assert measured.pods >= 4


def test_every_shipped_test_case_is_there_in_a_short_and_a_long_form() -> None:
    runs = shipped_runs()
    cases = {run.case for run in runs}
    assert {run.case for run in labelled(runs, "short")} == cases
    assert {run.case for run in labelled(runs, "performance")} == cases
    assert len(cases) >= 20


def test_shipped_performance_workloads_alone_carry_thresholds() -> None:
    runs = shipped_runs()
    performance = labelled(runs, "performance")
    assert not [run.name for run in runs if run.threshold and run not in performance]
    thresholds = {run.name: run.threshold for run in performance if run.threshold}
    assert len(thresholds) == 20
    # scheduler_perf at v1.37.0-rc.1
    assert thresholds["SchedulingBasic/5000Nodes_10000Pods"] == 680
    assert thresholds["SchedulingBasic/5000Nodes_50000Pods"] == 790
    assert thresholds["SchedulingDaemonset/15000Nodes"] == 1100
    assert thresholds["TopologySpreading/5000Nodes_5000Pods"] == 460
    assert thresholds["SchedulingWithResourceClaimTemplate/5000pods_500nodes"] == 56
