"""Responses that are read as they arrive: of watches, which last for minutes, and of long lists.

    request ──▶ headers ──▶ pieces of the body, as they arrive ──▶ end ──▶ the connection is idle
                                      │ too many pieces wait: nothing more is read from the socket

From an `HttpRequest` to a `ResponseStream`. An event of a watch takes one callback of the transport and one future:
there is no timer and no task for each piece. Pieces that arrive together are handed over together.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator

from kubesched.client.connection import Connection
from kubesched.client.connection_pool import Pool
from kubesched.client.http_messages import LONGEST_HEAD, HttpRequest, ServerAddress, header_of

# bytes that wait for the reader; beyond it, the socket is not read
MOST_WAITING = 1 << 18


class _StreamConnection(Connection, AsyncIterator[bytes]):
    """A connection whose response is read as it arrives; iterating gives the pieces of the body."""

    def __init__(self) -> None:
        super().__init__()
        self.code = 0
        # bytes of the body that were handed over
        self.received = 0
        self._head: asyncio.Future[None] | None = None
        self._reader: asyncio.Future[bytes] | None = None
        # whether the body is complete, or why it will never be
        self._complete = False
        self._broken: OSError | None = None
        # bytes that wait for the reader, and bytes that were received since the last piece of the body
        self._held = self._without_body = 0
        self._paused = False

    def ask(self, text: bytes, silence: float) -> "asyncio.Future[None]":
        """Send a request; return a future that is done when the headers of the response are complete."""
        self._send(text, silence)
        self.received = self._without_body = 0
        self._complete, self._broken = False, None
        self._head = head = self._loop.create_future()
        return head

    def expire(self) -> None:
        """Fail the response, since it takes too long."""
        self._fail(TimeoutError())
        self.abort()

    def header(self, name: bytes) -> str | None:
        """Return the value of a header; `name` is in lower case."""
        return header_of(self._headers, name)

    # -- reading

    def __anext__(self) -> "asyncio.Future[bytes]":
        """Return the bytes that have arrived, or a future of the next ones."""
        if self._reader is not None and not self._reader.done():
            raise RuntimeError("a response is read twice at the same time")
        reader = self._loop.create_future()
        if self._pieces:
            reader.set_result(self._taken())
        elif self._complete or self._broken is not None:
            reader.set_exception(self._broken or StopAsyncIteration())
        else:
            self._reader = reader
        return reader

    def _taken(self) -> bytes:
        """Return the pieces that wait, as one."""
        pieces = self._pieces
        body = pieces[0] if len(pieces) == 1 else b"".join(pieces)
        self.received += len(body)
        self.drop_unread()
        return body

    def drop_unread(self) -> None:
        """Drop the pieces that wait, and read the socket again."""
        self._pieces.clear()
        self._held = 0
        if self._paused:
            self._paused = False
            self.used_at = self._loop.time()
            if self._transport is not None and not self._transport.is_closing():
                self._transport.resume_reading()

    def _is_silent(self) -> bool:
        return not self._paused

    # -- callbacks of the transport and the parser

    def data_received(self, data: bytes) -> None:
        """Parse a piece of the response for the reader; the socket pauses while the reader does not read."""
        self.used_at = self._loop.time()
        self._feed(data)
        if not self._pieces:
            # headers, 1xx responses, extensions of chunks, trailers: bounded together
            self._without_body += len(data)
            if self._without_body > LONGEST_HEAD and self._asked:
                self._give_up(f"the answer has more than {LONGEST_HEAD >> 20} MiB without a body")
            return
        self._without_body = 0
        reader = self._reader
        if reader is not None:
            self._reader = None
            if not reader.done():
                reader.set_result(self._taken())
                return
        self._held += len(data)
        if self._held > MOST_WAITING and self._asked and not self._paused and self._transport is not None:
            self._paused = True
            self._transport.pause_reading()

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is closed: the body has ended if it has no length, or is broken."""
        if error is None and self._asked and self._ends_with_connection:
            self._end(None)
        super().connection_lost(error)

    def _fail(self, error: OSError) -> None:
        if self._asked:
            self._end(error)

    def _end(self, broken: OSError | None) -> None:
        """End the response, complete or broken; pieces that arrived before are read first."""
        self._asked = False
        self._complete, self._broken = broken is None, broken
        head, self._head = self._head, None
        if head is not None and not head.done() and broken is not None:
            head.set_exception(broken)
        # a reader gets pieces that arrived in the same turn from data_received
        if not self._pieces and self._reader is not None:
            reader, self._reader = self._reader, None
            if not reader.done():
                reader.set_exception(broken or StopAsyncIteration())

    def on_headers_complete(self) -> None:
        """Wake the request that waits for the headers; 1xx responses are skipped."""
        self.code = self._parser.get_status_code()
        if self.code < 200:
            return
        self._head_complete = True
        head, self._head = self._head, None
        if head is not None and not head.done():
            head.set_result(None)

    def on_message_complete(self) -> None:
        """End the body; 1xx responses are skipped."""
        if not self._head_complete:
            return
        if not self._parser.should_keep_alive():
            self._keep = False
        if self._asked:
            self._end(None)


class ResponseStream:
    """A response that is read as it arrives; `close` ends it."""

    def __init__(self, streams: "ResponseStreams", connection: _StreamConnection) -> None:
        self.code = connection.code
        self._streams = streams
        self._connection: _StreamConnection | None = connection
        self._received = 0
        self.timer: asyncio.TimerHandle | None = None

    @property
    def total_bytes(self) -> int:
        """Return how many bytes of the body were read."""
        return self._received if self._connection is None else self._connection.received

    def header(self, name: bytes) -> str | None:
        """Return the value of a header; `name` is in lower case."""
        return self._open().header(name)

    def iter_any(self) -> AsyncIterator[bytes]:
        """Yield pieces as they arrive, until the body ends."""
        return self._open()

    async def readany(self) -> bytes:
        """Return the bytes that have arrived, or wait for some; return none at the end of the body."""
        async for piece in self._open():
            return piece
        return b""

    async def read(self, most: int = -1) -> bytes:
        """Return the rest of the body, or the pieces of its beginning that are longer than `most` together."""
        body = bytearray()
        async for piece in self._open():
            body += piece
            if 0 <= most < len(body):
                break
        return bytes(body)

    async def beginning(self, most: int) -> bytes:
        """Return the body, or its beginning if it is very long, and close the response."""
        try:
            return await self.read(most)
        finally:
            self.close()

    def close(self) -> None:
        """End the response; its connection is reused if the body was complete."""
        connection, self._connection = self._connection, None
        if self.timer is not None:
            self.timer.cancel()
        if connection is not None:
            self._received = connection.received
            self._streams.done_with(connection)

    def _open(self) -> _StreamConnection:
        if self._connection is None:
            raise RuntimeError("the response was closed")
        return self._connection


class ResponseStreams(Pool[_StreamConnection]):
    """Connections for responses that are read as they arrive."""

    def __init__(
        self, server: str, server_name: str | None = None, *, most_connections: int = 100, connect_seconds: float = 30.0
    ) -> None:
        super().__init__(ServerAddress(server, server_name), _StreamConnection, most_connections, connect_seconds)
        # the connections of responses that are being read
        self._reading: set[_StreamConnection] = set()

    async def ask(self, request: HttpRequest, tls: ssl.SSLContext | None) -> ResponseStream:
        """Return a response once its headers are complete; raises as `ConnectionPool.ask` does."""
        text = self._address.text(request)
        loop = asyncio.get_running_loop()
        ends_at = None if request.timeout is None else loop.time() + request.timeout
        async with asyncio.timeout_at(ends_at):
            connection = await self._take(tls)
            try:
                await connection.ask(text, request.silence)
            except BaseException:
                connection.abort()
                raise
        self._reading.add(connection)
        stream = ResponseStream(self, connection)
        if ends_at is not None:
            stream.timer = loop.call_at(ends_at, connection.expire)
        return stream

    def done_with(self, connection: _StreamConnection) -> None:
        """Reclaim the connection of a response that is not read any more."""
        self._reading.discard(connection)
        connection.drop_unread()
        # a response that is not complete ends the connection
        self._give_back(connection)

    async def close(self) -> None:
        """Close all connections, without waiting for the server."""
        for connection in self._reading:
            connection.abort()
        await super().close()
