"""What a scheduler's record adds to an answer about a pod, and how it is shown."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from kubesched.model.cluster_objects import Gap
from kubesched.reports.markdown import as_markdown
from kubesched.serving.decisions.records import (
    DecisionRecord,
    QueueMove,
    RecordedPreemption,
    RejectedGroup,
    ScoredNode,
)
from kubesched.sources.pod_records import PodRecords
from kubesched_answers.explain.pod_answer import BOUND, UNSCHEDULABLE, PodAnswer, PodWaits, WakingEvent
from kubesched_answers.explain.recorded import with_records
from kubesched_answers.reports.explain_report import pod_report

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)
PENDING = PodAnswer(
    "shop/web",
    UNSCHEDULABLE,
    "It does not fit.",
    "0/2 nodes are available.",
    waits=PodWaits((WakingEvent("NodeResourcesFit", "NodeAdd", "a node is added"),)),
)
ON_N1 = PodAnswer("shop/web", BOUND, "Pod shop/web is on n1.", "")


def a_record(seconds: float, outcome: str, **more: Any) -> DecisionRecord:
    fields = {"pod": "shop/web", "uid": "u1", "attempt": 1, **more}
    return DecisionRecord(time=NOON + timedelta(seconds=seconds), outcome=outcome, **fields)


FAILED = a_record(
    0,
    "unschedulable",
    attempt=3,
    message="0/2 nodes are available: 2 Insufficient cpu.",
    rejected=(RejectedGroup(plugin="NodeResourcesFit", message="Insufficient cpu", nodes=2, sample=("n1", "n2")),),
    place="backoff",
    backoff_until=NOON + timedelta(seconds=4),
    preemption=RecordedPreemption(node="n1", victims=2),
    moves=(QueueMove(time=NOON + timedelta(seconds=9), event="NodeAdd", place="active"),),
)
PLACED = a_record(
    10,
    "bound",
    attempt=4,
    node="n1",
    feasible_nodes=9,
    evaluated_nodes=10,
    ties=1,
    detailed=True,
    bound_at=NOON + timedelta(seconds=11),
    scores=(
        ScoredNode(node="n1", total=300, scores={"NodeAffinity": 200, "ImageLocality": 100}),
        ScoredNode(node="n2", total=150, scores={"NodeAffinity": 50, "ImageLocality": 100}),
        ScoredNode(node="n3", total=150, scores={"NodeAffinity": 50, "ImageLocality": 100}),
        ScoredNode(node="n4", total=100, scores={"NodeAffinity": 0, "ImageLocality": 100}),
    ),
)


def records(*decisions: DecisionRecord, seconds: float = 1) -> PodRecords:
    return PodRecords(decisions, NOON + timedelta(seconds=seconds), NOON)


def test_a_pending_pod_has_its_attempts_and_the_backoff_that_is_left() -> None:
    answer = with_records(PENDING, records(FAILED), "u1")
    assert answer.waits is not None
    assert (answer.waits.attempts, answer.waits.backoff_seconds) == (3, 3.0)
    assert answer.waits.events == PENDING.waits.events if PENDING.waits else ()
    assert answer.decisions == (FAILED,)
    assert with_records(replace(PENDING, waits=None), records(FAILED), "u1").waits == PodWaits(
        (), backoff_seconds=3.0, attempts=3
    )


def test_a_backoff_that_is_over_is_zero() -> None:
    waits = with_records(PENDING, records(FAILED, seconds=60), "u1").waits
    assert waits is not None
    assert waits.backoff_seconds == 0.0


def test_a_bound_pod_has_the_scores_of_the_time_when_it_was_decided() -> None:
    answer = with_records(ON_N1, records(PLACED, FAILED), "u1", "n1")
    placed = answer.placed
    assert placed is not None
    assert placed.chosen is not None
    assert (placed.node, placed.feasible, placed.ties, placed.at) == ("n1", 9, 1, PLACED.time)
    assert [(each.node, each.rank) for each in (placed.chosen, *placed.runners_up)] == [
        ("n1", 1),
        ("n2", 2),
        ("n3", 2),
        ("n4", 4),
    ]
    assert placed.decided_by == "NodeAffinity (+150): 150 points ahead of n2"
    assert answer.waits is None


def test_a_bound_pod_without_scores_says_why_there_are_none() -> None:
    for feasible, why in (
        (1, "no other node was feasible"),
        (5, "the scores were not recorded: the scheduler was busy"),
    ):
        record = a_record(0, "bound", node="n1", feasible_nodes=feasible)
        placed = with_records(ON_N1, records(record), "u1", "n1").placed
        assert placed is not None
        assert (placed.chosen, placed.decided_by) == (None, why)


def test_a_node_that_another_client_chose_has_no_scores() -> None:
    answer = with_records(ON_N1, records(FAILED), "u1", "n1")
    assert (answer.placed, answer.decisions) == (None, (FAILED,))


def test_decisions_about_another_pod_of_the_name_are_left_out() -> None:
    assert with_records(PENDING, records(FAILED), "u2") == PENDING
    assert with_records(PENDING, None, "u1") == PENDING


def test_what_could_not_be_read_is_a_gap_of_the_answer() -> None:
    gap = Gap("decisions", "nobody is there", "history")
    assert with_records(PENDING, PodRecords(gap=gap), "u1").gaps == (gap,)


def test_the_report_of_a_pending_pod() -> None:
    text = as_markdown(pod_report(with_records(PENDING, records(FAILED), "u1")))
    assert "- attempts: 3\n- backoff left: 3 s" in text
    assert text.endswith(
        "## What the scheduler decided\n"
        "\n"
        "| TIME | ATTEMPT | OUTCOME | NODE | WHY | THEN |\n"
        "|---|---:|---|---|---|---|\n"
        "| 2026-01-01 12:00:00 | 3 | unschedulable | - | 2 lack cpu | "
        "preempts 2 on n1; backoff until 12:00:04; NodeAdd at 12:00:09 |\n"
    )


def test_the_report_of_a_bound_pod() -> None:
    text = as_markdown(pod_report(with_records(ON_N1, records(PLACED, FAILED), "u1", "n1")))
    assert (
        "## Scores when it was scheduled, 2026-01-01 12:00:10\n"
        "\n"
        "| PLUGIN | n1 | n2 | n3 | n4 |\n"
        "|---|---:|---:|---:|---:|\n"
        "| NodeAffinity | 200 | 50 | 50 | 0 |\n"
        "| ImageLocality | 100 | 100 | 100 | 100 |\n"
        "| total | 300 | 150 | 150 | 100 |\n"
        "| rank | 1 | 2 | 2 | 4 |\n"
        "\n"
        "What decided: NodeAffinity (+150): 150 points ahead of n2.\n"
    ) in text
    assert "| 2026-01-01 12:00:10 | 4 | bound | n1 | best of 9 feasible nodes | bound at 12:00:11 |" in text


def test_the_answer_is_json() -> None:
    found = with_records(ON_N1, records(PLACED), "u1", "n1").to_dict()
    assert found["placed"]["at"] == "2026-01-01T12:00:10Z"
    (decision,) = found["decisions"]
    assert decision["feasibleNodes"] == 9
    assert decision["scores"][0] == {"node": "n1", "total": 300, "scores": {"NodeAffinity": 200, "ImageLocality": 100}}
    assert "message" not in decision
