"""Observers: told of what they define, dropped when they raise, and no cost to anybody else."""

import inspect
from typing import Any

import pytest

from kubesched.core.framework.observing.observer import (
    FILTER,
    HOOKS,
    NOBODY,
    SCORE,
    UNTIMED,
    Lap,
    Observer,
    Observers,
    Stopwatch,
    start,
)
from kubesched.core.framework.values.status import Code, error
from kubesched.testing import a_cluster, a_pod

POD = a_cluster().reader.read(a_pod("p"))


class Listening(Observer):
    """Remembers what it is told of attempts."""

    def __init__(self) -> None:
        self.heard: list[Any] = []

    def attempt_began(self, pod: Any) -> None:
        self.heard.append(("began", pod.name))

    def points_ran(self, profile: str, laps: Any) -> None:
        self.heard.append((profile, list(laps)))

    def plugins_asked(self, profile: str, asked: Any) -> None:
        self.heard.append((profile, list(asked)))

    def plugin_ran(self, plugin: str, point: str, status: str, seconds: float) -> None:
        self.heard.append((plugin, point, status, seconds))


class Failing(Listening):
    """Raises from the second time on."""

    def attempt_began(self, pod: Any) -> None:
        if self.heard:
            raise ValueError("no more room")
        super().attempt_began(pod)


class Deaf(Listening):
    """Wants to know of nothing."""

    def hears(self, hook: str) -> bool:
        return False


def combined(*observers: Observer, **options: Any) -> tuple[Observers, list[str]]:
    notes: list[str] = []
    return Observers(observers, clock=options.pop("clock", lambda: 0.0), note=notes.append, **options), notes


def test_every_hook_does_nothing_by_default() -> None:
    quiet = Observer()
    for hook in HOOKS:
        parameters = inspect.signature(getattr(quiet, hook)).parameters.values()
        named = {p.name: None for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
        assert getattr(quiet, hook)(*[None] * (len(parameters) - len(named)), **named) is None, hook


def test_several_observers_are_all_told() -> None:
    first, second = Listening(), Listening()
    observers, _ = combined(first, second)
    observers.attempt_began(POD)
    assert first.heard == second.heard == [("began", "p")]


def test_one_that_raises_is_dropped_and_the_others_go_on() -> None:
    failing, other = Failing(), Listening()
    observers, notes = combined(failing, other)
    for _ in range(3):
        observers.attempt_began(POD)
    assert (len(failing.heard), len(other.heard)) == (1, 3)
    assert notes == ["observer Failing is dropped: its attempt_began failed with ValueError: no more room"]


def test_one_that_is_dropped_hears_nothing_else_either() -> None:
    failing = Failing()
    observers, _ = combined(failing)
    observers.attempt_began(POD)
    observers.attempt_began(POD)
    observers.plugin_ran("P", FILTER, "Success", 1.0)
    assert failing.heard == [("began", "p")]


def test_one_that_does_not_want_to_hear_is_not_told() -> None:
    deaf = Deaf()
    observers, _ = combined(deaf)
    observers.attempt_began(POD)
    assert not deaf.heard


# -- the stopwatch


class Clock:
    """Moves on by a second with each look."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_a_stopwatch_tells_once_and_all_at_once() -> None:
    listening = Listening()
    observers, _ = combined(listening, clock=Clock())
    stopwatch = Stopwatch(observers, "mine")
    began = stopwatch.now()
    stopwatch.point(FILTER, None, began)
    stopwatch.point(SCORE, error("no"), began)
    stopwatch.asked(FILTER, ("A", "B"), 5)
    assert not listening.heard
    stopwatch.tell()
    stopwatch.tell()
    laps: list[Lap] = [(FILTER, Code.SUCCESS, 1.0), (SCORE, Code.ERROR, 2.0)]
    assert listening.heard == [("mine", laps), ("mine", [(FILTER, ("A", "B"), 5)])]


@pytest.mark.parametrize(("sampled", "told"), [(True, [("A", FILTER, "Success", 1.0)]), (False, [])])
def test_plugins_are_timed_in_sampled_cycles_only(sampled: bool, told: list[Any]) -> None:
    listening = Listening()
    observers, _ = combined(listening, clock=Clock(), sampled=lambda: sampled)
    stopwatch = Stopwatch(observers, "mine")
    stopwatch.plugin("A", FILTER, None, stopwatch.now())
    assert listening.heard == told


def test_where_nobody_observes_time_stands_still() -> None:
    stopwatch = start(NOBODY, "mine")
    assert stopwatch is UNTIMED
    stopwatch.point(FILTER, None, stopwatch.now())
    stopwatch.plugin("A", FILTER, None, stopwatch.now())
    stopwatch.tell()
    assert (stopwatch.seconds, stopwatch.sampled, stopwatch.observers) == (0.0, False, NOBODY)
