"""What must hold whatever happens: columns that were caught up equal columns made from scratch.

A script of random changes is applied to one engine that is asked after every few changes; each time a second engine,
made from the same objects, is asked the same.
"""

from typing import Any

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.support.pod_templates import TEMPLATES

from kubesched.api.pods import Pod
from kubesched.conformance.results import Judge
from kubesched.core.assembly import build_engine
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.comparison import content, differences, rebuilt, refill
from kubesched.core.scheduling.engine import Engine
from kubesched.testing import (
    a_budget,
    a_namespace,
    a_node,
    a_pod,
    a_replica_set,
    a_service,
)

NODES = [
    {"cpu": "2", "memory": "4Gi", "zone": "a"},
    {"cpu": "4", "memory": "8Gi", "zone": "b", "labels": {"disk": "ssd"}},
    {"cpu": "4", "memory": "2Gi", "zone": "a", "taints": ["dedicated=batch:NoSchedule"]},
    {"cpu": "1", "memory": "8Gi", "zone": "c", "taints": ["spot=yes:PreferNoSchedule"], "pods": 3},
    {"cpu": "8", "memory": "16Gi", "unschedulable": True, "zone": "b"},
    {"cpu": "4", "memory": "8Gi", "allocatable": {"example.com/gpu": "2"}, "images": {"web:1": 400_000_000}},
]

index = st.integers(0, 5)
template = st.integers(0, len(TEMPLATES) - 1)
CHANGES = st.one_of(
    st.tuples(st.just("node"), index, st.integers(0, len(NODES) - 1)),
    st.tuples(st.just("no node"), index),
    st.tuples(st.just("pod"), st.integers(0, 9), template, index, st.booleans()),
    st.tuples(st.just("no pod"), st.integers(0, 9)),
    st.tuples(st.just("nominated"), st.integers(0, 2), template, index),
    st.tuples(st.just("objects"), st.booleans()),
)
SCRIPTS = st.lists(CHANGES, min_size=1, max_size=25)


def apply(cluster: ClusterState, change: tuple[Any, ...]) -> None:
    """Carry out one change of a script."""
    match change:
        case "node", number, variant:
            cluster.add(a_node(f"n{number}", **NODES[variant]))
        case "no node", number:
            cluster.table.remove_node(f"n{number}")
        case "pod", number, kind, node, terminating:
            words = dict(TEMPLATES[kind])
            if "ports" in words:
                # two pods of one node cannot have one port: the first to go would free it, as in the reference
                words["ports"] = [8080 + number]
            cluster.add(a_pod(f"b{number}", node=f"n{node}", terminating=terminating, **words))
        case "no pod", number:
            cluster.remove_pod(f"default-b{number}")
        case "nominated", number, kind, node:
            cluster.add(a_pod(f"w{number}", nominated=f"n{node}", **TEMPLATES[kind]))
        case "objects", present:
            objects = (
                a_service("web", {"app": "web"}),
                a_replica_set("web", {"app": "web"}),
                a_namespace("default", labels={"team": "core"}),
                a_budget("web", "app=web", allowed=1),
            )
            for obj in objects:
                (cluster.add if present else cluster.remove)(obj)


def judged(engine: Engine, pod: Pod) -> dict[str, Any]:
    info = engine.cluster.reader.read(pod)
    return Judge(engine.profiles["default-scheduler"], engine.evaluation_of(info)).judge()


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(SCRIPTS)
def test_cached_evaluation_equals_evaluation_from_scratch(script: list[tuple[Any, ...]]) -> None:
    engine = build_engine()
    for turn, change in enumerate(script):
        apply(engine.cluster, change)
        if turn % 3 and turn + 1 < len(script):
            continue
        fresh = build_engine()
        refill(fresh.cluster, engine.cluster)
        for number, kind in enumerate(TEMPLATES):
            incoming = a_pod(f"p{number}", **kind)
            assert judged(engine, incoming) == judged(fresh, incoming), f"after {script[: turn + 1]}"


@settings(deadline=None, max_examples=150)
@given(SCRIPTS)
def test_the_incremental_table_equals_one_rebuilt_from_the_objects(script: list[tuple[Any, ...]]) -> None:
    cluster = ClusterState()
    # columns of keys that no node has live as long as somebody holds them
    held = cluster.table.label("topology.kubernetes.io/zone")
    for change in script:
        apply(cluster, change)
    other = rebuilt(cluster)
    other.table.label(held.key)
    assert list(differences(content(cluster), content(other))) == []


@settings(deadline=None, max_examples=60)
@given(SCRIPTS, template, index)
def test_assume_then_forget_is_the_identity(script: list[tuple[Any, ...]], kind: int, node: int) -> None:
    cluster = ClusterState()
    for change in script:
        apply(cluster, change)
    pod = cluster.reader.read(a_pod("p", **TEMPLATES[kind]))
    cluster.put_waiting(pod)
    before = content(cluster)
    cluster.forget(cluster.assume(pod, f"n{node}"))
    assert list(differences(before, content(cluster))) == []


@settings(deadline=None, max_examples=30, suppress_health_check=[HealthCheck.too_slow])
@given(SCRIPTS)
def test_judging_changes_neither_the_table_nor_the_objects(script: list[tuple[Any, ...]]) -> None:
    engine = build_engine()
    for change in script:
        apply(engine.cluster, change)
    before, log = content(engine.cluster), engine.cluster.log.seq
    encoded = [msgspec.json.encode(pod.pod) for pod in engine.cluster.table.pods.values()]
    for number, kind in enumerate(TEMPLATES):
        judged(engine, a_pod(f"p{number}", **kind))
    after = content(engine.cluster)
    for node in (*before["nodes"].values(), *after["nodes"].values()):
        # a label column is made when somebody first asks for it
        node["labels"] = None
    assert list(differences(before, after)) == []
    assert engine.cluster.log.seq == log
    assert encoded == [msgspec.json.encode(pod.pod) for pod in engine.cluster.table.pods.values()]
