"""DynamicResources: which pods wait for their claims, which nodes can serve them, which claims are given back."""

from datetime import UTC, datetime
from typing import Any

import msgspec
import pytest

from kubesched.api.devices import (
    AllocatedDeviceStatus,
    AllocationResult,
    DeviceAllocationResult,
    DeviceRequestAllocationResult,
    ResourceClaim,
    ResourceClaimConsumerReference,
)
from kubesched.api.meta import ApiObject, Condition, OwnerReference
from kubesched.api.pods import (
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodResourceClaim,
    PodResourceClaimStatus,
    PodSchedulingGroup,
    PodStatus,
)
from kubesched.config.args import DynamicResourcesArgs
from kubesched.config.feature_gates import FeatureGates
from kubesched.config.golang import seconds
from kubesched.config.intree import IN_TREE
from kubesched.conformance.plans import claims_released
from kubesched.core.assembly import build_engine
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.plugin import UNCACHED, extension_points_of
from kubesched.core.framework.services.waiting import NoWaits
from kubesched.core.framework.values.cycle import PRE_FILTERED, CycleState
from kubesched.core.framework.values.effects import Delete, Patch, Write
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.framework.views.nodes import NodeRow, Nodes
from kubesched.core.plugins.dynamic_resources import DynamicResources
from kubesched.testing import a_cluster, a_node, a_pod
from kubesched.testing.devices import (
    a_device_choice,
    a_device_class,
    a_device_request,
    a_resource_claim,
    a_slice,
    an_alternative,
)
from kubesched.testing.shorthand import node_term

CANNOT = "cannot allocate all claims"
NOT_AVAILABLE = "resourceclaim not available on the node"
GPU = "example.com/gpu"
CLASS = a_device_class("gpu")
BOGUS = NodeSelectorTerm(match_expressions=(NodeSelectorRequirement(key="x", operator="Bogus"),))


def a_claiming_pod(name: str = "p", *claims: str, **fields: Any) -> Pod:
    entries = tuple(PodResourceClaim(name=claim, resource_claim_name=claim) for claim in claims or ("claim",))
    return a_pod(name, resource_claims=entries, **fields)


def allocated(
    claim: ResourceClaim, pool: str = "n1", *, on: str | NodeSelectorTerm = "", **fields: Any
) -> ResourceClaim:
    """Return the claim with device d0 of a pool; `on` is a node term."""
    selector = NodeSelector(node_selector_terms=(node_term(on),)) if on else None
    given = DeviceRequestAllocationResult(request="r", driver="gpu.example.com", pool=pool, device="d0", **fields)
    allocation = AllocationResult(devices=DeviceAllocationResult(results=(given,)), node_selector=selector)
    return msgspec.structs.replace(claim, status=msgspec.structs.replace(claim.status, allocation=allocation))


def reserved(claim: ResourceClaim, *uids: str) -> ResourceClaim:
    consumers = tuple(ResourceClaimConsumerReference(resource="pods", uid=uid) for uid in uids)
    return msgspec.structs.replace(claim, status=msgspec.structs.replace(claim.status, reserved_for=consumers))


class Asked:
    """A pod before the plugin, hook by hook."""

    def __init__(
        self,
        pod: Pod,
        *objects: ApiObject,
        args: DynamicResourcesArgs | None = None,
        gates: dict[str, bool] | None = None,
    ) -> None:
        self.cluster: ClusterState = a_cluster(*objects)
        self.plugin = DynamicResources(self.cluster, args, FeatureGates(gates or {}))
        self.pod = self.cluster.reader.read(pod)
        self.cycle = CycleState()
        self.cycle.write(PRE_FILTERED, ("DynamicResources",))

    def pre_filter(self) -> Status | None:
        return self.plugin.pre_filter(self.cycle, self.pod)

    def filter(self) -> dict[str, str]:
        """Return the rejections by node; the one-row form says the same as the columns."""
        assert self.pre_filter() is None
        table = self.cluster.table
        verdict = self.plugin.filter_nodes(self.cycle, self.pod, Nodes(table))
        found = {}
        for row, index in enumerate(verdict.which.tolist()):
            status = verdict.statuses[index]
            assert self.plugin.filter(self.cycle, self.pod, NodeRow(table, row)) == status
            if status is not None:
                found[table.names[row]] = status.message
        return found


def message(status: Status | None) -> str:
    return status.message if status is not None else ""


# -- the queue


def with_status(pod: Pod, *statuses: PodResourceClaimStatus) -> Pod:
    return msgspec.structs.replace(pod, status=PodStatus(resource_claim_statuses=statuses))


def owned(claim: ResourceClaim, uid: str, kind: str = "Pod", name: str = "p") -> ResourceClaim:
    owner = OwnerReference(
        api_version="v1" if kind == "Pod" else "scheduling.k8s.io/v1alpha2",
        kind=kind,
        name=name,
        uid=uid,
        controller=True,
    )
    return msgspec.structs.replace(claim, metadata=msgspec.structs.replace(claim.metadata, owner_references=(owner,)))


TEMPLATED = a_pod("p", resource_claims=(PodResourceClaim(name="c", resource_claim_template_name="t"),))
GENERATED = with_status(TEMPLATED, PodResourceClaimStatus(name="c", resource_claim_name="claim"))


@pytest.mark.parametrize(
    ("what", "pod", "objects", "reason"),
    [
        ("a pod without claims", a_pod("p"), (), ""),
        ("its claim is there", a_claiming_pod(), (a_resource_claim(),), ""),
        ("its claim is missing", a_claiming_pod(), (), 'could not find ResourceClaim "default/claim"'),
        (
            "its claim is being deleted",
            a_claiming_pod(),
            (
                msgspec.structs.replace(
                    a_resource_claim(),
                    metadata=msgspec.structs.replace(
                        a_resource_claim().metadata, deletion_timestamp=datetime(2024, 1, 1, tzinfo=UTC)
                    ),
                ),
            ),
            'resourceclaim "claim" is being deleted',
        ),
        ("its claim is not generated yet", TEMPLATED, (), 'pod "default/p": ResourceClaim not created yet'),
        (
            "it was decided that there shall be no claim",
            with_status(TEMPLATED, PodResourceClaimStatus(name="c")),
            (),
            "",
        ),
        ("its generated claim is its own", GENERATED, (owned(a_resource_claim(), "default-p"),), ""),
        (
            "its generated claim is somebody else's",
            GENERATED,
            (owned(a_resource_claim(), "other"),),
            "ResourceClaim default/claim was not created for Pod default/p (Pod is not owner)",
        ),
        (
            "an entry that names nothing",
            a_pod("p", resource_claims=(PodResourceClaim(name="c"),)),
            (),
            'pod "default/p", spec.resourceClaim "c": none of the supported fields are set',
        ),
    ],
)
def test_pods_are_held_back_until_their_claims_are_there(
    what: str, pod: Pod, objects: tuple[ApiObject, ...], reason: str
) -> None:
    asked = Asked(pod, *objects)
    status = asked.plugin.pre_enqueue(asked.pod)
    assert message(status) == reason, what
    assert status is None or status.code is Code.UNSCHEDULABLE_AND_UNRESOLVABLE
    if reason:
        assert asked.pre_filter() == status


def test_claims_generated_for_the_group_count_where_groups_have_claims() -> None:
    pod = msgspec.structs.replace(
        GENERATED, spec=msgspec.structs.replace(GENERATED.spec, scheduling_group=PodSchedulingGroup(pod_group_name="g"))
    )
    gates = {"DRAWorkloadResourceClaims": True, "GenericWorkload": True}
    of_group = owned(a_resource_claim(), "group-uid", "PodGroup", "g")
    asked = Asked(pod, of_group, gates=gates)
    assert asked.plugin.pre_enqueue(asked.pod) is None
    asked = Asked(pod, owned(a_resource_claim(), "x", "PodGroup", "other"), gates=gates)
    assert "(neither Pod nor PodGroup g is the owner)" in message(asked.plugin.pre_enqueue(asked.pod))
    asked = Asked(pod, of_group)
    assert "(Pod is not owner)" in message(asked.plugin.pre_enqueue(asked.pod))


# -- PreFilter


@pytest.mark.parametrize(
    ("what", "claim", "gates", "code", "reason"),
    [
        ("all is well", a_resource_claim("claim", a_device_request()), {}, None, ""),
        (
            "the class does not exist",
            a_resource_claim("claim", a_device_request(device_class="ghost")),
            {},
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            "request r: device class ghost does not exist",
        ),
        (
            "the class of an alternative does not exist",
            a_resource_claim("claim", a_device_choice("r", an_alternative("a"), an_alternative("b", device_class="g"))),
            {},
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            "request r/b: device class g does not exist",
        ),
        (
            "a request without a class",
            a_resource_claim("claim", a_device_request(device_class="")),
            {},
            Code.ERROR,
            "request r: unsupported request type",
        ),
        (
            "a request that asks for nothing",
            a_resource_claim("claim", a_device_choice("r")),
            {},
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            "resource claim default/claim, request r: unknown request type",
        ),
        (
            "alternatives where they are switched off",
            a_resource_claim("claim", a_device_choice("r", an_alternative("a"))),
            {"DRAPrioritizedList": False},
            Code.UNSCHEDULABLE_AND_UNRESOLVABLE,
            "resource claim default/claim, request r: has subrequests, but the DRAPrioritizedList feature is disabled",
        ),
        (
            "an allocation that does not say where it can be reached",
            allocated(a_resource_claim("claim"), on=BOGUS),
            {},
            Code.ERROR,
            'nodeSelectorTerms[0].matchExpressions[0].operator: Unsupported value: "Bogus"',
        ),
    ],
)
def test_pre_filter(what: str, claim: ResourceClaim, gates: dict[str, bool], code: Code | None, reason: str) -> None:
    status = Asked(a_claiming_pod(), CLASS, claim, gates=gates).pre_filter()
    assert (status.code if status is not None else None) is code, what
    assert reason in message(status)


def test_a_claim_that_another_pod_has_allocated_is_waited_for() -> None:
    asked = Asked(a_claiming_pod(), CLASS, a_resource_claim())
    asked.cluster.begin_allocation(allocated(a_resource_claim()))
    reason = "resource claim default/claim is in the process of being allocated"
    assert message(asked.pre_filter()) == reason


@pytest.mark.parametrize(
    ("what", "device_class", "resource", "amount", "concerned"),
    [
        ("a class that names the resource", {"extended_resource": GPU}, GPU, "1", True),
        ("a class of another resource", {"extended_resource": "example.com/fpga"}, GPU, "1", False),
        ("nothing of the resource is asked for", {"extended_resource": GPU}, GPU, "0", False),
        ("the name made of the class", {}, "deviceclass.resource.kubernetes.io/gpu", "1", True),
    ],
)
def test_who_is_concerned_by_extended_resources(
    what: str, device_class: dict[str, Any], resource: str, amount: str, concerned: bool
) -> None:
    pod = a_pod("p", requests={resource: amount})
    asked = Asked(pod)
    assert asked.plugin.key(asked.pod) == ""
    # the class comes later: it changes the key, so that nothing cached is asked
    asked.cluster.add(a_device_class("gpu", **device_class))
    assert (asked.plugin.key(asked.pod) is UNCACHED) is concerned, what
    assert (message(asked.pre_filter()) == "" and asked.plugin.score_key(asked.pod) is UNCACHED) is concerned
    off = Asked(pod, a_device_class("gpu", **device_class), gates={"DRAExtendedResource": False})
    assert off.plugin.key(off.pod) == ""


# -- Filter


def test_a_pod_may_ask_for_more_extended_resources_than_an_integer_has_bits() -> None:
    names = [f"example.com/r{number}" for number in range(70)]
    classes = [a_device_class(f"c{number}", extended_resource=name) for number, name in enumerate(names)]
    nodes = [a_node(f"without-{few}", allocatable=dict.fromkeys(names[: 70 - few], "1")) for few in range(3)]
    slices = [a_slice(f"s{few}", "d0", node=f"without-{few}") for few in range(3)]
    asked = Asked(a_pod("p", requests=dict.fromkeys(names, "1")), *nodes, *classes, *slices)
    # each has one device, which stands for one resource that the node lacks
    assert asked.filter() == {"without-2": CANNOT}


def test_nodes_without_enough_devices_are_rejected() -> None:
    objects = (
        a_node("n1"),
        a_node("n2"),
        a_node("n3"),
        CLASS,
        a_slice("s1", "d0", node="n1"),
        a_slice("s2", "d0", "d1", node="n2"),
        allocated(a_resource_claim("taken"), "n2"),
        a_resource_claim("claim", a_device_request()),
    )
    assert Asked(a_claiming_pod(), *objects).filter() == {"n3": CANNOT}
    both = (*objects, a_resource_claim("more", a_device_request()))
    assert Asked(a_claiming_pod("p", "claim", "more"), *both).filter() == {"n1": CANNOT, "n2": CANNOT, "n3": CANNOT}


def test_devices_in_flight_are_taken_and_come_back() -> None:
    asked = Asked(
        a_claiming_pod(),
        a_node("n1"),
        CLASS,
        a_slice("s", "d0", node="n1"),
        a_resource_claim("claim", a_device_request()),
    )
    assert asked.filter() == {}
    other = allocated(a_resource_claim("other"), "n1")
    asked.cluster.begin_allocation(other)
    assert asked.filter() == {"n1": CANNOT}
    asked.cluster.end_allocation(other.uid)
    assert asked.filter() == {}


def test_slices_classes_and_labels_that_change_change_the_verdict() -> None:
    asked = Asked(
        a_claiming_pod(),
        a_node("n1", labels={"disk": "ssd"}),
        CLASS,
        a_resource_claim("claim", a_device_request()),
    )
    assert asked.filter() == {"n1": CANNOT}
    asked.cluster.add(a_slice("s", "d0", nodes="disk=ssd"))
    assert asked.filter() == {}
    asked.cluster.add(a_node("n1", labels={"disk": "hdd"}))
    assert asked.filter() == {"n1": CANNOT}
    asked.cluster.add(a_node("n2", labels={"disk": "ssd"}))
    assert asked.filter() == {"n1": CANNOT}
    asked.cluster.add(a_slice("s", "d0"))
    assert asked.filter() == {"n1": CANNOT, "n2": CANNOT}


def test_an_allocated_claim_ties_the_pod_to_its_nodes() -> None:
    claim = allocated(a_resource_claim("claim"), on="disk=ssd")
    objects = (a_node("n1", labels={"disk": "ssd"}), a_node("n2"), claim)
    assert Asked(a_claiming_pod(), *objects).filter() == {"n2": NOT_AVAILABLE}
    # where devices are missing, too, that is said
    more = (*objects, CLASS, a_resource_claim("more", a_device_request()), a_slice("s", "d0", node="n2"))
    assert Asked(a_claiming_pod("p", "claim", "more"), *more).filter() == {"n1": CANNOT, "n2": NOT_AVAILABLE}


@pytest.mark.parametrize(
    ("what", "conditions", "age_seconds", "gates", "rejected"),
    [
        ("ready", {"ready": "True"}, 10_000, {}, False),
        ("not ready yet", {"ready": "False"}, 10, {}, False),
        ("nothing reported yet", None, 10, {}, False),
        ("not ready in time", {"ready": "False"}, 601, {}, True),
        ("nothing reported in time", None, 601, {}, True),
        ("failed", {"ready": "True", "broken": "True"}, 10, {}, True),
        ("failed where nobody looks", {"broken": "True"}, 10, {"DRADeviceBindingConditions": False}, False),
    ],
)
def test_an_allocation_that_cannot_be_bound_is_not_available(
    what: str, conditions: dict[str, str] | None, age_seconds: int, gates: dict[str, bool], rejected: bool
) -> None:
    claim = allocated(a_resource_claim("claim"), binding_conditions=("ready",), binding_failure_conditions=("broken",))
    assert claim.status.allocation is not None
    stamp = datetime.fromtimestamp(NoWaits().date().timestamp() - age_seconds, UTC)
    status = msgspec.structs.replace(
        claim.status, allocation=msgspec.structs.replace(claim.status.allocation, allocation_timestamp=stamp)
    )
    if conditions is not None:
        told = tuple(Condition(type=kind, status=value) for kind, value in conditions.items())
        device = AllocatedDeviceStatus(driver="gpu.example.com", pool="n1", device="d0", conditions=told)
        status = msgspec.structs.replace(status, devices=(device,))
    claim = msgspec.structs.replace(claim, status=status)
    found = Asked(a_claiming_pod(), a_node("n1"), claim, gates=gates).filter()
    assert found == ({"n1": NOT_AVAILABLE} if rejected else {}), what


class Hasty(NoWaits):
    """Time that flies."""

    def __init__(self) -> None:
        super().__init__()
        self.seconds = 0.0

    def now(self) -> float:
        self.seconds += 1.0
        return self.seconds


@pytest.mark.parametrize(
    ("limit", "gate", "timed_out"), [(1, True, True), (1000, True, False), (1, False, False), (0, True, False)]
)
def test_the_search_on_a_node_takes_only_so_long(limit: int, gate: bool, timed_out: bool) -> None:
    cluster = a_cluster(
        a_node("n1"),
        CLASS,
        a_slice("s", *(f"d{i}" for i in range(32)), node="n1"),
        a_resource_claim("claim", a_device_request(count=16), a_device_request("q", count=16)),
    )
    args = DynamicResourcesArgs(filter_timeout=seconds(limit))
    plugin = DynamicResources(cluster, args, FeatureGates({"DRASchedulerFilterTimeout": gate}), waits=Hasty())
    pod, cycle = cluster.reader.read(a_claiming_pod()), CycleState()
    assert plugin.pre_filter(cycle, pod) is None
    status = plugin.filter(cycle, pod, NodeRow(cluster.table, 0))
    assert message(status) == ("node n1: timed out trying to allocate devices" if timed_out else "")
    assert status is None or status.code is Code.ERROR


# -- PostFilter


def test_an_idle_claim_that_is_in_the_way_is_given_back() -> None:
    elsewhere = allocated(a_resource_claim("claim", a_device_request()), on="disk=ssd")
    for users, words in (
        ((), "deallocation of ResourceClaim completed"),
        (("default-p",), "deallocation of ResourceClaim completed"),
        (("other",), "still not schedulable"),
        (("default-p", "other"), "still not schedulable"),
    ):
        engine = build_engine()
        for obj in (a_node("n1"), CLASS, reserved(elsewhere, *users)):
            engine.cluster.add(obj)
        evaluation = engine.evaluation_of(engine.cluster.reader.read(a_claiming_pod()))
        plugin = engine.profiles["default-scheduler"].plugins["DynamicResources"]
        assert isinstance(plugin, DynamicResources)
        result = plugin.post_filter(evaluation.cycle, evaluation.pod, evaluation.verdicts())
        assert result.status.message == words, users
        if len(result.effects):
            (write,) = result.effects
            assert isinstance(write, Write)
            assert write.subresource == "status"
            engine.effects.submit(write)
            freed = engine.cluster.claims.get("default/claim")
            assert freed is not None
            assert freed.status.allocation is None
            assert claims_released(result.effects) == ["default/claim"]


def test_a_claim_that_was_not_the_reason_stays() -> None:
    engine = build_engine()
    claim = allocated(a_resource_claim("claim"), on="disk=ssd")
    for obj in (a_node("n1"), claim):
        engine.cluster.add(obj)
    pod = a_claiming_pod("p", node_selector={"no": "where"})
    evaluation = engine.evaluation_of(engine.cluster.reader.read(pod))
    plugin = engine.profiles["default-scheduler"].plugins["DynamicResources"]
    assert isinstance(plugin, DynamicResources)
    result = plugin.post_filter(evaluation.cycle, evaluation.pod, evaluation.verdicts())
    assert result.status.message == "still not schedulable"


@pytest.mark.parametrize(
    ("what", "pod", "config", "words"),
    [
        ("a pod without claims", a_pod("p", cpu="2"), None, "no new claims to deallocate"),
        (
            "PreFilter is switched off",
            a_pod("p"),
            "{preFilter: {disabled: [{name: DynamicResources}]}, filter: {disabled: [{name: DynamicResources}]}}",
            "not found",
        ),
    ],
)
def test_post_filter_speaks_for_every_pod(what: str, pod: Pod, config: str | None, words: str) -> None:
    text = None
    if config is not None:
        text = (
            "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
            f"profiles:\n- plugins: {config}\n"
        )
    engine = build_engine(text)
    engine.cluster.add(a_node("n1", cpu="1"))
    evaluation = engine.evaluation_of(engine.cluster.reader.read(pod))
    plugin = engine.profiles["default-scheduler"].plugins["DynamicResources"]
    assert isinstance(plugin, DynamicResources)
    result = plugin.post_filter(evaluation.cycle, evaluation.pod, evaluation.verdicts())
    assert result.status.message == words, what
    assert result.nominated_node_name is None


# -- scoring


def test_alternatives_that_come_first_are_better() -> None:
    choice = a_device_choice("r", an_alternative("two", count=2), an_alternative("one"))
    asked = Asked(
        a_claiming_pod(),
        a_node("n1"),
        a_node("n2"),
        CLASS,
        a_slice("s1", "d0", node="n1"),
        a_slice("s2", "d0", "d1", node="n2"),
        a_resource_claim("claim", choice),
    )
    assert asked.filter() == {}
    nodes = Nodes(asked.cluster.table)
    scores = asked.plugin.score_nodes(asked.cycle, asked.pod, nodes)
    assert not isinstance(scores, Status)
    assert scores.tolist() == [7, 8]
    assert asked.plugin.normalize_scores(asked.cycle, asked.pod, scores).tolist() == [87, 100]
    assert asked.plugin.score(asked.cycle, asked.pod, NodeRow(asked.cluster.table, 1)) == 8


def test_without_devices_every_node_is_as_good() -> None:
    asked = Asked(a_pod("p"), a_node("n1"), a_node("n2"))
    assert asked.pre_filter() is not None
    scores = asked.plugin.score_nodes(asked.cycle, asked.pod, Nodes(asked.cluster.table))
    assert not isinstance(scores, Status)
    assert scores.tolist() == [0, 0]


# -- the plugin as a whole


def test_extension_points_are_those_of_the_catalogue() -> None:
    assert extension_points_of(DynamicResources) == IN_TREE["DynamicResources"]


def test_it_is_off_in_older_versions() -> None:
    cluster = a_cluster()
    plugin = DynamicResources(cluster, gates=FeatureGates.parse("", ["1.33"]))
    pod = cluster.reader.read(a_claiming_pod())
    status = plugin.pre_filter(CycleState(), pod)
    assert status is not None
    assert status.code is Code.SKIP
    assert plugin.key(pod) == ""
    assert plugin.reserve(CycleState(), pod, "n1") is None
    assert plugin.events_to_register() == ()
    assert plugin.pre_enqueue(pod) is None


def test_a_claim_of_an_earlier_attempt_is_deleted_and_made_anew() -> None:
    engine = build_engine()
    owner = OwnerReference(api_version="v1", kind="Pod", name="p", uid="default-p", controller=True)
    claim = a_resource_claim("p-extended-resources-x", a_device_request())
    meta = msgspec.structs.replace(
        claim.metadata,
        owner_references=(owner,),
        annotations={"resource.kubernetes.io/extended-resource-claim": "true"},
        finalizers=("resource.kubernetes.io/delete-protection",),
    )
    for obj in (
        a_node("n1"),
        a_device_class("gpu", extended_resource=GPU),
        msgspec.structs.replace(claim, metadata=meta),
    ):
        engine.cluster.add(obj)
    evaluation = engine.evaluation_of(engine.cluster.reader.read(a_pod("p", requests={GPU: "1"})))
    verdicts = evaluation.verdicts()
    assert verdicts.status(0).message == "cannot schedule extended resource claim"
    plugin = engine.profiles["default-scheduler"].plugins["DynamicResources"]
    assert isinstance(plugin, DynamicResources)
    result = plugin.post_filter(evaluation.cycle, evaluation.pod, verdicts)
    assert result.status.message == "deletion of ResourceClaim completed"
    assert [type(effect) for effect in result.effects] == [Patch, Delete]
    engine.effects.submit(*result.effects)
    assert engine.cluster.claims.all() == []
