"""What a tenant can write into a pod costs no more than it is long, and is forgotten with the pod.

Bounds are on work and on what is kept: columns, amounts, terms, steps. None is on time.
"""

import gc
import weakref
from collections.abc import Callable

import msgspec
import pytest

from kubesched.api.pods import Pod
from kubesched.api.resources import RequestOptions
from kubesched.core.assembly import build_engine
from kubesched.core.cluster.domain_counts import DomainCounts
from kubesched.core.cluster.pod_info import DIGESTED_BYTES, PodReader
from kubesched.core.evaluation.memory import kept_bytes
from kubesched.core.framework.values import status
from kubesched.core.plugins.node_resources.fit_request import fit_request
from kubesched.core.plugins.pod_topology_spread.plugin import PodTopologySpread
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
        for each in evaluator._memories.all():
            each.start()
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
    evaluation = engine.evaluation_of(pod)
    ids = evaluation.first_objectors().tolist()
    statuses, table = evaluation.statuses, engine.cluster.table
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


def test_heavy_templates_are_remembered_while_a_pod_has_them() -> None:
    reader = PodReader(RequestOptions())
    heavy = a_pod("a", node_selector=dict.fromkeys(keys(1000), "v"))
    one, other = reader.read(heavy), reader.read(msgspec.structs.replace(heavy))
    assert one.digest is other.digest
    gone = weakref.ref(one.digest)
    del one, other
    assert gone() is None
    assert (len(reader._digests), len(reader._heavy_digests)) == (0, 0)


def test_ordinary_templates_are_remembered_within_bounds() -> None:
    reader = PodReader(RequestOptions())
    for turn in range(200):
        reader.read(a_pod(node_selector=dict.fromkeys(keys(100, turn), "v")))
    assert len(reader._digests) < 180
    assert reader._digests.weight <= DIGESTED_BYTES
    assert reader.forget_unused() == 0
    newest = reader.read(a_pod(node_selector=dict.fromkeys(keys(100, 199), "v"))).digest
    reader.forget_unused()
    assert list(reader._digests.values()) == [newest]


def test_heavy_pods_displace_no_class_of_an_ordinary_one() -> None:
    engine = an_engine()
    (evaluator,) = engine.evaluators.values()
    ordinary, heavy = evaluator._memories.all()
    try_pod(engine, a_pod(cpu="1"))
    pod_class = engine.evaluation_of(engine.cluster.reader.read(a_pod(cpu="1"))).pod_class
    for turn in range(30):
        try_pod(engine, a_pod(node_selector=dict.fromkeys(keys(2000, turn), "v")))
    assert engine.evaluation_of(engine.cluster.reader.read(a_pod(cpu="1"))).pod_class is pod_class
    assert len(ordinary.classes) == 1
    assert 1 <= len(heavy.classes) < 10


def test_a_heavy_pod_that_is_tried_again_is_of_the_same_class() -> None:
    engine = an_engine()
    pod = engine.cluster.reader.read(a_pod(node_selector=dict.fromkeys(keys(2000), "v")))
    assert engine.evaluation_of(pod).pod_class is engine.evaluation_of(pod).pod_class


def test_no_question_of_an_ordinary_pod_refers_to_a_heavy_one() -> None:
    engine = an_engine()
    (evaluator,) = engine.evaluators.values()
    try_pod(engine, a_pod("heavy", cpu="1", tolerations=[f"{key}=v:NoSchedule" for key in keys(2000)]))
    try_pod(engine, a_pod("ordinary", cpu="1"))
    ordinary, heavy = evaluator._memories.all()
    assert {question.pod.name for question in ordinary.filters.values()} == {"ordinary"}
    assert {question.pod.name for question in heavy.filters.values()} == {"heavy"}


def test_equal_spread_keys_are_one_object_only_as_long_as_somebody_has_it() -> None:
    engine = an_engine()
    plugin = next(iter(engine.profiles.values())).plugins["PodTopologySpread"]
    assert isinstance(plugin, PodTopologySpread)
    read = engine.cluster.reader.read
    one, other = (read(a_pod(cpu=cpu, spread=[a_spread("zone", "a=b")])) for cpu in "12")
    assert one.digest is not other.digest
    assert plugin.key(one) is plugin.key(other)
    del one, other
    engine.cluster.reader._digests.clear()
    gc.collect()
    assert len(plugin._keys) == 0


METADATA: dict[str, Callable[[int], Pod]] = {
    "labels": lambda turn: a_pod(f"p{turn}", labels=dict.fromkeys(keys(5000, turn), "v")),
    "annotations": lambda turn: a_pod(f"p{turn}", annotations={"a": "x" * 250_000}),
}


@pytest.mark.parametrize("pod", [pytest.param(each, id=name) for name, each in METADATA.items()])
def test_metadata_of_the_pod_that_a_question_was_made_for_counts(pod: Callable[[int], Pod]) -> None:
    engine = an_engine()
    read = engine.cluster.reader.read(pod(0))
    assert kept_bytes(read, NODES) > read.digest.weight + 200_000


def test_what_no_pod_uses_any_more_is_forgotten() -> None:
    engine = an_engine()
    (evaluator,) = engine.evaluators.values()
    memories = evaluator._memories.all()
    for turn in range(3):
        try_pod(engine, a_pod(node_selector=dict.fromkeys(keys(2000, turn), "v")))
        try_pod(engine, a_pod(cpu=str(turn + 1)))
    assert engine.forget_unused() == 0
    try_pod(engine, a_pod(cpu="1"))
    assert engine.forget_unused() > 0
    assert [len(each.classes) for each in memories] == [1, 0]
    assert engine.forget_unused() > 0
    assert [len(each.classes) + len(each.filters) + len(each.scores) for each in memories] == [0, 0]


def test_statuses_with_many_reasons_are_not_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status, "REASONS", 1000)
    engine = an_engine()
    for turn in range(10):
        try_pod(engine, a_pod(requests=dict.fromkeys(keys(300, turn), 1)))
        try_pod(engine, a_pod(requests=dict.fromkeys(keys(30, turn), 1)))
    tables = [each.statuses for evaluator in engine.evaluators.values() for each in evaluator._memories.all()]
    assert all(statuses.reasons <= 1300 for statuses in tables)
