"""How far a sweep is, on standard error: a line that is written over on a terminal, now and then a line elsewhere.

From outcomes to text. Nothing of this is in reports: it depends on the machine.
"""

import sys
import time
from collections.abc import Callable

import click

SECONDS_ON_TERMINALS = 0.2
SECONDS_ELSEWHERE = 10.0


class SweepProgress:
    """Counts runs that end, and tells of them."""

    def __init__(
        self,
        runs: int,
        *,
        terminal: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._runs = runs
        # results of before, which say nothing about the rate
        self._there = 0
        self._terminal = sys.stderr.isatty() if terminal is None else terminal
        self._clock = clock
        self._began = self._told = clock()
        self._line_open = self._begun = False
        self._seen: set[str] = set()
        self.done = self.failed = 0

    def found(self, runs: int) -> None:
        """Count runs whose results are there already."""
        self._there += runs
        self.done += runs

    def ended(self, *, failed: bool) -> None:
        """Count a run."""
        self.done += not failed
        self.failed += failed
        every = SECONDS_ON_TERMINALS if self._terminal else SECONDS_ELSEWHERE
        if self._clock() - self._told >= every:
            self._tell(self.line())

    def begin(self) -> None:
        """Tell that the sweep has begun, once."""
        if not self._begun and self._runs > self.done:
            self._begun = True
            self._tell(self.line())

    def note(self, line: str, once: str = "") -> None:
        """Tell something above the line, unless it, or what there is `once`, was told before."""
        if (once or line) not in self._seen:
            self._seen.add(once or line)
            click.echo(f"\r\x1b[K{line}" if self._line_open else line, err=True)
            self._line_open = False

    def end(self) -> None:
        """Tell how the sweep ended."""
        self._tell(self.line())
        if self._line_open:
            click.echo(err=True)
            self._line_open = False

    def line(self) -> str:
        """Return how far the sweep is, in a line."""
        ended = self.done - self._there + self.failed
        minutes = max(self._clock() - self._began, 1e-9) / 60
        rate = ended / minutes
        parts = [f"{self.done} of {self._runs} runs done"]
        if self.failed:
            parts.append(f"{self.failed} failed")
        if ended:
            parts.append(f"{rate:.0f} a minute" if rate >= 10 else f"{rate:.1f} a minute")
        left = self._runs - self.done - self.failed
        if left and ended:
            parts.append(f"{_duration(60 * left / rate)} left")
        return ", ".join(parts)

    def _tell(self, line: str) -> None:
        self._told = self._clock()
        click.echo(f"\r{line}\x1b[K" if self._terminal else line, nl=not self._terminal, err=True)
        self._line_open = self._terminal


def _duration(seconds: float) -> str:
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"
