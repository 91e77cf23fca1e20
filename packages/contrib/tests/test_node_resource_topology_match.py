"""NodeResourceTopologyMatch: alignment, scores, pods that the objects do not count yet, bad objects, arguments."""

import logging
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packages.contrib.tests.examples import run_example
from packages.contrib.tests.numa_nodes import a_big_node, a_guaranteed_container, a_guaranteed_pod, a_topology

from kubesched import Nodes, PluginError, Registry, build_engine, decide
from kubesched.testing import SchedulerFactory, a_container, a_custom_object, a_pod, check_plugin
from kubesched_contrib.node_resource_topology import NodeResourceTopologyMatch
from kubesched_contrib.node_resource_topology.topology import KIND

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: NodeResourceTopologyMatch, weight: 1000}]}}
  pluginConfig: [{name: NodeResourceTopologyMatch, args: ARGS}]
"""
NIC = "example.com/nic"


def a_registry() -> Registry:
    registry = Registry()
    registry.register(NodeResourceTopologyMatch)
    return registry


def an_engine(*objects: Any, args: str = "{}") -> Any:
    engine = build_engine(CONFIG.replace("ARGS", args), registry=a_registry())
    for obj in objects:
        engine.cluster.add(obj)
    return engine


def answer(engine: Any, pod: Any) -> str:
    """Return the node of a pod, or why it has none."""
    decision = decide(engine.evaluation_of(engine.cluster.reader.read(pod)), pick=lambda nodes: 0)
    return decision.node_name or str(decision.message)


def scores(engine: Any, pod: Any) -> dict[str, int]:
    """Return the plugin's score for each feasible node."""
    evaluation = engine.evaluation_of(engine.cluster.reader.read(pod))
    feasible = evaluation.feasible()
    plugin = next(iter(engine.profiles.values())).plugins["NodeResourceTopologyMatch"]
    nodes = Nodes(engine.cluster.table, np.flatnonzero(feasible.mask))
    return dict(zip(nodes.names, plugin.score_nodes(None, evaluation.pod, nodes).tolist(), strict=True))


# -- Filter

POD_LEVEL = "SingleNUMANodePodLevel"
TWO_OF_FOUR = ({"cpu": 4, "memory": "8Gi"}, {"cpu": 4, "memory": "8Gi"})


def a_burstable(cpu: str, **devices: int) -> Any:
    return a_pod("pod", requests={"cpu": cpu, "memory": "1Gi", **devices})


@pytest.mark.parametrize(
    ("zones", "options", "pod", "said"),
    [
        (TWO_OF_FOUR, {}, a_guaranteed_pod(cpu=4), "n1"),
        (TWO_OF_FOUR, {}, a_guaranteed_pod(cpu=6), "cannot align container"),
        (TWO_OF_FOUR, {"scope": "pod"}, a_guaranteed_pod(cpu=6), "cannot align pod"),
        (TWO_OF_FOUR, {"policy": "restricted"}, a_guaranteed_pod(cpu=6), "n1"),
        (TWO_OF_FOUR, {}, a_burstable("6"), "n1"),
        (TWO_OF_FOUR, {}, a_pod("pod"), "n1"),
        (({"cpu": 4}, {"memory": "8Gi"}), {}, a_guaranteed_pod(cpu=1), "cannot align container"),
        (({"cpu": 4}, {"cpu": 4}), {}, a_burstable("1"), "cannot align container"),
        (
            ({"cpu": 4, "memory": "8Gi"}, {"cpu": 1, "memory": "8Gi", NIC: 1}),
            {},
            a_guaranteed_pod(cpu=2, devices={NIC: 1}),
            "cannot align container",
        ),
        (TWO_OF_FOUR, {}, a_guaranteed_pod(devices={NIC: 1}), "n1"),
        (TWO_OF_FOUR, {}, a_guaranteed_pod(devices={"example.com/gone": 1}), "1 Insufficient example.com/gone."),
        (({NIC: 1}, {NIC: 1}), {}, a_pod("pod", requests={NIC: 2}), "cannot align container"),
        (({NIC: 2}, {NIC: 0}), {}, a_pod("pod", requests={NIC: 2}), "n1"),
        ((), {}, a_guaranteed_pod(), "cannot align container"),
        (TWO_OF_FOUR, {}, a_guaranteed_pod(containers=[a_guaranteed_container(3)] * 2), "n1"),
        (TWO_OF_FOUR, {"scope": "pod"}, a_guaranteed_pod(containers=[a_guaranteed_container(3)] * 2), "align pod"),
        (TWO_OF_FOUR, {}, a_guaranteed_pod(containers=[a_guaranteed_container(3)] * 3), "cannot align container"),
        (
            TWO_OF_FOUR,
            {},
            a_guaranteed_pod(cpu=4, init_containers=(a_guaranteed_container(4), a_guaranteed_container(4))),
            "n1",
        ),
        (
            TWO_OF_FOUR,
            {},
            a_guaranteed_pod(cpu=1, init_containers=(a_guaranteed_container(5),)),
            "cannot align init container",
        ),
        (
            TWO_OF_FOUR,
            {},
            a_guaranteed_pod(cpu=1, init_containers=(a_guaranteed_container(5, sidecar=True),)),
            "cannot align sidecar container",
        ),
        (
            ({"cpu": 4, "memory": "8Gi"},),
            {},
            a_guaranteed_pod(cpu=3, init_containers=(a_guaranteed_container(2, sidecar=True),)),
            "cannot align container",
        ),
        (
            TWO_OF_FOUR,
            {"attributes": [], "topologyPolicies": [POD_LEVEL]},
            a_guaranteed_pod(cpu=6),
            "align pod",
        ),
        (
            TWO_OF_FOUR,
            {"topologyPolicies": [POD_LEVEL]},
            a_guaranteed_pod(cpu=6),
            "cannot align container",
        ),
        (TWO_OF_FOUR, {"attributes": [], "topologyPolicies": ["Whatever"]}, a_guaranteed_pod(cpu=6), "n1"),
        (TWO_OF_FOUR, {"policy": "whatever", "scope": "whatever"}, a_guaranteed_pod(cpu=6), "n1"),
    ],
    ids=[
        "what fits into a zone fits",
        "zones that fit in sum, but not alone",
        "the same for the pod as a whole",
        "other policies do not filter",
        "CPUs of a Burstable pod are shared",
        "a BestEffort pod is not concerned",
        "CPU here and memory there",
        "memory belongs to zones, and none has it",
        "CPU here and the device there",
        "a device that no zone has belongs to the node",
        "a device that the node does not have",
        "devices of a BestEffort pod are aligned",
        "a zone that has none left is not asked",
        "an object without zones",
        "containers may be in different zones",
        "but not if the pod is aligned",
        "the third container finds no room",
        "init containers run one after the other",
        "an init container that fits nowhere",
        "a sidecar that fits nowhere",
        "a sidecar keeps what it has",
        "the older field",
        "attributes replace the older field",
        "an unknown policy in the older field",
        "unknown attributes are as none",
    ],
)
def test_a_pod_is_placed_where_its_containers_can_be_aligned(zones: Any, options: Any, pod: Any, said: str) -> None:
    assert said in answer(an_engine(a_big_node(), a_topology("n1", *zones, **options)), pod)


def test_a_node_without_an_object_takes_any_pod() -> None:
    assert answer(an_engine(a_big_node(), a_topology("other", {"cpu": 1})), a_guaranteed_pod(cpu=32)) == "n1"


# -- pods that an object does not count yet


def test_a_pod_that_was_not_started_when_the_object_was_written_counts_in_all_zones() -> None:
    early, late, written = "2026-01-01T00:00:10Z", "2026-01-01T00:00:30Z", "2026-01-01T00:00:20Z"
    engine = an_engine(a_big_node(), a_topology("n1", *TWO_OF_FOUR, written=written))
    cases: tuple[tuple[str, dict[str, Any], str], ...] = (
        ("started before the object was written: it is counted there", {"start": early}, "n1"),
        ("started after that", {"start": late}, "cannot align container"),
        ("not started", {}, "cannot align container"),
    )
    for case, options, said in cases:
        engine.cluster.add(a_guaranteed_pod("first", cpu=2, node="n1", **options))
        assert said in answer(engine, a_guaranteed_pod("second", cpu=4)), case
        assert answer(engine, a_guaranteed_pod("third", cpu=2)) == "n1", case
    engine.cluster.add(a_topology("n1", *TWO_OF_FOUR, written="2026-01-01T00:00:40Z"))
    engine.cluster.add(a_guaranteed_pod("first", cpu=2, node="n1", start=late))
    assert answer(engine, a_guaranteed_pod("second", cpu=4)) == "n1", "the object was written again"


def test_an_object_that_does_not_say_when_it_was_written_counts_the_pods_that_run() -> None:
    engine = an_engine(a_big_node(), a_topology("n1", *TWO_OF_FOUR))
    engine.cluster.add(a_guaranteed_pod("first", cpu=4, node="n1", start="2026-01-01T00:00:10Z"))
    assert answer(engine, a_guaranteed_pod("second", cpu=4)) == "n1"


def test_shared_cpus_of_other_pods_do_not_count() -> None:
    engine = an_engine(a_big_node(), a_topology("n1", *TWO_OF_FOUR))
    engine.cluster.add(a_pod("burstable", cpu="3", node="n1"))
    engine.cluster.add(a_guaranteed_pod("half", cpu="3500m", memory="1", node="n1"))
    assert answer(engine, a_guaranteed_pod(cpu=4)) == "n1"


def test_a_reserved_node_is_left_out_on_request() -> None:
    engine = an_engine(a_big_node(), a_topology("n1", *TWO_OF_FOUR), args="{discardReservedNodes: true}")
    engine.cluster.add(a_guaranteed_pod("first", cpu=1, node="n1"))
    assert "invalid node topology data" in answer(engine, a_guaranteed_pod(cpu=1))


def test_evicting_a_pod_that_was_not_started_makes_room(scheduler: SchedulerFactory) -> None:
    world = scheduler(NodeResourceTopologyMatch)
    world.put(a_big_node(), a_topology("n1", {"cpu": 4, "memory": "8Gi"}), a_guaranteed_pod("low", cpu=4, priority=0))
    world.run(1)
    assert world.node_of("low") == "n1"
    world.put(a_guaranteed_pod("high", cpu=4, priority=10))
    world.run(20)
    assert (world.pod("low"), world.node_of("high")) == (None, "n1")


def test_pods_that_come_at_once_do_not_share_a_zone_and_wait_for_the_next_object(scheduler: SchedulerFactory) -> None:
    # the node has eight CPUs in two zones: two pods of three CPUs fit, one in each zone, and a third in sum only
    world = scheduler(NodeResourceTopologyMatch)
    world.put(a_big_node(), a_topology("n1", *TWO_OF_FOUR))
    world.put(*(a_guaranteed_pod(f"p{number}", cpu=3) for number in range(3)))
    world.run(5)
    assert len(world.bound) == 1, "which zone the first one takes is not known"
    world.put(a_guaranteed_pod(world.bound[0], cpu=3, node="n1", start="2026-01-01T00:00:02Z"))
    left = {"cpu": 1, "memory": "7Gi"}
    world.put(a_topology("n1", left, TWO_OF_FOUR[1], written="2026-01-01T00:00:06Z"))
    world.run(10)
    assert len(world.bound) == 2, "the other zone is free"
    waiting = ({"p0", "p1", "p2"} - set(world.bound)).pop()
    assert world.message_of(waiting).startswith("0/1 nodes are available: 1 cannot align container.")


# -- Score

NEAR = [[10, 20], [20, 10]]


@pytest.mark.parametrize(
    ("strategy", "expected"),
    [
        # asked: 2 CPUs, 2Gi; free: half: 50, 50; much: 75, 87
        ("LeastAllocated", {"half": 50, "much": 81, "other": 0}),
        ("MostAllocated", {"half": 50, "much": 18, "other": 0}),
        # variance of (.5, .5) and of (.25, .125)
        ("BalancedAllocation", {"half": 100, "much": 99, "other": 0}),
        ("LeastNUMANodes", {"half": 94, "much": 94, "other": 0}),
    ],
)
@pytest.mark.parametrize("scope", ["pod", "container"])
def test_scores_by_strategy(strategy: str, scope: str, expected: dict[str, int]) -> None:
    engine = an_engine(
        *(a_big_node(name) for name in expected),
        a_topology("half", {"cpu": 4, "memory": "4Gi"}, {"cpu": 1, "memory": "1Gi"}, scope=scope, costs=NEAR),
        a_topology("much", {"cpu": 8, "memory": "16Gi"}, scope=scope, costs=[[10]]),
        args=f"{{scoringStrategy: {{type: {strategy}}}}}",
    )
    assert scores(engine, a_guaranteed_pod(cpu=2, memory="2Gi")) == expected
    assert set(scores(engine, a_pod("burstable", cpu="1")).values()) == {100}


def test_weights_of_resources() -> None:
    args = "{scoringStrategy: {type: MostAllocated, resources: [{name: cpu, weight: 3}]}}"
    engine = an_engine(a_big_node(), a_topology("n1", {"cpu": 4, "memory": "8Gi"}), args=args)
    # three times 75 and once 25
    assert scores(engine, a_guaranteed_pod(cpu=3, memory="2Gi")) == {"n1": 62}


@pytest.mark.parametrize(
    ("zones", "costs", "containers", "score"),
    [
        (({"cpu": 4, "memory": "8Gi"},) * 2, NEAR, [3], 100 - 12 + 6),
        (({"cpu": 4, "memory": "8Gi"},) * 2, NEAR, [6], 100 - 24 + 6),
        (({"cpu": 4, "memory": "8Gi"},) * 2, NEAR, [3, 3], 100 - 12 + 6),
        (({"cpu": 4, "memory": "8Gi"},) * 2, NEAR, [3, 3, 2], 100 - 24 + 6),
        (({"cpu": 1, "memory": "8Gi"}, {"cpu": 4, "memory": "8Gi"}), [[10, 20], [20, 12]], [3], 100 - 12),
        (({"cpu": 4, "memory": "8Gi"},) * 2, NEAR, [9], 0),
        (({"cpu": 4, "memory": "8Gi"},) * 9, [], [3], 0),
    ],
    ids=[
        "one zone",
        "two zones",
        "two containers, a zone each",
        "the third container gets what two zones have left",
        "a zone that is not the nearest",
        "more than all zones have",
        "too many zones to combine",
    ],
)
def test_the_fewest_zones(zones: Any, costs: Any, containers: list[int], score: int) -> None:
    engine = an_engine(
        a_big_node(),
        a_topology("n1", *zones, policy="best-effort", costs=costs),
        args="{scoringStrategy: {type: LeastNUMANodes}}",
    )
    pod = a_guaranteed_pod(containers=[a_guaranteed_container(cpu) for cpu in containers])
    assert scores(engine, pod) == {"n1": score}


# -- objects that are wrong


@pytest.mark.parametrize(
    ("zones", "said"),
    [
        ([{"name": "node-0", "type": "Socket", "resources": [{"name": "cpu", "available": 9}]}], "cannot align"),
        ([{"name": "zero", "type": "Node", "resources": [{"name": "cpu", "available": 9}]}], "cannot align"),
        ([{"name": "node-64", "type": "Node"}], "cannot align"),
        ([{"name": "node-0", "type": "Node", "resources": [{"name": "cpu", "available": -4}]}], "cannot align"),
        ([{"name": "node-0", "type": "Node"}, {"name": "node-0", "type": "Node"}], "cannot align"),
        ([{"name": "node-0"}], "cannot align"),
        ([{}], "cannot align"),
        (None, "cannot align"),
        ("zones", "zones: expected a list, got 'zones'"),
        ([5], r"zones[0]: expected an object, got 5"),
        ([{"name": "node-1", "type": "Node", "resources": [{"available": 1}]}], "zones[0].resources[0].name"),
        (
            [{"name": "node-1", "type": "Node", "resources": [{"name": "cpu", "available": "many"}]}],
            "zones[0].resources[0].available: cpu: quantity 'many'",
        ),
    ],
)
def test_a_wrong_object_never_ends_in_an_exception(zones: Any, said: str, caplog: Any) -> None:
    with caplog.at_level(logging.WARNING):
        engine = an_engine(a_big_node(), a_topology("n1", zones=zones))
        found = answer(engine, a_guaranteed_pod(cpu=1))
    told = " ".join(str(getattr(record, "err", "")) for record in caplog.records)
    assert said in found or (found == "n1" and said in told)


def test_huge_amounts_are_cut() -> None:
    zone = {"cpu": "9P", "memory": "7E", NIC: "9223372036854775807"}
    engine = an_engine(a_big_node(), a_topology("n1", *([zone] * 64)), args="{scoringStrategy: {type: MostAllocated}}")
    assert answer(engine, a_guaranteed_pod(cpu=8, devices={NIC: 8})) == "n1"


JUNK = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["Node", "node-0", "node-1", "cpu", "1", "-1", "1e99"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "type", "value", "resources", "available", "costs"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(st.sampled_from(["zones", "attributes", "topologyPolicies"]), JUNK))
def test_any_object_leaves_an_answer(fields: dict[str, Any]) -> None:
    engine = an_engine(a_big_node(), a_custom_object(KIND, "n1", **fields))
    found = answer(engine, a_guaranteed_pod(cpu=1))
    assert found == "n1" or "cannot align" in found


# -- a model: zones tried one by one


def aligned(zones: list[int], containers: list[int]) -> bool:
    """Return whether containers can take their CPUs, each from the first zone that has enough."""
    left = list(zones)
    for cpu in containers:
        fitting = [zone for zone, free in enumerate(left) if free >= cpu]
        if not fitting:
            return False
        left[fitting[0]] -= cpu
    return True


@settings(max_examples=50, deadline=None)
@given(
    nodes=st.lists(st.lists(st.integers(0, 6), min_size=1, max_size=4), min_size=1, max_size=5),
    containers=st.lists(st.integers(1, 6), min_size=1, max_size=3),
)
def test_nodes_pass_as_zones_tried_one_by_one(nodes: list[list[int]], containers: list[int]) -> None:
    engine = an_engine()
    for number, zones in enumerate(nodes):
        engine.cluster.add(a_big_node(f"n{number}"))
        engine.cluster.add(a_topology(f"n{number}", *({"cpu": cpu, "memory": "99Gi"} for cpu in zones)))
    pod = a_guaranteed_pod(containers=[a_guaranteed_container(cpu) for cpu in containers])
    evaluation = engine.evaluation_of(engine.cluster.reader.read(pod))
    assert evaluation.feasible().mask.tolist() == [aligned(zones, containers) for zones in nodes]


# -- the contract, arguments, the example


def test_the_contract() -> None:
    zones = [{"cpu": cpu, "memory": "4Gi"} for cpu in (1, 3)]
    nodes = [a_big_node(f"n{number}") for number in range(3)]
    topologies = [
        a_topology(f"n{number}", *zones, scope=scope, written=written)
        for number, scope, written in product(range(3), ("pod", "container"), (None, "2026-01-01T00:00:10Z"))
    ]
    pods = [a_guaranteed_pod("small", cpu=1), a_guaranteed_pod("large", cpu=3), a_pod("burstable", cpu="1")]
    for strategy in ("LeastAllocated", "BalancedAllocation", "LeastNUMANodes"):
        args = {"scoringStrategy": {"type": strategy}}
        report = check_plugin(
            NodeResourceTopologyMatch, args=args, nodes=nodes, pods=pods, objects=topologies, examples=15, speed=False
        )
        assert report, str(report)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("{scoringStrategy: {type: Best}}", "args.scoringStrategy.type: invalid enum value 'Best'"),
        ("{scoringStrategy: {resources: [{name: cpu, weight: -1}]}}", "the weight of cpu must be between 0 and"),
        ("{cacheResyncPeriodSeconds: -1}", "cacheResyncPeriodSeconds: must not be negative, got -1"),
        ("{cache: {resyncMethod: Some}}", "args.cache.resyncMethod: invalid enum value 'Some'"),
        ("{discard: true}", "discard"),
    ],
)
def test_arguments_that_are_wrong_are_told_at_start(args: str, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        an_engine(args=args)


def test_pods_with_requests_below_their_limits_are_not_guaranteed() -> None:
    loose = a_container(requests={"cpu": 1}, limits={"cpu": 6, "memory": "1Gi"})
    engine = an_engine(a_big_node(), a_topology("n1", {"cpu": 2, "memory": "8Gi"}))
    assert answer(engine, a_pod("pod", containers=[loose])) == "n1"


def test_the_example_keeps_pods_off_zones_that_fit_in_sum_only() -> None:
    found = run_example("node-resource-topology-match")
    assert found == {"narrow": "halves", "wide": "whole", "wider": ""}
