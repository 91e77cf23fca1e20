"""What is said of one decision of another scheduler, on the cluster as it is."""

import pytest
from tests.support.models import a_model

from kubesched.api.meta import ApiObject
from kubesched.shadow.judgements import (
    AMONG_BEST,
    FOUND_NONE,
    FOUND_ONE,
    NOT_JUDGED,
    OTHER_MESSAGE,
    REJECTED,
    SAME_MESSAGE,
    SAMPLED,
    SCORED_LESS,
)
from kubesched.shadow.judging import judge_binding, judge_failure
from kubesched.testing import a_node, a_pod

BUSY = a_pod("busy", node="a", cpu="3")


@pytest.mark.parametrize(
    ("objects", "node", "verdict", "why"),
    [
        # one of two nodes that tie
        ((a_node("a"), a_node("b")), "a", AMONG_BEST, ""),
        ((a_node("a"), a_node("b")), "b", AMONG_BEST, ""),
        # the only node that is feasible
        ((a_node("a"), a_node("b", taints=["k=v:NoSchedule"])), "a", AMONG_BEST, ""),
        # it fits, but another is better
        ((a_node("a"), a_node("b"), BUSY), "a", SCORED_LESS, "NodeResourcesFit"),
        # it does not fit
        ((a_node("a", taints=["k=v:NoSchedule"]), a_node("b")), "a", REJECTED, "TaintToleration: node(s) had"),
        # no node fits
        ((a_node("a", cpu="0"), a_node("b", cpu="0")), "a", FOUND_NONE, "0/2 nodes are available: 2 Insufficient cpu"),
        # a node that nobody told of
        ((a_node("a"),), "z", NOT_JUDGED, "its node is not known here"),
    ],
)  # fmt: skip
def test_a_chosen_node(objects: tuple[ApiObject, ...], node: str, verdict: str, why: str) -> None:
    pod = a_pod("p", cpu="1")
    model = a_model(*objects, pod)
    found = judge_binding(model, model.pods["default/p"], node)
    assert (found.verdict, why in found.why) == (verdict, True), found


def test_by_how_much_a_node_is_behind_and_which_plugin_says_so() -> None:
    model = a_model(a_node("a"), a_node("b"), BUSY, a_pod("p", cpu="1"))
    found = judge_binding(model, model.pods["default/p"], "a")
    assert (found.ours, found.plugin) == ("b", "NodeResourcesFit")
    assert found.behind is not None
    assert found.why.endswith(f": {found.behind} points behind b")


def test_where_nodes_are_sampled_a_node_may_score_less() -> None:
    nodes = [a_node(f"n{number}") for number in range(201)]
    model = a_model(*nodes, a_pod("busy", node="n7", cpu="3"), a_pod("p", cpu="1"))
    assert judge_binding(model, model.pods["default/p"], "n7").verdict == SAMPLED
    assert judge_binding(model, model.pods["default/p"], "n8").verdict == AMONG_BEST


def test_a_nominated_node_that_fits_is_taken() -> None:
    model = a_model(a_node("a"), a_node("b"), BUSY, a_pod("p", cpu="1", nominated="a"))
    assert judge_binding(model, model.pods["default/p"], "a").verdict == AMONG_BEST
    found = judge_binding(model, model.pods["default/p"], "b")
    assert (found.verdict, found.why) == (SCORED_LESS, "the pod is nominated to a, which fits")


NOT_ENOUGH = (
    "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
    "preemption: 0/1 nodes are available: 1 Preemption is not helpful for scheduling."
)


@pytest.mark.parametrize(
    ("nodes", "message", "verdict"),
    [
        # word by word
        ([a_node("a", cpu="0")], NOT_ENOUGH, SAME_MESSAGE),
        # another count
        ([a_node("a", cpu="0")], NOT_ENOUGH.replace("1 Ins", "2 Ins"), OTHER_MESSAGE),
        # there is a node
        ([a_node("a")], NOT_ENOUGH, FOUND_ONE),
        # there are no nodes at all
        ([], "no nodes available to schedule pods", SAME_MESSAGE),
    ],
)
def test_a_pod_for_which_it_found_no_node(nodes: list[ApiObject], message: str, verdict: str) -> None:
    model = a_model(*nodes, a_pod("p", cpu="1"))
    found = judge_failure(model, model.pods["default/p"], message)
    assert found.verdict == verdict, found
    assert (found.ours == "a") == (verdict == FOUND_ONE)
