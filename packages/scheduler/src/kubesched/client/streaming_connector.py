"""The connections of streamed responses, which end with the client.

From aiohttp's connector to one that aborts its remaining connections. A stream that is broken off, or a request
that is cancelled, closes its TLS connection politely: it waits for the server's goodbye, up to half a minute, and would
outlive the event loop.
"""

import asyncio
from collections import deque
from typing import Any

import aiohttp

# connections that are closing; older ones have been closed long since
REMEMBERED = 64


class StreamingConnector(aiohttp.TCPConnector):
    """A connector that remembers its newest connections until `abort`."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._transports: deque[asyncio.Transport] = deque(maxlen=REMEMBERED)

    async def connect(self, *arguments: Any, **options: Any) -> Any:
        """Return a connection for a request."""
        connection = await super().connect(*arguments, **options)
        if connection.transport is not None:
            self._transports.append(connection.transport)
        return connection

    def abort(self) -> None:
        """End all connections at once, without a goodbye."""
        for transport in self._transports:
            transport.abort()
        self._transports.clear()
