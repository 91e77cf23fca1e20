"""Widths of columns: what fits is in one line, words stay whole, and a table is never wider than its room."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.reports.column_widths import column_widths

WORDS = st.lists(st.text("ab ü世", max_size=12), min_size=1, max_size=4)


@pytest.mark.parametrize(
    ("columns", "room", "widths"),
    [
        ([["NODE", "n1"], ["WHY", "no cpu"]], 80, [4, 6]),
        ([["NODE", "n1"], ["WHY", "it lacks cpu and memory"]], 14, [4, 10]),
        ([["A", "two words"], ["B", "a text of many words that takes lines"]], 25, [9, 16]),
        ([["A", "abcdefghij"], ["B", "ab"]], 8, [6, 2]),
        ([["A", "abcdefghij"], ["B", "abcdefgh"]], 8, [4, 4]),
        ([["a/name/of/a/file.yaml", "n1"], ["B", "a-long-name-of-a-pod"]], 34, [14, 20]),
        ([["A"], ["B"]], 0, [1, 1]),
        ([["世界"], ["x"]], 10, [4, 1]),
    ],
    ids=[
        "all fits",
        "long texts are wrapped",
        "a column that lacks little gets it",
        "the longest word is cut",
        "long words are cut to one size",
        "a long head is broken before a name is",
        "no room at all",
        "wide characters count twice",
    ],
)
def test_widths(columns: list[list[str]], room: int, widths: list[int]) -> None:
    assert column_widths(columns, room) == widths


@given(st.lists(WORDS, min_size=1, max_size=5), st.integers(10, 60))
def test_a_table_fits_its_room(columns: list[list[str]], room: int) -> None:
    widths = column_widths(columns, room)
    assert sum(widths) <= room
    assert len(widths) == len(columns)
