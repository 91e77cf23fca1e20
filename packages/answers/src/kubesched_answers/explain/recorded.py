"""The part of an answer that comes from a scheduler's record: decisions, attempts and backoff, why a pod went where.

From an answer, which is about today, and records to the answer with both.
"""

from dataclasses import replace

from kubesched.model.attempt_answers import NodeScore, PlacementAnswer
from kubesched.model.placements import decided_by
from kubesched.serving.decisions import records as recorded
from kubesched.serving.decisions.records import DecisionRecord, ScoredNode
from kubesched.sources.pod_records import PodRecords
from kubesched_answers.explain.pod_answer import BOUND, FINISHED, PodAnswer, PodWaits


def with_records(answer: PodAnswer, records: PodRecords | None, uid: str, node: str = "") -> PodAnswer:
    """Return an answer with the scheduler's records of the pod; `node` is the node of a bound pod."""
    if records is None:
        return answer
    if records.gap is not None:
        return replace(answer, gaps=(*answer.gaps, records.gap))
    decisions = records.of(uid)
    if not decisions:
        return answer
    if answer.verdict in (BOUND, FINISHED):
        return replace(answer, decisions=decisions, placed=_placed(decisions, node))
    return replace(answer, decisions=decisions, waits=_waits(answer.waits, decisions[0], records))


def _waits(waits: PodWaits | None, last: DecisionRecord, records: PodRecords) -> PodWaits:
    """Return the waits of a pod, with its attempts and the remaining backoff."""
    left = 0.0
    if last.backoff_until is not None and records.now is not None:
        left = max(0.0, round((last.backoff_until - records.now).total_seconds(), 1))
    return replace(waits or PodWaits(()), attempts=last.attempt or None, backoff_seconds=left)


def _placed(decisions: tuple[DecisionRecord, ...], node: str) -> PlacementAnswer | None:
    """Return why a pod went to its node at the time; None if the record does not have it."""
    for decision in decisions:
        if decision.outcome in (recorded.BOUND, recorded.ASSUMED) and decision.node == node:
            return _placement(decision)
    return None


def _placement(decision: DecisionRecord) -> PlacementAnswer:
    scored = [_score(each, decision.scores) for each in decision.scores]
    if not scored:
        only = decision.feasible_nodes == 1
        why = "no other node was feasible" if only else "the scores were not recorded: the scheduler was busy"
        return PlacementAnswer(decision.node, decision.feasible_nodes, None, (), why, at=decision.time)
    chosen, others = scored[0], tuple(scored[1:])
    return PlacementAnswer(
        decision.node,
        decision.feasible_nodes,
        chosen,
        others,
        decided_by(chosen, others, decision.ties),
        ties=decision.ties,
        at=decision.time,
    )


def _score(node: ScoredNode, among: tuple[ScoredNode, ...]) -> NodeScore:
    """Return the score of a node with its rank: the record has all better nodes."""
    rank = 1 + sum(each.total > node.total for each in among)
    return NodeScore(node.node, rank, node.total, node.scores)
