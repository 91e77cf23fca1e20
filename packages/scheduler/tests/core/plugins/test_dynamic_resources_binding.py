"""DynamicResources: what is held, written and undone for a pod that got a node."""

from collections.abc import Callable, Collection
from datetime import UTC, datetime
from functools import partial
from typing import Any, TypeVar

import msgspec
import pytest

from kubesched.api.devices import AllocatedDeviceStatus, NodeAllocatableResourceMapping, ResourceClaim
from kubesched.api.meta import ApiObject, Condition
from kubesched.api.pods import Pod, PodResourceClaim
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.comparison import content
from kubesched.core.cluster.pod_info import request_options
from kubesched.core.cluster.table import CPU
from kubesched.core.cluster_effects import ClusterEffects, run
from kubesched.core.framework.observing.observer import Observer, Observers
from kubesched.core.framework.services.waiting import NoWaits
from kubesched.core.framework.values.cycle import PRE_FILTERED, CycleState
from kubesched.core.framework.values.effects import ConflictError, Delete, Effect, EffectError, Emit, Patch, Read, Write
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.framework.views.nodes import Nodes
from kubesched.core.plugins.dynamic_resources import DynamicResources
from kubesched.core.plugins.dynamic_resources.state import GROUP_ALLOCATIONS
from kubesched.testing import a_cluster, a_container, a_node, a_pod
from kubesched.testing.devices import a_device, a_device_class, a_device_request, a_resource_claim, a_slice

FINALIZER = "resource.kubernetes.io/delete-protection"
GPU = "example.com/gpu"
CLAIMING = a_pod("p", resource_claims=(PodResourceClaim(name="c", resource_claim_name="claim"),))
CLAIM = a_resource_claim("claim", a_device_request())
OBJECTS = (a_node("n1"), a_device_class("gpu"), a_slice("s", "d0", node="n1"), CLAIM)
EXTENDED = (a_node("n1"), a_device_class("gpu", extended_resource=GPU), a_slice("s", "d0", node="n1"))

T = TypeVar("T")


class Faulty(ClusterEffects):
    """Refuses what a test wants refused."""

    def __init__(
        self, cluster: ClusterState, refuse: Callable[[Effect], EffectError | None] = lambda effect: None
    ) -> None:
        super().__init__(cluster)
        self.refuse = refuse

    async def perform(self, effect: Effect) -> ApiObject | None:
        refusal = self.refuse(effect)
        if refusal is not None:
            raise refusal
        return await super().perform(effect)


class Told(Observer):
    """Remembers what the plugin tells of claims and devices."""

    def __init__(self) -> None:
        self.created: list[bool] = []
        self.awaited: list[tuple[str, list[str], list[str], str]] = []

    def claim_created(self, *, succeeded: bool) -> None:
        self.created.append(succeeded)

    def device_conditions_awaited(
        self, profile: str, drivers: Collection[str], conditioned: Collection[str], status: str, seconds: float
    ) -> None:
        self.awaited.append((profile, list(drivers), list(conditioned), status))


class Placed:
    """A pod that got node n1, from PreFilter to Reserve."""

    def __init__(
        self, pod: Pod, objects: tuple[ApiObject, ...] = OBJECTS, waits: NoWaits | None = None, **gates: bool
    ) -> None:
        self.cluster = a_cluster(*objects, options=request_options(FeatureGates(gates)))
        self.effects = Faulty(self.cluster)
        self.told = Told()
        observers = Observers([self.told], clock=lambda: 0.0, note=pytest.fail)
        self.plugin = DynamicResources(
            self.cluster, None, FeatureGates(gates), self.effects, waits or NoWaits(), observers
        )
        self.before = content(self.cluster)
        self.cycle = CycleState()
        self.cycle.write(PRE_FILTERED, ("DynamicResources",))
        self.pending = self.cluster.reader.read(pod)
        assert self.plugin.pre_filter(self.cycle, self.pending) is None
        self.plugin.filter_nodes(self.cycle, self.pending, Nodes(self.cluster.table))
        self.pod = self.cluster.assume(self.pending, "n1")
        self.reserved = self.plugin.reserve(self.cycle, self.pod, "n1")

    def bind(self) -> Status | None:
        return run(self.plugin.pre_bind(self.cycle, self.pod, "n1"))

    def undo(self) -> None:
        self.plugin.unreserve(self.cycle, self.pod, "n1")
        self.cluster.forget(self.pod)
        self.cluster.remove_waiting(self.pod.uid)

    def claim(self, name: str = "claim") -> ResourceClaim:
        found = self.cluster.claims.get(f"default/{name}")
        assert found is not None
        return found


def devices(claim: ResourceClaim) -> list[str]:
    allocation = claim.status.allocation
    return [f"{result.pool}/{result.device}" for result in allocation.devices.results] if allocation else []


def test_reserve_holds_the_devices_and_unreserve_lets_go() -> None:
    placed = Placed(CLAIMING)
    assert placed.reserved is None
    pending = placed.cluster.claims.pending_allocation(CLAIM.uid)
    assert pending is not None
    assert [result.device for result in pending.devices.results] == ["d0"]
    # another pod finds nothing left
    other = placed.cluster.reader.read(
        a_pod("q", resource_claims=(PodResourceClaim(name="c", resource_claim_name="other"),))
    )
    placed.cluster.add(a_resource_claim("other", a_device_request()))
    cycle = CycleState()
    placed.plugin.pre_filter(cycle, other)
    verdict = placed.plugin.filter_nodes(cycle, other, Nodes(placed.cluster.table))
    assert verdict.which.tolist() == [1]
    placed.cluster.remove(a_resource_claim("other"))
    placed.undo()
    assert content(placed.cluster) == placed.before
    # it bears repetition
    placed.plugin.unreserve(placed.cycle, placed.pod, "n1")
    assert placed.effects.performed == []


def test_a_node_that_filter_did_not_pass_cannot_be_reserved() -> None:
    placed = Placed(CLAIMING, (a_node("n1"), a_device_class("gpu"), CLAIM))
    assert placed.reserved is not None
    assert (placed.reserved.code, placed.reserved.message) == (Code.ERROR, "claim allocation not found for node")


def test_pre_bind_writes_finalizer_allocation_and_reservation() -> None:
    placed = Placed(CLAIMING)
    assert placed.plugin.pre_bind_pre_flight(placed.cycle, placed.pod, "n1") is None
    assert placed.bind() is None
    claim = placed.claim()
    assert claim.metadata.finalizers == (FINALIZER,)
    assert devices(claim) == ["n1/d0"]
    assert [(user.resource, user.name, user.uid) for user in claim.status.reserved_for] == [("pods", "p", "default-p")]
    assert claim.status.allocation is not None
    assert claim.status.allocation.allocation_timestamp == datetime(2030, 1, 1, tzinfo=UTC)
    assert placed.cluster.claims.pending_allocation(CLAIM.uid) is None
    # binding again has nothing to do: the claim is reserved
    performed = len(placed.effects.performed)
    assert placed.bind() is None
    assert len(placed.effects.performed) == performed


def test_what_was_written_is_undone_when_the_pod_is_not_bound() -> None:
    placed = Placed(CLAIMING)
    placed.bind()
    placed.undo()
    claim = placed.claim()
    assert claim.status.reserved_for == ()
    # the allocation stays for the next attempt
    assert devices(claim) == ["n1/d0"]


def test_a_conflict_is_met_with_a_fresh_claim() -> None:
    placed = Placed(CLAIMING)
    conflicts = [ConflictError("modified")] * 2
    placed.effects.refuse = lambda effect: conflicts.pop() if isinstance(effect, Write) and conflicts else None
    assert placed.bind() is None
    assert sum(isinstance(effect, Read) for effect in placed.effects.performed) == 2
    assert devices(placed.claim()) == ["n1/d0"]


def refusing(kind: type[Effect], refusal: EffectError) -> Callable[[Effect], EffectError | None]:
    return lambda effect: refusal if isinstance(effect, kind) else None


@pytest.mark.parametrize(
    ("what", "refuse", "change", "reason"),
    [
        (
            "conflicts without end",
            refusing(Write, ConflictError("modified")),
            None,
            "add finalizer to claim default/claim: modified",
        ),
        ("a refusal", refusing(Write, EffectError("no")), None, "add finalizer to claim default/claim: no"),
        (
            "a refused status",
            lambda effect: EffectError("no") if isinstance(effect, Write) and effect.subresource else None,
            None,
            "add allocation and reservation to claim default/claim: no",
        ),
        (
            "allocated by somebody else",
            None,
            lambda claim: allocated(claim, "another"),
            "claim default/claim got allocated elsewhere in the meantime",
        ),
        (
            "deleted in the meantime",
            None,
            lambda claim: msgspec.structs.replace(
                claim,
                metadata=msgspec.structs.replace(
                    claim.metadata, deletion_timestamp=datetime(2030, 1, 1, tzinfo=UTC), finalizers=("x",)
                ),
            ),
            "claim default/claim got deleted in the meantime",
        ),
    ],
)
def test_what_keeps_a_pod_from_being_bound(what: str, refuse: Any, change: Any, reason: str) -> None:
    placed = Placed(CLAIMING)
    if refuse is not None:
        placed.effects.refuse = refuse
    if change is not None:
        # somebody was faster: the first write is a conflict, the fresh claim shows why
        placed.cluster.add(change(CLAIM))
        conflicts = [ConflictError("modified")]
        placed.effects.refuse = lambda effect: conflicts.pop() if isinstance(effect, Write) and conflicts else None
    status = placed.bind()
    assert status is not None, what
    assert (status.code, status.message) == (Code.ERROR, reason)
    placed.undo()
    assert placed.cluster.claims.pending_allocation(CLAIM.uid) is None


def allocated(claim: ResourceClaim, device: str = "d0") -> ResourceClaim:
    """Return a claim that has a device of n1 and is reserved for another pod."""
    another = a_pod("another", resource_claims=CLAIMING.spec.resource_claims)
    other = Placed(another, (a_node("n1"), a_device_class("gpu"), a_slice("s", device, node="n1"), CLAIM))
    other.bind()
    return msgspec.structs.replace(claim, status=other.claim().status)


def test_a_claim_that_came_to_have_just_what_was_promised_is_only_reserved() -> None:
    """Another pod of the group, which was promised the same, may have written it first."""
    placed = Placed(CLAIMING)
    placed.cluster.add(allocated(CLAIM))
    conflicts = [ConflictError("modified")]
    placed.effects.refuse = lambda effect: conflicts.pop() if isinstance(effect, Write) and conflicts else None
    assert placed.bind() is None
    assert devices(placed.claim()) == ["n1/d0"]
    assert [user.name for user in placed.claim().status.reserved_for] == ["another", "p"]
    assert placed.cluster.claims.pending_allocation(CLAIM.uid) is None


def test_an_allocated_claim_is_only_reserved() -> None:
    claim = allocated(CLAIM)
    shared = msgspec.structs.replace(claim, status=msgspec.structs.replace(claim.status, reserved_for=()))
    placed = Placed(CLAIMING, (a_node("n1"), shared))
    assert placed.reserved is None
    assert placed.bind() is None
    assert [type(effect) for effect in placed.effects.performed] == [Write]
    assert [user.name for user in placed.claim().status.reserved_for] == ["p"]


# -- extended resources


def test_the_claim_for_extended_resources_is_made_and_named_in_the_pod() -> None:
    placed = Placed(a_pod("p", requests={GPU: "1"}), EXTENDED)
    assert placed.reserved is None
    assert placed.bind() is None
    claim = placed.claim("p-extended-resources-0")
    assert devices(claim) == ["n1/d0"]
    assert claim.metadata.annotations == {"resource.kubernetes.io/extended-resource-claim": "true"}
    assert [(owner.name, owner.uid, owner.controller) for owner in claim.metadata.owner_references] == [
        ("p", "default-p", True)
    ]
    assert claim.metadata.finalizers == (FINALIZER,)
    status = placed.cluster.as_reported(placed.pod).status.extended_resource_claim_status
    assert status is not None
    assert status.resource_claim_name == "p-extended-resources-0"
    assert [(m.resource_name, m.request_name) for m in status.request_mappings] == [(GPU, "container-0-request-0")]
    assert placed.told.created == [True]
    # only the real claim holds the device now
    assert placed.cluster.claims.content()["in flight"] == {}


def test_the_extended_resource_claim_is_deleted_when_the_pod_is_not_bound() -> None:
    placed = Placed(a_pod("p", requests={GPU: "1"}), EXTENDED)
    placed.effects.refuse = refusing(Patch, EffectError("no"))
    status = placed.bind()
    assert status is not None
    assert status.message == "update pod default/p ExtendedResourceClaimStatus: no"
    placed.undo()
    assert placed.cluster.claims.all() == []
    assert [type(effect) for effect in placed.effects.performed[-2:]] == [Patch, Delete]


def test_a_refused_creation_leaves_nothing_behind() -> None:
    placed = Placed(a_pod("p", requests={GPU: "1"}), EXTENDED)
    placed.effects.refuse = refusing(Write, EffectError("quota"))
    status = placed.bind()
    assert status is not None
    assert status.message == "create claim for extended resources default/: quota"
    assert placed.told.created == [False]
    placed.undo()
    assert content(placed.cluster) == placed.before


def test_a_device_plugin_serves_first() -> None:
    node = a_node("n1", allocatable={GPU: "2"})
    placed = Placed(a_pod("p", requests={GPU: "1"}), (node, *EXTENDED[1:]))
    assert placed.reserved is None
    assert placed.bind() is None
    assert placed.effects.performed == []


def test_a_device_plugin_and_a_claim_serve_together() -> None:
    node = a_node("n1", allocatable={GPU: "2"})
    pod = a_pod("p", requests={GPU: "1"}, resource_claims=CLAIMING.spec.resource_claims)
    placed = Placed(pod, (node, *EXTENDED[1:], CLAIM))
    assert placed.reserved is None
    assert placed.bind() is None
    assert [claim.name for claim in placed.cluster.claims.all()] == ["claim"]


# -- binding conditions


class Eventually(NoWaits):
    """Lets the world move on once each time somebody waits."""

    def __init__(self, *moves: Callable[[], None]) -> None:
        super().__init__()
        self.moves = list(moves)

    async def until(self, check: Callable[[], T | None], kinds: Collection[str], timeout_seconds: float) -> T:
        assert kinds == ("ResourceClaim",)
        while (answer := check()) is None and self.moves:
            self.moves.pop(0)()
        return await super().until(lambda: answer, kinds, timeout_seconds)


FABRIC = (
    a_node("n1"),
    a_device_class("gpu"),
    a_slice("s", a_device("d0", binding_conditions=("ready",), binding_failure_conditions=("broken",)), all_nodes=True),
    CLAIM,
)


def reporting(cluster: ClusterState, **conditions: str) -> None:
    """Report conditions of the claim's device, as a driver does."""
    claim = cluster.claims.get("default/claim")
    assert claim is not None
    told = tuple(Condition(type=kind, status=value, reason="R", message="m") for kind, value in conditions.items())
    device = AllocatedDeviceStatus(driver="gpu.example.com", pool="s", device="d0", conditions=told)
    cluster.add(msgspec.structs.replace(claim, status=msgspec.structs.replace(claim.status, devices=(device,))))


@pytest.mark.parametrize(
    ("what", "reports", "reason", "outcome"),
    [
        ("ready in the end", ({"ready": "False"}, {"ready": "True"}), "", "success"),
        ("never ready", (), "device binding timeout: context deadline exceeded", "timeout"),
        ("broken", ({"broken": "True"},), 'device binding failed: claim=claim, reason=R, message="m"', "failure"),
    ],
)
def test_devices_that_take_time_are_waited_for(
    what: str, reports: tuple[dict[str, str], ...], reason: str, outcome: str
) -> None:
    waits = Eventually()
    placed = Placed(CLAIMING, FABRIC, waits)
    waits.moves = [partial(reporting, placed.cluster, **conditions) for conditions in reports]
    status = placed.bind()
    assert (status.message if status is not None else "") == reason, what
    told = [effect for effect in placed.effects.performed if isinstance(effect, Emit)]
    assert [(event.reason, event.note) for event in told] == [
        ("BindingConditionsPending", "waiting for binding conditions for device on node n1")
    ]
    assert placed.told.awaited == [("default-scheduler", ["gpu.example.com"], ["gpu.example.com"], outcome)]


def test_without_the_gate_nobody_waits() -> None:
    placed = Placed(CLAIMING, FABRIC, DRADeviceBindingConditions=False)
    # devices with binding conditions are not given where these do not count
    assert placed.reserved is not None


# -- groups


def test_pods_of_a_group_share_an_allocation_in_flight() -> None:
    placed = Placed(CLAIMING)
    other = placed.cluster.reader.read(a_pod("q", resource_claims=CLAIMING.spec.resource_claims))
    of_group = CycleState()
    cycle = CycleState(group=of_group)
    cycle.write(PRE_FILTERED, ("DynamicResources",))
    in_group = {CLAIM.uid}
    of_group.write(GROUP_ALLOCATIONS, in_group)
    assert placed.plugin.pre_filter(cycle, other) is None
    verdict = placed.plugin.filter_nodes(cycle, other, Nodes(placed.cluster.table))
    assert verdict.which.tolist() == [0]
    assert placed.plugin.reserve(cycle, other, "n1") is None
    placed.plugin.unreserve(placed.cycle, placed.pod, "n1")
    assert placed.cluster.claims.pending_allocation(CLAIM.uid) is not None
    placed.plugin.unreserve(cycle, other, "n1")
    assert placed.cluster.claims.pending_allocation(CLAIM.uid) is None
    assert in_group == set()


# -- resources of the node


def test_what_claims_take_of_a_node_counts_while_the_pod_is_there() -> None:
    takes_two = {"cpu": NodeAllocatableResourceMapping(allocation_multiplier="2")}
    device = a_device("d0", node_allocatable_resource_mappings=takes_two)
    pod = a_pod("p", containers=[a_container(cpu="1", claims=["c"])], resource_claims=CLAIMING.spec.resource_claims)
    objects = (a_node("n1", cpu="4"), a_device_class("gpu"), a_slice("s", device, node="n1"), CLAIM)
    placed = Placed(pod, objects, DRANodeAllocatableResources=True)
    assert placed.reserved is None
    assert placed.cluster.table.requested[CPU, 0] == 3000
    assert placed.bind() is None
    (status,) = placed.cluster.as_reported(placed.pod).status.node_allocatable_resource_claim_statuses
    assert (status.resource_claim_name, status.containers, status.resources) == ("claim", ("main",), {"cpu": "2"})
    placed.undo()
    assert placed.cluster.table.requested[CPU, 0] == 0
