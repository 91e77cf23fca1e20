"""InterPodAffinity's columns, caught up or new, and its worlds say what a plain count over all pods says."""

from collections.abc import Iterable, Mapping
from typing import Any
from unittest.mock import patch

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from kubesched.api.nodes import Namespace
from kubesched.config.args import InterPodAffinityArgs
from kubesched.config.build import EnabledPlugin
from kubesched.core.cluster.affinity_terms import AffinityTerm
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.evaluation.evaluator import Evaluator
from kubesched.core.framework.building.profile import Profile, compile_profile
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.values.status import Status
from kubesched.core.plugins.inter_pod_affinity import InterPodAffinity, filtering, scoring
from kubesched.testing import a_namespace, a_node, a_pod, a_term, an_affinity

NAME = "InterPodAffinity"
ARGS = InterPodAffinityArgs(hard_pod_affinity_weight=3)
Placement = Mapping[str, Iterable[PodInfo]]

# -- the plain count


class Plain:
    """The rules of the plugin, looking at every pod on every node."""

    def __init__(self, cluster: ClusterState, pod: PodInfo, placement: Placement) -> None:
        self.cluster = cluster
        self.pod = pod
        self.labels = {node.name: node.metadata.labels for node in cluster.table.nodes if node is not None}
        self.placed = [(other, self.labels[name]) for name in self.labels for other in placement.get(name, ())]

    def means(self, term: AffinityTerm, other: PodInfo) -> bool:
        """Return whether a term of the incoming pod means another pod."""
        spaces = {space.name for space in self.cluster.objects.of(Namespace)}
        selected = {name for name in spaces if term.namespace_selector.matches(self.space_labels(name))}
        covered = other.namespace in term.namespaces | selected or term.namespace_selector.matches({})
        return covered and term.selector.matches(other.labels)

    def meant_by(self, term: AffinityTerm) -> bool:
        """Return whether a term of another pod means the incoming pod."""
        return term.matches(self.pod.namespace, self.pod.labels, self.space_labels(self.pod.namespace))

    def space_labels(self, name: str) -> dict[str, str]:
        return self.cluster.namespace_labels(name)

    def existing(self) -> set[tuple[str, str]]:
        return {
            (term.topology_key, labels[term.topology_key])
            for other, labels in self.placed
            for term in other.affinity.required_anti_affinity
            if term.topology_key in labels and self.meant_by(term)
        }

    def skipped(self) -> bool:
        terms = self.pod.affinity
        return not (terms.required_affinity or terms.required_anti_affinity or self.existing())

    def objection(self, node: str) -> str:
        own, labels = self.pod.affinity, self.labels[node]
        near = own.required_affinity
        wanted = {
            (term.topology_key, there[term.topology_key])
            for other, there in self.placed
            if all(self.means(each, other) for each in near)
            for term in near
            if term.topology_key in there
        }
        first = not wanted and all(self.means(term, self.pod) for term in near)
        for term in near:
            if term.topology_key not in labels:
                return filtering.AFFINITY.message
        if not first and any((term.topology_key, labels[term.topology_key]) not in wanted for term in near):
            return filtering.AFFINITY.message
        for term in own.required_anti_affinity:
            value = labels.get(term.topology_key)
            if any(
                self.means(term, p) and value == there.get(term.topology_key) is not None for p, there in self.placed
            ):
                return filtering.ANTI_AFFINITY.message
        return filtering.EXISTING_ANTI_AFFINITY.message if self.existing() & labels.items() else ""

    def weights(self) -> list[tuple[str, str, int]]:
        own = self.pod.affinity
        found = []
        for other, labels in self.placed:
            theirs = other.affinity
            for term, weight in (
                *((w.term, w.weight) for w in own.preferred_affinity if self.means(w.term, other)),
                *((w.term, -w.weight) for w in own.preferred_anti_affinity if self.means(w.term, other)),
                *((term, ARGS.hard_pod_affinity_weight) for term in theirs.required_affinity if self.meant_by(term)),
                *((w.term, w.weight) for w in theirs.preferred_affinity if self.meant_by(w.term)),
                *((w.term, -w.weight) for w in theirs.preferred_anti_affinity if self.meant_by(w.term)),
            ):
                if term.topology_key in labels:
                    found.append((term.topology_key, labels[term.topology_key], weight))
        return found

    def raw(self, node: str) -> int:
        labels = self.labels[node]
        return sum(weight for key, value, weight in self.weights() if labels.get(key) == value)


def normalized(raw: Mapping[str, int]) -> dict[str, int]:
    low, high = min(raw.values()), max(raw.values())
    return {node: int(100.0 * ((score - low) / (high - low))) if high > low else 0 for node, score in raw.items()}


# -- scripts of changes

TEMPLATES: list[dict[str, Any]] = [
    {"labels": {"app": "web"}},
    {"labels": {"app": "db", "tier": "back"}},
    {"labels": {"app": "web"}, "affinity": an_affinity(near="app=web@zone")},
    {"labels": {"app": "web", "tier": "front"}, "affinity": an_affinity(near=["app=web@zone", "tier=front@hostname"])},
    {"labels": {"app": "db"}, "affinity": an_affinity(apart="app=db@hostname")},
    {"labels": {"app": "db"}, "affinity": an_affinity(apart=["app=web@zone", "tier@zone"], near="app=db@rack")},
    {"affinity": an_affinity(apart=a_term("app=web", "zone", namespace_selector="team=core"))},
    {"namespace": "other", "affinity": an_affinity(apart=a_term("app", "hostname", namespace_selector={}))},
    {
        "namespace": "other",
        "labels": {"app": "web"},
        "affinity": an_affinity(near=a_term("app=web", "zone", namespaces=["default"], namespace_selector="team")),
    },
    {"affinity": an_affinity(apart=a_term("app", "rack", namespace_selector="team notin (core)"))},
    {"labels": {"app": "web"}, "affinity": an_affinity(prefer_apart=(10, "app=web@hostname"))},
    {
        "labels": {"tier": "back"},
        "affinity": an_affinity(prefer_near=[(5, "app=db@zone"), (2, "app=web@rack")], prefer_apart=(3, "tier@zone")),
    },
]
LABELS = [{}, {"rack": "1"}, {"rack": "2"}]
ZONES = ["", "a", "b"]

node = st.integers(0, 4)
template = st.integers(0, len(TEMPLATES) - 1)
CHANGES = st.one_of(
    st.tuples(st.just("node"), node, st.sampled_from(ZONES), st.sampled_from(LABELS)),
    st.tuples(st.just("no node"), node),
    st.tuples(st.just("pod"), st.integers(0, 7), template, node),
    st.tuples(st.just("pod"), st.integers(0, 7), template, node),
    st.tuples(st.just("no pod"), st.integers(0, 7)),
    st.tuples(st.just("namespace"), st.sampled_from(["default", "other"]), st.sampled_from(["", "core", "edge"])),
)
SCRIPTS = st.lists(CHANGES, min_size=3, max_size=20)


def apply(cluster: ClusterState, change: tuple[Any, ...]) -> None:
    """Carry out one change of a script."""
    match change:
        case "node", number, zone, labels:
            cluster.add(a_node(f"n{number}", zone=zone, labels=labels))
        case "no node", number:
            cluster.remove(a_node(f"n{number}"))
        case "pod", number, kind, where:
            cluster.remove_pod(f"pod-{number}")
            cluster.add(a_pod(f"b{number}", uid=f"pod-{number}", node=f"n{where}", **TEMPLATES[kind]))
        case "no pod", number:
            cluster.remove_pod(f"pod-{number}")
        case "namespace", name, team:
            cluster.add(a_namespace(name, labels={"team": team} if team else {}))


def cluster_with_nodes() -> ClusterState:
    cluster = ClusterState()
    for number in range(4):
        apply(cluster, ("node", number, ZONES[number % 3], LABELS[number % 2]))
    return cluster


def profile(cluster: ClusterState) -> Profile:
    registry = Registry()
    registry.register(InterPodAffinity, in_tree=True)
    points = ("preFilter", "filter", "preScore", "score")
    enabled = {point: [EnabledPlugin(NAME)] for point in points}
    return compile_profile("test", enabled, {NAME: ARGS}, registry, {"cluster": cluster})


def placement_of(cluster: ClusterState) -> dict[str, list[PodInfo]]:
    table = cluster.table
    return {name: list(table.pods_on[row].values()) for name, row in table.row_of.items()}


# -- what must hold


@settings(deadline=None, max_examples=120)
@given(SCRIPTS, st.sampled_from([1, 25]))
def test_columns_that_were_caught_up_say_what_a_plain_count_says(script: list[tuple[Any, ...]], few: int) -> None:
    cluster = cluster_with_nodes()
    evaluator = Evaluator(profile(cluster), cluster)
    incoming = [cluster.reader.read(a_pod("p", **kind)) for kind in TEMPLATES]
    with patch.object(filtering, "FEW_ROWS", few), patch.object(scoring, "FEW_ROWS", few):
        for turn, change in enumerate(script):
            apply(cluster, change)
            for pod in incoming[turn % 2 :: 2]:
                compare(evaluator, cluster, pod)


def compare(evaluator: Evaluator, cluster: ClusterState, pod: PodInfo) -> None:
    """Ask the evaluator and count plainly."""
    plain = Plain(cluster, pod, placement_of(cluster))
    evaluation = evaluator.evaluation_of(pod)
    (question,) = evaluation.pod_class.filters
    assert question.skip == plain.skipped()
    table = cluster.table
    if not question.skip:
        objections = {
            name: evaluation.statuses[int(evaluation.column(question)[table.row_of[name]])].message
            for name in plain.labels
        }
        assert objections == {name: plain.objection(name) for name in plain.labels}
    feasible = evaluation.feasible()
    names = [name for name in plain.labels if feasible.mask[table.row_of[name]]]
    if names:
        evaluation.score()
        active = [(score, weight) for score, weight in evaluation.pod_class.scores if not score.skip]
        assert bool(active) == bool(plain.weights())
        for score, _ in active:
            raw = {name: int(score.raw[table.row_of[name]]) for name in names}
            assert raw == {name: plain.raw(name) for name in names}
            final = score.scores(feasible)
            assert not isinstance(final, Status)
            column = np.full(table.size, final) if isinstance(final, int) else final
            assert {name: int(column[table.row_of[name]]) for name in names} == normalized(raw)


@settings(deadline=None, max_examples=120)
@given(SCRIPTS, template, st.lists(st.tuples(template, node), max_size=3), st.data())
def test_worlds_say_what_a_plain_count_says(
    script: list[tuple[Any, ...]], kind: int, nominated: list[tuple[int, int]], data: st.DataObject
) -> None:
    cluster = cluster_with_nodes()
    for change in script:
        apply(cluster, change)
    for number, (of, where) in enumerate(nominated):
        cluster.add(a_pod(f"w{number}", nominated=f"n{where}", **TEMPLATES[of]))
    pod = cluster.reader.read(a_pod("p", **TEMPLATES[kind]))
    evaluation = Evaluator(profile(cluster), cluster).evaluation_of(pod)
    statuses, (question,) = evaluation.statuses, evaluation.pod_class.filters
    table = cluster.table
    rows = table.present_rows()
    if question.skip or not len(rows):
        return
    worlds, placements = question.worlds(rows), []
    for world, row in enumerate(rows.tolist()):
        pods = dict(table.pods_on[row])
        for other in list(pods.values()):
            if data.draw(st.booleans()):
                worlds.change(np.array([world]), np.array([other.slot]), -1)
                del pods[other.uid]
        for other in cluster.nominations.on(table.names[row]):
            worlds.change(np.array([world]), np.array([other.slot]), 1)
            pods[other.uid] = other
        placements.append({**placement_of(cluster), table.names[row]: list(pods.values())})
    # copies are independent of what happens to the originals
    order = np.array(data.draw(st.permutations(range(len(rows)))), np.intp)
    copies = worlds.select(order)
    verdict = question.indices(worlds.verdict())
    for world, row in enumerate(rows.tolist()):
        expected = Plain(cluster, pod, placements[world]).objection(table.names[row])
        assert statuses[int(verdict[world])].message == expected
    for other in cluster.table.pods.values():
        worlds.change(np.array([0]), np.array([other.slot]), 1)
    assert question.indices(copies.verdict()).tolist() == verdict[order].tolist()
