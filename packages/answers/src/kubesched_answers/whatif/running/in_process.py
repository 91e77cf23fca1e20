"""The scheduler's requests to an API server in the same process.

From paths and bodies to responses; a refusal raises the same error as a client over HTTP.
"""

from contextlib import AbstractAsyncContextManager
from typing import Any

from kubesched.client.rest import Query, refusal_of
from kubesched.core.framework.values.effects import Emit
from kubesched_controlplane.api.requests import ADMINISTRATOR, Request, Response
from kubesched_controlplane.server.server import ApiServer


class InProcessRest:
    """Sends requests to a server; without watches, since objects are reported without them."""

    def __init__(self, server: ApiServer) -> None:
        self._server = server

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
        """Send a request; return the body of the response. Raises Refused."""
        headers = {"accept": "application/json", "user-agent": "kube-scheduler", "content-type": content_type}
        asked = {name: (value,) for name, value in (query or {}).items()}
        found = self._server.handle(Request(method, path, asked, headers, body or b"", ADMINISTRATOR))
        assert isinstance(found, Response), "nothing is watched here"
        content = b"".join(found.chunks)
        if found.code >= 300:
            raise refusal_of(found.code, found.headers.get("Retry-After"), content)
        return content

    def stream(self, path: str, query: Query) -> AbstractAsyncContextManager[Any]:
        """Refuse watches."""
        raise NotImplementedError


class NoEvents:
    """Drops events, which are not needed."""

    def record(self, emit: Emit) -> None:
        """Drop an event."""
