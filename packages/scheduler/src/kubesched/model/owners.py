"""The owner of a pod: the workload at the top of its owner references.

From owner references to names such as `Deployment shop/web`. A ReplicaSet of a Deployment and a Job of a CronJob are
skipped; an unread ReplicaSet is recognized by the label pod-template-hash, which its name ends with.
"""

from collections.abc import Mapping
from typing import Any, Final, Protocol

import msgspec

from kubesched.api.kinds import KINDS
from kubesched.api.meta import ObjectMeta, OwnerReference
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.model.cluster_objects import ClusterObjects
from kubesched.reports.answers import ObjectName

TEMPLATE_HASH: Final = "pod-template-hash"
# limit on the depth of owner references, which may form a ring
MOST_LEVELS: Final = 8


class OwnedCluster(Protocol):
    """A cluster in which owners are looked up: a model, or a running cluster."""

    @property
    def cluster(self) -> ClusterState:
        """Return the objects that the scheduler knows."""

    @property
    def source(self) -> ClusterObjects:
        """Return the objects at the beginning."""


class Owners:
    """Finds the workload that a pod belongs to."""

    def __init__(self, model: OwnedCluster) -> None:
        self._objects = model.cluster.objects
        self._documents = {_key(document): document for document in model.source.workloads}

    def of(self, pod: PodInfo) -> ObjectName | None:
        """Return the workload that a pod belongs to, None if nothing controls it."""
        reference = pod.metadata.controller
        for _ in range(MOST_LEVELS):
            above = self._above(reference, pod) if reference is not None else None
            if above is None:
                break
            reference = above
        return _name_of(reference, pod.namespace) if reference is not None else None

    def _above(self, reference: OwnerReference, pod: PodInfo) -> OwnerReference | None:
        """Return the controller of a pod's owner."""
        known = KINDS.get(reference.kind)
        found = self._objects.get(known, f"{pod.namespace}/{reference.name}") if known is not None else None
        if found is not None:
            return found.metadata.controller
        document = self._documents.get((reference.kind, pod.namespace, reference.name))
        if document is not None:
            return _meta(document).controller
        suffix = f"-{pod.labels.get(TEMPLATE_HASH, '')}"
        if reference.kind == "ReplicaSet" and len(suffix) > 1 and reference.name.endswith(suffix):
            name = reference.name.removesuffix(suffix)
            return OwnerReference(api_version=reference.api_version, kind="Deployment", name=name, controller=True)
        return None


def _meta(document: Mapping[str, Any]) -> ObjectMeta:
    """Return the metadata of a document, empty if it cannot be read."""
    try:
        return msgspec.convert(document.get("metadata"), ObjectMeta)
    except msgspec.ValidationError:
        return ObjectMeta()


def _key(document: Mapping[str, Any]) -> tuple[str, str, str]:
    meta = document.get("metadata") or {}
    return str(document.get("kind")), str(meta.get("namespace") or "default"), str(meta.get("name"))


def _name_of(reference: OwnerReference, namespace: str) -> ObjectName:
    # nodes own their static pods
    return ObjectName(
        reference.api_version, reference.kind, "" if reference.kind == "Node" else namespace, reference.name
    )
