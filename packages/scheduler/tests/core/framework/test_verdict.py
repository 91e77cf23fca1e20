"""Verdicts: ways to write a filter's answer for many nodes."""

import numpy as np

from kubesched.core.framework.values.status import Status, unresolvable, unschedulable
from kubesched.core.framework.values.verdict import Verdict

FULL, FAR = unschedulable("full"), unresolvable("far")


def statuses(verdict: Verdict) -> list[Status | None]:
    return [verdict.statuses[index] for index in verdict.which.tolist()]


def test_one_status_for_the_nodes_in_a_mask() -> None:
    assert statuses(Verdict.rejecting(np.array([True, False, True]), FULL)) == [FULL, None, FULL]


def test_the_same_answer_for_all_nodes() -> None:
    assert statuses(Verdict.uniform(2, None)) == [None, None]
    assert statuses(Verdict.uniform(2, FAR)) == [FAR, FAR]
    assert statuses(Verdict.uniform(0, FAR)) == []


def test_the_first_mask_that_holds_decides() -> None:
    full, far = np.array([True, True, False, False]), np.array([True, False, True, False])
    assert statuses(Verdict.first_of(4, (full, FULL), (far, FAR))) == [FULL, FULL, FAR, None]
    assert statuses(Verdict.first_of(4, (far, FAR), (full, FULL))) == [FAR, FULL, FAR, None]
    assert statuses(Verdict.first_of(2)) == [None, None]
