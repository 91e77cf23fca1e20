"""What is left of a cluster: sums, zones, pools, the largest pod, and what is stranded."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.models import a_model

from kubesched.testing import a_node, a_pod
from kubesched_answers.amounts import amount_of
from kubesched_answers.remaining.remaining import remaining
from kubesched_answers.remaining.remaining_answer import RemainingAnswer
from kubesched_answers.reports.answer_reports import report_of

GPU = "nvidia.com/gpu"


def left(*objects: Any) -> RemainingAnswer:
    return remaining(a_model(*objects))


CLUSTER = (
    a_node("a1", cpu="4", memory="8Gi", zone="a", labels={"pool": "small"}),
    a_node("b1", cpu="8", memory="8Gi", zone="b", labels={"pool": "large"}),
    a_node(
        "g1",
        allocatable={"cpu": "8", "memory": "8Gi", "pods": "10", GPU: "4"},
        zone="b",
        labels={"pool": "gpu"},
        taints=["gpu=yes:NoSchedule"],
    ),
    a_pod("p1", node="a1", cpu="3500m", memory="2Gi"),
    a_pod("p2", node="b1", cpu="2", memory="2Gi"),
    a_pod("p3", node="g1", cpu="2", memory="2Gi", requests={"cpu": "2", "memory": "2Gi", GPU: "1"}),
)


def test_the_summary_has_the_totals_and_how_many_typical_pods_fit() -> None:
    answer = left(*CLUSTER)
    assert answer.summary == (
        "Free on 3 nodes: 12.5 of 20 cpu, 18Gi of 24Gi memory, 3 of 4 nvidia.com/gpu. "
        "3 more pods of the median size (2 cpu, 2Gi memory) fit. 1 node takes no pod without tolerations."
    )
    assert answer.typical is not None
    assert answer.typical.nodes == {"b1": 3}


def test_what_is_free_is_closed_stranded_or_neither() -> None:
    cpu, memory, pods, gpus = left(*CLUSTER).resources
    assert (cpu.resource, cpu.allocatable, cpu.requested, cpu.free) == ("cpu", "20", "7500m", "12500m")
    # half a core of a1 is too little for a typical pod; g1 is tainted
    assert (cpu.closed, cpu.stranded, cpu.largest, cpu.largest_node) == ("6", "500m", "6", "g1")
    assert (memory.resource, memory.stranded) == ("memory", "6Gi")
    assert (pods.resource, pods.free) == ("pods", "227")
    assert (gpus.resource, gpus.free, gpus.closed, gpus.stranded, gpus.largest) == (GPU, "3", "3", "0", "3")


def test_zones_and_pools() -> None:
    answer = left(*CLUSTER)
    assert [(zone.name, zone.nodes, zone.free["cpu"], zone.allocatable["cpu"]) for zone in answer.zones] == [
        ("a", 1, "500m", "4"),
        ("b", 2, "12", "16"),
    ]
    assert answer.pool_label == "pool"
    assert [(pool.name, pool.free.get(GPU)) for pool in answer.pools] == [("gpu", "3"), ("large", "0"), ("small", "0")]


def test_the_largest_pod() -> None:
    answer = left(*CLUSTER)
    assert answer.typical is not None
    assert {each.grown: (dict(each.requests), each.node) for each in answer.typical.largest} == {
        "in proportion": ({"cpu": "6", "memory": "6Gi"}, "b1"),
        "cpu": ({"cpu": "6", "memory": "2Gi"}, "b1"),
        "memory": ({"cpu": "2", "memory": "6Gi"}, "b1"),
    }


def test_a_cluster_without_nodes_or_without_pods() -> None:
    assert left(a_pod("p", cpu="1")).summary == "The cluster has no nodes."
    empty = left(a_node("n", cpu="4", memory="8Gi"))
    assert empty.summary.startswith("Free on 1 node: 4 of 4 cpu, 8Gi of 8Gi memory.")
    for answer in (left(), empty):
        assert report_of(answer).verdict.text == answer.summary


def test_no_typical_pod_fits_and_one_does() -> None:
    full = left(a_node("n", cpu="2"), a_pod("p", node="n", cpu="2"))
    assert "No more pod of the median size (2 cpu) fits." in full.summary
    one = left(a_node("n", cpu="4"), a_pod("p", node="n", cpu="2"))
    assert "1 more pod of the median size (2 cpu) fits." in one.summary


NODES = st.lists(st.tuples(st.sampled_from(["1", "4", "7"]), st.booleans(), st.sampled_from("ab")), max_size=4)
PODS = st.lists(st.tuples(st.integers(0, 3), st.integers(1, 4000)), max_size=5)


@settings(max_examples=40, deadline=None)
@given(NODES, PODS)
def test_sums_agree_and_the_model_is_as_before(nodes: Any, pods: Any) -> None:
    model = a_model(
        *(
            a_node(f"n{number}", cpu=cpu, zone=zone, taints=["a=b:NoSchedule"] if tainted else [])
            for number, (cpu, tainted, zone) in enumerate(nodes)
        ),
        *(
            a_pod(f"p{number}", cpu=f"{milli}m", node=f"n{place}" if place < len(nodes) else "")
            for number, (place, milli) in enumerate(pods)
        ),
    )
    before = sorted(model.pods)
    answer = remaining(model)
    assert sorted(model.pods) == before
    for each in answer.resources:
        free, closed, stranded, largest = (
            amount_of(each.resource, text) for text in (each.free, each.closed, each.stranded, each.largest)
        )
        assert 0 <= closed + stranded <= free
        assert largest <= free
        assert free == sum(amount_of(each.resource, zone.free[each.resource]) for zone in answer.zones)
