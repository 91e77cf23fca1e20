"""The admission of an API server: defaults, priorities of classes, tolerations.

From documents, as users write them, to objects, as the scheduler sees them. Objects with a UID come from a cluster that
has admitted them, and are used unchanged. Nodes are ready, and their allocatable defaults to their capacity.
"""

from typing import Any, TypeVar

import msgspec

from kubesched.api.codec import decode
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.errors import InvalidObjectError, KubeschedError
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.running import new_server
from kubesched_controlplane.transport.local_client import LocalClient

HOSTNAME = "kubernetes.io/hostname"
replace = msgspec.structs.replace
T = TypeVar("T", bound=ApiObject)


class TraceAdmission:
    """Admits each object before the simulation begins, as an API server would."""

    def __init__(self) -> None:
        self._client: LocalClient | None = None
        self._namespaces = {"default"}

    def admit(self, document: dict[str, Any], where: str) -> ApiObject:
        """Return the object of a document; raises KubeschedError, which begins with `where`."""
        metadata = document.get("metadata")
        try:
            if isinstance(metadata, dict) and metadata.get("uid"):
                return decode(document)
            if document.get("kind") == "Node":
                return _ready(decode(document))
            return decode(self._created(document))
        except (ApiError, InvalidObjectError, RecursionError) as error:
            raise KubeschedError(f"{where}: {error}") from None

    def _created(self, document: dict[str, Any]) -> dict[str, Any]:
        """Return a document as a server returns it when it is created."""
        client = self._client
        if client is None:
            client = self._client = LocalClient(new_server({}, seed=0), ADMINISTRATOR)
        version, kind = str(document.get("apiVersion", "")), str(document.get("kind", ""))
        if client.server.registry.catalog.of_kind(version, kind) is None:
            raise InvalidObjectError(f"there is no kind {kind!r} in {version!r}; expected a kind such as Pod in v1")
        resource = client.resource(version, kind)
        metadata = {**(document.get("metadata") or {})}
        if resource.kind == "Namespace" and metadata.get("name") in self._namespaces:
            return document
        if resource.namespaced:
            namespace = metadata.setdefault("namespace", "default")
            if namespace not in self._namespaces:
                self._namespaces.add(namespace)
                made = {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": namespace}}
                client.create(client.resource("v1", "Namespace"), made)
        created = client.create(resource, {**document, "metadata": metadata}, "Strict")
        if resource.kind in _NOT_KEPT:
            client.delete(
                resource, metadata.get("namespace", ""), created["metadata"]["name"], {"gracePeriodSeconds": 0}
            )
        elif resource.kind == "Namespace":
            self._namespaces.add(created["metadata"]["name"])
        for field in ("uid", "resourceVersion", "creationTimestamp", "managedFields"):
            created["metadata"].pop(field, None)
        return created


# an object may be created again under the same name
_NOT_KEPT = frozenset({"Pod", "Service"})


def _ready(node: ApiObject) -> ApiObject:
    assert isinstance(node, Node)
    labels = {HOSTNAME: node.name, **node.metadata.labels}
    allocatable = node.status.allocatable or node.status.capacity
    return replace(
        node,
        metadata=replace(node.metadata, labels=labels),
        status=replace(node.status, allocatable=allocatable),
    )


def renamed(obj: T, name: str) -> T:
    """Return a copy of an object under another name; a node's hostname label changes, too."""
    metadata = replace(obj.metadata, name=name, uid="")
    if isinstance(obj, Node):
        metadata = replace(metadata, labels={**metadata.labels, HOSTNAME: name})
    return replace(obj, metadata=metadata)
