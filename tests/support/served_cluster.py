"""An API server with some objects and users, over HTTPS, in a thread of the test.

From documents, roles and faults to kubeconfigs of users, for code that blocks while it asks.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import yaml
from tests.support.roles import Document, a_binding, a_role, create

from kubesched_controlplane.api.requests import ADMINISTRATOR, User
from kubesched_controlplane.running import new_server, running
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.simulation import Simulation
from kubesched_controlplane.transport.certificates import make_tls
from kubesched_controlplane.transport.faults import Dice, parse_faults
from kubesched_controlplane.transport.kubeconfig import kubeconfig, new_token

SECONDS = 30.0


class ServedCluster:
    """A server; `kubeconfig` gives the path of a user's kubeconfig."""

    def __init__(self, folder: Path, url: str, authority: bytes, tokens: dict[str, str], server: ApiServer) -> None:
        # in use by the thread that serves it
        self.server = server
        self._folder = folder
        self._url = url
        self._authority = authority
        self._tokens = tokens

    def kubeconfig(self, user: str = "admin", *, namespace: str = "", token: str = "", url: str = "") -> str:
        """Write the kubeconfig of a user; return its path."""
        content = kubeconfig(url or self._url, token or self._tokens[user], self._authority)
        if namespace:
            content["contexts"][0]["context"]["namespace"] = namespace
        file = self._folder / f"{user}.kubeconfig"
        file.write_text(yaml.safe_dump(content))
        return str(file)


@contextmanager
def a_served_cluster(
    folder: Path,
    *documents: Document,
    rules: Sequence[Document] = (),
    own: Sequence[Document] = (),
    faults: str = "",
    simulated: bool = False,
) -> Iterator[ServedCluster]:
    """Serve objects to `admin`, and to `anna`: she has the `rules` everywhere, and her `own` in namespace `hers`.

    A simulated cluster has controllers and kubelets.
    """
    tokens = {"admin": new_token(), "anna": new_token()}
    server = new_server({tokens["admin"]: ADMINISTRATOR, tokens["anna"]: User("anna")})
    create(server, {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": "hers"}}, *documents)
    create(server, a_role("annas", *rules), a_binding("annas", "annas", "User anna"))
    create(server, a_role("own", *own, namespace="hers"), a_binding("own", "Role/own", "User anna", namespace="hers"))
    tls = make_tls(["127.0.0.1"])
    dice = Dice(parse_faults(faults)) if faults else None
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()

    def done(work: Any) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(SECONDS)

    simulation = Simulation(server) if simulated else None
    serving = running(server, tls=tls.context, dice=dice, simulation=simulation)
    try:
        http = done(serving.__aenter__())
        try:
            yield ServedCluster(folder, http.url, tls.authority, tokens, server)
        finally:
            done(serving.__aexit__(None, None, None))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(SECONDS)
        loop.close()
