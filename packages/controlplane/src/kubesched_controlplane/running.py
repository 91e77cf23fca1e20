"""A control plane as a whole: an API server on a socket, and the controllers of the cluster.

From a server with its objects to an address that clients reach, for as long as `running` is open. Controllers are
clients in the same process, and their timers run on the same loop.
"""

import asyncio
import os
import ssl
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager

from kubesched.errors import KubeschedError
from kubesched_controlplane.access import RoleBasedAccess, StaticTokens
from kubesched_controlplane.access.default_roles import SCHEDULER as SCHEDULER_NAME
from kubesched_controlplane.api.requests import ADMINISTRATOR, User
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.controllers.endpoints.kubernetes_service import KubernetesServiceController
from kubesched_controlplane.controllers.framework.controller import ControllerContext
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.registry.token_issuer import Issuer
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.simulation import Simulation
from kubesched_controlplane.storage.store import Store
from kubesched_controlplane.transport.certificates import Authority
from kubesched_controlplane.transport.faults import Dice
from kubesched_controlplane.transport.http import HttpServer
from kubesched_controlplane.transport.local_client import LocalClient
from kubesched_controlplane.transport.transport import Transport

# has the permissions that the default roles of a cluster grant to a scheduler
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
    """Return a server with the initial objects of a cluster; `users` are keyed by token, `seed` determines the UIDs.

    Objects that the store already has are kept. Tokens of service accounts are signed with the key of the signer, so
    that they stay valid after a restart, or without a signer with a new key.
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
    """Serve the API and run the controllers; raises KubeschedError if the server cannot listen on the address."""
    http = HttpServer(server, transport=Transport(server, dice), host=host, port=port, tls=tls)
    try:
        await http.start()
    except (OSError, OverflowError) as error:
        number = getattr(error, "errno", None)
        # asyncio's message repeats the address; errors of getaddrinfo have numbers that are no errno
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
