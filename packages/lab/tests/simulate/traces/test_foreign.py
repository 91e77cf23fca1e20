"""Files of other tools: kube-scheduler-simulator's recordings and exports, kwok's recordings, SimKube's traces."""

import gzip
from pathlib import Path
from typing import Any

import msgspec
import pytest

from kubesched.api.pods import Pod
from kubesched.errors import KubeschedError
from kubesched_lab.simulate.traces.reading import read_traces
from kubesched_lab.simulate.traces.recording.run_times import Durations
from kubesched_lab.simulate.traces.trace import ObjectDeletion, PodArrival

DATA = Path(__file__).parent / "data"
Document = dict[str, Any]


def shown(event: Any) -> tuple[Any, ...]:
    if isinstance(event, PodArrival):
        return event.at, "pod", event.pod.full_name, event.pod.spec.node_name, event.runs
    if isinstance(event, ObjectDeletion):
        return event.at, "deleted", event.kind, event.full_name
    return event.at, "changed" if isinstance(event.obj, Pod) else type(event.obj).__name__, event.obj.full_name


def events_of(path: Path, durations: Durations = Durations.COMPLETED) -> list[tuple[Any, ...]]:
    return [shown(event) for event in read_traces([str(path)], durations=durations).events(0)]


def rounded(events: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    return [tuple(round(value, 3) if isinstance(value, float) else value for value in event) for event in events]


# -- kube-scheduler-simulator


def test_records_of_the_simulator_are_replayed_without_its_decisions() -> None:
    assert rounded(events_of(DATA / "simulator-records.jsonl")) == [
        (0, "Node", "node-1"),
        (0, "Namespace", "default"),
        (0, "pod", "default/old", "node-1", None),
        (5, "pod", "default/job", "", 30),
        (60, "deleted", "Node", "node-1"),
    ]
    ends = rounded(events_of(DATA / "simulator-records.jsonl", Durations.NONE))
    assert (36, "deleted", "Pod", "default/job") in ends


RECORD = '{"time": "2026-01-01T00:00:00Z", "event": "Add", "resource": {"apiVersion": "v1", "kind": "Pod"}}\n'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (RECORD + '{"time": 3}', "line 2: Expected `datetime`, got `int` - at `$.time`"),
        (RECORD.replace("Add", "Sync"), "line 1: `event` is 'Sync'; expected Add, Update, Delete"),
        (RECORD[:40], "line 1: Input data was truncated"),
        (
            RECORD.replace('"kind": "Pod"', '"kind": "Pod", "spec": []'),
            "line 1: `resource`: Pod without a name: spec: expected a mapping",
        ),
    ],
)
def test_a_record_that_is_none_is_told(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "records"
    path.write_text(text)
    with pytest.raises(KubeschedError) as error:
        events_of(path)
    assert why in str(error.value)


def test_an_export_of_the_simulator_is_a_cluster() -> None:
    notes: list[str] = []
    events = list(read_traces([str(DATA / "simulator-export.json")], note=notes.append).events(0))
    assert [shown(event) for event in events] == [
        (0, "Node", "node-1"),
        (0, "PriorityClass", "high"),
        (0, "PersistentVolumeClaim", "default/data"),
        (0, "pod", "default/placed", "node-1", None),
        (0, "pod", "default/waits", "", None),
    ]
    assert isinstance(events[-1], PodArrival)
    assert events[-1].pod.priority == 1000
    assert notes == [
        "simulator-export.json: its schedulerConfig is not used: write it to a file, and give that file as --config"
    ]


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"pods": [], "deployments": []}', "unknown field 'deployments'; expected namespaces, "),
        ('{"pods": {}}', "`pods`: expected a list"),
        ('{"pods": [3]}', "pods[0]: expected an object with metadata"),
        ('{"pods": [{"metadata": {"name": "a"}, "spec": {}}]}', "pods[0]: Pod"),
        ('{"pods": [', "Input data was truncated"),
    ],
)
def test_an_export_with_errors_is_told(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "export.json"
    path.write_text(text)
    with pytest.raises(KubeschedError) as error:
        events_of(path)
    assert str(error.value).startswith("export.json: ")
    assert why in str(error.value)


# -- kwok


def test_a_recording_of_kwok_is_replayed() -> None:
    path = DATA / "kwok-recording.yaml"
    assert events_of(path) == [
        (0, "Node", "node-1"),
        (0, "pod", "default/old", "node-1", None),
        (2.5, "pod", "default/job", "", 30),
        (3, "changed", "default/job"),
        (5, "Node", "node-1"),
        (40, "deleted", "Pod", "default/old"),
    ]
    events = list(read_traces([str(path)]).events(0))
    changed: Any = events[3]
    assert changed.obj.spec.scheduling_gates == ()
    assert changed.obj.spec.containers
    old: Any = events[1]
    assert old.pod.status.start_time.isoformat() == "2025-12-31T23:59:57+00:00"


def test_patches_of_kwok_merge_lists_by_their_keys(tmp_path: Path) -> None:
    created = PATCH.replace("method: patch", "method: create").replace(
        "template: {spec: {}}",
        "template: {metadata: {name: job, namespace: default, uid: u}, "
        "spec: {containers: [{name: a, image: i}, {name: b, image: i}]}}",
    )
    patched = PATCH.replace(
        "template: {spec: {}}",
        "template: {spec: {$setElementOrder/containers: [{name: b}, {name: a}], containers: [{name: b, image: j}]}}",
    )
    path = tmp_path / "recording.yaml"
    path.write_text(f"{created}---\n{patched}")
    *_, change = read_traces([str(path)]).events(0)
    containers: Any = change.obj.spec.containers  # type: ignore[union-attr]
    assert [(each.name, each.image) for each in containers] == [("b", "j"), ("a", "i")]


def test_a_packed_export_of_kwok_is_a_cluster(tmp_path: Path) -> None:
    recording = (DATA / "kwok-recording.yaml").read_bytes()
    path = tmp_path / "cluster.yaml.gz"
    path.write_bytes(gzip.compress(recording.partition(b"---\napiVersion: action")[0]))
    assert events_of(path) == [(0, "Node", "node-1"), (0, "pod", "default/old", "node-1", None)]
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(KubeschedError):
        events_of(path)


PATCH = """apiVersion: action.kwok.x-k8s.io/v1alpha1
kind: ResourcePatch
resource: {version: v1, resource: pods}
target: {name: job, namespace: default}
durationNanosecond: 1
method: patch
template: {spec: {}}
"""


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (PATCH, "recording.yaml: document 1: Pod job is patched, but was not created before"),
        (PATCH.replace("method: patch", "method: put"), "method is 'put'; expected create, patch, delete"),
        (PATCH.replace("template: {spec: {}}", ""), "`template` is missing, which method patch needs"),
        (PATCH.replace("durationNanosecond: 1", "durationNanosecond: soon"), "at `$.durationNanosecond`"),
        (PATCH.replace("target: {name: job, ", "target: {"), "missing required field `name` - at `$.target`"),
        (
            PATCH.replace("method: patch", "method: create").replace("spec: {}", "spec: 3"),
            "spec: expected a mapping, got 3",
        ),
    ],
)
def test_a_patch_that_cannot_be_applied_is_told(tmp_path: Path, text: str, why: str) -> None:
    path = tmp_path / "recording.yaml"
    path.write_text(text)
    with pytest.raises(KubeschedError) as error:
        events_of(path)
    assert "recording.yaml" in str(error.value)
    assert why in str(error.value)


def test_a_database_of_etcd_is_told(tmp_path: Path) -> None:
    path = tmp_path / "snapshot.db"
    path.write_bytes(bytes(16) + b"\xed\xda\x0c\xed" + bytes(4000))
    with pytest.raises(KubeschedError, match="is an etcd database, as kwokctl snapshot save writes it"):
        events_of(path)


# -- SimKube


def a_workload(kind: str, version: str = "apps/v1", **spec: Any) -> Document:
    template = {"metadata": {"labels": {"app": "a"}, "creationTimestamp": None}, "spec": {"containers": CONTAINERS}}
    meta = {"name": "web", "namespace": "shop", "annotations": {}}
    selector = {"matchLabels": {"app": "a"}}
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": meta,
        "spec": {"selector": selector, "template": template, **spec},
    }


CONTAINERS = [{"name": "main", "image": "i"}]


def simkube(path: Path, *events: tuple[int, list[Document], list[Document]], **fields: Any) -> Path:
    trace = {
        "version": 2,
        "config": {"trackedObjects": {"apps/v1.Deployment": {"podSpecTemplatePaths": ["/spec/template"]}}},
        "events": [{"ts": 1000 + ts, "applied_objs": put, "deleted_objs": gone} for ts, put, gone in events],
        "index": {},
        "pod_lifecycles": {},
        **fields,
    }
    encode = msgspec.json.encode if path.suffix == ".json" else msgspec.msgpack.encode
    path.write_bytes(encode(trace))
    return path


@pytest.mark.parametrize("name", ["trace.sktrace", "trace.json"])
def test_deployments_of_simkube_have_as_many_pods_as_replicas(tmp_path: Path, name: str) -> None:
    path = simkube(
        tmp_path / name,
        (0, [], []),
        (1, [a_workload("Deployment", replicas=2)], []),
        (5, [a_workload("Deployment", replicas=1)], []),
        (9, [a_workload("Deployment", replicas=2)], []),
        (12, [], [a_workload("Deployment")]),
    )
    assert events_of(path) == [
        (1, "ReplicaSet", "shop/web"),
        (1, "pod", "shop/web-0", "", None),
        (1, "pod", "shop/web-1", "", None),
        (5, "deleted", "Pod", "shop/web-1"),
        (9, "ReplicaSet", "shop/web"),
        (9, "pod", "shop/web-2", "", None),
        (12, "deleted", "Pod", "shop/web-0"),
        (12, "deleted", "Pod", "shop/web-2"),
    ]


def test_a_changed_template_replaces_pods(tmp_path: Path) -> None:
    other = a_workload("Deployment", replicas=1)
    other["spec"]["template"]["spec"] = {"containers": [{"name": "main", "image": "j"}]}
    path = simkube(tmp_path / "t.sktrace", (0, [a_workload("Deployment", replicas=1)], []), (3, [other], []))
    assert [event[1:3] for event in events_of(path) if event[1] != "ReplicaSet"] == [
        ("pod", "shop/web-0"),
        ("deleted", "Pod"),
        ("pod", "shop/web-1"),
    ]


def test_pods_with_recorded_lives_run_as_long_as_they_did(tmp_path: Path) -> None:
    cron_job = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "tick", "namespace": "shop"},
        "spec": {"jobTemplate": {"spec": {"template": {"spec": {"containers": CONTAINERS}}}}},
    }
    pod = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "bare", "namespace": "shop"},
        "spec": {"containers": CONTAINERS, "priorityClassName": "unknown", "priority": 7},
    }
    path = simkube(
        tmp_path / "t.sktrace",
        (0, [cron_job, pod], []),
        (90, [], [cron_job]),
        pod_lifecycles={
            ("batch/v1.CronJob", "shop/tick"): {1: [{"Finished": [1060, 1070]}, {"Running": 1080}, "Empty"]},
            ("v1.Pod", "shop/bare"): {2: [{"Finished": [1001, 1031]}]},
        },
    )
    assert events_of(path) == [
        (0, "pod", "shop/bare", "", 30),
        (60, "pod", "shop/tick-0", "", 10),
        (80, "pod", "shop/tick-1", "", None),
        (90, "deleted", "Pod", "shop/tick-1"),
    ]


def test_workloads_whose_pods_are_not_known_are_counted(tmp_path: Path) -> None:
    notes: list[str] = []
    path = simkube(tmp_path / "t.sktrace", (0, [a_workload("DaemonSet")], []))
    assert list(read_traces([str(path)], note=notes.append).events(0)) == []
    assert notes == ["t.sktrace: 1 DaemonSet objects are left out: the trace does not have their numbers of pods"]


@pytest.mark.parametrize("content", [b"", b"\x93\x01\x02\x03", b"\x85\xa6events", b"no trace"])
def test_a_file_that_is_named_like_a_trace_of_simkube_and_is_none_is_told(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "t.sktrace"
    path.write_bytes(content)
    with pytest.raises(KubeschedError, match=r"t.sktrace: is not a SimKube trace of version 2: "):
        events_of(path)


@pytest.mark.parametrize(
    ("event", "fields", "why"),
    [
        ((0, [], []), {"version": 1}, "of version 1; expected version 2"),
        ((0, [], []), {"events": 3}, "Expected `array`, got `int` - at `$.events`"),
        ((0, [{}], []), {}, "events[0].applied_objs[0]: expected an object with kind and metadata.name"),
        ((0, [a_workload("Deployment", replicas="x")], []), {}, "spec.replicas is 'x'; expected a number"),
        ((0, [], []), {"pod_lifecycles": {("v1.Pod", "a/b"): {1: ["Lost"]}}}, "'Lost' is not a life of a pod"),
        ((0, [a_workload("Deployment", template={"spec": {"containers": 3}})], []), {}, "applied_objs[0]: "),
    ],
)
def test_a_trace_of_simkube_with_errors_is_told(tmp_path: Path, event: Any, fields: Document, why: str) -> None:
    path = simkube(tmp_path / "t.sktrace", event, **fields)
    with pytest.raises(KubeschedError) as error:
        events_of(path)
    assert why in str(error.value)
