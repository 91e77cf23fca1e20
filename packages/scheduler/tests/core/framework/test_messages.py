"""The text of a pod that fits nowhere."""

import numpy as np
import pytest

from kubesched.core.framework.results.messages import count_reasons, fit_error_message, verdict_reasons
from kubesched.core.framework.results.outcomes import NodeVerdicts
from kubesched.core.framework.values.status import SUCCESS, StatusTable, unresolvable, unschedulable


@pytest.mark.parametrize(
    ("what", "arguments", "expected"),
    [
        (
            "reasons are sorted as texts, so that 10 comes before 2",
            (12, {"Too many pods": 2, "Insufficient cpu": 10}),
            "0/12 nodes are available: 10 Insufficient cpu, 2 Too many pods.",
        ),
        (
            "what PreFilter says replaces the nodes' reasons",
            (3, {"Insufficient cpu": 3}, "pod affinity terms conflict", "not found"),
            "0/3 nodes are available: pod affinity terms conflict. not found",
        ),
        (
            "what PostFilter says comes last and brings its own full stop",
            (1, {"Insufficient cpu": 1}, "", "no new claims to deallocate"),
            "0/1 nodes are available: 1 Insufficient cpu. no new claims to deallocate",
        ),
        ("with no reason at all only the count remains", (0, {}), "0/0 nodes are available:"),
    ],
    ids=lambda value: value if isinstance(value, str) and " " in value else "",
)
def test_fit_error_message(what: str, arguments: tuple[object, ...], expected: str) -> None:
    assert fit_error_message(*arguments) == expected, what  # type: ignore[arg-type]


def test_every_reason_of_a_status_is_counted() -> None:
    statuses = StatusTable()
    both = statuses.intern(unschedulable("Insufficient cpu", "Too many pods"), "NodeResourcesFit")
    one = statuses.intern(unschedulable("Insufficient cpu"), "NodeResourcesFit")
    ids = np.array([both, one, one, 0], np.int16)
    assert count_reasons(ids, statuses, unresolvable("elsewhere"), 2) == {
        "Insufficient cpu": 3,
        "Too many pods": 1,
        "elsewhere": 2,
    }


def test_nodes_that_nobody_judged_count_with_the_status_of_absent_ones() -> None:
    statuses = StatusTable()
    full = statuses.intern(unschedulable("Insufficient cpu"), "NodeResourcesFit")
    ids = np.array([full, 0, 0, full], np.int16)
    judged = np.array([True, False, False, False])
    present = np.array([True, True, True, False])
    narrowed = NodeVerdicts(ids, judged, unresolvable("not asked"), statuses)
    assert verdict_reasons(narrowed, present) == {"Insufficient cpu": 1, "not asked": 2}
    everywhere = NodeVerdicts(ids, None, SUCCESS, statuses)
    assert verdict_reasons(everywhere, present) == {"Insufficient cpu": 1}
