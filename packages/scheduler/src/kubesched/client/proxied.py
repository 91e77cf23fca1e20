"""Requests through a proxy: a session of aiohttp, which opens tunnels and keeps them.

From an `HttpRequest` to a `ProxiedResponse`, whose body is read as it arrives. Direct requests do not come here
(`connection_pool`, `response_stream`).
"""

import socket
import ssl
from typing import Any

import aiohttp

from kubesched.client.connection import keep_alive
from kubesched.client.http_messages import HttpRequest
from kubesched.client.streaming_connector import StreamingConnector


class ProxiedResponse:
    """A response of aiohttp; `content` is its body."""

    def __init__(self, response: aiohttp.ClientResponse) -> None:
        self.code = response.status
        self.response = response

    @property
    def total_bytes(self) -> int:
        """Return how many bytes of the body arrived."""
        return self.response.content.total_bytes

    def header(self, name: bytes) -> str | None:
        """Return the value of a header."""
        return self.response.headers.get(name.decode())

    async def beginning(self, most: int) -> bytes:
        """Return the body, or its beginning if it is very long, and close the response."""
        body = bytearray()
        try:
            # read to its end, so that the connection can be used again
            async for piece in self.response.content.iter_any():
                body += piece
                if len(body) > most:
                    break
        finally:
            self.response.release()
        return bytes(body)

    def close(self) -> None:
        """End the response; its connection is reused if the body was complete."""
        self.response.release()


class ProxiedRequests:
    """Sends requests to one server through a proxy."""

    def __init__(
        self, server: str, proxy: str, server_name: str | None, most_connections: int, connect_seconds: float
    ) -> None:
        self._server = server
        self._proxy = proxy
        self._options: dict[str, Any] = {"server_hostname": server_name} if server_name else {}
        self._most_connections = most_connections
        self._connect_seconds = connect_seconds
        self._session: aiohttp.ClientSession | None = None

    async def ask(self, request: HttpRequest, tls: ssl.SSLContext | None) -> ProxiedResponse:
        """Return a response once its headers are complete; raises what aiohttp raises."""
        assert not isinstance(request.headers, str), "headers as lines are for direct connections"
        response = await self._open_session().request(
            request.method,
            self._server + request.path,
            params=request.query,
            data=request.body,
            headers=request.headers,
            timeout=aiohttp.ClientTimeout(
                total=request.timeout, sock_connect=self._connect_seconds, sock_read=request.silence
            ),
            proxy=self._proxy,
            allow_redirects=False,
            # part of the key of pooled connections: a new certificate opens new ones
            ssl=tls or True,
            **self._options,
        )
        return ProxiedResponse(response)

    async def close(self) -> None:
        """Close all connections."""
        if self._session is not None:
            connector = self._session.connector
            await self._session.close()
            self._session = None
            if isinstance(connector, StreamingConnector):
                connector.abort()

    def _open_session(self) -> aiohttp.ClientSession:
        if self._session is None:
            limit = self._most_connections
            connector = StreamingConnector(limit=limit, keepalive_timeout=90, socket_factory=_socket)
            self._session = aiohttp.ClientSession(connector=connector, auto_decompress=False, read_bufsize=1 << 18)
        return self._session


def _socket(address: aiohttp.AddrInfoType) -> socket.socket:
    """Return a socket with TCP keepalive."""
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    keep_alive(made)
    return made
