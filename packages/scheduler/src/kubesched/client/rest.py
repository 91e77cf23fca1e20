"""Requests to an API server: one pool of connections, one rate limit, JSON in and out.

From paths and bodies to bytes, or an error: the server refused (`Refused`, with the code and the message of its
Status), or was not reached (`Unreachable`, with whether the request may have been carried out nevertheless).
"""

# upstream: client-go/rest/request.go (v1.36)

import asyncio
import os
import re
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol, TypeVar

import aiohttp
import msgspec
from multidict import CIMultiDict

from kubesched.api import tolerant_json
from kubesched.client.connection_pool import LONGEST_ANSWER, ConnectionPool
from kubesched.client.http_messages import CannotConnectError, HeaderLines, HttpRequest, header_lines
from kubesched.client.proxied import ProxiedRequests, ProxiedResponse
from kubesched.client.rate_limiter import RateLimiter
from kubesched.client.response_stream import ResponseStream, ResponseStreams
from kubesched.errors import InvalidObjectError, KubeschedError

Query = Mapping[str, str]
AuthHeaders = Mapping[str, str]

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


# errors of a connection, which become Unreachable
ERRORS = (CannotConnectError, aiohttp.ClientError, asyncio.IncompleteReadError, OSError)
_NO_HEADERS: Mapping[str, str] = {}


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


class _Answer(Protocol):
    """A response with its whole body, or with a body to read as it arrives."""

    @property
    def code(self) -> int:
        """Return the status code."""

    def header(self, name: bytes) -> str | None:
        """Return the value of a header; `name` is in lower case."""

    async def beginning(self, most: int) -> bytes:
        """Return the body, or its beginning if it is very long, and close the response."""

    def close(self) -> None:
        """End the response."""


AnswerT = TypeVar("AnswerT", bound=_Answer)


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
        server, name = config.server, config.server_name
        self._pool = ConnectionPool(server, name, most_connections=most_connections, connect_seconds=CONNECT_SECONDS)
        self._streams = ResponseStreams(
            server, name, most_connections=most_connections, connect_seconds=CONNECT_SECONDS
        )
        self._proxied: ProxiedRequests | None = None
        if config.proxy is not None:
            self._proxied = ProxiedRequests(server, config.proxy, name, most_connections, CONNECT_SECONDS)
        # returns the reason why no request that writes may be sent, or an empty text
        self._objection: Callable[[], str] = lambda: ""
        # the headers of requests by content type, for the credentials that were used last
        self._lines: dict[str, HeaderLines] = {}
        self._lines_for: tuple[tuple[str, str], ...] | None = None

    def unless(self, objection: Callable[[], str]) -> None:
        """Refuse requests that write while `objection` returns a reason; it is called right before sending."""
        self._objection = objection

    async def close(self) -> None:
        """Close all connections."""
        await self._pool.close()
        await self._streams.close()
        if self._proxied is not None:
            await self._proxied.close()

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
        request = HttpRequest(method, path, _NO_HEADERS, body, query, self._silence)
        try:
            if self._limiter is not None:
                await self._turn(method)
            if method != "GET" and (objection := self._objection()):
                raise Unreachable(objection, maybe_done=False)
            if self._timeout is None and self._proxied is None:
                answer = (await self._answer(request, self._pool.ask, content_type)).body
            else:
                async with asyncio.timeout(self._timeout):
                    answer = await self._body(request, content_type)
            return answer
        except ERRORS as error:
            raise self._in_words(error) from None
        finally:
            if self._watcher is not None:
                self._watcher.finished(method, now() - began, len(body or b""), len(answer))

    @asynccontextmanager
    async def stream(self, path: str, query: Query) -> AsyncIterator[ResponseStream | aiohttp.StreamReader]:
        """Give the body of a response as it arrives: of a watch, or of a long list."""
        now = asyncio.get_running_loop().time
        began, watches = now(), "watch" in query
        silence = WATCH_SILENCE_SECONDS if watches else self._silence
        timeout = None if watches else self._config.timeout_seconds or None
        request = HttpRequest("GET", path, _NO_HEADERS, None, query, silence, timeout)
        received = 0
        try:
            # watches are not rate limited
            if self._limiter is not None and not watches:
                await self._turn("GET")
            response: ResponseStream | ProxiedResponse
            if self._proxied is None:
                response = await self._answer(request, self._streams.ask)
            else:
                response = await self._answer(request, self._proxied.ask)
            try:
                yield response.response.content if isinstance(response, ProxiedResponse) else response
                received = response.total_bytes
            finally:
                response.close()
        except ERRORS as error:
            raise self._in_words(error) from None
        finally:
            if self._watcher is not None and not watches:
                self._watcher.finished("GET", now() - began, 0, received)

    async def _turn(self, method: str) -> None:
        """Wait for the rate limiter."""
        assert self._limiter is not None
        waited = await self._limiter.turn()
        if self._watcher is not None:
            self._watcher.limited(method, waited)

    async def _body(self, request: HttpRequest, content_type: str) -> bytes:
        """Send a request; return the body of the response."""
        if self._proxied is None:
            return (await self._answer(request, self._pool.ask, content_type)).body
        proxied = await self._answer(request, self._proxied.ask, content_type)
        try:
            return await read_at_most(proxied.response, LONGEST_ANSWER, "the answer")
        finally:
            proxied.close()

    def _in_words(self, error: Exception) -> Unreachable:
        """Return Unreachable for an error of the connection, with a text for people."""
        if isinstance(error, aiohttp.ClientConnectorCertificateError):
            return self._unconnected(error.certificate_error)
        if isinstance(error, aiohttp.ClientProxyConnectionError):
            return self._unconnected(error.os_error, " (proxy)")
        if isinstance(error, aiohttp.ClientConnectorError):
            return self._unconnected(error.os_error)
        if isinstance(error, CannotConnectError):
            return self._unconnected(error.cause)
        return Unreachable(_words(error, self._config.peer), maybe_done=True)

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

    async def _answer(
        self,
        request: HttpRequest,
        ask: Callable[[HttpRequest, ssl.SSLContext | None], Awaitable[AnswerT]],
        content_type: str = "",
    ) -> AnswerT:
        """Return the response to a request, or raise Refused; a request is sent again with new credentials."""
        config, watcher = self._config, self._watcher
        for again in (False, True):
            auth = await config.headers()
            tls = config.tls() if callable(config.tls) else config.tls
            code: int | None = None
            try:
                request.headers = self._headers_of(request, auth, content_type)
                answer = await ask(request, tls)
                code = answer.code
            finally:
                if watcher is not None:
                    watcher.answered(request.method, code)
            if code < 300:
                encoding = answer.header(b"content-encoding")
                if encoding is not None:
                    _check_encoding_of(answer, encoding)
                return answer
            refused = refusal_of(code, answer.header(b"retry-after"), await answer.beginning(LONGEST_REFUSAL))
            if code != 401:
                raise refused
            if again or not await config.rejected(auth):
                raise self._unauthorized(refused)
            if watcher is not None:
                watcher.retried(request.method, 401)
        raise AssertionError("the second attempt returns or raises")

    def _headers_of(self, request: HttpRequest, auth: AuthHeaders, content_type: str) -> HeaderLines | CIMultiDict[str]:
        """Return the headers of a request; they are formatted once for all requests with the same credentials."""
        if request.body is None:
            content_type = ""
        if self._proxied is not None:
            return self._headers(auth, content_type)
        credentials = tuple(auth.items())
        if credentials != self._lines_for:
            self._lines, self._lines_for = {}, credentials
        lines = self._lines.get(content_type)
        if lines is None:
            lines = self._lines[content_type] = header_lines(self._headers(auth, content_type))
        return lines

    def _headers(self, auth: AuthHeaders, content_type: str) -> CIMultiDict[str]:
        # a header may occur several times
        headers = CIMultiDict(auth)
        headers["Accept"] = "application/json"
        # no compression: the network is seldom the bottleneck of a scheduler
        headers["Accept-Encoding"] = "identity"
        headers["User-Agent"] = self._user_agent
        if content_type:
            headers["Content-Type"] = content_type
        return headers

    def _unauthorized(self, refused: Refused) -> Refused:
        """Return the refusal of the credentials, with their source."""
        message = (
            f"{refused}: the API server does not accept the credentials of {self._config.origin}; "
            "they may have expired or been revoked"
        )
        return Refused(refused.code, refused.reason, message, refused.retry_after_seconds)


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
        # differs (D-033): the reference waits for the whole time
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


def _check_encoding_of(answer: _Answer, encoding: str) -> None:
    """Close a response that is compressed, and raise its error."""
    try:
        check_encoding(encoding)
    except OSError:
        answer.close()
        raise


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


def _words(error: BaseException, peer: str) -> str:
    """Return the text of an error, for people."""
    if isinstance(error, TimeoutError):
        return f"{peer} did not answer in time"
    if isinstance(error, aiohttp.ClientPayloadError):
        return "the connection broke before the answer was complete"
    if isinstance(error, ssl.SSLError) or (isinstance(error, OSError) and error.errno and error.errno > 0):
        return f"the connection broke: {_cause(error)}"
    return str(error) or type(error).__name__
