"""Figures of small stories, against those computed by hand."""

from typing import Any

import pytest

from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.testing import a_node, a_pod
from kubesched.testing.devices import a_claiming_pod, a_device_class, a_device_request, a_resource_claim, a_slice
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.measuring.comparison import compared
from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.measuring.rates import RateLabels
from kubesched_lab.simulate.simulation import Run, simulate
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace, TraceEvent

GPU = "example.com/gpu"
STORAGE = {"ephemeral-storage": "5Gi"}


def node(name: str, at: float = 0, **options: Any) -> ObjectPut:
    return ObjectPut(at, a_node(name, **options))


def pod(at: float, name: str, runs: float | None = None, **options: Any) -> PodArrival:
    return PodArrival(at, a_pod(name, **options), runs)


def simulated(*events: TraceEvent, **options: Any) -> Figures:
    """Return figures; with `until` the trace goes on to there, with an event that changes nothing."""
    if "until" in options:
        events = (*events, ObjectDeletion(options["until"] + 1, "Pod", "default/none"))
    return simulate(Run(Trace("story", lambda seed: iter(events)), load_config(), Registry(), **options))


def at(figures: Figures, second: float) -> dict[str, float]:
    """Return the sample of a second."""
    index = figures.timeline["at"].index(second)
    return {name: values[index] for name, values in figures.timeline.items()}


def test_pods_are_counted_by_the_attempts_that_they_took() -> None:
    events = (node("n", cpu="2"), pod(0, "a", 100, cpu="2"), pod(10, "b", 50, cpu="2"), pod(200, "c", 50, cpu="1"))
    figures = simulated(*events, until=300.0)
    assert figures.pods_by_attempts == {"1": 2, "2": 1}
    assert figures.bound_at_first_attempt == pytest.approx(2 / 3, abs=1e-6)
    assert figures.pods["unschedulableAttempts"] == figures.pods["failedAttempts"] == 1
    assert figures.bound_a_second == 3 / 300


def test_victims_are_counted_by_their_priority() -> None:
    low, high = pod(0, "low", 100, cpu="2", priority=3), pod(50, "high", 10, cpu="2", priority=5)
    assert simulated(node("n", cpu="2"), low, high).preempted_by_priority == {"3": 1}


def test_the_largest_pod_that_fits_has_memory_in_the_ratio_of_the_cluster() -> None:
    # 8 CPUs and 16Gi in all: 2Gi a CPU; on m are 4 CPUs but memory for one of them
    events = (node("n", cpu="4", memory="8Gi"), node("m", cpu="4", memory="8Gi"))
    placed = (pod(0, "p", cpu="2", node="n"), pod(0, "q", cpu="0", memory="6Gi", node="m"))
    sample = at(simulated(*events, *placed, until=10.0), 5)
    assert (sample["largestPodMilliCpu"], sample["largestPodMemory"]) == (2000, 2000 * 2147483)
    assert (sample["largestFreeMilliCpu"], sample["largestFreeMemory"]) == (4000, 8 << 30)


def test_nodes_that_take_no_pods_have_no_room_for_a_large_one() -> None:
    events = (node("n", cpu="4", unschedulable=True), node("m", cpu="2", pods=1), pod(0, "p", cpu="0", node="m"))
    assert at(simulated(*events, until=10.0), 5)["largestPodMilliCpu"] == 0


def test_devices_are_stranded_where_cpu_is_used_up() -> None:
    events = (node("n", cpu="4", allocatable={GPU: "4"}), node("m", cpu="4", allocatable={GPU: "4"}))
    sample = at(simulated(*events, pod(0, "p", cpu="4", requests={GPU: "1"}, node="n"), until=10.0), 5)
    assert (sample[f"resources.{GPU}"], sample[f"stranded.{GPU}"]) == (1 / 8, 3 / 8)
    assert (sample["stranded.cpu"], sample["stranded.memory"]) == (0, 0.5)


def test_devices_of_drivers_are_allocated_or_stranded() -> None:
    events = (
        node("n", cpu="2"),
        node("m", cpu="2"),
        ObjectPut(0, a_slice("s", "gpu-0", "gpu-1", "gpu-2", node="n", driver="gpu.example.com")),
        ObjectPut(0, a_slice("t", "gpu-0", node="m", driver="gpu.example.com")),
        ObjectPut(0, a_device_class("gpu")),
        ObjectPut(0, a_resource_claim("claim", a_device_request("one"))),
        PodArrival(1, a_claiming_pod("p", "claim", cpu="2", node_selector={"kubernetes.io/hostname": "n"})),
    )
    figures = simulated(*events, until=10.0)
    sample = at(figures, 5)
    assert figures.pods["bound"] == 1
    assert sample["resources.gpu.example.com devices"] == 1 / 4
    assert sample["stranded.gpu.example.com devices"] == 2 / 4
    assert "gpu.example.com devices requested" in [row.name for row in compared([figures])[1]]


def test_numbers_of_pods_and_ephemeral_storage_are_shares_too() -> None:
    events = (node("n", pods=4, allocatable={"ephemeral-storage": "10Gi"}), pod(0, "p", requests=STORAGE, node="n"))
    sample = at(simulated(*events, until=10.0), 5)
    assert (sample["resources.pods"], sample["resources.ephemeral-storage"]) == (0.25, 0.5)


def test_skews_are_of_nodes_of_zones_and_of_pods_with_equal_labels() -> None:
    nodes = [node(f"n{number}", cpu="8", zone=f"z{number % 2}") for number in range(4)]
    a, b = {"app": "a"}, {"app": "b"}
    pods = [
        *(pod(0, f"a{number}", labels=a, node="n0", cpu="1") for number in range(3)),
        *(pod(0, f"b{number}", labels=b, node="n1", cpu="1") for number in range(4)),
    ]
    sample = at(simulated(*nodes, *pods, until=10.0), 5)
    assert (sample["skew.nodes"], sample["skew.zones"], sample["skew.groups"]) == (4, 1, 4)
    # shares of 3/8, 4/8, 0 and 0
    assert sample["deviation.cpu"] == pytest.approx(0.223, abs=0.001)


def test_cost_is_that_of_nodes_while_they_are_up() -> None:
    events = (
        node("n", cpu="4", labels={"kubesched.io/price-per-hour": "0.5"}),
        node("m", cpu="4", annotations={"kubesched.io/price-per-hour": "1"}),
        pod(0, "p", cpu="2", node="n"),
        ObjectDeletion(1800, "Node", "m"),
    )
    cost = simulated(*events, until=3600.0).cost
    assert cost is not None
    assert (cost.total, cost.an_hour, cost.a_pod_hour) == (1, 1, 1)
    # half of n for an hour, all of m for half an hour: in samples
    assert cost.idle == pytest.approx(0.75, rel=0.01)


def test_energy_grows_with_the_share_of_cpu() -> None:
    events = (node("n", cpu="4", labels={"watts": "100-300"}), pod(0, "p", cpu="2", node="n"))
    energy = simulated(*events, until=3600.0, rates=RateLabels(watts="watts")).energy
    assert energy is not None
    assert (energy.mean_watts, energy.kilowatt_hours) == (200, 0.2)


def test_the_row_of_a_node_that_is_gone_has_the_price_of_the_next_one() -> None:
    price = {"kubesched.io/price-per-hour": "4"}
    nodes = (node("free"), node("dear", labels=price), ObjectDeletion(10, "Node", "dear"), node("cheap", 20))
    figures = simulated(*nodes, node("dear", 40, labels=price), until=60.0)
    assert [at(figures, second)["price"] for second in (5, 15, 30, 50)] == [4, 0, 0, 4]


def test_without_rates_there_is_no_cost() -> None:
    figures = simulated(node("n"), until=10.0)
    assert (figures.cost, figures.energy) == (None, None)
    assert "price" not in figures.timeline


@pytest.mark.parametrize(
    ("labels", "why"),
    [
        (
            {"kubesched.io/price-per-hour": "cheap"},
            "price-per-hour is 'cheap'; expected a value such as 0.192, up to 100000",
        ),
        ({"kubesched.io/price-per-hour": "-1"}, "price-per-hour is '-1'"),
        ({"kubesched.io/price-per-hour": "nan"}, "price-per-hour is 'nan'"),
        ({"kubesched.io/watts": "90-"}, "kubesched.io/watts is '90-'; expected a value such as 90-350"),
        ({"kubesched.io/watts": "1e9"}, "kubesched.io/watts is '1e9'"),
    ],
)
def test_rates_that_are_no_numbers_are_told(labels: dict[str, str], why: str) -> None:
    with pytest.raises(TraceError, match=f"^node n: .*{why}"):
        simulated(node("n", labels=labels))


def test_samples_of_the_warm_up_are_in_no_mean() -> None:
    events = (node("n", cpu="4"), pod(0, "p", 50, cpu="4"))
    figures = simulated(*events, until=100.0, warm_up=60.0)
    assert figures.over_time["resources.cpu"].most == 0
    assert max(figures.timeline["resources.cpu"]) == 1


def test_percentiles_grow_up_to_the_longest_time() -> None:
    arrivals = [pod(0, f"p{number:02}", 10, cpu="2") for number in range(20)]
    figures = simulated(node("n", cpu="2"), *arrivals)
    percentiles = figures.waiting_percentiles
    assert len(percentiles) == 101
    assert percentiles == sorted(percentiles)
    assert percentiles[0] == 0
    assert percentiles[100] == pytest.approx(figures.waiting.largest, rel=0.01)
