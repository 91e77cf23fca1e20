"""Whatever happens to nodes and pods: both forms of a plugin agree, and a column that caught up equals a fresh one.

For the plugins whose answers come from a node's own fields and ports, and for ImageLocality.
"""

from collections.abc import Callable
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.asking import raw_scores, rejections

from kubesched.api.nodes import Node
from kubesched.api.pods import Container, ContainerRestartRule, Pod
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import HostPort
from kubesched.core.framework.columns.questions import ScoreQuestion
from kubesched.core.framework.columns.row_questions import RowFilterQuestion, RowScoreQuestion
from kubesched.core.framework.plugin import FilterPlugin, QuestionScorePlugin, ScorePlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.status import StatusTable
from kubesched.core.plugins.image_locality import ImageLocality
from kubesched.core.plugins.node_affinity import NodeAffinity
from kubesched.core.plugins.node_declared_features import RESTART_ALL_CONTAINERS, NodeDeclaredFeatures
from kubesched.core.plugins.node_name import NodeName
from kubesched.core.plugins.node_ports import NodePorts
from kubesched.core.plugins.node_unschedulable import CORDON, NodeUnschedulable
from kubesched.core.plugins.taint_toleration import TaintToleration
from kubesched.testing import a_cluster, a_container, a_node, a_pod, an_affinity

GATES = FeatureGates({"TaintTolerationComparisonOperators": True})
NODE_NAMES = [f"n{i}" for i in range(5)]
PORTS = [80, 81, "80/UDP", "10.0.0.1:80", "10.0.0.2:80"]
TERMS = ["disk=ssd", "disk notin (ssd,nvme)", "!disk", "cores>4", "cores<4", "metadata.name=n1", "disk,cores"]
SETTINGS = settings(max_examples=40, deadline=None)


def some(*values: Any, most: int = 3) -> st.SearchStrategy[list[Any]]:
    return st.lists(st.sampled_from(values), max_size=most, unique=True)


nodes: st.SearchStrategy[Node] = st.builds(
    a_node,
    st.sampled_from(NODE_NAMES),
    labels=st.dictionaries(st.sampled_from(["disk", "cores"]), st.sampled_from(["ssd", "hdd", "2", "8", ""])),
    taints=some("a=1:NoSchedule", "a=7:NoExecute", "b:PreferNoSchedule", "c=3:PreferNoSchedule"),
    unschedulable=st.booleans(),
    images=st.dictionaries(st.sampled_from(["x:1", "y:1"]), st.sampled_from([10, 10**8, 3 * 10**9])),
    features=some("A", RESTART_ALL_CONTAINERS, "Z"),
)
users: st.SearchStrategy[Pod] = st.builds(
    a_pod,
    st.sampled_from([f"user{i}" for i in range(4)]),
    node=st.sampled_from([*NODE_NAMES, "nowhere"]),
    ports=some(*PORTS),
)
terms = some(*TERMS)
affinities = st.builds(
    an_affinity,
    nodes=st.none() | terms,
    prefer_nodes=st.lists(st.tuples(st.integers(-3, 9), st.sampled_from(TERMS)), max_size=3),
)


def one_container(image: str, ports: list[Any], restarts_all: bool) -> list[Container]:
    rules = (ContainerRestartRule(action="RestartAllContainers"),) if restarts_all else ()
    return [msgspec.structs.replace(a_container(image=image, ports=ports), restart_policy_rules=rules)]


containers = st.builds(one_container, st.sampled_from(["x:1", "y:1", "z"]), some(*PORTS), st.booleans())
pods: st.SearchStrategy[Pod] = st.builds(
    a_pod,
    st.just("asking"),
    node=st.sampled_from(["", "", "n1"]),
    containers=containers,
    node_selector=st.sampled_from([None, None, {}, {"disk": "ssd"}]),
    affinity=st.none() | affinities,
    tolerations=some("a", "a<5", "a=1:NoSchedule", "b:PreferNoSchedule", "c>1", CORDON.key),
)
# An event is an object that appears or changes, or with False one that goes.
events = st.lists(st.tuples(nodes | users, st.sampled_from([True, True, True, False])), max_size=12)


def happen(cluster: ClusterState, obj: Node | Pod, comes: bool) -> None:
    if comes:
        cluster.add(obj)
    else:
        cluster.remove(obj)


FILTERS: list[Callable[[ClusterState], FilterPlugin]] = [
    lambda cluster: NodeUnschedulable(),
    lambda cluster: NodeName(),
    lambda cluster: TaintToleration(GATES),
    lambda cluster: NodeAffinity(),
    lambda cluster: NodePorts(cluster),
    lambda cluster: NodeDeclaredFeatures(GATES),
]
SCORES: list[Callable[[ClusterState], ScorePlugin]] = [
    lambda cluster: TaintToleration(GATES),
    lambda cluster: NodeAffinity(),
    lambda cluster: ImageLocality(cluster),
]


def name_of(make: Callable[[ClusterState], Any]) -> str:
    return type(make(a_cluster())).__name__


@pytest.mark.parametrize("make", FILTERS, ids=name_of)
@SETTINGS
@given(pod=pods, script=events)
def test_filters(make: Callable[[ClusterState], FilterPlugin], pod: Pod, script: list[tuple[Node | Pod, bool]]) -> None:
    cluster = a_cluster(a_node("n0"), a_node("n1"))
    plugin, info, table, statuses = make(cluster), cluster.reader.read(pod), cluster.table, StatusTable()

    def asked() -> RowFilterQuestion:
        return RowFilterQuestion(plugin, info, table, statuses, CycleState(), pre_filter=False)

    kept = asked()
    for obj, comes in script:
        happen(cluster, obj, comes)
        fresh = asked()
        fresh.refresh()
        kept.refresh()
        rows = table.present_rows()
        assert kept.ids[rows].tolist() == fresh.ids[rows].tolist()
        # this one holds the one-node form against the columns
        rejected = rejections(plugin, cluster, pod)
        assert rejected.keys() == {table.names[row] for row in rows if fresh.ids[row]}


@pytest.mark.parametrize("make", SCORES, ids=name_of)
@SETTINGS
@given(pod=pods, script=events)
def test_scores(make: Callable[[ClusterState], ScorePlugin], pod: Pod, script: list[tuple[Node | Pod, bool]]) -> None:
    cluster = a_cluster(a_node("n0"), a_node("n1"))
    plugin, info, table = make(cluster), cluster.reader.read(pod), cluster.table
    kept: ScoreQuestion
    if isinstance(plugin, QuestionScorePlugin):
        kept = plugin.score_question(info)
    else:
        kept = RowScoreQuestion(plugin, info, table, CycleState(), pre_score=False)
    for obj, comes in script:
        happen(cluster, obj, comes)
        kept.refresh()
        found = {table.names[row]: int(kept.raw[row]) for row in table.present_rows()}
        assert found == raw_scores(plugin, cluster, pod)


@SETTINGS
@given(
    wanted=st.lists(st.sampled_from(PORTS), min_size=1, max_size=3, unique=True),
    placed=st.lists(users, max_size=6),
    changes=st.lists(st.tuples(st.integers(0, 4), st.integers(0, 5), st.sampled_from([1, -1])), max_size=10),
)
def test_worlds_of_node_ports_are_sets_of_ports(
    wanted: list[int | str], placed: list[Pod], changes: list[tuple[int, int, int]]
) -> None:
    cluster = a_cluster(*map(a_node, NODE_NAMES), *placed)
    table, pod = cluster.table, cluster.reader.read(a_pod("asking", ports=wanted))
    worlds = NodePorts(cluster).filter_worlds(pod, np.arange(len(NODE_NAMES)))
    used = [table.ports.used_on(row) for row in range(len(NODE_NAMES))]
    others = list(table.pods.values())
    for world, which, sign in changes:
        if which < len(others):
            worlds.change(np.array([world]), np.array([others[which].slot]), sign)
            ports = others[which].digest.host_ports
            used[world] = used[world] | set(ports) if sign > 0 else used[world] - set(ports)
    expected = [any(collide(a, b) for a in pod.digest.host_ports for b in ports) for ports in used]
    assert worlds.verdict().which.astype(bool).tolist() == expected


def collide(one: HostPort, other: HostPort) -> bool:
    same = (one.protocol, one.port) == (other.protocol, other.port)
    return same and (one.ip == other.ip or "0.0.0.0" in (one.ip, other.ip))
