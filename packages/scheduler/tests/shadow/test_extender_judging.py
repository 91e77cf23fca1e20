"""Extenders: what they may explain is not judged unless they are asked; what they cannot explain is judged anyway."""

from collections.abc import Mapping, Sequence

import pytest
from tests.support.shadow_stories import Story

from kubesched.core.framework.values.extenders import (
    ExtenderArgs,
    ExtenderFilterArgs,
    ExtenderFilterResult,
    ExtenderPreemptionArgs,
    ExtenderPreemptionResult,
    ExtenderPrioritizeResult,
    ExtenderResult,
)
from kubesched.shadow.extender_judging import FAILED
from kubesched.shadow.judgements import (
    AMONG_BEST,
    FOUND_NONE,
    FOUND_ONE,
    OTHER_MESSAGE,
    REJECTED,
    SAME_MESSAGE,
    SCORED_LESS,
)
from kubesched.shadow.shadow_scheduler import EXTENDERS
from kubesched.testing import a_node, a_pod


def config(verbs: str, more: str = "") -> str:
    return f"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders: [{{urlPrefix: "http://127.0.0.1:1/", {verbs}{more}}}]
"""


FILTER, PRIORITIZE, BIND, PREEMPT = (f"{verb}Verb: v" for verb in ("filter", "prioritize", "bind", "preempt"))
MANAGED = ", managedResources: [{name: example.com/gpu}]"


@pytest.mark.parametrize(
    ("extender", "node", "counts", "not_judged"),
    [
        # it may have rejected the better node, or scored this one
        (config(FILTER), "small", {}, {EXTENDERS: 1}),
        (config(PRIORITIZE, ", weight: 1"), "small", {}, {EXTENDERS: 1}),
        # plugins reject it: no extender brings it back
        (config(FILTER), "full", {REJECTED: 1}, {}),
        # it has no part in the choice of a node
        (config(BIND), "small", {SCORED_LESS: 1}, {}),
        # it is not asked about this pod
        (config(FILTER, MANAGED), "small", {SCORED_LESS: 1}, {}),
        (config(FILTER), "big", {AMONG_BEST: 1}, {}),
    ],
)
def test_a_node_where_extenders_are_not_asked(
    extender: str, node: str, counts: dict[str, int], not_judged: dict[str, int]
) -> None:
    story = Story(a_node("big", cpu="8"), a_node("small", cpu="2"), a_node("full", cpu="0"), config=extender)
    story.put(a_pod("p", cpu="1"))
    story.bind("p", node)
    tally = story.end()
    assert (tally.counts, tally.not_judged) == (counts, not_judged), story.told


@pytest.mark.parametrize(
    ("extender", "cpu", "counts", "not_judged"),
    [
        # it may have rejected the node
        (config(FILTER), "4", {}, {EXTENDERS: 1}),
        (config(PRIORITIZE, ", weight: 1"), "4", {FOUND_ONE: 1}, {}),
        # plugins leave no node: filter is not called
        (config(FILTER), "0", {OTHER_MESSAGE: 1}, {}),
        (config(PREEMPT), "0", {}, {EXTENDERS: 1}),
    ],
)
def test_a_message_where_extenders_are_not_asked(
    extender: str, cpu: str, counts: dict[str, int], not_judged: dict[str, int]
) -> None:
    story = Story(a_node("a", cpu=cpu), config=extender)
    story.put(a_pod("p", cpu="1"))
    story.fail("p", "0/1 nodes are available: 1 it says so.")
    tally = story.end()
    assert (tally.counts, tally.not_judged) == (counts, not_judged), story.told


def asked(
    story: Story,
    keeps: Sequence[str] = (),
    scores: Mapping[str, int] | None = None,
    error: str = "",
    victims: Mapping[str, Sequence[str]] | None = None,
) -> list[ExtenderArgs]:
    """Have a story's extender keep some nodes and score them; return the list of the questions to come."""
    questions: list[ExtenderArgs] = []

    def answer(question: ExtenderArgs) -> ExtenderResult:
        questions.append(question)
        if isinstance(question, ExtenderFilterArgs):
            left = [name for name in question.node_names if name in keeps]
            failed = {name: "it says so" for name in question.node_names if name not in keeps}
            return ExtenderFilterResult(left, failed, error=error)
        if isinstance(question, ExtenderPreemptionArgs):
            return ExtenderPreemptionResult(victims or {})
        return ExtenderPrioritizeResult(scores or {}, error)

    story.answer = answer
    return questions


BOTH = config(f"{FILTER}, {PRIORITIZE}, weight: 10")
NODES = a_node("big", cpu="8"), a_node("small", cpu="2"), a_node("tiny", cpu="1")


@pytest.mark.parametrize(
    ("keeps", "scores", "node", "verdict", "why"),
    [
        # the better node is rejected by the extender
        (["small", "tiny"], {}, "small", AMONG_BEST, ""),
        (["small", "tiny"], {}, "big", REJECTED, "an extender rejects it: it says so"),
        ([], {}, "big", FOUND_NONE, "an extender rejects it: it says so"),
        # the extender's score wins
        (["big", "small", "tiny"], {"small": 10}, "small", AMONG_BEST, ""),
        (["big", "small", "tiny"], {"small": 10}, "big", SCORED_LESS, "points behind small"),
        (["big", "small", "tiny"], {}, "tiny", SCORED_LESS, "points behind big"),
    ],
)
def test_a_node_with_what_extenders_answer(
    keeps: list[str], scores: dict[str, int], node: str, verdict: str, why: str
) -> None:
    story = Story(*NODES, config=BOTH, asks=True)
    questions = asked(story, keeps, scores)
    story.put(a_pod("p", cpu="1"))
    story.bind("p", node)
    assert story.end().counts == {verdict: 1}, story.told
    assert questions
    assert all(why in told.sentence() for told in story.told)


def test_an_extender_is_not_asked_about_a_node_that_plugins_reject_or_a_pod_that_is_not_its() -> None:
    story = Story(a_node("a"), a_node("full", cpu="0"), config=config(FILTER, MANAGED), asks=True)
    questions = asked(story, ["a"])
    story.put(a_pod("p", cpu="1"), a_pod("q", cpu="1", requests={"example.com/gpu": "1"}))
    story.bind("p", "a")
    story.bind("q", "a")
    assert (story.end().counts, questions) == ({AMONG_BEST: 1, FOUND_NONE: 1}, [])


@pytest.mark.parametrize(
    ("keeps", "message", "verdict"),
    [
        ([], "0/1 nodes are available: 1 it says so. no new claims to deallocate, preemption: 0/1 nodes are available: "
             "1 No preemption victims found for incoming pod.", SAME_MESSAGE),
        ([], "0/1 nodes are available: 1 it says more.", OTHER_MESSAGE),
        (["a"], "0/1 nodes are available: 1 it says so.", FOUND_ONE),
    ],
)  # fmt: skip
def test_a_message_with_what_extenders_answer(keeps: list[str], message: str, verdict: str) -> None:
    story = Story(a_node("a"), config=BOTH, asks=True)
    asked(story, keeps)
    story.put(a_pod("p", cpu="1"))
    story.fail("p", message)
    assert story.end().counts == {verdict: 1}, story.told


def test_the_victims_that_an_extender_leaves() -> None:
    story = Story(a_node("a", cpu="1"), a_pod("victim", node="a", cpu="1"), config=config(PREEMPT), asks=True)
    questions = asked(story, victims={})
    story.put(a_pod("p", cpu="1", priority=5))
    story.fail("p", "0/1 nodes are available: 1 Insufficient cpu.")
    tally = story.end()
    assert [type(question) for question in questions] == [ExtenderPreemptionArgs]
    assert tally.counts == {OTHER_MESSAGE: 1}, story.told


@pytest.mark.parametrize("binds", [True, False])
def test_an_extender_that_does_not_answer_leaves_a_decision_without_judgement(binds: bool) -> None:
    story = Story(*NODES, config=BOTH, asks=True)
    asked(story, error="it is down")
    story.put(a_pod("p", cpu="1"))
    if binds:
        story.bind("p", "small")
    else:
        story.fail("p", "0/3 nodes are available: 3 it says so.")
    tally = story.end()
    assert (tally.counts, tally.not_judged) == ({}, {f"{FAILED}: it is down": 1})
