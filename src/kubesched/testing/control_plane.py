"""A control plane as a process of its own, for tests with clients that know nothing of us.

From the arguments of `kubesched controlplane` to a process that can be reached, until the block is left.
"""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

SECONDS = 20.0
_EXPORT = "export KUBECONFIG="


class Process(NamedTuple):
    """A process, the lines it wrote when it was ready, and the kubeconfig that leads to it."""

    process: subprocess.Popen[str]
    lines: tuple[str, ...]
    kubeconfig: Path

    @property
    def url(self) -> str:
        """Return where the server is."""
        return self.lines[0].partition(" at ")[2].partition(";")[0]

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """End it by a signal; return its exit code, and what else it wrote to both outputs."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out, err


@contextmanager
def a_control_plane(*arguments: str, **environment: str) -> Iterator[Process]:
    """Start a control plane and wait until it can be reached; end it when the block is left."""
    process = subprocess.Popen(
        [sys.executable, "-m", "kubesched", "controlplane", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **environment},
    )
    try:
        lines = _ready(process)
        yield Process(process, lines, Path(lines[-1].removeprefix(_EXPORT)))
    finally:
        if process.poll() is None:
            process.terminate()
        try:
            process.communicate(timeout=SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise


def _ready(process: subprocess.Popen[str]) -> tuple[str, ...]:
    assert process.stdout is not None
    deadline = time.monotonic() + SECONDS
    lines: list[str] = []
    while not lines or not lines[-1].startswith(_EXPORT):
        line = process.stdout.readline()
        if not line or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(f"the control plane did not start: {process.communicate()[1]}")
        lines.append(line.rstrip("\n"))
    return tuple(lines)
