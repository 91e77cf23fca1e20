"""Short requests over pooled connections: a request, its response, and the connection is free for the next one.

From an `HttpRequest` to an `HttpResponse`. It does what the hot path needs and no more: HTTP/1.1 to one server,
directly, with or without TLS; streamed responses and proxies are aiohttp's. A redirect is a response.

A connection carries one request at a time. One that broke, or whose request was cancelled, is closed and never used
again.
"""

import asyncio
import socket
import ssl
from collections import deque
from collections.abc import Mapping
from typing import Any, cast
from urllib.parse import quote, urlencode, urlsplit

import httptools
import msgspec

from kubesched.common.server_trust import trusting_context

# servers close connections that are idle for 90 seconds; if that happens while a request is being sent, it is unknown
# whether the request was carried out
LONGEST_IDLE_SECONDS = 30.0
# an API server's response to a short request is no longer than this
LONGEST_ANSWER = 64 << 20
# the longest status line and headers of a response; the reference takes ten times that
LONGEST_HEAD = 1 << 20
# characters that are not quoted in a path; a percent sign begins a part that is quoted already
_PLAIN = "/%:@!$&'()*+,;=~"
_SECURE = "https"


class CannotConnectError(Exception):
    """No connection could be opened; `cause` is why. Nothing was sent."""

    def __init__(self, cause: OSError | UnicodeError) -> None:
        super().__init__(str(cause))
        self.cause = cause


class HttpResponse(msgspec.Struct, gc=False):
    """A server's response; names of headers are in lower case."""

    code: int
    headers: dict[str, str]
    body: bytes


class HttpRequest(msgspec.Struct, frozen=True, gc=False):
    """A request; `path` is without the query, `silence` is how many seconds the server may send nothing."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None = None
    query: Mapping[str, str] | None = None
    silence: float = 60.0


class ConnectionPool:
    """Connections to one server, up to a limit; further requests wait in line."""

    def __init__(
        self, server: str, server_name: str | None = None, *, most_connections: int = 100, connect_seconds: float = 30.0
    ) -> None:
        parts = urlsplit(server)
        self._secure = parts.scheme == _SECURE
        self._host = parts.hostname or ""
        self._port = parts.port or (443 if self._secure else 80)
        self._before = parts.path.rstrip("/")
        self._named = parts.netloc.rpartition("@")[2]
        self._server_name = server_name or self._host
        self._most = most_connections
        self._connect_seconds = connect_seconds
        # connections that are being opened, busy or idle; the last one used is used next
        self._open = 0
        self._idle: list[_Connection] = []
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def ask(self, request: HttpRequest, tls: ssl.SSLContext | None) -> HttpResponse:
        """Return the response; raises CannotConnectError if nothing was sent, else OSError or TimeoutError."""
        head = self._head(request)
        connection = await self._connection(tls)
        try:
            answer = await connection.ask(head if request.body is None else head + request.body, request.silence)
        except BaseException:
            connection.abort()
            raise
        if connection.usable:
            connection.idle_since = asyncio.get_running_loop().time()
            self._idle.append(connection)
            self._wake()
        else:
            connection.abort()
        return answer

    async def close(self) -> None:
        """Close the idle connections, without waiting for the server."""
        while self._idle:
            for connection in self._idle:
                connection.abort()
            # connection_lost is called in the loop's next turn
            await asyncio.sleep(0)

    def _head(self, request: HttpRequest) -> bytes:
        path = quote(self._before + request.path, safe=_PLAIN)
        if request.query:
            path += "?" + urlencode(request.query)
        lines = [f"{request.method} {path} HTTP/1.1", f"Host: {self._named}"]
        lines += [f"{name}: {value}" for name, value in request.headers.items()]
        if request.body is not None:
            lines.append(f"Content-Length: {len(request.body)}")
        head = "\r\n".join(lines)
        if head.count("\n") != len(lines) - 1 or head.count("\r") != len(lines) - 1:
            raise ValueError("a header of the request holds a line break")
        return head.encode("latin-1", "replace") + b"\r\n\r\n"

    # -- connections

    async def _connection(self, tls: ssl.SSLContext | None) -> "_Connection":
        """Return a free connection that was opened with this TLS context, or open one when the limit allows."""
        loop = asyncio.get_running_loop()
        while True:
            while self._idle:
                connection = self._idle.pop()
                fresh = loop.time() - connection.idle_since < LONGEST_IDLE_SECONDS
                if connection.tls is tls and fresh and connection.usable:
                    return connection
                connection.abort()
            if self._open < self._most:
                return await self._connect(tls)
            await self._turn()

    async def _turn(self) -> None:
        """Wait until a connection may be free; a cancelled waiter wakes the next one."""
        turn = asyncio.get_running_loop().create_future()
        self._waiting.append(turn)
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self._wake()
            raise

    async def _connect(self, tls: ssl.SSLContext | None) -> "_Connection":
        loop = asyncio.get_running_loop()
        options: dict[str, Any] = {}
        if self._secure:
            options = {"ssl": tls or trusting_context(), "server_hostname": self._server_name}
        self._open += 1
        made: _Connection | None = None
        try:
            async with asyncio.timeout(self._connect_seconds):
                _, made = await loop.create_connection(_Connection, self._host, self._port, **options)
                made.belong_to(self, tls)
        except (OSError, UnicodeError) as error:  # UnicodeError: the text cannot be the name of a host
            raise CannotConnectError(error) from None
        finally:
            if made is None or made.pool is None:
                self.closed(made)
        return made

    def closed(self, connection: "_Connection | None") -> None:
        """Count a closed connection as closed, and wake a waiting request."""
        self._open -= 1
        if connection is not None and connection in self._idle:
            self._idle.remove(connection)
        self._wake()

    def _wake(self) -> None:
        while self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                return


class _Connection(asyncio.Protocol):
    """One connection, with the response that is arriving on it."""

    def __init__(self) -> None:
        # told when the connection is closed
        self.pool: ConnectionPool | None = None
        self.tls: ssl.SSLContext | None = None
        self.idle_since = 0.0
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._parser = httptools.HttpResponseParser(self)
        self._answered: asyncio.Future[HttpResponse] | None = None
        self._heard = 0.0
        self._keep = True
        # bytes received since the request was sent, and bytes received before the body
        self._received = self._head_received = 0
        self._begin()

    def _begin(self) -> None:
        self._headers: dict[str, str] = {}
        self._pieces: list[bytes] = []
        self._length = 0
        self._told_head = False

    def belong_to(self, pool: ConnectionPool, tls: ssl.SSLContext | None) -> None:
        """Add the connection to a pool; raises ConnectionError if it is closed already."""
        if self._transport is None:
            raise ConnectionResetError("the server closed the connection at once")
        self.pool, self.tls = pool, tls

    @property
    def usable(self) -> bool:
        """Return whether the connection can carry another request."""
        return self._keep and self._answered is None and self._transport is not None

    async def ask(self, request: bytes, silence: float) -> HttpResponse:
        """Send a request and return the response."""
        if self._transport is None:
            raise ConnectionResetError("the server closed the connection")
        answered: asyncio.Future[HttpResponse] = self._loop.create_future()
        self._answered = answered
        self._received = self._head_received = 0
        self._heard = self._loop.time()
        timer = self._loop.call_later(silence, self._check_silence, answered, silence)
        self._transport.write(request)
        try:
            return await answered
        finally:
            timer.cancel()

    def _check_silence(self, answered: "asyncio.Future[HttpResponse]", silence: float) -> None:
        """Fail the request with TimeoutError if nothing was received for `silence` seconds, or check again later."""
        if answered.done():
            return
        left = self._heard + silence - self._loop.time()
        if left > 0:
            self._loop.call_later(left, self._check_silence, answered, silence)
        else:
            answered.set_exception(TimeoutError())

    def abort(self) -> None:
        """Close the connection at once."""
        # the transport calls connection_lost only in the loop's next turn
        self._keep = False
        if self._transport is not None:
            self._transport.abort()

    # -- callbacks of the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; turn on TCP keepalive, so that a dead peer is noticed."""
        self._transport = cast(asyncio.Transport, transport)
        raw = transport.get_extra_info("socket")
        if raw is not None:
            keep_alive(raw)

    def data_received(self, data: bytes) -> None:
        """Parse a piece of a response."""
        self._heard = self._loop.time()
        self._received += len(data)
        if not self._told_head:
            self._head_received += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._give_up(f"the answer is not HTTP: {error}")
        if not self._told_head and self._answered is not None and self._head_received > LONGEST_HEAD:
            self._give_up(f"the headers of the answer are longer than {LONGEST_HEAD >> 20} MiB")
        elif self._received > LONGEST_ANSWER + LONGEST_HEAD:
            self._give_up(f"the answer is longer than {LONGEST_ANSWER >> 20} MiB")

    def _give_up(self, why: str) -> None:
        self._fail(ConnectionError(why))
        self.abort()

    def eof_received(self) -> None:
        """The server sends no more: do not use the connection again; the transport closes itself."""
        self._keep = False

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is closed: complete a response that has no length, or fail the request."""
        self._transport = None
        self._keep = False
        if self._told_head and not {"content-length", "transfer-encoding"} & self._headers.keys():
            self.on_message_complete()
        self._fail(error if isinstance(error, OSError) else ConnectionResetError(_BROKE[self._told_head]))
        if self.pool is not None:
            self.pool.closed(self)

    def _fail(self, error: OSError) -> None:
        answered, self._answered = self._answered, None
        if answered is not None and not answered.done():
            answered.set_exception(error)

    # -- callbacks of the parser

    def on_header(self, name: bytes, value: bytes) -> None:
        """Store a header."""
        self._headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        """The headers are complete; the body follows."""
        self._told_head = True

    def on_body(self, piece: bytes) -> None:
        """Store a piece of the body; a body that is too long fails the request."""
        self._pieces.append(piece)
        self._length += len(piece)
        if self._length > LONGEST_ANSWER:
            self._give_up(f"the answer is longer than {LONGEST_ANSWER >> 20} MiB")

    def on_message_complete(self) -> None:
        """Hand over the response; 1xx responses are skipped."""
        code = self._parser.get_status_code()
        answer = HttpResponse(
            code, self._headers, self._pieces[0] if len(self._pieces) == 1 else b"".join(self._pieces)
        )
        self._begin()
        if code < 200:
            return
        if not self._parser.should_keep_alive():
            self._keep = False
        answered, self._answered = self._answered, None
        if answered is None:
            # a response without a request: the next one could be taken for the response to another request
            self.abort()
        elif not answered.done():
            answered.set_result(answer)


_BROKE = {
    False: "the server closed the connection before it answered",
    True: "the connection broke before the answer was complete",
}

# (option, value): a dead peer is noticed after little more than a minute
_KEEP_ALIVE = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 3))


def keep_alive(made: socket.socket) -> None:
    """Turn on TCP keepalive, so that a dead peer is noticed."""
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE:
        # not every platform has them all
        if hasattr(socket, name):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
