"""Workloads of a cluster: their pods, and the template of new ones.

From a kind and a name as kubectl takes them (`deploy/web`) to the workload, its pods, and a template for new ones:
from its document if the source has it, else from one of its pods.
"""

from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec

from kubesched.api.kinds import API_VERSIONS, KINDS
from kubesched.api.meta import ObjectMeta
from kubesched.api.pods import Pod
from kubesched.api.storage import PersistentVolumeClaim
from kubesched.core.cluster.pod_info import PodInfo, without_node
from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import ClusterModel, UnknownObjectError, nearest
from kubesched.reports.answers import ObjectName
from kubesched_answers.templates.reading import is_workload, read_templates
from kubesched_answers.templates.workload_template import ClaimedVolume, WorkloadTemplate
from kubesched_answers.whatif.trial import WhatIfTrial
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.server.catalog import RESOURCES

# the field with the number of pods, by kind
REPLICAS_FIELDS: Final = {
    "Deployment": "replicas",
    "ReplicaSet": "replicas",
    "ReplicationController": "replicas",
    "StatefulSet": "replicas",
    "Job": "parallelism",
}
POD_INDEX, POD_NAME = "apps.kubernetes.io/pod-index", "statefulset.kubernetes.io/pod-name"


class NamedObject(NamedTuple):
    """An object in the user's notation: `deploy/web`, or `deploy/shop/web` with its namespace."""

    kind: str
    namespace: str
    name: str

    def __str__(self) -> str:
        return f"{self.kind} {self.namespace + '/' if self.namespace else ''}{self.name}"


def parse_name(text: str) -> NamedObject:
    """Return the kind and the name in `KIND/NAME` or `KIND/NAMESPACE/NAME`; raises KubeschedError."""
    kind, *names = text.split("/")
    if not kind or not 1 <= len(names) <= 2 or not all(names):
        raise KubeschedError(f"{text}: write KIND/NAME or KIND/NAMESPACE/NAME, such as deploy/web")
    return NamedObject(kind_named(kind), names[0] if len(names) == 2 else "", names[-1])


def kind_named(text: str) -> str:
    """Return the kind for a text such as deploy, deployments or Deployment; raises UnknownObjectError."""
    word = text.lower().partition(".")[0]
    known: dict[str, str] = {}
    for resource in RESOURCES:
        names = (resource.kind.lower(), resource.plural, *resource.short_names)
        known.update((name, resource.kind) for name in names if name not in known)
    if word not in known:
        raise UnknownObjectError(f"there is no kind {text}{nearest(word, known)}")
    return known[word]


class Workloads:
    """The workloads of a trial: by documents, by objects, and as owners of pods."""

    def __init__(self, trial: WhatIfTrial) -> None:
        self._model = trial.model
        self._owners = trial.owners.owners
        self.documents = trial.documents

    def record_document(self, document: Document) -> None:
        """Replace the document of a workload; skip other objects."""
        if is_workload(document):
            meta = document["metadata"]
            namespace = meta.get("namespace") or self._model.source.namespace
            self.documents[document["kind"], namespace, meta.get("name", "")] = document

    def record_replicas(self, workload: NamedObject, replicas: int) -> None:
        """Replace the number of replicas of a workload."""
        document = self.documents.get(workload)
        if document is not None:
            spec = {**document["spec"], REPLICAS_FIELDS[workload.kind]: replicas}
            self.documents[workload] = {**document, "spec": spec}

    def with_replicas(self, manifest: Manifest, workload: NamedObject) -> Manifest:
        """Return the manifest of a workload without a document; if it has no number of replicas, add the number of
        its pods.
        """
        spec, field = manifest.document.get("spec"), REPLICAS_FIELDS.get(workload.kind)
        count = len(self.pods(workload)) if field is not None else 0
        if not count or not isinstance(spec, dict) or spec.get(field) is not None:
            return manifest
        return manifest._replace(document={**manifest.document, "spec": {**spec, field: count}})

    def find(self, wanted: NamedObject) -> NamedObject:
        """Return a workload with its namespace; raises UnknownObjectError, also if several namespaces have it."""
        known = self._known(wanted.kind)
        found = [each for each in known if each[1] == wanted.name and wanted.namespace in ("", each[0])]
        if len(found) > 1:
            found = [each for each in found if each[0] == self._model.source.namespace] or found
        if len(found) == 1:
            return NamedObject(wanted.kind, *found[0])
        if found:
            spaces = ", ".join(namespace for namespace, _ in sorted(found))
            raise UnknownObjectError(f"{wanted} is in several namespaces ({spaces}); write KIND/NAMESPACE/NAME")
        names = [f"{namespace}/{name}" if wanted.namespace else name for namespace, name in known]
        asked = f"{wanted.namespace}/{wanted.name}" if wanted.namespace else wanted.name
        raise UnknownObjectError(f"there is no {wanted.kind} {asked}{nearest(asked, names)}")

    def _known(self, kind: str) -> set[tuple[str, str]]:
        found = {(namespace, name) for each, namespace, name in self.documents if each == kind}
        if kind in KINDS:
            found |= {(obj.namespace, obj.name) for obj in self._model.cluster.objects.named(kind)}
        for pod in self._model.pods.values():
            found |= {(pod.namespace, name) for owner, name in self._owners_of(pod) if owner == kind}
        return found

    def pods(self, workload: NamedObject) -> list[PodInfo]:
        """Return the pods of a workload that are not being deleted, by name."""
        wanted = workload.kind, workload.name
        pods = (pod for pod in self._model.pods.values() if pod.namespace == workload.namespace and not pod.terminating)
        return sorted((pod for pod in pods if wanted in self._owners_of(pod)), key=lambda pod: pod.full_name)

    def _owners_of(self, pod: PodInfo) -> list[tuple[str, str]]:
        """Return kinds and names of a pod's controller, and of the workload above it."""
        controller = pod.metadata.controller
        if controller is None:
            return []
        top = self._owners.of(pod)
        assert top is not None, "it has a controller"
        return [(controller.kind, controller.name), (top.kind, top.name)]

    def template(self, workload: NamedObject, pods: Iterable[PodInfo]) -> WorkloadTemplate:
        """Return the template for new pods of a workload; raises KubeschedError if it is unknown."""
        document = self.documents.get(workload)
        if document is not None:
            return read_templates(self._model, [Manifest(str(workload), document)]).templates[0]
        newest = max(pods, key=_age, default=None)
        if newest is None:
            raise KubeschedError(f"{workload} has no pods and no known template; give its manifest with --apply")
        return _template_like(self._model, workload, newest.pod)


def _age(pod: PodInfo) -> tuple[float, str]:
    created = pod.metadata.creation_timestamp
    return created.timestamp() if created is not None else 0.0, pod.name


def _template_like(model: ClusterModel, workload: NamedObject, pod: Pod) -> WorkloadTemplate:
    """Return a template from an existing pod, with copies of its volume claims."""
    meta = ObjectMeta(
        name=pod.name,
        namespace=pod.namespace,
        labels=pod.metadata.labels,
        annotations=pod.metadata.annotations,
        owner_references=pod.metadata.owner_references,
    )
    bare = msgspec.structs.replace(without_node(pod), metadata=meta)
    bare = msgspec.structs.replace(bare, status=msgspec.structs.replace(bare.status, resource_claim_statuses=()))
    stateful = workload.kind == "StatefulSet"
    name = ObjectName(API_VERSIONS.get(workload.kind, "apps/v1"), workload.kind, workload.namespace, workload.name)
    return WorkloadTemplate(
        name,
        bare,
        base_name=workload.name,
        index_labels=(POD_INDEX,) if POD_INDEX in meta.labels else (),
        name_label=POD_NAME if POD_NAME in meta.labels else "",
        claims=tuple(_own_claims(model, pod)) if stateful else (),
    )


def _own_claims(model: ClusterModel, pod: Pod) -> Iterable[ClaimedVolume]:
    """Yield the volume claims that a StatefulSet made for a pod, unbound."""
    for volume in pod.spec.volumes:
        source = volume.persistent_volume_claim
        if source is None or source.claim_name != f"{volume.name}-{pod.name}":
            continue
        claim = model.cluster.objects.get(PersistentVolumeClaim, f"{pod.namespace}/{source.claim_name}")
        if claim is not None:
            meta = ObjectMeta(name=claim.name, namespace=claim.namespace, labels=claim.metadata.labels)
            spec = msgspec.structs.replace(claim.spec, volume_name="")
            yield ClaimedVolume(volume.name, PersistentVolumeClaim(metadata=meta, spec=spec), ephemeral=False)
