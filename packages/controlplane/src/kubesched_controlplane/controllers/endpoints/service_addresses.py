"""IPAddress objects for the cluster IPs of services.

From services to one IPAddress for each of their cluster IPs, deleted when the service no longer uses it.
"""

# upstream: pkg/registry/core/service/ipallocator/ipallocator.go, pkg/controlplane/controller/... (repairip) (v1.36)

from collections import defaultdict

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.storage.store import DELETED, Change, Changed

_SERVICES, _ADDRESSES = "services", "ipaddresses.networking.k8s.io"
_FAMILY, _MANAGED_BY, _ALLOCATOR = (
    "ipaddress.kubernetes.io/ip-family",
    "ipaddress.kubernetes.io/managed-by",
    "ipallocator.k8s.io",
)


class ServiceAddressController(Controller):
    """Keeps an IPAddress for every cluster IP of a service."""

    def __init__(self, context: ControllerContext) -> None:
        super().__init__(context)
        # by service: the addresses that the service has or had
        self._known: defaultdict[Key, set[str]] = defaultdict(set)

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {_SERVICES: self._add, _ADDRESSES: self._address_changed}

    def _address_changed(self, change: Change) -> None:
        parent = (change.new.document().get("spec") or {}).get("parentRef") or {}
        if change.new.labels.get(_MANAGED_BY) != _ALLOCATOR:
            return
        key = parent.get("namespace", ""), parent.get("name", "")
        self._known[key].add(change.new.name)
        gone = self.context.get(_SERVICES, *key) is None
        if change.type == DELETED or gone:
            self.workqueue.add(key)

    def reconcile(self, key: Key) -> None:
        """Create the missing IPAddress objects of a service; delete the IPAddresses that the service no longer uses."""
        service = self.context.find(_SERVICES, *key)
        spec = (service or {}).get("spec") or {}
        wanted = {each for each in spec.get("clusterIPs") or () if each != "None"}
        for address in sorted(wanted):
            if self.context.get(_ADDRESSES, "", address) is None:
                self.context.create(_ADDRESSES, _document(address, key))
        for address in sorted(self._known.pop(key, set()) - wanted):
            stored = self.context.get(_ADDRESSES, "", address)
            if stored is not None and _belongs_to(stored.document(), key):
                self.context.delete(_ADDRESSES, stored)
        if wanted:
            self._known[key] = wanted


def _document(address: str, key: Key) -> Document:
    family = "IPv6" if ":" in address else "IPv4"
    meta = {"name": address, "labels": {_FAMILY: family, _MANAGED_BY: _ALLOCATOR}}
    parent = {"resource": "services", "namespace": key[0], "name": key[1]}
    version = "networking.k8s.io/v1"
    return {"apiVersion": version, "kind": "IPAddress", "metadata": meta, "spec": {"parentRef": parent}}


def _belongs_to(document: Document, key: Key) -> bool:
    parent = (document.get("spec") or {}).get("parentRef") or {}
    return (parent.get("namespace", ""), parent.get("name", "")) == key
