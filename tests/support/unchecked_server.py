"""A control plane in a thread of the test, into which objects can be put that nobody has looked at.

From documents of any shape to an API server that lists and watches them, over TLS, for a scheduler in its own process.
"""

import asyncio
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import yaml
from tests.support.api_client import ApiClient, Document

from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.running import SCHEDULER, new_server, running
from kubesched_controlplane.transport.certificates import make_tls
from kubesched_controlplane.transport.kubeconfig import kubeconfig, new_token

SECONDS = 30.0


class UncheckedServer:
    """An API server; `kubeconfig` is a scheduler's."""

    def __init__(self, folder: Path) -> None:
        self.kubeconfig = folder / "scheduler.kubeconfig"
        tls = make_tls(["127.0.0.1"])
        admin, scheduler = new_token(), new_token()
        self.secrets = [admin, scheduler]
        self._server = new_server({admin: ADMINISTRATOR, scheduler: SCHEDULER})
        self._loop = asyncio.new_event_loop()
        self._thread = Thread(target=self._loop.run_forever)
        self._thread.start()
        self._running = running(self._server, tls=tls.context)
        http = self._done(self._running.__aenter__())
        for file, token in ((folder / "admin.kubeconfig", admin), (self.kubeconfig, scheduler)):
            file.write_text(yaml.safe_dump(kubeconfig(http.url, token, tls.authority)))
        self.api = ApiClient(folder / "admin.kubeconfig")

    def put(self, *documents: Document) -> None:
        """Put objects into the store as they are."""
        self._done(self._put(documents))

    async def _put(self, documents: Sequence[Document]) -> None:
        for document in documents:
            resource = self._server.registry.catalog.of_kind(document["apiVersion"], document["kind"])
            assert resource is not None, document["kind"]
            fields = {"metadata.name": document["metadata"]["name"]}
            self._server.registry.store.put(resource.prefix, document, fields)

    def close(self) -> None:
        """End it."""
        self._done(self._running.__aexit__(None, None, None))
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS)
        self._loop.close()

    def _done(self, work: Any) -> Any:
        """Return what a coroutine returns on the server's loop."""
        return asyncio.run_coroutine_threadsafe(work, self._loop).result(SECONDS)


@contextmanager
def an_unchecked_server(folder: Path) -> Iterator[UncheckedServer]:
    """Start a server; end it when the block is left."""
    server = UncheckedServer(folder)
    try:
        yield server
    finally:
        server.close()
