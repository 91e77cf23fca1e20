"""Which events InterPodAffinity takes for a second chance: a sentence, an event, a hint."""

from typing import Any

import pytest
from tests.support.asking import hint

from kubesched.api.labels import InvalidSelectorError
from kubesched.api.meta import ApiObject, LabelSelector, LabelSelectorRequirement
from kubesched.api.pods import PodAffinityTerm
from kubesched.core.framework.values.events import Action, Hint, Resource
from kubesched.core.plugins.inter_pod_affinity import InterPodAffinity
from kubesched.testing import a_cluster, a_node, a_pod, an_affinity

WEB, DB = {"app": "web"}, {"app": "db"}
MALFORMED = PodAffinityTerm(
    label_selector=LabelSelector(match_expressions=(LabelSelectorRequirement(key="app", operator="Bogus"),)),
    topology_key="zone",
)
NODE, POD = Resource.NODE, Resource.ASSIGNED_POD
NEAR, APART = an_affinity(near="app=web@zone"), an_affinity(apart="app=web@zone")
ON_A1: dict[str, Any] = {"node": "a1", "labels": WEB}

HINT_CASES: list[tuple[str, dict[str, Any], Any, ApiObject | None, ApiObject | None, Hint | None]] = [
    ("A pod it wants to be near came.", {"affinity": NEAR}, (POD, Action.ADD), None, a_pod("x", **ON_A1), Hint.QUEUE),
    (
        "Some other pod came.",
        {"affinity": NEAR},
        (POD, Action.ADD),
        None,
        a_pod("x", node="a1", labels=DB),
        Hint.QUEUE_SKIP,
    ),
    (
        "A pod it wants to be near came, but has no node.",
        {"affinity": NEAR},
        (Resource.UNSCHEDULED_POD, Action.ADD),
        None,
        a_pod("x", labels=WEB),
        Hint.QUEUE_SKIP,
    ),
    (
        "A pod it wants to be near is promised a node.",
        {"affinity": NEAR},
        (Resource.UNSCHEDULED_POD, Action.ADD),
        None,
        a_pod("x", labels=WEB, nominated="a1"),
        Hint.QUEUE,
    ),
    ("A pod it shuns went.", {"affinity": APART}, (POD, Action.DELETE), a_pod("x", **ON_A1), None, Hint.QUEUE),
    (
        "A pod that shuns it went.",
        {"labels": WEB},
        (POD, Action.DELETE),
        a_pod("x", node="a1", affinity=APART),
        None,
        Hint.QUEUE,
    ),
    (
        "A pod it wants to be near went.",
        {"affinity": NEAR},
        (POD, Action.DELETE),
        a_pod("x", **ON_A1),
        None,
        Hint.QUEUE_SKIP,
    ),
    (
        "A pod became one it wants to be near.",
        {"affinity": NEAR},
        (POD, Action.UPDATE_POD_LABEL),
        a_pod("x", node="a1", labels=DB),
        a_pod("x", **ON_A1),
        Hint.QUEUE,
    ),
    (
        "A pod is no longer one it shuns.",
        {"affinity": APART},
        (POD, Action.UPDATE_POD_LABEL),
        a_pod("x", **ON_A1),
        a_pod("x", node="a1", labels=DB),
        Hint.QUEUE,
    ),
    (
        "A pod became one it shuns.",
        {"affinity": APART},
        (POD, Action.UPDATE_POD_LABEL),
        a_pod("x", node="a1", labels=DB),
        a_pod("x", **ON_A1),
        Hint.QUEUE_SKIP,
    ),
    (
        "Its own labels changed.",
        {},
        (Resource.UNSCHEDULED_POD, Action.UPDATE_POD_LABEL),
        a_pod("p", labels=DB),
        a_pod("p", labels=WEB),
        Hint.QUEUE,
    ),
    ("Tolerations are no matter.", {}, (POD, Action.UPDATE_POD_TOLERATION), a_pod("x"), a_pod("x"), None),
    (
        "A node with the topology of its affinity came.",
        {"affinity": NEAR},
        (NODE, Action.ADD),
        None,
        a_node("n", zone="c"),
        Hint.QUEUE,
    ),
    (
        "A node without the topology of its affinity came.",
        {"affinity": NEAR},
        (NODE, Action.ADD),
        None,
        a_node("n"),
        Hint.QUEUE_SKIP,
    ),
    ("Any node that came suits anti-affinity.", {"affinity": APART}, (NODE, Action.ADD), None, a_node("n"), Hint.QUEUE),
    (
        "A node moved to another domain of its affinity.",
        {"affinity": NEAR},
        (NODE, Action.UPDATE_NODE_LABEL),
        a_node("n", zone="a"),
        a_node("n", zone="b"),
        Hint.QUEUE,
    ),
    (
        "A node left all domains of its affinity.",
        {"affinity": NEAR},
        (NODE, Action.UPDATE_NODE_LABEL),
        a_node("n", zone="a"),
        a_node("n"),
        Hint.QUEUE_SKIP,
    ),
    (
        "A node left all domains of its anti-affinity.",
        {"affinity": APART},
        (NODE, Action.UPDATE_NODE_LABEL),
        a_node("n", zone="a"),
        a_node("n"),
        Hint.QUEUE,
    ),
    (
        "A node joined a domain of its anti-affinity.",
        {"affinity": APART},
        (NODE, Action.UPDATE_NODE_LABEL),
        a_node("n"),
        a_node("n", zone="a"),
        Hint.QUEUE_SKIP,
    ),
]


@pytest.mark.parametrize(("sentence", "incoming", "event", "old", "new", "expected"), HINT_CASES)
def test_hints(
    sentence: str,
    incoming: dict[str, Any],
    event: Any,
    old: ApiObject | None,
    new: ApiObject | None,
    expected: Hint | None,
) -> None:
    cluster = a_cluster()
    plugin = InterPodAffinity(None, cluster)
    assert hint(plugin, cluster, a_pod("p", **incoming), event, old, new) is expected, sentence


def test_a_hint_for_a_pod_with_malformed_terms_fails_which_counts_as_queue() -> None:
    cluster = a_cluster()
    pod = a_pod("p", affinity=an_affinity(apart=MALFORMED))
    with pytest.raises(InvalidSelectorError, match="Bogus"):
        hint(InterPodAffinity(None, cluster), cluster, pod, (POD, Action.ADD), None, a_pod("x", **ON_A1))
