"""InterPodAffinity, rule by rule: a sentence, a cluster, a pod, and what becomes of the nodes."""

from typing import Any

import numpy as np
import pytest

from kubesched.api.meta import ApiObject, LabelSelector, LabelSelectorRequirement
from kubesched.api.pods import Pod, PodAffinityTerm
from kubesched.config.args import InterPodAffinityArgs
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.framework.columns.questions import Feasible
from kubesched.core.framework.values.status import Status, StatusTable, unresolvable
from kubesched.core.plugins.inter_pod_affinity import InterPodAffinity
from kubesched.testing import a_cluster, a_namespace, a_node, a_pod, a_term, an_affinity

NODES = (a_node("a1", zone="a"), a_node("a2", zone="a"), a_node("b1", zone="b"), a_node("bare", hostname=False))
WEB, DB = {"app": "web"}, {"app": "db"}
MALFORMED = PodAffinityTerm(
    label_selector=LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="Bogus"),)),
    topology_key="zone",
)

REASONS = {
    "node(s) didn't match pod affinity rules": "near",
    "node(s) didn't match pod anti-affinity rules": "apart",
    "node(s) didn't satisfy existing pods anti-affinity rules": "existing",
}


def judged(cluster: ClusterState, pod: Pod, args: InterPodAffinityArgs | None = None) -> dict[str, str] | Status | str:
    """Return the rule that each rejected node breaks, PreFilter's rejection, or `skip`."""
    statuses = StatusTable()
    question = InterPodAffinity(args, cluster).filter_question(cluster.reader.read(pod), statuses)
    question.begin()
    if question.skip or question.rejection is not None:
        return "skip" if question.skip else question.rejection or ""
    ids = question.judge(cluster.table.present_rows())
    names = [cluster.table.names[row] for row in cluster.table.present_rows()]
    return {name: REASONS[statuses[index].message] for name, index in zip(names, ids.tolist(), strict=True) if index}


def scored(
    cluster: ClusterState, pod: Pod, args: InterPodAffinityArgs | None = None, feasible: str = ""
) -> tuple[dict[str, int], dict[str, int]] | Status | str:
    """Return raw and normalised scores of the feasible nodes (all, unless named), PreScore's error, or `skip`."""
    question = InterPodAffinity(args, cluster).score_question(cluster.reader.read(pod))
    table = cluster.table
    wanted = feasible.split() or [name for name in table.names if table.present[table.row_of[name]]]
    mask = np.zeros(table.size, np.bool_)
    mask[[table.row_of[name] for name in wanted]] = True
    rows = Feasible(mask, 0)
    question.prepare(rows)
    if question.skip or question.failure is not None:
        return "skip" if question.skip else question.failure or ""
    final = question.scores(rows)
    assert not isinstance(final, Status)
    column = np.full(table.size, final) if isinstance(final, int) else final
    raw = {name: int(question.raw[table.row_of[name]]) for name in wanted}
    return raw, {name: int(column[table.row_of[name]]) for name in wanted}


EVERYWHERE_NEAR = dict.fromkeys(("a1", "a2", "b1", "bare"), "near")

FILTER_CASES: list[tuple[str, list[ApiObject], dict[str, Any], Any]] = [
    ("A pod without terms that nobody's terms mean is skipped.", [a_pod("x", node="a1", labels=WEB)], {}, "skip"),
    (
        "Affinity wants a matching pod in the node's domain, and the label itself.",
        [a_pod("x", node="a1", labels=WEB)],
        {"affinity": an_affinity(near="app=web@zone")},
        {"b1": "near", "bare": "near"},
    ),
    (
        "Two affinity terms must be met by one and the same pod.",
        [a_pod("x", node="a1", labels=WEB), a_pod("y", node="a1", labels={"tier": "front"})],
        {"affinity": an_affinity(near=["app=web@zone", "tier=front@hostname"])},
        EVERYWHERE_NEAR,
    ),
    (
        "Two affinity terms over two topologies must hold in both.",
        [a_pod("x", node="a1", labels={**WEB, "tier": "front"})],
        {"affinity": an_affinity(near=["app=web@zone", "tier=front@hostname"])},
        {"a2": "near", "b1": "near", "bare": "near"},
    ),
    (
        "The first pod of a kind that is near to itself may go wherever the label is.",
        [a_pod("x", node="a1", labels=DB)],
        {"labels": WEB, "affinity": an_affinity(near="app=web@zone")},
        {"bare": "near"},
    ),
    (
        "The first pod must match all its terms to be let through.",
        [],
        {"labels": WEB, "affinity": an_affinity(near=["app=web@zone", "tier=front@zone"])},
        EVERYWHERE_NEAR,
    ),
    (
        "The second pod of a kind that is near to itself follows the first.",
        [a_pod("x", node="b1", labels=WEB)],
        {"labels": WEB, "affinity": an_affinity(near="app=web@zone")},
        {"a1": "near", "a2": "near", "bare": "near"},
    ),
    (
        "A matching pod on a node without the label is in no domain, so the next one is still the first.",
        [a_pod("x", node="bare", labels=WEB)],
        {"labels": WEB, "affinity": an_affinity(near="app=web@zone")},
        {"bare": "near"},
    ),
    (
        "A matching pod on a node that does not exist counts for nothing.",
        [a_pod("x", node="gone", labels=WEB)],
        {"affinity": an_affinity(near="app=web@zone")},
        EVERYWHERE_NEAR,
    ),
    (
        "A terminating pod still counts.",
        [a_pod("x", node="a1", labels=WEB, terminating=True)],
        {"affinity": an_affinity(near="app=web@hostname")},
        {"a2": "near", "b1": "near", "bare": "near"},
    ),
    (
        "Anti-affinity rejects the domains of matching pods; each term speaks for itself.",
        [a_pod("x", node="a1", labels=WEB), a_pod("y", node="b1", labels=DB)],
        {"affinity": an_affinity(apart=["app=web@zone", "app=db@hostname"])},
        {"a1": "apart", "a2": "apart", "b1": "apart"},
    ),
    (
        "Anti-affinity lets nodes without the label through.",
        [a_pod("x", node="bare", labels=WEB)],
        {"affinity": an_affinity(apart="app=web@zone")},
        {},
    ),
    (
        "A pod on a node keeps away those that its anti-affinity means.",
        [a_pod("x", node="a1", affinity=an_affinity(apart="app=web@zone"))],
        {"labels": WEB},
        {"a1": "existing", "a2": "existing"},
    ),
    (
        "A term that means nobody but its carriers does not concern others.",
        [a_pod("x", node="a1", affinity=an_affinity(apart="app=web@zone"))],
        {"labels": DB},
        "skip",
    ),
    (
        "A carrier on a node without the label keeps nobody away, and the plugin is skipped.",
        [a_pod("x", node="bare", affinity=an_affinity(apart="app=web@zone"))],
        {"labels": WEB},
        "skip",
    ),
    (
        "Affinity is reported before anti-affinity, and that before existing anti-affinity.",
        [
            a_pod("x", node="a1", labels=DB, affinity=an_affinity(apart="app=web@zone")),
            a_pod("y", node="a2", labels={"app": "cache"}),
            a_pod("z", node="b1", labels=DB),
        ],
        {"labels": WEB, "affinity": an_affinity(near="app=db@hostname", apart="app=cache@zone")},
        {"a1": "apart", "a2": "near", "bare": "near"},
    ),
    (
        "Without namespaces a term means pods of its own namespace.",
        [a_pod("x", node="a1", labels=WEB, namespace="other")],
        {"affinity": an_affinity(apart="app=web@zone")},
        {},
    ),
    (
        "Named namespaces replace the pod's own.",
        [a_pod("x", node="a1", labels=WEB, namespace="other"), a_pod("y", node="b1", labels=WEB)],
        {"affinity": an_affinity(apart=a_term("app=web", "zone", namespaces=["other"]))},
        {"a1": "apart", "a2": "apart"},
    ),
    (
        "Selected namespaces join the named ones.",
        [
            a_namespace("other", labels={"team": "core"}),
            a_pod("x", node="a1", labels=WEB, namespace="other"),
            a_pod("y", node="b1", labels=WEB, namespace="third"),
        ],
        {
            "affinity": an_affinity(
                apart=a_term("app=web", "hostname", namespaces=["third"], namespace_selector="team=core")
            )
        },
        {"a1": "apart", "b1": "apart"},
    ),
    (
        "An empty namespace selector means all namespaces, known or not.",
        [a_pod("x", node="a1", labels=WEB, namespace="nowhere")],
        {"affinity": an_affinity(apart=a_term("app=web", "hostname", namespace_selector={}))},
        {"a1": "apart"},
    ),
    (
        "A selector that only forbids labels means all namespaces, even those that have the label.",
        [a_namespace("other", labels={"team": "core"}), a_pod("x", node="a1", labels=WEB, namespace="other")],
        {"affinity": an_affinity(apart=a_term("app=web", "hostname", namespace_selector="team notin (core)"))},
        {"a1": "apart"},
    ),
    (
        "A carried namespace selector is asked about the labels of the incoming pod's namespace.",
        [
            a_namespace("default", labels={"team": "core"}),
            a_pod(
                "x",
                node="a1",
                namespace="other",
                affinity=an_affinity(apart=a_term("app=web", "hostname", namespace_selector="team=core")),
            ),
            a_pod(
                "y",
                node="b1",
                namespace="other",
                affinity=an_affinity(apart=a_term("app=web", "hostname", namespace_selector="team notin (core)")),
            ),
        ],
        {"labels": WEB},
        {"a1": "existing"},
    ),
    (
        "A term without a label selector means nobody.",
        [a_pod("x", node="a1", labels=WEB)],
        {"affinity": an_affinity(apart=a_term(None, "zone"))},
        {},
    ),
    (
        "A malformed list of a pod on a node is ignored; its other lists count.",
        [a_pod("x", node="a1", affinity=an_affinity(near=MALFORMED, apart="app=web@hostname"))],
        {"labels": WEB},
        {"a1": "existing"},
    ),
    (
        "A malformed term of the pod itself turns it down before any node is looked at.",
        [],
        {"affinity": an_affinity(near=MALFORMED)},
        unresolvable('parsing pod: requiredAffinityTerms: "Bogus" is not a valid label selector operator').by(
            "InterPodAffinity"
        ),
    ),
    (
        "All malformed lists are named, the preferred ones as well.",
        [],
        {"affinity": an_affinity(apart=MALFORMED, prefer_near=(1, MALFORMED))},
        unresolvable(
            'parsing pod: [requiredAntiAffinityTerms: "Bogus" is not a valid label selector operator, '
            'preferredAffinityTerms: "Bogus" is not a valid label selector operator]'
        ).by("InterPodAffinity"),
    ),
]


@pytest.mark.parametrize(("sentence", "objects", "incoming", "expected"), FILTER_CASES)
def test_filter(sentence: str, objects: list[ApiObject], incoming: dict[str, Any], expected: Any) -> None:
    assert judged(a_cluster(*NODES, *objects), a_pod("p", **incoming)) == expected, sentence


NOTHING_ELSE = InterPodAffinityArgs(ignore_preferred_terms_of_existing_pods=True)

SCORE_CASES: list[tuple[str, list[ApiObject], dict[str, Any], InterPodAffinityArgs | None, Any]] = [
    (
        "Without any matching pod there is nothing to score.",
        [a_pod("x", node="a1", labels=DB)],
        {"affinity": an_affinity(prefer_near=(10, "app=web@zone"))},
        None,
        "skip",
    ),
    (
        "Preferred affinity adds its weight for each matching pod in the domain.",
        [a_pod("x", node="a1", labels=WEB), a_pod("y", node="a2", labels=WEB), a_pod("z", node="b1", labels=WEB)],
        {"affinity": an_affinity(prefer_near=(10, "app=web@zone"))},
        None,
        ({"a1": 20, "a2": 20, "b1": 10, "bare": 0}, {"a1": 100, "a2": 100, "b1": 50, "bare": 0}),
    ),
    (
        "Preferred anti-affinity subtracts it.",
        [a_pod("x", node="a1", labels=WEB)],
        {"affinity": an_affinity(prefer_apart=(10, "app=web@hostname"))},
        None,
        ({"a1": -10, "a2": 0, "b1": 0, "bare": 0}, {"a1": 0, "a2": 100, "b1": 100, "bare": 100}),
    ),
    (
        "Preferences over several topologies add up; quotients are cut off.",
        [a_pod("x", node="a1", labels=WEB)],
        {"affinity": an_affinity(prefer_near=[(1, "app=web@zone"), (2, "app=web@hostname")])},
        None,
        ({"a1": 3, "a2": 1, "b1": 0, "bare": 0}, {"a1": 100, "a2": 33, "b1": 0, "bare": 0}),
    ),
    (
        "Preferences of pods on nodes count for the pods they mean, in both directions.",
        [
            a_pod("x", node="a1", affinity=an_affinity(prefer_near=(7, "app=web@zone"))),
            a_pod("y", node="b1", affinity=an_affinity(prefer_apart=(3, "app=web@zone"))),
        ],
        {"labels": WEB},
        None,
        ({"a1": 7, "a2": 7, "b1": -3, "bare": 0}, {"a1": 100, "a2": 100, "b1": 0, "bare": 30}),
    ),
    (
        "Required affinity of a pod on a node counts by the configured weight.",
        [a_pod("x", node="a1", affinity=an_affinity(near="app=web@hostname"))],
        {"labels": WEB},
        InterPodAffinityArgs(hard_pod_affinity_weight=5),
        ({"a1": 5, "a2": 0, "b1": 0, "bare": 0}, {"a1": 100, "a2": 0, "b1": 0, "bare": 0}),
    ),
    (
        "With a weight of 0 it does not count at all.",
        [a_pod("x", node="a1", affinity=an_affinity(near="app=web@hostname"))],
        {"labels": WEB},
        InterPodAffinityArgs(hard_pod_affinity_weight=0),
        "skip",
    ),
    (
        "Required anti-affinity of a pod on a node is no matter of scores.",
        [a_pod("x", node="a1", affinity=an_affinity(apart="app=web@hostname"))],
        {"labels": WEB},
        None,
        "skip",
    ),
    (
        "Where others' preferences are to be ignored, a pod without its own is skipped.",
        [a_pod("x", node="a1", affinity=an_affinity(prefer_near=(7, "app=web@zone")))],
        {"labels": WEB, "affinity": an_affinity(near="app=db@zone")},
        NOTHING_ELSE,
        "skip",
    ),
    (
        "A pod that has preferences gets those of others all the same.",
        [a_pod("x", node="a1", affinity=an_affinity(prefer_near=(7, "app=web@zone")))],
        {"labels": WEB, "affinity": an_affinity(prefer_near=(1, "app=none@zone"))},
        NOTHING_ELSE,
        ({"a1": 7, "a2": 7, "b1": 0, "bare": 0}, {"a1": 100, "a2": 100, "b1": 0, "bare": 0}),
    ),
    (
        "Weights that cancel out leave all nodes equal, which is 0, but not skipped.",
        [a_pod("x", node="a1", labels=WEB)],
        {"affinity": an_affinity(prefer_near=(4, "app=web@zone"), prefer_apart=(4, "app=web@zone"))},
        None,
        (dict.fromkeys(("a1", "a2", "b1", "bare"), 0), dict.fromkeys(("a1", "a2", "b1", "bare"), 0)),
    ),
    (
        "A term of weight 0 is not skipped either.",
        [a_pod("x", node="a1", labels=WEB)],
        {"affinity": an_affinity(prefer_near=(0, "app=web@zone"))},
        None,
        (dict.fromkeys(("a1", "a2", "b1", "bare"), 0), dict.fromkeys(("a1", "a2", "b1", "bare"), 0)),
    ),
]


@pytest.mark.parametrize(("sentence", "objects", "incoming", "args", "expected"), SCORE_CASES)
def test_score(
    sentence: str,
    objects: list[ApiObject],
    incoming: dict[str, Any],
    args: InterPodAffinityArgs | None,
    expected: Any,
) -> None:
    assert scored(a_cluster(*NODES, *objects), a_pod("p", **incoming), args) == expected, sentence


def test_scores_are_stretched_over_the_feasible_nodes_only() -> None:
    cluster = a_cluster(*NODES, *(a_pod(f"x{i}", node=node, labels=WEB) for i, node in enumerate(["a1", "a1", "a2"])))
    pod = a_pod("p", affinity=an_affinity(prefer_near=(1, "app=web@hostname")))
    assert scored(cluster, pod, feasible="a2 b1") == ({"a2": 1, "b1": 0}, {"a2": 100, "b1": 0})
    assert scored(cluster, pod, feasible="a2") == ({"a2": 1}, {"a2": 0})


def test_a_malformed_term_is_an_error_of_scoring_where_prefilter_did_not_run() -> None:
    pod = a_pod("p", affinity=an_affinity(near=MALFORMED))
    failure = scored(a_cluster(*NODES), pod)
    assert isinstance(failure, Status)
    assert failure.message.startswith("failed to parse pod: requiredAffinityTerms: ")
    assert scored(a_cluster(*NODES), pod, NOTHING_ELSE) == "skip"


def test_pods_share_a_question_unless_some_term_can_tell_them_apart() -> None:
    cluster = a_cluster(*NODES)
    plugin = InterPodAffinity(None, cluster)

    def keys(**labels: str) -> tuple[object, object]:
        pod = cluster.reader.read(a_pod("p", labels=labels))
        return plugin.key(pod), plugin.score_key(pod)

    assert keys(app="web", pod="1") == keys(app="db", pod="2")
    carrier = a_pod("x", node="a1", affinity=an_affinity(apart="app=web@zone"))
    cluster.add(carrier)
    assert keys(app="web", pod="1") == keys(app="web", pod="2") != keys(app="db")
    cluster.remove(carrier)
    assert keys(app="web") == keys(app="db")
    cluster.add(a_pod("x", nominated="a1", affinity=an_affinity(apart="app=web@zone")))
    assert keys(app="web") != keys(app="db"), "a world with the nominated pod tells them apart"
    cluster.remove(a_pod("x"))
    assert keys(app="web") == keys(app="db")


def test_a_pod_without_the_label_is_not_judged_by_the_labels_of_the_pod_that_asked_first() -> None:
    cluster = a_cluster(*NODES)
    plugin = InterPodAffinity(None, cluster)
    first = cluster.reader.read(a_pod("p", labels=WEB))
    question = plugin.filter_question(first, StatusTable())
    question.begin()
    cluster.add(a_pod("x", node="a1", affinity=an_affinity(apart="app=web@zone")))
    second = cluster.reader.read(a_pod("q"))
    assert plugin.key(second) != plugin.key(first)
    question.begin()
    assert question.skip, "the question now stands for pods without an app"


def test_a_namespace_that_loses_a_label_is_no_longer_meant_by_the_terms_of_pods_that_stay() -> None:
    term = a_term("app=web", "zone", namespace_selector="team=core")
    cluster = a_cluster(
        *NODES,
        a_namespace("default", labels={"team": "core"}),
        a_pod("loner", node="a1", affinity=an_affinity(apart=term)),
        a_pod("shy", node="a2", affinity=an_affinity(prefer_apart=(5, term))),
        # one whose term goes on meaning the pod, over the same topology
        a_pod("both", node="b1", affinity=an_affinity(apart="app=web@zone", prefer_apart=(3, "app=web@zone"))),
    )
    web = cluster.reader.read(a_pod("p", labels=WEB))
    statuses, plugin = StatusTable(), InterPodAffinity(None, cluster)
    filtering, scoring = plugin.filter_question(web, statuses), plugin.score_question(web)
    everything = Feasible(np.ones(cluster.table.size, np.bool_), 0)

    def answers() -> tuple[list[bool], list[int]]:
        filtering.refresh()
        scoring.prepare(everything)
        return (filtering.ids != 0).tolist(), scoring.raw.tolist()

    assert answers() == ([True, True, True, False], [-5, -5, -3, 0])
    cluster.add(a_namespace("default"))
    assert answers() == ([False, False, True, False], [0, 0, -3, 0])
    cluster.add(a_namespace("default", labels={"team": "core"}))
    assert answers() == ([True, True, True, False], [-5, -5, -3, 0])
