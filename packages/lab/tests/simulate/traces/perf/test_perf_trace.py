"""Workloads of scheduler_perf as traces: every opcode, in virtual time."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from kubesched.api.devices import ResourceClaim
from kubesched.api.nodes import Node
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.errors import KubeschedError
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.simulated_api import Pace
from kubesched_lab.simulate.simulation import Run, simulate
from kubesched_lab.simulate.traces.perf import perf_trace
from kubesched_lab.simulate.traces.reading import read_traces
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace

DATA = Path(__file__).parent / "data"
FILE = DATA / "performance-config.yaml"
ALL_EVENTS = """\
0 Node node-0-0
0 Node node-0-1
0 Node node-0-2
0 Node large-1
0 CSINode large-1
0 Namespace team-0
0 Namespace team-1
0 Pod team-0/web-0
0 Pod team-1/web-1
1 ResourceSlice large-1
1 DeviceClass gpu
1 ResourceClaim team-0/claim-0
1 ResourceClaim team-0/claim-0
1 PersistentVolumeClaim measured/pvc-0
1 PersistentVolume measured-vol-0
1 Pod measured/web-2
1 PersistentVolumeClaim measured/pvc-1
1 PersistentVolume measured-vol-1
1 Pod measured/web-3
1.8 Service namespace-10/service-0
2.25 delete Pod measured/web-2
2.5 delete Pod measured/web-3
2.6 delete Service namespace-10/service-0
3 Node large-1
3 Pod steady/web-4
3.4 Service namespace-10/service-1
4 delete Pod steady/web-4
4 Pod steady/web-5
4.2 delete Service namespace-10/service-1
5 Service namespace-10/service-2
"""


def shown(trace: Trace) -> Iterator[str]:
    for event in trace.events(0):
        if isinstance(event, PodArrival):
            yield f"{event.at:g} Pod {event.pod.full_name}"
        elif isinstance(event, ObjectPut):
            yield f"{event.at:g} {type(event.obj).__name__} {event.obj.full_name}"
        else:
            assert isinstance(event, ObjectDeletion)
            yield f"{event.at:g} delete {event.kind} {event.full_name}"


@pytest.fixture(scope="module")
def trace() -> Trace:
    return read_traces([f"{FILE}#AllOfThem/small"])


def test_operations_become_events(trace: Trace) -> None:
    assert "\n".join(shown(trace)) + "\n" == ALL_EVENTS


def test_objects_are_as_templates_and_strategies_say(trace: Trace) -> None:
    events = list(trace.events(0))
    nodes = [event.obj for event in events if isinstance(event, ObjectPut) and isinstance(event.obj, Node)]
    assert [node.metadata.labels.get("topology.kubernetes.io/zone") for node in nodes[:3]] == ["one", "two", "one"]
    assert {node.name: node.metadata.labels["kubernetes.io/hostname"] for node in nodes[:3]} == {
        name: name for name in ("node-0-0", "node-0-1", "node-0-2")
    }
    assert nodes[3].status.allocatable == {"cpu": "8", "memory": "64Gi", "pods": "110", "example.com/gpu": "2"}
    pods = [event.pod for event in events if isinstance(event, PodArrival)]
    assert pods[0].spec.priority == 7
    assert pods[0].spec.topology_spread_constraints[0].node_affinity_policy == "Honor"
    claims = [pod.spec.volumes[0].persistent_volume_claim for pod in pods if pod.namespace == "measured"]
    assert [claim.claim_name for claim in claims if claim] == ["pvc-0", "pvc-1"]
    devices = [e.obj for e in events if isinstance(e, ObjectPut) and isinstance(e.obj, ResourceClaim)][-1]
    assert devices.status.allocation is not None
    assert devices.status.allocation.devices.results[0].device == "instance-0"


def test_all_pods_of_a_workload_are_bound_in_virtual_time(trace: Trace) -> None:
    figures = simulate(Run(trace, load_config(), Registry(), pace=Pace(recreate=False)))
    assert figures.pods["bound"] == 6


def test_what_the_trace_does_not_have_is_noted() -> None:
    notes: list[str] = []
    read_traces([str(FILE)], note=notes.append, workload="AllOfThem/larger")
    assert notes == ["AllOfThem/larger: it is meant for --feature-gates SchedulerAsyncPreemption=false"]


@pytest.mark.parametrize(
    ("template", "problem"),
    [
        (None, "C/w: template pod.yaml: No such file or directory"),
        ("", "pod.yaml: expected an object with apiVersion and kind"),
        ("a: [", "pod.yaml: yaml: "),
        ("kind: Node", "pod.yaml: kind is 'Node'; expected Pod"),
        ("metadata: 3", "pod.yaml: metadata: expected a mapping"),
        ("metadata:\n  name: {{ .Other }}", "pod.yaml, line 2: {{.Other}} has .Other; fields are .Index, .Count"),
        ("spec: {containers: 3}", "pod.yaml: "),
        ("spec: {containers: [{name: a, image: b, colour: red}]}", 'unknown field "spec.containers[0].colour"'),
    ],
)
def test_templates_with_mistakes_are_told(template: str | None, problem: str, tmp_path: Path) -> None:
    if template is not None:
        (tmp_path / "pod.yaml").write_text(template)
    with pytest.raises(KubeschedError) as raised:
        list(read_traces([write_case(tmp_path, "pod.yaml")]).events(0))
    assert problem in str(raised.value)


def write_case(folder: Path, path: str) -> str:
    """Write a file whose pods have a template, and return its name."""
    file = folder / "cases.yaml"
    file.write_text(
        "[{name: C, workloads: [{name: w}], workloadTemplate: "
        f"[{{opcode: createPods, count: 1, podTemplatePath: {path}, collectMetrics: true}}]}}]"
    )
    return str(file)


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (os.mkfifo, "a named pipe"),
        (lambda path: path.symlink_to("/dev/zero"), "a device"),
        (lambda path: path.mkdir(), "a folder"),
    ],
)
def test_a_template_that_might_never_end_is_not_read(make: Callable[[Path], None], what: str, tmp_path: Path) -> None:
    make(tmp_path / "pod.yaml")
    with pytest.raises(KubeschedError, match=f"C/w: template pod.yaml: is {what}; give a regular file"):
        list(read_traces([write_case(tmp_path, "pod.yaml")]).events(0))


def test_a_template_of_a_folder_above_is_read_unless_the_file_is_alone(tmp_path: Path) -> None:
    (tmp_path / "pod.yaml").write_text("metadata: {generateName: a-}\nspec: {containers: [{name: c, image: i}]}")
    (tmp_path / "cases").mkdir()
    file = write_case(tmp_path / "cases", "../pod.yaml")
    assert len(list(read_traces([file]).events(0))) == 1
    with pytest.raises(KubeschedError, match=r"it names another file, \.\./pod.yaml, which a page does not read"):
        list(read_traces([file], alone=True).events(0))


def test_a_workload_that_goes_on_for_too_long_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(perf_trace, "MOST_EVENTS", 1000)
    file = tmp_path / "cases.yaml"
    file.write_text(
        "[{name: C, workloads: [{name: w}], workloadTemplate: [{opcode: createPods, count: 1, collectMetrics: true,"
        " steadyState: true, duration: 100000h}]}]"
    )
    with pytest.raises(KubeschedError, match=r"cases\.yaml: C/w: has more than 1000 events; shorten it"):
        list(read_traces([str(file)]).events(0))


def test_a_file_of_several_workloads_needs_a_name() -> None:
    with pytest.raises(
        TraceError, match=r"there are 3 workloads; choose one .*AllOfThem/small, AllOfThem/larger, Short"
    ):
        read_traces([str(FILE)])
