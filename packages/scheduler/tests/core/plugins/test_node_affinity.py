"""NodeAffinity: required and preferred terms, narrowing, the profile's own affinity, hints."""

from typing import Any

import pytest
from tests.support.asking import hint, normalized, raw_scores, rejections

from kubesched.api.labels import InvalidSelectorError
from kubesched.api.pods import (
    Affinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    PreferredSchedulingTerm,
)
from kubesched.api.pods import NodeAffinity as Terms
from kubesched.config import args
from kubesched.core.framework.results.outcomes import PreFilterResult
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.events import Action, Hint, Resource
from kubesched.core.framework.values.status import SKIP, Code, unresolvable
from kubesched.core.framework.views.nodes import Nodes
from kubesched.core.plugins.node_affinity import NodeAffinity
from kubesched.testing import a_cluster, a_node, a_pod, an_affinity

MALFORMED = NodeSelectorTerm(match_expressions=(NodeSelectorRequirement(key="disk", operator="Bogus"),))
CLUSTER = a_cluster(
    a_node("ssd", labels={"disk": "ssd", "cores": "8"}),
    a_node("hdd", labels={"disk": "hdd", "cores": "16"}),
    a_node("bare", labels={"cores": "many"}),
)


@pytest.mark.parametrize(
    ("pod", "accepted"),
    [
        pytest.param({}, "ssd hdd bare", id="nothing asked"),
        pytest.param({"node_selector": {}}, "ssd hdd bare", id="an empty nodeSelector asks nothing"),
        pytest.param({"node_selector": {"disk": "ssd"}}, "ssd", id="nodeSelector"),
        pytest.param({"node_selector": {"disk": "ssd", "cores": "16"}}, "", id="all of it must hold"),
        pytest.param({"affinity": an_affinity(nodes="disk in (ssd,hdd)")}, "ssd hdd", id="In"),
        pytest.param({"affinity": an_affinity(nodes="disk notin (ssd)")}, "hdd bare", id="NotIn, label or not"),
        pytest.param({"affinity": an_affinity(nodes="disk")}, "ssd hdd", id="Exists"),
        pytest.param({"affinity": an_affinity(nodes="!disk")}, "bare", id="DoesNotExist"),
        pytest.param({"affinity": an_affinity(nodes="cores>8")}, "hdd", id="Gt compares numbers only"),
        pytest.param({"affinity": an_affinity(nodes="cores<16")}, "ssd", id="Lt too"),
        pytest.param({"affinity": an_affinity(nodes="colour=red")}, "", id="a label that no node has"),
        pytest.param({"affinity": an_affinity(nodes=["disk=ssd", "!disk"])}, "ssd bare", id="one term suffices"),
        pytest.param({"affinity": an_affinity(nodes="disk,cores>8")}, "hdd", id="expressions of a term all hold"),
        pytest.param({"affinity": an_affinity(nodes="metadata.name=bare")}, "bare", id="the name is a field"),
        pytest.param({"affinity": an_affinity(nodes="metadata.name!=bare")}, "ssd hdd", id="which can be excluded"),
        pytest.param({"affinity": an_affinity(nodes=[])}, "", id="no term matches no node"),
        pytest.param({"affinity": an_affinity(nodes=NodeSelectorTerm())}, "", id="nor does an empty one"),
        pytest.param({"affinity": an_affinity(nodes=MALFORMED)}, "", id="nor a malformed one"),
        pytest.param({"affinity": an_affinity(nodes=[MALFORMED, "disk=ssd"])}, "ssd", id="beside which others count"),
        pytest.param(
            {"node_selector": {"disk": "ssd"}, "affinity": an_affinity(nodes="cores>8")}, "", id="both must hold"
        ),
    ],
)
def test_required(pod: dict[str, Any], accepted: str) -> None:
    expected = {"ssd", "hdd", "bare"} - set(accepted.split())
    rejected = dict.fromkeys(expected, unresolvable("node(s) didn't match Pod's node affinity/selector"))
    assert rejections(NodeAffinity(), CLUSTER, a_pod(**pod)) == rejected


def named(*names: str) -> NodeSelectorTerm:
    return NodeSelectorTerm(
        match_fields=tuple(
            NodeSelectorRequirement(key="metadata.name", operator="In", values=tuple(several.split("|")))
            for several in names
        )
    )


@pytest.mark.parametrize(
    ("pod", "outcome"),
    [
        pytest.param({}, SKIP, id="nothing asked: Filter is skipped"),
        pytest.param({"node_selector": {}}, None, id="an empty nodeSelector is something"),
        pytest.param({"affinity": an_affinity(prefer_nodes=(1, "disk"))}, SKIP, id="preferences do not filter"),
        pytest.param({"affinity": an_affinity(nodes=[])}, None, id="no term names no node"),
        pytest.param({"affinity": an_affinity(nodes=named("a"))}, {"a"}, id="a name narrows the search"),
        pytest.param({"affinity": an_affinity(nodes=named("a|b"))}, {"a", "b"}, id="two, although neither will pass"),
        pytest.param({"affinity": an_affinity(nodes=[named("a"), named("b")])}, {"a", "b"}, id="terms add up"),
        pytest.param({"affinity": an_affinity(nodes=[named("a"), "disk"])}, None, id="a term without a name"),
        pytest.param(
            {"affinity": an_affinity(nodes=named("a", "b"))},
            unresolvable("pod affinity terms conflict"),
            id="two names in one term cannot be",
        ),
    ],
)
def test_pre_filter(pod: dict[str, Any], outcome: object) -> None:
    if isinstance(outcome, set):
        outcome = PreFilterResult(frozenset(outcome))
    assert NodeAffinity().pre_filter(CycleState(), CLUSTER.reader.read(a_pod(**pod))) == outcome


def test_scores_add_up_the_weights_of_matching_terms() -> None:
    pod = a_pod(affinity=an_affinity(prefer_nodes=[(10, "disk"), (3, "cores>8"), (0, MALFORMED), (5, "!cores")]))
    raw = raw_scores(NodeAffinity(), CLUSTER, pod)
    assert raw == {"ssd": 10, "hdd": 13, "bare": 0}
    assert normalized(NodeAffinity(), CLUSTER, pod, raw) == {"ssd": 76, "hdd": 100, "bare": 0}


def test_without_a_positive_score_nothing_is_scaled() -> None:
    assert normalized(NodeAffinity(), CLUSTER, a_pod(), {"a": 0, "b": -7}) == {"a": 0, "b": -7}
    assert normalized(NodeAffinity(), CLUSTER, a_pod(), {"a": 3, "b": -7}) == {"a": 100, "b": -233}


@pytest.mark.parametrize(
    ("affinity", "code"),
    [
        pytest.param(None, Code.SKIP, id="no affinity"),
        pytest.param(an_affinity(nodes="disk"), Code.SKIP, id="required terms do not score"),
        pytest.param(
            Affinity(node_affinity=Terms(preferred_during_scheduling_ignored_during_execution=())),
            None,
            id="an empty list of preferences is one",
        ),
        pytest.param(an_affinity(prefer_nodes=(1, "disk")), None, id="a preference"),
        pytest.param(an_affinity(prefer_nodes=(1, MALFORMED)), Code.ERROR, id="a malformed preference is an error"),
    ],
)
def test_pre_score(affinity: Affinity | None, code: Code | None) -> None:
    pod = CLUSTER.reader.read(a_pod(affinity=affinity))
    status = NodeAffinity().pre_score(CycleState(), pod, Nodes(CLUSTER.table))
    assert (None if status is None else status.code) is code


def test_a_malformed_preference_is_an_error_without_pre_score_too() -> None:
    scores = raw_scores(NodeAffinity(), CLUSTER, a_pod(affinity=an_affinity(prefer_nodes=(1, MALFORMED))))
    assert not isinstance(scores, dict)
    assert scores.code is Code.ERROR


def config_term(key: str) -> args.NodeSelectorTerm:
    return args.NodeSelectorTerm(match_expressions=(args.NodeSelectorRequirement(key=key, operator="Exists"),))


def test_the_profiles_affinity_is_added() -> None:
    plugin = NodeAffinity(
        args.NodeAffinityArgs(
            added_affinity=args.NodeAffinity(
                required_during_scheduling_ignored_during_execution=args.NodeSelector(
                    node_selector_terms=(config_term("disk"),)
                ),
                preferred_during_scheduling_ignored_during_execution=(
                    args.PreferredSchedulingTerm(weight=7, preference=config_term("cores")),
                ),
            )
        )
    )
    pod = a_pod(affinity=an_affinity(nodes="disk!=hdd", prefer_nodes=(10, "disk=ssd")))
    assert rejections(plugin, CLUSTER, pod) == {
        "hdd": unresolvable("node(s) didn't match Pod's node affinity/selector"),
        "bare": unresolvable("node(s) didn't match scheduler-enforced node affinity"),
    }
    assert raw_scores(plugin, CLUSTER, pod) == {"ssd": 17, "hdd": 7, "bare": 7}
    info = CLUSTER.reader.read(a_pod())
    assert plugin.pre_filter(CycleState(), info) is None, "nothing is skipped"
    assert plugin.pre_score(CycleState(), info, Nodes(CLUSTER.table)) is None
    added = (Resource.NODE, Action.ADD)
    assert hint(plugin, CLUSTER, a_pod(), added, None, a_node()) is Hint.QUEUE_SKIP
    assert hint(plugin, CLUSTER, a_pod(), added, None, a_node(labels={"disk": "x"})) is Hint.QUEUE


def test_a_malformed_affinity_of_the_profile_is_an_error_at_start() -> None:
    bogus = args.NodeSelectorTerm(match_expressions=(args.NodeSelectorRequirement(key="a", operator="Bogus"),))
    required = args.NodeSelector(node_selector_terms=(bogus,))
    added = args.NodeAffinity(required_during_scheduling_ignored_during_execution=required)
    with pytest.raises(InvalidSelectorError, match="Bogus"):
        NodeAffinity(args.NodeAffinityArgs(added_affinity=added))


FITTING, OTHER = a_node(labels={"disk": "ssd"}), a_node(labels={"disk": "hdd"})


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param(None, FITTING, Hint.QUEUE, id="a fitting node appeared"),
        pytest.param(None, OTHER, Hint.QUEUE_SKIP, id="another node appeared"),
        pytest.param(OTHER, FITTING, Hint.QUEUE, id="a node got the label"),
        pytest.param(FITTING, FITTING, Hint.QUEUE_SKIP, id="it fitted before"),
        pytest.param(FITTING, OTHER, Hint.QUEUE_SKIP, id="a node lost the label"),
    ],
)
def test_node_hints(old: Any, new: Any, expected: Hint) -> None:
    event = (Resource.NODE, Action.ADD if old is None else Action.UPDATE_NODE_LABEL)
    assert hint(NodeAffinity(), CLUSTER, a_pod(node_selector={"disk": "ssd"}), event, old, new) is expected


def test_the_hint_fails_for_a_malformed_term_that_matters() -> None:
    pod = a_pod(affinity=an_affinity(nodes=[MALFORMED, "disk=ssd"]))
    assert hint(NodeAffinity(), CLUSTER, pod, (Resource.NODE, Action.ADD), None, FITTING) is Hint.QUEUE
    with pytest.raises(InvalidSelectorError):
        hint(NodeAffinity(), CLUSTER, pod, (Resource.NODE, Action.ADD), None, OTHER)


def test_what_means_the_same_has_the_same_key() -> None:
    read, plugin = CLUSTER.reader.read, NodeAffinity()
    one = read(a_pod(affinity=an_affinity(nodes="disk in (a,b)"), node_selector={}))
    two = read(a_pod(affinity=an_affinity(nodes="disk in (b,a)")))
    assert plugin.key(one) == plugin.key(two)
    required = NodeSelector(node_selector_terms=(named("a"),))
    other = Affinity(node_affinity=Terms(required_during_scheduling_ignored_during_execution=required))
    assert plugin.key(one) != plugin.key(read(a_pod(affinity=other)))
    weighted = (PreferredSchedulingTerm(weight=3, preference=named("a")),)
    preferring = Affinity(node_affinity=Terms(preferred_during_scheduling_ignored_during_execution=weighted))
    assert plugin.score_key(read(a_pod(affinity=preferring))) != plugin.score_key(one)
