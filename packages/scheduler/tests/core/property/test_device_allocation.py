"""Allocations of devices: nothing is given twice or beyond what there is, and equal signatures give equal answers."""

from collections import Counter, defaultdict
from itertools import count
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched.api.devices import AllocationResult, Device, DeviceCapacity, ResourceClaim, ResourceSlice
from kubesched.core.devices import (
    AllocatedState,
    AllocationError,
    Allocator,
    DeviceFeatures,
    DeviceId,
    DeviceInventory,
    FailedOnNodeError,
)
from kubesched.core.devices.amounts import nanos_of
from kubesched.testing import a_node
from kubesched.testing.devices import (
    a_device,
    a_device_choice,
    a_device_class,
    a_device_request,
    a_resource_claim,
    a_slice,
    an_alternative,
)

NODES = [a_node(f"n{i}", zone="ab"[i % 2]) for i in range(3)]
CLASSES = {"gpu": a_device_class("gpu")}
few = st.integers(1, 3)
attributes = st.fixed_dictionaries({"numa": st.integers(0, 1)}, optional={"model": st.sampled_from(["a", "b"])})


@st.composite
def devices(draw: st.DrawFn, name: str, counters: bool) -> Device:
    """Return a device, maybe shared, maybe drawing from counters, maybe tainted."""
    return a_device(
        name,
        attributes=draw(attributes),
        capacity={"memory": DeviceCapacity(value=draw(st.integers(1, 4)))},
        draws={"set": {"units": draw(few)}} if counters else None,
        taints=draw(st.sampled_from([(), (), ("k=v:NoSchedule",)])),
        shared=draw(st.booleans()),
    )


@st.composite
def pools(draw: st.DrawFn, number: int) -> list[ResourceSlice]:
    """Return the slices of one pool, of a node, of a zone or of all nodes."""
    counters = draw(st.booleans())
    where: dict[str, Any] = draw(
        st.sampled_from(
            [
                {"node": "n0"},
                {"node": "n1"},
                {"node": "n2"},
                {"nodes": "topology.kubernetes.io/zone=a"},
                {"all_nodes": True},
            ]
        )
    )
    offered = [draw(devices(f"d{i}", counters)) for i in range(draw(st.integers(0, 3)))]
    slices = 2 if counters else 1
    pool = f"p{number}"
    made = [a_slice(f"s{number}", *offered, pool=pool, slices=slices, **where)]
    if counters:
        made.append(a_slice(f"c{number}", pool=pool, slices=2, counters={"set": {"units": draw(few)}}, **where))
    return made


clusters = st.integers(1, 4).flatmap(
    lambda n: st.tuples(*(pools(i) for i in range(n))).map(lambda made: [each for pool in made for each in pool])
)
asked: st.SearchStrategy[dict[str, Any]] = st.fixed_dictionaries(
    {}, optional={"count": st.integers(0, 3), "capacity": few.map(lambda amount: {"memory": amount})}
)
exact = st.one_of(asked, st.just({"all_devices": True}), st.just({"admin_access": True}))


@st.composite
def claims(draw: st.DrawFn) -> list[ResourceClaim]:
    """Return the claims of a pod."""
    made = []
    for i in range(draw(st.integers(1, 3))):
        requests = []
        for r in range(draw(st.integers(1, 2))):
            if draw(st.booleans()):
                requests.append(a_device_request(f"r{r}", **draw(exact)))
            else:
                choices = [an_alternative(f"x{a}", **draw(asked)) for a in range(draw(st.integers(1, 2)))]
                requests.append(a_device_choice(f"r{r}", *choices))
        constraint: dict[str, Any] = draw(st.sampled_from([{}, {}, {"match": "numa"}, {"distinct": "numa"}]))
        made.append(a_resource_claim(f"c{i}", *requests, **constraint))
    return made


def attempt(allocator: Allocator, node: int, wanted: list[ResourceClaim]) -> list[AllocationResult] | str | None:
    """Return what the claims get, or the kind of error."""
    try:
        return allocator.allocate(NODES[node], wanted)
    except FailedOnNodeError:
        return "failed on node"
    except AllocationError:
        return "error"


def check(slices: list[ResourceSlice], held: list[AllocationResult]) -> None:
    """Assert that no device is held twice and that no counter or capacity is exceeded."""
    offered = {
        DeviceId(each.spec.driver, each.spec.pool.name, device.name): device
        for each in slices
        for device in each.spec.devices
    }
    whole: Counter[DeviceId] = Counter()
    shares: dict[DeviceId, int] = defaultdict(int)
    for allocation in held:
        for each in allocation.devices.results:
            device = DeviceId(each.driver, each.pool, each.device)
            if each.admin_access:
                continue
            if each.share_id is None:
                whole[device] += 1
            else:
                shares[device] += nanos_of(each.consumed_capacity["memory"])
    assert all(times == 1 for times in whole.values())
    assert not whole.keys() & shares.keys()
    for device, consumed in shares.items():
        assert consumed <= nanos_of(offered[device].capacity["memory"].value)
    for each_slice in slices:
        for counter_set in each_slice.spec.shared_counters:
            drawn = sum(
                nanos_of(draw.counters["units"].value)
                for device in {*whole, *shares}
                if device.pool == each_slice.spec.pool.name
                for draw in offered[device].consumes_counters
            )
            assert drawn <= nanos_of(counter_set.counters["units"].value)


def kind(answer: list[AllocationResult] | str | None) -> object:
    """Return what of an answer must agree between nodes that are alike: whether, and by which alternatives."""
    if not isinstance(answer, list):
        return answer
    return [sorted({result.request for result in each.devices.results}) for each in answer]


@settings(max_examples=150, deadline=None)
@given(slices=clusters, pods=st.lists(st.tuples(claims(), st.integers(0, 2)), min_size=1, max_size=4))
def test_allocations_stay_within_what_there_is(
    slices: list[ResourceSlice], pods: list[tuple[list[ResourceClaim], int]]
) -> None:
    """However pods come, what is held fits; equal signatures give equal answers; nothing that came in is changed."""
    features = DeviceFeatures()
    inventory, state = DeviceInventory(slices, (), features), AllocatedState(features)
    before = msgspec.json.encode((slices, pods))
    shares = count()
    held: list[AllocationResult] = []
    known: dict[object, object] = {}
    for number, (wanted, chosen) in enumerate(pods):
        allocator = Allocator(features, state, CLASSES, inventory, lambda: str(next(shares)))
        version = state.version
        for node in range(len(NODES)):
            answer = kind(attempt(allocator, node, wanted))
            assert known.setdefault((number, inventory.signature(NODES[node], state)), answer) == answer
        results = attempt(allocator, chosen, wanted)
        assert state.version == version
        if isinstance(results, list):
            held += results
            for i, result in enumerate(results):
                state.put((number, i), result)
        check(slices, held)
    assert msgspec.json.encode((slices, pods)) == before


@settings(max_examples=100, deadline=None)
@given(first=clusters, second=clusters, wanted=claims())
def test_an_inventory_made_from_another_is_like_a_fresh_one(
    first: list[ResourceSlice], second: list[ResourceSlice], wanted: list[ResourceClaim]
) -> None:
    """What is taken over makes no difference to the answers."""
    features = DeviceFeatures()
    state = AllocatedState(features)
    inventory = DeviceInventory(first, (), features)
    for node in NODES:
        inventory.signature(node, state)
    names = {each.name for each in second}
    slices = [*second, *(each for each in first if each.name not in names)]
    made, fresh = (DeviceInventory(slices, (), features, previous) for previous in (inventory, None))
    for at in range(len(NODES)):
        answers = [
            attempt(Allocator(features, state, CLASSES, each, lambda: "share"), at, wanted) for each in (made, fresh)
        ]
        assert answers[0] == answers[1]
    codes = [[each.signature(node, state) for node in NODES] for each in (made, fresh)]
    assert [[one == other for other in codes[0]] for one in codes[0]] == [
        [one == other for other in codes[1]] for one in codes[1]
    ]
