"""Processes: the subject that is measured, and a control plane that is started for it.

From commands to processes that have ended when their blocks end; and to processor time and memory.
"""

import asyncio
import os
import shlex
import signal
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from benchmarks.cluster import TICKS, cpu_seconds
from benchmarks.controlplane import memory_mib
from benchmarks.living.errors import LivingError

END_SECONDS = 10.0
LOG_LINES = 10


class Process:
    """A process that runs, with a log; `name` is its command."""

    def __init__(self, name: str, process: asyncio.subprocess.Process, log: Path) -> None:
        self.name = name
        self.pid = process.pid
        self._process = process
        self._log = log

    def check(self) -> None:
        """Raise LivingError if the process has ended."""
        code = self._process.returncode
        if code is not None:
            raise LivingError(f"{self.name} ended with exit code {code}:\n{self.last_lines()}")

    def last_lines(self) -> str:
        """Return the end of the log."""
        return "\n".join(self._log.read_text(errors="replace").splitlines()[-LOG_LINES:])

    def cpu_seconds(self) -> float:
        """Return the processor time so far."""
        self.check()
        return cpu_seconds(self.pid)

    def memory_mib(self) -> float:
        """Return the resident memory."""
        self.check()
        return memory_mib(self.pid)

    def peak_mib(self) -> float:
        """Return the largest resident memory so far."""
        self.check()
        return memory_mib(self.pid, "VmHWM")

    async def end(self) -> None:
        """End the process and all that it has started."""
        if self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.terminate()
            with suppress(TimeoutError):
                async with asyncio.timeout(END_SECONDS):
                    await self._process.wait()
        # the process leads a group of its own
        with suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        await self._process.wait()


@asynccontextmanager
async def started(name: str, words: list[str]) -> AsyncIterator[Process]:
    """Run a command until the block ends."""
    if not words:
        raise LivingError(f"the command of {name} is empty")
    with tempfile.TemporaryDirectory(prefix="living-") as folder:
        log = Path(folder) / "log"
        with log.open("wb") as out:
            try:
                process = await asyncio.create_subprocess_exec(*words, stdout=out, stderr=out, start_new_session=True)
            except OSError as error:
                raise LivingError(f"{words[0]} cannot be started: {error.strerror or error}") from None
        running = Process(name, process, log)
        try:
            yield running
        finally:
            await running.end()


def words_of(command: str, **values: str) -> list[str]:
    """Return the words of a command, with values in the place of their names in braces."""
    for key, value in values.items():
        command = command.replace(f"{{{key}}}", shlex.quote(value))
    try:
        return shlex.split(command)
    except ValueError as error:
        raise LivingError(f"{command!r} is no command: {error}") from None


def machine_cpu_seconds() -> float:
    """Return the processor time that all processes of the machine have taken."""
    first = Path("/proc/stat").read_text().partition("\n")[0].split()
    user, nice, system, _, _, irq, soft_irq = (int(field) for field in first[1:8])
    return (user + nice + system + irq + soft_irq) / TICKS
