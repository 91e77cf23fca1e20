"""Nodes that are not well: advice to bring them back, and never near, remedied or emptied. Claims come first."""

from datetime import UTC, datetime

import msgspec
import pytest
from tests.support.models import a_model

from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node, NodeCondition
from kubesched.testing import a_claim, a_node, a_pod, a_storage_class, a_volume
from kubesched_answers.explain.explain_node import explain_node
from kubesched_answers.explain.explain_pod import explain_pod
from kubesched_answers.explain.pod_answer import PodAnswer
from kubesched_answers.reports.explain_report import pod_report
from kubesched_answers.whatif.consolidate import consolidate

SINCE = datetime(2026, 5, 1, 10, tzinfo=UTC)
UNREACHABLE = "node.kubernetes.io/unreachable:NoSchedule"


def a_lost_node(name: str = "lost", *taints: str) -> Node:
    node = a_node(name, taints=[UNREACHABLE, *taints])
    condition = NodeCondition(
        type="Ready", status="Unknown", message="Kubelet stopped posting node status.", last_transition_time=SINCE
    )
    status = msgspec.structs.replace(node.status, conditions=(condition,))
    return msgspec.structs.replace(node, status=status)


def explained(*objects: ApiObject, name: str = "default/pod") -> PodAnswer:
    model = a_model(*objects)
    return explain_pod(model, model.pod(name))


FULL = a_node("full", cpu="1")


def test_a_node_that_is_not_ready_is_to_be_brought_back() -> None:
    answer = explained(a_lost_node(), FULL, a_pod("pod", cpu="2"))
    assert answer.advice == (
        "bring lost back: not ready since 2026-05-01T10:00:00Z: Kubelet stopped posting node status; "
        "it lacks nothing else",
    )
    assert [miss.node for miss in answer.nearest] == ["full"]
    assert "lost" not in [remedy.node for remedy in answer.remedies]


@pytest.mark.parametrize(
    "key",
    [
        "node.kubernetes.io/not-ready",
        "node.kubernetes.io/unreachable",
        "node.kubernetes.io/memory-pressure",
        "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/pid-pressure",
        "node.kubernetes.io/network-unavailable",
        "node.kubernetes.io/out-of-service",
        "node.cloudprovider.kubernetes.io/uninitialized",
        "node.cloudprovider.kubernetes.io/shutdown",
    ],
)
def test_no_remedy_removes_a_taint_that_a_controller_puts_back(key: str) -> None:
    answer = explained(a_node("lost", taints=[f"{key}:NoSchedule"]), FULL, a_pod("pod", cpu="2"))
    assert [miss.node for miss in answer.nearest] == ["full"]
    assert not [remedy for remedy in answer.remedies if remedy.node == "lost"]
    assert [each.partition(":")[0] for each in answer.advice] == ["bring lost back"]


def test_a_node_that_would_not_take_the_pod_is_not_worth_bringing_back() -> None:
    others = a_lost_node("tainted", "gpu=yes:NoSchedule"), FULL
    assert explained(*others, a_pod("pod", cpu="2")).advice == ()
    assert explained(a_lost_node(), a_pod("pod", cpu="9")).advice == ()


def test_of_very_many_nodes_some_are_named() -> None:
    nodes = [a_lost_node(f"lost-{number}") for number in range(5)]
    advice = explained(*nodes, FULL, a_pod("pod", cpu="2")).advice
    assert [each.partition(":")[0] for each in advice] == [
        "bring lost-0 back",
        "bring lost-1 back",
        "bring lost-2 back",
        "bring 2 more nodes back that are not well",
    ]


def test_a_node_that_is_not_ready_is_not_emptied() -> None:
    web = a_pod("web", node="full", cpu="1", owner="ReplicaSet/web")
    answer = consolidate(a_model(a_lost_node(), FULL, web))
    assert answer.emptied == ()
    assert {each.node: each.why for each in answer.kept}["lost"].startswith("it is not ready since 2026-05-01")


# -- claims


CLASS = a_storage_class("slow", provisioner="csi.example.com", binding_mode="Immediate")


def test_nodes_that_lack_nothing_but_the_claim_are_nearest() -> None:
    nodes = a_node("a", taints=["gpu=yes:NoSchedule"]), a_node("b"), a_lost_node("c")
    answer = explained(*nodes, CLASS, a_claim("data", storage_class="slow"), a_pod("pod", volumes=["data"]))
    assert [(miss.node, [lack.message for lack in miss.lacks]) for miss in answer.nearest] == [
        ("b", ["a claim of it is not bound to a volume yet"]),
        ("a", ["a claim of it is not bound to a volume yet", "has taint gpu=yes:NoSchedule"]),
    ]


def test_a_claim_that_is_provisioned_at_once_points_at_its_provisioner() -> None:
    answer = explained(a_node("b"), CLASS, a_claim("data", storage_class="slow"), a_pod("pod", volumes=["data"]))
    first, last = answer.remedies[0], answer.remedies[-1]
    assert first.summary == (
        "have provisioner csi.example.com of storage class slow create the volume of claim default/data, "
        "for which it waits"
    )
    assert (first.requests, first.commands) == ((), ("kubectl describe -n default persistentvolumeclaim data",))
    assert "by an empty directory, without the data of the claim" in last.summary


def test_a_missing_claim_is_created_first() -> None:
    answer = explained(a_node("b"), CLASS, a_pod("pod", volumes=["data"]))
    assert answer.remedies[0].summary == "create claim default/data of storage class slow"
    [request] = answer.remedies[0].requests
    # the provisioner binds it
    assert request.create is not None
    assert "volumeName" not in request.create["spec"]


def test_what_plugins_say_of_a_claim_is_told_once() -> None:
    objects = a_node("b"), CLASS, a_claim("data", storage_class="slow"), a_pod("pod", volumes=["data"])
    assert explain_node(a_model(*objects), "b").pending[0].message == "a claim of it is not bound to a volume yet"
    missing = explained(a_node("b"), a_pod("pod", volumes=["data"]))
    assert missing.message.endswith('persistentvolumeclaim "data" not found. not found')
    lead = [block.text for block in pod_report(missing).lead if hasattr(block, "text")]
    assert lead[1].endswith('persistentvolumeclaim "data" not found')
    assert missing.preemption is not None
    assert missing.preemption.message == "evicting pods does not change what is wrong with the pod"


def test_a_volume_out_of_reach_stays_where_it_is() -> None:
    objects = a_claim("data", bound_to="pv"), a_volume("pv", nodes="topology.kubernetes.io/zone=b")
    answer = explained(a_node("a", zone="a"), *objects, a_pod("pod", volumes=["data"]))
    assert not [remedy for remedy in answer.remedies if "affinity" in remedy.summary]
