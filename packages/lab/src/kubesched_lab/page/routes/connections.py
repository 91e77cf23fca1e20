"""The page's connections, bounded in number, time and memory: any user of this machine can open some.

    socket ──▶ Connections ──▶ HTTP ──▶ the page's application ──▶ a response, which has a time limit

From an application to a port of an endpoint. Clients without the token cannot lock out clients with it: if there are
too many connections, the longest idle connection is closed, and the head of a request has a time limit. Malformed
requests are refused with a sentence.
"""

import asyncio
import logging
import socket
import time
from contextlib import suppress
from typing import Final

from aiohttp import web

from kubesched.common.notes import seldom
from kubesched.http.connections import Connections, most_connections
from kubesched.http.protocol import Handlers, HttpConnection
from kubesched_lab.page.routes.endpoint import PageEndpoint
from kubesched_lab.page.routes.guard import HEADERS, refusal

# a browser has six, and one more for each tab that follows changes
MOST_CONNECTIONS: Final = 200
BACKLOG: Final = 128
# for a client to read a response; changes are followed for as long as it likes
SEND_SECONDS: Final = 60.0
END_SECONDS: Final = 1.0
_log = logging.getLogger(__name__)


class PageConnections:
    """Serves an application from `open` to `close`."""

    def __init__(self, app: web.Application, endpoint: PageEndpoint) -> None:
        self._endpoint = endpoint
        self._runner = web.AppRunner(app)
        self._handlers: _Handlers | None = None
        self._connections: Connections | None = None

    def __len__(self) -> int:
        return 0 if self._connections is None else len(self._connections)

    async def open(self, port: int) -> int:
        """Accept connections from now on, and return the port; raises OSError."""
        address, tls = self._endpoint.address, self._endpoint.tls
        family = socket.AF_INET6 if ":" in address else socket.AF_INET
        # `::` means all addresses, including IPv4
        both = address == "::" and socket.has_dualstack_ipv6()
        listener = socket.create_server((address, port), family=family, backlog=BACKLOG, dualstack_ipv6=both)
        listener.setblocking(False)
        await self._runner.setup()
        found = self._runner.server
        assert found is not None

        # clients that send several requests at once take turns: one such request in each turn of the loop
        several = asyncio.Lock()

        async def answered(request: web.BaseRequest) -> web.StreamResponse:
            if isinstance(request.protocol, HttpConnection) and request.protocol.has_more:
                async with several:
                    await asyncio.sleep(0)
            try:
                response = await found.request_handler(request)
            except (web.HTTPException, ConnectionError):
                raise
            except Exception:
                # a fault of the page, and not of a client
                _log.exception("%s %s", request.method, request.path[:200])
                response = refusal(500, "internal error of the page: see the terminal of kubesched page")
            await _send(request, response)
            return response

        self._handlers = _Handlers(answered, request_factory=found.request_factory, lingering_time=END_SECONDS)
        note = seldom(_log.warning, time.monotonic)
        self._connections = self._handlers.accepted = Connections(
            listener, lambda local: tls, self._handlers, note, most_connections(MOST_CONNECTIONS)
        )
        self._connections.open()
        return int(listener.getsockname()[1])

    async def close(self) -> None:
        """Let running requests finish for a moment, then end all connections."""
        if self._connections is not None and self._handlers is not None:
            self._connections.close()
            self._handlers.pre_shutdown()
            await self._handlers.shutdown(END_SECONDS)
            await self._connections.closed()
            self._handlers = self._connections = None
        await self._runner.cleanup()


async def _send(request: web.BaseRequest, response: web.StreamResponse) -> None:
    """Send a response; close the connection if the client does not read it."""
    try:
        with suppress(ConnectionError):
            async with asyncio.timeout(SEND_SECONDS):
                await response.prepare(request)
                await response.write_eof()
    except TimeoutError:
        if request.transport is not None:
            request.transport.abort()


class _Connection(HttpConnection):
    """A connection that refuses malformed HTTP in the same form as other requests."""

    __slots__ = ()

    def refusal(self, code: int, error: BaseException | None, message: str) -> web.Response:
        """Return the response to a request that cannot be parsed."""
        response = refusal(code, "this is not an HTTP request that the page can read")
        response.headers.update(HEADERS)
        return response


class _Handlers(Handlers):
    """aiohttp's side of the connections."""

    connection_class = _Connection
    # a change of a cluster that has begun is finished
    handler_cancellation = False
