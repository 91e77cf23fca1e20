"""HTTP on one connection, with limits on what a client may send before it is authenticated.

    bytes ──▶ HttpConnection ──▶ aiohttp's parser ──▶ requests
                 └── 431 for too many bytes of headers; closed if they take too long

aiohttp bounds each line and the number of headers, but not all of them together, and waits for them as long as for
the next request. The incomplete headers of all clients are bounded together, too: past that only short ones are
accepted.
"""

# upstream: apiserver/pkg/server/secure_serving.go (v1.36); Go's net/http/server.go for the responses

import asyncio
import logging
from typing import Any

from aiohttp import web
from aiohttp.http_exceptions import BadHttpMessage, LineTooLong
from aiohttp.streams import StreamReader

from kubesched.http.connections import Connections

# the longest request line or header; tokens can be long
LARGEST_LINE = 64 * 1024
# the most bytes of the request line and all headers; the reference accepts 1 MiB
LARGEST_HEADERS = 128 * 1024
MOST_HEADERS = 500
# the most bytes of incomplete headers on all connections together; short ones are accepted nevertheless
MOST_UNFINISHED = 16 * 1024 * 1024
ALWAYS_LET_IN = 16 * 1024
# until headers are complete, from their first byte on, or from the start of the connection
HEADER_SECONDS = 32.0
# until the next request begins
IDLE_SECONDS = 90.0
# how long a refused client has to read the response
LINGER_SECONDS = 0.5
# a body of small chunks may have this many bytes of chunk framing for each byte
_FRAMING = 8
_TOO_LARGE = "431 Request Header Fields Too Large"
_REFUSAL = (
    f"HTTP/1.1 {_TOO_LARGE}\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n{_TOO_LARGE}"
).encode()

# aiohttp's messages are about clients, not for operators
_silent = logging.getLogger("kubesched.http.aiohttp")
_silent.addHandler(logging.NullHandler())
_silent.propagate = False


class Handlers(web.Server):
    """Makes connections whose requests are answered by a coroutine."""

    connection_class: "type[HttpConnection]"

    # whether a request is cancelled when its client has left
    handler_cancellation = True

    def __init__(self, answer: Any, **options: Any) -> None:
        super().__init__(
            answer,
            handler_cancellation=type(self).handler_cancellation,
            access_log=None,
            logger=_silent,
            keepalive_timeout=IDLE_SECONDS,
            max_line_size=LARGEST_LINE,
            max_field_size=LARGEST_LINE,
            max_headers=MOST_HEADERS,
            # bodies are not decompressed, as in the reference: a few bytes could expand to gigabytes
            auto_decompress=False,
            **options,
        )
        self.accepted: Connections | None = None
        # bytes of headers that are not complete
        self.unfinished = 0

    def __call__(self) -> web.RequestHandler:
        """Return the protocol of a new connection."""
        return self.connection_class(self, loop=self._loop, **self._kwargs)

    def connection_lost(self, handler: web.RequestHandler, error: BaseException | None = None) -> None:
        """Forget a connection and its unfinished headers."""
        super().connection_lost(handler, error)
        if isinstance(handler, HttpConnection):
            self.unfinished -= handler.unfinished
            handler.unfinished = 0
        if self.accepted is not None:
            self.accepted.lost(handler)

    def has_room(self, unfinished: int) -> bool:
        """Return whether a connection may send more bytes of incomplete headers."""
        return unfinished <= ALWAYS_LET_IN or (unfinished <= LARGEST_HEADERS and self.unfinished <= MOST_UNFINISHED)


class HttpConnection(web.RequestHandler):
    """A connection; subclasses define the `refusal` of malformed HTTP."""

    __slots__ = ("_body", "_deadline", "_of_body", "unfinished")

    def __init__(self, *args: Any, **more: Any) -> None:
        super().__init__(*args, **more)
        # bytes of headers since the last complete request, while no request waits for its response
        self.unfinished = 0
        # the body of the last request, and its received bytes with chunk framing
        self._body: StreamReader | None = None
        self._of_body = 0
        self._deadline: asyncio.TimerHandle | None = None

    @property
    def in_use(self) -> bool:
        """Return whether a request is being answered or waits."""
        return bool(self._request_in_progress or self._messages)

    @property
    def has_more(self) -> bool:
        """Return whether further requests wait on this connection."""
        return bool(self._messages)

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start the time limit of the first request's headers."""
        super().connection_made(transport)
        self._await_headers()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Stop the time limit, and drop the body."""
        self._headers_came()
        super().connection_lost(exc)
        self._body = None

    def data_received(self, data: bytes) -> None:
        """Parse bytes of requests, within the bounds for headers and bodies."""
        manager = self._manager
        if not isinstance(manager, Handlers) or self._force_close or self._close:
            return
        if manager.accepted is not None:
            manager.accepted.heard(self)
        if self._body is not None and not self._body.is_eof():
            self._receive_body(data)
            return
        if not self.unfinished:
            self._await_headers()
        before = self._request_count
        super().data_received(data)
        if self._request_count == before:
            self._count(manager, len(data))
        else:
            self._headers_came()
            self._body, self._of_body = (self._messages[-1][1] if self._messages else None), 0
            # data may include a part of the body; pipelined requests are held in memory, so they are counted together
            self._count(manager, -self.unfinished if len(self._messages) <= 1 else len(data))
        if not manager.has_room(self.unfinished):
            self._refuse()

    def _count(self, manager: Handlers, size: int) -> None:
        self.unfinished += size
        manager.unfinished += size

    def _receive_body(self, data: bytes) -> None:
        """Parse a piece of a body; its chunk framing is bounded as headers are."""
        assert self._body is not None
        self._of_body += len(data)
        body = self._body
        super().data_received(data)
        if not body.is_eof() and self._of_body > LARGEST_HEADERS + _FRAMING * body.total_bytes:
            self._refuse()

    def _refuse(self) -> None:
        """Answer 431, unless a response has begun, and close the connection."""
        if self.transport is None or self.in_use:
            self.force_close()
            return
        self.transport.write(_REFUSAL)
        if self.transport.can_write_eof():
            self.transport.write_eof()
        # data that still arrives is dropped for a moment: closing with unread data would reset the connection, and the
        # client would lose the response
        self._close = True
        self._loop.call_later(LINGER_SECONDS, self.force_close)

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Return the response to a request that cannot be parsed; the connection is closed after it."""
        if request.writer.output_size > 0:
            raise ConnectionError("the response has begun")
        response = self.refusal(_refusal_code(status, exc), exc, " ".join((message or "").split()))
        response.force_close()
        return response

    def refusal(self, code: int, error: BaseException | None, message: str) -> web.Response:
        """Return the response to a request that cannot be parsed."""
        raise NotImplementedError

    # -- time

    def _await_headers(self) -> None:
        if self._deadline is None:
            self._deadline = self._loop.call_later(HEADER_SECONDS, self._give_up)

    def _headers_came(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _give_up(self) -> None:
        self._deadline = None
        if not self.in_use:
            self.force_close()


def _refusal_code(status: int, error: BaseException | None) -> int:
    """Return the status code for a request that cannot be parsed: 431 if its headers are too many or too long."""
    if isinstance(error, LineTooLong) or (isinstance(error, BadHttpMessage) and "Too many headers" in error.message):
        return 431
    return status
