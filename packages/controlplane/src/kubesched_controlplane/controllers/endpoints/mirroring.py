"""EndpointSlices that mirror Endpoints which users write, for services without a selector.

From Endpoints to EndpointSlices with the same addresses, for clients that read only EndpointSlices.
"""

# upstream: pkg/controller/endpointslicemirroring/{endpointslicemirroring_controller,reconciler,utils}.go (v1.36)

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.controllers.endpoints.controllers import (
    ENDPOINTS,
    ENDPOINTS_MANAGED_BY,
    ENDPOINTS_MANAGER,
    unless_ending,
)
from kubesched_controlplane.controllers.endpoints.slices import Group, SliceOwner, Slices
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.kinds.network.service_addresses import SERVICES
from kubesched_controlplane.storage.store import Changed

MIRROR_MANAGER = "endpointslicemirroring-controller.k8s.io"
SKIP_MIRROR, LEADER = "endpointslice.kubernetes.io/skip-mirror", "control-plane.alpha.kubernetes.io/leader"
# the most addresses of a subset that are mirrored
MOST_MIRRORED = 1000
_NOT_COPIED = ("kubectl.kubernetes.io/last-applied-configuration", "endpoints.kubernetes.io/last-change-trigger-time")


class EndpointSliceMirroringController(Controller):
    """Mirrors Endpoints that no controller manages to EndpointSlices."""

    def __init__(self, context: ControllerContext, slices: Slices) -> None:
        super().__init__(context)
        self._slices = slices
        slices.changed_by_others = self.workqueue.add

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {ENDPOINTS: self._add, SERVICES: self._add}

    def reconcile(self, key: Key) -> None:
        """Bring the mirrored EndpointSlices up to date; delete them if the Endpoints are not to be mirrored."""
        endpoints, service = self.context.find(ENDPOINTS, *key), self.context.find(SERVICES, *key)
        if endpoints is None or service is None or not _is_mirrored(endpoints, service):
            self._slices.delete(key)
            return
        meta = endpoints["metadata"]
        reference = {"apiVersion": "v1", "kind": "Endpoints", "name": meta["name"], "uid": meta["uid"]}
        annotations = {name: text for name, text in (meta.get("annotations") or {}).items() if name not in _NOT_COPIED}
        try:
            self._slices.keep(SliceOwner(*key, reference, meta.get("labels") or {}, annotations), _groups(endpoints))
        except ApiError as error:
            unless_ending(error)


def _is_mirrored(endpoints: Document, service: Document) -> bool:
    meta = endpoints["metadata"]
    labels = meta.get("labels") or {}
    if labels.get(SKIP_MIRROR) == "true" or labels.get(ENDPOINTS_MANAGED_BY) == ENDPOINTS_MANAGER:
        return False
    return LEADER not in (meta.get("annotations") or {}) and not service["spec"].get("selector")


def _groups(endpoints: Document) -> dict[Group, list[Document]]:
    groups: dict[Group, list[Document]] = {}
    for subset in endpoints.get("subsets") or ():
        ports = tuple(
            (port.get("name") or "", port["port"], port.get("protocol") or "TCP", port.get("appProtocol"))
            for port in subset.get("ports") or ()
        )
        found = [(each, True) for each in subset.get("addresses") or ()]
        found += [(each, False) for each in subset.get("notReadyAddresses") or ()]
        for address, ready in found[:MOST_MIRRORED]:
            family = "IPv6" if ":" in address["ip"] else "IPv4"
            groups.setdefault((family, ports), []).append(_endpoint(address, ready=ready))
    return groups


def _endpoint(address: Document, *, ready: bool) -> Document:
    endpoint: Document = {"addresses": [address["ip"]], "conditions": {"ready": ready}}
    return {**endpoint, **{name: address[name] for name in ("hostname", "nodeName", "targetRef") if address.get(name)}}
