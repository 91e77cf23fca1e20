"""Requests to an API server: one pool of connections, one rate limit, JSON in and out.

From paths and bodies to bytes, or an error that says whether the server refused (`Refused`, with the code and the words
of its Status) or was not reached (`Unreachable`, with whether the request may have been carried out all the same).
"""

# upstream: client-go/rest/request.go (v1.36)

import asyncio
import os
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, Protocol

import aiohttp
import msgspec
from multidict import CIMultiDict

from kubesched.client.limiting import Limiter
from kubesched.errors import KubeschedError

Query = Mapping[str, str]
Shown = Mapping[str, str]

# the API server itself gives a request a minute; whoever says nothing for longer is not there any more
SILENCE_SECONDS = 70.0
# a watch hears at least of how far it has got, about every minute
WATCH_SILENCE_SECONDS = 200.0
CONNECT_SECONDS = 30.0
# (option, value): a peer that is gone without a word is noticed after little more than a minute
_KEEP_ALIVE = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 3))

# an answer longer than this to anything but a list or a watch is a mistake
LONGEST_ERROR_TEXT = 2000


class Refused(KubeschedError):  # noqa: N818 - what the server does, not what goes wrong
    """The server answered, and said no."""

    def __init__(self, code: int, reason: str, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.retry_after_seconds = retry_after_seconds


class Unreachable(KubeschedError):  # noqa: N818
    """There was no answer; `maybe_done` tells that the request may have been carried out nevertheless."""

    def __init__(self, message: str, *, maybe_done: bool) -> None:
        super().__init__(message)
        self.maybe_done = maybe_done


async def _nothing_else(shown: Shown) -> bool:
    return False


class Target(msgspec.Struct, frozen=True):
    """Where the API server is, and how to speak to it.

    `headers` and `tls` give the credentials, asked for each request since they rotate; `rejected` is told of headers
    that the server did not accept, and says whether there are others by now. `origin` names the source of all this.
    """

    server: str
    headers: Callable[[], Awaitable[Shown]]
    tls: ssl.SSLContext | Callable[[], ssl.SSLContext | None] | None = None
    server_name: str | None = None
    proxy: str | None = None
    rejected: Callable[[Shown], Awaitable[bool]] = _nothing_else
    origin: str = "the configuration"
    namespace: str = "default"


class _Details(msgspec.Struct, rename="camel"):
    retry_after_seconds: float | None = None


class _Status(msgspec.Struct):
    message: str = ""
    reason: str = ""
    details: _Details | None = None


class _Request(msgspec.Struct, frozen=True, gc=False):
    method: str
    path: str
    body: bytes | None = None
    query: Query | None = None
    content_type: str = ""
    timeout: float | None = None
    silence: float | None = None


class RequestWatcher(Protocol):
    """Is told of requests, for metrics."""

    def limited(self, verb: str, seconds: float) -> None:
        """A request waited for its turn."""

    def answered(self, verb: str, code: int | None) -> None:
        """A request was answered, or (None) was not."""

    def finished(self, verb: str, seconds: float, sent: int, received: int) -> None:
        """A request that is not a watch is over; sizes in bytes."""

    def retried(self, verb: str, code: int | None) -> None:
        """A request is sent again because of the last answer."""


class Stream(Protocol):
    """The body of an answer that goes on and on."""

    def iter_any(self) -> AsyncIterator[bytes]:
        """Yield pieces as they arrive, until the body ends."""


class Rest(Protocol):
    """An API server as somebody sees it who sends requests: over HTTP, or in the same process."""

    async def get(self, path: str, query: Query | None = None) -> bytes:
        """Return what is at a path."""

    async def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        query: Query | None = None,
        content_type: str = "application/json",
    ) -> bytes:
        """Send a request; return the body of the answer, or raise Refused or Unreachable."""

    def stream(self, path: str, query: Query) -> AbstractAsyncContextManager[Stream]:
        """Give the body of an answer that goes on and on."""


class RestClient:
    """Sends requests over HTTP; one for each use (scheduling, events, leases), since each has its own limit."""

    def __init__(
        self,
        target: Target,
        user_agent: str,
        *,
        limiter: Limiter | None = None,
        timeout_seconds: float = 0.0,
        silence_seconds: float = SILENCE_SECONDS,
        most_connections: int = 100,
        watcher: RequestWatcher | None = None,
    ) -> None:
        self._watcher = watcher
        self._silence = silence_seconds
        self._target = target
        self._user_agent = user_agent
        self._limiter = limiter
        self._timeout = timeout_seconds or None
        self._most_connections = most_connections
        self._session: aiohttp.ClientSession | None = None

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def get(self, path: str, query: Query | None = None) -> bytes:
        """Return what is at a path."""
        return await self.send("GET", path, query=query)

    async def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        query: Query | None = None,
        content_type: str = "application/json",
    ) -> bytes:
        """Send a request; return the body of the answer, or raise Refused or Unreachable."""
        now = asyncio.get_running_loop().time
        began, answer = now(), b""
        request = _Request(method, path, body, query, content_type, self._timeout, self._silence)
        try:
            async with self._response(request) as response:
                answer = await response.read()
            return answer
        finally:
            if self._watcher is not None:
                self._watcher.finished(method, now() - began, len(body or b""), len(answer))

    @asynccontextmanager
    async def stream(self, path: str, query: Query) -> AsyncIterator[aiohttp.StreamReader]:
        """Give the body of an answer that goes on and on."""
        async with self._response(_Request("GET", path, query=query, silence=WATCH_SILENCE_SECONDS)) as response:
            yield response.content

    @asynccontextmanager
    async def _response(self, request: _Request) -> AsyncIterator[aiohttp.ClientResponse]:
        # a watch waits for nobody's turn
        if self._limiter is not None and request.silence != WATCH_SILENCE_SECONDS:
            waited = await self._limiter.turn()
            if self._watcher is not None:
                self._watcher.limited(request.method, waited)
        try:
            async with await self._answer(request) as response:
                yield response
        except aiohttp.ClientConnectorCertificateError as error:
            raise Unreachable(self._untrusted(error), maybe_done=False) from None
        except aiohttp.ClientConnectorError as error:
            raise Unreachable(f"cannot connect to {self._target.server}: {_cause(error)}", maybe_done=False) from None
        except (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError, OSError) as error:
            raise Unreachable(_words(error), maybe_done=True) from None

    async def _answer(self, request: _Request) -> aiohttp.ClientResponse:
        """Return the answer to a request; it is sent again if the credentials are refused and there are new ones."""
        target = self._target
        shown = await target.headers()
        try:
            return await self._ask(request, shown)
        except Refused as refused:
            if refused.code != 401:
                raise
            if not await target.rejected(shown):
                raise self._unauthorized(refused) from None
        if self._watcher is not None:
            self._watcher.retried(request.method, 401)
        try:
            return await self._ask(request, await target.headers())
        except Refused as refused:
            raise self._unauthorized(refused) if refused.code == 401 else refused from None

    async def _ask(self, request: _Request, shown: Shown) -> aiohttp.ClientResponse:
        """Return the answer to a request; raises Refused if it is a refusal."""
        code: int | None = None
        try:
            response = await self._send(request, shown)
            code = response.status
        finally:
            if self._watcher is not None:
                self._watcher.answered(request.method, code)
        if response.status < 300:
            return response
        async with response:
            raise refusal_of(response.status, response.headers, await response.content.read(1 << 20))

    async def _send(self, request: _Request, shown: Shown) -> aiohttp.ClientResponse:
        target = self._target
        headers = CIMultiDict(shown)
        headers["Accept"] = "application/json"
        headers["User-Agent"] = self._user_agent
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        options: dict[str, Any] = {"server_hostname": target.server_name} if target.server_name else {}
        return await self._open_session().request(
            request.method,
            target.server + request.path,
            params=request.query,
            data=request.body,
            headers=headers,
            timeout=aiohttp.ClientTimeout(
                total=request.timeout, sock_connect=CONNECT_SECONDS, sock_read=request.silence
            ),
            proxy=target.proxy,
            allow_redirects=False,
            # part of what connections are told apart by: a new certificate opens new ones
            ssl=(target.tls() if callable(target.tls) else target.tls) or True,
            **options,
        )

    def _unauthorized(self, refused: Refused) -> Refused:
        """Return a refusal of the credentials in words that say whose they are."""
        message = (
            f"{refused}: the API server does not accept the credentials of {self._target.origin}; "
            "they may have expired or been revoked"
        )
        return Refused(refused.code, refused.reason, message, refused.retry_after_seconds)

    def _untrusted(self, error: aiohttp.ClientConnectorCertificateError) -> str:
        """Return what is wrong with the server's certificate, and where to mend it."""
        target, cause = self._target, error.certificate_error
        problem = getattr(cause, "verify_message", "") or str(cause)
        return (
            f"the certificate of {target.server} is not trusted ({problem.rstrip('.')}): "
            f"check certificate-authority and tls-server-name of {target.origin}"
        )

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(limit=self._most_connections, keepalive_timeout=90, socket_factory=_socket)
            self._session = aiohttp.ClientSession(
                connector=connector, auto_decompress=True, skip_auto_headers=("Accept-Encoding",), read_bufsize=1 << 18
            )
        return self._session


def refusal_of(code: int, headers: Mapping[str, str], body: bytes) -> Refused:
    """Return what the server's answer says; answers of proxies and the like are no Status."""
    try:
        status = msgspec.json.decode(body, type=_Status)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        text = body[:LONGEST_ERROR_TEXT].decode(errors="replace").strip()
        status = _Status(text or f"the server answered with code {code}")
    wait: float | None = None
    try:
        wait = float(headers["Retry-After"])
    except (KeyError, ValueError):
        if status.details is not None:
            wait = status.details.retry_after_seconds
    return Refused(code, status.reason, status.message or f"the server answered with code {code}", wait)


def _cause(error: aiohttp.ClientConnectorError) -> str:
    """Return why there is no connection."""
    cause = error.os_error
    if isinstance(cause, ssl.SSLError):
        return f"TLS fails ({cause.reason or cause})"
    # asyncio puts addresses in place of the words for the number
    words = os.strerror(cause.errno) if cause.errno and cause.errno > 0 else str(cause.strerror or cause)
    words = words or "the connection was closed while it was being opened"
    return f"{words} (proxy)" if isinstance(error, aiohttp.ClientProxyConnectionError) else words


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """Return a socket that notices when the other side is gone without a word."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE:
        # not every platform has them all
        if hasattr(socket, name):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
    return made


def _words(error: BaseException) -> str:
    """Return an error as a person would say it."""
    if isinstance(error, TimeoutError):
        return "the API server did not answer in time"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "the connection broke before the answer was complete"
    return str(error) or type(error).__name__
