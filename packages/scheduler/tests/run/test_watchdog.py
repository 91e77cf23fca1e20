"""The watchdog: how often it checks, and what it does when the loop stands still."""

from threading import Event

import pytest

from kubesched.run.watchdog import SHORTEST_SECONDS, Watchdog

PATIENCE = 30.0


@pytest.mark.parametrize(
    ("limit", "period", "why"),
    [
        (30.0, 2.0, "the default limit: an idle scheduler wakes up every two seconds"),
        (3600.0, 2.0, "a long limit: the health check still shows soon that the loop turns"),
        (3.0, 0.75, "a short limit: several checks, so that one late turn is not taken for a stuck loop"),
        (SHORTEST_SECONDS, 0.5, "the shortest limit"),
    ],
)
def test_the_watchdog_checks_several_times_within_its_limit_and_seldom(limit: float, period: float, why: str) -> None:
    assert Watchdog(limit, lambda _: None, lambda _: None).period_seconds == period, why


def test_a_loop_that_does_not_beat_is_reported_as_stuck_once_the_limit_has_passed() -> None:
    stuck, left = Event(), Event()
    reports: list[float] = []

    def report(seconds: float) -> None:
        reports.append(seconds)
        stuck.set()

    watchdog = Watchdog(0.04, report, lambda _: left.set())
    watchdog.start()
    assert stuck.wait(PATIENCE)
    assert reports == [pytest.approx(0.04)]
    assert watchdog.problem() is not None
    watchdog.beat()
    assert left.wait(PATIENCE)
