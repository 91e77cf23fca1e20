"""Manifests are merged onto what the cluster has, as `kubectl apply` merges them."""

import json
from typing import Any

import pytest
from tests.support.whatif import of_pods

from kubesched.api.codec import to_builtins
from kubesched.api.pods import Pod
from kubesched.core.assembly import load_config
from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import ClusterModel
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.sources.workloads import reduced_workload
from kubesched.testing import a_node, a_pod
from kubesched_answers.sources.files import read_objects
from kubesched_answers.whatif.whatif import whatif
from kubesched_answers.whatif.workload_operations import ApplyManifests, ScaleWorkload
from kubesched_answers.whatif.workloads import parse_name

LAST = "kubectl.kubernetes.io/last-applied-configuration"
Document = dict[str, Any]


def apply(*documents: Document) -> ApplyManifests:
    return ApplyManifests(tuple(Manifest(f"it.yaml {each['kind']}", each) for each in documents), "it.yaml")


def changes(model: ClusterModel, *operations: Any) -> dict[str, str]:
    return {name: words.split()[0] for name, words in of_pods(whatif(model, operations).changes).items()}


def model_of(*objects: Any, workloads: tuple[Document, ...] = ()) -> ClusterModel:
    return ClusterModel(ClusterObjects(objects, workloads), load_config())


# -- nodes


def node_manifest(**spec: Any) -> Document:
    return {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a", "labels": {"disk": "ssd"}}, "spec": spec}


def last(manifest: Document) -> dict[str, str]:
    return {LAST: json.dumps(manifest)}


NODES: dict[str, tuple[dict[str, Any], Document, str]] = {
    "a cordoned node stays cordoned": ({"unschedulable": True}, node_manifest(), "stays-pending"),
    "a taint that somebody set stays": ({"taints": ["x=y:NoSchedule"]}, node_manifest(), "stays-pending"),
    "a node that is not ready does not become ready": (
        {"taints": ["node.kubernetes.io/not-ready:NoSchedule"]},
        node_manifest(),
        "stays-pending",
    ),
    "the manifest uncordons": ({"unschedulable": True}, node_manifest(unschedulable=False), "becomes-bound"),
    "the manifest no longer cordons": (
        {"unschedulable": True, "annotations": last(node_manifest(unschedulable=True))},
        node_manifest(),
        "becomes-bound",
    ),
    "what another manifest said is not the reason why it is cordoned": (
        {"unschedulable": True, "annotations": last(node_manifest())},
        node_manifest(),
        "stays-pending",
    ),
    "the annotation cannot be read": (
        {"unschedulable": True, "annotations": {LAST: "{"}},
        node_manifest(),
        "stays-pending",
    ),
}


@pytest.mark.parametrize(("node", "manifest", "change"), NODES.values(), ids=NODES)
def test_a_node_is_merged(node: dict[str, Any], manifest: Document, change: str) -> None:
    model = model_of(a_node("a", **node), a_pod("p", node_selector={"disk": "ssd"}))
    assert changes(model, apply(manifest)) == {"p": change}


# -- workloads


def a_deployment(replicas: int | None = None, **spec: Any) -> Document:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": [container], **spec}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": "web", "namespace": "default"},
        "spec": {
            **({} if replicas is None else {"replicas": replicas}),
            "selector": {"matchLabels": {"app": "web"}},
            "template": template,
        },
    }


def web_with(*workloads: Document, pods: int = 3) -> ClusterModel:
    """Return a node and the pods of a Deployment."""
    labels = {"app": "web", "pod-template-hash": "abc"}
    words: dict[str, Any] = {"labels": labels, "owner": "ReplicaSet/web-abc", "cpu": "1", "node": "a"}
    running = [a_pod(f"web-abc-{number}", **words) for number in range(pods)]
    return model_of(a_node("a", cpu=16), *running, workloads=workloads)


def test_a_deployment_without_replicas_in_its_manifest_keeps_the_live_number() -> None:
    assert changes(web_with(a_deployment(3)), apply(a_deployment())) == {}


def test_one_that_is_known_by_its_pods_keeps_their_number() -> None:
    found = changes(web_with(), apply(a_deployment()))
    assert [change for change in found.values() if change == "new"] == ["new"] * 3


def test_the_live_number_is_that_of_the_steps_before() -> None:
    steps = ScaleWorkload(parse_name("deploy/web"), 5), apply(a_deployment())
    assert list(changes(web_with(a_deployment(3)), *steps).values()) == ["new", "new"]


def test_a_field_that_the_manifest_says_is_of_the_manifest() -> None:
    assert list(changes(web_with(a_deployment(3)), apply(a_deployment(4))).values()) == ["new"]


def annotated(live: Document, manifest: Document) -> Document:
    return reduced_workload({**live, "metadata": {**live["metadata"], "annotations": last(manifest)}})


SELECTOR: dict[str, Any] = {"nodeSelector": {"disk": "ssd"}}


@pytest.mark.parametrize(
    ("live", "pending"),
    [
        (a_deployment(3, **SELECTOR), True),
        (annotated(a_deployment(3, **SELECTOR), a_deployment()), True),
        (annotated(a_deployment(3, **SELECTOR), a_deployment(**SELECTOR)), False),
    ],
    ids=["without the annotation nothing is removed", "somebody else set it", "the manifest before had it"],
)
def test_what_only_the_manifest_before_had_is_removed(live: Document, pending: bool) -> None:
    manifest = a_deployment()
    # another template, so that its pods are made anew
    manifest["spec"]["template"]["metadata"]["labels"]["release"] = "2"
    found = changes(web_with(live), apply(manifest))
    assert {change for change in found.values() if change != "deleted"} == {"new-pending" if pending else "new"}


def test_a_manifest_is_applied_after_another() -> None:
    first = apply(a_deployment(**SELECTOR))
    assert set(changes(web_with(a_deployment(3)), first).values()) == {"new-pending"}, "no node has the label"
    assert changes(web_with(a_deployment(3)), first, apply(a_deployment())) == {}, "the old pods are still there"


def test_no_secret_of_an_earlier_manifest_is_kept() -> None:
    manifest = a_deployment(**SELECTOR)
    manifest["spec"]["template"]["spec"]["containers"][0]["env"] = [{"name": "TOKEN", "value": "hush"}]
    assert "hush" not in json.dumps(annotated(a_deployment(3), manifest))


def test_a_cluster_of_manifests_was_applied() -> None:
    node = to_builtins(a_node("a", cpu=16))
    model = ClusterModel(read_objects([node, a_deployment(2, **SELECTOR)]), load_config())
    assert {each.change for each in whatif(model, [apply(a_deployment(2))]).changes} == {"new", "deleted"}


# -- pods


def pod_manifest(**spec: Any) -> Document:
    container = {"name": "c", "image": "i", "resources": {"requests": {"cpu": "1"}}}
    meta = {"name": "p", "labels": {"app": "web"}}
    return {"apiVersion": "v1", "kind": "Pod", "metadata": meta, "spec": {"containers": [container], **spec}}


def test_a_pod_keeps_what_admission_gave_it() -> None:
    objects = read_objects([pod_manifest(nodeSelector={"disk": "ssd"})]).objects
    stored = next(obj for obj in objects if isinstance(obj, Pod))
    model = model_of(a_node("a", labels={"disk": "ssd"}), stored)
    assert changes(model, apply(pod_manifest(nodeSelector={"disk": "ssd"}))) == {}
    with pytest.raises(KubeschedError, match="pod updates may not change fields"):
        # the selector of the manifest before would be removed
        changes(model, apply(pod_manifest()))
