"""What a tenant can write into a pod costs no more than it is long, and is forgotten with the pod.

Bounds are on work and on what is kept: columns, amounts, terms, steps. None is on time.
"""

import gc
from collections.abc import Callable

import pytest

from kubesched.api.pods import Pod
from kubesched.api.resources import RequestOptions
from kubesched.core.assembly import build_engine
from kubesched.core.cluster import pod_info
from kubesched.core.cluster.domain_counts import DomainCounts
from kubesched.core.cluster.pod_info import PodReader
from kubesched.core.evaluation.question_cache import Recent
from kubesched.core.plugins.node_resources.fit_request import fit_request
from kubesched.core.scheduling.engine import Engine
from kubesched.testing import a_cluster, a_node, a_pod, a_spread, an_affinity

NODES = 40


def keys(count: int, turn: int = 0) -> list[str]:
    return [f"example.com/k{turn}-{each}" for each in range(count)]


def an_engine() -> Engine:
    engine = build_engine()
    for number in range(NODES):
        engine.cluster.add(a_node(f"n{number}", zone=f"z{number % 3}"))
    return engine


def try_pod(engine: Engine, pod: Pod) -> int:
    """Evaluate a pod; return on how many nodes it fits."""
    return engine.evaluation_of(engine.cluster.reader.read(pod)).feasible().count


# -- resources

ASKING: dict[str, Callable[[int], Pod]] = {
    "resources": lambda turn: a_pod(requests=dict.fromkeys(keys(500, turn), 1)),
    "node selector": lambda turn: a_pod(node_selector=dict.fromkeys(keys(200, turn), "v")),
    "node affinity": lambda turn: a_pod(affinity=an_affinity(nodes=[f"{key}=v" for key in keys(200, turn)])),
    "preferred nodes": lambda turn: a_pod(
        affinity=an_affinity(prefer_nodes=[(1, f"{key}=v") for key in keys(200, turn)])
    ),
    "spread": lambda turn: a_pod(spread=[a_spread(key, "a=b") for key in keys(100, turn)]),
    "soft spread": lambda turn: a_pod(spread=[a_spread(key, "a=b", soft=True) for key in keys(100, turn)]),
    "anti-affinity": lambda turn: a_pod(affinity=an_affinity(apart=[f"a=b@{key}" for key in keys(200, turn)])),
    "affinity": lambda turn: a_pod(affinity=an_affinity(near=[f"a=b@{key}" for key in keys(200, turn)])),
}


@pytest.mark.parametrize("pod", [pytest.param(each, id=name) for name, each in ASKING.items()])
def test_names_that_no_node_has_make_no_columns(pod: Callable[[int], Pod]) -> None:
    engine = an_engine()
    table = engine.cluster.table
    try_pod(engine, a_pod(cpu="1"))
    resources, arrays = len(table.resources), len(table.labels)
    for turn in range(3):
        try_pod(engine, pod(turn))
    assert (len(table.resources), len(table.labels)) == (resources, arrays)
    assert len(table.scalars) == 0


@pytest.mark.parametrize("pod", [pytest.param(each, id=name) for name, each in ASKING.items()])
def test_what_pods_named_is_forgotten_with_their_classes(pod: Callable[[int], Pod]) -> None:
    engine = an_engine()
    try_pod(engine, a_pod(cpu="1"))
    before = len(engine.cluster.table.label_columns())
    try_pod(engine, pod(0))
    for evaluator in engine.evaluators.values():
        evaluator._start()
    engine.cluster.reader._digests.clear()
    gc.collect()
    assert len(engine.cluster.table.label_columns()) <= before


def test_resources_of_single_nodes_are_no_columns_and_go_with_the_nodes() -> None:
    cluster = a_cluster(*(a_node(f"n{each}", allocatable={f"example.com/own-{each}": 1}) for each in range(300)))
    asked = a_pod(requests={"example.com/own-7": 1}, node="n7")
    cluster.add(asked)
    assert len(cluster.table.resources) == 3
    assert len(cluster.table.scalars) == 601
    cluster.remove_pod(asked.uid)
    for each in range(300):
        cluster.remove(a_node(f"n{each}"))
    assert len(cluster.table.scalars) == 0


def test_a_resource_that_many_nodes_offer_becomes_a_column_when_it_is_asked_for() -> None:
    engine = build_engine()
    for number in range(NODES):
        engine.cluster.add(a_node(f"n{number}", allocatable={"example.com/gpu": 1, "example.com/unasked": 1}))
    engine.cluster.add(a_pod("taken", requests={"example.com/gpu": 1}, node="n0"))
    assert try_pod(engine, a_pod(requests={"example.com/gpu": 1})) == NODES - 1
    assert engine.cluster.table.resources.values[3:] == ["example.com/gpu"]


def test_rows_that_offer_something_rare_are_judged_by_what_they_offer() -> None:
    engine = an_engine()
    engine.cluster.add(a_node("rich", allocatable={"example.com/a": 2, "example.com/b": 1}))
    pod = a_pod(requests={"example.com/a": 1, "example.com/b": 1})
    assert try_pod(engine, pod) == 1
    assert try_pod(engine, a_pod(requests={"example.com/a": 1, "example.com/c": 1})) == 0
    engine.cluster.add(a_pod("taken", requests={"example.com/b": 1}, node="rich"))
    assert try_pod(engine, pod) == 0
    engine.cluster.remove_pod("default-taken")
    assert try_pod(engine, pod) == 1


def test_nodes_that_lack_something_rare_and_are_short_of_cpu_in_two_ways_have_their_own_reasons() -> None:
    engine = build_engine()
    for name, cpu in (("free", "4"), ("full", "4"), ("small", "1")):
        engine.cluster.add(a_node(name, cpu=cpu))
    engine.cluster.add(a_node("rich", cpu="1", allocatable={"example.com/a": 1}))
    engine.cluster.add(a_pod("filler", cpu="3", node="full"))
    pod = engine.cluster.reader.read(a_pod(cpu="2", requests={"example.com/a": 1}))
    ids = engine.evaluation_of(pod).first_objectors().tolist()
    statuses, table = engine.evaluators["default-scheduler"].statuses, engine.cluster.table
    both = ("Insufficient cpu", "Insufficient example.com/a")
    assert {name: statuses[ids[table.row_of[name]]].reasons for name in table.row_of} == {
        "free": both[1:],
        "full": both,
        "small": both,
        "rich": both[:1],
    }


def test_the_reasons_of_many_nodes_are_the_same_texts() -> None:
    request = fit_request(
        PodReader(RequestOptions()).read(a_pod(requests=dict.fromkeys(keys(50), 1))).resources, lambda _: False
    )
    one, other = request.status(0b110), request.status(0b1110)
    assert one is not None
    assert other is not None
    assert one.reasons[0] is other.reasons[0]


# -- affinity


def test_terms_that_mean_the_same_pods_are_counted_once(monkeypatch: pytest.MonkeyPatch) -> None:
    engine = an_engine()
    for number in range(NODES):
        engine.cluster.add(a_pod(f"p{number}", node=f"n{number}", labels={"app": f"a{number % 2}"}))
    counted = []
    count = DomainCounts._count

    def counting(self: DomainCounts, row: int, domain: int) -> tuple[int, int, int] | None:
        counted.append(len(self._sources))
        return count(self, row, domain)

    monkeypatch.setattr(DomainCounts, "_count", counting)
    near = [(1, f"app=a{number % 2}@zone") for number in range(500)]
    apart = [f"app=a{number % 2}@hostname" for number in range(500)]
    pod = engine.cluster.reader.read(a_pod(affinity=an_affinity(prefer_near=near, apart=apart)))
    evaluation = engine.evaluation_of(pod)
    assert evaluation.feasible().count == 0
    evaluation.score()
    assert sum(counted) <= 2 * 2 * NODES


# -- what is remembered


def test_large_templates_are_remembered_within_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pod_info, "DIGESTED_BYTES", 100_000)
    reader = PodReader(RequestOptions())
    for turn in range(20):
        reader.read(a_pod(node_selector=dict.fromkeys(keys(1000, turn), "v")))
    assert len(reader._digests) < 6
    assert reader._weight <= 100_000


def test_what_is_heavy_is_remembered_within_bounds() -> None:
    recent: Recent[int] = Recent(100, 10)
    for number in range(10):
        recent.put(number, number, 3)
    assert (len(recent), recent.weight) == (3, 9)
    recent.put(9, 9, 3)
    assert (len(recent), recent.weight) == (3, 9)
    recent.put("whale", 1, 50)
    assert (len(recent), recent.get("whale")) == (1, 1)


def test_statuses_with_many_reasons_are_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kubesched.core.evaluation.evaluator.REASONS", 1000)
    engine = an_engine()
    for turn in range(10):
        try_pod(engine, a_pod(requests=dict.fromkeys(keys(300, turn), 1)))
    assert all(evaluator.statuses.reasons <= 1300 for evaluator in engine.evaluators.values())
