"""Files of scheduler_perf: test cases, workloads and parameters, and what is said of files that have mistakes."""

from pathlib import Path
from typing import Any

import pytest

from kubesched.config.document import parse_yaml as parse
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.perf.operations import CreateNodes, CreatePods, Pause, PodBarrier
from kubesched_lab.simulate.traces.perf.perf_cases import labelled, picked, read_runs, runs_of, the_one

FILE = Path(__file__).parent / "data" / "performance-config.yaml"


def test_a_file_is_read_with_parameters_filled_in() -> None:
    small, larger, short = read_runs(FILE)
    assert [small.name, larger.name, short.name] == ["AllOfThem/small", "AllOfThem/larger", "Short/small"]
    nodes, sets = small.operations[0], small.operations[3:5]
    assert isinstance(nodes, CreateNodes)
    assert nodes.count == 3
    assert [each.namespace for each in sets if isinstance(each, CreatePods)] == ["team-0", "team-1"]
    assert PodBarrier(namespaces=["team-0"], stage_requirement="Attempted") in small.operations
    assert Pause(duration="500ms") in small.operations
    assert small.labels == {"integration-test", "short"}
    assert larger.feature_gates == {"DynamicResourceAllocation": True, "SchedulerAsyncPreemption": False}
    # of several thresholds, that of the file's folder
    assert (small.threshold, larger.threshold, short.threshold) == (12.5, 30, 0)


def test_workloads_are_picked_by_name_and_label() -> None:
    runs = read_runs(FILE)
    assert [run.name for run in picked(runs, "AllOfThem", "f")] == ["AllOfThem/small", "AllOfThem/larger"]
    assert [run.name for run in picked(runs, "small", "f")] == ["AllOfThem/small", "Short/small"]
    assert the_one(runs, "larger", "f").name == "AllOfThem/larger"
    assert [run.name for run in labelled(runs, "integration-test,-performance")] == ["AllOfThem/small"]
    with pytest.raises(TraceError, match="there is no workload 'other'; there are AllOfThem/small, AllOfThem/larger"):
        the_one(runs, "other", "f")
    with pytest.raises(TraceError, match="there are 3 workloads; choose one with --workload, or as FILE#NAME: AllOf"):
        the_one(runs, "", "f")


def case(*operations: str, workload: str = "{name: w}", **fields: Any) -> list[Any]:
    """Return a file with one test case, which has these operations before one that measures."""
    measured = "{opcode: createPods, count: 1, collectMetrics: true}"
    template = [parse(operation) for operation in (*operations, measured)]
    return [{"name": "C", "workloadTemplate": template, "workloads": [parse(workload)], **fields}]


@pytest.mark.parametrize(
    ("document", "problem"),
    [
        ([], "f.yaml: expected a list of test cases"),
        ([3], "f.yaml: test case 0: Expected `object`, got `int`"),
        ([{"name": "C", "workloads": []}], "f.yaml: C: Object missing required field `workloadTemplate`"),
        (case(), ""),
        (case(unknown=1), "f.yaml: C: Object contains unknown field `unknown`"),
        (case(workload="{name: w, other: 1}"), "unknown field `other` - at `$.workloads[0]`"),
        (case() * 2, "f.yaml: there are two workloads C/w; names must differ"),
        (case("{count: 3}"), "f.yaml: C: op 0: expected an operation with an `opcode`"),
        (case("{opcode: deleteNodes}"), "f.yaml: C: op 0: there is no opcode 'deleteNodes'; opcodes are createNodes"),
        (case("{opcode: [a]}"), "f.yaml: C: op 0: there is no opcode ['a']"),
        (case("{opcode: createNodes, number: 3}"), "C: op 0 (createNodes): Object contains unknown field `number`"),
        (case("{opcode: createNodes, count: many}"), "op 0 (createNodes): Expected `int`, got `str` - at `$.count`"),
        (case("{opcode: createNodes, count: -1}"), "op 0 (createNodes): count is -1; expected a number from 0"),
        (
            case("{opcode: createNodes, count: 99999999999}"),
            "count is 99999999999; expected a number from 0 to 1000000",
        ),
        (case("{opcode: createNodes, countParam: size}"), "countParam is 'size'; expected a parameter such as $size"),
        (
            case("{opcode: createNodes, countParam: $size}", workload="{name: w, params: {m: 1}}"),
            "f.yaml: C/w: op 0 (createNodes): countParam $size: the workload has no parameter 'size'; it has m",
        ),
        (
            case("{opcode: createNodes, countParam: $size}", workload="{name: w, params: {size: three}}"),
            "parameter size is 'three'; expected a whole number",
        ),
        (case("{opcode: sleep, duration: 3 days}"), "op 0 (sleep): duration: time: unknown unit"),
        (case("{opcode: sleep, duration: -3s}"), "duration is -3s, which is negative"),
        (case("{opcode: createPods, steadyState: true}"), "steadyState needs a duration"),
        (
            case("{opcode: createPods, collectMetrics: true, skipWaitToCompletion: true}"),
            "collectMetrics and skipWaitToCompletion cannot both be true",
        ),
        (case("{opcode: churn, mode: other, templatePaths: [a]}"), "mode is 'other'; expected create or recreate"),
        (case("{opcode: churn, mode: recreate, templatePaths: [a]}"), "number is 0; expected a number from 1"),
        (
            case("{opcode: churn, mode: recreate, number: 99999999999, templatePaths: [a]}"),
            "number is 99999999999; expected a number from 0 to 1000000",
        ),
        (case("{opcode: churn, mode: create, templatePaths: []}"), "templatePaths is empty"),
        (case("{opcode: barrier, stageRequirement: Done}"), "stageRequirement is 'Done'; expected Scheduled or"),
        (case("{opcode: startCollectingMetrics, namespaces: []}"), "namespaces is empty"),
        (case("{opcode: deletePods, namespace: a, deletePodsPerSecond: -1}"), "deletePodsPerSecond is -1"),
        (
            [{"name": "C", "workloadTemplate": [{"opcode": "sleep"}], "workloads": [{"name": "w"}]}],
            "f.yaml: C: no operation measures; expected collectMetrics: true",
        ),
    ],
)
def test_mistakes_are_told_with_test_case_operation_and_field(document: Any, problem: str) -> None:
    if not problem:
        assert runs_of(document, Path("f.yaml"))
        return
    with pytest.raises(TraceError) as raised:
        runs_of(document, Path("f.yaml"))
    assert problem in str(raised.value)


def test_files_that_cannot_be_read_are_told(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"missing\.yaml: "):
        read_runs(tmp_path / "missing.yaml")
    torn = tmp_path / "torn.yaml"
    torn.write_text("- name: [")
    with pytest.raises(TraceError, match=r"torn\.yaml: .*line 2"):
        read_runs(torn)


def test_parameters_that_no_operation_uses_are_known() -> None:
    (run,) = runs_of(case(workload="{name: w, params: {other: 1}}"), Path("f.yaml"))
    assert run.unused_params == ("other",)
