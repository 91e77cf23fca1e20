"""What the API server reads when it admits pods and claims reaches it from every source, or is a gap.

What is read is recorded while pods and claims are admitted: the kinds of objects, and the fields of pods and claims.
"""

import gzip
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import yaml
from tests.support.good_objects import an_api
from tests.support.roles import a_rule
from tests.support.served_cluster import a_served_cluster

from kubesched.api.codec import encode
from kubesched.api.kinds import KINDS
from kubesched.api.pods import Pod, PodSpec
from kubesched.api.storage import PersistentVolumeClaim
from kubesched.errors import InvalidObjectError
from kubesched.model.cluster_objects import ADMISSION_KINDS, UNADMITTED, ClusterObjects
from kubesched.sources.cluster_source import ClusterSource
from kubesched.sources.read_documents import reduced_document
from kubesched_answers.sources.anonymising import anonymised
from kubesched_answers.sources.files import read_files
from kubesched_answers.sources.reading import read_cluster
from kubesched_answers.sources.snapshots import read_snapshot, snapshot_bytes
from kubesched_controlplane.admission import namespace_limits
from kubesched_controlplane.kinds.pod import strategy as pods
from kubesched_controlplane.server.catalog import RESOURCES
from kubesched_controlplane.storage.store import Store

Document = dict[str, Any]
KIND_OF = {resource.prefix: resource.kind for resource in RESOURCES}


def an_object(kind: str, version: str = "v1", namespace: str = "default", **fields: Any) -> Document:
    meta = {"name": f"the-{kind.lower()}", **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **fields}


QUOTA = an_object(
    "ResourceQuota",
    spec={
        "hard": {"pods": "9", "requests.cpu": "9"},
        "scopes": ["NotTerminating"],
        "scopeSelector": {
            "matchExpressions": [{"scopeName": "PriorityClass", "operator": "In", "values": ["the-priorityclass"]}]
        },
    },
    status={"hard": {"pods": "9"}, "used": {"pods": "1"}},
)
OTHERS = [
    an_object(
        "ResourceQuota", spec={"hard": {"pods": "99", "count/persistentvolumeclaims": "5", "requests.storage": "99Gi"}}
    ),
    *(
        {**an_object("ResourceQuota", spec={"hard": {"pods": "99"}, "scopes": [scope]}), "metadata": {"name": name}}
        for name, scope in (("a", "BestEffort"), ("b", "Terminating"), ("c", "CrossNamespacePodAffinity"))
    ),
]
LIMITS = an_object(
    "LimitRange",
    spec={
        "limits": [
            {
                "type": "Container",
                "min": {"cpu": "1m"},
                "max": {"cpu": "4"},
                "default": {"cpu": "2"},
                "defaultRequest": {"cpu": "1"},
                "maxLimitRequestRatio": {"cpu": "10"},
            },
            {"type": "Pod", "max": {"cpu": "9"}},
            {"type": "PersistentVolumeClaim", "max": {"storage": "9Gi"}},
        ]
    },
)
RUNTIME = an_object(
    "RuntimeClass",
    "node.k8s.io/v1",
    namespace="",
    handler="kata",
    overhead={"podFixed": {"cpu": "250m"}},
    scheduling={"nodeSelector": {"a": "b"}, "tolerations": [{"key": "k", "operator": "Exists"}]},
)
ADMITTING = [QUOTA, LIMITS, RUNTIME]
CLASSES = [
    an_object("PriorityClass", "scheduling.k8s.io/v1", namespace="", value=7, preemptionPolicy="Never"),
    an_object("StorageClass", "storage.k8s.io/v1", namespace="", provisioner="csi.example.com"),
]
SPEC: Document = {
    "containers": [{"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}],
    "priorityClassName": "the-priorityclass",
    "runtimeClassName": "the-runtimeclass",
    "activeDeadlineSeconds": 60,
}
CLAIM = an_object(
    "PersistentVolumeClaim",
    spec={"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
)
DEVICES = an_object(
    "ResourceClaim",
    "resource.k8s.io/v1",
    spec={"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]}},
)


class Recorded(dict[str, Any]):
    """A document that notes the paths of the fields that are read."""

    def __init__(self, document: Document, paths: set[str], path: str = "") -> None:
        self._note = lambda field: paths.add(f"{path}{field}")
        self._paths, self._path = paths, path
        super().__init__({field: self._of(field, value) for field, value in document.items()})

    def _of(self, field: str, value: Any) -> Any:
        if isinstance(value, dict):
            return Recorded(value, self._paths, f"{self._path}{field}.")
        if isinstance(value, list):
            return [self._of(field, each) for each in value]
        return value

    def __getitem__(self, field: str) -> Any:
        self._note(field)
        return super().__getitem__(field)

    def __contains__(self, field: object) -> bool:
        self._note(field)
        return super().__contains__(field)

    def get(self, field: str, default: Any = None) -> Any:
        self._note(field)
        return super().get(field, default)


def plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {field: plain(each) for field, each in value.items()}
    return [plain(each) for each in value] if isinstance(value, list) else value


@pytest.fixture
def read_by_admission(monkeypatch: pytest.MonkeyPatch) -> tuple[set[str], set[str]]:
    """Admit a pod and claims; return the kinds that are read for it, and the paths of the fields that are read."""
    kinds: set[str] = set()
    paths: set[str] = set()
    admitting = False
    set_of = Store.set_of

    def recording(function: Callable[..., Any]) -> Callable[..., Any]:
        def called(document: Document, *others: Any) -> Any:
            nonlocal admitting
            recorded = Recorded(document, paths, f"{document.get('kind', '')}:")
            before, admitting = admitting, True
            try:
                return function(recorded, *others)
            finally:
                admitting = before
                changed = plain(recorded)
                document.clear()
                document.update(changed)

        return called

    def noted(store: Store, prefix: str) -> Any:
        if admitting:
            kinds.add(KIND_OF[prefix])
        return set_of(store, prefix)

    api = an_api()
    for document in (*OTHERS, LIMITS, RUNTIME, *CLASSES):
        resource = next(each for each in RESOURCES if each.kind == document["kind"])
        group = f"/apis/{document['apiVersion']}" if resource.group else "/api/v1"
        scope = "/namespaces/default" if resource.namespaced else ""
        api.ok("POST", f"{group}{scope}/{resource.plural}", document)
    monkeypatch.setattr(Store, "set_of", noted)
    for module, name in ((pods, "admit_new"), (namespace_limits, "check_pod_limits"), (namespace_limits, "charges")):
        monkeypatch.setattr(module, name, recording(getattr(module, name)))
    api.ok("POST", "/api/v1/namespaces/default/pods", an_object("Pod", spec=SPEC))
    api.ok("POST", "/api/v1/namespaces/default/persistentvolumeclaims", CLAIM)
    api.ok("POST", "/apis/resource.k8s.io/v1/namespaces/default/resourceclaims", DEVICES)
    return kinds, paths


# the service account of a pod gives it a token, and says which secrets pull its images: scheduling reads neither
NOT_SCHEDULED = {"serviceAccountName", "serviceAccount", "automountServiceAccountToken", "imagePullSecrets"}


def fields_of(struct: type[msgspec.Struct]) -> set[str]:
    return {field.encode_name for field in msgspec.structs.fields(struct)}


def test_every_kind_that_admission_reads_is_read_from_sources(read_by_admission: tuple[set[str], set[str]]) -> None:
    kinds, _ = read_by_admission
    assert {"LimitRange", "ResourceQuota", "RuntimeClass", "PriorityClass"} <= kinds
    assert kinds - {"ServiceAccount"} <= KINDS.keys() | ADMISSION_KINDS.keys()
    # what is uncertain without a kind can be said
    assert ADMISSION_KINDS.keys() <= UNADMITTED.keys()


def test_every_field_that_admission_reads_is_kept(read_by_admission: tuple[set[str], set[str]]) -> None:
    _, paths = read_by_admission
    fields = {
        Pod.__name__: fields_of(PodSpec) | NOT_SCHEDULED,
        PersistentVolumeClaim.__name__: fields_of(type(PersistentVolumeClaim().spec)),
    }
    for kind, known in fields.items():
        read = {path.split(".")[1] for path in paths if path.startswith(f"{kind}:spec.")}
        assert read, kind
        assert read <= known, kind
    assert {"runtimeClassName", "priorityClassName", "activeDeadlineSeconds"} <= fields_of(PodSpec)


def leaves(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield the leaves of a document with their paths; names of the API server's are left out."""
    if isinstance(value, dict):
        for field, each in value.items():
            if path or field != "metadata":
                yield from leaves(each, f"{path}.{field}")
    elif isinstance(value, list):
        for number, each in enumerate(value):
            yield from leaves(each, f"{path}[{number}]")
    else:
        yield path, value


def live(folder: Path) -> ClusterObjects:
    node = an_object("Node", namespace="")
    with a_served_cluster(folder, node, *ADMITTING, *CLASSES) as served:
        return read_cluster(ClusterSource(kubeconfig=served.kubeconfig()))


def exported(folder: Path) -> ClusterObjects:
    documents = [*ADMITTING, *CLASSES]
    items = [{**each, "metadata": {**each["metadata"], "uid": str(at)}} for at, each in enumerate(documents)]
    file = folder / "all.json"
    file.write_bytes(msgspec.json.encode({"apiVersion": "v1", "kind": "List", "items": items}))
    return read_files([str(file)])


def drafted(folder: Path) -> ClusterObjects:
    file = folder / "all.yaml"
    file.write_text(yaml.safe_dump_all([*ADMITTING, *CLASSES]))
    return read_files([str(file)])


def snapped(folder: Path) -> ClusterObjects:
    return read_snapshot("here", snapshot_bytes(exported(folder)))


def hidden(folder: Path) -> ClusterObjects:
    return read_snapshot("here", snapshot_bytes(anonymised(exported(folder), b"key")))


SOURCES = [live, exported, drafted, snapped, hidden]


@pytest.mark.parametrize("source", SOURCES, ids=[each.__name__ for each in SOURCES])
def test_every_source_delivers_all_fields_of_what_admits_pods(source: Any, tmp_path: Path) -> None:
    cluster = source(tmp_path)
    assert not {"LimitRange", "ResourceQuota", "RuntimeClass", "PriorityClass", "StorageClass"} & set(cluster.unread)
    by_kind = {document["kind"]: document for document in cluster.admission}
    for document in ADMITTING:
        found = dict(leaves(by_kind[document["kind"]]))
        wanted = dict(leaves(document))
        if source in (live, drafted):
            # the API server in this process writes it
            wanted = {path: value for path, value in wanted.items() if not path.startswith(".status")}
        assert wanted.keys() <= found.keys()
        if source is not hidden:
            assert wanted.items() <= found.items()
    names = {type(obj).__name__ for obj in cluster.objects}
    assert {"PriorityClass", "StorageClass"} <= names


def test_a_template_of_a_workload_keeps_what_admission_reads() -> None:
    deployment = an_object("Deployment", "apps/v1", spec={"template": {"metadata": {}, "spec": SPEC}})
    spec = reduced_document(deployment)["spec"]["template"]["spec"]
    for field in ("runtimeClassName", "priorityClassName", "activeDeadlineSeconds"):
        assert spec[field] == SPEC[field]


# -- gaps


def test_a_kind_that_may_not_be_read_is_a_gap_and_unread(tmp_path: Path) -> None:
    rules = [a_rule("list", "nodes pods")]
    with a_served_cluster(tmp_path, *ADMITTING, rules=rules) as served:
        cluster = read_cluster(ClusterSource(kubeconfig=served.kubeconfig("anna")))
    assert set(cluster.unread) == UNADMITTED.keys()
    gaps = {gap.what: gap.uncertain for gap in cluster.gaps}
    assert {kind: gaps[kind] for kind in UNADMITTED} == UNADMITTED


def test_an_older_snapshot_does_not_have_the_kinds(tmp_path: Path) -> None:
    head, *lines = gzip.decompress(snapshot_bytes(ClusterObjects(()))).splitlines()
    header = msgspec.json.decode(head)
    del header["unread"]
    old = gzip.compress(b"\n".join([msgspec.json.encode(header), *lines]) + b"\n")
    assert set(read_snapshot("old", old).unread) == ADMISSION_KINDS.keys()


def test_an_export_may_lack_kinds_of_which_it_has_no_object(tmp_path: Path) -> None:
    document = an_object("Node", namespace="")
    document["metadata"]["uid"] = "1"
    first, second = tmp_path / "nodes.json", tmp_path / "limits.json"
    first.write_bytes(msgspec.json.encode(document))
    assert set(read_files([str(first)]).unread) == UNADMITTED.keys()
    limits = {**LIMITS, "metadata": {**LIMITS["metadata"], "uid": "2"}}
    second.write_bytes(msgspec.json.encode(limits))
    assert set(read_files([str(first), str(second)]).unread) == UNADMITTED.keys() - {"LimitRange"}


def test_manifests_are_the_whole_cluster(tmp_path: Path) -> None:
    file = tmp_path / "node.json"
    file.write_bytes(msgspec.json.encode(an_object("Node", namespace="")))
    assert read_files([str(file)]).unread == ()


def test_a_quota_of_a_manifest_beside_a_cluster_is_counted_with_its_objects(tmp_path: Path) -> None:
    export = exported(tmp_path)
    assert next(each for each in export.admission if each["kind"] == "ResourceQuota")["status"] == QUOTA["status"]
    draft = tmp_path / "quota.json"
    draft.write_bytes(msgspec.json.encode(QUOTA))
    again = read_files([str(tmp_path / "all.json"), str(draft)])
    assert "status" not in next(each for each in again.admission if each["kind"] == "ResourceQuota")


@pytest.mark.parametrize(
    ("document", "message"),
    [
        pytest.param(
            an_object("ResourceQuota", status={"hard": {"pods": "many"}}),
            "ResourceQuota the-resourcequota: status.hard[pods]: 'many'",
            id="a quantity",
        ),
        pytest.param(
            an_object("ResourceQuota", spec={"scopes": "BestEffort"}),
            "ResourceQuota the-resourcequota: Expected `array | null`, got `str` - at `$.spec.scopes`",
            id="a list",
        ),
        pytest.param(
            an_object("LimitRange", spec={"limits": [{"type": "Pod", "max": {"cpu": "1.2.3"}}]}),
            "LimitRange the-limitrange: spec.limits[0].max[cpu]: '1.2.3'",
            id="a limit",
        ),
        pytest.param(
            an_object("RuntimeClass", "node.k8s.io/v1", overhead={"podFixed": {"cpu": True}}),
            "RuntimeClass the-runtimeclass: ",
            id="an overhead",
        ),
        pytest.param(
            {"apiVersion": "v1", "kind": "LimitRange", "metadata": {}}, "LimitRange without a name", id="no name"
        ),
    ],
)
def test_what_cannot_be_read_names_object_and_field(document: Document, message: str) -> None:
    with pytest.raises(InvalidObjectError) as error:
        reduced_document(document)
    assert str(error.value).startswith(message)


# -- what is filled in


NODE_STATUS = {"allocatable": {"cpu": "8", "memory": "8Gi", "pods": "110"}}


@pytest.mark.parametrize(
    ("node_status", "allocatable", "gap"),
    [
        pytest.param(NODE_STATUS, NODE_STATUS["allocatable"], "", id="what a manifest states is all"),
        pytest.param(
            {"capacity": NODE_STATUS["allocatable"]},
            NODE_STATUS["allocatable"],
            "its capacity counts: cpu 8, memory 8Gi, pods 110",
            id="a capacity counts",
        ),
        pytest.param({}, None, "a default counts: ", id="a node that states nothing has a default"),
    ],
)
def test_a_node_takes_what_its_manifest_states(
    node_status: Document, allocatable: Document | None, gap: str, tmp_path: Path
) -> None:
    file = tmp_path / "node.json"
    file.write_bytes(msgspec.json.encode(an_object("Node", namespace="", status=node_status)))
    cluster = read_files([str(file)])
    (node,) = (msgspec.json.decode(encode(obj)) for obj in cluster.objects if type(obj).__name__ == "Node")
    if allocatable is not None:
        assert node["status"]["allocatable"] == allocatable
    assert [each.what for each in cluster.gaps] == (["the capacity of Node the-node"] if gap else [])
    assert all(each.uncertain.startswith(gap) for each in cluster.gaps)
