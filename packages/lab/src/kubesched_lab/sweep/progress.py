"""The progress of a sweep on standard error: on a terminal a line that is overwritten, elsewhere a line from time to
time.

From outcomes to text. Reports have no progress figures, since these depend on the machine.
"""

import sys
import time
from collections.abc import Callable

import click

SECONDS_ON_TERMINALS = 0.2
SECONDS_ELSEWHERE = 10.0


class SweepProgress:
    """Counts finished runs, and reports progress."""

    def __init__(
        self,
        runs: int,
        *,
        terminal: bool | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._runs = runs
        # earlier results, which do not count for the rate
        self._there = 0
        self._terminal = sys.stderr.isatty() if terminal is None else terminal
        self._clock = clock
        self._began = self._told = clock()
        self._line_open = self._begun = False
        self._seen: set[str] = set()
        self.done = self.failed = 0

    def found(self, runs: int) -> None:
        """Count runs that already have a result."""
        self._there += runs
        self.done += runs

    def ended(self, *, failed: bool) -> None:
        """Count a finished run."""
        self.done += not failed
        self.failed += failed
        every = SECONDS_ON_TERMINALS if self._terminal else SECONDS_ELSEWHERE
        if self._clock() - self._told >= every:
            self._write_line(self.line())

    def begin(self) -> None:
        """Report the start of the sweep, once."""
        if not self._begun and self._runs > self.done:
            self._begun = True
            self._write_line(self.line())

    def note(self, line: str, once: str = "") -> None:
        """Print a message above the progress line; a message, or a key `once`, is printed only once."""
        if (once or line) not in self._seen:
            self._seen.add(once or line)
            click.echo(f"\r\x1b[K{line}" if self._line_open else line, err=True)
            self._line_open = False

    def end(self) -> None:
        """Report the end of the sweep."""
        self._write_line(self.line())
        if self._line_open:
            click.echo(err=True)
            self._line_open = False

    def line(self) -> str:
        """Return the progress of the sweep as one line."""
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

    def _write_line(self, line: str) -> None:
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
