"""Progress of simulations on standard error: a progress bar on a terminal, one line a run elsewhere.

From reports of a simulation to lines. Real time is in these lines only, never in a report.
"""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

import click
from rich.console import Console
from rich.live import Live
from rich.progress_bar import ProgressBar
from rich.table import Table
from rich.text import Text

from kubesched_lab.simulate.simulation import SimulationProgress

TELL_SECONDS = 0.1


@contextmanager
def progress_of(name: str, until: float | None, *, bar: bool | None = None) -> Iterator["ProgressTeller"]:
    """Show the progress of one run during a block, and its end; `bar` says whether to draw on a terminal."""
    shown = sys.stderr.isatty() if bar is None else bar
    teller = ProgressTeller(name, until, Console(stderr=True) if shown else None)
    try:
        yield teller
    finally:
        teller.end()


class ProgressTeller:
    """Shows the progress of a run."""

    def __init__(self, name: str, until: float | None, console: Console | None) -> None:
        self._name = name
        self._until = until
        self._began = self._told = time.monotonic()
        self._last = SimulationProgress(0.0, 0, 0)
        self._live: Live | None = None
        if console is not None:
            self._live = Live(console=console, auto_refresh=False, transient=True)
            self._live.start()

    def __call__(self, progress: SimulationProgress) -> None:
        """Show the progress; a terminal is updated some times a second."""
        self._last = progress
        now = time.monotonic()
        if self._live is not None and now - self._told > TELL_SECONDS:
            self._told = now
            self._live.update(self.drawn(now - self._began), refresh=True)

    def end(self) -> None:
        """Print the summary of the run."""
        if self._live is not None:
            self._live.stop()
        if self._last.events:
            last, seconds = self._last, max(time.monotonic() - self._began, 1e-9)
            click.echo(
                f"{self._name}: {last.seconds:.0f} s simulated in {seconds:.1f} s, {last.bound} pods bound "
                f"({last.bound / seconds:.0f} a second)",
                err=True,
            )

    def drawn(self, seconds: float) -> Table:
        """Return the line after some real seconds: a bar if the end is known, and the progress of the run."""
        last = self._last
        rate = last.bound / max(seconds, 1e-9)
        cells: list[Text | ProgressBar] = [Text(self._name)]
        if self._until:
            cells.append(ProgressBar(self._until, last.seconds, width=12))
            cells.append(Text(f"{min(last.seconds / self._until, 1):.0%}"))
        cells.append(Text(_spoken(last.seconds)))
        cells.append(Text(f"{last.bound} bound, {rate:.0f}/s, {last.pending} pending"))
        # one line in any terminal: a longer text is cut
        line = Table.grid(padding=(0, 1))
        for number in range(len(cells)):
            line.add_column(no_wrap=True, overflow="ellipsis", ratio=int(number == len(cells) - 1) or None)
        line.add_row(*cells)
        return line


def _spoken(seconds: float) -> str:
    """Return a simulated time such as 2d 3:04:05."""
    minutes, second = divmod(int(seconds), 60)
    hours, minute = divmod(minutes, 60)
    days, hour = divmod(hours, 24)
    return (f"{days}d " if days else "") + f"{hour}:{minute:02}:{second:02}"
