"""Claims in simulations: devices are free when their pods have ended, and claims go with the pods of theirs."""

from collections.abc import Iterator
from typing import Any

import msgspec

from kubesched.api.meta import ApiObject, OwnerReference
from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.testing import a_claim, a_node, a_pod, a_storage_class
from kubesched.testing.devices import a_claiming_pod, a_device_class, a_device_request, a_resource_claim, a_slice
from kubesched_lab.simulate.measuring.pod_log import PodLog
from kubesched_lab.simulate.simulation import Run, simulate
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace, TraceEvent

replace = msgspec.structs.replace
GPU: list[TraceEvent] = [
    ObjectPut(0, a_node("n", cpu="8")),
    ObjectPut(0, a_device_class("gpu")),
    ObjectPut(0, a_slice("n-gpus", "gpu-0", node="n")),
]


def lives(*events: TraceEvent, **options: Any) -> list[tuple[str, float | None, float | None]]:
    """Return name, binding and end of each pod."""

    def read(seed: int) -> Iterator[TraceEvent]:
        yield from events

    log = PodLog()
    simulate(Run(Trace("story", read), load_config(), Registry(), **options), pod_log=log)
    return [(each.name, each.bound, each.left) for each in log.records]


def a_claim_of(pod: str, at: float = 0) -> ObjectPut:
    """Return a claim that was made for a pod."""
    claim = a_resource_claim(f"{pod}-gpu", a_device_request("gpu"))
    return ObjectPut(at, owned(claim, pod))


def owned(obj: Any, pod: str) -> ApiObject:
    owner = OwnerReference(api_version="v1", kind="Pod", name=pod, uid=f"default/{pod}", controller=True)
    found: ApiObject = replace(obj, metadata=replace(obj.metadata, owner_references=(owner,)))
    return found


def a_user(name: str, at: float, runs: float, claim: str = "") -> PodArrival:
    return PodArrival(at, a_claiming_pod(name, claim or f"{name}-gpu"), runs)


def test_a_device_is_free_when_its_pod_has_ended() -> None:
    events: list[TraceEvent] = [*GPU, a_claim_of("a"), a_user("a", 0, 10), a_claim_of("b", 1), a_user("b", 1, 10)]
    assert lives(*events) == [("a", 0, 10), ("b", 10, 20)]


def test_a_shared_claim_stays_allocated_until_its_last_pod_has_ended() -> None:
    shared = ObjectPut(0, a_resource_claim("shared", a_device_request("gpu")))
    users: list[TraceEvent] = [a_user("a", 0, 10, "shared"), a_user("b", 0, 30, "shared")]
    assert lives(*GPU, shared, *users, a_claim_of("c", 1), a_user("c", 1, 5)) == [
        ("a", 0, 10),
        ("b", 0, 30),
        ("c", 30, 35),
    ]


def test_a_claim_is_not_deleted_before_its_pod() -> None:
    # where it was recorded, b ran from 1 to 6
    deleted = ObjectDeletion(6, "ResourceClaim", "default/b-gpu")
    events: list[TraceEvent] = [
        *GPU,
        a_claim_of("a"),
        a_user("a", 0, 10),
        a_claim_of("b", 1),
        a_user("b", 1, 5),
        deleted,
    ]
    assert lives(*events) == [("a", 0, 10), ("b", 10, 15)]


def test_a_change_of_a_claim_leaves_what_the_scheduler_has_chosen() -> None:
    labelled = a_claim_of("a", 3)
    obj = replace(labelled.obj, metadata=replace(labelled.obj.metadata, labels={"x": "y"}))
    events: list[TraceEvent] = [
        *GPU,
        a_claim_of("a"),
        a_user("a", 0, 10),
        a_claim_of("b", 1),
        a_user("b", 1, 5),
        ObjectPut(3, obj),
    ]
    assert lives(*events) == [("a", 0, 10), ("b", 10, 15)]


def test_a_volume_stays_where_it_was_provisioned_when_its_claim_changes() -> None:
    claim = a_claim("data", storage_class="fast")
    labelled = replace(claim, metadata=replace(claim.metadata, labels={"x": "y"}))
    events: list[TraceEvent] = [
        ObjectPut(0, a_node("n")),
        ObjectPut(0, a_storage_class("fast", provisioner="csi.example.com")),
        ObjectPut(0, claim),
        PodArrival(0, a_pod("first", volumes=["data"]), 10),
        ObjectPut(5, labelled),
        PodArrival(20, a_pod("second", volumes=["data"]), 10),
    ]
    assert lives(*events) == [("first", 0, 10), ("second", 20, 30)]
