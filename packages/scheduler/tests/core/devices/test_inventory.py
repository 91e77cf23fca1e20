"""Signatures: which nodes are offered the same."""

import msgspec
import pytest

from kubesched.api.devices import ResourceSlice
from kubesched.api.pods import NodeSelector, NodeSelectorRequirement, NodeSelectorTerm
from kubesched.core.devices import AllocatedState, DeviceFeatures, DeviceId, DeviceInventory, PoolId
from kubesched.testing import a_node
from kubesched.testing.devices import (
    DRIVER,
    a_device,
    a_device_request,
    a_resource_claim,
    a_slice,
    a_taint_rule,
    allocate_devices,
)

FEATURES = DeviceFeatures()
N1, N2 = a_node("n1"), a_node("n2")
BAD = NodeSelector(
    node_selector_terms=(NodeSelectorTerm(match_expressions=(NodeSelectorRequirement(key="x", operator="Bogus"),)),)
)


def alike(*slices: ResourceSlice) -> bool:
    """Return whether n1 and n2 have one signature with nothing in use."""
    inventory, state = DeviceInventory(slices, (), FEATURES), AllocatedState(FEATURES)
    return inventory.signature(N1, state) == inventory.signature(N2, state)


@pytest.mark.parametrize(
    ("slices", "expected"),
    [
        pytest.param([], True, id="no devices at all"),
        pytest.param([a_slice("a", "x", node="n1"), a_slice("b", "y", node="n2")], True, id="names do not matter"),
        pytest.param([a_slice("a", "x", node="n1")], False, id="one has a device"),
        pytest.param(
            [a_slice("a", a_device("x", attributes={"k": 1}), node="n1"), a_slice("b", "x", node="n2")],
            False,
            id="devices differ",
        ),
        pytest.param(
            [a_slice("a", "x", node="n1"), a_slice("b", "x", driver="other", node="n2")], False, id="drivers differ"
        ),
        pytest.param(
            [
                a_slice("a", a_device("x", attributes={"k": 1}), "y", node="n1"),
                a_slice("b", "x", a_device("y", attributes={"k": 1}), node="n2"),
            ],
            False,
            id="the order differs",
        ),
        pytest.param([a_slice("a", "x", all_nodes=True)], True, id="both reach the same"),
        pytest.param([a_slice("a", "x", nodes="kubernetes.io/hostname=n1")], False, id="one reaches it"),
        pytest.param(
            [
                a_slice("a", "x", nodes="kubernetes.io/hostname=n1"),
                a_slice("b", "x", nodes="kubernetes.io/hostname=n2"),
            ],
            False,
            id="pools that are not a node's own enter by name",
        ),
        pytest.param(
            [a_slice("a", a_device("x", node_name="n1"), a_device("y", all_nodes=True), per_device=True)],
            False,
            id="devices of a slice that both reach differ",
        ),
        pytest.param(
            [a_slice("a", "x", node="n1", slices=2), a_slice("b", "x", node="n2")], False, id="a pool is incomplete"
        ),
        pytest.param(
            [a_slice("a", "x", "x", node="n1"), a_slice("b", "x", "x", node="n2")], True, id="both are invalid"
        ),
    ],
)
def test_signatures(slices: list[ResourceSlice], expected: bool) -> None:
    """Nodes are alike that are offered alike devices in the same order."""
    assert alike(*slices) == expected


def test_what_is_in_use_is_part_of_the_signature() -> None:
    """Positions in use make the difference, and make it none when they are the same on both nodes."""
    slices = [a_slice("a", "x", "y", node="n1"), a_slice("b", "u", "v", node="n2")]
    inventory, state = DeviceInventory(slices, (), FEATURES), AllocatedState(FEATURES)
    before = inventory.signature(N1, state)
    for node in (N1, N2):
        results = allocate_devices(node, [a_resource_claim("c", a_device_request())], slices)
        assert results is not None
        state.put(node.name, results[0])
        assert (inventory.signature(N1, state) == inventory.signature(N2, state)) == (node is N2)
    state.put("n1", None)
    assert inventory.signature(N1, state) == before


def test_a_node_that_cannot_be_judged_is_like_no_other() -> None:
    """A selector that does not parse keeps nodes apart, since the error is to be asked for."""
    written = a_slice("a", "x", nodes="x=y")
    assert not alike(msgspec.structs.replace(written, spec=msgspec.structs.replace(written.spec, node_selector=BAD)))


def test_another_inventory_takes_over_what_is_the_same() -> None:
    """After a change elsewhere signatures stay; a changed slice, label or rule shows."""
    rules_on = DeviceFeatures(device_taint_rules=True)
    mine, other = a_slice("a", "x", node="n1"), a_slice("b", "x", node="n2")
    state = AllocatedState(rules_on)
    first = DeviceInventory([mine, other], (), rules_on)
    signature = first.signature(N1, state)
    changed = a_slice("b", "x", "y", node="n2")
    second = DeviceInventory([mine, changed], (), rules_on, first)
    assert second.signature(N1, state) == signature != second.signature(N2, state)
    tainted = DeviceInventory([mine, changed], [a_taint_rule("r", "k:NoSchedule", pool="n1")], rules_on, second)
    assert tainted.signature(N1, state) != signature
    assert tainted.signature(N2, state) == second.signature(N2, state)
    again = DeviceInventory([mine, other], (), rules_on, tainted)
    assert again.signature(N1, state) == again.signature(N2, state) == signature
    gone = DeviceInventory([other], (), rules_on, again)
    assert gone.signature(N1, state) != signature
    everywhere = a_slice("c", "z", nodes="zone=a")
    last = DeviceInventory([other, everywhere], (), rules_on, gone)
    before = last.signature(N1, state)
    assert last.signature(a_node("n1", labels={"zone": "a"}), state) != before


def test_a_pool_knows_its_nodes() -> None:
    """The nodes whose signature may change with a pool's use; any node where others can reach it."""
    counters = a_slice("c", pool="p", slices=2, all_nodes=True, counters={"s": {"m": 1}})
    slices = [counters, a_slice("a", "x", pool="p", node="n1", slices=2), a_slice("b", "x", all_nodes=True)]
    inventory = DeviceInventory(slices, (), FEATURES)
    assert inventory.nodes_of(PoolId(DRIVER, "p")) == ("n1",)
    assert inventory.nodes_of(PoolId(DRIVER, "b")) is None
    assert inventory.nodes_of(PoolId(DRIVER, "nope")) == ()


def test_devices_are_found_by_id() -> None:
    """A device of the newest generation is found, an outdated one is not."""
    slices = [a_slice("a", "x", pool="p", node="n1"), a_slice("b", "y", pool="p", node="n1", generation=2)]
    inventory = DeviceInventory(slices, (), FEATURES)
    found = inventory.device(DeviceId(DRIVER, "p", "y"))
    assert found is not None
    assert found.name == "y"
    assert inventory.device(DeviceId(DRIVER, "p", "x")) is None
