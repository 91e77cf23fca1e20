"""A REST client of an API server in the same process, without HTTP.

From paths and bodies to the embedded server's transport and back, with the errors of a client over HTTP: refused
requests and, with injected faults, lost connections. Reflectors, effects and events run on it unchanged, also in
virtual time.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from urllib.parse import unquote

from kubesched.client.rest import Query, Unreachable, refusal_of
from kubesched_controlplane.api.requests import Request, Response, User
from kubesched_controlplane.server.verbs.watching import Watch
from kubesched_controlplane.transport.transport import ConnectionLostError, Lines, Transport, end_after

# the duration of a watch without timeoutSeconds
WATCH_SECONDS = 1800.0
PIECE = 1 << 18


class LocalRest:
    """Sends requests of one user to an API server in this process."""

    def __init__(self, transport: Transport, user: User) -> None:
        self._transport = transport
        self._user = user
        self._under_way = 0
        self._streams: set[LocalStream] = set()

    @property
    def requests(self) -> int:
        """Return the number of requests under way, without watches."""
        return self._under_way

    @property
    def streams(self) -> Sequence["LocalStream"]:
        """Return the open watches."""
        return tuple(self._streams)

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
        """Send a request; return the body of the response. Raises Refused, Unreachable."""
        self._under_way += 1
        try:
            found = await self._ask(self._request(method, path, body, query, content_type))
            assert isinstance(found, Response), f"{path} is watched: use stream"
            return b"".join(found.chunks)
        finally:
            self._under_way -= 1

    @asynccontextmanager
    async def stream(self, path: str, query: Query) -> AsyncIterator["LocalStream | LocalPieces"]:
        """Yield the body of a response as a stream: of a watch, or of a long list."""
        if "watch" not in query:
            yield LocalPieces(await self.get(path, query))
            return
        watch = await self._ask(self._request("GET", path, None, query, ""))
        assert isinstance(watch, Watch), f"{path} is not watched: use get"
        end_after(watch, watch.seconds or WATCH_SECONDS, self._transport.server)
        stream = LocalStream(watch, self._transport)
        self._streams.add(stream)
        try:
            yield stream
        finally:
            self._streams.discard(stream)
            watch.end()

    def _request(self, method: str, path: str, body: bytes | None, query: Query | None, content_type: str) -> Request:
        headers = {"accept": "application/json"}
        if body is not None:
            headers["content-type"] = content_type
        return Request(
            method,
            unquote(path),
            {name: (value,) for name, value in (query or {}).items()},
            headers,
            body or b"",
            self._user,
        )

    async def _ask(self, request: Request) -> Response | Watch:
        """Return the response to a request, or its watch; raises Refused, Unreachable."""
        # as over a network, other tasks run in between
        await asyncio.sleep(0)
        away = self._transport.away
        try:
            found = await self._transport.ask(request)
        except ConnectionLostError as error:
            raise Unreachable(str(error), maybe_done=not away) from None
        if isinstance(found, Response) and found.code >= 300:
            raise refusal_of(found.code, found.headers.get("Retry-After"), b"".join(found.chunks))
        return found


class LocalPieces:
    """Yields a whole response in pieces."""

    def __init__(self, answer: bytes) -> None:
        self._answer = answer

    async def iter_any(self) -> AsyncIterator[bytes]:
        """Yield the response piece by piece."""
        for begin in range(0, len(self._answer), PIECE):
            yield self._answer[begin : begin + PIECE]


class LocalStream:
    """The lines of a watch."""

    def __init__(self, watch: Watch, transport: Transport) -> None:
        self._transport = transport
        self._lines = Lines(watch)

    @property
    def all_taken(self) -> bool:
        """Return whether the client has handled all lines so far."""
        return self._lines.all_taken

    async def iter_any(self) -> AsyncIterator[bytes]:
        """Yield lines as they arrive, until the watch ends."""
        async for lines in self._lines:
            yield lines
        if self._transport.away:
            raise Unreachable("the connection was cut", maybe_done=True)
