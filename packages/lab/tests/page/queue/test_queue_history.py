"""The queue over time: bounded, and true at both ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.serving.queue.records import MoveCount
from kubesched_lab.page.queue.history import MOST_MOVES, MOST_SAMPLES, QueueHistory


def moved(pods: int, event: str = "NodeAdd") -> MoveCount:
    return MoveCount(event=event, from_place="unschedulable", to_place="active", pods=pods)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=1, max_size=2000))
def test_samples_are_bounded_in_order_and_end_with_the_last(counts: list[tuple[int, int]]) -> None:
    history = QueueHistory()
    for at, (ready, gated) in enumerate(counts):
        history.note(float(at), {"active": ready, "gated": gated})
    found = history.columns()
    assert len(found["at"]) <= MOST_SAMPLES
    assert found["at"] == sorted(found["at"])  # type: ignore[type-var]
    assert (found["at"][0], found["at"][-1]) == (0, len(counts) - 1)
    assert (found["active"][-1], found["gated"][-1], found["backoff"][-1]) == (*counts[-1], None)
    for time, active in zip(found["at"], found["active"], strict=True):
        assert active == counts[int(time or 0)][0], "a sample that is kept is as it was"


def test_a_clock_that_is_set_back_forgets_what_came_later() -> None:
    history = QueueHistory()
    for at in (0.0, 10.0, 20.0, 5.0):
        history.note(at, {"active": int(at)})
    assert history.columns()["at"] == [0, 5]


@pytest.mark.parametrize(
    ("readings", "expected"),
    [
        pytest.param([[moved(7)]], [], id="what happened before the first look has no time"),
        pytest.param([[], [moved(7)], [moved(9)]], [(2, 2), (1, 7)], id="differences, the newest first"),
        pytest.param([[moved(7)], [moved(7)]], [], id="nothing new"),
        pytest.param([[moved(7)], [moved(2)]], [(1, 2)], id="a scheduler that started again"),
    ],
)
def test_moves_are_the_differences_of_what_was_counted(
    readings: list[list[MoveCount]], expected: list[tuple[int, int]]
) -> None:
    history = QueueHistory()
    for at, moves in enumerate(readings):
        history.note(float(at), {}, moves)
    assert [(move["at"], move["pods"]) for move in history.moves()] == expected


def test_moves_since_the_beginning_have_a_time() -> None:
    history = QueueHistory(from_beginning=True)
    history.note(0.0, {}, [moved(7)])
    assert [(move["at"], move["pods"]) for move in history.moves()] == [(0.0, 7)]


def test_moves_are_bounded() -> None:
    history = QueueHistory()
    for at in range(MOST_MOVES + 50):
        history.note(float(at), {}, [moved(at)])
    assert len(history.moves()) == MOST_MOVES
