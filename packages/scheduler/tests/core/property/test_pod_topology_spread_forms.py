"""Spreading against a model that looks at nodes and pods one by one, as the reference does.

Whatever happens to nodes and pods: columns that caught up, columns made from scratch and the model agree, and so do
worlds in which pods come and go.
"""

import math
import random
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched.api.node_selectors import required_node_affinity
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.api.tolerations import first_untolerated, forbids_scheduling
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.columns.questions import Feasible
from kubesched.core.framework.values.status import Status, StatusTable
from kubesched.core.plugins.pod_topology_spread import PodTopologySpread
from kubesched.core.plugins.pod_topology_spread.constraints import SpreadConstraint, SpreadKey
from kubesched.testing import a_cluster, a_node, a_pod, a_replica_set, a_service, a_spread

NODE_NAMES = [f"n{i}" for i in range(6)]
POD_NAMES = [f"p{i}" for i in range(10)]
HOSTNAME, ZONE = "kubernetes.io/hostname", "topology.kubernetes.io/zone"
NO_MINIMUM = 2**31 - 1
SETTINGS = settings(max_examples=60, deadline=None)


# -- the model: one node and one pod at a time


class Model:
    """PreFilter's state: pods per domain and constraint, and the two critical paths of each constraint."""

    def __init__(self, key: SpreadKey, pod: PodInfo, cluster: ClusterState, order: random.Random) -> None:
        self.key, self.pod, self.cluster = key, pod, cluster
        self.totals: list[dict[str, int]] = [{} for _ in key.constraints]
        self.paths: list[list[tuple[str, int]]] = []
        for node in nodes_of(cluster):
            for index, constraint in enumerate(key.constraints):
                if self.includes(node, constraint):
                    domain = node.metadata.labels[constraint.topology_key]
                    count = pods_on(cluster, node.name, constraint, pod.namespace)
                    self.totals[index][domain] = self.totals[index].get(domain, 0) + count
        for totals in self.totals:
            self.paths.append([("", NO_MINIMUM), ("", NO_MINIMUM)])
            for domain in order.sample(sorted(totals), len(totals)):
                self.update_paths(len(self.paths) - 1, domain, totals[domain])

    def includes(self, node: Node, constraint: SpreadConstraint) -> bool:
        if self.key.require_all and not all(c.topology_key in node.metadata.labels for c in self.key.constraints):
            return False
        return allowed(self.pod, node, constraint)

    def update_paths(self, index: int, domain: str, total: int) -> None:
        first, second = self.paths[index]
        if domain == first[0]:
            first = (domain, total)
        elif domain == second[0]:
            second = (domain, total)
        elif total < first[1]:
            first, second = (domain, total), first
        elif total < second[1]:
            second = (domain, total)
        self.paths[index] = [first, second] if first[1] <= second[1] else [second, first]

    def change(self, other: PodInfo, node: Node, sign: int) -> None:
        if other.namespace != self.pod.namespace:
            return
        for index, constraint in enumerate(self.key.constraints):
            if constraint.selector.matches(other.labels) and self.includes(node, constraint):
                domain = node.metadata.labels[constraint.topology_key]
                self.totals[index][domain] = self.totals[index].get(domain, 0) + sign
                self.update_paths(index, domain, self.totals[index][domain])

    def verdict(self, node: Node) -> str:
        for index, constraint in enumerate(self.key.constraints):
            domain = node.metadata.labels.get(constraint.topology_key)
            if domain is None:
                return "label"
            few = len(self.totals[index]) < constraint.min_domains
            minimum = 0 if few else self.paths[index][0][1]
            total = self.totals[index].get(domain, 0) + constraint.selector.matches(self.pod.labels)
            if total - minimum > constraint.max_skew:
                return "uneven"
        return ""


def model_scores(
    key: SpreadKey, pod: PodInfo, cluster: ClusterState, feasible: list[str]
) -> tuple[list[int], list[int]]:
    """Return raw and final scores of the feasible nodes."""
    state = Model(SpreadKey(), pod, cluster, random.Random(0))
    state.key = key
    by_name = {node.name: node for node in nodes_of(cluster)}
    chosen = [by_name[name] for name in feasible]
    keys = [constraint.topology_key for constraint in key.constraints]
    ignored = {node.name for node in chosen if key.require_all and not all(k in node.metadata.labels for k in keys)}
    domains: list[dict[str, int]] = []
    weights = []
    for constraint in key.constraints:
        labels = [n.metadata.labels.get(constraint.topology_key, "") for n in chosen if n.name not in ignored]
        totals = {} if constraint.topology_key == HOSTNAME else dict.fromkeys(labels, 0)
        size = len(labels) if constraint.topology_key == HOSTNAME else len(totals)
        domains.append(totals)
        weights.append(math.log(size + 2))
        for node in by_name.values():
            domain = node.metadata.labels.get(constraint.topology_key, "")
            if domain in totals and state.includes(node, constraint):
                totals[domain] += pods_on(cluster, node.name, constraint, pod.namespace)
    raw = []
    for node in chosen:
        score = 0.0
        for constraint, totals, weight in zip(key.constraints, domains, weights, strict=True):
            found = node.metadata.labels.get(constraint.topology_key)
            if node.name not in ignored and found is not None:
                on_node = constraint.topology_key == HOSTNAME
                count = pods_on(cluster, node.name, constraint, pod.namespace) if on_node else totals[found]
                score += float(count) * weight + float(constraint.max_skew - 1)
        raw.append(math.floor(score + 0.5))
    counted = [score for node, score in zip(chosen, raw, strict=True) if node.name not in ignored]
    highest, lowest = max(counted, default=0), min(counted, default=0)
    final = [100 if highest == 0 else 100 * (highest + lowest - score) // highest for score in raw]
    return raw, [0 if node.name in ignored else score for node, score in zip(chosen, final, strict=True)]


def nodes_of(cluster: ClusterState) -> list[Node]:
    return [node for node in cluster.table.nodes if node is not None]


def allowed(pod: PodInfo, node: Node, constraint: SpreadConstraint) -> bool:
    labels = node.metadata.labels
    if constraint.honor_affinity and not required_node_affinity(pod.spec).matches(labels, node.name):
        return False
    untolerated = first_untolerated(node.spec.taints, pod.spec.tolerations, forbids_scheduling)
    return not constraint.honor_taints or untolerated is None


def pods_on(cluster: ClusterState, node_name: str, constraint: SpreadConstraint, namespace: str) -> int:
    pods: Iterable[PodInfo] = cluster.table.pods_on[cluster.table.row_of[node_name]].values()
    alive = [pod for pod in pods if not pod.terminating and pod.namespace == namespace]
    return 0 if constraint.selector.empty else sum(constraint.selector.matches(pod.labels) for pod in alive)


# -- what happens

zones = st.sampled_from(["", "a", "b", "c"])
labels: st.SearchStrategy[Mapping[str, str]] = st.fixed_dictionaries(
    {}, optional={"rack": st.sampled_from(["", "1", "2"]), "disk": st.just("ssd")}
)
nodes = st.builds(
    a_node,
    st.sampled_from(NODE_NAMES),
    zone=zones,
    hostname=st.sampled_from([True, True, True, False]),
    labels=labels,
    taints=st.sampled_from([(), (), ("t:NoSchedule",), ("t:PreferNoSchedule",)]),
)
WEB, OLD_WEB = {"app": "web"}, {"app": "web", "v": "1"}
placed = st.builds(
    a_pod,
    st.sampled_from(POD_NAMES),
    namespace=st.sampled_from(["default", "default", "default", "other"]),
    node=st.sampled_from([*NODE_NAMES, *NODE_NAMES, "nowhere"]),
    labels=st.sampled_from([WEB, WEB, OLD_WEB, {"app": "db"}, {}]),
    terminating=st.sampled_from([False, False, False, True]),
)
owners = st.sampled_from([a_service("web", WEB), a_replica_set("web", WEB)])
# Mostly pods: after a change of nodes everything is counted again.
coming_and_going = st.tuples(placed, st.sampled_from([True, True, True, False]))
events = st.lists(st.one_of(*[coming_and_going] * 8, st.tuples(nodes | owners, st.booleans())), min_size=5, max_size=25)


def asking(*, soft: bool) -> st.SearchStrategy[Pod]:
    constraints = st.builds(
        a_spread,
        st.sampled_from(["zone", "hostname", "rack"]),
        st.sampled_from(["app=web", "app=web", "app=web", "app!=db", "", None]),
        max_skew=st.sampled_from([1, 1, 2, 3]),
        soft=st.sampled_from([soft, soft, soft, not soft]),
        min_domains=st.sampled_from([None, None, 1, 3]),
        affinity_policy=st.sampled_from([None, "Honor", "Ignore"]),
        taints_policy=st.sampled_from([None, "Honor", "Ignore"]),
        match_label_keys=st.sampled_from([(), (), ("v",)]),
    )
    return st.builds(
        a_pod,
        st.just("asking"),
        labels=st.sampled_from([WEB, OLD_WEB, {}]),
        spread=st.lists(constraints, min_size=0 if soft else 1, max_size=3),
        owner=st.sampled_from([None, "ReplicaSet/web"]),
        node_selector=st.sampled_from([None, None, None, {"disk": "ssd"}]),
        tolerations=st.sampled_from([(), ("t",)]),
    )


SSD = {"rack": "1", "disk": "ssd"}
START = [
    *(a_node(name, zone=zone, labels=SSD) for name, zone in (("n0", "a"), ("n1", "b"), ("n2", "b"))),
    a_node("n3", zone="c", taints=["t:NoSchedule"], labels={"rack": ""}),
    a_node("n4", zone="b"),
    a_node("n5", labels={"rack": "2"}),
]
# With few domains the minimum moves all the time.
STARTS = st.sampled_from([START, START[:2], START[1:3]])


def apply(cluster: ClusterState, event: tuple[Any, bool]) -> None:
    obj, comes = event
    (cluster.add if comes else cluster.remove)(obj)


def feasible_rows(cluster: ClusterState, seed: int) -> np.ndarray[Any, Any]:
    choice = random.Random(seed)
    mask = cluster.table.present[: cluster.table.size].copy()
    if seed:
        mask &= np.array([choice.random() < 0.7 for _ in mask], np.bool_)
    return mask


@SETTINGS
@given(STARTS, events, asking(soft=False))
def test_the_verdict_column(start: list[Node], script: list[tuple[Any, bool]], pod: Pod) -> None:
    cluster = a_cluster(*start)
    plugin, info = PodTopologySpread(None, cluster, FeatureGates()), cluster.reader.read(pod)
    statuses = StatusTable()
    kept = plugin.filter_question(info, statuses)
    for turn, event in enumerate([None, *script]):
        if event is not None:
            apply(cluster, event)
        if kept.skip or (turn % 4 == 3 and turn < len(script)):
            continue
        rows = cluster.table.present_rows()
        fresh = plugin.filter_question(info, statuses)
        caught_up = kept.judge(rows)
        assert caught_up.tolist() == fresh.judge(rows).tolist()
        assert not (kept.passes_everywhere and caught_up.any())
        model = Model(plugin.key(info), info, cluster, random.Random(0))
        found = ["label" if "label" in statuses[i].message else "uneven" if i else "" for i in caught_up]
        assert found == [model.verdict(cluster.table.nodes[row]) for row in rows]


@SETTINGS
@given(STARTS, events, asking(soft=True))
def test_the_score_column(start: list[Node], script: list[tuple[Any, bool]], pod: Pod) -> None:
    cluster = a_cluster(*start, a_service("web", WEB))
    plugin, info = PodTopologySpread(None, cluster, FeatureGates()), cluster.reader.read(pod)
    questions: dict[SpreadKey, Any] = {}
    for turn, event in enumerate([None, *script]):
        if event is not None:
            apply(cluster, event)
        key = plugin.score_key(info)
        kept = questions.setdefault(key, plugin.score_question(info))
        # not always another set of feasible rows
        feasible = Feasible(feasible_rows(cluster, turn // 3), object())
        if kept.skip or not feasible.count:
            continue
        rows = np.flatnonzero(feasible.mask)
        names = [cluster.table.names[row] for row in rows]
        expected = model_scores(key, info, cluster, names)
        for question in (kept, plugin.score_question(info)):
            question.prepare(feasible)
            final = question.scores(feasible)
            assert not isinstance(final, Status)
            column = np.full(cluster.table.size, final) if isinstance(final, int) else final
            assert (question.raw[rows].tolist(), column[rows].tolist()) == expected


@SETTINGS
@given(
    st.lists(nodes, max_size=4),
    st.lists(placed, min_size=3, max_size=12),
    asking(soft=False),
    st.randoms(use_true_random=False),
)
def test_worlds(first: list[Node], pods: list[Pod], pod: Pod, order: random.Random) -> None:
    cluster = a_cluster(*START, *first, *pods)
    plugin, info = PodTopologySpread(None, cluster, FeatureGates()), cluster.reader.read(pod)
    question = plugin.filter_question(info, StatusTable())
    table = cluster.table
    if question.skip:
        return
    rows = table.present_rows()
    worlds = question.worlds(rows)
    models = [Model(question.key, info, cluster, order) for _ in rows]
    for _ in range(8):
        turn, sign = order.sample(range(len(rows)), order.randint(1, len(rows))), order.choice((1, -1))
        others = [order.choice(list(table.pods.values())) for _ in turn]
        worlds.change(np.array(turn), np.array([other.slot for other in others]), sign)
        for world, other in zip(turn, others, strict=True):
            node = table.nodes[rows[world]]
            assert node is not None
            models[world].change(other, node, sign)
        verdict = worlds.verdict()
        found = [verdict.statuses[which] for which in verdict.which]
        texts = ["" if status is None else "label" if "label" in status.message else "uneven" for status in found]
        assert texts == [models[i].verdict(table.nodes[row]) for i, row in enumerate(rows)]
