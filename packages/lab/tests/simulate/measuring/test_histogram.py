"""The histogram of times: close to what went in, whatever went in."""

from hypothesis import given
from hypothesis import strategies as st

from kubesched_lab.simulate.measuring.histogram import Histogram


@given(st.lists(st.floats(0, 1e9), min_size=1), st.sampled_from([50, 90, 99]))
def test_percentiles_are_at_most_a_hundredth_below(times: list[float], percent: int) -> None:
    histogram = Histogram()
    for time in times:
        histogram.add(time)
    needed = -(-len(times) * percent // 100)
    exact = sorted(times)[needed - 1]
    assert exact * 0.99 <= histogram.percentile(percent) <= exact
    assert histogram.largest == max(times)


def test_nothing_is_zero() -> None:
    assert (Histogram().percentile(99), Histogram().mean()) == (0, 0)
