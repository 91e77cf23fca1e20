"""A page's server in a thread of its own, for browsers: it can be changed, stopped and started again."""

import asyncio
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from kubesched.api.meta import ApiObject
from kubesched.model.cluster_model import ClusterModel
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.queue.feed import QueueFeed
from kubesched_lab.page.server import PageServer
from kubesched_lab.page.shown.shown_cluster import ShownCluster

SECONDS = 30.0


class ServedPage:
    """A cluster that is served; its token stays the same over restarts."""

    def __init__(self, model: ClusterModel, token: str = "of-this-test", queue: QueueFeed | None = None) -> None:
        self.shown = ShownCluster(model)
        self.places = False
        self.queue = queue
        self.token = token
        self.address = ""
        self._server: PageServer | None = None
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

    def start(self) -> None:
        """Listen, on the port of the last time if there was one."""
        port = int(self.address.split(":")[2].partition("/")[0]) if self.address else 0

        async def listen() -> str:
            state = PageState(self.shown)
            if self.places:
                await state.place(True)
            self._server = PageServer(state, token=self.token, queue=self.queue)
            return await self._server.start(port)

        self.address = asyncio.run_coroutine_threadsafe(listen(), self._loop).result(SECONDS)

    def stop(self) -> None:
        """End all connections."""
        if self._server is not None:
            asyncio.run_coroutine_threadsafe(self._server.close(), self._loop).result(SECONDS)
            self._server = None

    def call(self, function: Callable[..., Any], *arguments: Any) -> None:
        """Call a function on the server's loop."""

        async def called() -> None:
            function(*arguments)

        asyncio.run_coroutine_threadsafe(called(), self._loop).result(SECONDS)

    def put(self, *objects: ApiObject) -> None:
        """Report objects that are new or have changed."""
        self.call(_for_each, self.shown.put, objects)

    def drop(self, *objects: ApiObject) -> None:
        """Report objects that are gone."""
        self.call(_for_each, self.shown.drop, objects)

    def close(self) -> None:
        """End the server and its thread."""
        self.stop()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(SECONDS)
        self._loop.close()


def _for_each(function: Callable[[ApiObject], None], objects: Iterable[ApiObject]) -> None:
    for obj in objects:
        function(obj)


@contextmanager
def served_page(model: ClusterModel, queue: QueueFeed | None = None, *, places: bool = False) -> Iterator[ServedPage]:
    """Serve a cluster while the context lasts; with `places` pods of manifests are placed."""
    page = ServedPage(model, queue=queue)
    page.places = places
    try:
        page.start()
        yield page
    finally:
        page.close()
