"""Workloads by the names that people give them, and what applying manifests does."""

from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from tests.support.whatif import of_pods

from kubesched.api.codec import to_builtins
from kubesched.core.assembly import load_config
from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.testing import a_namespace, a_node, a_pod
from kubesched_answers.sources.files import read_objects
from kubesched_answers.whatif.whatif import whatif
from kubesched_answers.whatif.workload_operations import ApplyManifests, DeleteObject, ScaleWorkload
from kubesched_answers.whatif.workloads import kind_named, parse_name


def a_deployment(replicas: int = 2, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}
    labels = {"app": "web"}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            "replicas": replicas,
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            **spec,
        },
    }


def model_with(*workloads: dict[str, Any]) -> ClusterModel:
    """Return two nodes and two pods of a Deployment."""
    words: dict[str, Any] = {
        "labels": {"app": "web", "pod-template-hash": "abc"},
        "owner": "ReplicaSet/web-abc",
        "cpu": "1",
        "node": "a",
    }
    objects = (a_node("a"), a_node("b"), a_pod("web-abc-1", **words), a_pod("web-abc-2", **words))
    return ClusterModel(ClusterObjects(objects, workloads), load_config())


def changes(model: ClusterModel, *operations: Any) -> dict[str, str]:
    return {name: words.split()[0] for name, words in of_pods(whatif(model, operations).changes).items()}


def test_a_deployment_is_scaled_by_its_document() -> None:
    model = model_with(a_deployment())
    assert changes(model, ScaleWorkload(parse_name("deploy/web"), 3)) == {"new web 0": "new"}
    [change] = whatif(model, [ScaleWorkload(parse_name("deploy/web"), 3)]).changes
    assert change.owner == "Deployment default/web"


def test_without_a_document_it_is_known_by_its_pods() -> None:
    model = model_with()
    assert changes(model, ScaleWorkload(parse_name("deployments/default/web"), 3)) == {"new web 0": "new"}
    assert list(changes(model, ScaleWorkload(parse_name("deploy/web"), 1)).values()) == ["deleted"]


def test_applying_an_equal_template_only_scales() -> None:
    model = model_with(a_deployment())
    applied = ApplyManifests((Manifest("web.yaml", a_deployment(replicas=3)),), "web.yaml")
    assert changes(model, applied) == {"new web 0": "new"}


def test_applying_another_template_replaces_the_pods() -> None:
    model = model_with(a_deployment())
    applied = ApplyManifests((Manifest("web.yaml", a_deployment(cpu="2")),), "web.yaml")
    assert changes(model, applied) == {
        "new web 0": "new",
        "new web 1": "new",
        "web-abc-1": "deleted",
        "web-abc-2": "deleted",
    }


def a_workload(kind: str, version: str, cpu: str = "1", **spec: Any) -> dict[str, Any]:
    containers = [{"name": "c", "image": "i", "resources": {"requests": {"cpu": cpu}}}]
    template = {"metadata": {"labels": {"app": kind.lower()}}, "spec": {"containers": containers, **spec}}
    selector = {} if kind == "Job" else {"selector": {"matchLabels": {"app": kind.lower()}}}
    document = {"apiVersion": version, "kind": kind, "metadata": {"name": kind.lower()}}
    return {**document, "spec": template["spec"] if kind == "Pod" else {**selector, "template": template}}


KINDS: dict[str, Callable[..., dict[str, Any]]] = {
    "Deployment": partial(a_workload, "Deployment", "apps/v1"),
    "StatefulSet": partial(a_workload, "StatefulSet", "apps/v1"),
    "DaemonSet": partial(a_workload, "DaemonSet", "apps/v1"),
    "Job": partial(a_workload, "Job", "batch/v1", restartPolicy="Never"),
    "Pod": partial(a_workload, "Pod", "v1"),
}


@pytest.mark.parametrize("kind", KINDS)
def test_what_the_cluster_has_already_is_not_rolled_out_anew(kind: str) -> None:
    node = to_builtins(a_node("node-1", cpu=8))
    model = ClusterModel(read_objects([node, KINDS[kind]()]), load_config())
    applied = ApplyManifests((Manifest("it.yaml", KINDS[kind]()),), "it.yaml")
    assert changes(model, applied) == {}


@pytest.mark.parametrize("kind", ["Deployment", "StatefulSet", "DaemonSet"])
def test_another_template_is_rolled_out(kind: str) -> None:
    node = to_builtins(a_node("node-1", cpu=8))
    model = ClusterModel(read_objects([node, KINDS[kind]()]), load_config())
    applied = ApplyManifests((Manifest("it.yaml", KINDS[kind](cpu="2")),), "it.yaml")
    # a pod of a StatefulSet has the name of the old one
    expected = {"new"} if kind == "StatefulSet" else {"deleted", "new"}
    assert set(changes(model, applied).values()) == expected


@pytest.mark.parametrize("kind", ["Job", "Pod"])
def test_what_the_api_server_does_not_let_be_changed_is_an_error(kind: str) -> None:
    node = to_builtins(a_node("node-1", cpu=8))
    model = ClusterModel(read_objects([node, KINDS[kind]()]), load_config())
    applied = ApplyManifests((Manifest("it.yaml", KINDS[kind](cpu="2")),), "it.yaml")
    with pytest.raises(KubeschedError, match=rf"it.yaml.*{kind}.*(immutable|may not change fields)"):
        whatif(model, [applied])


def test_a_daemon_set_runs_on_every_node_that_it_wants() -> None:
    document = a_deployment()
    document["kind"] = "DaemonSet"
    del document["spec"]["replicas"]
    document["metadata"]["name"] = "agent"
    found = whatif(model_with(), [ApplyManifests((Manifest("agent.yaml", document),), "agent.yaml")])
    assert {change.to_node for change in found.changes} == {"a", "b"}


def test_a_namespace_goes_with_its_pods() -> None:
    objects = (a_node("a"), a_namespace("shop"), a_pod("p", namespace="shop", node="a"), a_pod("q", node="a"))
    model = ClusterModel(ClusterObjects(objects), load_config())
    assert changes(model, DeleteObject(parse_name("ns/shop"))) == {"p": "deleted"}


@pytest.mark.parametrize(
    ("text", "kind"),
    [("deploy", "Deployment"), ("Deployments", "Deployment"), ("sts", "StatefulSet"), ("po", "Pod"), ("no", "Node")],
)
def test_kinds_are_written_as_for_kubectl(text: str, kind: str) -> None:
    assert kind_named(text) == kind


@pytest.mark.parametrize("text", ["deploy", "deploy/", "/web", "deploy/a/b/c"])
def test_a_name_has_a_kind(text: str) -> None:
    with pytest.raises(KubeschedError, match="write KIND/NAME"):
        parse_name(text)
