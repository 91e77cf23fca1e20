"""Operations on workloads and other objects: scale, apply, delete, and reschedule everything.

From a scale, manifests or a name to the pods that controllers would create and delete.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

import msgspec

from kubesched.api.codec import decode, to_builtins
from kubesched.api.kinds import KINDS
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Namespace, Node
from kubesched.api.paths import CLUSTER_SCOPED
from kubesched.api.pods import Pod
from kubesched.api.policy import PodDisruptionBudget
from kubesched.core.cluster.pod_info import PodInfo, without_node
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import UnknownObjectError, nearest
from kubesched.reports.answers import ObjectChange, ObjectName
from kubesched_answers.pod_owners import bound_to_node
from kubesched_answers.templates.applying import applied
from kubesched_answers.templates.reading import read_templates
from kubesched_answers.templates.workload_template import NewPod, WorkloadTemplate
from kubesched_answers.whatif.operations import Operation, RemoveNodes
from kubesched_answers.whatif.trial import WhatIfTrial
from kubesched_answers.whatif.whatif_answer import WhatIfStep
from kubesched_answers.whatif.workloads import NamedObject, Workloads
from kubesched_controlplane.controllers.workloads.daemon_nodes import target_of
from kubesched_controlplane.controllers.workloads.pods import PodView
from kubesched_controlplane.controllers.workloads.victims import in_order_of_deletion

NOT_READY = "node.kubernetes.io/not-ready"
DELETION_COST = "controller.kubernetes.io/pod-deletion-cost"
# labels that controllers and admission write
_WRITTEN_LABELS = frozenset(
    {
        "topology.kubernetes.io/zone",
        "topology.kubernetes.io/region",
        "pod-template-hash",
        "controller-revision-hash",
        "pod-template-generation",
        "controller-uid",
        "batch.kubernetes.io/controller-uid",
    }
)
_WITH_PODS = ("Deployment", "ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet", "Job", "CronJob")


@dataclass(frozen=True, slots=True)
class ScaleWorkload(Operation):
    """A workload, and its new number of replicas."""

    workload: NamedObject
    replicas: int

    def apply(self, trial: WhatIfTrial) -> WhatIfStep:
        """Create the missing pods, or delete the pods that the controller would delete first."""
        workloads = Workloads(trial)
        workload = workloads.find(self.workload)
        pods = workloads.pods(workload)
        workloads.record_replicas(workload, self.replicas)
        if self.replicas > len(pods):
            _create(trial, workloads.template(workload, pods), self.replicas - len(pods))
        for pod in _surplus(trial, workload, pods, len(pods) - self.replicas):
            trial.delete(pod)
        return WhatIfStep(f"scale {workload} to {self.replicas}", f"it has {len(pods)} pods now")


@dataclass(frozen=True, slots=True)
class ApplyManifests(Operation):
    """Objects to create, or to change as `kubectl apply` does; workloads are rolled out."""

    manifests: tuple[Manifest, ...]
    origin: str

    def apply(self, trial: WhatIfTrial) -> WhatIfStep:
        """Put the objects, then the pods of the workloads."""
        workloads = Workloads(trial)
        manifests = [_merged(trial, workloads, each) for each in self.manifests]
        found = read_templates(trial.model, manifests)
        written = {(each.kind, each.name) for each in self.manifests}
        for change in found.others:
            # the addition of read_templates, the ReplicaSet of a Deployment, stays unchanged in the cluster
            if (change.object.kind, change.object.name) in written or trial.model.find(change.object) is None:
                _put(trial, change)
        for template in found.templates:
            _roll_out(trial, template)
        for manifest in manifests:
            workloads.record_document(manifest.document)
        names = ", ".join(f"{each.kind} {each.name}" for each in self.manifests[:5])
        more = len(self.manifests) - 5
        return WhatIfStep(f"apply {self.origin}", names + (f" and {more} more" if more > 0 else ""))


@dataclass(frozen=True, slots=True)
class DeleteObject(Operation):
    """An object to delete: a workload or namespace with all of its pods, a node as if it failed."""

    object: NamedObject

    def apply(self, trial: WhatIfTrial) -> WhatIfStep:
        """Delete the object."""
        kind = self.object.kind
        if kind == Node.__name__:
            return RemoveNodes((trial.model.node(self.object.name).name,)).apply(trial)
        message = ""
        if kind == Pod.__name__:
            pod = _found_pod(trial, self.object)
            trial.delete(pod)
            shown = NamedObject(kind, pod.namespace, pod.name)
        elif kind in _WITH_PODS:
            workloads = Workloads(trial)
            shown = workloads.find(self.object)
            pods = workloads.pods(shown)
            for pod in pods:
                trial.delete(pod)
            message = f"it has {len(pods)} pods"
            workloads.documents.pop(shown, None)
            _remove(trial, shown)
        else:
            shown = _found_object(trial, self.object)
            message = _empty_namespace(trial, shown.name) if kind == Namespace.__name__ else ""
            _remove(trial, shown)
        return WhatIfStep(f"delete {shown}", message)


@dataclass(frozen=True, slots=True)
class RescheduleAll(Operation):
    """Every pod that is not bound to its node leaves it, and all are scheduled again, the oldest first."""


def reschedulable(trial: WhatIfTrial) -> list[PodInfo]:
    """Return the pods on nodes that one of the profiles placed or would place, the oldest first."""
    found = [
        pod
        for pod in trial.model.cluster.table.pods.values()
        if not bound_to_node(pod) and not pod.terminating and trial.model.profile_of(pod) is not None
    ]
    return sorted(found, key=lambda pod: (_created(pod), pod.full_name))


# -- parts


def _create(trial: WhatIfTrial, template: WorkloadTemplate, count: int) -> None:
    pods = template.new_pods(trial.model)
    for _ in range(count):
        _add(trial, next(pods))


def _add(trial: WhatIfTrial, new: NewPod) -> None:
    for obj in new.objects:
        trial.placer.put(obj)
    trial.create(new.pod)


def _merged(trial: WhatIfTrial, workloads: Workloads, manifest: Manifest) -> Manifest:
    """Return a manifest of the resulting object, merged onto the cluster's object if it exists."""
    meta = manifest.document.get("metadata")
    if not isinstance(meta, dict):
        return manifest
    namespace = "" if manifest.kind in CLUSTER_SCOPED else meta.get("namespace") or trial.model.source.namespace
    known = workloads.documents.get((manifest.kind, namespace, manifest.name))
    if known is None and manifest.kind in _WITH_PODS:
        return workloads.with_replicas(manifest, NamedObject(manifest.kind, namespace, manifest.name))
    if known is None:
        obj = trial.model.find(ObjectName("", manifest.kind, namespace, manifest.name))
        known = to_builtins(obj) if obj is not None else None
    return applied(manifest, known) if known is not None else manifest


def _roll_out(trial: WhatIfTrial, template: WorkloadTemplate) -> None:
    """Roll out a template to the pods of a workload; pods of an equal template stay."""
    name = NamedObject(template.workload.kind, template.workload.namespace, template.workload.name)
    if name.kind == Pod.__name__:
        old = trial.model.pods.get(template.pod.full_name)
        if old is not None and _is_like(template.pod, without_node(old.pod)):
            return
        if old is not None:
            trial.delete(old)
        _add(trial, template.own_pod(trial.model))
        return
    workloads = Workloads(trial)
    pods = workloads.pods(name)
    if not _is_rolled_out(trial, workloads, name, template):
        for pod in pods:
            trial.delete(pod)
        pods = []
    if template.per_node:
        there = {target_of(to_builtins(pod.pod)) for pod in pods}
        for node in trial.model.node_names():
            if node not in there and template.wants(trial.model.node(node)):
                _add(trial, template.pod_for_node(node))
        return
    _create(trial, template, max(0, template.replicas - len(pods)))
    for pod in _surplus(trial, name, pods, len(pods) - template.replicas):
        trial.delete(pod)


def _is_rolled_out(trial: WhatIfTrial, workloads: Workloads, name: NamedObject, template: WorkloadTemplate) -> bool:
    """Return whether the cluster has the workload with an equal template, in the fields that scheduling reads."""
    known = workloads.documents.get(name)
    if known is None:
        return False
    # with the same defaults as the manifest
    [old] = read_templates(trial.model, [Manifest(str(name), known)]).templates
    return _is_like(template.pod, old.pod)


def _is_like(pod: Pod, other: Pod) -> bool:
    """Return whether two pods have the same spec, and the same labels apart from generated ones."""
    return pod.spec == other.spec and _own_labels(pod) == _own_labels(other)


def _own_labels(pod: Pod) -> dict[str, str]:
    return {key: value for key, value in pod.metadata.labels.items() if key not in _WRITTEN_LABELS}


def _surplus(trial: WhatIfTrial, workload: NamedObject, pods: Sequence[PodInfo], count: int) -> list[PodInfo]:
    """Return the pods that the controller of a workload deletes first."""
    if count <= 0:
        return []
    if workload.kind == "StatefulSet":
        return sorted(pods, key=lambda pod: -_ordinal(pod))[:count]
    views = [_view(trial, pod) for pod in pods]
    by_uid = {pod.uid: pod for pod in pods}
    now = trial.model.source.taken_at or max((_created(pod) for pod in pods), default=_NEVER)
    return [by_uid[view.uid] for view in in_order_of_deletion(views, now, count, neighbours=views)]


def _view(trial: WhatIfTrial, pod: PodInfo) -> PodView:
    """Return a pod in the form of workload controllers."""
    ready = next((each for each in pod.status.conditions if each.type == "Ready" and each.status == "True"), None)
    since = ready.last_transition_time if ready is not None else None
    cost = pod.metadata.annotations.get(DELETION_COST, "")
    created = pod.metadata.creation_timestamp
    return PodView(
        namespace=pod.namespace,
        name=pod.name,
        uid=pod.uid,
        labels=dict(pod.labels),
        phase=pod.status.phase,
        node=trial.node_of(pod),
        created=_text(created),
        ready_since=None if ready is None else _text(since),
        deleting=pod.terminating,
        restarts=0,
        most_restarts=(0, 0),
        deletion_cost=int(cost) if cost.lstrip("-").isdecimal() else 0,
        tracked=False,
        owner=None,
    )


_NEVER = datetime.fromtimestamp(0, UTC)


def _created(pod: PodInfo) -> datetime:
    return pod.metadata.creation_timestamp or _NEVER


def _text(time: datetime | None) -> str:
    return time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if time is not None else ""


def _ordinal(pod: PodInfo) -> int:
    number = pod.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def _put(trial: WhatIfTrial, change: ObjectChange) -> None:
    """Create or change an object; without a status it keeps the existing one."""
    assert change.create is not None
    new, old = decode(change.create), trial.model.find(change.object)
    if old is not None:
        created = old.metadata.creation_timestamp
        meta = msgspec.structs.replace(new.metadata, uid=old.uid, creation_timestamp=created)
        new = msgspec.structs.replace(new, metadata=meta)
        written = getattr(new, "status", None)
        if written is not None and _says_nothing(new):
            new = msgspec.structs.replace(new, status=getattr(old, "status"))  # noqa: B009
    if isinstance(new, Node) and not (isinstance(old, Node) and any(each.key == NOT_READY for each in old.spec.taints)):
        # the API server marks a new node as not ready
        taints = tuple(taint for taint in new.spec.taints if taint.key != NOT_READY)
        new = msgspec.structs.replace(new, spec=msgspec.structs.replace(new.spec, taints=taints))
    trial.placer.put(new)
    if isinstance(new, PodDisruptionBudget):
        trial.budgets.replace(new)


def _says_nothing(obj: ApiObject) -> bool:
    return not obj.status.allocatable if isinstance(obj, Node) else not isinstance(obj, PodDisruptionBudget)


def _remove(trial: WhatIfTrial, name: NamedObject) -> None:
    if name.kind not in KINDS:
        return
    obj = trial.model.find(ObjectName("", name.kind, name.namespace, name.name))
    if obj is not None:
        trial.placer.remove(obj)
        if isinstance(obj, PodDisruptionBudget):
            trial.budgets.drop(obj.full_name)


def _empty_namespace(trial: WhatIfTrial, namespace: str) -> str:
    """Delete the pods of a namespace; return their number."""
    pods = [pod for pod in trial.model.pods.values() if pod.namespace == namespace]
    for pod in pods:
        trial.delete(pod)
    return f"it has {len(pods)} pods"


def _found_pod(trial: WhatIfTrial, wanted: NamedObject) -> PodInfo:
    pods = trial.model.pods
    found = [pod for pod in pods.values() if pod.name == wanted.name and wanted.namespace in ("", pod.namespace)]
    if len(found) > 1:
        found = [pod for pod in found if pod.namespace == trial.model.source.namespace]
    if len(found) != 1:
        return trial.model.pod(f"{wanted.namespace or trial.model.source.namespace}/{wanted.name}")
    return found[0]


def _found_object(trial: WhatIfTrial, wanted: NamedObject) -> NamedObject:
    """Return the name of an object that is neither a pod, a node nor a workload; raises UnknownObjectError."""
    if wanted.kind not in KINDS:
        raise UnknownObjectError(f"{wanted.kind} is not a kind that scheduling reads; deleting it changes nothing")
    known = trial.model.cluster.objects.named(wanted.kind)
    found = [obj for obj in known if obj.name == wanted.name and wanted.namespace in ("", obj.namespace)]
    if len(found) > 1:
        found = [obj for obj in found if obj.namespace == trial.model.source.namespace]
    if len(found) != 1:
        asked = f"{wanted.namespace}/{wanted.name}" if wanted.namespace else wanted.name
        names = [obj.full_name if wanted.namespace else obj.name for obj in known]
        raise UnknownObjectError(f"there is no {wanted.kind} {asked}{nearest(asked, names)}")
    return NamedObject(wanted.kind, found[0].namespace, found[0].name)
