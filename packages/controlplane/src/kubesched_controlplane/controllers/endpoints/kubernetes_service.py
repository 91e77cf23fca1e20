"""The service `kubernetes` in the namespace `default`, by which pods find the API server.

From the address of the API server to a Service, its Endpoints and an EndpointSlice; deleted ones are created again,
and changes of the endpoints are undone.
"""

# upstream: pkg/controlplane/controller/kubernetesservice/controller.go, pkg/controlplane/reconcilers (v1.36)

from ipaddress import ip_address

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.kinds.network.service_addresses import SERVICE_NETWORK, SERVICES
from kubesched_controlplane.storage.store import Change, Changed

ENDPOINTS, SLICES = "endpoints", "endpointslices.discovery.k8s.io"
NAMESPACE, NAME = "default", "kubernetes"
# in place of an address that endpoints may not have: an address of the nodes' network that no node gets
UNREACHABLE_FROM_NODES = "10.63.255.255"
_LABELS = {"component": "apiserver", "provider": "kubernetes"}
_PORT = "https"


class KubernetesServiceController(Controller):
    """Keeps the service `kubernetes`, its Endpoints and its EndpointSlice."""

    def __init__(self, context: ControllerContext, host: str, port: int) -> None:
        super().__init__(context)
        self._address = _address_of(host)
        self._port = port

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return dict.fromkeys((SERVICES, ENDPOINTS, SLICES), self._changed)

    def start(self) -> None:
        """Create the missing objects, then start watching."""
        self.reconcile((NAMESPACE, NAME))
        super().start()

    def _changed(self, change: Change) -> None:
        if (change.new.namespace, change.new.name) == (NAMESPACE, NAME):
            self._add(change)

    def reconcile(self, key: Key) -> None:
        """Create the service if it is missing; create or correct its Endpoints and EndpointSlice."""
        if self.context.get("namespaces", "", NAMESPACE) is None:
            return
        if self.context.get(SERVICES, *key) is None:
            self._create_service()
        self._keep(ENDPOINTS, self._endpoints())
        self._keep(SLICES, self._slice())

    def _create_service(self) -> None:
        ports = [{"name": _PORT, "port": 443, "protocol": "TCP", "targetPort": self._port}]
        spec = {"type": "ClusterIP", "sessionAffinity": "None", "ports": ports}
        service: Document = {"metadata": {"name": NAME, "namespace": NAMESPACE, "labels": _LABELS}}
        try:
            self.context.create(SERVICES, {**service, "spec": {**spec, "clusterIP": str(SERVICE_NETWORK[1])}})
        except ApiError as error:
            if error.code != 422:
                raise
            # another service has the first address
            self.context.create(SERVICES, {**service, "spec": spec})

    def _endpoints(self) -> Document:
        ports = [{"name": _PORT, "port": self._port, "protocol": "TCP"}]
        meta = {"name": NAME, "namespace": NAMESPACE, "labels": {"endpointslice.kubernetes.io/skip-mirror": "true"}}
        return {"metadata": meta, "subsets": [{"addresses": [{"ip": self._address}], "ports": ports}]}

    def _slice(self) -> Document:
        meta = {"name": NAME, "namespace": NAMESPACE, "labels": {"kubernetes.io/service-name": NAME}}
        return {
            "metadata": meta,
            "addressType": "IPv6" if ":" in self._address else "IPv4",
            "endpoints": [{"addresses": [self._address], "conditions": {"ready": True}}],
            "ports": [{"name": _PORT, "port": self._port, "protocol": "TCP"}],
        }

    def _keep(self, prefix: str, wanted: Document) -> None:
        """Create an object, or restore its wanted fields; labels and annotations of other clients stay."""
        found = self.context.find(prefix, NAMESPACE, NAME)
        if found is None:
            self.context.create(prefix, wanted)
            return
        meta = found["metadata"]
        labels = {**(meta.get("labels") or {}), **wanted["metadata"]["labels"]}
        right = {**found, **wanted, "metadata": {**meta, "labels": labels}}
        if right != found:
            self.context.update(prefix, right)


def _address_of(host: str) -> str:
    """Return the address for the endpoints of a server that listens on a host."""
    try:
        address = ip_address(host)
    except ValueError:
        return UNREACHABLE_FROM_NODES
    if address.is_loopback or address.is_unspecified or address.is_link_local:
        return UNREACHABLE_FROM_NODES
    return str(address)
