"""Requests to an API server: one pool of connections, one rate limit, JSON in and out.

From paths and bodies to bytes, or an error: the server refused (`Refused`, with the code and the message of its
Status), or was not reached (`Unreachable`, with whether the request may have been carried out nevertheless).
"""

# upstream: client-go/rest/request.go (v1.36)

import asyncio
import os
import re
import socket
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager
from typing import Any, Protocol, TypeVar

import aiohttp
import msgspec
from multidict import CIMultiDict

from kubesched.api import tolerant_json
from kubesched.client.connection_pool import (
    LONGEST_ANSWER,
    CannotConnectError,
    ConnectionPool,
    HttpRequest,
    HttpResponse,
    keep_alive,
)
from kubesched.client.rate_limiter import RateLimiter
from kubesched.client.streaming_connector import StreamingConnector
from kubesched.errors import InvalidObjectError, KubeschedError

Query = Mapping[str, str]
AuthHeaders = Mapping[str, str]
T = TypeVar("T")

# the API server limits a request to a minute; a connection that is silent for longer is dead
SILENCE_SECONDS = 70.0
# a watch gets a bookmark about every minute
WATCH_SILENCE_SECONDS = 200.0
CONNECT_SECONDS = 30.0

# the longest Retry-After that is honoured
LONGEST_PATIENCE_SECONDS = 60.0

# how much of a refusal that is no Status is quoted
LONGEST_ERROR_TEXT = 2000
# how much of a refusal is read
LONGEST_REFUSAL = 1 << 20


class Refused(KubeschedError):  # noqa: N818 - what the server does, not what goes wrong
    """The server refused the request."""

    def __init__(self, code: int, reason: str, message: str, retry_after_seconds: float | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.reason = reason
        self.retry_after_seconds = retry_after_seconds


class Unreachable(KubeschedError):  # noqa: N818
    """There was no response; `maybe_done`: the request may have been carried out nevertheless."""

    def __init__(self, message: str, *, maybe_done: bool) -> None:
        super().__init__(message)
        self.maybe_done = maybe_done


async def _nothing_else(auth: AuthHeaders) -> bool:
    return False


class RestConfig(msgspec.Struct, frozen=True):
    """The address of an API server, with credentials, TLS and proxy.

    `headers` and `tls` return the credentials, for each request since they rotate; `rejected` is called with headers
    that the server did not accept, and returns whether there are new ones. `origin` names the source of all this,
    `peer` the server itself, in errors.
    """

    server: str
    headers: Callable[[], Awaitable[AuthHeaders]]
    tls: ssl.SSLContext | Callable[[], ssl.SSLContext | None] | None = None
    server_name: str | None = None
    proxy: str | None = None
    rejected: Callable[[AuthHeaders], Awaitable[bool]] = _nothing_else
    origin: str = "the configuration"
    peer: str = "the API server"
    namespace: str = "default"
    # for a request as a whole; 0: as long as something arrives now and then
    timeout_seconds: float = 0.0


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
    watches: bool = False


class RequestWatcher(Protocol):
    """Callbacks for metrics of requests."""

    def limited(self, verb: str, seconds: float) -> None:
        """The rate limiter delayed a request."""

    def answered(self, verb: str, code: int | None) -> None:
        """A request got a response, or (None) none."""

    def finished(self, verb: str, seconds: float, sent: int, received: int) -> None:
        """A request that is not a watch has ended; sizes in bytes."""

    def retried(self, verb: str, code: int | None) -> None:
        """A request is sent again because of the last response."""


class Stream(Protocol):
    """The body of a streamed response."""

    def iter_any(self) -> AsyncIterator[bytes]:
        """Yield pieces as they arrive, until the body ends."""


class Rest(Protocol):
    """A client of an API server, over HTTP or in the same process."""

    async def get(self, path: str, query: Query | None = None) -> bytes:
        """Return the body of the response to a GET."""

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
        """Give the body of a response as it arrives: of a watch, or of a long list."""


class RestClient:
    """Sends requests over HTTP; one for each use (scheduling, events, leases), since each has its own limit."""

    def __init__(
        self,
        config: RestConfig,
        user_agent: str,
        *,
        limiter: RateLimiter | None = None,
        timeout_seconds: float = 0.0,
        silence_seconds: float = SILENCE_SECONDS,
        most_connections: int = 100,
        watcher: RequestWatcher | None = None,
    ) -> None:
        self._watcher = watcher
        self._silence = silence_seconds
        self._config = config
        self._user_agent = user_agent
        self._limiter = limiter
        self._timeout = timeout_seconds or config.timeout_seconds or None
        self._most_connections = most_connections
        self._pool = ConnectionPool(
            config.server, config.server_name, most_connections=most_connections, connect_seconds=CONNECT_SECONDS
        )
        # returns the reason why no request that writes may be sent, or an empty text
        self._objection: Callable[[], str] = lambda: ""
        # for streamed responses, and for proxies
        self._session: aiohttp.ClientSession | None = None

    def unless(self, objection: Callable[[], str]) -> None:
        """Refuse requests that write while `objection` returns a reason; it is called right before sending."""
        self._objection = objection

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()
        if self._session is not None:
            connector = self._session.connector
            await self._session.close()
            self._session = None
            if isinstance(connector, StreamingConnector):
                connector.abort()

    async def get(self, path: str, query: Query | None = None) -> bytes:
        """Return the body of the response to a GET."""
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
            if self._config.proxy is None:
                answer = await self._send_short(request)
            else:
                async with self._response(request) as response:
                    answer = await read_at_most(response, LONGEST_ANSWER, "the answer")
            return answer
        finally:
            if self._watcher is not None:
                self._watcher.finished(method, now() - began, len(body or b""), len(answer))

    @asynccontextmanager
    async def stream(self, path: str, query: Query) -> AsyncIterator[aiohttp.StreamReader]:
        """Give the body of a response as it arrives: of a watch, or of a long list."""
        now = asyncio.get_running_loop().time
        began, watches = now(), "watch" in query
        silence = WATCH_SILENCE_SECONDS if watches else self._silence
        timeout = None if watches else self._config.timeout_seconds or None
        request = _Request("GET", path, query=query, timeout=timeout, silence=silence, watches=watches)
        received = 0
        try:
            async with self._response(request) as response:
                yield response.content
                received = response.content.total_bytes
        finally:
            if self._watcher is not None and not watches:
                self._watcher.finished("GET", now() - began, 0, received)

    async def _send_short(self, request: _Request) -> bytes:
        """Send a request over the pool; return the body of the response."""
        await self._turn(request)
        with self._in_words():
            async with asyncio.timeout(request.timeout):
                return (await self._answer(request, self._pooled)).body

    @asynccontextmanager
    async def _response(self, request: _Request) -> AsyncIterator[aiohttp.ClientResponse]:
        await self._turn(request)
        with self._in_words():
            async with await self._answer(request, self._streamed) as response:
                yield response

    async def _turn(self, request: _Request) -> None:
        # watches are not rate limited
        if self._limiter is not None and not request.watches:
            waited = await self._limiter.turn()
            if self._watcher is not None:
                self._watcher.limited(request.method, waited)
        if request.method != "GET" and (objection := self._objection()):
            raise Unreachable(objection, maybe_done=False)

    @contextmanager
    def _in_words(self) -> Iterator[None]:
        """Turn every error of the connection into Unreachable, with a text for people."""
        try:
            yield
        except aiohttp.ClientConnectorCertificateError as error:
            raise self._unconnected(error.certificate_error) from None
        except aiohttp.ClientProxyConnectionError as error:
            raise self._unconnected(error.os_error, " (proxy)") from None
        except aiohttp.ClientConnectorError as error:
            raise self._unconnected(error.os_error) from None
        except CannotConnectError as error:
            raise self._unconnected(error.cause) from None
        except (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError, OSError) as error:
            raise Unreachable(_words(error, self._config.peer), maybe_done=True) from None

    def _unconnected(self, cause: Exception, where: str = "") -> Unreachable:
        """Return the error for a connection that could not be opened, with the setting to check."""
        config = self._config
        if isinstance(cause, ssl.CertificateError):
            problem = getattr(cause, "verify_message", "") or str(cause)
            told = (
                f"the certificate of {config.server} is not trusted ({problem.rstrip('.')}): "
                f"check certificate-authority and tls-server-name of {config.origin}"
            )
        else:
            told = f"cannot connect to {config.server}: {_cause(cause)}{where}"
        return Unreachable(told, maybe_done=False)

    async def _answer(self, request: _Request, ask: Callable[[_Request, AuthHeaders], Awaitable[T]]) -> T:
        """Return the response to a request; it is sent again if the credentials are rejected and there are new ones."""
        config = self._config
        auth = await config.headers()
        try:
            return await ask(request, auth)
        except Refused as refused:
            if refused.code != 401:
                raise
            if not await config.rejected(auth):
                raise self._unauthorized(refused) from None
        if self._watcher is not None:
            self._watcher.retried(request.method, 401)
        try:
            return await ask(request, await config.headers())
        except Refused as refused:
            raise self._unauthorized(refused) if refused.code == 401 else refused from None

    async def _pooled(self, request: _Request, auth: AuthHeaders) -> HttpResponse:
        """Send a request over the pool; return the response, or raise Refused."""
        pooled = HttpRequest(
            request.method,
            request.path,
            self._headers(request, auth),
            request.body,
            request.query,
            request.silence or SILENCE_SECONDS,
        )
        code: int | None = None
        try:
            answer = await self._pool.ask(pooled, self._tls())
            code = answer.code
        finally:
            if self._watcher is not None:
                self._watcher.answered(request.method, code)
        if code < 300:
            check_encoding(answer.headers.get("content-encoding"))
            return answer
        raise refusal_of(code, answer.headers.get("retry-after"), answer.body)

    async def _streamed(self, request: _Request, auth: AuthHeaders) -> aiohttp.ClientResponse:
        """Send a request; return the response before its body is read, or raise Refused."""
        code: int | None = None
        try:
            response = await self._send(request, auth)
            code = response.status
        finally:
            if self._watcher is not None:
                self._watcher.answered(request.method, code)
        if response.status < 300:
            try:
                check_encoding(response.headers.get("Content-Encoding"))
            except OSError:
                response.close()
                raise
            return response
        async with response:
            # read to its end, so that the connection can be used again
            body = await _beginning(response, LONGEST_REFUSAL)
        raise refusal_of(response.status, response.headers.get("Retry-After"), body)

    async def _send(self, request: _Request, auth: AuthHeaders) -> aiohttp.ClientResponse:
        config = self._config
        options: dict[str, Any] = {"server_hostname": config.server_name} if config.server_name else {}
        return await self._open_session().request(
            request.method,
            config.server + request.path,
            params=request.query,
            data=request.body,
            headers=self._headers(request, auth),
            timeout=aiohttp.ClientTimeout(
                total=request.timeout, sock_connect=CONNECT_SECONDS, sock_read=request.silence
            ),
            proxy=config.proxy,
            allow_redirects=False,
            # part of the key of pooled connections: a new certificate opens new ones
            ssl=self._tls() or True,
            **options,
        )

    def _headers(self, request: _Request, auth: AuthHeaders) -> CIMultiDict[str]:
        # a header may occur several times
        headers = CIMultiDict(auth)
        headers["Accept"] = "application/json"
        # no compression: the network is seldom the bottleneck of a scheduler
        headers["Accept-Encoding"] = "identity"
        headers["User-Agent"] = self._user_agent
        if request.body is not None:
            headers["Content-Type"] = request.content_type
        return headers

    def _tls(self) -> ssl.SSLContext | None:
        tls = self._config.tls
        return tls() if callable(tls) else tls

    def _unauthorized(self, refused: Refused) -> Refused:
        """Return the refusal of the credentials, with their source."""
        message = (
            f"{refused}: the API server does not accept the credentials of {self._config.origin}; "
            "they may have expired or been revoked"
        )
        return Refused(refused.code, refused.reason, message, refused.retry_after_seconds)

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            limit = self._most_connections
            connector = StreamingConnector(limit=limit, keepalive_timeout=90, socket_factory=_socket)
            self._session = aiohttp.ClientSession(connector=connector, auto_decompress=False, read_bufsize=1 << 18)
        return self._session


def refusal_of(code: int, retry_after: str | None, body: bytes) -> Refused:
    """Return the refusal in a response; a proxy's response may be no Status."""
    try:
        status = tolerant_json.decode(body, _Status)
    except InvalidObjectError:
        text = body[:LONGEST_ERROR_TEXT].decode(errors="replace").strip()
        status = _Status(text or f"the server answered with code {code}")
    wait: float | None = None
    # the header may also be a date, or anything
    if retry_after is not None and re.fullmatch(r"[0-9]{1,9}", retry_after):
        wait = float(retry_after)
    elif status.details is not None:
        wait = status.details.retry_after_seconds
    if wait is not None:
        # differs (a Retry-After of more than a minute): the reference waits that long
        wait = min(max(wait, 0.0), LONGEST_PATIENCE_SECONDS)
    return Refused(code, status.reason, status.message or f"the server answered with code {code}", wait)


def check_encoding(encoding: str | None) -> None:
    """Raise an error for a compressed response: none was asked for, and its size is unknown."""
    if encoding and encoding.lower() != "identity":
        raise OSError(f"the answer is compressed ({encoding[:40]}), which was not asked for")


async def read_at_most(response: aiohttp.ClientResponse, most: int, what: str) -> bytes:
    """Return the body of a response; raises OSError if it is longer than `most`."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > most:
            raise OSError(f"{what} is longer than {most >> 20} MiB")
    return bytes(body)


async def _beginning(response: aiohttp.ClientResponse, most: int) -> bytes:
    """Return the body of a response, or its beginning if it is very long."""
    body = bytearray()
    async for piece in response.content.iter_any():
        body += piece
        if len(body) > most:
            break
    return bytes(body)


def _cause(error: Exception) -> str:
    """Return why there is no connection."""
    if isinstance(error, ssl.SSLError):
        return f"TLS fails ({error.reason or error})"
    if isinstance(error, TimeoutError) and not error.errno:
        return f"no answer within {CONNECT_SECONDS:g} seconds"
    number = getattr(error, "errno", None)
    # asyncio replaces the text of the error number by addresses
    words = os.strerror(number) if number and number > 0 else str(getattr(error, "strerror", "") or error)
    return words or "the connection was closed while it was being opened"


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """Return a socket with TCP keepalive."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    keep_alive(made)
    return made


def _words(error: BaseException, peer: str) -> str:
    """Return the text of an error, for people."""
    if isinstance(error, TimeoutError):
        return f"{peer} did not answer in time"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "the connection broke before the answer was complete"
    if isinstance(error, ssl.SSLError) or (isinstance(error, OSError) and error.errno and error.errno > 0):
        return f"the connection broke: {_cause(error)}"
    return str(error) or type(error).__name__
