"""Requests to an API server: one pool of connections, one rate limit, JSON in and out.

From paths and bodies to bytes, or an error that says whether the server refused (`Refused`, with the code and the words
of its Status) or was not reached (`Unreachable`, with whether the request may have been carried out all the same).
"""

# upstream: client-go/rest/request.go (v1.36)

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import aiohttp
import msgspec

from kubesched.client.limiting import Limiter
from kubesched.errors import KubeschedError

Query = Mapping[str, str]
Headers = Callable[[], Awaitable[Mapping[str, str]]]

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


class Target(msgspec.Struct, frozen=True):
    """Where the API server is, and how to speak to it.

    `headers` gives the credentials, asked for each request since tokens rotate.
    """

    server: str
    headers: Headers
    tls: ssl.SSLContext | None = None
    server_name: str | None = None
    proxy: str | None = None


class _Details(msgspec.Struct, rename="camel"):
    retry_after_seconds: float | None = None


class _Status(msgspec.Struct):
    message: str = ""
    reason: str = ""
    details: _Details | None = None


class RestClient:
    """Sends requests; one for each use (scheduling, events, leases), since each has its own limit."""

    def __init__(
        self,
        target: Target,
        user_agent: str,
        *,
        limiter: Limiter | None = None,
        timeout_seconds: float = 0.0,
        most_connections: int = 100,
    ) -> None:
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
        if self._limiter is not None:
            await self._limiter.turn()
        async with self._response(method, path, body, query, content_type, self._timeout) as response:
            return await response.read()

    @asynccontextmanager
    async def stream(self, path: str, query: Query) -> AsyncIterator[aiohttp.StreamReader]:
        """Give the body of an answer that goes on and on."""
        if self._limiter is not None:
            await self._limiter.turn()
        async with self._response("GET", path, None, query, "application/json", None) as response:
            yield response.content

    @asynccontextmanager
    async def _response(
        self,
        method: str,
        path: str,
        body: bytes | None,
        query: Query | None,
        content_type: str,
        timeout: float | None,
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        target = self._target
        headers = {**await target.headers(), "Accept": "application/json", "User-Agent": self._user_agent}
        if body is not None:
            headers["Content-Type"] = content_type
        options: dict[str, Any] = {"server_hostname": target.server_name} if target.server_name else {}
        try:
            async with self._open_session().request(
                method,
                target.server + path,
                params=query,
                data=body,
                headers=headers,
                timeout=aiohttp.ClientTimeout(total=timeout, sock_connect=30),
                proxy=target.proxy,
                allow_redirects=False,
                **options,
            ) as response:
                if response.status >= 300:
                    raise _refused(response.status, response.headers, await response.content.read(1 << 20))
                yield response
        except aiohttp.ClientConnectorError as error:
            raise Unreachable(_words(error), maybe_done=False) from None
        except (aiohttp.ClientError, TimeoutError, asyncio.IncompleteReadError, OSError) as error:
            raise Unreachable(_words(error), maybe_done=True) from None

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            connector = aiohttp.TCPConnector(
                limit=self._most_connections, ssl=self._target.tls or True, keepalive_timeout=90
            )
            self._session = aiohttp.ClientSession(
                connector=connector, auto_decompress=True, skip_auto_headers=("Accept-Encoding",), read_bufsize=1 << 18
            )
        return self._session


def _refused(code: int, headers: Mapping[str, str], body: bytes) -> Refused:
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


def _words(error: BaseException) -> str:
    """Return an error as a person would say it."""
    if isinstance(error, TimeoutError):
        return "the API server did not answer in time"
    return str(error) or type(error).__name__
