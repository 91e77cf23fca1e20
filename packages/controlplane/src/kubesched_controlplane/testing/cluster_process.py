"""A cluster in a separate process, for tests: `kubesched with-cluster` that ends with its starter.

In: nodes, and options of `kubesched with-cluster`. Out: a kubeconfig and the address of the API server, for any client.
The cluster waits for the end of a pipe that its starter holds, so it ends even if the starter is killed.
"""

import json
import os
import shlex
import signal
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request
from base64 import b64decode
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Any, Self
from urllib.error import HTTPError

from kubesched.errors import KubeschedError

START_SECONDS, END_SECONDS, ANSWER_SECONDS = 120.0, 30.0, 30.0
POLL_SECONDS = 0.05
# lines of its last output to show when it fails
MOST_LINES = 20
READY = "kubesched-cluster-is-ready "
# the command of `kubesched with-cluster`: it prints the path of the kubeconfig, and ends with its standard input
WAITING = f"import os, sys; print({READY!r} + os.environ['KUBECONFIG'], flush=True); sys.stdin.read()"


class ClusterProcessError(KubeschedError):
    """A cluster that does not start, or does not answer; the text has the end of its output."""


class ClusterProcess:
    """A cluster of `kubesched with-cluster` in a separate process, between `with` and the end of the block.

    `options` are options and FILES of `kubesched with-cluster`; with 0 nodes, FILES have them. `kubeconfig` leads to
    the API server at `server`.
    """

    kubeconfig: Path
    server: str

    def __init__(self, nodes: int = 3, options: Sequence[str] = ()) -> None:
        self._arguments = [*(["--nodes", str(nodes)] if nodes else []), *options]
        self._process: subprocess.Popen[bytes] | None = None
        self._folder = tempfile.TemporaryDirectory(prefix="kubesched-")
        self._log = Path(self._folder.name) / "log"
        self._token, self._trust = "", ssl.create_default_context()

    @property
    def command(self) -> str:
        """Return the command that starts the cluster."""
        return shlex.join(["kubesched", "with-cluster", *self._arguments])

    def __enter__(self) -> Self:
        # modules are not imported from the test's folder; Ctrl-C does not reach the cluster
        kubesched, waiting = [sys.executable, "-P", "-m", "kubesched"], [sys.executable, "-c", WAITING]
        command = [*kubesched, "with-cluster", *self._arguments, "--", *waiting]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=log, stderr=subprocess.STDOUT, start_new_session=True
            )
        try:
            self.kubeconfig = self._ready(self._process)
            self._read(self.kubeconfig)
        except BaseException:
            self.end()
            raise
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def end(self) -> None:
        """End the cluster, and wait until it has ended."""
        process, self._process = self._process, None
        if process is not None and process.stdin is not None:
            with suppress(OSError):
                process.stdin.close()
            try:
                process.wait(END_SECONDS)
            except subprocess.TimeoutExpired:
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        self._folder.cleanup()

    def request(self, method: str, path: str, body: dict[str, Any] | None = None) -> dict[str, Any]:
        """Return the API server's response; ClusterProcessError with its message if it refuses."""
        request = urllib.request.Request(
            self.server + path,
            None if body is None else json.dumps(body).encode(),
            {"Authorization": f"Bearer {self._token}", "Content-Type": "application/json"},
            method=method,
        )
        # proxies of the environment do not apply to this machine
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=self._trust)
        )
        try:
            with opener.open(request, timeout=ANSWER_SECONDS) as answer:
                found: dict[str, Any] = json.loads(answer.read())
                return found
        except HTTPError as error:
            with error:
                raise ClusterProcessError(f"{method} {path}: {_message(error)}") from None
        except (OSError, ValueError) as error:
            reason = getattr(error, "reason", error)
            raise ClusterProcessError(f"{method} {path}: {reason}{self._last_words()}") from None

    def create_namespace(self, name: str) -> None:
        """Create a namespace."""
        self.request(
            "POST", "/api/v1/namespaces", {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name}}
        )

    def delete_namespace(self, name: str) -> None:
        """Delete a namespace with all its objects, without waiting for the end."""
        self.request("DELETE", f"/api/v1/namespaces/{name}")

    def _ready(self, process: "subprocess.Popen[bytes]") -> Path:
        """Return the kubeconfig as soon as the cluster is ready."""
        deadline = time.monotonic() + START_SECONDS
        while True:
            ended = process.poll() is not None
            for line in self._lines():
                if line.startswith(READY):
                    return Path(line.removeprefix(READY))
            if ended:
                raise ClusterProcessError(
                    f"`{self.command}` has ended with exit code {process.returncode}{self._last_words()}"
                )
            if time.monotonic() > deadline:
                raise ClusterProcessError(
                    f"`{self.command}` is not ready within {START_SECONDS:g} s{self._last_words()}"
                )
            time.sleep(POLL_SECONDS)

    def _read(self, kubeconfig: Path) -> None:
        import yaml

        found = yaml.safe_load(kubeconfig.read_text("utf-8"))
        cluster = found["clusters"][0]["cluster"]
        self.server, self._token = cluster["server"], found["users"][0]["user"]["token"]
        self._trust = ssl.create_default_context(cadata=b64decode(cluster["certificate-authority-data"]).decode())

    def _lines(self) -> list[str]:
        if not self._log.exists():
            return []
        # the last line may be incomplete
        return self._log.read_text("utf-8", errors="replace").rpartition("\n")[0].splitlines()

    def _last_words(self) -> str:
        lines = [line for line in self._lines() if not line.startswith(READY)][-MOST_LINES:]
        return "; it wrote:\n" + "\n".join(lines) if lines else ""


def _message(error: HTTPError) -> str:
    """Return the message of a Status, or else the phrase of the HTTP status code."""
    try:
        return str(json.loads(error.read())["message"])
    except (OSError, ValueError, TypeError, KeyError):
        return error.reason
