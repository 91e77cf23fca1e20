"""What plugins look up outside, in tests: a background that looks up on demand, and an HTTP server."""

import asyncio
import inspect
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from kubesched import ClusterState, ClusterView, HttpClient, Nodes, PluginMetrics
from kubesched.testing import real_http


class ManualBackground:
    """Looks up when it is told to."""

    def __init__(self) -> None:
        self.jobs: list[tuple[Callable[[], Awaitable[Any]], Callable[[Any], None]]] = []
        self.timers: list[Callable[[], None]] = []

    def every(self, seconds: float, fetch: Any, apply: Any = None, **options: float) -> None:
        """Note what is to be looked up."""
        self.jobs.append((fetch, apply))

    def timer(self, seconds: float, callback: Callable[[], None]) -> None:
        """Note what is to be called."""
        self.timers.append(callback)

    def activate(self, uids: Iterable[str]) -> None:
        """Do nothing."""

    async def look_up(self) -> None:
        """Look everything up once, and apply it."""
        for fetch, apply in self.jobs:
            apply(await fetch())


def built(plugin: type[Any], args: Any, cluster: ClusterState, http: Any) -> tuple[Any, ManualBackground]:
    """Return a plugin over a cluster, and its background."""
    background, log = ManualBackground(), logging.getLogger(f"kubesched.plugins.{plugin.name}")
    services = {"args": args, "cluster": ClusterView(cluster), "background": background, "http": http, "log": log}
    services["metrics"] = PluginMetrics(plugin.name)
    wanted = inspect.signature(plugin).parameters
    return plugin(**{name: service for name, service in services.items() if name in wanted}), background


def scores(plugin: Any, cluster: ClusterState, pod: Any) -> dict[str, int]:
    """Return the raw scores of all nodes for a pod."""
    nodes: Nodes = ClusterView(cluster).nodes
    found = plugin.score_nodes(None, cluster.reader.read(pod), nodes)
    return dict(zip(nodes.names, found.tolist(), strict=True))


@asynccontextmanager
async def served(
    handle: Callable[[web.Request], Awaitable[web.StreamResponse]],
) -> AsyncIterator[tuple[str, HttpClient]]:
    """Serve HTTP on loopback; yield the address and the client of plugins."""
    server = web.AppRunner(web.Application(), shutdown_timeout=0, handler_cancellation=True)
    server.app.router.add_get("/{any:.*}", handle)
    await server.setup()
    await web.TCPSite(server, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{server.addresses[0][1]}", real_http()
    finally:
        await server.cleanup()


def run(work: Any) -> Any:
    """Return what a coroutine returns."""
    return asyncio.run(work)
