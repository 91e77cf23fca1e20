"""Live clusters, read from an API server over HTTPS: what may be read is read, the rest is named."""

import re
import socket
from collections import Counter
from collections.abc import Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from tests.support.roles import a_rule
from tests.support.served_cluster import a_served_cluster

from kubesched.api.last_applied import LAST_APPLIED
from kubesched.api.release import GIT_VERSION
from kubesched.client.credentials.context_choice import ContextChoice
from kubesched.client.informers import paged_list
from kubesched.config.load import load
from kubesched.errors import InvalidObjectError, KubeschedError
from kubesched.model.cluster_model import ClusterModel, UnknownObjectError
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.sources import live, patience
from kubesched.sources.cluster_source import ClusterSource
from kubesched.sources.workloads import reduced_workload
from kubesched_answers.explain.triage import triage
from kubesched_answers.sources.reading import read_cluster
from kubesched_controlplane.transport import certificates

Document = dict[str, Any]
LABELS = {"app": "web"}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": {"containers": [{"name": "main", "image": "i"}]}}


def a_document(kind: str, name: str, *, version: str = "v1", namespace: str = "", **fields: Any) -> Document:
    meta = {"name": name, **({"namespace": namespace} if namespace else {})}
    return {"apiVersion": version, "kind": kind, "metadata": meta, **fields}


def a_pod_document(name: str, namespace: str = "default") -> Document:
    return a_document("Pod", name, namespace=namespace, spec={"containers": [{"name": "main", "image": "i"}]})


OBJECTS = (
    a_document("Node", "node-1"),
    a_document("Node", "node-2"),
    a_pod_document("a"),
    a_pod_document("b", "hers"),
    a_document("ConfigMap", "settings", namespace="default"),
    a_document(
        "Deployment",
        "web",
        version="apps/v1",
        namespace="default",
        spec={"replicas": 3, "selector": {"matchLabels": LABELS}, "template": TEMPLATE},
    ),
    a_document("PodDisruptionBudget", "web", version="policy/v1", namespace="default", spec={"maxUnavailable": 1}),
)
NODES_AND_PODS = a_rule("list", "nodes pods")


def read(kubeconfig: str, **choice: Any) -> ClusterObjects:
    return read_cluster(ClusterSource(kubeconfig=kubeconfig, choice=ContextChoice(**choice)))


def names_of(cluster: ClusterObjects, kind: str) -> list[str]:
    return [obj.full_name for obj in cluster.objects if type(obj).__name__ == kind]


def gaps_of(cluster: ClusterObjects) -> Mapping[str, str]:
    return {gap.what: gap.uncertain for gap in cluster.gaps}


def test_a_live_cluster_is_read(tmp_path: Path) -> None:
    with a_served_cluster(tmp_path, *OBJECTS) as served:
        cluster = read(served.kubeconfig())
    assert names_of(cluster, "Node") == ["node-1", "node-2"]
    assert names_of(cluster, "Pod") == ["default/a", "hers/b"]
    assert names_of(cluster, "PodDisruptionBudget") == ["default/web"]
    assert [(each["kind"], each["metadata"]["name"]) for each in cluster.workloads] == [("Deployment", "web")]
    assert cluster.kubernetes == GIT_VERSION
    assert cluster.namespace == "default"
    assert cluster.origin.startswith('context "kubesched" in kubeconfig ')
    # kinds of alpha and beta versions are off, which is nothing to tell
    assert cluster.gaps == ()


def test_lists_are_read_in_pages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(paged_list, "PAGE", 2)
    pods = [a_pod_document(f"p{number}") for number in range(7)]
    seen: list[tuple[str, int]] = []
    with a_served_cluster(tmp_path, *pods, a_document("Node", "node")) as served:
        source = ClusterSource(kubeconfig=served.kubeconfig())
        cluster = read_cluster(source, progress=lambda kind, count: seen.append((kind, count)))
    assert len(names_of(cluster, "Pod")) == 7
    counts = [count for kind, count in seen if kind == "Pod"]
    assert counts == sorted(counts)
    assert {2, 4, 6, 7} <= set(counts)


def test_a_kind_that_may_not_be_read_is_a_gap(tmp_path: Path) -> None:
    with a_served_cluster(tmp_path, *OBJECTS, rules=[NODES_AND_PODS]) as served:
        cluster = read(served.kubeconfig("anna"))
    assert len(names_of(cluster, "Pod")) == 2
    gaps = gaps_of(cluster)
    assert gaps["PodDisruptionBudget"] == "preemption and drains ignore budgets"
    assert gaps["Deployment"] == "pods of these workloads cannot be scaled or counted together"
    assert {"Pod", "Node"}.isdisjoint(gaps)
    (budgets,) = (gap for gap in cluster.gaps if gap.what == "PodDisruptionBudget")
    assert budgets.why == (
        'poddisruptionbudgets.policy is forbidden: User "anna" cannot list resource "poddisruptionbudgets" '
        'in API group "policy" at the cluster scope'
    )


def test_who_may_read_only_in_a_namespace_gets_that_and_is_told(tmp_path: Path) -> None:
    rules, own = [a_rule("list", "nodes")], [a_rule("list", "pods")]
    with a_served_cluster(tmp_path, *OBJECTS, rules=rules, own=own) as served:
        cluster = read(served.kubeconfig("anna", namespace="hers"))
    assert names_of(cluster, "Pod") == ["hers/b"]
    assert gaps_of(cluster)["Pod outside namespace hers"] == "nodes may be fuller than they seem"
    assert cluster.namespace == "hers"


def test_the_namespace_that_is_asked_for_is_the_one_that_is_read(tmp_path: Path) -> None:
    rules, own = [a_rule("list", "nodes")], [a_rule("list", "pods")]
    with a_served_cluster(tmp_path, *OBJECTS, rules=rules, own=own) as served:
        cluster = read_cluster(ClusterSource(kubeconfig=served.kubeconfig("anna"), namespace="hers"))
    assert names_of(cluster, "Pod") == ["hers/b"]
    model = ClusterModel(cluster, load())
    with pytest.raises(UnknownObjectError) as unread:
        model.pod("default/a")
    assert str(unread.value) == (
        'pod default/a cannot be read: pods is forbidden: User "anna" cannot list resource "pods" '
        'in API group "" at the cluster scope'
    )
    with pytest.raises(UnknownObjectError) as unknown:
        model.pod("bb")
    assert str(unknown.value) == "there is no pod hers/bb, or it has finished; did you mean hers/b?"


def test_gaps_have_the_order_of_kinds(tmp_path: Path) -> None:
    with a_served_cluster(tmp_path, *OBJECTS, rules=[NODES_AND_PODS]) as served:
        found = [gap.what for gap in read(served.kubeconfig("anna")).gaps]
    assert found == [kind.name for kind in live.listed_kinds() if kind.name in found]


def test_a_user_who_may_not_read_is_asked_for_by_name(tmp_path: Path) -> None:
    with a_served_cluster(tmp_path, *OBJECTS, rules=[NODES_AND_PODS]) as served:
        config = served.kubeconfig()
        assert names_of(read(config, impersonate="anna"), "PodDisruptionBudget") == []
        masters = read(config, impersonate="anna", impersonate_groups=("system:masters",))
        assert names_of(masters, "PodDisruptionBudget") == ["default/web"]
        with pytest.raises(KubeschedError, match="say whom to impersonate"):
            read(config, impersonate_groups=("system:masters",))


def test_a_request_that_takes_too_long_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KUBECONFIG", str(tmp_path / "none"))
    with socket.create_server(("127.0.0.1", 0)) as silent:
        server = f"http://127.0.0.1:{silent.getsockname()[1]}"
        source = ClusterSource(choice=ContextChoice(server=server, request_timeout_seconds=0.1))
        with pytest.raises(KubeschedError) as error:
            read_cluster(source)
    assert str(error.value) == "the cluster cannot be read: the API server did not answer in time"


def test_without_nodes_there_is_nothing_to_ask_about(tmp_path: Path) -> None:
    with a_served_cluster(tmp_path, *OBJECTS) as served, pytest.raises(KubeschedError) as error:
        read(served.kubeconfig("anna"))
    assert str(error.value).startswith('nodes is forbidden: User "anna" cannot list resource "nodes"')
    assert str(error.value).endswith("answers need them: request the right to list them")


def test_a_kind_that_the_server_does_not_serve_is_a_gap(tmp_path: Path) -> None:
    with a_served_cluster(tmp_path, *OBJECTS) as served:
        source = ClusterSource(kubeconfig=served.kubeconfig())
        cluster = read_cluster(source, ["foos.v1.example.com"])
    assert gaps_of(cluster) == {"foos.v1.example.com": "answers that depend on foos.v1.example.com"}


def test_objects_of_custom_kinds_are_read(tmp_path: Path) -> None:
    definition = a_document(
        "CustomResourceDefinition",
        "foos.example.com",
        version="apiextensions.k8s.io/v1",
        spec={
            "group": "example.com",
            "names": {"plural": "foos", "kind": "Foo"},
            "scope": "Cluster",
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {"openAPIV3Schema": {"type": "object", "x-kubernetes-preserve-unknown-fields": True}},
                }
            ],
        },
    )
    foo = a_document("Foo", "f", version="example.com/v1", spec={"size": 3})
    with a_served_cluster(tmp_path, *OBJECTS, definition, foo) as served:
        cluster = read_cluster(ClusterSource(kubeconfig=served.kubeconfig()), ["foos.v1.example.com"])
    (found,) = (obj for obj in cluster.objects if obj.name == "f")
    assert found.spec == {"size": 3}  # type: ignore[attr-defined]


# -- trouble on the way


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(patience, "AGAIN_SECONDS", 0.0)


@pytest.mark.usefixtures("impatient")
def test_a_list_whose_connection_breaks_is_read_again(tmp_path: Path) -> None:
    faults = "lost-response=0.3 on list pods, unavailable=0.3 on list nodes"
    with a_served_cluster(tmp_path, *OBJECTS, faults=faults) as served:
        cluster = read(served.kubeconfig())
    assert Counter(type(obj).__name__ for obj in cluster.objects)["Pod"] == 2
    assert len(names_of(cluster, "Node")) == 2


@pytest.mark.usefixtures("impatient")
def test_a_connection_that_always_breaks_is_one_line(tmp_path: Path) -> None:
    with (
        a_served_cluster(tmp_path, *OBJECTS, faults="lost-response=1 on list pods") as served,
        pytest.raises(KubeschedError) as error,
    ):
        read(served.kubeconfig())
    assert str(error.value).startswith("the cluster cannot be read: ")
    assert "\n" not in str(error.value)


def test_an_unreachable_server_is_one_line(tmp_path: Path) -> None:
    with a_served_cluster(tmp_path) as served:
        file = served.kubeconfig()
    with pytest.raises(
        KubeschedError, match=r"^the cluster cannot be read: cannot connect to https://127.0.0.1:\d+: Con"
    ):
        read(file)


def test_a_host_that_nobody_knows_is_one_line(tmp_path: Path) -> None:
    with a_served_cluster(tmp_path) as served:
        file = served.kubeconfig(url="https://nowhere.invalid:6443")
    with pytest.raises(KubeschedError) as error:
        read(file)
    message = str(error.value)
    assert message.startswith("the cluster cannot be read: cannot connect to https://nowhere.invalid:6443: ")
    assert message.endswith(f'; check that it runs, and the server of context "kubesched" in kubeconfig {file}')
    assert "\n" not in message


def test_an_expired_certificate_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(certificates, "VALID_FOR", timedelta(seconds=-1))
    with a_served_cluster(tmp_path) as served, pytest.raises(KubeschedError) as error:
        read(served.kubeconfig())
    message = str(error.value)
    assert re.search(r"the certificate of https://127.0.0.1:\d+ is not trusted \(.*has expired", message)
    assert message.endswith("; the server needs a new one, unless the clock here is wrong")
    assert "\n" not in message


def test_a_namespace_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with a_served_cluster(tmp_path, *OBJECTS) as served:
        cluster = read_cluster(ClusterSource(kubeconfig=served.kubeconfig(), namespace="hesr"))
    model = ClusterModel(cluster, load())
    with pytest.raises(UnknownObjectError, match=r"^there is no namespace hesr; did you mean hers\?$"):
        triage(model)
    with pytest.raises(UnknownObjectError, match=r"^there is no namespace hesr; did you mean hers\?$"):
        model.pod("none")


def test_expired_credentials_are_one_line(tmp_path: Path) -> None:
    with a_served_cluster(tmp_path) as served, pytest.raises(KubeschedError) as error:
        read(served.kubeconfig("anna", token="expired"))
    assert str(error.value) == (
        "the cluster cannot be read: Unauthorized: the API server does not accept the credentials of context "
        f'"kubesched" in kubeconfig {tmp_path / "anna.kubeconfig"}; they may have expired or been revoked'
    )


@pytest.mark.parametrize("text", ['{"a":' + "[" * 5000 + "]" * 5000 + "}", "{", "[]", '{"kind": {}}'])
def test_whatever_is_annotated_as_the_last_manifest_the_cluster_is_read(tmp_path: Path, text: str) -> None:
    deployment = dict(OBJECTS[5])
    deployment["metadata"] = {**deployment["metadata"], "annotations": {LAST_APPLIED: text}}
    with a_served_cluster(tmp_path, deployment, *OBJECTS[:3]) as served:
        cluster = read(served.kubeconfig())
    assert [each["metadata"]["name"] for each in cluster.workloads] == ["web"]
    assert names_of(cluster, "Pod") == ["default/a"]


@pytest.mark.parametrize(
    "spec", [{"volumeClaimTemplates": 5}, {"jobTemplate": "word"}, {"template": [[]]}, {"template": 1}, 7]
)
def test_a_workload_of_another_shape_is_not_valid(spec: Any) -> None:
    with pytest.raises(InvalidObjectError):
        reduced_workload(a_document("StatefulSet", "odd", version="apps/v1", namespace="default", spec=spec))
