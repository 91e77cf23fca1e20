"""A control plane as a whole: an API server on a socket, and what lives in it by itself.

From a server with its objects to one that clients reach, for as long as `running` is open. `start` is where whatever
acts by itself is set going: it is a client in the same process, and its timers run on the same loop.
"""

import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from kubesched.controlplane.access import RoleBasedAccess, Tokens
from kubesched.controlplane.bootstrap import bootstrap
from kubesched.controlplane.faults import Dice
from kubesched.controlplane.http import HttpServer
from kubesched.controlplane.local import LocalClient
from kubesched.controlplane.requests import ADMINISTRATOR
from kubesched.controlplane.server import ApiServer
from kubesched.controlplane.store import HISTORY
from kubesched.controlplane.transport import Transport
from kubesched.errors import KubeschedError

Stop = Callable[[], Awaitable[None]]


def new_server(token: str, *, history: int = HISTORY, note: Callable[[str], None] = lambda line: None) -> ApiServer:
    """Return a server with what every cluster begins with, whose administrator has a token."""
    tokens = Tokens({token: ADMINISTRATOR})
    server = ApiServer(access=lambda services: RoleBasedAccess(services, tokens), history=history, note=note)
    bootstrap(LocalClient(server))
    return server


async def start(server: ApiServer) -> Stop:
    """Set going what lives in the cluster by itself (simulated nodes, controllers); return how to end it."""

    async def stop() -> None:
        """End it: there is nothing yet."""

    return stop


@asynccontextmanager
async def running(
    server: ApiServer,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
    dice: Dice | None = None,
) -> AsyncIterator[HttpServer]:
    """Serve, with everything that lives in the cluster; KubeschedError if the address cannot be had."""
    http = HttpServer(server, transport=Transport(server, dice), host=host, port=port, tls=tls)
    try:
        await http.start()
    except (OSError, OverflowError) as error:
        reason = getattr(error, "strerror", None) or str(error)
        raise KubeschedError(f"cannot listen on {host} port {port}: {reason}") from None
    try:
        stop = await start(server)
        try:
            yield http
        finally:
            await stop()
    finally:
        await http.stop()
