"""Claims that take of a node's own resources: what fits, and who may share."""

from typing import Any

import msgspec
import pytest

from kubesched.api.devices import (
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    NodeAllocatableResourceMapping,
)
from kubesched.api.pods import (
    NodeAllocatableResourceClaimStatus,
    Pod,
    PodResourceClaim,
    PodStatus,
    ResourceRequirements,
)
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.pod_info import request_options
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.core.plugins.dynamic_resources import DynamicResources
from kubesched.testing import a_cluster, a_container, a_node, a_pod
from kubesched.testing.devices import a_device, a_device_class, a_device_request, a_resource_claim, a_slice

GATES = FeatureGates({"DRANodeAllocatableResources": True})
ENTRY = (PodResourceClaim(name="c", resource_claim_name="claim"),)


def device(**mappings: Any) -> Any:
    """Return a shared device of 8 units of cpu, with what it stands for."""
    made = {name.replace("_", "-"): NodeAllocatableResourceMapping(**mapping) for name, mapping in mappings.items()}
    return a_device("d0", capacity={"units": "8"}, shared=True, node_allocatable_resource_mappings=made)


def judged(pod: Pod, offered: Any, *others: Pod, units: str | None = None, allocatable: Any = None) -> Status | None:
    capacity = {"units": units} if units is not None else None
    cluster = a_cluster(
        a_node("n1", cpu="4", memory="4Gi", allocatable=allocatable),
        a_device_class("gpu"),
        a_slice("s", offered, node="n1"),
        a_resource_claim("claim", a_device_request(capacity=capacity)),
        *others,
        options=request_options(GATES),
    )
    plugin = DynamicResources(cluster, None, GATES)
    cycle, info = CycleState(), cluster.reader.read(pod)
    assert plugin.pre_filter(cycle, info) is None
    return plugin.filter(cycle, info, NodeRow(cluster.table, 0))


def using(cpu: str = "1", **fields: Any) -> Pod:
    return a_pod("p", containers=[a_container(cpu=cpu, claims=["c"])], resource_claims=ENTRY, **fields)


@pytest.mark.parametrize(
    ("what", "offered", "units", "code", "reasons"),
    [
        ("nothing of the node", device(), None, None, ()),
        ("a fixed amount that fits", device(cpu={"allocation_multiplier": "3"}), None, None, ()),
        (
            "a fixed amount that does not fit beside what is there",
            device(cpu={"allocation_multiplier": "3500m"}),
            None,
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            ("Insufficient cpu",),
        ),
        (
            "as much as is consumed, times a factor",
            device(memory={"capacity_key": "units", "allocation_multiplier": "1Gi"}),
            "5",
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            ("Insufficient memory",),
        ),
        (
            "consumed and within bounds",
            device(memory={"capacity_key": "units", "allocation_multiplier": "1Gi"}),
            "4",
            None,
            (),
        ),
        ("a capacity that was not consumed", device(cpu={"capacity_key": "others"}), "4", None, ()),
        (
            "huge pages",
            device(hugepages_2Mi={"allocation_multiplier": "2Mi"}),
            None,
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            ("Insufficient hugepages-2Mi",),
        ),
    ],
)
def test_what_fits(what: str, offered: Any, units: str | None, code: Code | None, reasons: tuple[str, ...]) -> None:
    status = judged(using(), offered, units=units)
    assert ((status.code, status.reasons) if status is not None else (None, ())) == (code, reasons), what


def test_what_other_pods_take_can_be_preempted() -> None:
    offered = device(cpu={"allocation_multiplier": "2"})
    status = judged(using(), offered, a_pod("other", cpu="2", node="n1"))
    assert status is not None
    assert status.code is Code.UNSCHEDULABLE


def test_a_claim_must_be_referred_to_by_a_container() -> None:
    pod = a_pod("p", cpu="1", resource_claims=ENTRY)
    status = judged(pod, device(cpu={"allocation_multiplier": "1"}))
    assert status is not None
    assert status.message == (
        "claim claim: node-allocatable resource claim not referenced by any container within the pod"
    )


def test_pod_level_requests_must_cover_containers_and_claims() -> None:
    pod = using(resources=ResourceRequirements(requests={"cpu": "2"}))
    assert judged(pod, device(cpu={"allocation_multiplier": "1"})) is None
    status = judged(pod, device(cpu={"allocation_multiplier": "2"}))
    assert status is not None
    assert status.message.startswith("pod level request for cpu is insufficient to cover")


@pytest.mark.parametrize(
    ("users", "reason"),
    [
        ((), ""),
        (("a",), "node allocatable resource claim claim is already used by another pod"),
        (("a", "b"), "node allocatable resource claim claim shared by multiple pods"),
    ],
)
def test_an_allocated_claim_is_not_shared(users: tuple[str, ...], reason: str) -> None:
    taken = NodeAllocatableResourceClaimStatus(
        resource_claim_name="claim", containers=("main",), resources={"cpu": "1"}
    )
    status = PodStatus(node_allocatable_resource_claim_statuses=(taken,))
    others = [msgspec.structs.replace(a_pod(name, node="n1"), status=status) for name in users]
    given = DeviceRequestAllocationResult(request="r", driver="gpu.example.com", pool="n1", device="d0")
    allocation = AllocationResult(devices=DeviceAllocationResult(results=(given,)))
    cluster = a_cluster(
        a_node("n1", cpu="8"),
        a_slice("s", device(cpu={"allocation_multiplier": "1"}), node="n1"),
        a_resource_claim("claim", a_device_request(), allocation=allocation),
        *others,
        options=request_options(GATES),
    )
    plugin = DynamicResources(cluster, None, GATES)
    cycle, pod = CycleState(), cluster.reader.read(using())
    assert plugin.pre_filter(cycle, pod) is None
    found = plugin.filter(cycle, pod, NodeRow(cluster.table, 0))
    assert (found.message if found is not None else "") == reason
