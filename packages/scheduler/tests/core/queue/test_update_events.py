"""What an update of a pod or a node stands for."""

from typing import Any

import msgspec
import pytest

from kubesched.api.meta import ObjectMeta
from kubesched.api.nodes import Node, NodeCondition, NodeStatus
from kubesched.api.pods import (
    ContainerStatus,
    Pod,
    PodExtendedResourceClaimStatus,
    PodResourceClaimStatus,
    PodStatus,
    ResourceRequirements,
    Taint,
)
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.framework.values.events import ClusterEvent
from kubesched.core.queue.update_events import node_events, pod_events
from kubesched.errors import InvalidObjectError
from kubesched.testing import a_container, a_node, a_pod

GATES = FeatureGates()


def texts(events: list[ClusterEvent]) -> list[str]:
    return [f"{event.resource}/{event.action.text}" for event in events]


def claims(**names: str | None) -> PodStatus:
    return PodStatus(
        resource_claim_statuses=tuple(
            PodResourceClaimStatus(name=name, resource_claim_name=claim) for name, claim in names.items()
        )
    )


def reporting(cpu: str) -> PodStatus:
    return PodStatus(
        container_statuses=(ContainerStatus(name="main", resources=ResourceRequirements(requests={"cpu": cpu})),)
    )


@pytest.mark.parametrize(
    ("old", "new", "actions"),
    [
        # nothing that has a name of its own
        (a_pod(), a_pod(), ["Update"]),
        (a_pod(), a_pod(priority=5), ["Update"]),
        (a_pod(), a_pod(labels={"a": "b"}), ["UpdatePodLabel"]),
        (a_pod(labels={"a": "b"}), a_pod(), ["UpdatePodLabel"]),
        # requests: less is an event, more is not; how it is written does not matter
        (a_pod(cpu="500m"), a_pod(cpu="400m"), ["UpdatePodScaleDown"]),
        (a_pod(cpu="500m"), a_pod(cpu="600m"), ["Update"]),
        (a_pod(cpu="500m"), a_pod(cpu="0.5"), ["Update"]),
        (a_pod(cpu="500m", memory="1Gi"), a_pod(cpu="500m"), ["UpdatePodScaleDown"]),
        (a_pod(cpu="500m"), a_pod(cpu="500m", memory="1Gi"), ["Update"]),
        (a_pod(cpu=1, memory="1Gi"), a_pod(cpu=2, memory="1Mi"), ["UpdatePodScaleDown"]),
        (a_pod(overhead={"cpu": 1}), a_pod(), ["UpdatePodScaleDown"]),
        (
            a_pod(containers=[a_container("a", cpu=1), a_container("b", cpu=1)]),
            a_pod(containers=[a_container("a", cpu=2), a_container("b", cpu=0)]),
            ["Update"],
        ),
        # what the kubelet reports counts until it has followed
        (a_pod(cpu=1, status=reporting("2")), a_pod(cpu=1, status=reporting("1")), ["UpdatePodScaleDown"]),
        (a_pod(cpu=1, status=reporting("2")), a_pod(cpu=1, status=reporting("2")), ["Update"]),
        # gates: only the last one matters
        (a_pod(gates=["a", "b"]), a_pod(gates=["a"]), ["Update"]),
        (a_pod(gates=["a"]), a_pod(), ["UpdatePodSchedulingGatesEliminated"]),
        (a_pod(), a_pod(gates=["a"]), ["Update"]),
        # tolerations: their number tells
        (a_pod(), a_pod(tolerations=["*"]), ["UpdatePodToleration"]),
        (a_pod(tolerations=["a"]), a_pod(tolerations=["b"]), ["Update"]),
        (a_pod(), a_pod(status=claims(gpu="c-1")), ["UpdatePodGeneratedResourceClaim"]),
        (a_pod(status=claims(gpu=None)), a_pod(status=claims(gpu="")), ["UpdatePodGeneratedResourceClaim"]),
        (
            a_pod(),
            a_pod(
                status=PodStatus(extended_resource_claim_status=PodExtendedResourceClaimStatus(resource_claim_name="c"))
            ),
            ["UpdatePodGeneratedResourceClaim"],
        ),
        # everything at once, in the reference's order
        (
            a_pod(cpu=2, gates=["a"]),
            a_pod(cpu=1, labels={"a": "b"}, tolerations=["*"], status=claims(gpu="c-1")),
            [
                "UpdatePodLabel",
                "UpdatePodScaleDown",
                "UpdatePodSchedulingGatesEliminated",
                "UpdatePodToleration",
                "UpdatePodGeneratedResourceClaim",
            ],
        ),
    ],
)
def test_a_pods_update(old: Pod, new: Pod, actions: list[str]) -> None:
    assert texts(pod_events(old, new, GATES)) == [f"UnschedulablePod/{action}" for action in actions]


def test_where_the_pod_is_now_names_the_resource() -> None:
    assert texts(pod_events(a_pod(), a_pod(node="n"), GATES)) == ["AssignedPod/Update"]
    assert texts(pod_events(a_pod(node="n"), a_pod(), GATES)) == ["UnschedulablePod/Update"]


def test_without_dynamic_resources_nobody_generates_claims() -> None:
    # An older release, since the gate is locked on by now.
    gates = FeatureGates.parse("DynamicResourceAllocation=false", ["1.33"])
    assert texts(pod_events(a_pod(), a_pod(status=claims(gpu="c")), gates)) == ["UnschedulablePod/Update"]


def with_status(**fields: Any) -> Node:
    node = a_node("n")
    return msgspec.structs.replace(node, status=msgspec.structs.replace(node.status, **fields))


def with_annotations(**annotations: str) -> Node:
    node = a_node("n")
    return msgspec.structs.replace(
        node, metadata=ObjectMeta(name="n", labels=node.metadata.labels, annotations=annotations)
    )


def conditions(*statuses: str, message: str = "") -> Node:
    return with_status(conditions=tuple(NodeCondition(type="Ready", status=s, message=message) for s in statuses))


TAINT = "a=b:NoSchedule"


@pytest.mark.parametrize(
    ("old", "new", "actions"),
    [
        (a_node("n"), a_node("n"), []),
        # cordoning helps nobody, the end of it does
        (a_node("n"), a_node("n", unschedulable=True), []),
        (a_node("n", unschedulable=True), a_node("n"), ["UpdateNodeTaint"]),
        (a_node("n", unschedulable=True, taints=[TAINT]), a_node("n"), ["UpdateNodeTaint", "UpdateNodeTaint"]),
        (a_node("n", cpu="4"), a_node("n", cpu="5"), ["UpdateNodeAllocatable"]),
        (a_node("n", cpu="5"), a_node("n", cpu="4"), ["UpdateNodeAllocatable"]),
        (a_node("n", cpu="4"), a_node("n", cpu="4000m"), []),
        (a_node("n"), a_node("n", allocatable={"example.com/gpu": 1}), ["UpdateNodeAllocatable"]),
        (a_node("n"), a_node("n", labels={"a": "b"}), ["UpdateNodeLabel"]),
        (a_node("n"), a_node("n", taints=[TAINT]), ["UpdateNodeTaint"]),
        (a_node("n", taints=[TAINT, "c:NoExecute"]), a_node("n", taints=["c:NoExecute", TAINT]), ["UpdateNodeTaint"]),
        # a heartbeat changes times and messages, not statuses; the last condition of a type counts
        (conditions("True", message="a"), conditions("True", message="b"), []),
        (conditions("True"), conditions("False"), ["UpdateNodeCondition"]),
        (conditions("False", "True"), conditions("True"), []),
        (conditions("True"), conditions(), ["UpdateNodeCondition"]),
        (with_annotations(), with_annotations(a="b"), ["UpdateNodeAnnotation"]),
        (a_node("n"), a_node("n", features=["A"]), ["UpdateNodeDeclaredFeature"]),
        (a_node("n", features=["A", "B"]), a_node("n", features=["B", "A"]), ["UpdateNodeDeclaredFeature"]),
        (a_node("n"), a_node("n", images={"x": 1}), []),
        # everything at once, in the reference's order
        (
            a_node("n", unschedulable=True),
            msgspec.structs.replace(
                a_node("n", cpu=1, taints=[TAINT], labels={"a": "b"}, features=["A"]),
                metadata=ObjectMeta(name="n", annotations={"x": "y"}),
            ),
            [
                "UpdateNodeTaint",
                "UpdateNodeAllocatable",
                "UpdateNodeLabel",
                "UpdateNodeTaint",
                "UpdateNodeAnnotation",
                "UpdateNodeDeclaredFeature",
            ],
        ),
    ],
)
def test_a_nodes_update(old: Node, new: Node, actions: list[str]) -> None:
    assert texts(node_events(old, new, GATES)) == [f"Node/{action}" for action in actions]


def test_declared_features_have_a_gate() -> None:
    gates = FeatureGates({"AllBeta": False})
    assert node_events(a_node("n"), a_node("n", features=["A"]), gates) == []


def test_a_taint_differs_by_the_time_it_was_added() -> None:
    later = msgspec.convert({"key": "a", "effect": "NoSchedule", "timeAdded": "2024-01-01T00:00:00Z"}, Taint)
    new = a_node("n", taints=[later])
    assert texts(node_events(a_node("n", taints=["a:NoSchedule"]), new, GATES)) == ["Node/UpdateNodeTaint"]
    same = msgspec.convert({"key": "a", "effect": "NoSchedule", "timeAdded": "2024-01-01T01:00:00+01:00"}, Taint)
    assert node_events(new, a_node("n", taints=[same]), GATES) == []


def test_a_quantity_that_is_none_is_an_error_that_names_it() -> None:
    with pytest.raises(InvalidObjectError):
        node_events(a_node("n"), with_status(allocatable={"cpu": "lots", "memory": "8Gi", "pods": 110}), GATES)


def test_an_empty_status_is_no_change() -> None:
    assert node_events(Node(), Node(status=NodeStatus()), GATES) == []
