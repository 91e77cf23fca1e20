"""Finding devices for a pod is bounded work, whatever its claims say; a node that was found before still counts."""

import pytest

from kubesched.api.devices import ResourceClaim
from kubesched.core.assembly import build_engine
from kubesched.core.devices.budget import MOST_UNITS, MOST_UNITS_OF_A_NODE, Budget, TooMuchWorkError
from kubesched.core.scheduling.engine import Engine
from kubesched.testing import a_node
from kubesched.testing.devices import (
    a_claiming_pod,
    a_device,
    a_device_class,
    a_device_request,
    a_resource_claim,
    a_slice,
)

LONG = "'aaaaaaaaaa'" + ".replace('a', 'aaaaaaaaaa')" * 4


def an_engine(claim: ResourceClaim, nodes: int = 60) -> Engine:
    """Return an engine whose nodes have eight devices each, no two of them alike."""
    engine = build_engine()
    engine.cluster.add(a_device_class("gpu"))
    for number in range(nodes):
        engine.cluster.add(a_node(f"n{number}"))
        devices = [
            a_device(f"d{each}", attributes={"uuid": f"{number}-{each}", "even": each % 2 == 0}) for each in range(8)
        ]
        engine.cluster.add(a_slice(f"s{number}", *devices, node=f"n{number}"))
    engine.cluster.add(claim)
    return engine


HOSTILE = {
    "devices that are never alike": a_resource_claim(
        "c", *(a_device_request(f"r{each}", count=2) for each in range(4)), match="uuid"
    ),
    "requests that take each other's devices": a_resource_claim(
        "c",
        *(a_device_request(f"r{each}", "device.attributes['gpu.example.com'].even || true") for each in range(7)),
        a_device_request("last", count=2),
    ),
    "an expression that works on long texts": a_resource_claim(
        "c", a_device_request("r", f"{LONG}.find('a*b') == 'x'")
    ),
    "an expression at its limit": a_resource_claim(
        "c", a_device_request("r", "lists.range(90000).all(i, i < 0 || true) && false")
    ),
    "many long expressions": a_resource_claim(
        "c", a_device_request("r", *(" || ".join([f"device.driver == '{each}'"] * 200) for each in range(20)))
    ),
}


@pytest.mark.parametrize("claim", [pytest.param(each, id=name) for name, each in HOSTILE.items()])
def test_work_is_bounded(claim: ResourceClaim, monkeypatch: pytest.MonkeyPatch) -> None:
    budgets: list[Budget] = []
    start = Budget.__init__

    def noticed(self: Budget) -> None:
        start(self)
        budgets.append(self)

    monkeypatch.setattr(Budget, "__init__", noticed)
    engine = an_engine(claim)
    found = engine.evaluation_of(engine.cluster.reader.read(a_claiming_pod("p", "c"))).feasible()
    assert found.count == 0
    # the last step may be one expression at its own limit
    assert max(budget.spent for budget in budgets) <= 2 * MOST_UNITS


def test_a_budget_ends_by_node_and_in_all() -> None:
    budget = Budget()
    budget.start_node()
    budget.spend_on_node(MOST_UNITS_OF_A_NODE)
    with pytest.raises(TooMuchWorkError, match="50000 steps on the node"):
        budget.spend_on_node()
    budget.start_node()
    budget.spend_on_node()
    with pytest.raises(TooMuchWorkError, match="1000000 steps in one attempt"):
        budget.spend(MOST_UNITS)
    with pytest.raises(TooMuchWorkError):
        budget.start_node()


def test_more_devices_than_there_are_take_no_search() -> None:
    claim = a_resource_claim("c", *(a_device_request(f"r{each}") for each in range(9)))
    engine = an_engine(claim, nodes=3)
    engine.cluster.add(a_node("large"))
    engine.cluster.add(a_slice("large", *(f"d{each}" for each in range(16)), node="large"))
    found = engine.evaluation_of(engine.cluster.reader.read(a_claiming_pod("p", "c"))).feasible()
    assert [engine.cluster.table.names[row] for row in found.mask.nonzero()[0]] == ["large"]


def test_a_selector_that_fails_is_told_though_more_devices_are_wanted_than_there_are() -> None:
    claim = a_resource_claim("c", a_device_request("r", "device.attributes['gpu.example.com'].missing", count=9))
    engine = an_engine(claim, nodes=1)
    evaluation = engine.evaluation_of(engine.cluster.reader.read(a_claiming_pod("p", "c")))
    failure = evaluation.feasible().failure
    assert failure is not None
    assert "no such key: missing" in failure.message
