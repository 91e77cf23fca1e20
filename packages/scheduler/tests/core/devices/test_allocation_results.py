"""What is written into allocations, and the errors instead of them."""

from typing import Any

import msgspec
import pytest
from tests.support.allocating import FEATURES, GPU, TWO, allocate, one

from kubesched.api.devices import (
    ResourceClaim,
    ResourceSlice,
)
from kubesched.api.pods import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubesched.core.devices import (
    AllocationError,
    DeviceFeatures,
)
from kubesched.testing.devices import (
    a_device,
    a_device_choice,
    a_device_class,
    a_device_request,
    a_resource_claim,
    a_slice,
    an_alternative,
    given_devices,
)


def requirement(key: str, *values: str) -> NodeSelectorRequirement:
    """Return the requirement that a label is one of the values."""
    return NodeSelectorRequirement(key=key, operator="In", values=values)


def only(**term: Any) -> NodeSelector:
    """Return a selector of one term."""
    return NodeSelector(node_selector_terms=(NodeSelectorTerm(**term),))


ON_N1 = only(match_fields=(NodeSelectorRequirement(key="metadata.name", operator="In", values=("n1",)),))
ZONE = "topology.kubernetes.io/zone"


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        pytest.param([TWO], ON_N1, id="devices of a node"),
        pytest.param([a_slice("s", "d0", "d1", all_nodes=True)], None, id="devices for all nodes"),
        pytest.param(
            [a_slice("s", a_device("d0", binds_to_node=True), "d1", all_nodes=True)],
            ON_N1,
            id="devices that bind to the node",
        ),
        pytest.param(
            [a_slice("s", "d0", nodes=f"{ZONE} in (a,b)"), a_slice("t", "d1", nodes=f"{ZONE} in (b,a)")],
            only(match_expressions=(requirement(ZONE, "a", "b"),)),
            id="the same requirement is written once",
        ),
        pytest.param(
            [a_slice("s", "d0", nodes=f"{ZONE}=a"), a_slice("t", "d1", node="n1")],
            ON_N1,
            id="one local device is enough",
        ),
        pytest.param(
            [
                a_slice(
                    "s",
                    a_device("d0", all_nodes=True),
                    a_device("d1", node_selector=only(match_expressions=(requirement(ZONE, "a"),))),
                    per_device=True,
                )
            ],
            only(match_expressions=(requirement(ZONE, "a"),)),
            id="devices that choose their nodes",
        ),
    ],
)
def test_node_selector(slices: list[ResourceSlice], expected: NodeSelector | None) -> None:
    """The allocation says from which nodes all its devices can be reached."""
    results = allocate(slices, one(count=2))
    assert results is not None
    assert results[0].node_selector == expected


def test_configuration_of_classes_and_claims() -> None:
    """A class is written once for all its requests, a claim's configuration once per request that it names."""
    configured = a_device_class("conf", config={"k": 1})
    claim = a_resource_claim(
        "c",
        a_device_request("a", device_class="conf"),
        a_device_choice("b", an_alternative("x", count=9), an_alternative("y", device_class="conf")),
        config=[((), "all"), (("a", "b/y"), "both"), (("b/x",), "not taken")],
    )
    results = allocate([TWO], claim, classes=[GPU, configured])
    assert results is not None
    written = [
        (each.source, each.requests, each.opaque and each.opaque.parameters) for each in results[0].devices.config
    ]
    assert written == [
        ("FromClass", ("a", "b/y"), {"k": 1}),
        ("FromClaim", (), "all"),
        ("FromClaim", ("a", "b/y"), "both"),
        ("FromClaim", ("a", "b/y"), "both"),
    ]


def test_binding_conditions_go_along() -> None:
    """Conditions are copied into the result; with the feature off such devices are not given."""
    device = a_device("d", binding_conditions=("ready",), binding_failure_conditions=("broken",))
    slices = [a_slice("s", device, node="n1")]
    results = allocate(slices, one())
    assert results is not None
    [result] = results[0].devices.results
    assert (result.binding_conditions, result.binding_failure_conditions) == (("ready",), ("broken",))
    assert allocate(slices, one(), features=DeviceFeatures(binding_conditions=False)) is None


OLDEST = DeviceFeatures(consumable_capacity=False, binding_conditions=False)
BAD_SELECTOR = NodeSelector(
    node_selector_terms=(NodeSelectorTerm(match_expressions=(NodeSelectorRequirement(key="x", operator="Bogus"),)),)
)


@pytest.mark.parametrize(
    ("claim", "features", "text"),
    [
        (
            one(device_class=""),
            FEATURES,
            "claim default/claim, request r: missing device class name (unsupported request type?)",
        ),
        (
            one(device_class="nope"),
            FEATURES,
            "claim default/claim, request r: could not retrieve device class nope: "
            'deviceclass.resource.k8s.io "nope" not found',
        ),
        (
            a_resource_claim("c", a_device_choice("r", an_alternative("x"))),
            DeviceFeatures(prioritized_list=False),
            "claim default/c, request r: has subrequests, but the DRAPrioritizedList feature is disabled",
        ),
        (
            one(capacity={"m": 1}),
            DeviceFeatures(consumable_capacity=False),
            "claim default/claim, request r: has capacity requests, but the DRAConsumableCapacity feature is disabled",
        ),
        (
            one(admin_access=False),
            DeviceFeatures(admin_access=False),
            "claim default/claim, request r: admin access is requested, but the feature is disabled",
        ),
        (
            a_resource_claim("c", a_device_request(), distinct="x"),
            OLDEST,
            "claim default/c, constraint #0: empty constraint (unsupported constraint type?)",
        ),
        (
            a_resource_claim("c", a_device_request(all_devices=True), match="x"),
            FEATURES,
            "claim default/c, request r: cannot add device gpu.example.com/n1/d0 "
            "because a claim constraint would not be satisfied",
        ),
        (one(count=33), FEATURES, "claim default/claim: number of requested devices 33 exceeds the claim limit of 32"),
    ],
)
def test_errors(claim: ResourceClaim, features: DeviceFeatures, text: str) -> None:
    """What cannot be served at all is an error in the reference's words."""
    with pytest.raises(AllocationError) as raised:
        allocate([TWO], claim, features=features)
    assert str(raised.value) == text


def test_the_oldest_implementation_ignores_capacity() -> None:
    """With binding conditions and capacity both off, requests for capacity are not refused."""
    assert given_devices(allocate([TWO], one(capacity={"m": 1}), features=OLDEST)) == [["r:n1/d0"]]


def test_selectors_of_nodes_have_to_parse() -> None:
    """A slice whose node selector does not parse, or has two terms, is an error."""
    spec = msgspec.structs.replace(TWO.spec, node_name=None, node_selector=BAD_SELECTOR)
    with pytest.raises(
        AllocationError,
        match="gather pool information: failed to perform node selection for slice s: failed to parse node selector &",
    ):
        allocate([msgspec.structs.replace(TWO, spec=spec)], one())
    exists = NodeSelectorTerm(match_expressions=(NodeSelectorRequirement(key=ZONE, operator="Exists"),))
    spec = msgspec.structs.replace(
        TWO.spec, node_name=None, node_selector=NodeSelector(node_selector_terms=(exists,) * 2)
    )
    with pytest.raises(
        AllocationError,
        match=r"create NodeSelector for claim claim: unsupported ResourceSlice\.NodeSelector with 2 terms",
    ):
        allocate([msgspec.structs.replace(TWO, spec=spec)], one())
