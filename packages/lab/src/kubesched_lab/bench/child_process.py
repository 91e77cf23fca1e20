"""A process that a benchmark starts, with a separate log.

From a command to a process that ends with its block. Ctrl-C does not reach it: the benchmark ends it after the
clean-up.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from kubesched_lab.bench.errors import BenchError

END_SECONDS = 10.0
LOG_LINES = 5


class ChildProcess:
    """A running process."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process = process
        self._log = log
        self.pid = process.pid

    @property
    def exit_code(self) -> int | None:
        """Return the exit code, None while the process runs."""
        return self._process.returncode

    def last_words(self) -> str:
        """Return the end of the log."""
        return " / ".join(self._log.read_text(errors="replace").splitlines()[-LOG_LINES:])

    async def end(self) -> None:
        """End the process: first with SIGTERM, then with SIGKILL."""
        if self._process.returncode is not None:
            return
        with suppress(ProcessLookupError):
            self._process.terminate()
        try:
            async with asyncio.timeout(END_SECONDS):
                await self._process.wait()
        except TimeoutError:
            self._process.kill()
            await self._process.wait()


@asynccontextmanager
async def child_process(words: Sequence[str], folder: Path) -> AsyncIterator[ChildProcess]:
    """Run a command until the block ends, with a log in a folder; raises BenchError if it does not start."""
    log = folder / "log"
    with _opened(log) as out:
        try:
            process = await asyncio.create_subprocess_exec(*words, stdout=out, stderr=out, start_new_session=True)
        except OSError as error:
            raise BenchError(f"{words[0]} cannot be started: {error.strerror or error}") from None
    child = ChildProcess(process, log)
    try:
        yield child
    finally:
        await child.end()


def _opened(log: Path) -> BinaryIO:
    return log.open("wb")
