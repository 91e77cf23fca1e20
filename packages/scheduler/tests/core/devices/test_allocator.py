"""Which devices claims get on a node, and in which order they are looked at: a sentence per case."""

import pytest
from tests.support.allocating import FEATURES, GPU, N1, TWO, allocate, one

from kubesched.api.devices import (
    DeviceAttribute,
    DeviceToleration,
    ResourceClaim,
    ResourceSlice,
)
from kubesched.core.devices import (
    AllocatedState,
    AllocationError,
    AllocationTimeoutError,
    Allocator,
    DeviceFeatures,
    DeviceInventory,
)
from kubesched.testing.devices import (
    a_device,
    a_device_choice,
    a_device_class,
    a_device_request,
    a_resource_claim,
    a_slice,
    a_taint_rule,
    an_alternative,
    given_devices,
    holding,
)

NUMBERED = a_slice("s", *(a_device(f"d{i}", attributes={"numa": i % 2, "index": i}) for i in range(4)), node="n1")
EVERYTHING_TOLERATED = DeviceToleration(operator="Exists")


@pytest.mark.parametrize(
    ("slices", "claims", "expected"),
    [
        pytest.param([TWO], [one()], [["r:n1/d0"]], id="the first device is taken"),
        pytest.param([TWO], [one(count=2)], [["r:n1/d0", "r:n1/d1"]], id="as many as asked for are taken"),
        pytest.param([TWO], [one(count=3)], None, id="not if there are too few"),
        pytest.param([TWO], [one(count=0)], [[]], id="a request for none is served by none"),
        pytest.param([TWO], [one(all_devices=True)], [["r:n1/d0", "r:n1/d1"]], id="all are taken"),
        pytest.param([], [one(all_devices=True)], None, id="all of none is not enough"),
        pytest.param(
            [TWO],
            [one(), a_resource_claim("b", a_device_request("q"))],
            [["r:n1/d0"], ["q:n1/d1"]],
            id="claims get different devices",
        ),
        pytest.param([TWO], [one(), one(count=2)], None, id="claims together can ask for too much"),
        pytest.param([a_slice("s", "d0", node="n2")], [one()], None, id="devices of other nodes are out of reach"),
        pytest.param(
            [a_slice("z", "d0", pool="b", node="n1"), a_slice("a", "d0", pool="c", node="n1")],
            [one()],
            [["r:b/d0"]],
            id="pools come by name",
        ),
        pytest.param(
            [a_slice("b", "d0", pool="p", node="n1", slices=2), a_slice("a", "d1", pool="p", node="n1", slices=2)],
            [one()],
            [["r:p/d1"]],
            id="slices come by name",
        ),
        pytest.param(
            [
                a_slice("s", a_device("d", binding_conditions=("ready",)), pool="a", node="n1"),
                a_slice("t", "d", pool="b", node="n1"),
            ],
            [one()],
            [["r:b/d"]],
            id="pools with binding conditions come last",
        ),
        pytest.param(
            [a_slice("s", "d0", nodes="topology.kubernetes.io/zone=a")],
            [one()],
            [["r:s/d0"]],
            id="a selector that matches the node",
        ),
        pytest.param(
            [a_slice("s", "d0", nodes="topology.kubernetes.io/zone=b")], [one()], None, id="a selector that does not"
        ),
        pytest.param([a_slice("s", "d0", all_nodes=True)], [one()], [["r:s/d0"]], id="devices for all nodes"),
        pytest.param([a_slice("s", "d0")], [one()], None, id="devices for no node"),
        pytest.param(
            [a_slice("s", a_device("d0", node_name="n2"), a_device("d1", node_name="n1"), per_device=True)],
            [one()],
            [["r:s/d1"]],
            id="devices that choose their nodes",
        ),
        pytest.param([a_slice("s", "d0", node="n1", slices=2)], [one()], None, id="an incomplete pool is left alone"),
        pytest.param(
            [a_slice("s", "d0", pool="p", node="n1", slices=2), a_slice("t", "d1", pool="p", node="n2", slices=2)],
            [one()],
            [["r:p/d0"]],
            id="a pool is complete also by slices of other nodes",
        ),
        pytest.param(
            [a_slice("s", "d0", pool="p", node="n1"), a_slice("t", "d1", pool="p", node="n1", generation=2)],
            [one(all_devices=True)],
            [["r:p/d1"]],
            id="only the newest generation counts",
        ),
        pytest.param(
            [a_slice("s", "d0", pool="p", node="n1", slices=2), a_slice("t", "d1", pool="p", node="n2", generation=2)],
            [one()],
            None,
            id="an incomplete generation that is replaced elsewhere is gone",
        ),
        pytest.param(
            [a_slice("s", "d0", pool="p", node="n1"), a_slice("t", "d1", pool="p", node="n2", generation=2)],
            [one()],
            [["r:p/d0"]],
            id="a complete one is not looked at again",
        ),
    ],
)
def test_first_fit(slices: list[ResourceSlice], claims: list[ResourceClaim], expected: list[list[str]] | None) -> None:
    """Devices are taken in the order of pools, slices and positions."""
    assert given_devices(allocate(slices, *claims)) == expected


@pytest.mark.parametrize(
    ("claim", "expected"),
    [
        pytest.param(
            a_resource_claim("c", a_device_request(count=2), match="gpu.example.com/numa"),
            [["r:n1/d0", "r:n1/d2"]],
            id="both devices have one value; the driver's domain may be left out in the slice",
        ),
        pytest.param(
            a_resource_claim("c", a_device_request(count=3), match="gpu.example.com/numa"), None, id="no three have"
        ),
        pytest.param(
            a_resource_claim("c", a_device_request(), match="other.example.com/numa"),
            None,
            id="no device has the attribute",
        ),
        pytest.param(
            a_resource_claim("c", a_device_request(), match="numa"),
            [["r:n1/d0"]],
            id="a bare name is found as it stands",
        ),
        pytest.param(
            a_resource_claim("c", a_device_request("a"), a_device_request("b"), match={"gpu.example.com/numa": ["b"]}),
            [["a:n1/d0", "b:n1/d1"]],
            id="requests that are not named are not bound",
        ),
        pytest.param(
            a_resource_claim("c", a_device_request("a"), a_device_request("b"), distinct="gpu.example.com/numa"),
            [["a:n1/d0", "b:n1/d1"]],
            id="values differ between requests",
        ),
        pytest.param(
            a_resource_claim("c", a_device_request(count=2), distinct="gpu.example.com/numa"),
            [["r:n1/d0", "r:n1/d1"]],
            id="values differ within a request",
        ),
        pytest.param(
            a_resource_claim("c", a_device_request(count=3), distinct="gpu.example.com/numa"),
            [["r:n1/d0", "r:n1/d1", "r:n1/d2"]],
            id="but only from the request's last device",
        ),
        pytest.param(
            a_resource_claim(
                "c",
                a_device_choice("r", an_alternative("four", count=5), an_alternative("two", count=2)),
                match={"gpu.example.com/numa": ["r/two"]},
            ),
            [["r/two:n1/d0", "r/two:n1/d2"]],
            id="a constraint may name an alternative",
        ),
    ],
)
def test_constraints(claim: ResourceClaim, expected: list[list[str]] | None) -> None:
    """Constraints hold between the devices of a claim, with the reference's oddities."""
    assert given_devices(allocate([NUMBERED], claim)) == expected


def test_attributes_that_are_lists_never_match() -> None:
    """The first device is taken whatever its attribute is, a second one only by a single value."""
    values = DeviceAttribute(string_values=("a",))
    devices = [a_device(f"d{i}", attributes={"x": values}) for i in range(2)]
    assert given_devices(
        allocate([a_slice("s", *devices, node="n1")], a_resource_claim("c", a_device_request(), match="x"))
    )
    claim = a_resource_claim("c", a_device_request(count=2), match="x")
    assert allocate([a_slice("s", *devices, node="n1")], claim) is None


def test_a_constraint_forgets_what_was_taken_back() -> None:
    """After a device was taken back, the earlier devices of its request are not compared with, as in the reference."""
    values: dict[str, dict[str, str | int | bool | DeviceAttribute]]
    values = {"d0": {"x": "a"}, "d1": {"x": "b", "only": True}, "d2": {"x": "a"}}
    devices = [a_device(name, attributes=attributes) for name, attributes in values.items()]
    claim = a_resource_claim(
        "c", a_device_request("q", count=2), a_device_request("p"), distinct="x", match={"only": ["p"]}
    )
    assert given_devices(allocate([a_slice("s", *devices, node="n1")], claim)) == [["q:n1/d0", "q:n1/d2", "p:n1/d1"]]


def test_alternatives_are_tried_in_order() -> None:
    """The first alternative that can be had is taken, also if that means backtracking over earlier requests."""
    claim = a_resource_claim(
        "c",
        a_device_choice("r", an_alternative("many", count=3), an_alternative("two", count=2), an_alternative("one")),
    )
    assert given_devices(allocate([TWO], claim)) == [["r/two:n1/d0", "r/two:n1/d1"]]
    claim = a_resource_claim(
        "c", a_device_choice("r", an_alternative("two", count=2), an_alternative("one")), a_device_request("q")
    )
    assert given_devices(allocate([TWO], claim)) == [["r/one:n1/d0", "q:n1/d1"]]


def test_claims_have_room_for_32_devices() -> None:
    """An alternative with too many devices is passed over, a claim that needs too many is an error."""
    many = a_slice("s", *(f"d{i:02}" for i in range(40)), node="n1")
    claim = a_resource_claim(
        "c",
        a_device_request("a", count=30),
        a_device_choice("b", an_alternative("big", count=3), an_alternative("small")),
    )
    results = allocate([many], claim)
    assert results is not None
    assert len(results[0].devices.results) == 31
    with pytest.raises(AllocationError, match="number of requested devices 33 exceeds the claim limit of 32"):
        allocate([many], one(count=33))
    stuck = a_resource_claim(
        "c",
        *(
            a_device_choice(f"r{i}", an_alternative("x", all_devices=True), an_alternative("y", count=0))
            for i in range(1)
        ),
        a_device_request("q", count=1),
    )
    assert given_devices(allocate([many], stuck)) == [["q:n1/d00"]]


def test_allocated_devices_are_in_use() -> None:
    """Devices of other claims are not given again, except with admin access."""
    other = holding("d0")
    assert given_devices(allocate([TWO], one(), allocated=[other])) == [["r:n1/d1"]]
    assert allocate([TWO], one(all_devices=True), allocated=[other]) is None
    results = allocate([TWO], one(admin_access=True), allocated=[other])
    assert given_devices(results) == [["r:n1/d0"]]
    assert results is not None
    assert results[0].devices.results[0].admin_access is True


def test_admin_access_gives_a_device_once_per_claim() -> None:
    """Within a claim a device is given once; another claim of the pod may look at it, too."""
    watching = a_device_request("w", admin_access=True)
    both = a_resource_claim("c", a_device_request("w", admin_access=True, count=2))
    assert given_devices(allocate([TWO], both)) == [["w:n1/d0", "w:n1/d1"]]
    assert given_devices(allocate([TWO], a_resource_claim("a", watching), a_resource_claim("b", watching))) == [
        ["w:n1/d0"],
        ["w:n1/d0"],
    ]
    assert given_devices(allocate([TWO], a_resource_claim("a", watching), one())) == [["w:n1/d0"], ["r:n1/d1"]]


def test_taints_have_to_be_tolerated() -> None:
    """Taints that forbid scheduling count, those of rules included; others do not."""
    tainted = a_slice("s", a_device("d0", taints=["k=v:NoSchedule"]), a_device("d1", taints=["k=v:None"]), node="n1")
    assert given_devices(allocate([tainted], one())) == [["r:n1/d1"]]
    tolerant = one(tolerations=[EVERYTHING_TOLERATED])
    results = allocate([tainted], tolerant)
    assert given_devices(results) == [["r:n1/d0"]]
    assert results is not None
    assert results[0].devices.results[0].tolerations == (EVERYTHING_TOLERATED,)
    assert given_devices(allocate([tainted], one(), features=DeviceFeatures(device_taints=False))) == [["r:n1/d0"]]
    rules = [a_taint_rule("rule", "k:NoExecute", pool="n1", device="d0")]
    assert given_devices(allocate([TWO], one(), rules=rules)) == [["r:n1/d0"]]
    with_rules = DeviceFeatures(device_taint_rules=True)
    assert given_devices(allocate([TWO], one(), rules=rules, features=with_rules)) == [["r:n1/d1"]]


def test_selectors_decide_and_their_errors_end_the_search() -> None:
    """Class and request both select; a missing attribute is an error of the claim or the class that asks for it."""
    index = 'device.attributes["gpu.example.com"].index'
    assert given_devices(allocate([NUMBERED], a_resource_claim("c", a_device_request("r", f"{index} > 1")))) == [
        ["r:n1/d2"]
    ]
    classes = [a_device_class("gpu", f"{index} < 3")]
    claim = a_resource_claim("c", a_device_request("r", f"{index} > 1", count=2))
    assert allocate([NUMBERED], claim, classes=classes) is None
    with pytest.raises(AllocationError, match="claim default/c: selector #0: CEL runtime error: no such key: index"):
        allocate([TWO], a_resource_claim("c", a_device_request("r", f"{index} > 1")))
    with pytest.raises(AllocationError, match="class gpu: selector #0: CEL compile error: "):
        allocate([TWO], one(), classes=[a_device_class("gpu", "device.driver ==")])


def test_time_may_run_out() -> None:
    """The caller's deadline ends the search."""
    allocator = Allocator(FEATURES, AllocatedState(FEATURES), {"gpu": GPU}, DeviceInventory([TWO], (), FEATURES), str)
    answers = iter([False, False, True])
    with pytest.raises(AllocationTimeoutError):
        allocator.allocate(N1, [one(count=2)], lambda: next(answers))


def test_a_long_search_does_not_exhaust_the_stack() -> None:
    """Fifty claims of thirty devices each are a deep search and no trouble."""
    big = a_slice("s", *(f"d{i:04}" for i in range(1500)), node="n1")
    claims = [a_resource_claim(f"c{i}", a_device_request(count=30)) for i in range(50)]
    results = allocate([big], *claims)
    assert results is not None
    assert len({device.device for result in results for device in result.devices.results}) == 1500
