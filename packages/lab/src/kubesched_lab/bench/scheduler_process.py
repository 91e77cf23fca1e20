"""A scheduler as a child process, for one run.

From a command to a process with a configuration, a port and a log; and to its processor time, its memory and its
metrics.
"""

import asyncio
import os
import shlex
import socket
import ssl
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import aiohttp
import msgspec

from kubesched_lab.bench.child_process import ChildProcess, child_process
from kubesched_lab.bench.errors import BenchError
from kubesched_lab.bench.figures import Usage
from kubesched_lab.bench.metrics_text import AttemptMetrics
from kubesched_lab.bench.scheduler_config import gate_flags, process_config
from kubesched_lab.bench.target import AttemptFigures
from kubesched_lab.simulate.traces.perf.perf_cases import PerfRun

OWN = (
    f"{shlex.quote(sys.executable)} -m kubesched run --config={{config}} --secure-port={{port}} "
    "--authorization-always-allow-paths=/healthz,/readyz,/livez,/metrics {gates}"
)
READY_SECONDS = 60.0
# time to start for a scheduler without a port
START_SECONDS = 5.0


class SchedulerCommand(msgspec.Struct, frozen=True):
    """A command line with {config}, {kubeconfig}, {port} and {gates}, and its name in tables."""

    name: str
    text: str

    def words(self, **values: str) -> list[str]:
        """Return the arguments of the command, with values filled in; raises BenchError."""
        text = self.text
        for key, value in values.items():
            text = text.replace(f"{{{key}}}", value)
        try:
            words = shlex.split(text)
        except ValueError as error:
            raise BenchError(f"the scheduler {self.text!r} is not a command: {error}") from None
        if not words:
            raise BenchError("the command of the scheduler is empty")
        return words


def named(text: str) -> SchedulerCommand:
    """Return a command with a name: its program, and the arguments before its first option."""
    words = text.split()
    name = " ".join([Path(words[0]).name, *(word for word in words[1:2] if word[0] not in "-{")]) if words else ""
    return SchedulerCommand(name, text)


class StartedScheduler:
    """A running scheduler."""

    def __init__(self, command: SchedulerCommand, child: ChildProcess, port: int) -> None:
        self._command = command
        self._child = child
        self._port = port if "{port}" in command.text else 0

    def check(self) -> None:
        """Raise BenchError if the process has ended."""
        if self._child.exit_code is not None:
            said = self._child.last_words()
            raise BenchError(
                f"{self._command.name} has ended with exit code {self._child.exit_code}"
                + (f"; its last words: {said}" if said else "")
            )

    def usage(self) -> Usage | None:
        """Return processor time and peak memory of the process, None on systems without /proc."""
        folder = Path(f"/proc/{self._child.pid}")
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            ticks = sum(int(field) for field in fields[11:15])
            peak = next(line for line in (folder / "status").read_text().splitlines() if line.startswith("VmHWM"))
        except (OSError, StopIteration, IndexError):
            return None
        return Usage(ticks / os.sysconf("SC_CLK_TCK"), int(peak.split()[1]) / 1024)

    async def until_ready(self) -> None:
        """Wait until the scheduler is ready; one without a port gets some seconds."""
        if not self._port:
            await asyncio.sleep(START_SECONDS)
            self.check()
            return
        try:
            async with asyncio.timeout(READY_SECONDS):
                while await self._get("/healthz") is None:
                    self.check()
                    await asyncio.sleep(0.2)
        except TimeoutError:
            raise BenchError(
                f"{self._command.name} does not answer at port {self._port}; with {{port}} it serves /healthz there"
            ) from None

    async def metrics(self) -> AttemptMetrics | None:
        """Return the metrics of attempts; None if they are not readable."""
        text = await self._get("/metrics") if self._port else None
        return None if text is None else AttemptMetrics(text)

    async def _get(self, path: str) -> str | None:
        # the scheduler on this machine signs its certificate itself
        trusting = ssl.create_default_context()
        trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
        try:
            async with (
                aiohttp.ClientSession() as session,
                session.get(f"https://127.0.0.1:{self._port}{path}", ssl=trusting) as response,
            ):
                return await response.text() if response.status == 200 else None
        except (aiohttp.ClientError, OSError):
            return None


class ProcessMeter:
    """Measures the attempts of a process by its metrics."""

    def __init__(self, process: StartedScheduler | None, before: AttemptMetrics | None) -> None:
        self._process = process
        self._before = before

    async def read(self) -> AttemptFigures | None:
        """Return the attempts since the meter was created, None if they are unknown."""
        after = await self._process.metrics() if self._process is not None else None
        return after.since(self._before) if after is not None and self._before is not None else None


@asynccontextmanager
async def running_scheduler(
    command: SchedulerCommand, run: PerfRun, config: Path | None, kubeconfig: Path
) -> AsyncIterator[StartedScheduler]:
    """Run a scheduler until the block ends."""
    with tempfile.TemporaryDirectory(prefix="kubesched-bench-") as name:
        configuration = _write(process_config(run, config, kubeconfig), Path(name, "config.yaml"))
        port, gates = free_port(), shlex.join(gate_flags(run))
        words = command.words(config=configuration, kubeconfig=str(kubeconfig), port=str(port), gates=gates)
        async with child_process(words, Path(name)) as child:
            process = StartedScheduler(command, child, port)
            await process.until_ready()
            yield process


def _write(text: str, file: Path) -> str:
    file.write_text(text)
    return str(file)


def free_port() -> int:
    """Return a port of this machine that is free at the moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
