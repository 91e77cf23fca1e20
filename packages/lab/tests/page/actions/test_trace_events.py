"""What actions do to a simulated cluster: events, and refusals in a sentence."""

from typing import Any

import pytest
from tests.support.models import a_model

from kubesched.api.policy import PodDisruptionBudget, PodDisruptionBudgetSpec, PodDisruptionBudgetStatus
from kubesched.api.volumes import EmptyDirVolumeSource, Volume
from kubesched.errors import KubeschedError
from kubesched.model.cluster_model import ClusterModel
from kubesched.testing import a_node, a_pod, a_selector
from kubesched_lab.page.actions.requests import ActionRequest
from kubesched_lab.page.actions.templates import TEMPLATES
from kubesched_lab.page.actions.trace_events import simulated
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, TraceEvent

ZONE = "topology.kubernetes.io/zone"


def model(*more: Any) -> ClusterModel:
    return a_model(
        a_node("n1", cpu="4", zone="a"),
        a_node("n2", cpu="4", zone="b", unschedulable=True),
        a_pod("w-1", node="n1", labels={"app": "w"}, owner="ReplicaSet/w"),
        a_pod("w-2", node="n1", labels={"app": "w"}, owner="ReplicaSet/w"),
        a_pod("d-1", node="n1", owner="DaemonSet/d"),
        *more,
    )


def a_budget(least: int, **status: Any) -> PodDisruptionBudget:
    spec = PodDisruptionBudgetSpec(min_available=least, selector=a_selector("app=w"))
    budget = a_pod("b").metadata
    return PodDisruptionBudget(metadata=budget, spec=spec, status=PodDisruptionBudgetStatus(**status))


def known(of: ClusterModel) -> dict[str, Any]:
    return {f"{type(each).__name__}/{each.full_name}": each for each in of.objects_now().objects}


def text_of(event: TraceEvent) -> str:
    if isinstance(event, ObjectDeletion):
        return f"-{event.kind}/{event.full_name}"
    if isinstance(event, PodArrival):
        return f"+Pod/{event.pod.full_name}{'@' + event.pod.spec.node_name if event.pod.spec.node_name else ''}"
    assert isinstance(event, ObjectPut)
    return f"={type(event.obj).__name__}/{event.obj.full_name}"


DONE: dict[str, tuple[dict[str, Any], str, list[str]]] = {
    "cordon": ({"do": "cordon", "nodes": "n1"}, "Cordon node n1", ["=Node/n1"]),
    "uncordon": ({"do": "uncordon", "nodes": "n2"}, "Uncordon node n2", ["=Node/n2"]),
    "a drain leaves the pods of DaemonSets": (
        {"do": "drain", "nodes": "n1"},
        "Drain node n1: 2 pods are evicted, 1 of DaemonSets stays",
        ["-Pod/default/w-1", "-Pod/default/w-2", "=Node/n1", "+Pod/default/w-1", "+Pod/default/w-2"],
    ),
    "a node that vanishes takes its DaemonSet's pods along": (
        {"do": "remove-nodes", "nodes": f"{ZONE}=a"},
        "Remove node n1",
        [
            "-Node/n1",
            "-Pod/default/d-1",
            "-Pod/default/w-1",
            "-Pod/default/w-2",
            "+Pod/default/w-1",
            "+Pod/default/w-2",
        ],
    ),
    "nodes like one have its DaemonSet's pods": (
        {"do": "add-nodes", "like": "n1", "count": 1},
        "Add 1 node like n1",
        ["=Node/n1-new-1", "+Pod/default/d-1-n1-new-1@n1-new-1"],
    ),
    "nodes of a pool": (
        {"do": "add-nodes", "pool": "name=large,nodes=2,cpu=32"},
        "Add 2 nodes of pool large",
        ["=Node/large-1", "=Node/large-2"],
    ),
    "more replicas": (
        {"do": "scale", "workload": "rs/default/w", "replicas": 3},
        "Scale ReplicaSet default/w to 3",
        ["+Pod/default/w-0"],
    ),
    "no replicas": (
        {"do": "scale", "workload": "rs/w", "replicas": 0},
        "Scale ReplicaSet default/w to 0",
        ["-Pod/default/w-1", "-Pod/default/w-2"],
    ),
    "a pod whose controller creates another": (
        {"do": "delete", "pod": "default/w-1"},
        "Delete pod default/w-1; its controller creates another",
        ["-Pod/default/w-1", "+Pod/default/w-1"],
    ),
    "a pod from a text": (
        {"do": "create", "yaml": TEMPLATES["Pod"], "namespace": "shop"},
        "Create Pod one",
        ["+Pod/shop/one"],
    ),
}


@pytest.mark.parametrize("case", DONE)
def test_what_an_action_does(case: str) -> None:
    asked, title, events = DONE[case]
    before = model()
    objects = known(before)
    found = simulated(before, ActionRequest(**asked))
    assert found.title == title
    # deletions come in any order
    shown = [text_of(event) for event in found.events]
    assert sorted(shown) == sorted(events)
    assert [text[0] for text in shown] == sorted((text[0] for text in shown), key="-=+".index)
    assert known(before) == objects


def test_a_cordoned_node_has_the_taint_and_loses_it() -> None:
    (event,) = simulated(model(), ActionRequest("cordon", nodes="n1")).events
    assert isinstance(event, ObjectPut)
    node: Any = event.obj
    assert node.spec.unschedulable
    assert [taint.key for taint in node.spec.taints] == ["node.kubernetes.io/unschedulable"]
    (event,) = simulated(a_model(node), ActionRequest("uncordon", nodes="n1")).events
    assert isinstance(event, ObjectPut)
    assert event.obj == a_node("n1", cpu="4", zone="a")


BUDGETS: dict[str, dict[str, Any]] = {
    "without a status": {},
    # that of a cluster which was read long ago
    "with a status": {"disruptions_allowed": 2, "current_healthy": 2, "desired_healthy": 0, "expected_pods": 2},
}


@pytest.mark.parametrize("status", BUDGETS)
def test_a_drain_heeds_budgets(status: str) -> None:
    found = simulated(model(a_budget(1, **BUDGETS[status])), ActionRequest("drain", nodes="n1"))
    assert "1 pod is evicted" in found.title
    assert "1 held up (The disruption budget b needs 1 healthy pods and has 1 currently)" in found.title
    assert [text_of(event) for event in found.events if isinstance(event, ObjectDeletion)] == ["-Pod/default/w-1"]


def test_a_workload_that_was_created_can_be_scaled() -> None:
    created = simulated(model(), ActionRequest("create", yaml=TEMPLATES["Deployment, spread over zones"]))
    pods = [event.pod for event in created.events if isinstance(event, PodArrival)]
    assert len(pods) == 3
    others = [event.obj for event in created.events if isinstance(event, ObjectPut)]
    scaled = simulated(
        model(*others, *pods), ActionRequest("scale", workload="deploy/web", replicas=5), created.workloads
    )
    assert [text_of(event)[0] for event in scaled.events] == ["+", "+"]


@pytest.mark.parametrize("name", TEMPLATES)
def test_templates_can_be_created(name: str) -> None:
    assert simulated(model(), ActionRequest("create", yaml=TEMPLATES[name])).events


REFUSED: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown deed": ({"do": "fly"}, "do: 'fly' is not known"),
    "no node": ({"do": "cordon"}, "nodes: no node is named"),
    "an unknown node": ({"do": "drain", "nodes": "n9"}, "there is no node n9; did you mean"),
    "a label that no node has": ({"do": "cordon", "nodes": "rack=1"}, "no node matches the label selector rack=1"),
    "a node that is open": ({"do": "uncordon", "nodes": "n1"}, "this changes nothing"),
    "too many nodes": ({"do": "add-nodes", "like": "n1", "count": 10**9}, "count: 1000000000 nodes cannot be added"),
    "nodes like nothing": ({"do": "add-nodes"}, "like, pool: name a node"),
    "a bad pool": ({"do": "add-nodes", "pool": "name=x,nodes=many"}, "nodes='many': expected a number from 1"),
    "fewer than none": ({"do": "scale", "workload": "rs/w", "replicas": -1}, "replicas: -1 is not possible"),
    "a workload without replicas": ({"do": "scale", "workload": "ds/d", "replicas": 1}, "a DaemonSet has no replicas"),
    "an unknown workload": ({"do": "scale", "workload": "deploy/x", "replicas": 1}, "there is no Deployment x"),
    "no workload": ({"do": "scale", "replicas": 1}, "workload: none is named"),
    "no text": ({"do": "create", "yaml": " "}, "yaml: the text has no objects"),
    "no YAML": ({"do": "create", "yaml": "a: ["}, "yaml: line 2"),
    "no object": ({"do": "create", "yaml": "a: 1"}, "the text: document 1"),
    "a field that does not exist": (
        {"do": "create", "yaml": TEMPLATES["Pod"].replace("image:", "imge:")},
        'unknown field "spec.containers[0].imge"',
    ),
    "a Deployment beyond all bounds": (
        {
            "do": "create",
            "yaml": TEMPLATES["Deployment, spread over zones"].replace("replicas: 3", "replicas: 999999999"),
        },
        "spec.replicas: 999999999 is not possible",
    ),
    "a kind that scheduling does not read": (
        {"do": "create", "yaml": "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c}"},
        "this changes nothing that a scheduler reads",
    ),
    "no pod": ({"do": "delete"}, "pod: none is named"),
    "an unknown pod": ({"do": "delete", "pod": "default/w-9"}, "there is no pod default/w-9"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_told(case: str) -> None:
    asked, why = REFUSED[case]
    with pytest.raises(KubeschedError) as raised:
        simulated(model(), ActionRequest(**asked))
    assert why in str(raised.value)
    assert "\n" not in str(raised.value)


def test_a_drain_refuses_pods_whose_data_would_be_lost() -> None:
    scratch = Volume(name="scratch", empty_dir=EmptyDirVolumeSource())
    local = model(a_pod("local", node="n1", owner="ReplicaSet/l", volumes=[scratch]))
    with pytest.raises(KubeschedError, match="default/local: data in its emptyDir volumes would be lost"):
        simulated(local, ActionRequest("drain", nodes="n1"))
    assert "3 pods are evicted" in simulated(local, ActionRequest("drain", nodes="n1", force=True)).title


def test_a_drain_refuses_pods_that_would_not_come_back() -> None:
    bare = model(a_pod("bare", node="n1"))
    with pytest.raises(KubeschedError, match="default/bare: no controller would create it again; drain with force"):
        simulated(bare, ActionRequest("drain", nodes="n1"))
    found = simulated(bare, ActionRequest("drain", nodes="n1", force=True))
    assert "-Pod/default/bare" in [text_of(event) for event in found.events]
