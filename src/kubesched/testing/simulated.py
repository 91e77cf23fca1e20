"""A cluster in virtual time: an API server and what is around it, in one process, in no time.

From a story (a coroutine over a `SimulatedCluster`) to its end; a line that a controller notes for the log is an error.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from kubesched.controlplane.bootstrap import bootstrap
from kubesched.controlplane.local import LocalClient, path_of
from kubesched.controlplane.resources import Resource
from kubesched.controlplane.server import ApiServer
from kubesched.controlplane.simulation import Options, Simulation
from kubesched.testing.api import Asking
from kubesched.testing.virtual_time import run_in_virtual_time

Document = dict[str, Any]
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


class SimulatedCluster:
    """An API server, its simulation, and short words for both."""

    def __init__(self, options: Options | None = None, seed: int = 1) -> None:
        loop = asyncio.get_running_loop()
        start = loop.time()
        self.notes: list[str] = []
        self.server = ApiServer(clock=lambda: BEGINNING + timedelta(seconds=loop.time() - start), seed=seed)
        self.client = LocalClient(self.server)
        self.simulation = Simulation(self.server, options, self.notes.append)
        bootstrap(self.client)
        self.simulation.start()

    def create(self, document: Mapping[str, Any]) -> Document:
        """Create an object, in the namespace `default` unless it says otherwise."""
        resource = self.client.resource(document["apiVersion"], document["kind"])
        made = {**document, "metadata": dict(document.get("metadata") or {})}
        if resource.namespaced:
            made["metadata"].setdefault("namespace", "default")
        return self.client.create(resource, made)

    def get(self, kind: str, name: str, namespace: str = "default") -> Document | None:
        """Return an object, None if there is none."""
        resource = self.kind(kind)
        return self.client.get(resource, namespace if resource.namespaced else "", name)

    def names(self, kind: str) -> list[str]:
        """Return the names of all objects of a kind."""
        return [stored.name for stored in self.client.stored(self.kind(kind))]

    def update(self, document: Mapping[str, Any], subresource: str = "") -> Document:
        """Replace an object, or its status."""
        return self.client.update(self.kind(document["kind"]), dict(document), subresource)

    def change(self, kind: str, name: str, change: Callable[[Document], object], subresource: str = "") -> Document:
        """Change an object that is there."""
        document = self.get(kind, name)
        assert document is not None, f"{kind} {name} is not there"
        change(document)
        return self.update(document, subresource)

    def delete(self, kind: str, name: str, namespace: str = "default", **options: Any) -> None:
        """Delete an object."""
        resource = self.kind(kind)
        self.client.delete(resource, namespace if resource.namespaced else "", name, options or None)

    def bind(self, pod: str, node: str) -> None:
        """Bind a pod to a node, as a scheduler does."""
        target = {"apiVersion": "v1", "kind": "Node", "name": node}
        path = path_of(self.kind("Pod"), "default", pod, "binding")
        Asking(self.server).ok("POST", path, {"metadata": {"name": pod, "namespace": "default"}, "target": target})

    def kind(self, name: str) -> Resource:
        """Return the resource of a kind, the first that has the name."""
        for resource in self.server.services.catalog.resources:
            if resource.kind == name:
                return resource
        raise LookupError(name)


def in_simulated_cluster(
    story: Callable[[SimulatedCluster], Awaitable[None]], options: Options | None = None
) -> SimulatedCluster:
    """Run a story in virtual time; return the cluster as it is at the end."""

    async def run() -> SimulatedCluster:
        cluster = SimulatedCluster(options)
        await story(cluster)
        cluster.simulation.stop()
        assert not cluster.notes, cluster.notes
        return cluster

    return run_in_virtual_time(run())
