"""NetworkOverhead and TopologicalSort: costs between zones and regions, the order of workloads, bad input."""

import logging
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packages.contrib.tests.examples import run_example

from kubesched import PluginError, Registry, build_engine, decide
from kubesched.testing import SchedulerFactory, a_custom_object, a_node, a_pod, check_plugin
from kubesched_contrib.network_aware import NetworkOverhead, TopologicalSort, app_group, network_topology
from kubesched_contrib.network_aware.app_group import LABEL, WORKLOAD_LABEL, WorkloadDependency, topology_order
from kubesched_contrib.network_aware.network_topology import MAX_COST, REGION_KEY, SAME_ZONE, ZONE_KEY

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {multiPoint: {enabled: [{name: NetworkOverhead, weight: 1000}]}}
  pluginConfig: [{name: NetworkOverhead, args: ARGS}]
"""
SORTED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {queueSort: {enabled: [{name: TopologicalSort}], disabled: [{name: "*"}]}}
"""
COSTS = {(ZONE_KEY, "a", "b"): 5, (ZONE_KEY, "b", "a"): 5, (REGION_KEY, "east", "west"): 20}


def an_app_group(needed: dict[str, dict[str, int]], algorithm: str = "KahnSort", **fields: Any) -> Any:
    def dependencies(of: dict[str, int]) -> list[Any]:
        return [{"workload": {"selector": name}, "maxNetworkCost": cost} for name, cost in of.items()]

    workloads = [{"workload": {"selector": name}, "dependencies": dependencies(of)} for name, of in needed.items()]
    spec = {"topologySortingAlgorithm": algorithm, "workloads": workloads}
    return a_custom_object(app_group.KIND, "shop", namespace="default", **{"spec": spec, **fields})


def a_network(costs: dict[tuple[str, str, str], int] | None = None, name: str = "UserDefined", **fields: Any) -> Any:
    topologies: dict[str, dict[str, dict[str, int]]] = {}
    for (key, origin, destination), cost in (COSTS if costs is None else costs).items():
        topologies.setdefault(key, {}).setdefault(origin, {})[destination] = cost
    written = [
        {
            "topologyKey": key,
            "originList": [
                {
                    "origin": origin,
                    "costList": [{"destination": place, "networkCost": cost} for place, cost in others.items()],
                }
                for origin, others in origins.items()
            ],
        }
        for key, origins in topologies.items()
    ]
    spec = {"weights": [{"name": name, "topologyList": written}]}
    return a_custom_object(network_topology.KIND, "nt-default", namespace="default", **{"spec": spec, **fields})


def a_place(name: str, region: str = "", zone: str = "", **options: Any) -> Any:
    labels = {key: value for key, value in ((REGION_KEY, region), (ZONE_KEY, zone)) if value}
    return a_node(name, labels=labels, **options)


def a_member(name: str, workload: str = "", **options: Any) -> Any:
    return a_pod(name, labels={LABEL: "shop", WORKLOAD_LABEL: workload or name}, **options)


def an_engine(*objects: Any, args: str = "{}") -> Any:
    registry = Registry()
    registry.register(NetworkOverhead)
    engine = build_engine(CONFIG.replace("ARGS", args), registry=registry)
    for obj in objects:
        engine.cluster.add(obj)
    return engine


NAMES: dict[str, tuple[str, ...]] = {
    "near": ("west", "a"),
    "beside": ("west", "a"),
    "next": ("west", "b"),
    "far": ("east", "c"),
    "nowhere": (),
}
PLACES = [a_place(name, *location) for name, location in NAMES.items()]
SHOP = {"web": {"db": 10}, "db": {}}


def feasible(engine: Any, pod: Any) -> set[str]:
    evaluation = engine.evaluation_of(engine.cluster.reader.read(pod))
    return {engine.cluster.table.names[row] for row in np.flatnonzero(evaluation.feasible().mask)}


def chosen(engine: Any, pod: Any) -> str:
    decision = decide(engine.evaluation_of(engine.cluster.reader.read(pod)), pick=lambda nodes: 0)
    return decision.node_name or str(decision.message)


ALL = {place.name for place in PLACES}


@pytest.mark.parametrize(
    ("group", "network", "placed", "left"),
    [
        (an_app_group(SHOP), a_network(), ["near"], ALL - {"far"}),
        (an_app_group({"web": {"db": 4}}), a_network(), ["near"], ALL - {"far", "next"}),
        (an_app_group({"web": {"db": 20}}), a_network(), ["near"], ALL),
        (an_app_group(SHOP), a_network(), ["nowhere"], {"nowhere"}),
        (an_app_group(SHOP), a_network(), ["near", "far"], ALL),
        (an_app_group(SHOP), a_network({}), ["near"], ALL),
        (an_app_group(SHOP), a_network(name="Other"), ["near"], ALL),
        (an_app_group(SHOP), a_network(), [], ALL),
        (an_app_group({"web": {}}), a_network(), ["near"], ALL),
        (an_app_group({}), a_network(), ["near"], ALL),
        (None, a_network(), ["near"], ALL),
        (an_app_group(SHOP), None, ["near"], ALL),
    ],
    ids=[
        "the other region is too far",
        "the other zone, too",
        "nothing is too far",
        "a node without region and zone is far from all others",
        "as many satisfied as violated",
        "costs that nobody wrote down violate nothing",
        "the weights of another name",
        "no pod of a dependency is placed",
        "no dependencies",
        "a workload that the group does not name",
        "no AppGroup",
        "no NetworkTopology",
    ],
)
def test_nodes_that_are_too_far_from_dependencies_are_left_out(
    group: Any, network: Any, placed: list[str], left: set[str]
) -> None:
    pods = [a_member(f"db-{node}", "db", node=node) for node in placed]
    engine = an_engine(*PLACES, *pods, *(obj for obj in (group, network) if obj is not None))
    assert feasible(engine, a_member("web")) == left
    assert feasible(engine, a_pod("other")) == ALL


@pytest.mark.parametrize(
    ("full", "node"),
    [((), "near"), (("near",), "beside"), (("near", "beside"), "next"), (("near", "beside", "next"), "nowhere")],
    ids=["on the same node", "in the same zone", "in the next zone", "anywhere that is not too far"],
)
def test_the_nearest_node_is_best(full: tuple[str, ...], node: str) -> None:
    cordoned = [a_place(name, *location, unschedulable=name in full) for name, location in NAMES.items()]
    engine = an_engine(*cordoned, an_app_group(SHOP), a_network(), a_member("db", node="near"))
    assert chosen(engine, a_member("web")) == node


def test_a_pod_that_is_too_far_from_all_says_so_and_is_tried_again(scheduler: SchedulerFactory) -> None:
    world = scheduler(NetworkOverhead, config=CONFIG.replace("ARGS", "{}"))
    world.put(a_place("far", "east", "c"), an_app_group(SHOP), a_network())
    world.put(a_place("near", "west", "a", unschedulable=True), a_member("db", node="near"), a_member("web"))
    world.run(5)
    why = "1 node(s) did not meet several network requirements from Workload dependencies"
    assert why in world.message_of("web")
    world.put(a_network({(REGION_KEY, "east", "west"): 3}))
    world.run(20)
    assert world.node_of("web") == "far"


# -- a model: pods one by one


def reach(node: str, hosts: dict[str, Any], pods: list[str], most: int) -> tuple[bool, int]:
    """Return whether a node passes, and its cost."""
    satisfied = violated = cost = 0
    region, zone = hosts[node]
    for host in pods:
        there = hosts[host]
        if host == node:
            satisfied += 1
            continue
        key = (ZONE_KEY, zone, there[1]) if region == there[0] else (REGION_KEY, region, there[0])
        price = SAME_ZONE if (region, zone) == there else COSTS.get(key)
        if there == ("", ""):
            violated, cost = violated + 1, cost + MAX_COST
        elif price is None:
            cost += MAX_COST
        else:
            good = price <= most or (region, zone) == there
            satisfied, violated, cost = satisfied + good, violated + (not good), cost + price
    return violated <= satisfied, cost


LOCATIONS = st.sampled_from([("", ""), ("west", "a"), ("west", "b"), ("east", "c"), ("", "a"), ("east", "")])


@settings(max_examples=60, deadline=None)
@given(
    places=st.lists(LOCATIONS, min_size=1, max_size=5),
    pods=st.lists(st.integers(0, 4), max_size=6),
    most=st.sampled_from([0, 5, 20]),
)
def test_nodes_are_judged_as_pods_counted_one_by_one(places: list[Any], pods: list[int], most: int) -> None:
    hosts = {f"n{number}": place for number, place in enumerate(places)}
    placed = [f"n{number % len(places)}" for number in pods]
    engine = an_engine(
        *(a_place(name, *place) for name, place in hosts.items()),
        *(a_member(f"db-{number}", "db", node=host) for number, host in enumerate(placed)),
        an_app_group({"web": {"db": most}}),
        a_network(),
    )
    expected = {name: reach(name, hosts, placed, most) for name in hosts}
    evaluation = engine.evaluation_of(engine.cluster.reader.read(a_member("web")))
    found = evaluation.feasible()
    assert {engine.cluster.table.names[row] for row in np.flatnonzero(found.mask)} == {
        name for name, (passes, _) in expected.items() if passes
    }
    if placed and found.count:
        costs = {name: cost for name, (passes, cost) in expected.items() if passes}
        best = chosen(engine, a_member("web"))
        lowest, highest = min(costs.values()), max(costs.values())
        assert (costs[best] - lowest) * 100 // max(highest - lowest, 1) == 0


# -- objects that are wrong


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (an_app_group({}, spec="spec"), "spec: expected an object, got 'spec'"),
        (an_app_group({}, spec={"workloads": 5}), "spec.workloads: expected a list, got 5"),
        (an_app_group({}, spec={"workloads": ["web"]}), "spec.workloads[0]: expected an object, got 'web'"),
        (
            an_app_group({"web": {"db": -1}}),
            "spec.workloads[0].dependencies[0].maxNetworkCost: expected",
        ),
        (an_app_group({"web": {"db": 2**40}}), "maxNetworkCost: expected a whole number from 0"),
        (an_app_group(SHOP, status={"topologyOrder": [{"index": "first"}]}), "status.topologyOrder[0].index"),
        (a_network(spec={"weights": {}, "other": 1}), ""),
        (a_network(spec={"weights": "none"}), "spec.weights: expected a list, got 'none'"),
        (a_network({(ZONE_KEY, "a", "b"): -5}), "costList[0].networkCost: expected a whole number"),
        (a_network({("rack", "a", "b"): 5}), ""),
    ],
)
def test_a_wrong_object_is_told_in_the_log_and_leaves_nodes_as_they_are(wrong: Any, said: str, caplog: Any) -> None:
    good = [an_app_group(SHOP), a_network()]
    with caplog.at_level(logging.WARNING):
        engine = an_engine(*PLACES, a_member("db", node="near"), *good, wrong)
        assert feasible(engine, a_member("web")) == ALL
        assert feasible(engine, a_member("web")) == ALL
    told = [str(getattr(record, "err", "")) for record in caplog.records]
    assert len(told) == bool(said), "once for each version of the object"
    assert said in " ".join(told)


# -- the order


def ordered(*names: str) -> dict[str, Any]:
    return {"topologyOrder": [{"workload": {"selector": name}, "index": place} for place, name in enumerate(names, 1)]}


def needs(**edges: str) -> dict[str, tuple[WorkloadDependency, ...]]:
    return {name: tuple(WorkloadDependency(other, 0) for other in others.split()) for name, others in edges.items()}


@pytest.mark.parametrize(
    ("algorithm", "edges", "order"),
    [
        ("KahnSort", needs(c="", a="b", b="c"), "a b c"),
        ("TarjanSort", needs(a="b c", b="d", c="d", d=""), "a b c d"),
        ("ReverseKahn", needs(a="b", b="c"), "c b a"),
        ("AlternateKahn", needs(a="b", b="c", c="d", d=""), "a d b c"),
        ("AlternateTarjan", needs(a="b", b="c"), "a c b"),
        ("KahnSort", needs(a="b", b="a", c="a"), "c a b"),
        ("KahnSort", needs(a="a"), "a"),
        ("KahnSort", {}, ""),
    ],
)
def test_workloads_come_before_those_that_they_depend_on(algorithm: str, edges: Any, order: str) -> None:
    assert " ".join(topology_order(edges, algorithm)) == order


@pytest.mark.parametrize(
    ("room", "status", "first"),
    [
        (3, {}, {"urgent", "unknown", "a"}),
        (4, {}, {"urgent", "unknown", "a", "b"}),
        (3, ordered("c", "a", "b", "unknown"), {"urgent", "c", "a"}),
        (2, ordered("a", "b", "c"), {"urgent", "unknown"}),
    ],
    ids=["by dependencies", "and so on", "by the status", "what the status does not name comes first"],
)
def test_pods_of_a_group_are_tried_in_its_order(
    scheduler: SchedulerFactory, room: int, status: dict[str, Any], first: set[str]
) -> None:
    world = scheduler(TopologicalSort, config=SORTED)
    group = an_app_group({"c": {}, "b": {"c": 1}, "a": {"b": 1}}, status=status)
    metadata = msgspec.structs.replace(group.metadata, creation_timestamp=world.date)
    world.put(a_place("n1", cpu=str(room)), msgspec.structs.replace(group, metadata=metadata))
    world.put(*(a_member(name, cpu="1") for name in ("c", "a", "unknown", "b")), a_pod("urgent", cpu="1", priority=5))
    world.run(10)
    assert set(world.bound) == first


# -- the contract, arguments, the examples


def test_the_contract() -> None:
    pods = [a_member("web"), a_member("db"), a_member("db2", "db"), a_pod("other")]
    objects = [an_app_group(SHOP), an_app_group({"web": {"db": 0}}), a_network(), a_network({})]
    for plugin in (NetworkOverhead, TopologicalSort):
        report = check_plugin(plugin, nodes=PLACES, pods=pods, objects=objects, examples=15, speed=False)
        assert report, str(report)


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("{namespaces: []}", "namespaces: the list is empty"),
        ("{weightsName: 5}", r"weightsName"),
        ("{topologyName: nt}", "topologyName"),
    ],
)
def test_arguments_that_are_wrong_are_told_at_start(args: str, message: str) -> None:
    with pytest.raises(PluginError, match=message):
        an_engine(args=args)


def test_objects_may_be_in_other_namespaces() -> None:
    group = an_app_group(SHOP)
    group = msgspec.structs.replace(group, metadata=msgspec.structs.replace(group.metadata, namespace="x"))
    engine = an_engine(*PLACES, group, a_network(), a_member("db", node="near"), args="{namespaces: [x, default]}")
    assert "far" not in feasible(engine, a_member("web"))
    assert "far" in feasible(an_engine(*PLACES, group, a_network(), a_member("db", node="near")), a_member("web"))


def test_the_example_places_the_web_server_in_the_next_zone() -> None:
    assert run_example("network-overhead") == {"db": "west-a", "web": "west-b"}


def test_the_example_places_the_pods_of_the_group() -> None:
    found = run_example("topological-sort")
    assert found == {"web": "node-1", "cache": "node-1", "reports": "node-1"}
