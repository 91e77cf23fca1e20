import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from kubesched.core.evaluation.leaders import DEPTH, Leaders

ROWS = 6
# few totals, so that many rows are equal
TOTALS = st.one_of(st.integers(0, 3), st.integers(0, 3 * DEPTH))
CHANGES = st.lists(st.one_of(st.none(), st.tuples(st.integers(0, ROWS - 1), TOTALS)), max_size=30)


@given(st.lists(TOTALS, min_size=ROWS, max_size=ROWS), CHANGES)
def test_leaders_are_the_rows_with_the_highest_total_whatever_changes(
    first: list[int], changes: list[tuple[int, int] | None]
) -> None:
    totals, leaders = np.array(first, np.int32), Leaders()
    for change in changes:
        if change is None:
            assert list(leaders.of(totals)) == np.flatnonzero(totals == totals.max()).tolist()
        else:
            row, new = change
            old, totals[row] = int(totals[row]), new
            if old != new:
                leaders.changed(row, old, new)
    assert list(leaders.of(totals)) == np.flatnonzero(totals == totals.max()).tolist()


def test_leaders_that_are_forgotten_are_looked_for_again() -> None:
    leaders = Leaders()
    assert list(leaders.of(np.array([1, 2, 2]))) == [1, 2]
    leaders.forget()
    assert list(leaders.of(np.array([3, 2, 2]))) == [0]
