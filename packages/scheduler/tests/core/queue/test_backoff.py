"""Backoff, queue orders, and how many nodes are enough."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kubesched.core.framework.values.queue_order import active_order
from kubesched.core.framework.values.sampling import feasible_nodes_to_find, preemption_candidates_to_find
from kubesched.core.queue.backoff import (
    NO_BACKOFF,
    BackoffPolicy,
    align_to_window,
    backoff_expiry,
    backoff_order,
    backoff_seconds,
    error_backoff_order,
    is_backing_off,
)

DEFAULT = BackoffPolicy()


@pytest.mark.parametrize(
    ("policy", "unschedulable", "errors", "seconds"),
    [
        pytest.param(DEFAULT, 0, 0, 0, id="never tried, nothing to wait for"),
        pytest.param(DEFAULT, 1, 0, 1, id="the first failure costs the initial backoff"),
        pytest.param(DEFAULT, 4, 0, 8, id="it doubles with every failure"),
        pytest.param(DEFAULT, 5, 0, 10, id="up to the maximum"),
        pytest.param(DEFAULT, 10**9, 0, 10, id="and never beyond"),
        pytest.param(DEFAULT, 5, 1, 1, id="errors have their own counter"),
        pytest.param(BackoffPolicy(5, 2), 1, 0, 2, id="a maximum below the initial backoff wins"),
        pytest.param(BackoffPolicy(1, 0), 3, 3, 0, id="a maximum of zero turns backoff off"),
        pytest.param(BackoffPolicy(0, 10), 3, 0, 0, id="so does an initial backoff of zero"),
        pytest.param(BackoffPolicy(0.5, 3.5), 4, 0, 3.5, id="fractions of a second"),
        pytest.param(BackoffPolicy(1e300, 1e305), 1001, 0, 1e305, id="no overflow"),
    ],
)
def test_how_long(policy: BackoffPolicy, unschedulable: int, errors: int, seconds: float) -> None:
    assert backoff_seconds(policy, unschedulable, errors) == seconds


@pytest.mark.parametrize(
    ("policy", "timestamp", "count", "expiry"),
    [
        pytest.param(DEFAULT, 4.548, 1, 5.0, id="the expiry is the start of its window"),
        pytest.param(BackoffPolicy(windows=False), 4.5, 1, 5.5, id="without windows it is exact"),
        pytest.param(DEFAULT, 4.548, 0, NO_BACKOFF, id="no failure, no backoff"),
        pytest.param(BackoffPolicy(1, 0), 4.548, 3, NO_BACKOFF, id="turned off"),
        pytest.param(DEFAULT, -0.5, 1, 0.0, id="times before the epoch"),
    ],
)
def test_when_it_ends(policy: BackoffPolicy, timestamp: float, count: int, expiry: float) -> None:
    assert backoff_expiry(policy, timestamp, count) == expiry


def test_a_pod_waits_until_the_window_of_its_expiry_is_over() -> None:
    assert is_backing_off(DEFAULT, 5.0, 5.9)
    assert not is_backing_off(DEFAULT, 5.0, 6.0)
    assert not is_backing_off(DEFAULT, NO_BACKOFF, 0.0)


def test_active_order_is_priority_then_age() -> None:
    assert sorted([active_order(0, 1.0), active_order(5, 3.0), active_order(5, 2.0)]) == [
        active_order(5, 2.0),
        active_order(5, 3.0),
        active_order(0, 1.0),
    ]


def test_within_a_window_the_active_order_decides_but_not_among_errors() -> None:
    important, ordinary = active_order(9, 2.0), active_order(0, 1.0)
    assert backoff_order(DEFAULT, 5.0, important) < backoff_order(DEFAULT, 5.0, ordinary)
    assert backoff_order(DEFAULT, 4.0, ordinary) < backoff_order(DEFAULT, 5.0, important)
    plain = BackoffPolicy(windows=False)
    assert backoff_order(plain, 5.0, important) == backoff_order(plain, 5.0, ordinary)
    assert error_backoff_order(4.0) < error_backoff_order(5.0)


@given(st.integers(1, 200), st.floats(0, 100), st.floats(0.001, 10_000))
def test_backoff_grows_and_stays_within_its_maximum(count: int, initial: float, maximum: float) -> None:
    policy = BackoffPolicy(initial, maximum)
    assert 0 <= backoff_seconds(policy, count) <= backoff_seconds(policy, count + 1) <= maximum


@given(st.floats(-(10**9), 10**10))
def test_a_window_is_a_second(time: float) -> None:
    start = align_to_window(DEFAULT, time)
    assert start <= time < start + 1
    assert start == math.floor(time)


@pytest.mark.parametrize(
    ("nodes", "percentage", "profile", "expected"),
    [
        pytest.param(99, 10, None, 99, id="small clusters are searched whole"),
        pytest.param(100, 10, None, 100, id="a hundred is the least"),
        pytest.param(5000, 0, None, 500, id="adaptive: 50 - nodes/125"),
        pytest.param(15000, 0, None, 750, id="adaptive, but at least five percent"),
        pytest.param(1000, 90, 40, 400, id="the profile's percentage wins"),
        pytest.param(1000, 90, 0, 420, id="also when it is zero"),
    ],
)
def test_feasible_nodes_to_find(nodes: int, percentage: int, profile: int | None, expected: int) -> None:
    assert feasible_nodes_to_find(nodes, percentage, profile) == expected


@pytest.mark.parametrize(
    ("nodes", "percentage", "absolute", "expected"), [(5000, 10, 100, 500), (500, 10, 100, 100), (50, 10, 100, 50)]
)
def test_preemption_candidates_to_find(nodes: int, percentage: int, absolute: int, expected: int) -> None:
    assert preemption_candidates_to_find(nodes, percentage, absolute) == expected
