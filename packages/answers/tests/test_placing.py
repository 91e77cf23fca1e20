"""Placing pods, evicting them, and taking all of it back, in full or to a mark."""

from typing import Any

import msgspec
from tests.support.models import a_model
from tests.support.whatif import state_of

from kubesched.api.devices import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaim,
    ResourceClaimConsumerReference,
)
from kubesched.core.scheduling.outcomes import Failed, Placed
from kubesched.model.cluster_model import ClusterModel
from kubesched.testing import a_node, a_pod
from kubesched.testing.devices import a_claiming_pod, a_device_class, a_device_request, a_resource_claim, a_slice
from kubesched_answers.placing import Placer
from kubesched_answers.whatif.draining import Drain
from kubesched_answers.whatif.whatif import trial_of, whatif


def nodes_of(model: ClusterModel) -> dict[str, str]:
    return {pod.name: pod.spec.node_name for pod in model.cluster.table.pods.values()}


def test_a_mark_is_a_state_to_go_back_to() -> None:
    model = a_model(a_node("a", cpu="1"), a_node("b", cpu="1"), a_pod("p", cpu="1"), a_pod("q", cpu="1"))
    before = state_of(model)
    placer = Placer(model)
    placer.place(model.pod("default/p"))
    mark = placer.mark()
    placed = model.cluster.table.pods["default-p"]
    placer.evict([placed])
    placer.place(model.pod("default/q"))
    assert nodes_of(model) == {"q": "a"}
    placer.undo(mark)
    assert nodes_of(model) == {"p": "a"}, "a pod that was placed and evicted is back"
    placer.undo()
    assert state_of(model) == before


def test_victims_are_evicted_and_come_back() -> None:
    model = a_model(
        a_node("a", cpu="1"), a_pod("low", node="a", cpu="1"), a_pod("vip", cpu="1", priority=9), a_pod("r", cpu="1")
    )
    before = state_of(model)
    placer = Placer(model)
    pod = model.pod("default/vip")
    outcomes, victims = placer.place_or_preempt(pod)
    outcome = outcomes[pod.uid]
    assert isinstance(outcome, Placed)
    assert [victim.name for victim in victims] == ["low"]
    assert isinstance(placer.place(model.pod("default/r")), Failed)
    placer.undo()
    assert state_of(model) == before


def allocated_claim(pod: str, *devices: str) -> ResourceClaim:
    """Return a claim with devices of node a, reserved for a pod."""
    results = tuple(
        DeviceRequestAllocationResult(request="r", driver="gpu.example.com", pool="a", device=device)
        for device in devices
    )
    claim = a_resource_claim("claim", a_device_request())
    status = msgspec.structs.replace(
        claim.status,
        allocation=AllocationResult(devices=DeviceAllocationResult(results=results)),
        reserved_for=(ResourceClaimConsumerReference(resource="pods", name=pod, uid=f"default-{pod}"),),
    )
    return msgspec.structs.replace(claim, status=status)


def cluster_with_devices(**words: Any) -> list[Any]:
    return [
        a_node("a"),
        a_node("b"),
        a_device_class(),
        a_slice("a-gpu", "gpu-0", pool="a", node="a", driver="gpu.example.com"),
        a_slice("b-gpu", "gpu-0", pool="b", node="b", driver="gpu.example.com"),
        allocated_claim("p", "gpu-0"),
        a_claiming_pod("p", "claim", node="a", owner="ReplicaSet/web", **words),
    ]


def test_a_pod_that_leaves_gives_its_devices_back_and_gets_others() -> None:
    model = a_model(*cluster_with_devices())
    before = state_of(model)
    answer = whatif(model, [Drain(("a",))])
    assert [(change.pod, change.to_node) for change in answer.changes] == [("default/p", "b")]
    assert state_of(model) == before


def test_devices_that_another_pod_uses_stay_where_they_are() -> None:
    objects = cluster_with_devices()
    claim = next(obj for obj in objects if isinstance(obj, ResourceClaim))
    other = ResourceClaimConsumerReference(resource="pods", name="q", uid="default-q")
    status = msgspec.structs.replace(claim.status, reserved_for=(*claim.status.reserved_for, other))
    objects[objects.index(claim)] = msgspec.structs.replace(claim, status=status)
    model = a_model(*objects)
    with trial_of(model) as trial:
        trial.displace(model.pod("default/p"))
        left = model.cluster.claims.get("default/claim")
        assert left is not None
        assert left.status.allocation is not None
        assert [user.name for user in left.status.reserved_for] == ["q"]
