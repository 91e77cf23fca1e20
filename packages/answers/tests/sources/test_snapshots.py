"""Snapshots: what is written is read again, nothing else is in them, and bad files get one clear line."""

import gzip
import json
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.api.codec import decode
from kubesched.api.custom import CustomObject, custom_kind
from kubesched.api.last_applied import LAST_APPLIED
from kubesched.api.pods import Pod
from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest
from kubesched.model.cluster_objects import ClusterObjects, Gap
from kubesched.testing import (
    a_budget,
    a_claim,
    a_custom_object,
    a_node,
    a_pod,
    a_replica_set,
    a_service,
    a_storage_class,
    a_volume,
)
from kubesched_answers.sources.anonymising import anonymised
from kubesched_answers.sources.files import DocumentReader, read_files
from kubesched_answers.sources.snapshots import (
    VERSION,
    UnreadableSnapshotError,
    counts_of,
    read_snapshot,
    snapshot_bytes,
)

SECRET = "do-not-tell"


def a_cluster_of(*documents: dict[str, Any]) -> ClusterObjects:
    return DocumentReader().cluster([Manifest("here", document) for document in documents])


def unpacked(content: bytes) -> list[Any]:
    return [msgspec.json.decode(line) for line in gzip.decompress(content).splitlines()]


A_SPEC: dict[str, Any] = {
    "containers": [
        {
            "name": "main",
            "image": "registry/app:1",
            "command": ["run", SECRET],
            "args": [SECRET],
            "env": [{"name": "PASSWORD", "value": SECRET}],
            "envFrom": [{"secretRef": {"name": SECRET}}],
            "lifecycle": {"preStop": {"exec": {"command": [SECRET]}}},
            "livenessProbe": {"exec": {"command": [SECRET]}},
            "resources": {"requests": {"cpu": "1"}},
        }
    ],
    "imagePullSecrets": [{"name": SECRET}],
    "serviceAccountName": SECRET,
    "volumes": [
        {"name": "s", "secret": {"secretName": SECRET}},
        {"name": "c", "configMap": {"name": SECRET}},
        {"name": "i", "csi": {"driver": "d", "volumeAttributes": {"key": SECRET}}},
        {
            "name": "e",
            "ephemeral": {
                "volumeClaimTemplate": {
                    "metadata": {"annotations": {"note": SECRET}},
                    "spec": {"accessModes": ["ReadWriteOnce"]},
                }
            },
        },
    ],
}
A_META = {
    "name": "a",
    "namespace": "ns",
    "uid": "1",
    "annotations": dict.fromkeys(("last-applied", "note"), SECRET),
}
# an annotation in which kubectl apply writes the whole manifest
APPLIED = json.dumps(
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": A_META,
        "spec": {"template": {"metadata": A_META, "spec": A_SPEC}},
    }
)
OPAQUE = {"opaque": {"driver": "d", "parameters": {"token": SECRET}}}

WITH_SECRETS: list[tuple[str, dict[str, Any]]] = [
    (
        "a pod with environment, commands, secrets",
        {"apiVersion": "v1", "kind": "Pod", "metadata": A_META, "spec": A_SPEC},
    ),
    *(
        (
            f"the template of a {kind}",
            {
                "apiVersion": version,
                "kind": kind,
                "metadata": A_META,
                "spec": {"replicas": 2, "template": {"metadata": A_META, "spec": A_SPEC}},
            },
        )
        for kind, version in (
            ("Deployment", "apps/v1"),
            ("StatefulSet", "apps/v1"),
            ("ReplicaSet", "apps/v1"),
            ("DaemonSet", "apps/v1"),
            ("Job", "batch/v1"),
            ("ReplicationController", "v1"),
        )
    ),
    (
        "the template of a CronJob",
        {
            "apiVersion": "batch/v1",
            "kind": "CronJob",
            "metadata": A_META,
            "spec": {"schedule": "@daily", "jobTemplate": {"spec": {"template": {"metadata": A_META, "spec": A_SPEC}}}},
        },
    ),
    (
        "the manifest of a Deployment that was applied last",
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "a", "namespace": "ns", "uid": "1", "annotations": {LAST_APPLIED: APPLIED}},
            "spec": {"replicas": 2, "template": {"metadata": A_META, "spec": A_SPEC}},
        },
    ),
    (
        "claims of a StatefulSet",
        {
            "apiVersion": "apps/v1",
            "kind": "StatefulSet",
            "metadata": A_META,
            "spec": {"volumeClaimTemplates": [{"metadata": {"name": "data", "annotations": {"note": SECRET}}}]},
        },
    ),
    (
        "a node's annotations and addresses",
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": A_META,
            "status": {"addresses": [{"type": "InternalIP", "address": SECRET}], "nodeInfo": {"machineID": SECRET}},
        },
    ),
    (
        "parameters of a StorageClass",
        {
            "apiVersion": "storage.k8s.io/v1",
            "kind": "StorageClass",
            "metadata": A_META,
            "parameters": {"secret": SECRET},
        },
    ),
    (
        "attributes of a volume",
        {
            "apiVersion": "v1",
            "kind": "PersistentVolume",
            "metadata": A_META,
            "spec": {"csi": {"driver": "d", "volumeHandle": "h", "volumeAttributes": {"key": SECRET}}},
        },
    ),
    (
        "opaque parameters of a ResourceClaim",
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaim",
            "metadata": A_META,
            "spec": {"devices": {"config": [OPAQUE]}},
            "status": {
                "allocation": {"devices": {"config": [OPAQUE]}},
                "devices": [{"driver": "d", "data": {"token": SECRET}, "networkData": {"ips": [SECRET]}}],
            },
        },
    ),
    (
        "opaque parameters of a ResourceClaimTemplate",
        {
            "apiVersion": "resource.k8s.io/v1",
            "kind": "ResourceClaimTemplate",
            "metadata": A_META,
            "spec": {"metadata": {"annotations": {"note": SECRET}}, "spec": {"devices": {"config": [OPAQUE]}}},
        },
    ),
    (
        "opaque parameters of a DeviceClass",
        {"apiVersion": "resource.k8s.io/v1", "kind": "DeviceClass", "metadata": A_META, "spec": {"config": [OPAQUE]}},
    ),
    ("a Secret", {"apiVersion": "v1", "kind": "Secret", "metadata": A_META, "stringData": {"password": SECRET}}),
    ("a ConfigMap", {"apiVersion": "v1", "kind": "ConfigMap", "metadata": A_META, "data": {"password": SECRET}}),
    (
        "an object of a custom kind",
        {"apiVersion": "acme.com/v1", "kind": "Database", "metadata": A_META, "spec": {"password": SECRET}},
    ),
]


@pytest.mark.parametrize(("what", "document"), WITH_SECRETS, ids=[what for what, _ in WITH_SECRETS])
def test_what_scheduling_does_not_read_is_not_in_a_snapshot(what: str, document: dict[str, Any]) -> None:
    assert SECRET.encode() in msgspec.json.encode(document)
    assert SECRET.encode() not in gzip.decompress(snapshot_bytes(a_cluster_of(document))), what


def test_the_document_of_a_workload_keeps_what_its_pods_are_scheduled_by() -> None:
    (deployment,) = (document for what, document in WITH_SECRETS if what == "the template of a Deployment")
    _, line = unpacked(snapshot_bytes(a_cluster_of(deployment)))
    assert line["spec"]["replicas"] == 2
    assert line["spec"]["template"]["spec"]["containers"] == [
        {"name": "main", "image": "registry/app:1", "resources": {"requests": {"cpu": "1"}}}
    ]


A_CLUSTER = ClusterObjects(
    (
        a_pod("web-1", node="n", cpu=1, labels={"app": "web"}),
        a_pod("web-2", cpu=2),
        a_node("n", cpu=4),
        a_budget("web", "app=web", allowed=1),
        a_claim("data"),
        a_volume("pv"),
        a_storage_class("fast"),
        a_service("web", {"app": "web"}),
        a_replica_set("web", "app=web"),
    ),
    (
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "web", "namespace": "default"},
            "spec": {"replicas": 1},
        },
    ),
    origin="a cluster",
    taken_at=datetime(2026, 1, 1, tzinfo=UTC),
    gaps=(Gap("PriorityClass", "forbidden", "priorities"),),
    kubernetes="v1.36.0",
)


def test_a_snapshot_is_read_as_it_was_written() -> None:
    again = read_snapshot("file", snapshot_bytes(A_CLUSTER))
    assert {(type(obj), obj.full_name) for obj in again.objects} == {
        (type(obj), obj.full_name) for obj in A_CLUSTER.objects
    }
    by_name = {(type(obj), obj.full_name): obj for obj in again.objects}
    for obj in A_CLUSTER.objects:
        found = by_name[type(obj), obj.full_name]
        assert msgspec.structs.asdict(found) | {"kind": "", "api_version": ""} == msgspec.structs.asdict(obj) | {
            "kind": "",
            "api_version": "",
        }
    assert [each["metadata"]["name"] for each in again.workloads if each["kind"] == "Deployment"] == ["web"]
    assert (again.origin, again.gaps, again.kubernetes) == (A_CLUSTER.origin, A_CLUSTER.gaps, "v1.36.0")
    assert again.taken_at is not None


def test_the_header_tells_what_is_in_the_file() -> None:
    header, *lines = unpacked(snapshot_bytes(A_CLUSTER))
    assert (header["kubesched"], header["version"]) == ("snapshot", 1)
    assert header["counts"] == counts_of(A_CLUSTER)
    assert header["counts"]["Pod"] == 2
    assert len(lines) == sum(header["counts"].values())
    assert lines[0]["kind"] == "Node"


def test_an_unpacked_snapshot_can_be_read() -> None:
    assert len(read_snapshot("file", gzip.decompress(snapshot_bytes(A_CLUSTER))).objects) == len(A_CLUSTER.objects)


LOADS = "nodeloads.v1.example.com"
A_LOAD = a_custom_object(
    LOADS, "n1", labels={"a": "b"}, annotations={"note": "x"}, usage={"cpu": 90}, spec={"deep": [1]}
)
WITH_LOADS = ClusterObjects((a_node("n1"), A_LOAD), custom_kinds=(LOADS,))


def test_objects_that_plugins_look_up_are_written_whole() -> None:
    again = read_snapshot("file", snapshot_bytes(WITH_LOADS), [LOADS])
    (found,) = (obj for obj in again.objects if isinstance(obj, CustomObject))
    assert found == A_LOAD
    assert (type(found), again.gaps, again.custom_kinds) == (custom_kind(LOADS), (), (LOADS,))
    assert counts_of(WITH_LOADS) == {"Node": 1, LOADS: 1}
    # a snapshot of a snapshot has them, too
    assert unpacked(snapshot_bytes(again))[1:] == unpacked(snapshot_bytes(WITH_LOADS))[1:]


def test_managed_fields_are_not_written() -> None:
    meta = {"name": "n1", "managedFields": [{"manager": SECRET}]}
    document = {"apiVersion": "example.com/v1", "kind": "NodeLoad", "metadata": meta}
    cluster = DocumentReader([LOADS]).cluster([Manifest("here", document)])
    _, line = unpacked(snapshot_bytes(cluster))
    assert (line["custom"], line["object"]["kind"], line["object"]["metadata"]) == (LOADS, "NodeLoad", {"name": "n1"})


def test_a_kind_that_was_not_written_is_a_gap() -> None:
    content = snapshot_bytes(ClusterObjects((a_node("n1"),)))
    assert read_snapshot("file", content).gaps == ()
    [gap] = read_snapshot("file", content, [LOADS]).gaps
    assert (gap.what, gap.uncertain) == (LOADS, f"answers that depend on {LOADS}")
    assert gap.why.endswith("write it again with --config and --plugin")


def test_an_anonymised_snapshot_has_no_objects_of_custom_kinds_and_says_so() -> None:
    again = read_snapshot("file", snapshot_bytes(anonymised(WITH_LOADS, b"key")), [LOADS])
    assert [type(obj).__name__ for obj in again.objects] == ["Node"]
    assert [(gap.what, gap.why) for gap in again.gaps] == [("objects of custom kinds", "they cannot be anonymised")]


def test_pods_of_one_template_share_their_specification() -> None:
    pods = [a_pod(f"web-{number}", node=f"n{number}", labels={"app": "web"}) for number in range(3)]
    again = read_snapshot("file", snapshot_bytes(ClusterObjects(tuple(pods))))
    assert len({id(pod.spec.containers) for pod in again.objects if isinstance(pod, Pod)}) == 1


@given(st.data())
def test_a_damaged_snapshot_is_an_error_or_the_same_cluster(data: st.DataObject) -> None:
    content = bytearray(snapshot_bytes(A_CLUSTER))
    place = data.draw(st.integers(0, len(content) - 1))
    content[place] = data.draw(st.integers(0, 255))
    with suppress(UnreadableSnapshotError):
        assert len(read_snapshot("file", bytes(content)).objects) == len(A_CLUSTER.objects)


def packed(*lines: object) -> bytes:
    return gzip.compress(b"".join(msgspec.json.encode(line) + b"\n" for line in lines))


HEADER = {"kubesched": "snapshot", "version": VERSION, "counts": {"Pod": 1}}

BAD: list[tuple[str, bytes, str]] = [
    (
        "a snapshot of a newer version",
        packed({"kubesched": "snapshot", "version": VERSION + 1, "counts": ["other"]}),
        "file: is a snapshot of version 2, and this kubesched reads up to version 1; "
        "install a newer one: pip install --upgrade kubesched",
    ),
    (
        "a snapshot that was copied in part",
        snapshot_bytes(A_CLUSTER)[:-20],
        "file: is truncated; copy it again",
    ),
    (
        "a compressed file of somebody else",
        gzip.compress(b"kind: Pod"),
        "file: is compressed, but not a kubesched snapshot; unpack it first if it has manifests",
    ),
    (
        "lines that are missing",
        packed(HEADER),
        "file: has 0 objects, but its header announces 1: the file is incomplete; "
        "write it again with `kubesched snapshot -o FILE`",
    ),
    (
        "an object that cannot be read",
        packed(HEADER, {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "a"}, "spec": {"priority": "high"}}),
        'file: line 2: Pod a: spec.priority: expected an integer, got "high"; '
        "write it again with `kubesched snapshot -o FILE`",
    ),
    (
        "a header that is none",
        gzip.compress(b'{"kubesched":"snapshot","version":"x"}\n'),
        "file: its header cannot be read; write it again with `kubesched snapshot -o FILE`",
    ),
]


@pytest.mark.parametrize(("what", "content", "message"), BAD, ids=[what for what, _, _ in BAD])
def test_a_bad_file_gets_one_line_with_what_to_do(what: str, content: bytes, message: str) -> None:
    with pytest.raises(UnreadableSnapshotError) as error:
        read_snapshot("file", content)
    assert str(error.value) == message, what


def test_a_workload_that_scheduling_reads_is_both_an_object_and_a_document() -> None:
    document = {
        "apiVersion": "apps/v1",
        "kind": "ReplicaSet",
        "metadata": {"name": "web", "namespace": "default", "uid": "1"},
        "spec": {"replicas": 2, "selector": {"matchLabels": {"app": "web"}}},
    }
    again = read_snapshot("file", snapshot_bytes(a_cluster_of(document)))
    (replica_set,) = again.objects
    assert replica_set == decode(document)
    assert [each["kind"] for each in again.workloads] == ["ReplicaSet"]


@pytest.mark.parametrize("line", ['{"at": 0, "object": {}}', '{"recording": {"version": 1}}', '{"scenario":{}}'])
@pytest.mark.parametrize("packed", [gzip.compress, bytes])
def test_a_trace_is_told_with_the_commands_that_read_it(
    line: str, packed: Callable[[bytes], bytes], tmp_path: Path
) -> None:
    file = tmp_path / "rec.jsonl"
    file.write_bytes(packed(f"{line}\n".encode()))
    with pytest.raises(KubeschedError) as told:
        read_files([str(file)])
    assert f"{file}: is a trace or a recording" in str(told.value)
    assert f"kubesched simulate {file} runs it, and kubesched page --simulate {file} shows it" in str(told.value)
