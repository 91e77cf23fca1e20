"""Clusters from files: exports are taken as they are, manifests become a cluster, bad files get one clear line."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml

from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.errors import KubeschedError
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.sources.cluster_source import ClusterSource
from kubesched.sources.unread import MOST_NAMED
from kubesched.testing import a_node, a_pod
from kubesched_answers.sources.files import UnreadableFilesError, read_files
from kubesched_answers.sources.reading import read_cluster
from kubesched_answers.sources.snapshots import snapshot_bytes

QUICKSTART = str(Path(__file__).parents[4] / "examples" / "quickstart")


def a_document(kind: str, name: str, *, uid: bool = True, version: str = "v1", **fields: Any) -> dict[str, Any]:
    meta: dict[str, Any] = {"name": name, **({"uid": f"uid-{name}"} if uid else {})}
    if kind not in ("Node", "PriorityClass"):
        meta["namespace"] = "default"
    return {"apiVersion": version, "kind": kind, "metadata": meta, **fields}


def a_pod_document(name: str, *, uid: bool = True, **spec: Any) -> dict[str, Any]:
    return a_document("Pod", name, uid=uid, spec={"containers": [{"name": "main", "image": "i"}], **spec})


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path


def write(path: Path, *documents: dict[str, Any]) -> str:
    path.write_text(yaml.safe_dump_all(documents))
    return str(path)


def pods_of(cluster: ClusterObjects) -> list[Pod]:
    return [obj for obj in cluster.objects if isinstance(obj, Pod)]


# -- manifests in a namespace


@pytest.mark.parametrize("namespace", ["default", "shop"])
def test_manifests_without_a_namespace_are_in_that_of_the_source(folder: Path, namespace: str) -> None:
    pod = a_pod_document("p", uid=False)
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [{"name": "main", "image": "i"}]}}
    spec = {"replicas": 1, "selector": {"matchLabels": {"app": "web"}}, "template": template}
    deployment = a_document("Deployment", "web", uid=False, version="apps/v1", spec=spec)
    for document in (pod, deployment):
        del document["metadata"]["namespace"]
    file = write(folder / "all.yaml", a_document("Node", "node", uid=False), pod, deployment)
    cluster = read_cluster(ClusterSource((file,), namespace=namespace))
    assert {obj.namespace for obj in pods_of(cluster)} == {namespace}
    assert {document["metadata"]["namespace"] for document in cluster.workloads} == {namespace}
    assert len(pods_of(cluster)) == 2


# -- exports


@pytest.mark.parametrize("namespace", ["default", "shop"])
def test_exported_objects_without_a_namespace_are_in_that_of_the_source(folder: Path, namespace: str) -> None:
    pod = a_pod_document("p")
    deployment = a_document("Deployment", "web", version="apps/v1", spec={"replicas": 1})
    for document in (pod, deployment):
        del document["metadata"]["namespace"]
    file = write(folder / "all.yaml", a_document("Node", "node"), pod, deployment)
    given = namespace if namespace != "default" else ""
    cluster = read_cluster(ClusterSource((file,), namespace=given))
    assert [obj.full_name for obj in cluster.objects] == ["node", f"{namespace}/p"]
    assert [document["metadata"]["namespace"] for document in cluster.workloads] == [namespace]


def test_exported_objects_are_taken_as_they_are(folder: Path) -> None:
    file = write(
        folder / "all.yaml",
        {
            "apiVersion": "v1",
            "kind": "List",
            "items": [a_document("Node", "node"), a_pod_document("p", nodeName="gone")],
        },
    )
    cluster = read_files([file])
    assert [obj.full_name for obj in cluster.objects] == ["node", "default/p"]
    assert pods_of(cluster)[0].spec.node_name == "gone"
    assert cluster.origin == file


def test_kubectls_json_is_read_too(folder: Path) -> None:
    file = folder / "pods.json"
    file.write_bytes(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": [a_pod_document("p")]}))
    assert [pod.full_name for pod in pods_of(read_files([str(file)]))] == ["default/p"]


def test_kinds_that_are_neither_read_nor_workloads_are_left_out(folder: Path) -> None:
    file = write(
        folder / "all.yaml",
        a_document("ConfigMap", "c", data={}),
        a_document("Lease", "l", version="coordination.k8s.io/v1"),
        a_document("Deployment", "d", version="apps/v1", spec={"replicas": 3}),
        a_pod_document("p"),
    )
    cluster = read_files([file])
    assert [obj.full_name for obj in cluster.objects] == ["default/p"]
    assert [document["kind"] for document in cluster.workloads] == ["Deployment"]
    assert cluster.gaps == ()


def test_an_exported_object_that_cannot_be_read_is_a_gap(folder: Path) -> None:
    file = write(folder / "all.yaml", a_pod_document("bad", priority="high"), a_pod_document("good"))
    cluster = read_files([file])
    assert [pod.name for pod in pods_of(cluster)] == ["good"]
    (gap,) = cluster.gaps
    assert gap.why == f'{file}: document 1: Pod default/bad: spec.priority: expected an integer, got "high"'


def test_of_very_many_unreadable_objects_some_are_counted(folder: Path) -> None:
    bad = [a_pod_document(f"bad-{number}", priority="high") for number in range(MOST_NAMED + 5)]
    cluster = read_files([write(folder / "all.yaml", *bad, a_pod_document("good"))])
    assert len(cluster.gaps) == MOST_NAMED + 1
    assert cluster.gaps[-1].what == "5 more objects"


def test_objects_that_plugins_look_up_are_read(folder: Path) -> None:
    file = write(folder / "all.yaml", a_document("Foo", "f", version="example.com/v1", spec={"x": 1}))
    (obj,) = read_files([file], ["foos.v1.example.com"]).objects
    assert obj.full_name == "default/f"
    assert obj.spec == {"x": 1}  # type: ignore[attr-defined]


# -- manifests


def test_manifests_become_a_cluster_with_defaults_and_pods() -> None:
    cluster = read_files([QUICKSTART])
    kinds = Counter(type(obj).__name__ for obj in cluster.objects)
    assert kinds["Node"] == 12
    pods = {pod.name: pod for pod in pods_of(cluster)}
    assert sum(name.startswith("web-") for name in pods) == 6
    assert "data-database-0" in {obj.name for obj in cluster.objects}
    # what the API server fills in: the scheduler, tolerations, the priority of a class
    assert pods["giant"].spec.scheduler_name == "default-scheduler"
    assert pods["urgent"].priority == 1000
    assert pods["giant"].uid
    # nodes are ready: taints of nodes that are not would be in the way
    nodes = [obj for obj in cluster.objects if isinstance(obj, Node)]
    assert not any(taint.key.startswith("node.kubernetes.io/") for node in nodes for taint in node.spec.taints)
    # nobody schedules: pods without a node wait
    assert not pods["giant"].spec.node_name
    assert "Deployment" in {document["kind"] for document in cluster.workloads}


@pytest.mark.parametrize("policy", [None, "OrderedReady", "Parallel"])
def test_a_stateful_set_has_all_of_its_pods_and_keeps_its_policy(policy: str | None, folder: Path) -> None:
    template = {"metadata": {"labels": {"app": "db"}}, "spec": {"containers": [{"name": "main", "image": "i"}]}}
    spec = {"replicas": 3, "serviceName": "db", "selector": {"matchLabels": {"app": "db"}}, "template": template}
    if policy is not None:
        spec["podManagementPolicy"] = policy
    document = a_document("StatefulSet", "db", uid=False, version="apps/v1", spec=spec)
    del document["metadata"]["namespace"]
    cluster = read_files([write(folder / "db.yaml", document)], namespace="shop")
    assert sorted(pod.full_name for pod in pods_of(cluster)) == ["shop/db-0", "shop/db-1", "shop/db-2"]
    (workload,) = cluster.workloads
    assert workload["spec"]["podManagementPolicy"] == (policy or "OrderedReady")


def test_manifests_can_be_added_to_a_snapshot(folder: Path) -> None:
    snapshot = folder / "cluster.gz"
    old = a_pod("old", node="n")
    objects = (a_node("n", cpu=4), old, *read_files([write(folder / "p.yaml", CLASS)]).objects)
    snapshot.write_bytes(snapshot_bytes(ClusterObjects(objects, origin="there")))
    new = a_pod_document("new", uid=False, priorityClassName="high")
    cluster = read_files([str(snapshot), write(folder / "new.yaml", new)])
    pods = {pod.name: pod for pod in pods_of(cluster)}
    assert set(pods) == {"old", "new"}
    # the class is one of the snapshot
    assert pods["new"].priority == 77
    assert pods["old"].spec == old.spec
    assert [obj.name for obj in cluster.objects if isinstance(obj, Node)] == ["n"]


CLASS = a_document("PriorityClass", "high", version="scheduling.k8s.io/v1", value=77)


def test_a_daemon_set_beside_an_export_gets_pods_on_its_nodes(folder: Path) -> None:
    labels = {"app": "d"}
    daemons = a_document(
        "DaemonSet",
        "d",
        uid=False,
        version="apps/v1",
        spec={
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [{"name": "m", "image": "i"}]}},
        },
    )
    ready = {"conditions": [{"type": "Ready", "status": "True"}]}
    nodes = [a_document("Node", name, status=ready) for name in ("a", "b")]
    cluster = read_files([write(folder / "all.yaml", *nodes, daemons)])
    assert len(pods_of(cluster)) == 2


def test_manifests_can_be_read_while_a_loop_runs(folder: Path) -> None:
    """As in a cell of a notebook."""

    async def cell() -> ClusterObjects:
        return read_files([write(folder / "p.yaml", a_pod_document("p", uid=False))])

    assert [pod.name for pod in pods_of(asyncio.run(cell()))] == ["p"]


def test_a_manifest_that_an_api_server_refuses_is_an_error(folder: Path) -> None:
    file = write(folder / "p.yaml", a_document("Pod", "p", uid=False, spec={"containers": []}))
    with pytest.raises(KubeschedError, match=r'p.yaml: document 1: Pod "p": .*spec.containers: Required value'):
        read_files([file])


# -- bad files

BAD: list[tuple[str, bytes, str]] = [
    ("an empty file", b" \n", "FILE: file is empty; give a snapshot, or the output of kubectl get -o yaml"),
    ("only comments", b"# nothing\n", "FILE: no objects found"),
    ("a text", b"hello", "FILE: document 1: an object was expected, found text; give a snapshot, or"),
    ("a picture", b"\x89PNG\r\n\x1a\n\0\0", "FILE: not UTF-8: invalid start byte at byte 0; give a snapshot, or"),
    ("half a snapshot", snapshot_bytes(ClusterObjects((a_node("n"),)))[:30], "FILE: is truncated"),
]


@pytest.mark.parametrize(("what", "content", "message"), BAD, ids=[what for what, _, _ in BAD])
def test_a_bad_file_gets_one_line(what: str, content: bytes, message: str, folder: Path) -> None:
    file = folder / "file"
    file.write_bytes(content)
    with pytest.raises(KubeschedError) as error:
        read_files([str(file)])
    assert str(error.value).replace(str(file), "FILE").startswith(message), what


def test_a_missing_file_is_named(folder: Path) -> None:
    with pytest.raises(KubeschedError, match="nowhere: No such file or directory"):
        read_files([str(folder / "nowhere")])


@pytest.mark.parametrize(
    ("files", "errors"),
    [
        (
            2,
            [
                "f0.json: document 1: an object was expected, found text",
                "f1.json: document 1: an object was expected, found text",
            ],
        ),
        (
            9,
            [*(f"f{number}.json: document 1: an object was expected, found text" for number in range(5)), "and 4 more"],
        ),
    ],
)
def test_a_folder_of_foreign_files_is_some_problems_and_a_number(files: int, errors: list[str], folder: Path) -> None:
    foreign = folder / "foreign"
    foreign.mkdir()
    for number in range(files):
        (foreign / f"f{number}.json").write_text("foreign")
    with pytest.raises(UnreadableFilesError) as error:
        read_files([str(foreign)])
    hint = "; give a snapshot, or the output of kubectl get -o yaml"
    assert [each.removeprefix(f"{foreign}/") for each in error.value.errors] == [*errors[:-1], errors[-1] + hint]
    assert str(error.value) == "\n".join(error.value.errors)


def test_a_manifest_whose_quantity_is_none_names_the_field(folder: Path) -> None:
    pod = a_pod_document("p", uid=False)
    pod["spec"]["containers"][0]["resources"] = {"requests": {"cpu": "1 core"}}
    with pytest.raises(KubeschedError) as error:
        read_files([write(folder / "all.yaml", a_document("Node", "node", uid=False), pod)])
    assert str(error.value).startswith(
        f"{folder}/all.yaml: document 2: Pod \"p\": spec.containers[0].resources.requests.cpu is '1 core': quantities "
        "must match the regular expression"
    )


DRAFTED = {
    "manifests": ((a_pod_document("p", uid=False),), True),
    "an export": ((a_pod_document("p"),), False),
    "manifests beside an export": ((a_document("Node", "n"), a_pod_document("p", uid=False)), True),
}


@pytest.mark.parametrize("case", DRAFTED)
def test_no_scheduler_has_tried_pods_of_manifests(case: str, folder: Path) -> None:
    documents, drafted = DRAFTED[case]
    assert read_files([write(folder / "all.yaml", *documents)]).drafted is drafted


def test_beside_a_snapshot_manifests_are_part_of_its_cluster(folder: Path) -> None:
    snapshot = folder / "cluster.snapshot"
    snapshot.write_bytes(snapshot_bytes(read_files([QUICKSTART])))
    manifest = write(folder / "all.yaml", a_pod_document("p", uid=False))
    assert not read_files([str(snapshot)]).drafted
    assert not read_files([str(snapshot), manifest]).drafted
