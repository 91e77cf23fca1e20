"""A control plane as a whole: an API server on a socket, and what lives in the cluster by itself.

From a server with its objects to one that clients reach, for as long as `running` is open. What acts by itself is a
client in the same process, and its timers run on the same loop.
"""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from kubesched.controlplane.access import RoleBasedAccess, StaticTokens
from kubesched.controlplane.access.default_roles import SCHEDULER as SCHEDULER_NAME
from kubesched.controlplane.api.requests import ADMINISTRATOR, User
from kubesched.controlplane.bootstrap.objects import bootstrap
from kubesched.controlplane.controllers.endpoints.kubernetes_service import KubernetesServiceController
from kubesched.controlplane.controllers.framework.controller import ControllerContext
from kubesched.controlplane.controllers.framework.options import Options
from kubesched.controlplane.registry.token_issuer import Issuer
from kubesched.controlplane.server.server import ApiServer
from kubesched.controlplane.simulation import Simulation
from kubesched.controlplane.storage.store import Store
from kubesched.controlplane.transport.certificates import Authority
from kubesched.controlplane.transport.faults import Dice
from kubesched.controlplane.transport.http import HttpServer
from kubesched.controlplane.transport.local_client import LocalClient
from kubesched.controlplane.transport.transport import Transport
from kubesched.errors import KubeschedError

# may do what the roles that every cluster begins with allow a scheduler, and no more
SCHEDULER = User(SCHEDULER_NAME)


def new_server(
    users: Mapping[str, User],
    *,
    authority: bytes = b"",
    store: Store | None = None,
    seed: int | None = None,
    note: Callable[[str], None] = lambda line: None,
    signer: Authority | None = None,
) -> ApiServer:
    """Return a server with what every cluster begins with, and users by their tokens; UIDs go by the seed.

    In a store with a past only what is missing is made. Tokens of service accounts are signed with the key of the
    signer, so that they are known again after a restart, or with a new one.
    """
    tokens = StaticTokens(users)
    server = ApiServer(access=lambda registry: RoleBasedAccess(registry, tokens), store=store, seed=seed, note=note)
    if signer is not None:
        server.registry.issuer = Issuer(signer.key)
    bootstrap(LocalClient(server, ADMINISTRATOR, agent="kube-apiserver"), client_ca=authority.decode())
    return server


@asynccontextmanager
async def running(
    server: ApiServer,
    *,
    host: str = "127.0.0.1",
    port: int = 0,
    tls: ssl.SSLContext | None = None,
    dice: Dice | None = None,
    simulation: Simulation | None = None,
) -> AsyncIterator[HttpServer]:
    """Serve, with what lives in the cluster by itself; KubeschedError if the address cannot be had."""
    http = HttpServer(server, transport=Transport(server, dice), host=host, port=port, tls=tls)
    try:
        await http.start()
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None)
        # asyncio's own words name the address once more; those of getaddrinfo have numbers of their own
        reason = os.strerror(number) if number and number > 0 else getattr(error, "strerror", None) or str(error)
        raise KubeschedError(f"cannot listen on {host} port {port}: {reason}") from None
    client = LocalClient(server, ADMINISTRATOR, agent="kube-apiserver")
    own = KubernetesServiceController(
        ControllerContext(client, asyncio.get_running_loop(), Options(), server.note), host, http.port
    )
    try:
        own.start()
        if simulation is not None:
            simulation.start()
        yield http
    finally:
        own.stop()
        if simulation is not None:
            simulation.stop()
        await http.stop()
