"""Means over seeds: intervals of Student's t."""

import pytest

from kubesched_lab.simulate.measuring.comparison import interval


@pytest.mark.parametrize(
    ("values", "mean", "off"),
    [
        ([3], 3, None),
        ([3, 3], 3, 0),
        ([1, 3], 2, 12.706),
        ([1, 2, 3], 2, 4.303 / 3**0.5),
        ([0, 1] * 50, 0.5, 1.96 * 0.50252 / 10),
    ],
)
def test_intervals(values: list[float], mean: float, off: float | None) -> None:
    found = interval(values)
    assert found.mean == mean
    assert found.off == (None if off is None else pytest.approx(off, rel=1e-4))
