"""A control plane as a process of its own, for tests with clients that know nothing of us.

From the arguments of `kubesched controlplane`, or of `kubesched up`, to a process that can be reached, until the block
is left.
"""

import os
import signal
import ssl
import subprocess
import sys
import time
import urllib.request
from base64 import b64decode
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from kubesched.config.document import parse

SECONDS = 120.0
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

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """Return the document that a request is answered with; HTTPError if it is refused."""
        config = parse(self.kubeconfig.read_bytes())
        cluster, token = config["clusters"][0]["cluster"], config["users"][0]["user"]["token"]
        trusting = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())
        request = urllib.request.Request(
            cluster["server"] + path,
            data=None if body is None else msgspec.json.encode(body),
            headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
            method=method,
        )
        with urllib.request.urlopen(request, timeout=SECONDS, context=trusting) as answer:
            return msgspec.json.decode(answer.read())

    def end(self, number: int = signal.SIGTERM) -> tuple[int, str, str]:
        """End it by a signal; return its exit code, and what else it wrote to both outputs."""
        self.process.send_signal(number)
        out, err = self.process.communicate(timeout=SECONDS)
        return self.process.returncode, out, err


@contextmanager
def a_control_plane(*arguments: str, **environment: str) -> Iterator[Process]:
    """Start a control plane and wait until it can be reached; end it when the block is left."""
    with _started(("controlplane", *arguments), environment) as process:
        yield process


@contextmanager
def a_local_cluster(*arguments: str, **environment: str) -> Iterator[Process]:
    """Start a cluster that stays and wait until it can be reached; end it when the block is left."""
    with _started(("up", *arguments), environment) as process:
        yield process


@contextmanager
def _started(arguments: Sequence[str], environment: Mapping[str, str]) -> Iterator[Process]:
    process = subprocess.Popen(
        [sys.executable, "-m", "kubesched", *arguments],
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
            raise AssertionError(f"it did not start: {process.communicate()[1]}")
        lines.append(line.rstrip("\n"))
    return tuple(lines)
