"""The objects of a cluster, put unchanged into an API server.

From structs and documents to the store, without requests: another cluster has admitted them already. Documents of
workloads get the server's defaults, so that a template that is applied later is compared with an equal one. A bound
pod without a status counts as ready.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from contextlib import suppress
from typing import Any, Final, NamedTuple

from kubesched.api.codec import to_builtins
from kubesched.api.devices import ResourceClaim
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Namespace
from kubesched.api.pods import Pod
from kubesched.api.storage import PersistentVolume
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.api.requests import ADMINISTRATOR
from kubesched_controlplane.api.resources import Resource
from kubesched_controlplane.api.statuses import ApiError
from kubesched_controlplane.api.times import timestamp
from kubesched_controlplane.kinds.pod.defaults import default_pod
from kubesched_controlplane.registry.registry import ResourceRegistry

GRACE_SECONDS: Final = 30
# the image of containers whose image was not read
IMAGE: Final = "image"
# kinds whose status is read by other controllers before their own one has written it
COUNTED: Final = ("ReplicaSet", "ReplicationController")


class OwnedPods(NamedTuple):
    """The number of an owner's pods that have not ended and are not ending, and how many of them are ready."""

    active: int = 0
    ready: int = 0


def counted(pods: Iterable[Pod]) -> dict[str, OwnedPods]:
    """Return the numbers of pods, by the UID of their controller."""
    active: Counter[str] = Counter()
    ready: Counter[str] = Counter()
    for pod in pods:
        owner = pod.metadata.controller
        if owner is not None and not pod.terminating and not pod.terminal:
            active[owner.uid] += 1
            ready[owner.uid] += _is_ready(pod)
    return {uid: OwnedPods(number, ready[uid]) for uid, number in active.items()}


def _is_ready(pod: Pod) -> bool:
    conditions = pod.status.conditions
    if not pod.spec.node_name:
        return False
    return not conditions or any(each.type == "Ready" and each.status == "True" for each in conditions)


class StoreFilling:
    """Puts objects into the store of a server."""

    def __init__(self, registry: ResourceRegistry) -> None:
        self._registry = registry
        self._now = timestamp(registry.clock())

    def resource(self, api_version: str, kind: str) -> Resource | None:
        """Return the resource of a kind, None if it is not served."""
        return self._registry.catalog.of_kind(api_version, kind)

    def put(self, document: Document) -> None:
        """Store an object; skip it if its kind is not served."""
        resource = self.resource(document["apiVersion"], document["kind"])
        if resource is None:
            return
        meta = document["metadata"]
        meta.setdefault("uid", "/".join(filter(None, (document["kind"], meta.get("namespace", ""), meta["name"]))))
        meta.setdefault("creationTimestamp", self._now)
        meta.setdefault("generation", 1)
        self._registry.store.put(resource.prefix, document, self._registry.strategy(resource).fields(document))

    def put_all(self, objects: Iterable[ApiObject]) -> None:
        """Store objects."""
        for obj in objects:
            document = to_builtins(obj)
            if isinstance(obj, Pod):
                _complete_pod(document, self._now)
            elif isinstance(obj, ResourceClaim) and obj.status.allocation is not None:
                # without one the server would add it with the next change, which would change the allocation
                document["status"]["allocation"].setdefault("allocationTimestamp", self._now)
            elif isinstance(obj, Namespace):
                document |= {"spec": {"finalizers": ["kubernetes"]}, "status": {"phase": "Active"}}
            elif isinstance(obj, PersistentVolume):
                self._complete_volume(document)
            self.put(document)

    def _complete_volume(self, volume: Document) -> None:
        """Fill in the UID of the claim that names a volume; without it they are not bound."""
        reference = volume["spec"].get("claimRef") or {}
        claim = self._registry.store.get(
            "persistentvolumeclaims", reference.get("namespace", ""), reference.get("name", "")
        )
        if claim is not None and not reference.get("uid"):
            document = claim.document()
            if document["spec"].get("volumeName") == volume["metadata"]["name"]:
                reference["uid"] = document["metadata"]["uid"]

    def put_workload(self, document: Document, pods: Mapping[str, OwnedPods]) -> None:
        """Store the document of a workload, with the server's defaults; `pods` are the pods of each owner, by its
        UID.
        """
        document = with_images(document)
        resource = self.resource(document["apiVersion"], document["kind"])
        if resource is None:
            return
        document["metadata"].setdefault("namespace", "default") if resource.namespaced else None
        status = document.get("status")
        context = self._registry.context(resource, ADMINISTRATOR, "create", imported=True)
        # one that this release would reject is stored unchanged
        with suppress(ApiError, KeyError, TypeError):
            self._registry.strategy(resource).prepare_create(document, context)
        document["status"] = status or document.get("status") or {}
        if document["kind"] in COUNTED:
            document["status"] = _status(pods.get(document["metadata"].get("uid", ""), OwnedPods()))
        self.put(document)

    def put_namespaces(self, names: Iterable[str]) -> None:
        """Store the missing namespaces."""
        for name in names:
            if self._registry.store.get("namespaces", "", name) is None:
                self.put(
                    {
                        "apiVersion": "v1",
                        "kind": "Namespace",
                        "metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name}},
                        "spec": {"finalizers": ["kubernetes"]},
                        "status": {"phase": "Active"},
                    }
                )


def _complete_pod(pod: Document, now: str) -> None:
    """Fill in the fields that a pod's server and kubelet would have written."""
    spec, status = pod["spec"], pod.setdefault("status", {})
    spec.setdefault("terminationGracePeriodSeconds", GRACE_SECONDS)
    spec.setdefault("restartPolicy", "Always")
    for container in spec.get("containers") or ():
        container.setdefault("image", IMAGE)
    with suppress(KeyError, TypeError, ValueError):
        default_pod(pod)
    if not spec.get("nodeName"):
        status.setdefault("phase", "Pending")
    elif not status.get("conditions") and status.get("phase", "Running") == "Running":
        since = pod["metadata"].get("creationTimestamp") or now
        status["phase"] = "Running"
        status["conditions"] = [
            {"type": kind, "status": "True", "lastTransitionTime": since} for kind in ("ContainersReady", "Ready")
        ]


def _status(pods: OwnedPods) -> Document:
    """Return the status of a ReplicaSet for its pods."""
    found: Document = {"replicas": pods.active, "observedGeneration": 1}
    if pods.active:
        found["fullyLabeledReplicas"] = pods.active
    if pods.ready:
        found |= {"readyReplicas": pods.ready, "availableReplicas": pods.ready}
    return found


def with_images(document: Document) -> Document:
    """Return a copy of a workload whose containers all have an image, which the server requires."""
    copied: Document = _copied(document)
    spec = copied.get("spec") or {}
    for template in (spec.get("template"), ((spec.get("jobTemplate") or {}).get("spec") or {}).get("template")):
        for field in ("containers", "initContainers"):
            for container in ((template or {}).get("spec") or {}).get(field) or ():
                if isinstance(container, dict) and not container.get("image"):
                    container["image"] = IMAGE
    return copied


def _copied(value: Any) -> Any:
    if isinstance(value, dict):
        return {field: _copied(each) for field, each in value.items()}
    return [_copied(each) for each in value] if isinstance(value, list | tuple) else value
