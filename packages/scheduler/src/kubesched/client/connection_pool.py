"""Short requests over pooled connections: a request, its response, and the connection is free for the next one.

From an `HttpRequest` to an `HttpResponse`. A pool does what the hot path needs and no more: HTTP/1.1 to one server,
directly, with or without TLS; proxies are aiohttp's. A redirect is a response.
"""

import asyncio
import ssl
from collections import deque
from collections.abc import Callable
from typing import Any, Generic, TypeVar

from kubesched.client.connection import Connection
from kubesched.client.http_messages import (
    LONGEST_HEAD,
    CannotConnectError,
    HttpRequest,
    HttpResponse,
    ServerAddress,
)
from kubesched.common.server_trust import trusting_context

__all__ = ["CannotConnectError", "ConnectionPool", "HttpRequest", "HttpResponse", "Pool"]

# servers close connections that are idle for 90 seconds; if that happens while a request is being sent, it is unknown
# whether the request was carried out
LONGEST_IDLE_SECONDS = 30.0
# an API server's response to a short request is no longer than this
LONGEST_ANSWER = 64 << 20

C = TypeVar("C", bound=Connection)


class Pool(Generic[C]):
    """Connections to one server, up to a limit; further requests wait in line."""

    def __init__(self, address: ServerAddress, make: Callable[[], C], most: int, connect_seconds: float) -> None:
        self._address = address
        self._make = make
        self._most = most
        self._connect_seconds = connect_seconds
        # connections that are being opened, busy or idle; the last one used is used next
        self._open = 0
        self._idle: list[C] = []
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def close(self) -> None:
        """Close the idle connections, without waiting for the server."""
        for connection in self._idle:
            connection.abort()
        # connection_lost is called in the loop's next turn
        await asyncio.sleep(0)
        while self._idle:
            await asyncio.sleep(0)

    def _take_idle(self, tls: ssl.SSLContext | None) -> C | None:
        """Return an idle connection that was opened with this TLS context."""
        while self._idle:
            connection = self._idle.pop()
            fresh = asyncio.get_running_loop().time() - connection.used_at < LONGEST_IDLE_SECONDS
            if connection.tls is tls and fresh and connection.usable:
                return connection
            connection.abort()
        return None

    async def _take(self, tls: ssl.SSLContext | None) -> C:
        """Return an idle connection, or open one when the limit allows."""
        while True:
            connection = self._take_idle(tls)
            if connection is not None:
                return connection
            if self._open < self._most:
                return await self._connect(tls)
            await self._turn()

    def _give_back(self, connection: C) -> None:
        """Make a connection idle, or close it if it cannot carry another request."""
        if connection.usable:
            self._idle.append(connection)
            if self._waiting:
                self._wake()
        else:
            connection.abort()

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

    async def _connect(self, tls: ssl.SSLContext | None) -> C:
        address = self._address
        options: dict[str, Any] = {}
        if address.secure:
            options = {"ssl": tls or trusting_context(), "server_hostname": address.server_name}
        self._open += 1
        made: C | None = None
        try:
            async with asyncio.timeout(self._connect_seconds):
                loop = asyncio.get_running_loop()
                _, made = await loop.create_connection(self._make, address.host, address.port, **options)
                made.belong_to(self._closed, tls)
        except (OSError, UnicodeError) as error:  # UnicodeError: the text cannot be the name of a host
            raise CannotConnectError(error) from None
        finally:
            if made is None or made.when_closed is None:
                self._closed(made)
        return made

    def _closed(self, connection: C | None) -> None:
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


class _Connection(Connection):
    """A connection whose responses are handed over whole."""

    def __init__(self) -> None:
        super().__init__()
        self._answered: asyncio.Future[HttpResponse] | None = None
        # bytes received since the request was sent
        self._received = 0

    def ask(self, text: bytes, silence: float) -> "asyncio.Future[HttpResponse]":
        """Send a request; return the response to await."""
        self._send(text, silence)
        self._received = 0
        self._answered = answered = self._loop.create_future()
        return answered

    def data_received(self, data: bytes) -> None:
        """Parse a piece of a response; a response that is too long fails."""
        self.used_at = self._loop.time()
        self._feed(data)
        self._received += len(data)
        if self._received <= LONGEST_HEAD or not self._asked:
            return
        if not self._head_complete:
            self._give_up(f"the headers of the answer are longer than {LONGEST_HEAD >> 20} MiB")
        elif self._received > LONGEST_ANSWER + LONGEST_HEAD:
            self._give_up(f"the answer is longer than {LONGEST_ANSWER >> 20} MiB")

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is closed: complete a response that has no length, or fail the request."""
        if self._asked and self._ends_with_connection:
            self.on_message_complete()
        super().connection_lost(error)

    def _fail(self, error: OSError) -> None:
        answered, self._answered, self._asked = self._answered, None, False
        self._pieces.clear()
        if answered is not None and not answered.done():
            answered.set_exception(error)

    def on_message_complete(self) -> None:
        """Hand over the response; 1xx responses are skipped."""
        code, pieces, answered = self._parser.get_status_code(), self._pieces, self._answered
        if code < 200:
            self._head_complete = False
            return
        if answered is None:
            self.abort()
            return
        if not self._parser.should_keep_alive():
            self._keep = False
        self._answered, self._asked = None, False
        if not answered.done():
            body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
            answered.set_result(HttpResponse(code, self._headers.copy(), body))
        pieces.clear()


class ConnectionPool(Pool[_Connection]):
    """Connections for short requests."""

    def __init__(
        self, server: str, server_name: str | None = None, *, most_connections: int = 100, connect_seconds: float = 30.0
    ) -> None:
        super().__init__(ServerAddress(server, server_name), _Connection, most_connections, connect_seconds)

    async def ask(self, request: HttpRequest, tls: ssl.SSLContext | None) -> HttpResponse:
        """Return the response; raises CannotConnectError if nothing was sent, else OSError or TimeoutError."""
        text = self._address.text(request)
        connection = self._take_idle(tls) or await self._take(tls)
        try:
            answer = await connection.ask(text, request.silence)
        except BaseException:
            connection.abort()
            raise
        self._give_back(connection)
        return answer
