"""Objects that no API server would let in, or that are odd and let in: the others are scheduled all the same."""

import copy
import itertools
from collections.abc import Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.support.api_client import Document, document_of
from tests.support.clusters import ALONE, ClusterState, a_cluster_process, bound, unschedulable
from tests.support.good_objects import GOOD
from tests.support.processes import a_scheduler
from tests.support.unchecked_server import UncheckedServer, an_unchecked_server

from kubesched.api.kinds import KINDS
from kubesched.api.paths import CLUSTER_SCOPED, path_of
from kubesched.testing import a_node, a_pod

# real processes, for seconds each
pytestmark = pytest.mark.slow

MEBIBYTE = 2**20
FLAGS = (ALONE, "--secure-port=0", "--kube-api-qps=5000", "--kube-api-burst=5000", "--kubeconfig")
# what the scheduler looks at
FOLLOWED = frozenset(KINDS) - {"Lease", "LeaseCandidate", "Event", "PriorityClass", "Workload", "PodGroup"}
_SELECTOR = {"matchLabels": {"a": "b"}, "matchExpressions": [{"key": "k", "operator": "In", "values": ["v"]}]}
_TERM = {"labelSelector": _SELECTOR, "topologyKey": "zone", "namespaces": ["default"], "namespaceSelector": _SELECTOR}
_WEIGHTED = {"weight": 1, "podAffinityTerm": _TERM}
_NODE_TERM = {"matchExpressions": [{"key": "k", "operator": "Gt", "values": ["1"]}], "matchFields": []}
# each has one part that some plugin looks at
POD_SPECS: list[Document] = [
    {"containers": [{"name": "c", "ports": [{"hostPort": 80, "protocol": "TCP", "hostIP": "127.0.0.1"}]}]},
    {
        "containers": [{"name": "c", "resources": {"requests": {"cpu": "1m", "example.com/a": 1}, "limits": {}}}],
        "initContainers": [{"name": "i", "restartPolicy": "Always", "resources": {"requests": {"cpu": "1m"}}}],
        "overhead": {"cpu": "1m"},
    },
    {"priority": 1, "preemptionPolicy": "Never", "nodeSelector": {"a": "b"}},
    {"tolerations": [{"key": "k", "operator": "Exists", "effect": "NoSchedule", "tolerationSeconds": 1}]},
    {"schedulingGates": [{"name": "g"}]},
    {"volumes": [{"name": "v", "persistentVolumeClaim": {"claimName": "c"}}]},
    {"volumes": [{"name": "e", "ephemeral": {"volumeClaimTemplate": {"spec": {"accessModes": ["ReadWriteOnce"]}}}}]},
    {"volumes": [{"name": "g", "gcePersistentDisk": {"pdName": "d"}}, {"name": "c", "configMap": {"name": "m"}}]},
    {"resourceClaims": [{"name": "c", "resourceClaimName": "x"}]},
    {
        "affinity": {
            "nodeAffinity": {
                "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [_NODE_TERM]},
                "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "preference": _NODE_TERM}],
            }
        }
    },
    {"affinity": {"podAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": [_TERM]}}},
    {"affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [_WEIGHTED]}}},
    {
        "topologySpreadConstraints": [
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "labelSelector": _SELECTOR},
            {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway", "minDomains": 2},
        ]
    },
]

# what no API server lets in
ODD_NAMES = ("\U0001f600" * 30, "\u202e\u200fabc", "a\x00b", "a\nb", "x" * 100_000, "", " ", "?a=b", "%2e%2e", "\ufffd")

# -- what is put into the store; each is a kind and what is different in it

NODES: dict[str, Document] = {
    "negative": {"status": {"allocatable": {"cpu": "-5", "memory": "-1Gi", "pods": "-1"}}},
    "huge": {
        "status": {"allocatable": {"cpu": "99999999999999999999E", "memory": "9223372036854775807", "pods": "1e9"}}
    },
    "endless": {"status": {"allocatable": {"cpu": "1e1000000000"}}},
    "words": {"status": {"allocatable": {"cpu": "plenty", "memory": ""}}},
    "numbers": {"status": {"allocatable": {"cpu": 1.5, "memory": 10**30, "pods": 3}}},
    "nulls": {"metadata": {"labels": None, "annotations": None}, "spec": None, "status": None},
    "lists": {"spec": [], "status": {"allocatable": ["cpu"], "images": {}}},
    "odd-labels": {"metadata": {"labels": {"größe": "ünïcödé", "number": 5, "": "", "kubernetes.io/hostname": None}}},
    "odd-taints": {"spec": {"taints": [None, {}, {"key": "k"}, {"key": "k", "effect": "Weird"}]}},
    "odd-images": {"status": {"images": [None, {"names": None, "sizeBytes": -1}, {"names": [""], "sizeBytes": 1e30}]}},
    "odd-time": {"metadata": {"creationTimestamp": "yesterday"}},
    "ünïcödé": {},
    "../../pods": {},
    "n" * 3000: {},
    **{name: {} for name in ODD_NAMES},
    "large": {"metadata": {"annotations": {"text": "x" * MEBIBYTE}}},
}


def pods() -> dict[str, Document]:
    """Return strange pods."""

    def requesting(**amounts: Any) -> Document:
        return {"spec": {"containers": [{"name": "c", "resources": {"requests": amounts}}]}}

    def wanting(kind: str, *terms: Any, node: str = "") -> Document:
        affinity = {kind: {"requiredDuringSchedulingIgnoredDuringExecution": list(terms)}}
        return {"spec": {"affinity": affinity, "nodeName": node}}

    def spread(**constraint: Any) -> Document:
        return {"spec": {"topologySpreadConstraints": [constraint]}}

    weird = {"matchExpressions": [{"key": "k", "operator": "Weird", "values": None}]}
    node_terms = {"nodeSelectorTerms": [weird, {"matchExpressions": [{"key": "k", "operator": "Gt", "values": ["x"]}]}]}
    return {
        "unknown-fields": {"spec": {"shinyNewThing": {"a": [1, {"b": None}]}}, "status": {"more": True}, "extra": 1},
        "negative": requesting(cpu="-1", memory="-1Gi"),
        "endless": requesting(cpu="1e1000000000"),
        "words": requesting(cpu="some"),
        "odd-resources": requesting(**{"": "1", "a/b/c": "1", "ünïcödé/x": "1"}),
        "no-containers": {"spec": {"containers": None, "initContainers": {}}},
        "nulls": {"spec": None, "status": None},
        "lists": {"spec": [], "status": []},
        "odd-labels": {"metadata": {"labels": {"größe": "ünïcödé", "number": 5}}},
        "odd-priority": {"spec": {"priority": 10**12}},
        "wordy-priority": {"spec": {"priority": "high"}},
        "no-scheduler": {"spec": {"schedulerName": None}},
        "node-affinity": {
            "spec": {
                "affinity": {
                    "nodeAffinity": {
                        "requiredDuringSchedulingIgnoredDuringExecution": node_terms,
                        "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 10**9, "preference": weird}],
                    }
                }
            }
        },
        "pod-affinity": wanting("podAffinity", {"labelSelector": weird, "topologyKey": ""}, None, {}),
        "pod-anti-affinity": wanting("podAntiAffinity", {"labelSelector": weird, "topologyKey": "a"}),
        "bound-affinity": wanting("podAffinity", {"labelSelector": weird, "topologyKey": "a"}, node="good"),
        "no-skew": spread(maxSkew=0, topologyKey="kubernetes.io/hostname", whenUnsatisfiable="DoNotSchedule"),
        "odd-skew": spread(maxSkew=-(10**12), topologyKey="", whenUnsatisfiable="Never", labelSelector=weird),
        "odd-tolerations": {"spec": {"tolerations": [None, {"operator": "Weird", "tolerationSeconds": 10**30}]}},
        "odd-volumes": {"spec": {"volumes": [None, {}, {"persistentVolumeClaim": {}}, {"ephemeral": None}]}},
        "odd-claims": {"spec": {"resourceClaims": [None, {}, {"name": "a", "resourceClaimName": ""}]}},
        "odd-ports": {"spec": {"containers": [{"name": "c", "ports": [{"hostPort": -1}, {"hostPort": 10**9}, None]}]}},
        "odd-overhead": {"spec": {"overhead": {"cpu": "-1"}}},
        "nowhere": {"spec": {"nodeName": "no/such/node"}},
        "odd-nomination": {"status": {"nominatedNodeName": "no/such/node", "conditions": [None, {}]}},
        "ünïcödé": {},
        "../../nodes": {},
        "p" * 3000: {},
        **{name: {} for name in ODD_NAMES},
        "large": {"metadata": {"annotations": {"text": "x" * MEBIBYTE}}},
    }


def changed(base: Mapping[str, Any], change: Mapping[str, Any]) -> Document:
    """Return a document with something else in it."""
    found = dict(base)
    for key, value in change.items():
        inner = found.get(key)
        found[key] = changed(inner, value) if isinstance(inner, dict) and isinstance(value, dict) else value
    return found


def mutilated(document: Document, limit: int = 6) -> Iterator[Document]:
    """Yield copies of a document in each of which one part is replaced by something that it is not."""
    for path in _paths(document, limit):
        others: list[Any] = [None, [], {}, "word", -1, [None]]
        for other in others:
            copied = copy.deepcopy(document)
            inner = copied
            for step in path[:-1]:
                inner = inner[step]
            inner[path[-1]] = other
            yield copied


def _paths(part: Any, limit: int) -> Iterator[tuple[Any, ...]]:
    steps = part.items() if isinstance(part, dict) else enumerate(part) if isinstance(part, list) else ()
    for step, inner in steps:
        yield (step,)
        if limit:
            yield from ((step, *path) for path in _paths(inner, limit - 1))


def metadata(kind: str, number: int) -> Document:
    """Return the metadata of an object that is one of many."""
    name = f"{kind.lower()}-{number}"
    meta = {"name": name, "uid": f"uid-of-{name}"}
    return meta if kind in CLUSTER_SCOPED else {**meta, "namespace": "default"}


def check_that_others_are_scheduled(server: UncheckedServer | ClusterState, name: str) -> None:
    """Fail if a good pod is not bound."""
    server.api.create(a_pod(name, cpu="1m"))
    bound(server.api, name)


def test_each_strange_node_and_pod_leaves_the_others_alone(tmp_path: Path) -> None:
    node, pod = document_of(a_node("good")), document_of(a_pod("good"))
    strange = [changed(changed(node, {"metadata": {"name": name}}), change) for name, change in NODES.items()]
    strange += [changed(changed(pod, {"metadata": {"name": name}}), change) for name, change in pods().items()]
    with an_unchecked_server(tmp_path) as server:
        server.put(node)
        with a_scheduler(tmp_path, *FLAGS, str(server.kubeconfig), secrets=server.secrets) as scheduler:
            check_that_others_are_scheduled(server, "first")
            for number, document in enumerate(strange):
                document["metadata"]["uid"] = f"strange-{number}"
                server.put(document)
                check_that_others_are_scheduled(server, f"good-{number}")
            assert "Node words cannot be understood and is left out: quantity 'plenty'" in scheduler.log
            assert 'Pod default/wordy-priority: spec.priority: expected an integer, got "high"' in scheduler.log


def test_a_pod_that_needs_what_cannot_be_read_says_so_until_it_can(tmp_path: Path) -> None:
    named = {"name": "odd", "namespace": "default"}
    claim: Document = {"apiVersion": "v1", "kind": "PersistentVolumeClaim", "metadata": named}
    strange = {**claim, "metadata": {**named, "uid": "odd"}, "spec": {"accessModes": "many"}}
    volume = {"name": "v", "persistentVolumeClaim": {"claimName": "odd"}}
    with an_unchecked_server(tmp_path) as server:
        server.put(document_of(a_node("good")), strange)
        with a_scheduler(tmp_path, *FLAGS, str(server.kubeconfig), secrets=server.secrets):
            server.put(
                changed(document_of(a_pod("needs")), {"metadata": {"uid": "needs"}, "spec": {"volumes": [volume]}})
            )
            said = unschedulable(server.api, "needs")
            assert 'persistentvolumeclaim "odd" not found' in said
            assert said.endswith(
                '; it cannot be read: PersistentVolumeClaim default/odd: spec.accessModes: expected a list, got "many"'
            )
            check_that_others_are_scheduled(server, "other")


def test_any_part_of_any_object_may_be_something_else(tmp_path: Path) -> None:
    numbers = itertools.count()
    good = [(kind, version, rest) for kind, (version, rest) in GOOD.items() if kind in FOLLOWED]
    for spec in POD_SPECS:
        base = {"containers": [{"name": "c", "image": "i"}], "schedulerName": "default-scheduler", **spec}
        good.append(("Pod", "v1", {"spec": base, "status": {"conditions": [{"type": "Ready", "status": "False"}]}}))
        good.append(("Pod", "v1", {"spec": {**base, "nodeName": "good"}}))
    strange = [
        {"apiVersion": version, "kind": kind, "metadata": metadata(kind, next(numbers)), **document}
        for kind, version, rest in good
        for document in mutilated(rest)
    ]
    assert len(strange) > 1000
    with an_unchecked_server(tmp_path) as server:
        server.put(document_of(a_node("good", cpu="1k", memory="1Ti", pods=100_000)))
        # half of them are listed, half are watched
        middle = len(strange) // 2
        Random(1).shuffle(strange)
        server.put(*strange[:middle])
        with a_scheduler(tmp_path, *FLAGS, str(server.kubeconfig), secrets=server.secrets) as scheduler:
            check_that_others_are_scheduled(server, "first")
            server.put(*strange[middle:])
            check_that_others_are_scheduled(server, "second")
            assert "internal error" not in scheduler.log
            assert "a report could not be taken in" not in scheduler.log
            assert "a task failed" not in scheduler.log


def test_what_an_api_server_lets_in_and_what_it_refuses(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n")]) as cluster, cluster.scheduler(ALONE):
        large = document_of(a_pod("large"))
        large["spec"]["containers"][0]["env"] = [{"name": "TEXT", "value": "x" * MEBIBYTE}]
        large["metadata"]["annotations"] = {"text": "x" * 250_000}
        cluster.api.create(large)
        bound(cluster.api, "large")
        for refused in (
            a_pod("p" * 3000),
            a_pod("annotated", annotations={"text": "x" * MEBIBYTE}),
            a_pod("labelled", labels={"größe": "ünïcödé"}),
            a_node("n" * 3000),
        ):
            document = document_of(refused)
            path = path_of(document["kind"], document["metadata"].get("namespace", ""))
            assert cluster.api.ask("POST", path, document)[0] == 422
        check_that_others_are_scheduled(cluster, "last")
