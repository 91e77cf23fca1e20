"""The scheduler's decisions about a pod, as blocks.

From the decisions in an answer to a table, the newest first.
"""

from collections.abc import Iterator
from datetime import datetime

from kubesched.reports.blocks import Section, Table
from kubesched.reports.plain_words import counted
from kubesched.serving.decisions.records import DecisionRecord

MOST_SHOWN = 8
MOST_EVENTS = 2


def decisions_section(decisions: tuple[DecisionRecord, ...]) -> Iterator[Section]:
    """Return the section about the scheduler's decisions, if there are any."""
    if not decisions:
        return
    rows: list[tuple[str, ...]] = []
    why = ""
    for each in decisions:
        above, why = why, _why(each)
        rows.append(
            (
                moment(each.time),
                str(each.attempt or ""),
                each.outcome,
                each.node or each.nominated_node or "-",
                "the same" if why and why == above else why,
                _then(each),
            )
        )
    columns = ("TIME", "ATTEMPT", "OUTCOME", "NODE", "WHY", "THEN")
    yield Section(
        "What the scheduler decided", (Table(columns, rows, numeric=frozenset({"ATTEMPT"}), most=MOST_SHOWN),)
    )


def moment(time: datetime) -> str:
    """Return a time in the form for people."""
    return time.strftime("%Y-%m-%d %H:%M:%S")


def _why(record: DecisionRecord) -> str:
    if record.rejected:
        return counted((each.message, each.nodes) for each in record.rejected)
    if record.message:
        # the reasons of nodes, without PostFilter's message
        return record.message.partition(". ")[0]
    if not record.feasible_nodes:
        return ""
    tie = f", {record.ties:,} tied" if record.ties > 1 else ""
    return f"best of {record.feasible_nodes:,} feasible nodes{tie}" if record.feasible_nodes > 1 else "the only node"


def _then(record: DecisionRecord) -> str:
    """Return what happened next: a preemption, a backoff, the event that moved the pod."""
    parts = []
    if record.preemption is not None:
        parts.append(f"preempts {record.preemption.victims} on {record.preemption.node}")
    if record.backoff_until is not None:
        parts.append(f"backoff until {record.backoff_until.strftime('%H:%M:%S')}")
    if record.moves:
        events = " and ".join(dict.fromkeys(move.event for move in record.moves[-MOST_EVENTS:]))
        parts.append(f"{events} at {record.moves[-1].time.strftime('%H:%M:%S')}")
    if record.bound_at is not None:
        parts.append(f"bound at {record.bound_at.strftime('%H:%M:%S')}")
    return "; ".join(parts)
