"""Timers without tasks: a heap of functions and the times at which they are due."""

import math
from collections.abc import Callable
from heapq import heappop, heappush
from itertools import count
from random import Random
from typing import Any


class Timers:
    """Functions to call at their times; `now` is the time of the function that runs."""

    def __init__(self, now: float = 0.0) -> None:
        self.now = now
        self._heap: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._numbers = count()

    def after(self, seconds: float, function: Callable[..., None], *args: Any) -> None:
        """Call a function after some seconds."""
        heappush(self._heap, (self.now + seconds, next(self._numbers), function, args))

    @property
    def next_time(self) -> float:
        """Return when the next function is due, infinity without one."""
        return self._heap[0][0] if self._heap else math.inf

    def run(self, until: float) -> None:
        """Call the functions that are due by a time, in the order of their times."""
        heap = self._heap
        while heap and heap[0][0] <= until:
            self.now, _, function, args = heappop(heap)
            function(*args)
        self.now = max(self.now, until)


class Poisson:
    """Calls a function at random times, at a rate that may change; a seed and a rate always give the same intervals."""

    def __init__(self, timers: Timers, seed: str, function: Callable[[], None], rate: float = 0.0) -> None:
        self._timers = timers
        self._seed = seed
        self._chance = Random()
        self._function = function
        self._rate = 0.0
        # counts changes of the rate: timers of an earlier rate do nothing
        self._generation = 0
        self.set_rate(rate)

    def set_rate(self, rate: float) -> None:
        """Call the function `rate` times a second from now on."""
        if rate != self._rate:
            self._rate = rate
            self._generation += 1
            self._chance.seed(f"{self._seed} {rate}")
            self._plan()

    def _plan(self) -> None:
        if self._rate > 0:
            self._timers.after(self._chance.expovariate(self._rate), self._fire, self._generation)

    def _fire(self, generation: int) -> None:
        if generation == self._generation:
            self._plan()
            self._function()
