"""Loading manifests: files, folders, standard input; what is wrong is named, the rest is loaded."""

import io
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from kubesched.manifests import Manifest, read
from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.loading.loader import WARN, LoadReport, load
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: "4"}, phase: Running}
"""
POD = """
apiVersion: v1
kind: Pod
metadata: {name: p1}
spec: {containers: [{name: c, image: i}]}
"""


class Loading:
    """A server to load into, and a folder to load from."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.server = ApiServer(access=always_allow, seed=1)
        self.client = LocalClient(self.server, ADMINISTRATOR)
        bootstrap(self.client)

    def file(self, name: str, content: str | bytes) -> str:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return str(path)

    def load(self, *contents: str) -> LoadReport:
        """Load texts as files a.yaml, b.yaml, ..."""
        return load(self.server, [self.file(f"{chr(97 + number)}.yaml", text) for number, text in enumerate(contents)])

    def get(self, kind: str, name: str, namespace: str = "", api_version: str = "v1") -> dict[str, Any]:
        found = self.client.get(self.client.resource(api_version, kind), namespace, name)
        assert found is not None, f"{kind} {name} is not there"
        return found

    def problems(self, *contents: str) -> list[str]:
        return [problem.replace(f"{self.folder}/", "") for problem in self.load(*contents).problems]


@pytest.fixture
def loading(tmp_path: Path) -> Loading:
    return Loading(tmp_path)


def test_several_documents_come_in_and_empty_ones_do_not_count(loading: Loading) -> None:
    report = loading.load(f"# a comment\n---\n{NODE}\n---\n# nothing here\n---   # more\n{POD}\n--- \nnull\n---")
    assert report == LoadReport(2, [], given=2)
    assert loading.get("Pod", "p1", "default")["spec"]["containers"][0]["name"] == "c"


def test_status_is_kept(loading: Loading) -> None:
    pod = POD + "status: {phase: Running, startTime: '2020-01-01T00:00:00Z'}\n"
    assert loading.load(NODE + "---" + pod).problems == []
    assert loading.get("Node", "n1")["status"]["allocatable"] == {"cpu": "4"}
    assert loading.get("Pod", "p1", "default")["status"]["phase"] == "Running"


def test_lists_of_any_kind_are_taken_apart(loading: Loading) -> None:
    pods = {"apiVersion": "v1", "kind": "PodList", "items": [{"metadata": {"name": "x"}, "spec": a_spec()}]}
    nodes = [{"apiVersion": "v1", "kind": "Node", "metadata": {"name": f"n{number}"}} for number in range(3)]
    outer = {"apiVersion": "v1", "kind": "List", "items": [*nodes, pods], "metadata": {"resourceVersion": ""}}
    empty = {"apiVersion": "v1", "kind": "List", "items": None}
    assert loading.load(json.dumps(outer), json.dumps(empty)) == LoadReport(4, [], given=4)
    assert loading.get("Pod", "x", "default")["metadata"]["name"] == "x"


def a_spec() -> dict[str, Any]:
    return {"containers": [{"name": "c", "image": "i"}]}


def test_what_others_need_comes_first_and_otherwise_the_order_of_the_files_holds(loading: Loading) -> None:
    order: list[str] = []

    def remember(manifests: Sequence[Manifest]) -> Sequence[Manifest]:
        order.extend(f"{manifest.kind} {manifest.name}" for manifest in manifests)
        return manifests

    text = """---
{apiVersion: v1, kind: Pod, metadata: {name: b, namespace: own},
 spec: {priorityClassName: high, containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: a, namespace: own}, spec: {containers: [{name: c, image: i}]}}
---
{apiVersion: v1, kind: Node, metadata: {name: z}}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 5}
---
{apiVersion: v1, kind: Namespace, metadata: {name: own}}
"""
    report = load(loading.server, [loading.file("a.yaml", text)], remember)
    assert report == LoadReport(5, [], given=5)
    assert order == ["Namespace own", "PriorityClass high", "Node z", "Pod b", "Pod a"]


def test_folders_are_read_in_order_with_their_folders(loading: Loading) -> None:
    for name in ("b.yml", "a/deep/x.json", "c.yaml", "a.yaml"):
        loading.file(name, json.dumps({"apiVersion": "v1", "kind": "Node", "metadata": {"name": name[0]}}))
    loading.file("notes.txt", "no manifest")
    manifests, problems = read([str(loading.folder)])
    assert [Path(manifest.place.partition(":")[0]).name for manifest in manifests] == [
        "a.yaml",
        "b.yml",
        "c.yaml",
        "x.json",
    ]
    assert problems == []


def test_standard_input_is_a_file_like_any(loading: Loading, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(NODE.encode())))
    assert load(loading.server, ["-"]) == LoadReport(1, [], given=1)
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(b"kind: [")))
    (problem,) = load(loading.server, ["-"]).problems
    assert problem.startswith("<stdin>: document 1: yaml: line ")


def test_a_dump_keeps_uids_age_and_what_refers_to_them(loading: Loading) -> None:
    dump = """
apiVersion: v1
kind: List
items:
- apiVersion: v1
  kind: PersistentVolume
  metadata: {name: pv, uid: pv-uid, resourceVersion: "7", creationTimestamp: "2020-01-02T03:04:05Z", managedFields: []}
  spec:
    capacity: {storage: 1Gi}
    accessModes: [ReadWriteOnce]
    hostPath: {path: /x}
    claimRef: {apiVersion: v1, kind: PersistentVolumeClaim, name: pvc, namespace: default, uid: pvc-uid}
  status: {phase: Bound}
- apiVersion: v1
  kind: PersistentVolumeClaim
  metadata: {name: pvc, namespace: default, uid: pvc-uid, resourceVersion: "8"}
  spec: {accessModes: [ReadWriteOnce], volumeName: pv, resources: {requests: {storage: 1Gi}}}
  status: {phase: Bound}
"""
    assert loading.load(dump).problems == []
    volume, claim = loading.get("PersistentVolume", "pv"), loading.get("PersistentVolumeClaim", "pvc", "default")
    assert volume["spec"]["claimRef"]["uid"] == claim["metadata"]["uid"] == "pvc-uid"
    assert (volume["metadata"]["uid"], volume["metadata"]["creationTimestamp"]) == ("pv-uid", "2020-01-02T03:04:05Z")
    assert volume["status"]["phase"] == claim["status"]["phase"] == "Bound"


def test_what_the_server_came_with_is_replaced_but_nothing_is_loaded_twice(loading: Loading) -> None:
    space = "---\n{apiVersion: v1, kind: Namespace, metadata: {name: default, uid: u, labels: {a: b}}}"
    assert loading.load(space).problems == []
    assert loading.get("Namespace", "default")["metadata"]["labels"]["a"] == "b"
    assert loading.problems(NODE.replace("n1", "n2") + "---" + NODE.replace("n1", "n2")) == [
        'a.yaml: document 2: Node "n2": nodes "n2" already exists'
    ]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        pytest.param("a: b\na: c", 'document 1: yaml: line 2: key "a" already set in map', id="a key twice"),
        pytest.param(f"{NODE}---\n- [", "document 2: yaml: line 8: ", id="torn YAML, its line in the file"),
        pytest.param('{"a": 1, "a": 2}', 'document 1: yaml: line 1: key "a" already set', id="a key twice in JSON"),
        pytest.param("just text", "document 1: an object was expected, found text", id="a text"),
        pytest.param("[1, 2]", "document 1: an object was expected, found a list", id="a list that is no List"),
        pytest.param("kind: List\nitems: 5", "document 1: List: items: a list was expected, found a number", id="item"),
        pytest.param(
            "kind: List\nitems: [5]", "document 1: List: items[0]: an object was expected, found a number", id="an item"
        ),
        pytest.param(
            "metadata: {name: x}",
            'document 1: an object without a kind "x": apiVersion is not set',
            id="neither kind nor version",
        ),
        pytest.param(
            "---\n{apiVersion: v1, kind: 7}", 'document 1: 7 "": kind is not set', id="a kind that is no text"
        ),
        pytest.param(
            "---\n{apiVersion: example.com/v1, kind: Foo, metadata: {name: x}}",
            'document 1: Foo "x": no matches for kind "Foo" in version "example.com/v1"',
            id="an unknown kind",
        ),
        pytest.param(
            "---\n{apiVersion: storage.k8s.io/v1beta1, kind: StorageClass, metadata: {name: x}}",
            'document 1: StorageClass "x": no matches for kind "StorageClass" in version "storage.k8s.io/v1beta1"; '
            "it is served in storage.k8s.io/v1",
            id="an old version",
        ),
        pytest.param(
            "---\n{apiVersion: v1, kind: Pod, metadata: {name: x, namespace: nowhere}, spec: {}}",
            'document 1: Pod "x": namespaces "nowhere" not found',
            id="a namespace that is not there",
        ),
        pytest.param(
            "---\n{apiVersion: v1, kind: Node}",
            'document 1: Node "": metadata: an object was expected, found nothing',
            id="no metadata",
        ),
        pytest.param(
            "---\n{apiVersion: v1, kind: Node, metadata: [name]}",
            'document 1: Node "": metadata: an object was expected, found a list',
            id="metadata of another shape",
        ),
        pytest.param(
            "---\n{apiVersion: v1, kind: Pod, metadata: {name: x, namespace: [1]}}",
            'document 1: Pod "x": metadata.namespace: text was expected, found a list',
            id="a namespace that is no text",
        ),
        pytest.param(
            "---\n{apiVersion: v1, kind: Node, metadata: {name: Not_A_Name}}",
            'document 1: Node "Not_A_Name": Node "Not_A_Name" is invalid: metadata.name: Invalid value: ',
            id="what the server refuses",
        ),
        pytest.param(
            "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: x}, data: {a: 1%s}}" % ("0" * 30),
            'document 1: ConfigMap "x": ',
            id="a number without end",
        ),
    ],
)
def test_what_is_wrong_is_named_and_the_others_are_loaded(loading: Loading, text: str, problem: str) -> None:
    (found,) = loading.problems(text, NODE.replace("n1", "other"))
    assert found.startswith(f"a.yaml: {problem}"), found
    assert loading.get("Node", "other")["metadata"]["name"] == "other"


def test_files_that_cannot_be_read_are_named(loading: Loading) -> None:
    (loading.folder / "empty").mkdir()
    binary = loading.file("binary.yaml", b"\xff\xfe\x00")
    marked = loading.file("marked.yaml", b"\xef\xbb\xbf" + NODE.encode())
    missing, empty = str(loading.folder / "missing.yaml"), str(loading.folder / "empty")
    report = load(loading.server, [missing, empty, binary, marked])
    assert report.loaded == 1
    assert report.problems == [
        f"{missing}: No such file or directory",
        f"{empty}: no files that end in .yaml, .yml, .json",
        f"{binary}: not UTF-8: invalid start byte at byte 0",
    ]


def test_a_list_may_be_long(loading: Loading) -> None:
    # longer than a document whose aliases would be called a bomb
    labels = {f"label{number}": "x" for number in range(50)}
    items = [
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": f"c{n}", "labels": labels}} for n in range(1100)
    ]
    text = "apiVersion: v1\nkind: List\nitems:\n" + "".join(f"- {json.dumps(item)}\n" for item in items)
    assert loading.load(text) == LoadReport(1100, [], given=1100)


def test_a_file_without_an_end_is_given_up_where_it_is_no_text(loading: Loading) -> None:
    (problem,) = load(loading.server, ["/dev/zero"]).problems
    assert problem.startswith("/dev/zero: document 1: yaml: ")


MISSPELT = POD.replace("spec: {", "spec: {nodeNme: n1, ")


def test_fields_that_do_not_exist_are_refused_once_a_kind(loading: Loading) -> None:
    deployment = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: d}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec: {nodeSelectr: {"a\\"b": c}, containers: [{name: c, image: i}]}
"""
    text = MISSPELT + "---" + MISSPELT.replace("p1", "p2") + "---" + deployment
    lines = [
        ('a.yaml: document 1: Pod "p1": ', 'unknown field "spec.nodeNme"', " (and 1 more)"),
        ('a.yaml: document 3: Deployment "d": ', 'unknown field "spec.template.spec.nodeSelectr"', ""),
    ]
    report = loading.load(text, NODE)
    assert (report.loaded, report.refused) == (1, 3)
    assert [problem.replace(f"{loading.folder}/", "") for problem in report.problems] == [
        "".join(line) for line in lines
    ]
    report = load(loading.server, [loading.file("a.yaml", text)], validation=WARN)
    assert (report.loaded, report.problems) == (3, [])
    assert sorted(warning.replace(f"{loading.folder}/", "") for warning in report.warnings) == [
        "".join(line) for line in lines
    ]


# -- objects of another cluster


def of_a_cluster(*objects: dict[str, Any]) -> str:
    """Return a list as kubectl writes it."""
    items = [
        {**each, "metadata": {"uid": f"uid-{number}", "managedFields": [], **each["metadata"]}}
        for number, each in enumerate(objects)
    ]
    return json.dumps({"apiVersion": "v1", "kind": "List", "items": items, "metadata": {"resourceVersion": ""}})


def an_object(kind: str, name: str = "x", namespace: str = "", api_version: str = "v1", **rest: Any) -> dict[str, Any]:
    meta = {"name": name, "namespace": namespace} if namespace else {"name": name}
    return {"apiVersion": api_version, "kind": kind, "metadata": meta, **rest}


def test_namespaces_that_were_left_behind_are_made(loading: Loading) -> None:
    pods = [an_object("Pod", f"p{number}", "shop", spec=a_spec()) for number in range(3)]
    report = loading.load(of_a_cluster(*pods, an_object("Pod", "other", "data", spec=a_spec())))
    assert (report.loaded, report.problems, report.namespaces) == (4, [], 2)
    # who writes pods for a namespace can also write the namespace
    assert loading.problems(json.dumps(an_object("Pod", "p9", "shpo", spec=a_spec()))) == [
        'a.yaml: document 1: Pod "p9": namespaces "shpo" not found'
    ]


def test_an_object_in_an_invalid_namespace_is_refused_and_the_others_are_loaded(
    loading: Loading,
) -> None:
    strange, good = an_object("ConfigMap", "a", "No Such"), an_object("ConfigMap", "b", "fine")
    found = loading.load(of_a_cluster(strange, good))
    assert (found.loaded, found.namespaces, found.refused) == (1, 1, 1)
    assert len(found.problems) == 1
    assert found.problems[0].endswith('ConfigMap "a": namespaces "No Such" not found')


def test_a_problem_that_many_have_is_told_once(loading: Loading) -> None:
    pods = [an_object("Pod", f"p{number}", "nowhere", spec=a_spec()) for number in range(254)]
    report = loading.load(json.dumps({"apiVersion": "v1", "kind": "List", "items": pods}))
    assert report.refused == 254
    (problem,) = report.problems
    assert problem.endswith('items[0]: Pod "p0": namespaces "nowhere" not found (and 253 more)')


ADMITTED = {
    "a priority class that was left behind": {"priorityClassName": "high", "priority": 7},
    "a runtime class that was left behind": {"runtimeClassName": "kata", "overhead": {"cpu": "250m"}},
    "a priority that its class does not have any more": {"priorityClassName": "system-node-critical", "priority": 5},
    "keys of labels that were merged already": {
        "topologySpreadConstraints": [
            {
                "maxSkew": 1,
                "topologyKey": "kubernetes.io/hostname",
                "whenUnsatisfiable": "DoNotSchedule",
                "matchLabelKeys": ["app"],
                "labelSelector": {"matchExpressions": [{"key": "app", "operator": "In", "values": ["web"]}]},
            }
        ]
    },
}


@pytest.mark.parametrize("spec", ADMITTED.values(), ids=ADMITTED)
def test_a_pod_that_was_admitted_once_is_taken_as_it_is(loading: Loading, spec: dict[str, Any]) -> None:
    limits = an_object(
        "LimitRange", "l", "default", spec={"limits": [{"type": "Container", "defaultRequest": {"cpu": "1"}}]}
    )
    pod = an_object("Pod", "p", "default", spec={**a_spec(), **spec})
    pod["metadata"]["labels"] = {"app": "web"}
    report = loading.load(of_a_cluster(limits, pod))
    assert report.problems == []
    found = loading.get("Pod", "p", "default")["spec"]
    assert {field: found[field] for field in spec} == spec
    assert found["containers"][0]["resources"] == {}, "a limit range says nothing about who was there before it"
    assert "tolerations" not in found


def test_a_claim_without_a_class_stays_without(loading: Loading) -> None:
    default = {"storageclass.kubernetes.io/is-default-class": "true"}
    storage = an_object("StorageClass", "std", api_version="storage.k8s.io/v1", provisioner="example.com/x")
    storage["metadata"]["annotations"] = default
    spec = {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}}
    assert (
        loading.load(of_a_cluster(storage, an_object("PersistentVolumeClaim", "c", "default", spec=spec))).loaded == 2
    )
    assert "storageClassName" not in loading.get("PersistentVolumeClaim", "c", "default")["spec"]


def test_kinds_that_are_not_served_here_are_left_out_with_a_count(loading: Loading) -> None:
    nameless = {"apiVersion": "v1", "kind": "ComponentStatus", "metadata": {"name": "etcd-0", "uid": ""}}
    dump = of_a_cluster(
        an_object("NodeMetrics", "a", api_version="metrics.example.com/v1"),
        an_object("NodeMetrics", "b", api_version="metrics.example.com/v1"),
        an_object("Rocket", "c", "shop", api_version="space.example.com/v1"),
        nameless,
        an_object("Node", "n"),
    )
    report = loading.load(dump)
    assert (report.loaded, report.problems) == (1, [])
    assert report.skipped == {"NodeMetrics": 2, "Rocket": 1, "ComponentStatus": 1}


def test_what_a_server_has_of_its_own_and_cannot_replace_stays(loading: Loading) -> None:
    binding = an_object(
        "ClusterRoleBinding",
        "system:kube-scheduler",
        api_version="rbac.authorization.k8s.io/v1",
        roleRef={"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": "another"},
    )
    assert loading.load(of_a_cluster(binding)) == LoadReport(0, [], kept=1, given=1)
    (problem,) = loading.problems(json.dumps(binding))
    assert "cannot change roleRef" in problem, "who writes it is told"


def test_a_status_that_cannot_be_is_left_out(loading: Loading) -> None:
    condition = {"type": "Ready", "status": "True", "lastTransitionTime": "2026-01-01T00:00:00Z", "message": ""}
    network = an_object(
        "ServiceCIDR",
        "own",
        api_version="networking.k8s.io/v1",
        spec={"cidrs": ["10.9.0.0/16"]},
        status={"conditions": [condition]},
    )
    report = loading.load(of_a_cluster(network))
    assert (report.loaded, report.problems) == (1, [])
    (warning,) = report.warnings
    assert 'ServiceCIDR "own": its status is left out: ' in warning
    assert len(loading.problems(json.dumps({**network, "metadata": {"name": "m"}}))) == 1, "who writes it is told"


def test_what_a_cluster_shows_twice_is_loaded_once(loading: Loading) -> None:
    pod = an_object("Pod", "p", "default", spec=a_spec())
    assert loading.load(of_a_cluster(pod), of_a_cluster(pod)) == LoadReport(1, [], given=2)


def test_fields_of_another_release_are_warned_of_in_what_comes_from_a_cluster(loading: Loading) -> None:
    pods = [an_object("Pod", f"p{number}", "default", spec={**a_spec(), "novelty": 1}) for number in range(3)]
    report = loading.load(of_a_cluster(*pods))
    assert (report.loaded, report.problems) == (3, [])
    (warning,) = report.warnings
    assert warning.endswith('Pod "p0": unknown field "spec.novelty" (and 2 more)')


def test_values_that_no_cluster_would_take_are_refused_whoever_says_them(loading: Loading) -> None:
    pod = an_object("Pod", "p", "default", spec={"containers": []})
    (problem,) = loading.load(of_a_cluster(pod)).problems
    assert "spec.containers: Required value" in problem
