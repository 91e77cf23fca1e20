"""Endpoints and EndpointSlices of services that select pods.

From the pods of a service to Endpoints and EndpointSlices. Changes of pods are batched, the longer the
more pods a service has, so that a service with thousands of pods is not written for each change.
"""

# upstream: pkg/controller/{endpoint/endpoints_controller,endpointslice/endpointslice_controller}.go,
# k8s.io/endpointslice/{reconciler,trafficdist/trafficdist}.go (v1.36)

from typing import Any

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.endpoints.backends import Backend, is_headless, ports_in
from kubesched_controlplane.controllers.endpoints.index import ServicePods
from kubesched_controlplane.controllers.endpoints.slices import HEADLESS, Group, SliceOwner, Slices
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.kinds.network.service_addresses import SERVICES
from kubesched_controlplane.storage.store import Change, Changed

ENDPOINTS, NODES = "endpoints", "nodes"
ENDPOINTS_MANAGED_BY, ENDPOINTS_MANAGER = "endpoints.kubernetes.io/managed-by", "endpoint-controller"
SLICE_MANAGER = "endpointslice-controller.k8s.io"
OVER_CAPACITY = "endpoints.kubernetes.io/over-capacity"
MOST_ADDRESSES = 1000
ZONE = "topology.kubernetes.io/zone"
BATCH_SECONDS, MOST_BATCH_SECONDS = 0.25, 5.0
_PODS_A_SECOND = 2000
_NEAR = ("PreferClose", "PreferSameZone", "PreferSameNode")


class _OfServices(Controller):
    """Reconciles services when they or their pods have changed."""

    def __init__(self, context: ControllerContext, pods: ServicePods) -> None:
        super().__init__(context)
        self.pods = pods
        pods.listen(self.enqueue)

    def enqueue(self, key: Key) -> None:
        """Queue a service after the batching period."""
        seconds = BATCH_SECONDS + len(self.pods.of(key)) / _PODS_A_SECOND
        self.workqueue.add_after(key, min(seconds, MOST_BATCH_SECONDS))


def unless_ending(error: ApiError) -> None:
    """Raise an error again, unless the namespace is terminating or an object was not found."""
    causes = (error.details or {}).get("causes") or ()
    if error.code != 404 and not any(each.get("reason") == "NamespaceTerminating" for each in causes):
        raise error


class EndpointSliceController(_OfServices):
    """Keeps the EndpointSlices of services."""

    def __init__(self, context: ControllerContext, pods: ServicePods, slices: Slices) -> None:
        super().__init__(context, pods)
        self._slices = slices
        slices.changed_by_others = self.enqueue

    def reconcile(self, key: Key) -> None:
        """Bring the EndpointSlices of a service up to date; after its deletion the garbage collector deletes them."""
        service = self.context.find(SERVICES, *key)
        if service is None or not self.pods.selects(key):
            return
        groups: dict[Group, list[Document]] = {}
        families = service["spec"].get("ipFamilies") or ["IPv4"]
        for family in families:
            for backend in self.pods.of(key).values():
                address = backend.address(family)
                if address:
                    group = (family, ports_in(service, backend))
                    groups.setdefault(group, []).append(self._endpoint(service, backend, address))
            if not any(group[0] == family for group in groups):
                groups[family, ()] = []
        meta = service["metadata"]
        labels = {**(meta.get("labels") or {}), **({HEADLESS: ""} if is_headless(service) else {})}
        if not is_headless(service):
            labels.pop(HEADLESS, None)
        reference = {"apiVersion": "v1", "kind": "Service", "name": meta["name"], "uid": meta["uid"]}
        try:
            self._slices.keep(SliceOwner(*key, reference, labels), groups)
        except ApiError as error:
            unless_ending(error)

    def _endpoint(self, service: Document, backend: Backend, address: str) -> Document:
        ready = bool(service["spec"].get("publishNotReadyAddresses")) or (backend.serving and not backend.terminating)
        conditions = {"ready": ready, "serving": backend.serving, "terminating": backend.terminating}
        endpoint: Document = {"addresses": [address], "conditions": conditions, "targetRef": backend.reference}
        if backend.host_in(service):
            endpoint["hostname"] = backend.hostname
        if backend.node:
            endpoint["nodeName"] = backend.node
            node = self.context.get(NODES, "", backend.node)
            zone = "" if node is None else node.labels.get(ZONE, "")
            if zone:
                endpoint["zone"] = zone
            hints = _hints(service["spec"].get("trafficDistribution"), backend.node, zone) if ready else {}
            if hints:
                endpoint["hints"] = hints
        return endpoint


def _hints(distribution: Any, node: str, zone: str) -> Document:
    """Return the topology hints of an endpoint, if its service prefers close endpoints."""
    hints: Document = {}
    if distribution in _NEAR and zone:
        hints["forZones"] = [{"name": zone}]
    if distribution == "PreferSameNode":
        hints["forNodes"] = [{"name": node}]
    return hints


class EndpointsController(_OfServices):
    """Keeps the Endpoints of services."""

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {ENDPOINTS: self._changed}

    def _changed(self, change: Change) -> None:
        """Queue the service of Endpoints that were changed or deleted."""
        key = (change.new.namespace, change.new.name)
        if self.pods.selects(key):
            self.enqueue(key)

    def reconcile(self, key: Key) -> None:
        """Bring the Endpoints of a service up to date; delete the Endpoints of a deleted service."""
        service = self.context.find(SERVICES, *key)
        if service is None:
            stored = self.context.get(ENDPOINTS, *key)
            if stored is not None and stored.labels.get(ENDPOINTS_MANAGED_BY) == ENDPOINTS_MANAGER:
                self.context.delete(ENDPOINTS, stored)
        elif self.pods.selects(key):
            try:
                self._keep(key, service)
            except ApiError as error:
                unless_ending(error)

    def _keep(self, key: Key, service: Document) -> None:
        found = self.context.find(ENDPOINTS, *key)
        subsets, whole = _cut(_subsets(service, self.pods.of(key).values()))
        labels = {**(service["metadata"].get("labels") or {}), ENDPOINTS_MANAGED_BY: ENDPOINTS_MANAGER}
        if is_headless(service):
            labels[HEADLESS] = ""
        else:
            labels.pop(HEADLESS, None)
        meta: Document = {"name": key[1], "namespace": key[0]} if found is None else dict(found["metadata"])
        annotations = {name: text for name, text in (meta.get("annotations") or {}).items() if name != OVER_CAPACITY}
        if not whole:
            annotations[OVER_CAPACITY] = "truncated"
        meta |= {"labels": labels, **({"annotations": annotations} if annotations else {})}
        if not annotations:
            meta.pop("annotations", None)
        wanted = {"metadata": meta, **({"subsets": subsets} if subsets else {})}
        if found is None:
            self.context.create(ENDPOINTS, wanted)
        elif {name: found[name] for name in ("metadata", "subsets") if name in found} != wanted:
            self.context.update(ENDPOINTS, wanted)


def _subsets(service: Document, backends: Any) -> list[Document]:
    """Return the subsets of a service's Endpoints: pods with the same ports, ready and not ready addresses apart."""
    spec = service["spec"]
    unready = bool(spec.get("publishNotReadyAddresses"))
    family = (spec.get("ipFamilies") or ["IPv4"])[0]
    groups: dict[tuple[Any, ...], dict[str, list[Document]]] = {}
    for backend in backends:
        address, ports = backend.address(family), ports_in(service, backend)
        portless = not spec.get("ports") and is_headless(service)
        if not address or (backend.terminating and not unready) or not (ports or portless):
            continue
        entry: Document = {"ip": address, "targetRef": backend.reference}
        if backend.node:
            entry["nodeName"] = backend.node
        if backend.host_in(service):
            entry["hostname"] = backend.hostname
        field = "addresses" if unready or backend.serving else "notReadyAddresses"
        groups.setdefault(ports, {}).setdefault(field, []).append(entry)
    return [_subset(groups[ports], ports) for ports in sorted(groups, key=str)]


def _subset(addresses: dict[str, list[Document]], ports: tuple[Any, ...]) -> Document:
    subset: Document = {
        field: sorted(addresses[field], key=lambda each: (each["ip"], each["targetRef"]["uid"]))
        for field in ("addresses", "notReadyAddresses")
        if field in addresses
    }
    if ports:
        subset["ports"] = [_endpoint_port(*each) for each in ports]
    return subset


def _endpoint_port(name: str, number: int, protocol: str, spoken: str | None) -> Document:
    port: Document = {"port": number, "protocol": protocol}
    if name:
        port["name"] = name
    return port if spoken is None else {**port, "appProtocol": spoken}


def _cut(subsets: list[Document]) -> tuple[list[Document], bool]:
    """Cut subsets to the most addresses that Endpoints may have, ready ones first; return whether nothing was cut."""
    total = sum(len(each.get(field) or ()) for each in subsets for field in ("addresses", "notReadyAddresses"))
    if total <= MOST_ADDRESSES:
        return subsets, True
    room = MOST_ADDRESSES
    for field in ("addresses", "notReadyAddresses"):
        for each in subsets:
            if field in each:
                each[field] = each[field][:room]
                room -= len(each[field])
    kept = [{name: value for name, value in each.items() if value} for each in subsets]
    return [each for each in kept if each.keys() - {"ports"}], False
