"""A workload as the source of equal pods: values.

From `templates.reading` to questions about pods that do not exist yet: the pod as the API server would store it, and
the n-th pod of the workload with the claims that are created with it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import msgspec

from kubesched.api.devices import ResourceClaim, ResourceClaimTemplate
from kubesched.api.meta import ApiObject, ObjectMeta, OwnerReference
from kubesched.api.node_selectors import NAME_FIELD
from kubesched.api.nodes import Node
from kubesched.api.pods import (
    Affinity,
    NodeAffinity,
    NodeSelector,
    NodeSelectorRequirement,
    NodeSelectorTerm,
    Pod,
    PodResourceClaimStatus,
)
from kubesched.api.storage import PersistentVolumeClaim
from kubesched.api.volumes import PersistentVolumeClaimVolumeSource
from kubesched.model.cluster_model import ClusterModel
from kubesched.reports.answers import ObjectName
from kubesched_controlplane.controllers.devices.resource_claims import POD_CLAIM
from kubesched_controlplane.controllers.workloads.daemon_nodes import DaemonNode, NodeFitness


class NewPod(NamedTuple):
    """A pod that does not exist yet, and the claims that are created with it."""

    pod: Pod
    objects: tuple[ApiObject, ...] = ()


@dataclass(frozen=True, slots=True)
class ClaimedVolume:
    """A volume with a separate claim for each pod: from a volumeClaimTemplate, or an ephemeral volume."""

    volume: str
    claim: PersistentVolumeClaim
    ephemeral: bool


@dataclass(frozen=True, slots=True, eq=False)
class WorkloadTemplate:
    """A workload whose pods differ only in their names: a Deployment, a Job, or a Pod itself.

    `pod` is its pod as the API server stores it; `replicas` is the wanted number, which a DaemonSet lacks: `fitness`
    decides on which nodes its pods run. `index_labels` are the labels with the number of a pod, `name_label` is the
    label with its name.
    """

    workload: ObjectName
    pod: Pod
    replicas: int = 1
    base_name: str = ""
    first_ordinal: int = 0
    index_labels: tuple[str, ...] = ()
    name_label: str = ""
    claims: tuple[ClaimedVolume, ...] = ()
    fitness: NodeFitness | None = None

    def __str__(self) -> str:
        return str(self.workload)

    @property
    def per_node(self) -> bool:
        """Return whether the workload runs one pod a node, as a DaemonSet does."""
        return self.fitness is not None

    @property
    def brings_claims(self) -> bool:
        """Return whether each of its pods has separate claims, to volumes or devices."""
        return bool(self.claims) or any(claim.resource_claim_template_name for claim in self.pod.spec.resource_claims)

    @property
    def numbers_its_pods(self) -> bool:
        """Return whether its pods differ in labels: in their number, or in their name."""
        return bool(self.index_labels or self.name_label)

    def wants(self, node: Node) -> bool:
        """Return whether a DaemonSet runs a pod on a node."""
        assert self.fitness is not None
        return self.fitness.judge(DaemonNode(node.name, dict(node.metadata.labels), node.spec.taints))[0]

    def new_pods(self, model: ClusterModel) -> Iterator[NewPod]:
        """Yield the next pods of the workload endlessly, under names that the cluster does not have."""
        ordinal = self.first_ordinal
        while True:
            name = f"{self.base_name}-{ordinal}"
            if f"{self.pod.namespace}/{name}" not in model.pods:
                yield self._numbered(model, name, ordinal)
            ordinal += 1

    def own_pod(self, model: ClusterModel) -> NewPod:
        """Return the pod under its name in the manifest."""
        return self._numbered(model, self.pod.name, self.first_ordinal)

    def pod_for_node(self, node: str) -> NewPod:
        """Return the pod of a DaemonSet for a node: its required node affinity is the name of the node."""
        term = NodeSelectorTerm(match_fields=(NodeSelectorRequirement(key=NAME_FIELD, operator="In", values=(node,)),))
        affinity = self.pod.spec.affinity or Affinity()
        nodes = msgspec.structs.replace(
            affinity.node_affinity or NodeAffinity(),
            required_during_scheduling_ignored_during_execution=NodeSelector(node_selector_terms=(term,)),
        )
        affinity = msgspec.structs.replace(affinity, node_affinity=nodes)
        pod = self._named(f"{self.base_name}-{node}")
        return NewPod(msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, affinity=affinity)))

    def _named(self, name: str, ordinal: int = 0) -> Pod:
        meta = self.pod.metadata
        labels = {**meta.labels, **dict.fromkeys(self.index_labels, str(ordinal))}
        if self.name_label:
            labels[self.name_label] = name
        meta = msgspec.structs.replace(meta, name=name, uid=f"{meta.namespace}/{name}", labels=labels)
        return msgspec.structs.replace(self.pod, metadata=meta)

    def _numbered(self, model: ClusterModel, name: str, ordinal: int) -> NewPod:
        pod = self._named(name, ordinal)
        pod, volume_claims = self._with_volumes(model, pod, ordinal)
        pod, device_claims = _with_device_claims(model, pod)
        return NewPod(pod, (*volume_claims, *device_claims))

    def _with_volumes(
        self, model: ClusterModel, pod: Pod, ordinal: int
    ) -> tuple[Pod, tuple[PersistentVolumeClaim, ...]]:
        """Return a pod with the volumes of its claims, and the claims that the cluster does not have."""
        if not self.claims:
            return pod, ()
        claims, sources = [], {}
        for each in self.claims:
            name = f"{pod.name}-{each.volume}" if each.ephemeral else f"{each.volume}-{self.workload.name}-{ordinal}"
            owners = (_owner(pod),) if each.ephemeral else ()
            meta = msgspec.structs.replace(
                each.claim.metadata, name=name, uid=f"{pod.namespace}/{name}", owner_references=owners
            )
            if model.cluster.objects.get(PersistentVolumeClaim, f"{pod.namespace}/{name}") is None:
                claims.append(msgspec.structs.replace(each.claim, metadata=meta))
            if not each.ephemeral:
                sources[each.volume] = PersistentVolumeClaimVolumeSource(claim_name=name)
        volumes = tuple(
            msgspec.structs.replace(volume, persistent_volume_claim=sources[volume.name])
            if volume.name in sources
            else volume
            for volume in pod.spec.volumes
        )
        return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, volumes=volumes)), tuple(claims)


def _with_device_claims(model: ClusterModel, pod: Pod) -> tuple[Pod, tuple[ResourceClaim, ...]]:
    """Return a pod with references to its claims to devices, and these claims, made from their templates."""
    claims, statuses = [], []
    for entry in pod.spec.resource_claims:
        if not entry.resource_claim_template_name:
            continue
        full_name = f"{pod.namespace}/{entry.resource_claim_template_name}"
        template = model.cluster.objects.get(ResourceClaimTemplate, full_name)
        if template is None:
            continue
        name = f"{pod.name}-{entry.name}"
        meta = ObjectMeta(
            name=name,
            namespace=pod.namespace,
            uid=f"{pod.namespace}/{name}",
            labels=template.spec.metadata.labels,
            annotations={**template.spec.metadata.annotations, POD_CLAIM: entry.name},
            owner_references=(_owner(pod),),
        )
        claims.append(ResourceClaim(metadata=meta, spec=template.spec.spec))
        statuses.append(PodResourceClaimStatus(name=entry.name, resource_claim_name=name))
    if not claims:
        return pod, ()
    status = msgspec.structs.replace(pod.status, resource_claim_statuses=tuple(statuses))
    return msgspec.structs.replace(pod, status=status), tuple(claims)


def _owner(pod: Pod) -> OwnerReference:
    return OwnerReference(api_version="v1", kind="Pod", name=pod.name, uid=pod.uid, controller=True)
