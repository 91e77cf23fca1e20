"""Reasons of a consolidation: one line, without the nodes that the plan has cordoned."""

import pytest

from kubesched_answers.whatif.refusals import short_reasons

ROOM = "Insufficient cpu"
APART = "node(s) didn't match pod anti-affinity rules"
CASES = {
    "nodes that the plan cordoned do not count": (
        f"0/9 nodes are available: 3 node(s) were unschedulable, 6 {APART}. no preemption victims found.",
        f"6 {APART}",
    ),
    "a node that was cordoned before counts": (
        f"0/9 nodes are available: 4 node(s) were unschedulable, 5 {ROOM}.",
        f"5 {ROOM}, 1 node(s) were unschedulable",
    ),
    "the commonest reason comes first": (f"0/9 nodes are available: 2 {ROOM}, 7 {APART}.", f"7 {APART}, 2 {ROOM}"),
    "all others are cordoned by the plan": (
        "0/3 nodes are available: 3 node(s) were unschedulable.",
        "all other nodes are emptied, too",
    ),
    "another message stays as it is": ("the pod is gated", "the pod is gated"),
    "and so does one without counts": ("0/1 nodes are available: no claim.", "0/1 nodes are available: no claim."),
}


@pytest.mark.parametrize(("message", "reasons"), CASES.values(), ids=CASES)
def test_reasons_are_short(message: str, reasons: str) -> None:
    assert short_reasons(message, 3) == reasons
