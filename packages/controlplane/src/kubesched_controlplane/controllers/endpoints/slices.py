"""The EndpointSlices of one owner, a Service or an Endpoints object.

From endpoints by family and ports to slices that are created, updated and deleted. All slices of an owner have the
same labels, annotations and owner reference.
"""

# upstream: k8s.io/endpointslice/{reconciler,utils}.go (v1.36)

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.controllers.endpoints.packing import PackedSlices, pack
from kubesched_controlplane.controllers.framework.controller import Controller, ControllerContext, Key
from kubesched_controlplane.storage.store import DELETED, Change, Changed

SLICES = "endpointslices.discovery.k8s.io"
SERVICE_NAME, MANAGED_BY = "kubernetes.io/service-name", "endpointslice.kubernetes.io/managed-by"
HEADLESS = "service.kubernetes.io/headless"
RESERVED = (SERVICE_NAME, MANAGED_BY, HEADLESS)

# IP family, and ports as `backends.ports_in` returns them
Group = tuple[str, tuple[Any, ...]]
Groups = Mapping[Group, list[Document]]


class SliceOwner(msgspec.Struct, frozen=True):
    """The owner of slices, with the labels and annotations that each slice gets."""

    namespace: str
    name: str
    reference: Document
    labels: dict[str, str]
    annotations: dict[str, str] = {}


class Slices(Controller):
    """The slices that one controller manages, by service; creates, updates and deletes them."""

    def __init__(self, context: ControllerContext, manager: str) -> None:
        super().__init__(context)
        self._manager = manager
        self._names: dict[Key, dict[str, None]] = {}
        # called with the key of a service whose slices another client changed
        self.changed_by_others: Callable[[Key], None] = lambda key: None
        self._writing = False

    def watches(self) -> dict[str, Changed]:
        """Return the event handlers, by prefix."""
        return {SLICES: self._changed}

    def _changed(self, change: Change) -> None:
        stored = change.new
        labels = stored.labels if change.type != DELETED or change.old is None else change.old.labels
        if labels.get(MANAGED_BY) != self._manager or SERVICE_NAME not in labels:
            return
        key = (stored.namespace, labels[SERVICE_NAME])
        if change.type == DELETED:
            self._names.get(key, {}).pop(stored.name, None)
        else:
            self._names.setdefault(key, {})[stored.name] = None
        if not self._writing:
            self.changed_by_others(key)

    def of(self, key: Key) -> list[Document]:
        """Return the slices of a service that are not terminating."""
        found = (self.context.find(SLICES, key[0], name) for name in self._names.get(key, ()))
        return [each for each in found if each is not None and "deletionTimestamp" not in each["metadata"]]

    def delete(self, key: Key) -> None:
        """Delete the slices of a service."""
        for each in self.of(key):
            self._delete(each)

    def _delete(self, slice_: Document) -> None:
        meta = slice_["metadata"]
        stored = self.context.get(SLICES, meta["namespace"], meta["name"])
        if stored is not None:
            self.context.delete(SLICES, stored)

    def keep(self, owner: SliceOwner, groups: Groups) -> None:
        """Create, update and delete slices of an owner until they hold exactly these endpoints."""
        labels = {key: value for key, value in owner.labels.items() if key not in RESERVED or key == HEADLESS}
        labels |= {SERVICE_NAME: owner.name, MANAGED_BY: self._manager}
        existing: dict[Group, list[Document]] = {}
        for each in self.of((owner.namespace, owner.name)):
            existing.setdefault(_group_of(each), []).append(each)
        self._writing = True
        try:
            for group in {**existing, **groups}:
                self._keep_group(owner, labels, group, (existing.get(group, []), groups.get(group)))
        finally:
            self._writing = False

    def _keep_group(
        self,
        owner: SliceOwner,
        labels: dict[str, str],
        group: Group,
        state: tuple[list[Document], list[Document] | None],
    ) -> None:
        """Bring the slices of one group to the wanted endpoints; without endpoints, keep one empty slice."""
        there, wanted = state
        if wanted == []:
            changed = [{**each, "endpoints": []} for each in there[:1] if each.get("endpoints")]
            packed = PackedSlices(changed, [] if there else [[]], there[1:])
        else:
            packed = pack(there, wanted or ())
        seen_to = {each["metadata"]["name"] for each in (*packed.changed, *packed.deleted)}
        for each in packed.changed:
            self._write(each, owner, labels, changed=True)
        for each in there:
            if each["metadata"]["name"] not in seen_to:
                self._write(each, owner, labels, changed=False)
        for endpoints in packed.created:
            self._create(owner, labels, group, endpoints)
        for each in packed.deleted:
            self._delete(each)

    def _write(self, slice_: Document, owner: SliceOwner, labels: dict[str, str], *, changed: bool) -> None:
        """Update a slice whose endpoints, labels or annotations differ from the wanted ones."""
        meta = slice_["metadata"]
        right = {**meta, "labels": labels}
        if owner.annotations or meta.get("annotations"):
            right["annotations"] = owner.annotations
        if changed or (meta.get("labels"), meta.get("annotations") or {}) != (labels, owner.annotations):
            self.context.update(SLICES, {**slice_, "metadata": right})

    def _create(self, owner: SliceOwner, labels: dict[str, str], group: Group, endpoints: list[Document]) -> None:
        meta: Document = {
            "generateName": f"{owner.name}-",
            "namespace": owner.namespace,
            "labels": labels,
            "ownerReferences": [{**owner.reference, "controller": True, "blockOwnerDeletion": True}],
        }
        if owner.annotations:
            meta["annotations"] = owner.annotations
        family, ports = group
        document = {"metadata": meta, "addressType": family, "endpoints": endpoints}
        self.context.create(SLICES, {**document, "ports": [_port(*each) for each in ports]})


def _port(name: str, number: int, protocol: str, spoken: str | None) -> Document:
    port = {"name": name, "port": number, "protocol": protocol}
    return port if spoken is None else {**port, "appProtocol": spoken}


def _group_of(slice_: Document) -> Group:
    ports = slice_.get("ports") or ()
    said = [(each.get("name") or "", each.get("port"), each.get("protocol"), each.get("appProtocol")) for each in ports]
    return slice_["addressType"], tuple(said)
