"""Credentials of the client, renewed as they rotate.

    sources (PEM bytes and files, token files, exec plugins, OpenID Connect) ──▶ Proof ──▶ headers and a TLS context

Sources are slow: they read files, run programs, ask issuers. They are read in a separate thread, one at a time,
and concurrent requests wait for the same reading; so one `Credentials` serves every client of a process, on any event
loop. No error text or log line holds a secret.
"""

# upstream: client-go/transport/{token_source,cert_rotation,round_trippers}.go (v1.36)

import asyncio
import ssl
import time
from base64 import b64encode
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from pathlib import Path
from threading import Lock, Thread
from typing import Protocol

import msgspec
from multidict import CIMultiDict, CIMultiDictProxy

from kubesched.client.credentials.tls import TlsError, client_context
from kubesched.client.rest import Unreachable
from kubesched.common.files import TooLargeFileError, UnusableFileError, read_at_most
from kubesched.common.notes import Clock, Note

TOKEN_FILE_SECONDS = 50.0
# bundles of authorities have less than a megabyte
LARGEST_FILE = 16 << 20
PEM_FILE_SECONDS = 1.0


# differs (D-073): the reference runs a failing plugin again for each request
PAUSE_SECONDS = 2.0


class CredentialsError(Unreachable):
    """There are no credentials to send a request with."""

    def __init__(self, message: str) -> None:
        super().__init__(message, maybe_done=False)


class Secret(msgspec.Struct, frozen=True):
    """Base of values that must not be written to a log or an error; their text is hidden."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}(...)"


class Proof(Secret, frozen=True):
    """Credentials: an Authorization header, a client certificate with its key, and the server's CAs."""

    authorization: str = ""
    certificate: bytes = b""
    key: bytes = b""
    authorities: bytes = b""

    def over(self, other: "Proof") -> "Proof":
        """Return this proof, with the parts that it lacks taken from the other."""
        pairs = zip(msgspec.structs.astuple(self), msgspec.structs.astuple(other), strict=True)
        return Proof(*(mine or theirs for mine, theirs in pairs))


class Source(Protocol):
    """A source of credentials."""

    def due(self) -> bool:
        """Return whether to read the source: there is no proof yet, or it may be out of date."""

    def read(self, *, rejected: bool) -> Proof:
        """Return the proof, read anew if due or rejected; that may take a while, and raise CredentialsError."""


class Pem(Secret, frozen=True):
    """PEM bytes, given or in a file; `where` names the field that gives them."""

    where: str
    data: bytes = b""
    path: Path | None = None

    def read(self) -> bytes:
        """Return the bytes."""
        if self.path is None:
            return self.data
        try:
            data = read_at_most(self.path, LARGEST_FILE)
        except TooLargeFileError:
            raise CredentialsError(f"{self.where}: {self.path} is larger than {LARGEST_FILE >> 20} MiB") from None
        except UnusableFileError as error:
            raise CredentialsError(f"{self.where}: cannot read {self.path}: {error.reason}") from None
        if not data.strip():
            raise CredentialsError(f"{self.where}: {self.path} is empty")
        return data


NO_PEM = Pem("")


class StaticSource:
    """A source whose proof never changes."""

    def __init__(self, proof: Proof) -> None:
        self._proof = proof

    def due(self) -> bool:
        """Return False."""
        return False

    def read(self, *, rejected: bool) -> Proof:
        """Return the proof."""
        return self._proof


class PemSource:
    """Certificates and keys; files are read again when a second has passed, given bytes never."""

    def __init__(
        self,
        *,
        authorities: Pem = NO_PEM,
        certificate: Pem = NO_PEM,
        key: Pem = NO_PEM,
        note: Note = lambda line: None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._parts = {"certificate": certificate, "key": key, "authorities": authorities}
        self._in_files = any(pem.path is not None for pem in self._parts.values())
        self._note = note
        self._clock = clock
        self._proof = self._fresh()
        self._look_at = clock() + PEM_FILE_SECONDS

    def due(self) -> bool:
        """Return whether files may have changed."""
        return self._in_files and self._clock() >= self._look_at

    def read(self, *, rejected: bool) -> Proof:
        """Return the contents of the files, or the last contents that could be read."""
        if self._in_files and (rejected or self.due()):
            self._look_at = self._clock() + PEM_FILE_SECONDS
            try:
                self._proof = self._fresh()
            except CredentialsError as error:
                self._note(f"{error}; what was read before is used")
        return self._proof

    def where(self, part: str) -> str:
        """Return the field that a part comes from."""
        return self._parts[part].where

    def _fresh(self) -> Proof:
        return Proof("", *(pem.read() for pem in self._parts.values()))


class TokenFile:
    """A bearer token in a file that the kubelet, or another program, renews; read again about every minute."""

    def __init__(
        self, path: Path, where: str, *, token: str = "", note: Note = lambda line: None, clock: Clock = time.monotonic
    ) -> None:
        self._path = path
        self._where = where
        self._note = note
        self._clock = clock
        try:
            self._proof = self._fresh()
        except CredentialsError:
            # a token that is given beside the file is used until the file can be read
            if not token:
                raise
            self._proof = Proof(authorization=bearer(token, where))
        self._look_at = clock() + TOKEN_FILE_SECONDS

    def due(self) -> bool:
        """Return whether the token may have been renewed."""
        return self._clock() >= self._look_at

    def read(self, *, rejected: bool) -> Proof:
        """Return the token in the file, or the last readable one."""
        if rejected or self.due():
            self._look_at = self._clock() + TOKEN_FILE_SECONDS
            try:
                self._proof = self._fresh()
            except CredentialsError as error:
                self._note(f"{error}; the token that was read before is used")
        return self._proof

    def _fresh(self) -> Proof:
        text = Pem(self._where, path=self._path).read().decode("utf-8", "replace")
        return Proof(authorization=bearer(text, self._where))


def bearer(token: str, where: str) -> str:
    """Return the value of the Authorization header for a token."""
    token = token.strip()
    if not token.isascii() or not token.isprintable():
        raise CredentialsError(f"{where}: the token holds characters that no token has; is it one line of text?")
    return f"Bearer {token}"


def basic(username: str, password: str) -> str:
    """Return the value of the Authorization header for a user with a password."""
    return "Basic " + b64encode(f"{username}:{password}".encode()).decode("ascii")


class _Access(msgspec.Struct, frozen=True):
    proof: Proof
    headers: Mapping[str, str]
    tls: ssl.SSLContext | None


class _Reading(msgspec.Struct, frozen=True):
    outcome: "Future[_Access]"
    rejected: bool
    began: float

    def over(self, now: float) -> bool:
        """Return whether to read again: a failure, or a reading after a rejection, is kept for a moment."""
        if not self.outcome.done():
            return False
        lasts = self.rejected or self.outcome.exception() is not None
        return not lasts or now - self.began >= PAUSE_SECONDS


class Credentials:
    """The credentials of requests to one server; `pem` takes precedence over `sources`, and these in their order."""

    def __init__(
        self,
        pem: PemSource,
        sources: Sequence[Source] = (),
        *,
        secure: bool = True,
        insecure_skip_verify: bool = False,
        headers: Mapping[str, str] | None = None,
        note: Note = lambda line: None,
        clock: Clock = time.monotonic,
    ) -> None:
        self._pem = pem
        self._sources = (pem, *sources)
        self._secure = secure
        self._insecure = insecure_skip_verify
        self._extra = headers or {}
        self._note = note
        self._clock = clock
        self._readings: dict[bool, _Reading] = {}
        self._starting = Lock()
        self._working = Lock()
        # check the credentials that exist already now, not at the first request
        proof = Proof()
        for source in self._sources:
            if not source.due():
                proof = proof.over(source.read(rejected=False))
        self._access = self._made(proof, None)

    async def headers(self) -> Mapping[str, str]:
        """Return the headers to send, or raise CredentialsError."""
        for source in self._sources:
            if source.due():
                return (await self._reading(rejected=False)).headers
        return self._access.headers

    def tls(self) -> ssl.SSLContext | None:
        """Return the context for new connections."""
        return self._access.tls

    async def rejected(self, headers: Mapping[str, str]) -> bool:
        """Read the sources again after the server rejected the headers; return whether there are new credentials."""
        if headers is self._access.headers:
            try:
                await self._reading(rejected=True)
            except CredentialsError as error:
                self._note(f"new credentials cannot be had: {error}")
        return headers is not self._access.headers

    async def _reading(self, *, rejected: bool) -> _Access:
        """Read the sources; concurrent callers share one reading."""
        with self._starting:
            reading = self._readings.get(rejected)
            if reading is None or reading.over(self._clock()):
                reading = self._readings[rejected] = _Reading(Future(), rejected, self._clock())
                # a daemon: a plugin that hangs must not keep the process from ending
                Thread(target=self._read, args=(reading,), name="credentials", daemon=True).start()
        # shielded: a cancelled request must not cancel the reading for others
        return await asyncio.shield(asyncio.wrap_future(reading.outcome))

    def _read(self, reading: "_Reading") -> None:
        """Read the sources, in a thread, and set the outcome."""
        try:
            with self._working:
                proof = Proof()
                for source in self._sources:
                    proof = proof.over(source.read(rejected=reading.rejected))
                self._access = self._made(proof, self._access)
            reading.outcome.set_result(self._access)
        except BaseException as error:  # passed on to the requests that wait
            reading.outcome.set_exception(error)

    def _made(self, proof: Proof, before: _Access | None) -> _Access:
        """Return the headers and the TLS context of a proof; the ones before if they have not changed."""
        try:
            tls = self._context(proof, before)
        except TlsError as error:
            sentence = f"{self._pem.where(error.part) or 'the certificate that was issued'}: {error}"
            if before is None:
                raise CredentialsError(sentence) from None
            # files are replaced one after the other: they are read again, and fit then
            self._note(f"{sentence}; the certificates that were read before are used")
            proof, tls = Proof(proof.authorization).over(before.proof), before.tls
        if before is not None and proof == before.proof:
            return before
        headers = CIMultiDict(self._extra)
        if proof.authorization:
            headers["Authorization"] = proof.authorization
        return _Access(proof, CIMultiDictProxy(headers), tls)

    def _context(self, proof: Proof, before: _Access | None) -> ssl.SSLContext | None:
        if not self._secure:
            return None
        tls = (proof.certificate, proof.key, proof.authorities)
        if before is not None and tls == (before.proof.certificate, before.proof.key, before.proof.authorities):
            return before.tls
        return client_context(proof.authorities, proof.certificate, proof.key, insecure=self._insecure)
