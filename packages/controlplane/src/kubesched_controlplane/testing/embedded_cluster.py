"""A whole cluster in one process, in virtual time, as in `kubesched up`.

From objects, manifests and plugins to the resulting pods: the embedded control plane with its controllers, simulated
nodes that run pods, and the scheduler as its client, with the rights of a scheduler.
"""

import asyncio
from collections.abc import Mapping
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any, Protocol

from msgspec.structs import replace

from kubesched.api.codec import decode_json, to_builtins
from kubesched.api.custom import CustomObject, custom_document
from kubesched.api.meta import ApiObject
from kubesched.api.pods import Pod
from kubesched.common.virtual_time import VirtualTime
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import load_config
from kubesched.core.framework.plugin import Plugin
from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest
from kubesched.testing.plugin_config import Declared, config_of, registry_of
from kubesched.testing.pod_lookup import PodEvent, PodLookup
from kubesched_controlplane.access import RoleBasedAccess, StaticTokens
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.bootstrap.objects import bootstrap
from kubesched_controlplane.controllers.framework.options import LIFELIKE, Options
from kubesched_controlplane.loading.loader import LoadReport, create, load
from kubesched_controlplane.server.server import ApiServer
from kubesched_controlplane.transport.local_client import LocalClient
from kubesched_controlplane.transport.transport import Transport
from kubesched_controlplane.up.cluster import ClusterSpec, LocalCluster

Document = dict[str, Any]
# fields that an API server sets when an object is created
_GIVEN = ("uid", "creationTimestamp", "resourceVersion")


class EmbeddedCluster(PodLookup, VirtualTime):
    """A control plane with simulated nodes and a scheduler, in virtual time.

        with EmbeddedCluster(MyPlugin) as made:
            made.apply("crds/racks.yaml")
            made.put(a_node("n", cpu="4"), a_deployment)
            made.settle()
            assert len(made.bound_pods()) == 3

    Objects are structs of the builders, or documents as in YAML. The cluster starts with the first `run` or `settle`:
    add the kinds that plugins look up before. It takes the options of `VirtualScheduler`; with `lifelike` nodes and
    pods take about as long as on a real cluster until they are ready, and to end.
    """

    def __init__(
        self,
        *plugins: Declared,
        args: Mapping[str, Any] | None = None,
        config: str | None = None,
        gates: str = "",
        seed: int = 0,
        lifelike: bool = False,
    ) -> None:
        VirtualTime.__init__(self)
        self.notes: list[str] = []
        registry = registry_of(plugins)
        loaded = load_config(
            config_of(plugins, args) if config is None and plugins else config, FeatureGates.parse(gates), registry
        )
        self._spec = ClusterSpec(loaded, registry, LIFELIKE if lifelike else Options(), seed, lambda: self.date)
        self.server = ApiServer(
            clock=lambda: self.date,
            seed=seed,
            access=lambda services: RoleBasedAccess(services, StaticTokens()),
            note=self.notes.append,
        )
        self._client = LocalClient(self.server, ADMINISTRATOR)
        bootstrap(self._client)
        self._stack = AsyncExitStack()
        self._cluster: LocalCluster | None = None

    # -- objects

    def put(self, *objects: ApiObject | Mapping[str, Any]) -> None:
        """Create or replace objects, with their status; raises KubeschedError if the API server refuses one."""
        documents = [self._document(obj) for obj in objects]
        new = [document for document in documents if self._there(document) is None]
        manifests = [Manifest(f"object {number}", document) for number, document in enumerate(new, 1)]
        _check(self.call(create, self.server, manifests))
        for document in documents:
            if document not in new:
                self.call(self._replace, document)

    def apply(self, *paths: str | Path) -> None:
        """Create or replace the objects in files and folders; raises KubeschedError if one cannot be."""
        _check(self.call(load, self.server, [str(path) for path in paths]))

    def get(self, kind: str, name: str, namespace: str = "default") -> Document | None:
        """Return an object as a document, None if it does not exist."""
        resource = self._resource(kind)
        return self._client.get(resource, namespace if resource.namespaced else "", name)

    def delete(self, kind: str, name: str, namespace: str = "default") -> None:
        """Delete an object, if it exists; a running pod terminates first."""
        resource = self._resource(kind)
        place = namespace if resource.namespaced else ""
        self.call(self._client.delete, resource, place, name)

    def pods(self) -> list[Pod]:
        """Return all pods."""
        return [decode_json(Pod, stored.body) for stored in self._client.stored(self._resource("Pod"))]

    def pod(self, name: str, namespace: str = "default") -> Pod | None:
        """Return the current state of a pod, None if it does not exist."""
        stored = self.server.registry.store.get(self._resource("Pod").prefix, namespace, name)
        return None if stored is None else decode_json(Pod, stored.body)

    def events_of(self, name: str, namespace: str = "default") -> list[PodEvent]:
        """Return the events about a pod, the oldest first; a repeated event is one entry."""
        found = [stored.document() for stored in self._client.stored(self._resource("Event"))]
        about = [each for each in found if _regards(each, name, namespace)]
        about.sort(key=lambda each: str(each.get("eventTime") or each.get("firstTimestamp")))
        return [PodEvent(each["reason"], each["message"]) for each in about]

    @property
    def evicted(self) -> list[str]:
        """Return the names of the pods that the scheduler preempted, in order."""
        return [] if self._cluster is None else [each.name for each in self._cluster.record.preempted]

    # -- time

    def run(self, seconds: float = 30.0) -> None:
        """Let time pass; raises the scheduler's error if it ended with one."""
        cluster = self._started()
        super().run(seconds)
        cluster.check()

    def settle(self, seconds: float = 600.0) -> None:
        """Let time pass until pods are bound or wait for a user's action; AssertionError if it takes longer."""
        cluster = self._started()
        self.wait_for(_within(seconds, cluster))

    def plugin(self, name: str) -> Plugin:
        """Return the plugin of a name in the first profile, to inspect its state."""
        return next(iter(self._started().parts.scheduler.engine.profiles.values())).plugins[name]

    def close(self) -> None:
        """End the cluster."""
        if not self.loop.is_closed():
            self.wait_for(self._stack.aclose())
        super().close()

    def _started(self) -> LocalCluster:
        if self._cluster is None:
            self._cluster = self.wait_for(self._start())
        return self._cluster

    async def _start(self) -> LocalCluster:
        transport = Transport(self.server)
        cluster = LocalCluster(transport, self._spec, self.notes.append)
        problems = cluster.kinds_not_served()
        if problems:
            raise KubeschedError("; ".join(problems))
        transport.start()
        self._stack.callback(transport.stop)
        await self._stack.enter_async_context(cluster.running())
        return cluster

    # -- documents

    def _there(self, document: Document) -> Document | None:
        """Return the existing object that a document would replace."""
        resource = self.server.registry.catalog.of_kind(str(document.get("apiVersion")), str(document.get("kind")))
        meta = document["metadata"]
        if resource is None or not meta.get("name"):
            return None
        return self._client.get(resource, _namespace(resource, meta), meta["name"])

    def _replace(self, document: Document) -> None:
        there = self._there(document)
        assert there is not None
        resource = self._client.resource(document["apiVersion"], document["kind"])
        given = {
            "resourceVersion": there["metadata"]["resourceVersion"],
            "namespace": _namespace(resource, there["metadata"]),
        }
        try:
            stored = self._client.update(resource, {**document, "metadata": {**document["metadata"], **given}})
            if document.get("status") and "status" in resource.subresources:
                self._client.update(resource, {**stored, "status": document["status"]}, "status")
        except ApiError as error:
            raise KubeschedError(f'{document["kind"]} "{document["metadata"]["name"]}": {error.message}') from None

    def _document(self, obj: ApiObject | Mapping[str, Any]) -> Document:
        if isinstance(obj, CustomObject):
            document = custom_document(obj)
            if not obj.kind:
                resource = self._custom_resource(type(obj).__name__)
                document |= {"apiVersion": resource.api_version, "kind": resource.kind}
        else:
            document = to_builtins(_with_images(obj)) if isinstance(obj, ApiObject) else dict(obj)
        # a new object must have no UID: one with a UID counts as an export of another cluster
        meta = {field: value for field, value in document["metadata"].items() if field not in _GIVEN}
        return {**document, "metadata": meta}

    def _resource(self, kind: str) -> Resource:
        """Return the first resource with a kind of this name, or the resource of `foos.v1.example.com`."""
        if "." in kind:
            return self._custom_resource(kind)
        for resource in self.server.registry.catalog.resources:
            if resource.kind == kind:
                return resource
        raise KubeschedError(f"kind {kind} is not served: put its CustomResourceDefinition first")

    def _custom_resource(self, name: str) -> Resource:
        plural, version, group = name.split(".", 2)
        for resource in self.server.registry.catalog.resources:
            if (resource.plural, resource.version, resource.group) == (plural, version, group):
                return resource
        raise KubeschedError(f"{name} is not served: put its CustomResourceDefinition first")


class ClusterFactory(Protocol):
    """Makes clusters; the fixture `cluster` closes them when the test ends. See `EmbeddedCluster`."""

    def __call__(
        self,
        *plugins: Declared,
        args: Mapping[str, Any] | None = None,
        config: str | None = None,
        gates: str = "",
        seed: int = 0,
        lifelike: bool = False,
    ) -> EmbeddedCluster:
        """Return a cluster whose scheduler has some plugins."""


def _namespace(resource: Resource, meta: Document) -> str:
    return str(meta.get("namespace") or "default") if resource.namespaced else ""


def _with_images(obj: ApiObject) -> ApiObject:
    """Return a pod whose containers have an image, which the API server requires and builders leave out."""
    if not isinstance(obj, Pod):
        return obj
    containers = tuple(each if each.image else replace(each, image="image") for each in obj.spec.containers)
    return replace(obj, spec=replace(obj.spec, containers=containers))


async def _within(seconds: float, cluster: LocalCluster) -> None:
    try:
        await asyncio.wait_for(cluster.until_settled(), seconds)
    except TimeoutError:
        left = "; ".join(list(cluster.under_way())[:5])
        raise AssertionError(f"not settled after {seconds:g} seconds: {left}") from None


def _check(report: LoadReport) -> None:
    if report.problems:
        raise KubeschedError("; ".join(report.problems))


def _regards(event: Document, name: str, namespace: str) -> bool:
    about = event.get("involvedObject") or event.get("regarding") or {}
    return (about.get("kind"), about.get("name"), about.get("namespace")) == ("Pod", name, namespace)
