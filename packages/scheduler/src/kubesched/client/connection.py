"""One connection to a server: it carries a request, the response that arrives, and then the next request.

From the bytes of a request to the callbacks of a parser. Subclasses handle the response: whole
responses (`connection_pool`), or responses that are read as they arrive (`response_stream`).

A connection that broke, whose request was cancelled, or on which the server sent more than a response is closed and
never used again. One timer for each connection ends requests that get no answer.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from typing import Any, cast

import httptools

from kubesched.client.http_messages import header_of

# (option, value): a dead peer is noticed after little more than a minute
_KEEP_ALIVE = (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 15), ("TCP_KEEPCNT", 3))


class Connection(asyncio.Protocol):
    """One connection; the parser writes headers and pieces of the body into it without calling a function."""

    def __init__(self) -> None:
        # called when the connection is closed; set by the pool that the connection belongs to
        self.when_closed: Callable[[Any], None] | None = None
        self.tls: ssl.SSLContext | None = None
        # when something was received or sent
        self.used_at = 0.0
        self._loop = asyncio.get_running_loop()
        self._transport: asyncio.Transport | None = None
        self._keep = True
        # whether a response is awaited or arriving, and whether its headers are complete
        self._asked = self._head_complete = False
        self._silence = 0.0
        # the timer that is set, and for when
        self._timer: asyncio.TimerHandle | None = None
        self._timer_at = 0.0
        self._headers: dict[bytes, bytes] = {}
        self._pieces: list[bytes] = []
        # callbacks of the parser
        self.on_header = self._headers.__setitem__
        self.on_body = self._pieces.append
        self._parser = httptools.HttpResponseParser(self)

    def belong_to(self, when_closed: Callable[[Any], None], tls: ssl.SSLContext | None) -> None:
        """Add the connection to a pool; raises ConnectionError if it is closed already."""
        if self._transport is None:
            raise ConnectionResetError("the server closed the connection at once")
        self.when_closed, self.tls = when_closed, tls

    @property
    def usable(self) -> bool:
        """Return whether the connection can carry another request."""
        return self._keep and not self._asked and self._transport is not None

    def abort(self) -> None:
        """Close the connection at once."""
        # the transport calls connection_lost only in the loop's next turn
        self._keep = False
        if self._transport is not None:
            self._transport.abort()

    # -- for subclasses

    def _send(self, text: bytes, silence: float) -> None:
        """Send a request; from now on the server may be silent for so many seconds."""
        if self._transport is None:
            raise ConnectionResetError("the server closed the connection")
        self._asked = True
        self._silence = silence
        self.used_at = now = self._loop.time()
        # a timer of an earlier request is early enough, unless this one has less patience
        if self._timer is None or self._timer_at > now + silence:
            self._set_timer(now + silence)
        self._transport.write(text)

    def _feed(self, data: bytes) -> None:
        """Parse a piece of the response; a server that sends anything else loses its connection."""
        if not self._asked:
            # nothing was asked for: the next response could be taken for the response to another request
            self.abort()
            return
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError as error:
            self._give_up(f"the answer is not HTTP: {error}")
        except httptools.HttpParserUpgrade:
            self._give_up("the answer is not HTTP: the server changes to another protocol")

    def _fail(self, error: OSError) -> None:
        """Fail the request, if there is one; TimeoutError is an OSError, too."""
        raise NotImplementedError

    def _is_silent(self) -> bool:
        """Return whether only the server can be the reason why nothing arrives."""
        return True

    def _give_up(self, why: str) -> None:
        self._fail(ConnectionError(why))
        self.abort()

    @property
    def _ends_with_connection(self) -> bool:
        """Return whether the body of the response ends when the connection is closed."""
        return (
            self._head_complete
            and header_of(self._headers, b"content-length") is None
            and header_of(self._headers, b"transfer-encoding") is None
        )

    # -- the timer

    def _set_timer(self, moment: float) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer_at = moment
        self._timer = self._loop.call_at(moment, self._check_silence)

    def _check_silence(self) -> None:
        """Fail the request with TimeoutError if nothing was received for long enough, or check again later."""
        self._timer = None
        if not self._asked:
            return
        now = self._loop.time()
        if not self._is_silent():
            self.used_at = now
        due = self.used_at + self._silence
        if due > now:
            self._set_timer(due)
        else:
            self._fail(TimeoutError())
            self.abort()

    # -- callbacks of the transport

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Keep the transport; turn on TCP keepalive, so that a dead peer is noticed."""
        self._transport = cast(asyncio.Transport, transport)
        raw = transport.get_extra_info("socket")
        if raw is not None:
            keep_alive(raw)

    def eof_received(self) -> None:
        """The server sends no more: do not use the connection again; the transport closes itself."""
        self._keep = False

    def connection_lost(self, error: Exception | None) -> None:
        """The connection is closed: fail the request, unless the response is complete."""
        self._transport = None
        self._keep = False
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        self._fail(error if isinstance(error, OSError) else ConnectionResetError(_BROKE[self._head_complete]))
        if self.when_closed is not None:
            self.when_closed(self)

    # -- callbacks of the parser

    def on_message_begin(self) -> None:
        """Start the next response; an unrequested one ends the connection."""
        if not self._asked:
            self._keep = False
        self._headers.clear()
        self._head_complete = False

    def on_headers_complete(self) -> None:
        """The headers are complete; the body follows."""
        self._head_complete = True


_BROKE = {
    False: "the server closed the connection before it answered",
    True: "the connection broke before the answer was complete",
}


def keep_alive(made: socket.socket) -> None:
    """Turn on TCP keepalive, so that a dead peer is noticed."""
    made.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
    for name, value in _KEEP_ALIVE:
        # not every platform has them all
        if hasattr(socket, name):
            made.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)
