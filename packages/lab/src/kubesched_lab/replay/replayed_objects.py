"""The objects of a trace as documents for an API server.

From events to documents. A trace contains the fields that scheduling reads; this module adds the other required
fields: the source of a volume, a port of a Service, the template of a ReplicaSet. Simulated nodes read from pods how
long they run.
"""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ApiObject, ObjectMeta
from kubesched.api.pods import Pod, PodStatus
from kubesched.common.virtual_time import BEGINNING
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.nodes.kubelets import RUN_SECONDS
from kubesched_lab.simulate.traces.trace import ObjectPut, PodArrival

replace = msgspec.structs.replace
# pods without an end run for as long as this
FOR_EVER = 1e9
_ENDING = ("Never", "OnFailure")
_WITH_TEMPLATES = ("ReplicaSet", "StatefulSet", "ReplicationController")
# fields of a PersistentVolume's spec other than its source
_NO_SOURCES = frozenset(
    {
        "accessModes",
        "capacity",
        "claimRef",
        "mountOptions",
        "nodeAffinity",
        "persistentVolumeReclaimPolicy",
        "storageClassName",
        "volumeAttributesClassName",
        "volumeMode",
    }
)


class ReplayedObjects:
    """Creates documents; remembers existing owners. `now` returns the date."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        # UIDs of objects that owner references may name
        self._uids: set[str] = set()
        self._now = now
        self._shift = now() - BEGINNING

    def document(self, event: PodArrival | ObjectPut) -> Document:
        """Return the object of an event."""
        obj: ApiObject = running(event) if isinstance(event, PodArrival) else event.obj
        if obj.metadata.uid:
            self._uids.add(obj.metadata.uid)
        return completed(to_builtins(replace(obj, metadata=self._meta(obj.metadata))))

    def _meta(self, meta: ObjectMeta) -> ObjectMeta:
        """Return metadata as of now, without missing owners, since those would have the object collected as
        garbage.
        """
        owners = tuple(owner for owner in meta.owner_references if owner.uid in self._uids)
        created = meta.creation_timestamp
        if created is not None:
            # an object that is created later is new at that time
            created = min(created + self._shift, self._now())
        return replace(meta, owner_references=owners, creation_timestamp=created)


def running(arrival: PodArrival) -> Pod:
    """Return a pod that simulated nodes run for as long as the trace says."""
    pod, runs = arrival.pod, FOR_EVER if arrival.runs is None else arrival.runs
    annotations = {**pod.metadata.annotations, RUN_SECONDS: f"{runs:.15g}"}
    spec = pod.spec
    if arrival.runs is not None and spec.restart_policy not in _ENDING:
        spec = replace(spec, restart_policy="Never")
    # simulated kubelets start the pod again
    status = PodStatus(resource_claim_statuses=pod.status.resource_claim_statuses)
    return replace(pod, metadata=replace(pod.metadata, annotations=annotations), spec=spec, status=status)


def completed(document: Document) -> Document:
    """Return a document with the fields that an API server requires and no scheduler reads."""
    kind, spec = document["kind"], document.get("spec") or {}
    if kind == "PersistentVolume" and not spec.keys() - _NO_SOURCES:
        return {**document, "spec": {**spec, "hostPath": {"path": "/replayed"}}}
    if kind == "Service" and "ports" not in spec:
        return {**document, "spec": {**spec, "ports": [{"port": 80}]}}
    if kind in _WITH_TEMPLATES and "template" not in spec:
        labels = _selected_labels(spec.get("selector") or {})
        containers = [{"name": "main", "image": "replayed"}]
        template = {"metadata": {"labels": labels}, "spec": {"containers": containers}}
        return {**document, "spec": {**spec, "template": template}}
    return document


def _selected_labels(selector: Document) -> dict[str, str]:
    """Return labels that a selector selects."""
    if not selector.keys() <= {"matchLabels", "matchExpressions"}:
        return selector
    labels: dict[str, Any] = dict(selector.get("matchLabels") or {})
    for each in selector.get("matchExpressions") or ():
        if each.get("operator") == "In":
            labels.setdefault(each["key"], each["values"][0])
        elif each.get("operator") == "Exists":
            labels.setdefault(each["key"], "")
    return labels
