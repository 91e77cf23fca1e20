"""Pods as endpoints of services: addresses, ports, and conditions.

From a stored pod to the fields that Endpoints and EndpointSlices need.
"""

# upstream: k8s.io/endpointslice/{utils,util/controller_utils}.go (v1.36)

from typing import Any

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.storage.store import Stored

Port = tuple[str, str, int]


class _Meta(msgspec.Struct, rename="camel"):
    deletion_timestamp: str | None = None


class _Port(msgspec.Struct, rename="camel"):
    name: str = ""
    protocol: str = "TCP"
    container_port: int = 0


class _Container(msgspec.Struct, rename="camel"):
    ports: tuple[_Port, ...] = ()
    restart_policy: str | None = None


class _Spec(msgspec.Struct, rename="camel"):
    containers: tuple[_Container, ...] = ()
    init_containers: tuple[_Container, ...] = ()
    hostname: str = ""
    subdomain: str = ""


class _Condition(msgspec.Struct):
    type: str = ""
    status: str = ""


class _Address(msgspec.Struct):
    ip: str = ""


class _Status(msgspec.Struct, rename={"pod_ip": "podIP", "pod_ips": "podIPs"}):
    conditions: tuple[_Condition, ...] = ()
    pod_ip: str = ""
    pod_ips: tuple[_Address, ...] = ()


class _Object(msgspec.Struct):
    metadata: _Meta
    spec: _Spec = msgspec.field(default_factory=_Spec)
    status: _Status = msgspec.field(default_factory=_Status)


_decode = msgspec.json.Decoder(_Object).decode


class Backend(msgspec.Struct, frozen=True, gc=False):
    """A pod with an address, as an endpoint of services."""

    namespace: str
    name: str
    uid: str
    node: str
    addresses: tuple[str, ...]
    ports: tuple[Port, ...]
    serving: bool
    terminating: bool
    hostname: str
    subdomain: str

    @property
    def reference(self) -> Document:
        """Return the targetRef of the endpoint."""
        return {"kind": "Pod", "namespace": self.namespace, "name": self.name, "uid": self.uid}

    def address(self, family: str) -> str:
        """Return the pod's address of an IP family, an empty text if the pod has none."""
        return next((each for each in self.addresses if (":" in each) == (family == "IPv6")), "")

    def host_in(self, service: Document) -> str:
        """Return the pod's hostname if its subdomain is the service, an empty text otherwise."""
        return self.hostname if self.hostname and self.subdomain == service["metadata"]["name"] else ""

    def port(self, port: Document) -> int | None:
        """Return the number that a port of a service has in the pod, None if the pod has no such port."""
        target, protocol = port.get("targetPort") or port.get("port") or 0, port.get("protocol") or "TCP"
        if isinstance(target, int):
            return target
        wanted = (target, protocol)
        return next((number for name, of, number in self.ports if (name, of) == wanted), None)


def backend_of(stored: Stored) -> Backend | None:
    """Return a pod as an endpoint of services, None if it has no address or is terminal."""
    fields = stored.fields
    if not fields.get("status.podIP") or fields.get("status.phase") in ("Succeeded", "Failed"):
        return None
    found = _decode(stored.body)
    spec, status = found.spec, found.status
    sidecars = tuple(each for each in spec.init_containers if each.restart_policy == "Always")
    ports = tuple(
        (port.name, port.protocol, port.container_port)
        for container in (*spec.containers, *sidecars)
        for port in container.ports
    )
    return Backend(
        stored.namespace,
        stored.name,
        stored.uid,
        fields.get("spec.nodeName", ""),
        tuple(each.ip for each in status.pod_ips) or (status.pod_ip,),
        ports,
        any(each.type == "Ready" and each.status == "True" for each in status.conditions),
        found.metadata.deletion_timestamp is not None,
        spec.hostname,
        spec.subdomain,
    )


def ports_in(service: Document, backend: Backend) -> tuple[Any, ...]:
    """Return the ports of a service that a pod has: name, number, protocol, and application protocol."""
    found = []
    for port in service["spec"].get("ports") or ():
        number = backend.port(port)
        if number is not None:
            found.append((port.get("name") or "", number, port.get("protocol") or "TCP", port.get("appProtocol")))
    return tuple(found)


def is_headless(service: Document) -> bool:
    """Return whether a service has no cluster IP."""
    return service["spec"].get("clusterIP") in (None, "", "None")
