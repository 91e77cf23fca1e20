"""The HTTPS server of the scheduler: health, metrics, configuration, profiles, on a thread of its own.

    socket ──▶ TLS ──▶ HTTP ──▶ authentication ──▶ authorization ──▶ the page
                                     401              403, 500

What the application does:

    options = options_from(flags)                             every flag of the three groups; ServingError
    authentication = Authentication(options, client, note)    `client` reaches the API server of
    authorization = Authorization(options, client, note)      --authentication-kubeconfig, --authorization-kubeconfig
    server = Server(options, checks, pages, authentication, authorization, note)
    server.start()                                            ServingError in one line; nothing with --secure-port 0
    server.stop()                                             closes the socket, lets requests finish for a while

`checks` and `pages` are callables that are called from the server's threads while the scheduler works, or hangs: they
read single values or copies, and wait for nothing. The clients are used on the server's loop only, and are closed with
it: they share no connection, limiter or credential source with the scheduler's. `note` is called from the server's
thread, too. Nothing that a client sends ends the server or gets into a note.
"""

# upstream: cmd/kube-scheduler/app/server.go, apiserver/pkg/endpoints/filters/{authentication,authorization}.go (v1.36)

import asyncio
import contextlib
import socket
import threading
import time
from concurrent.futures import Future

from aiohttp import web
from multidict import CIMultiDict, CIMultiDictProxy

from kubesched.common.loop_errors import quiet_closed_connections
from kubesched.common.notes import Note, seldom
from kubesched.errors import KubeschedError
from kubesched.http.connections import Connections, most_connections
from kubesched.http.messages import BodyTooLargeError, decode_path, parse_query, read_body, readable, send
from kubesched.http.protocol import Handlers, HttpConnection
from kubesched.serving.auth.authentication import Authentication, UnauthenticatedError
from kubesched.serving.auth.authorization import Authorization
from kubesched.serving.auth.client_certificates import Chain
from kubesched.serving.listener import listen
from kubesched.serving.options import ServingOptions
from kubesched.serving.pages.health import HealthChecks
from kubesched.serving.pages.negotiation import forbidden, internal_error, unauthorized
from kubesched.serving.pages.profiling import LONGEST_SECONDS
from kubesched.serving.pages.routes import Pages, Routes
from kubesched.serving.requests import PageRequest, PageResponse, refused
from kubesched.serving.tls.certificates import load_identities
from kubesched.serving.tls.sessions import ServerTls, TlsSession, tls_settings

STOP_SECONDS = 5.0
MOST_CONNECTIONS = 500
LARGEST_BODY = 64 * 1024
BODY_SECONDS = 10.0
MOST_PARAMETERS = 100
PIECE_BYTES = 64 * 1024
# the time limit for a response, from authentication to the last byte
ANSWER_SECONDS = LONGEST_SECONDS + 60.0
_HEADERS = {"Cache-Control": "no-cache, private", "Server": "kubesched"}
_WORDS = {
    400: "400 Bad Request",
    431: "431 Request Header Fields Too Large",
    500: "500 Internal Server Error",
}


class Server:
    """Serves from `start` to `stop`; `listener` is a socket that is bound already."""

    def __init__(
        self,
        options: ServingOptions,
        checks: HealthChecks,
        pages: Pages,
        authentication: Authentication,
        authorization: Authorization,
        note: Note,
        *,
        inform: Note | None = None,
        listener: socket.socket | None = None,
    ) -> None:
        self._options = options
        self._checks = checks
        self._pages = pages
        self._authentication = authentication
        self._authorization = authorization
        self._note = note
        # logs messages that are no problems
        self._inform = inform or note
        self._listener = listener
        self._thread: threading.Thread | None = None
        self._stop: Future[None] = Future()
        self.port = 0

    def start(self) -> None:
        """Serve from now on; returns once connections are accepted."""
        if not self._options.secure_port and self._listener is None:
            return
        options = self._options.checked()
        tls = ServerTls(
            tls_settings(options, self._note),
            load_identities(options, self._note, inform=self._inform),
            self._authentication.authorities,
        )
        listener = self._listener or listen(options)
        self.port = listener.getsockname()[1]
        started: Future[None] = Future()
        self._thread = threading.Thread(target=self._run, args=(listener, tls, started), name="serving", daemon=True)
        self._thread.start()
        started.result()
        self._inform(f"Serving securely on {_shown(listener)}")

    def stop(self) -> None:
        """Close the socket, let requests under way finish for a while, and end the thread."""
        if self._thread is not None:
            if not self._stop.done():
                self._stop.set_result(None)
            self._thread.join(STOP_SECONDS + 2.0)
            self._thread = None

    def _run(self, listener: socket.socket, tls: ServerTls, started: "Future[None]") -> None:
        try:
            asyncio.run(self._serve(listener, tls, started))
        except Exception as error:
            # a bug; `start` must not wait for ever
            if not started.done():
                started.set_exception(error)
            self._note(f"serving has ended: {type(error).__name__}: {error}")

    async def _serve(self, listener: socket.socket, tls: ServerTls, started: "Future[None]") -> None:
        quiet_closed_connections(asyncio.get_running_loop())
        routes = Routes(self._pages, self._checks, self._note)
        chain = _Chain(routes, self._authentication, self._authorization, seldom(self._note, time.monotonic))
        handler = _Handlers(chain.answer, lingering_time=1.0)
        connections = handler.accepted = Connections(
            listener, tls.context, handler, seldom(self._note, time.monotonic), most_connections(MOST_CONNECTIONS)
        )
        try:
            await self._authentication.begin()
        except KubeschedError as error:
            started.set_exception(error)
        else:
            keeping_up = asyncio.create_task(self._authentication.run())
            connections.open()
            started.set_result(None)
            await asyncio.wrap_future(self._stop)
            keeping_up.cancel()
        connections.close()
        handler.pre_shutdown()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(STOP_SECONDS):
                await handler.shutdown(STOP_SECONDS)
        await connections.closed()
        routes.close()
        await self._authentication.close()
        await self._authorization.close()


class _Chain:
    """The handlers that each request passes: authentication, authorization, page."""

    def __init__(
        self, routes: Routes, authentication: Authentication, authorization: Authorization, note: Note
    ) -> None:
        self._routes = routes
        self._authentication = authentication
        self._authorization = authorization
        self._note = note

    async def answer(self, message: web.BaseRequest) -> web.StreamResponse:
        """Answer a request, within the time limit."""
        transport = message.transport
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                return await _send(message, await self._found(message))
        except TimeoutError:
            if transport is not None:
                transport.abort()
            raise ConnectionError("the client does not read") from None

    async def _found(self, message: web.BaseRequest) -> PageResponse:
        try:
            request = _request(message)
        except ValueError:
            return refused("400 Bad Request", 400)
        try:
            return await self._answer(request, message)
        except BodyTooLargeError:
            return refused("413 Request Entity Too Large", 413)
        except TimeoutError:
            return refused("408 Request Timeout", 408)
        except Exception as error:
            self._note(f"a page could not be written: {type(error).__name__}: {error}")
            return refused("500 Internal Server Error", 500)

    async def _answer(self, request: PageRequest, message: web.BaseRequest) -> PageResponse:
        try:
            user = await self._authentication.authenticate(request.headers, _client_chain(message))
        except UnauthenticatedError as error:
            self._note(f"Unable to authenticate the request: {error}")
            return unauthorized(request)
        try:
            verdict = await self._authorization.authorize(user, request.verb, request.path)
        except KubeschedError as error:
            self._note(f"Failed to make webhook authorizer request: {error}")
            return internal_error(request, str(error))
        if not verdict.allowed:
            return forbidden(request, user, verdict.reason)
        return await self._routes.answer(request)


class _Connection(HttpConnection):
    """A connection that answers malformed HTTP with a line of text."""

    __slots__ = ()

    def refusal(self, code: int, error: BaseException | None, message: str) -> web.Response:
        """Return a line of text for a request that cannot be parsed."""
        return web.Response(status=code, text=_WORDS.get(code, _WORDS[500]), headers=_HEADERS)


class _Handlers(Handlers):
    """aiohttp's side of the connections."""

    connection_class = _Connection


async def _send(message: web.BaseRequest, answer: PageResponse) -> web.StreamResponse:
    """Send a response piece by piece, as fast as the client reads."""
    headers = {**_HEADERS, "Content-Type": answer.content_type, **answer.headers}
    pieces = (answer.body[start : start + PIECE_BYTES] for start in range(0, len(answer.body), PIECE_BYTES))
    return await send(message, answer.code, headers, pieces, len(answer.body))


def _request(message: web.BaseRequest) -> PageRequest:
    """Return the request of a message; raises ValueError if its target is malformed."""
    target = readable(message.raw_path)
    path, _, query = target.partition("?")
    if not path.startswith("/"):
        raise ValueError("no path")
    return PageRequest(
        message.method,
        decode_path(path),
        target,
        parse_query(query, MOST_PARAMETERS),
        CIMultiDictProxy(CIMultiDict((name, readable(value)) for name, value in message.headers.items())),
        lambda: read_body(message, LARGEST_BODY, BODY_SECONDS),
    )


def _client_chain(message: web.BaseRequest) -> Chain:
    """Return the certificates that the client sent."""
    session = message.get_extra_info("ssl_object")
    try:
        return session.client_chain if isinstance(session, TlsSession) else ()
    except ValueError:
        raise UnauthenticatedError("a certificate that cannot be read") from None


def _shown(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
