"""Processes under attack: started with their output in a file, and ended by their own id."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

START_SECONDS, END_SECONDS = 120.0, 20.0
KUBESCHED = (sys.executable, "-m", "kubesched")


class Process:
    """A command of kubesched that runs."""

    def __init__(self, log: Path, *arguments: str, environment: Mapping[str, str] | None = None) -> None:
        self._log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [*KUBESCHED, *arguments],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(environment or {})},
            )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.poll() is None

    @property
    def text(self) -> str:
        return self._log.read_text("utf-8", errors="replace")

    def says(self, found: Callable[[str], T | None]) -> T:
        """Return what is found in its output, as soon as it is there."""

        def check() -> T | None:
            if not self.alive:
                raise RuntimeError(f"it ended while it started:\n{self.text[-2000:]}")
            return found(self.text)

        return until(check, "it starts", START_SECONDS)

    def rss(self) -> float:
        """Return its memory in MiB; 0 where there is no /proc."""
        try:
            status = Path(f"/proc/{self.pid}/status").read_text()
        except OSError:
            return 0.0
        return next((int(line.split()[1]) / 1024 for line in status.splitlines() if line.startswith("VmRSS")), 0.0)

    def signal(self, number: int) -> None:
        self._process.send_signal(number)

    def end(self) -> None:
        if self.alive:
            self._process.send_signal(signal.SIGTERM)
            try:
                self._process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                self._process.kill()
        self._process.wait()


def until(check: Callable[[], T | None], what: str, seconds: float) -> T:
    """Return what a check returns as soon as that means something; raises TimeoutError."""
    end = time.monotonic() + seconds
    while True:
        found = check()
        if found:
            return found
        if time.monotonic() > end:
            raise TimeoutError(f"not within {seconds:g} s: {what}")
        time.sleep(0.1)
