"""A cluster in virtual time: an API server and what is around it, in one process, in no time.

From a story (a coroutine over a `SimulatedCluster`) to its end; a line that a controller notes for the log is an error.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from tests.support.api import Asking
from tests.support.binder import Binder

from kubesched.common.virtual_time import START, run_in_virtual_time
from kubesched_controlplane.access import always_allow
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.controllers.framework.controller import ControllerContext
from kubesched_controlplane.controllers.framework.options import Options
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.simulation import Simulation
from kubesched_controlplane.storage.store import Store
from kubesched_controlplane.transport.local_client import LocalClient, path_of

Document = dict[str, Any]
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)


class SimulatedCluster:
    """An API server, its simulation, if wanted something that binds pods, and short words for all of it."""

    def __init__(
        self, options: Options | None = None, seed: int = 1, *, binds: bool = False, store: Store | None = None
    ) -> None:
        loop = asyncio.get_running_loop()
        self.notes: list[str] = []
        self.server = ApiServer(
            access=always_allow,
            clock=lambda: BEGINNING + timedelta(seconds=loop.time() - START),
            seed=seed,
            store=store,
        )
        self.client = LocalClient(self.server, ADMINISTRATOR)
        self.simulation = Simulation(self.server, options, self.notes.append)
        bootstrap(self.client)
        self.simulation.start()
        self._binder: Binder | None = None
        if binds:
            self._binder = Binder(ControllerContext(self.client, loop, options or Options(), self.notes.append))
            self._binder.start()

    def stop(self) -> None:
        """Let nothing happen any more."""
        self.simulation.stop()
        if self._binder is not None:
            self._binder.stop()

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

    def change(
        self,
        kind: str,
        name: str,
        change: Callable[[Document], object],
        subresource: str = "",
        namespace: str = "default",
    ) -> Document:
        """Change an object that is there."""
        document = self.get(kind, name, namespace)
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

    def all(self, kind: str, **labels: str) -> list[Document]:
        """Return the objects of a kind with some labels, in the order of their names."""
        found = [stored.document() for stored in self.client.stored(self.kind(kind))]
        return [each for each in found if labels.items() <= (each["metadata"].get("labels") or {}).items()]

    def events(self, name: str) -> list[tuple[str, str]]:
        """Return reasons and messages of the events about an object, in the order in which they came first."""
        found = [each for each in self.all("Event") if each["involvedObject"]["name"] == name]
        found.sort(key=lambda each: int(each["metadata"]["name"].rpartition(".")[2], 16))
        return [(each["reason"], each["message"]) for each in found]

    def kind(self, name: str) -> Resource:
        """Return the resource of a kind, the first that has the name."""
        for resource in self.server.registry.catalog.resources:
            if resource.kind == name:
                return resource
        raise LookupError(name)


def in_simulated_cluster(
    story: Callable[[SimulatedCluster], Awaitable[None]], options: Options | None = None, *, binds: bool = False
) -> SimulatedCluster:
    """Run a story in virtual time; return the cluster as it is at the end."""

    async def run() -> SimulatedCluster:
        cluster = SimulatedCluster(options, binds=binds)
        await story(cluster)
        cluster.stop()
        assert not cluster.notes, cluster.notes
        return cluster

    return run_in_virtual_time(run())
