"""Devices that are parts of others, or are given in shares."""

from typing import Any

import pytest
from tests.support.allocating import allocate, one

from kubesched.api.devices import (
    CapacityRequestPolicy,
    CapacityRequestPolicyRange,
    Device,
    DeviceCapacity,
    ResourceSlice,
)
from kubesched.core.devices import (
    AllocationError,
    DeviceFeatures,
    FailedOnNodeError,
)
from kubesched.testing.devices import (
    a_device,
    a_device_request,
    a_resource_claim,
    a_slice,
    given_devices,
    holding,
)

COUNTERS = a_slice("c", pool="p", node="n1", slices=2, counters={"set": {"memory": "4Gi", "slots": 2}})


def parts(*memory: str) -> ResourceSlice:
    """Return devices that draw memory and a slot each."""
    drawing = [a_device(f"d{i}", draws={"set": {"memory": each, "slots": 1}}) for i, each in enumerate(memory)]
    return a_slice("d", *drawing, pool="p", node="n1", slices=2)


@pytest.mark.parametrize(
    ("memory", "asked", "expected"),
    [
        pytest.param(("2Gi", "2Gi"), 2, ["r:p/d0", "r:p/d1"], id="both fit"),
        pytest.param(("3Gi", "2Gi"), 2, None, id="too much memory"),
        pytest.param(("1Gi", "1Gi", "1Gi"), 3, None, id="too many slots"),
        pytest.param(("5Gi", "3Gi", "1Gi"), 2, ["r:p/d1", "r:p/d2"], id="what does not fit is passed over"),
    ],
)
def test_counters(memory: tuple[str, ...], asked: int, expected: list[str] | None) -> None:
    """Devices of a pool draw from its counters together."""
    assert given_devices(allocate([COUNTERS, parts(*memory)], one(count=asked))) == (
        None if expected is None else [expected]
    )


def test_counters_of_allocated_devices_are_drawn() -> None:
    """What is allocated has drawn already; without the feature such devices are not given at all."""
    slices = [COUNTERS, parts("3Gi", "2Gi", "1Gi")]
    first = allocate(slices, one())
    assert first is not None
    other = a_resource_claim("other", allocation=first[0])
    assert given_devices(allocate(slices, one(), allocated=[other])) == [["r:p/d2"]]
    assert allocate(slices, one(), features=DeviceFeatures(partitionable_devices=False)) is None


@pytest.mark.parametrize(
    "slices",
    [
        pytest.param([a_slice("s", "d0", "d0", node="n1")], id="two devices of one name"),
        pytest.param([a_slice("s", a_device("d", draws={"nope": {"m": 1}}), node="n1")], id="an unknown counter set"),
        pytest.param(
            [COUNTERS, a_slice("d", a_device("d", draws={"set": {"nope": 1}}), pool="p", node="n1", slices=2)],
            id="an unknown counter",
        ),
        pytest.param(
            [
                a_slice("c", pool="p", node="n9", slices=2, counters={"s": {}}),
                a_slice("x", pool="p", node="n9", slices=2, counters={"s": {}}),
            ],
            id="two counter sets of one name, on another node",
        ),
    ],
)
def test_invalid_pools(slices: list[ResourceSlice]) -> None:
    """An invalid pool is told of only where nothing else helps, and is an error where all devices are wanted."""
    with pytest.raises(FailedOnNodeError, match="invalid resource pools were encountered"):
        allocate(slices, one())
    healthy = a_slice("ok", "d", pool="zz", node="n1")
    assert given_devices(allocate([*slices, healthy], one())) == [["r:zz/d"]]
    with pytest.raises(AllocationError, match=r"asks for all devices, but resource pool .* is currently invalid"):
        allocate([*slices, healthy], one(all_devices=True))


def shared_device(policy: CapacityRequestPolicy | None = None, **fields: Any) -> Device:
    """Return a device of 8Gi that may be given several times."""
    return a_device("d", shared=True, capacity={"memory": DeviceCapacity(value="8Gi", request_policy=policy)}, **fields)


STEPS = CapacityRequestPolicy(default="1Gi", valid_range=CapacityRequestPolicyRange(min="1Gi", max="4Gi", step="1Gi"))
VALUES = CapacityRequestPolicy(default="2Gi", valid_values=("2Gi", "4Gi"))


@pytest.mark.parametrize(
    ("policy", "asked", "consumed"),
    [
        pytest.param(None, {"memory": "3Gi"}, "3Gi", id="without a policy what is asked for"),
        pytest.param(None, None, "8Gi", id="without a request everything"),
        pytest.param(None, {"memory": "9Gi"}, None, id="not more than there is"),
        pytest.param(None, {"cores": "1"}, None, id="not what the device has not"),
        pytest.param(STEPS, None, "1Gi", id="the default"),
        pytest.param(STEPS, {"memory": "100Mi"}, "1Gi", id="raised to the minimum"),
        pytest.param(STEPS, {"memory": "1025Mi"}, "2Gi", id="rounded up to the next step"),
        pytest.param(STEPS, {"memory": "5Gi"}, None, id="above the maximum"),
        pytest.param(VALUES, {"memory": "3Gi"}, "4Gi", id="rounded up to the next value"),
        pytest.param(VALUES, {"memory": "5Gi"}, None, id="above all values"),
    ],
)
def test_capacity(policy: CapacityRequestPolicy | None, asked: dict[str, str] | None, consumed: str | None) -> None:
    """A share consumes what its request comes to under the device's policy."""
    results = allocate([a_slice("s", shared_device(policy), node="n1")], one(capacity=asked))
    if consumed is None:
        assert results is None
    else:
        assert results is not None
        [result] = results[0].devices.results
        assert result.consumed_capacity == {"memory": consumed}
        assert result.share_id == "share-0"


def test_shares_add_up() -> None:
    """A device is given as long as its capacity lasts, within a pod and beside other claims."""
    slices = [a_slice("s", shared_device(), node="n1")]
    claims = [a_resource_claim(name, a_device_request(capacity={"memory": "3Gi"})) for name in "abc"]
    assert given_devices(allocate(slices, *claims[:2])) == [["r:n1/d"], ["r:n1/d"]]
    assert allocate(slices, *claims) is None
    other = holding("d", share=True, capacity={"memory": "3Gi"})
    assert given_devices(allocate(slices, claims[0], allocated=[other])) == [["r:n1/d"]]
    assert allocate(slices, *claims[:2], allocated=[other]) is None
    off = DeviceFeatures(consumable_capacity=False)
    assert allocate(slices, one(), allocated=[other], features=off) is None


def test_counters_are_drawn_once_for_all_shares() -> None:
    """The second share of a device draws nothing."""
    drawing = shared_device(draws={"set": {"memory": "3Gi", "slots": 2}})
    slices = [COUNTERS, a_slice("d", drawing, pool="p", node="n1", slices=2)]
    claims = [a_resource_claim(name, a_device_request(capacity={"memory": "1Gi"})) for name in "ab"]
    assert given_devices(allocate(slices, *claims)) == [["r:p/d"], ["r:p/d"]]
