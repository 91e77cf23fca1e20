"""A scheduler as a process of its own, for tests that do to it what happens to processes.

From the arguments of `kubesched run` to a process whose log can be waited for. Whatever a test is about, at the end of
its block the log has no traceback and no secret.
"""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")

# how long anything may take that is to happen; it usually takes a moment
SECONDS = 60.0
POLL_SECONDS = 0.03
_TOKENS = re.compile(r"Bearer |PRIVATE KEY|[Pp]assword: *\S")


def eventually(check: Callable[[], T | None], what: str, seconds: float = SECONDS) -> T:
    """Return what `check` returns as soon as that means something; fails if it does not in time."""
    deadline = time.monotonic() + seconds
    while True:
        found = check()
        if found:
            return found
        assert time.monotonic() < deadline, f"not within {seconds:g} s: {what}"
        time.sleep(POLL_SECONDS)


class SchedulerProcess:
    """A scheduler that is under way, or was; `secrets` must not be in what it writes."""

    def __init__(self, process: "subprocess.Popen[bytes]", output: Path, secrets: Iterable[str] = ()) -> None:
        self.process = process
        self._output = output
        self._secrets = tuple(secrets)
        # whether somebody wanted it to end
        self._may_end = False

    @property
    def log(self) -> str:
        """Return everything that it wrote so far, with quotes as they were before they were logged."""
        return self._output.read_text("utf-8", errors="replace").replace('\\"', '"')

    def lines(self, words: str) -> list[str]:
        """Return the lines of its log that hold some words."""
        return [line for line in self.log.splitlines() if words in line]

    def says(self, words: str, seconds: float = SECONDS) -> str:
        """Return the first line that holds some words, as soon as there is one."""
        what = f"the scheduler says {words!r}"

        def check() -> str | None:
            found = self.lines(words)
            assert found or self.alive, f"{what}; it ended with {self.process.returncode}:\n{self.log}"
            return found[0] if found else None

        try:
            return eventually(check, what, seconds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.log[-3000:]}") from None

    @property
    def alive(self) -> bool:
        """Return whether it runs."""
        return self.process.poll() is None

    def ends(self, seconds: float = SECONDS) -> int:
        """Return its exit code as soon as it has ended."""
        self._may_end = True
        try:
            return self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"it did not end within {seconds:g} s:\n{self.log[-3000:]}") from None

    def end(self, number: int = signal.SIGTERM, seconds: float = SECONDS) -> int:
        """End it by a signal; return its exit code."""
        self.process.send_signal(number)
        return self.ends(seconds)

    def check(self) -> None:
        """Fail if it ended by itself, or wrote what nobody should see."""
        log = self.log
        assert self._may_end or self.alive, f"it ended by itself with {self.process.returncode}:\n{log[-3000:]}"
        assert "Traceback" not in log, log
        assert "never awaited" not in log, log
        found = _TOKENS.search(log)
        assert found is None, f"a secret is in the log: {found}"
        for secret in self._secrets:
            assert secret not in log, "a secret is in the log"


@contextmanager
def a_scheduler(
    folder: Path, *arguments: str, secrets: Iterable[str] = (), environment: dict[str, str] | None = None
) -> Iterator[SchedulerProcess]:
    """Start `kubesched run`, with its output in a folder; end it when the block is left."""
    number = len(list(folder.glob("scheduler-*.log")))
    output = folder / f"scheduler-{number}.log"
    with output.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", "kubesched", "run", *arguments],
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=subprocess.STDOUT,
            env={**os.environ, **(environment or {})},
        )
    scheduler = SchedulerProcess(process, output, secrets)
    try:
        yield scheduler
        scheduler.check()
    finally:
        if scheduler.alive:
            process.kill()
        process.wait(SECONDS)
