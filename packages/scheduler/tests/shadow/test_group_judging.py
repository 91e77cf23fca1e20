"""Pods of pod groups: the group is decided at once, in an order that nobody tells."""

from typing import Any

import pytest
from tests.support.pod_groups import a_group, member
from tests.support.shadow_stories import Story

from kubesched.api.pods import PodResourceClaim
from kubesched.model.group_attempts import try_group
from kubesched.shadow import group_judging
from kubesched.shadow.group_judging import DEVICES, DRAWN, TOO_FEW, TOPOLOGY
from kubesched.shadow.judgements import AMONG_BEST, FOUND_ONE, OTHER_MESSAGE, REJECTED, SAME_MESSAGE, SCORED_LESS
from kubesched.testing import a_node, a_pod

GATES = "GenericWorkload GangScheduling"
WAITS = (
    "pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, "
    "one or more plugins asked to wait and no plugin rejected pod"
)
UNFIT = (
    "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate, "
    "preemption: 0/1 nodes are available: 1 No preemption victims found for incoming pod."
)


def test_each_pod_of_a_gang_is_judged_beside_those_that_were_decided_before_it() -> None:
    # tried in the order c, a, b: the big node takes c and a, then the small one scores more
    story = Story(a_node("big", cpu="8"), a_node("small", cpu="4"), a_group(min_count=3), gates=GATES)
    story.put(*(member(name, cpu="2") for name in "abc"))
    story.bind("b", "small")
    story.bind("a", "big")
    story.bind("c", "big")
    tally = story.end()
    assert (tally.counts, tally.not_judged, story.told) == ({AMONG_BEST: 3}, {}, [])


def test_a_pod_that_came_before_the_last_of_a_gang_may_be_decided_after_the_gang() -> None:
    # without the pods of the gang on big, single would have gone there
    story = Story(a_node("big", cpu="8"), a_node("small", cpu="3"), a_group(min_count=2), gates=GATES)
    story.put(member("a", cpu="4"), a_pod("single", cpu="1"), member("b", cpu="3"))
    story.bind("single", "small")
    story.bind("a", "big")
    story.bind("b", "big")
    assert story.end().counts == {AMONG_BEST: 3}, story.told


@pytest.mark.parametrize(("node", "verdict"), [("small", SCORED_LESS), ("full", REJECTED)])
def test_a_node_that_no_order_explains_is_a_difference(node: str, verdict: str) -> None:
    nodes = a_node("big", cpu="16"), a_node("small", cpu="4"), a_node("full", cpu="0")
    story = Story(*nodes, a_group(min_count=2), gates=GATES)
    story.put(member("a"), member("b"))
    story.bind("a", node)
    story.bind("b", "big")
    assert story.end().counts == {verdict: 1, AMONG_BEST: 1}, story.told


def test_messages_of_a_gang_of_which_too_few_fit_whichever_was_tried_last() -> None:
    story = Story(a_node("a", cpu="2"), a_group(min_count=3), gates=GATES)
    story.put(*(member(name) for name in "pqr"))
    story.fail("p", UNFIT)
    story.fail("q", WAITS)
    story.fail("r", WAITS)
    tally = story.end()
    assert (tally.counts, tally.not_judged) == ({SAME_MESSAGE: 3}, {}), story.told


@pytest.mark.parametrize(
    ("cpu", "message", "verdict"),
    [
        # no order gives it another message
        ("2", WAITS.replace("minCount", "more"), OTHER_MESSAGE),
        # all of them fit
        ("3", WAITS, FOUND_ONE),
    ],
)
def test_a_message_that_no_order_explains_is_a_difference(cpu: str, message: str, verdict: str) -> None:
    story = Story(a_node("a", cpu=cpu), a_group(min_count=3), gates=GATES)
    story.put(*(member(name) for name in "pqr"))
    story.fail("p", message)
    assert story.end().counts == {verdict: 1}, story.told


def test_draws_between_equal_nodes_may_explain_a_message() -> None:
    story = Story(a_node("a", cpu="2"), a_node("b", cpu="2"), a_group(min_count=5), gates=GATES)
    story.put(*(member(f"p{number}") for number in range(5)))
    story.fail("p0", "something else")
    tally = story.end()
    assert (tally.counts, tally.not_judged) == ({}, {DRAWN: 1})


def test_a_group_that_waits_for_more_pods_has_no_message() -> None:
    story = Story(a_node("a"), a_group(min_count=2), gates=GATES)
    story.put(member("p"))
    story.fail("p", WAITS)
    assert story.end().not_judged == {TOO_FEW: 1}


def test_a_group_within_a_topology_domain_is_not_judged_pod_by_pod() -> None:
    gates = f"{GATES} TopologyAwareWorkloadScheduling"
    story = Story(a_node("a", labels={"zone": "1"}), a_group(min_count=1, topology="zone"), gates=gates)
    story.put(member("p"))
    story.bind("p", "a")
    assert story.end().not_judged == {TOPOLOGY: 1}


def test_devices_of_a_group_are_not_judged_pod_by_pod() -> None:
    story = Story(a_node("a"), a_group(min_count=1), gates=GATES)
    story.put(member("p", resource_claims=(PodResourceClaim(name="gpu", resource_claim_name="gpu"),)))
    story.bind("p", "a")
    assert story.end().not_judged == {DEVICES: 1}


def test_without_the_gate_pods_of_a_group_are_pods_like_others() -> None:
    story = Story(a_node("a", unschedulable=True), a_group(min_count=1))
    story.put(member("p"))
    story.bind("p", "a")
    assert story.end().judged == 1


@pytest.mark.parametrize("count", [6, 9])
def test_orders_of_large_gangs_are_found(count: int) -> None:
    nodes = [a_node(f"n{number}", cpu="2") for number in range(count)]
    story = Story(*nodes, a_group(min_count=count), gates=GATES)
    story.put(*(member(f"p{number}") for number in range(count)))
    for number in range(count):
        story.bind(f"p{number}", f"n{number}")
    assert (story.end().counts, story.told) == ({AMONG_BEST: count}, [])


def test_nodes_that_each_pod_could_have_by_itself_and_that_do_not_go_together_are_a_difference() -> None:
    # whichever came first, the other one belongs on the other node
    story = Story(a_node("a"), a_node("b"), a_group(min_count=2), gates=GATES)
    story.put(member("p"), member("q"))
    story.bind("p", "a")
    story.bind("q", "a")
    assert story.end().counts == {SCORED_LESS: 1, AMONG_BEST: 1}, story.told
    assert story.told[0].why == "in no order of its pod group's pods are their nodes among our best: p on a, q on a"


def test_attempts_of_a_group_that_takes_long_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    attempts: list[object] = []

    def counted(*arguments: Any, **options: Any) -> Any:
        attempts.append(arguments)
        return try_group(*arguments, **options)

    monkeypatch.setattr(group_judging, "try_group", counted)
    story = Story(*(a_node(f"n{number}", cpu="2") for number in range(4)), a_group(min_count=8), gates=GATES)
    story.put(*(member(f"p{number}") for number in range(8)), *(a_pod(f"q{number}", cpu="1") for number in range(6)))
    for number in range(6):
        story.bind(f"q{number}", f"n{number % 4}")
    story.fail("p0", "something else")
    assert story.end().not_judged == {DRAWN: 1}
    whole, other = 2 * group_judging.MOST_ORDERS, 2 * group_judging.ORDERS_IN_A_MOMENT * group_judging.MOST_MOMENTS
    assert len(attempts) <= whole + other
