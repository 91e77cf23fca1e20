"""The API server on a socket: HTTP/1.1 in, verbs, HTTP/1.1 out.

    socket ──▶ aiohttp's parser ──▶ Request ──▶ Transport ──▶ Response, in one piece or in chunks
                                                          └──▶ Watch, streamed until it ends or the client leaves

aiohttp's low-level server is used without its router. Every error of a request is answered with a Status; no request
ends the server. A client that does not read costs no more than its queue of lines, which is bounded.
"""

# upstream: apiserver/pkg/endpoints/handlers/{watch,get}.go, pkg/server/options/server_run_options.go (v1.36)

import asyncio
import socket
import ssl
from collections.abc import Mapping
from random import Random

import msgspec
from aiohttp import web

from kubesched.http.connections import Connections, most_connections
from kubesched.http.messages import BodyTooLargeError, decode_path, parse_query, read_body, readable, send
from kubesched.http.protocol import Handlers, HttpConnection
from kubesched_controlplane.api.requests import Request, Response, refusal
from kubesched_controlplane.api.statuses import ApiError, bad_request, internal_error, too_large
from kubesched_controlplane.server.server import LARGEST_BODY, ApiServer
from kubesched_controlplane.server.verbs.watching import Watch
from kubesched_controlplane.transport.transport import ConnectionLostError, Lines, Transport, end_after

REQUEST_SECONDS = 60.0
# a watch without timeoutSeconds ends after this to twice this time
WATCH_SECONDS = 1800.0
# seconds in which a client has to read the remaining events of an ended watch
LAST_SECONDS = 10.0
# fewer if the limit of file descriptors is lower
MOST_CONNECTIONS = 5000
BACKLOG = 1024
MOST_PARAMETERS = 1000
# a response up to this size is sent in one piece
WHOLE_BYTES = 256 * 1024
_WITH_BODY = ("POST", "PUT", "PATCH", "DELETE")
_NOT_CACHED = {"Cache-Control": "no-cache, private"}


class HttpServer:
    """Serves an API server until it is stopped."""

    def __init__(
        self,
        server: ApiServer,
        *,
        transport: Transport | None = None,
        host: str = "127.0.0.1",
        port: int = 0,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.server = server
        self.transport = transport or Transport(server)
        self._host = host
        self._port = port
        self._tls = tls
        # apart from the seeded randomness of the server, which must not depend on clients
        self._random = Random()
        self._handlers: _Handlers | None = None
        self._connections: Connections | None = None

    @property
    def port(self) -> int:
        """Return the port on which the server listens."""
        return self._port

    @property
    def url(self) -> str:
        """Return the URL of the server for clients."""
        host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(self._host, self._host)
        shown = f"[{host}]" if ":" in host else host
        return f"{'https' if self._tls else 'http'}://{shown}:{self._port}"

    async def start(self) -> None:
        """Listen on the address; raises OSError if that fails."""
        loop = asyncio.get_running_loop()
        # only the first address of the host: with port 0 each address would get another port
        family, _, _, _, address = (await loop.getaddrinfo(self._host, self._port, type=socket.SOCK_STREAM))[0]
        listener = socket.create_server(address[:2], family=family, backlog=BACKLOG)
        listener.setblocking(False)
        self._port = listener.getsockname()[1]
        handlers = self._handlers = _Handlers(self._answer, self.transport, lingering_time=2.0)
        self._connections = handlers.accepted = Connections(
            listener, lambda local: self._tls, handlers, self.server.note, most_connections(MOST_CONNECTIONS)
        )
        self._connections.open()
        self.transport.cut = handlers.cut
        self.transport.start()

    async def stop(self, seconds: float = 2.0) -> None:
        """Close the listener, end watches, and wait some seconds for requests to finish."""
        if self._handlers is None or self._connections is None:
            return
        self._connections.close()
        self.transport.stop()
        self._handlers.pre_shutdown()
        await self._handlers.shutdown(seconds)
        await self._connections.closed()
        self._handlers = self._connections = None

    # -- a request

    async def _answer(self, message: web.BaseRequest) -> web.StreamResponse:
        try:
            found = await self.transport.ask(await self._request(message))
        except ApiError as error:
            found = refusal(error)
        except ConnectionLostError:
            return _cut(message)
        except Exception as raised:
            found = refusal(internal_error(f"{type(raised).__name__}: {raised}"))
        if isinstance(found, Watch):
            return await self._stream(message, found)
        return await _send(message, found)

    async def _request(self, message: web.BaseRequest) -> Request:
        """Authenticate and authorize a request, then read its body."""
        path, query = split_target(message.raw_path)
        request = Request(message.method, path, query, _readable(message.headers))
        if message.method not in _WITH_BODY:
            return self.server.authenticated(request)
        has_arrived = message.content.is_eof()
        request = self.server.authenticated(request) if has_arrived else self.server.admitted(request)
        return msgspec.structs.replace(request, body=await _body(message))

    # -- a watch

    async def _stream(self, message: web.BaseRequest, watch: Watch) -> web.StreamResponse:
        """Send the lines of a watch until it ends."""
        loop = asyncio.get_running_loop()
        seconds = watch.seconds or WATCH_SECONDS * (1 + self._random.random())
        end_after(watch, seconds, self.server)
        response = web.StreamResponse(headers=_NOT_CACHED)
        response.content_type = "application/json"
        if message.version >= (1, 1):
            response.enable_chunked_encoding()
        try:
            # once the watch has ended, a client that does not read gets LAST_SECONDS
            async with asyncio.timeout(None) as patience:
                watch.on_end(lambda: patience.reschedule(loop.time() + LAST_SECONDS))
                try:
                    await response.prepare(message)
                    if message.method != "HEAD":
                        async for lines in Lines(watch):
                            await response.write(lines)
                finally:
                    watch.end()
                if not self.transport.away:
                    await response.write_eof()
                    return response
        except TimeoutError:
            pass
        return _cut(message)


async def _send(message: web.BaseRequest, found: Response) -> web.StreamResponse:
    """Send a response; a large one in pieces, so that other requests are served in between."""
    headers = {"Content-Type": found.content_type, **_NOT_CACHED, **found.headers}
    size = sum(map(len, found.chunks))
    if size > WHOLE_BYTES:
        return await send(message, found.code, headers, found.chunks, size, REQUEST_SECONDS)
    whole = web.Response(status=found.code, body=b"".join(found.chunks), headers=headers)
    if not message.content.is_eof():
        # of a refused request: the rest of its body is not waited for
        whole.force_close()
    return whole


def _cut(message: web.BaseRequest) -> web.StreamResponse:
    """Cut the connection of a request; the returned response is not sent."""
    if message.transport is not None:
        message.transport.abort()
    return web.Response()


async def _body(message: web.BaseRequest) -> bytes:
    """Read the body of a request; raises ApiError if it is too large, too slow or malformed."""
    try:
        return await read_body(message, LARGEST_BODY, REQUEST_SECONDS)
    except BodyTooLargeError:
        raise too_large(LARGEST_BODY) from None
    except TimeoutError:
        raise ApiError(408, "Timeout", "the body of the request did not arrive in time") from None
    except web.RequestPayloadError as error:
        raise bad_request(f"the body of the request cannot be read: {error}") from None


def split_target(target: str) -> tuple[str, Mapping[str, list[str]]]:
    """Return the decoded path and query of a request's target; raises ApiError if they are malformed."""
    target = readable(target)
    if not target.startswith("/"):
        # the absolute form, for proxies
        _, _, rest = target.partition("://")
        target = "/" + rest.partition("/")[2]
    path, _, query = target.partition("?")
    try:
        return decode_path(path.partition("#")[0]), parse_query(query, MOST_PARAMETERS)
    except ValueError as error:
        raise bad_request(str(error)) from None


def _readable(headers: Mapping[str, str]) -> Mapping[str, str]:
    """Return headers with values in UTF-8; invalid bytes become replacement characters."""
    if all(map(str.isascii, headers.values())):
        return headers
    return {name.lower(): readable(value) for name, value in headers.items()}


class _Connection(HttpConnection):
    """A connection on which malformed HTTP is answered with a Status."""

    __slots__ = ()

    def refusal(self, code: int, error: BaseException | None, message: str) -> web.Response:
        """Return the Status for a request that cannot be parsed."""
        if code == 431:
            status = ApiError(code, "RequestHeaderFieldsTooLarge", "the request has too many or too long headers")
        elif code == 400:
            status = bad_request(f"malformed HTTP request: {message}")
        else:
            status = internal_error(f"{type(error).__name__}: {error}")
        return web.Response(status=status.code, body=status.body(), content_type="application/json")


class _Handlers(Handlers):
    """Makes connections, and cuts them during an outage."""

    connection_class = _Connection

    def __init__(self, handler: object, transport: Transport, **options: object) -> None:
        super().__init__(handler, **options)
        self._transport = transport

    def connection_made(self, handler: web.RequestHandler, transport: asyncio.Transport) -> None:
        super().connection_made(handler, transport)
        if self._transport.away:
            transport.abort()

    def cut(self) -> None:
        """Cut all connections."""
        for transport in list(self._connections.values()):
            transport.abort()
