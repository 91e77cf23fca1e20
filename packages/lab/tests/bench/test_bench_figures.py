"""Figures of benchmarks: the reference's samples and percentiles, and metrics of attempts."""

import pytest

from kubesched_lab.bench.figures import Throughput, samples_of, spread_of, throughput_of
from kubesched_lab.bench.metrics_text import AttemptMetrics, quantile


def steady(rate: int, first: float, last: float) -> list[float]:
    """Return the times of pods that are bound at a steady rate."""
    return [first + (number + 0.5) / rate for number in range(round(rate * (last - first)))]


@pytest.mark.parametrize(
    ("bound", "ended", "samples"),
    [
        pytest.param([], 10.0, [], id="no pods, no samples"),
        pytest.param(steady(10, 0, 0.9), 0.9, [], id="less than a second has no sample"),
        pytest.param(steady(10, 0, 2), 2.0, [10], id="the first second is left out"),
        pytest.param(steady(10, 0, 1) + steady(30, 1, 3), 3.0, [30, 30], id="a sample each second"),
        pytest.param(steady(10, 2, 5), 5.0, [10, 10], id="the first second with a pod is left out"),
        pytest.param([0.5, 1.5, 3.5], 4.0, [1, 0.5, 0.5], id="seconds without a pod share a rate with the next"),
        pytest.param([0.5, 1.5], 9.0, [1], id="seconds after the last pod do not count"),
    ],
)
def test_samples_are_those_of_the_reference(bound: list[float], ended: float, samples: list[float]) -> None:
    assert samples_of(bound, 0.0, ended) == samples


def test_the_average_is_that_of_samples() -> None:
    bound = steady(10, 0, 1) + steady(20, 1, 2) + steady(40, 2, 3)
    assert throughput_of(bound, 0.0, 3.0) == Throughput(30, 2, 20, 40, 40, 40)


def test_without_samples_the_average_is_that_of_the_whole_time() -> None:
    assert throughput_of([0.1, 0.2, 0.5], 0.0, 0.6) == Throughput(6.0)
    assert throughput_of([], 0.0, 0.6) is None


def test_percentiles_are_values_that_were_measured() -> None:
    spread = spread_of([float(number) for number in range(1, 201)])
    assert spread is not None
    assert (spread.average, spread.perc50, spread.perc90, spread.perc95, spread.perc99) == (100.5, 100, 180, 190, 198)
    assert spread_of([]) is None


METRICS = """\
# HELP scheduler_schedule_attempts_total attempts
# TYPE scheduler_schedule_attempts_total counter
scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} %d
scheduler_schedule_attempts_total{profile="default-scheduler",result="error"} 1
# TYPE scheduler_scheduling_attempt_duration_seconds histogram
scheduler_scheduling_attempt_duration_seconds_bucket{result="scheduled",le="0.001"} %d
scheduler_scheduling_attempt_duration_seconds_bucket{result="scheduled",le="0.002"} %d
scheduler_scheduling_attempt_duration_seconds_bucket{result="scheduled",le="+Inf"} %d
scheduler_scheduling_attempt_duration_seconds_sum{result="scheduled"} %f
scheduler_scheduling_attempt_duration_seconds_count{result="scheduled"} %d
# TYPE other counter
other_total 5
"""


def test_attempts_are_read_from_metrics() -> None:
    before = AttemptMetrics(METRICS % (2, 2, 2, 2, 0.001, 2))
    after = AttemptMetrics(METRICS % (12, 7, 12, 12, 0.013, 12))
    found = after.since(before)
    assert found.results == {"scheduled": 10}
    assert found.durations is not None
    assert found.durations.average == pytest.approx(1.2)
    assert found.durations.perc50 == pytest.approx(1.0)
    assert found.durations.perc90 == pytest.approx(1.8)
    assert after.since(after).durations is None


def test_a_quantile_beyond_the_last_bound_is_that_bound() -> None:
    assert quantile([(1.0, 1.0), (float("inf"), 10.0)], 0.9) == 1.0
