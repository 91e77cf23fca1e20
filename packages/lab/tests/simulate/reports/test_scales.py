"""Marks on axes: round, few, and up to the end."""

import pytest

from kubesched_lab.simulate.reports.scales import round_marks, time_marks, waiting_marks


@pytest.mark.parametrize(
    ("largest", "texts"),
    [
        (0, "0 1"),
        (1, "0 0.2 0.4 0.6 0.8 1"),
        (30, "0 10 20 30"),
        (97.3, "0 20 40 60 80 100"),
        (0.0041, "0 0.001 0.002 0.003 0.004 0.005"),
        (123456, "0 50000 100000 150000"),
    ],
)
def test_numbers(largest: float, texts: str) -> None:
    assert [mark.text for mark in round_marks(largest)] == texts.split()


@pytest.mark.parametrize(
    ("seconds", "texts"),
    [
        (0, "0"),
        (50, "0, 10 s, 20 s, 30 s, 40 s, 50 s"),
        (900, "0, 5 min, 10 min, 15 min"),
        (7200, "0, 0.5 h, 1 h, 1.5 h, 2 h"),
        (864000, "0, 2 d, 4 d, 6 d, 8 d, 10 d"),
    ],
)
def test_times(seconds: float, texts: str) -> None:
    assert ", ".join(mark.text for mark in time_marks(seconds)) == texts


@pytest.mark.parametrize(
    ("largest", "texts"), [(0, "0, 1 s"), (7, "0, 1 s, 10 s"), (1e9, "0, 1 s, 10 s, 1 min, 10 min, 1 h, 10 h, 10 d")]
)
def test_waiting_times(largest: float, texts: str) -> None:
    assert ", ".join(mark.text for mark in waiting_marks(largest)) == texts
