"""The end of a run by a signal or by --timeout, even while the loop is blocked.

    a signal while objects are loaded ──▶ the process ends at once
    a signal while the loop runs ───────▶ the loop ends; if it takes longer than LAST_SECONDS, the process ends
    a second signal ────────────────────▶ the process ends at once
    time is up ─────────────────────────▶ as after a signal, but the loop checks the time itself

A blocked loop handles no signals, so Python's own signal handlers are used, and a timer thread for --timeout.
"""

import asyncio
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any, Self

import click

# seconds in which the loop has to end
LAST_SECONDS = 5.0
SIGNALS = (signal.SIGINT, signal.SIGTERM)


class Shutdown:
    """Ends a run on a signal, or after `seconds`."""

    def __init__(self, seconds: float | None = None, words: str = "") -> None:
        self._deadline = None if seconds is None else time.monotonic() + seconds
        self._words = words
        self._tell: Callable[[], Any] | None = None
        self._before: dict[int, Any] = {}
        self._timers: list[threading.Timer] = []
        self.signals = 0
        # called with the first signal in place of ending the loop, if set: signals the child of `with-cluster`
        self.pass_on: Callable[[int], Any] | None = None
        # cleanup functions for `at_once`, which skips context managers
        self.at_end: list[Callable[[], Any]] = []

    def __enter__(self) -> Self:
        """Install the signal handlers and start the timer."""
        if threading.current_thread() is threading.main_thread():
            self._before = {number: signal.signal(number, self._signalled) for number in SIGNALS}
        if self._deadline is not None:
            self._after(self._deadline - time.monotonic(), self._time_is_up)
        return self

    def __exit__(self, *problem: object) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        for timer in self._timers:
            timer.cancel()

    @property
    def seconds_left(self) -> float:
        """Return the seconds until the timeout, infinity without one."""
        return float("inf") if self._deadline is None else max(0.0, self._deadline - time.monotonic())

    def in_loop(self) -> asyncio.Event:
        """Return an event that is set when the running loop is to end; from now on signals set it."""
        told, loop = asyncio.Event(), asyncio.get_running_loop()
        self._tell = lambda: loop.call_soon_threadsafe(told.set)
        if self.signals:
            told.set()
        return told

    def soon(self, code: int = 1) -> None:
        """End the process with a code unless it has ended within LAST_SECONDS."""
        self._after(LAST_SECONDS, lambda: self.at_once(code))

    def at_once(self, code: int, words: str = "") -> None:
        """Print a message, clean up, and end the process."""
        if words:
            click.echo(words, err=True)
        for clean in self.at_end:
            clean()
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)

    def _signalled(self, number: int, frame: Any) -> None:
        self.signals += 1
        if self.signals > 1:
            self.at_once(1)
        if self._tell is None:
            # no loop runs yet; SystemExit is not caught by handlers of errors
            click.echo("ended before all objects were loaded", err=True)
            raise SystemExit(1)
        if self.pass_on is not None:
            self.pass_on(number)
            return
        self._tell()
        # after the message of the loop itself
        self._after(LAST_SECONDS, lambda: self.at_once(1, "ended with work still under way"))

    def _time_is_up(self) -> None:
        if self._tell is None:
            self.at_once(1, f"{self._words}: objects were still being loaded")
        self._after(LAST_SECONDS, lambda: self.at_once(1, f"{self._words}: the run did not end in time"))

    def _after(self, seconds: float, do: Callable[[], Any]) -> None:
        timer = threading.Timer(min(max(0.0, seconds), threading.TIMEOUT_MAX), do)
        timer.daemon = True
        self._timers.append(timer)
        timer.start()
