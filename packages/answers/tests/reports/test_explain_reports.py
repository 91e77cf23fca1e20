"""Reports about pending pods: how many causes a terminal shows, for whom preemption helps, sentences that end once."""

from dataclasses import replace
from typing import Any

import pytest

from kubesched.model.attempt_answers import PreemptionAnswer
from kubesched.reports.html import as_page
from kubesched.reports.terminal import as_terminal_text
from kubesched_answers.explain.pod_answer import PodAnswer
from kubesched_answers.explain.triage_answer import PendingGroup, PodCount, Triage
from kubesched_answers.remedies.remedy import Remedy
from kubesched_answers.reports.explain_report import pod_report
from kubesched_answers.reports.triage_report import MOST_CAUSES, triage_report


def a_group(number: int = 0, **fields: Any) -> PendingGroup:
    """Return a group of two pods."""
    owners = (PodCount(f"Deployment shop/w{number}", 2),)
    whole = PendingGroup(
        "unschedulable", f"{number} lack cpu", 2, f"shop/w{number}-a", owners, (PodCount("shop", 2),), {}, 0.1, "cpu"
    )
    return replace(whole, **fields)


def a_triage(*groups: PendingGroup) -> Triage:
    return Triage("some do not fit.", 2 * len(groups), 2 * len(groups), 3, groups, (), "")


REMEDY = Remedy("add a node", "cluster", (), "n-new1")
FACTS: dict[str, tuple[PendingGroup, str]] = {
    "preemption names the pod of several": (
        a_group(preemption="evicting 1 pod from n makes room"),
        "preemption  for pod shop/w0-a: evicting 1 pod from n makes room",
    ),
    "preemption for the only pod": (
        a_group(pods=1, preemption="evicting 1 pod from n makes room"),
        "preemption  evicting 1 pod from n makes room",
    ),
    "a remedy for all": (a_group(remedy=REMEDY, helps=2, tried=2), "what helps  add a node, which helps all 2"),
    "a remedy for some": (a_group(remedy=REMEDY, helps=1, tried=2), "what helps  add a node, which helps 1 of 2"),
    "a remedy for some of those that were tried": (
        a_group(pods=900, remedy=REMEDY, helps=100, tried=200),
        "what helps  add a node, which helps 100 of the 200 that were tried",
    ),
    "a remedy for the only pod": (a_group(pods=1, remedy=REMEDY, helps=1, tried=1), "what helps  add a node"),
}


@pytest.mark.parametrize(("group", "line"), FACTS.values(), ids=FACTS)
def test_the_facts_about_a_cause(group: PendingGroup, line: str) -> None:
    assert line in as_terminal_text(triage_report(a_triage(group)), colour=False).splitlines()


def test_of_many_causes_a_terminal_shows_the_less_costly_ones_as_rows_and_a_page_has_all() -> None:
    report = triage_report(a_triage(*map(a_group, range(MOST_CAUSES + 3))))
    text = as_terminal_text(report, colour=False)
    assert text.count("kubesched explain pod") == MOST_CAUSES
    assert "3 less costly causes" in text
    assert f"Deployment shop/w{MOST_CAUSES + 2} (2)" in text
    page = as_page(report)
    assert page.count("kubesched explain pod") == MOST_CAUSES + 3
    assert page.count("<details>") == 3


@pytest.mark.parametrize(
    ("message", "sentence"),
    [
        ("", "It does not help: there is no pod to evict."),
        ("no node was found", "It does not help: no node was found."),
        ("0/3 nodes are available.", "It does not help: 0/3 nodes are available."),
    ],
)
def test_a_sentence_about_preemption_ends_once(message: str, sentence: str) -> None:
    answer = PodAnswer("shop/p", "unschedulable", "It does not fit.", "", preemption=PreemptionAnswer(False, message))
    assert sentence in as_terminal_text(pod_report(answer), colour=False).splitlines()
