"""Credentials from a program: what kubeconfig calls an exec plugin.

From a command to a token, a client certificate or both, kept until they expire or are rejected. The program gets an
ExecCredential in the variable KUBERNETES_EXEC_INFO, and writes one with the credentials to its standard output.
"""

# upstream: client-go/plugin/pkg/client/auth/exec/exec.go (v1.36)

import os
import selectors
import ssl
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

import msgspec

from kubesched.api.meta import Timestamp
from kubesched.client.credentials.sources import CredentialsError, Proof, Secret, bearer
from kubesched.client.credentials.tls import TlsError, load_identity
from kubesched.config.document import DocumentError, parse

API_VERSIONS = ("client.authentication.k8s.io/v1", "client.authentication.k8s.io/v1beta1")
INTERACTIVE_MODES = ("Never", "IfAvailable", "Always")
INFO = "KUBERNETES_EXEC_INFO"
# differs (D-073): the reference waits without a timeout
LONGEST_RUN_SECONDS = 60.0
# credentials have a few kilobytes
LARGEST_OUTPUT = 1 << 20


class ExecVariable(Secret, frozen=True):
    """A variable for the environment of a program."""

    name: str = ""
    value: str = ""


class ExecConfig(msgspec.Struct, frozen=True, rename="camel"):
    """users[].user.exec of a kubeconfig."""

    command: str = ""
    args: tuple[str, ...] = ()
    env: tuple[ExecVariable, ...] = ()
    api_version: str = ""
    install_hint: str = ""
    provide_cluster_info: bool = False
    interactive_mode: str = ""


class _Status(Secret, frozen=True, rename="camel"):
    token: str = ""
    client_certificate_data: str = ""
    client_key_data: str = ""
    expiration_timestamp: Timestamp | None = None


class _Answer(msgspec.Struct, rename="camel"):
    api_version: str = ""
    kind: str = ""
    status: _Status | None = None


class ExecPlugin:
    """Runs a program for credentials; `cluster` is passed to the program if provideClusterInfo is set."""

    def __init__(
        self,
        config: ExecConfig,
        where: str,
        cluster: Mapping[str, Any],
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._config = config
        self._where = where
        self._cluster = cluster
        self._now = now
        self._proof: Proof | None = None
        self._expires: datetime | None = None

    def due(self) -> bool:
        """Return whether there are no credentials yet, or they have expired."""
        return self._proof is None or (self._expires is not None and self._now() > self._expires)

    def read(self, *, rejected: bool) -> Proof:
        """Return the program's credentials; it is run again if they have expired or were rejected."""
        if self._proof is not None and not rejected and not self.due():
            return self._proof
        answer = self._understood(self._run())
        self._expires = answer.expiration_timestamp
        self._proof = Proof(
            authorization=bearer(answer.token, self._where) if answer.token else "",
            certificate=answer.client_certificate_data.encode(),
            key=answer.client_key_data.encode(),
        )
        return self._proof

    def _run(self) -> bytes:
        """Run the program and return its standard output."""
        config = self._config
        interactive = self._interactive()
        environment = os.environ | {variable.name: variable.value for variable in config.env}
        try:
            code, output = _run(
                (config.command, *config.args),
                environment | {INFO: self._information(interactive)},
                interactive=interactive,
            )
        except FileNotFoundError:
            hint = _one_line(config.install_hint)
            raise self._error(f"executable {config.command} not found{f'; {hint}' if hint else ''}") from None
        except TimeoutError:
            raise self._error(f"{config.command} did not end within {LONGEST_RUN_SECONDS:g} s") from None
        except (OSError, ValueError) as error:
            problem = getattr(error, "strerror", None) or "its arguments or variables cannot be passed on"
            raise self._error(f"{config.command} cannot be run: {problem}") from None
        if len(output) > LARGEST_OUTPUT:
            raise self._error(f"{config.command} wrote more than {LARGEST_OUTPUT >> 20} MiB to its standard output")
        if code != 0:
            raise self._error(f"executable {config.command} failed with exit code {code}")
        return output

    def _interactive(self) -> bool:
        """Return whether the program may ask a person."""
        mode, terminal = self._config.interactive_mode, _has_terminal()
        if mode == "Always" and not terminal:
            raise self._error("interactiveMode is Always, but standard input is not a terminal; log in with it first")
        return mode != "Never" and terminal

    def _information(self, interactive: bool) -> str:
        spec: dict[str, Any] = {"interactive": interactive}
        if self._config.provide_cluster_info:
            spec["cluster"] = self._cluster
        document = {"kind": "ExecCredential", "apiVersion": self._config.api_version, "spec": spec}
        return msgspec.json.encode(document).decode()

    def _understood(self, output: bytes) -> _Status:
        """Decode and check the program's ExecCredential; error texts quote nothing of it."""
        command, version = self._config.command, self._config.api_version
        try:
            answer = msgspec.convert(without_nulls(parse(output.decode())), _Answer)
        except (DocumentError, msgspec.ValidationError, UnicodeDecodeError):
            raise self._error(f"{command} did not write an ExecCredential ({version}) to its standard output") from None
        if answer.api_version != version or answer.kind != "ExecCredential":
            raise self._error(f"{command} is configured to use {version}, but answered in another version or kind")
        status = answer.status
        if status is None:
            raise self._error(f"the answer of {command} has no status")
        if not (status.token or status.client_certificate_data or status.client_key_data):
            raise self._error(f"the answer of {command} has neither a token nor a certificate with its key")
        if bool(status.client_certificate_data) != bool(status.client_key_data):
            raise self._error(f"the answer of {command} has only a certificate or only a key, not both")
        if status.client_certificate_data:
            self._check(status)
        return status

    def _check(self, status: _Status) -> None:
        """Raise an error if the certificate cannot be used."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        try:
            load_identity(context, status.client_certificate_data.encode(), status.client_key_data.encode())
        except TlsError as error:
            field = "clientKeyData" if error.part == "key" else "clientCertificateData"
            raise self._error(f"{field} in the answer of {self._config.command} {error}") from None

    def _error(self, sentence: str) -> CredentialsError:
        return CredentialsError(f"{self._where}: {sentence}")


def _run(command: Sequence[str], environment: Mapping[str, str], *, interactive: bool) -> tuple[int, bytes]:
    """Return the exit code and the output of a program; output is read to just beyond LARGEST_OUTPUT at most."""
    deadline = None if interactive else time.monotonic() + LONGEST_RUN_SECONDS
    stdin = None if interactive else subprocess.DEVNULL
    with subprocess.Popen(command, env=environment, stdin=stdin, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout is not None
            output = _read_output(process.stdout.fileno(), deadline)
            if len(output) <= LARGEST_OUTPUT:
                process.wait(_left(deadline))
        except subprocess.TimeoutExpired:
            raise TimeoutError from None
        finally:
            process.kill()
    return process.returncode, output


def _read_output(pipe: int, deadline: float | None) -> bytes:
    """Return the output of a program up to a limit; TimeoutError if the program takes too long."""
    output = bytearray()
    with selectors.DefaultSelector() as ready:
        ready.register(pipe, selectors.EVENT_READ)
        while len(output) <= LARGEST_OUTPUT:
            if not ready.select(_left(deadline)):
                raise TimeoutError
            piece = os.read(pipe, 1 << 16)
            if not piece:
                break
            output += piece
    return bytes(output)


def _left(deadline: float | None) -> float | None:
    return None if deadline is None else max(deadline - time.monotonic(), 0.0)


def _has_terminal() -> bool:
    return sys.stdin is not None and not sys.stdin.closed and sys.stdin.isatty()


def without_nulls(document: Any) -> Any:
    """Return a document without nulls, since Go reads them as nothing."""
    if isinstance(document, dict):
        return {key: without_nulls(value) for key, value in document.items() if value is not None}
    if isinstance(document, list):
        return [without_nulls(value) for value in document if value is not None]
    return document


def _one_line(text: str) -> str:
    """Return a text as one line, without control characters."""
    return " ".join("".join(char if char.isprintable() else " " for char in text).split())
