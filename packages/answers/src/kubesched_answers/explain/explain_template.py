"""Pods that do not exist yet.

From manifests (a pod, or a workload, which stands for its next pod) to a `PodAnswer`, as the API server would store
the pod: defaulted, with its priority and the claims that are created with it. Pods of a pod group are explained
together with all of its pods in the manifests.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import islice

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ApiObject
from kubesched.core.cluster.pod_groups import GroupKey, group_of
from kubesched.errors import KubeschedError
from kubesched.manifests import Manifest
from kubesched.model.cluster_model import ClusterModel, name_of_object
from kubesched.model.cluster_objects import Gap
from kubesched.model.group_attempts import is_in_group
from kubesched.reports.answers import ObjectChange
from kubesched_answers.explain.explain_pod import explain_pod
from kubesched_answers.explain.pod_answer import PodAnswer
from kubesched_answers.quotas import quota_room
from kubesched_answers.templates.reading import read_templates
from kubesched_answers.templates.workload_template import WorkloadTemplate
from kubesched_controlplane.api.documents import Document


def explain_manifests(model: ClusterModel, manifests: Sequence[Manifest]) -> PodAnswer:
    """Return the answer about the one pod or workload in manifests, or of one pod group; raises KubeschedError."""
    found = read_templates(model, manifests)
    templates = found.templates
    together = bool(templates) and all(_group(model, each) for each in templates)
    if len({_group(model, each) for each in templates} if together else templates) != 1:
        listed = ", ".join(str(template) for template in templates[:3])
        count = f"{len(templates)} of them: {listed}" if templates else "none"
        raise KubeschedError(f"expected manifests with one pod or workload to explain, found {count}")
    template = templates[0]
    if template.per_node:
        raise KubeschedError(f"{template} runs one pod a node; ask about one of them: kubesched explain pod NAME")
    with model.fork(found.others):
        answer = _explain_first(model, templates) if together else explain_next(model, template)
    return replace(answer, gaps=(*answer.gaps, *found.gaps, *_refused(model, template, found.quotas)))


def _refused(model: ClusterModel, template: WorkloadTemplate, quotas: Sequence[Document]) -> Iterator[Gap]:
    """Yield a gap for the quota that rejects the next pod of a template."""
    new = next(template.new_pods(model))
    limit = quota_room(model, quotas).limit((new.pod, *new.objects))
    if limit is not None and not limit.allows:
        yield Gap(f"Pod {new.pod.full_name}", limit.message, "the answer ignores the quota")


def explain_next(model: ClusterModel, template: WorkloadTemplate, nodes: Sequence[str] = ()) -> PodAnswer:
    """Return the answer about the next pod of a template; for a DaemonSet, about the pod on the first of its
    `nodes`.
    """
    new = template.pod_for_node(nodes[0]) if nodes else next(template.new_pods(model))
    with model.fork(map(_created, new.objects)):
        return explain_pod(model, model.read(new.pod))


def _explain_first(model: ClusterModel, templates: Sequence[WorkloadTemplate]) -> PodAnswer:
    """Return the answer about the first pod of a pod group, all of whose pods are created."""
    pods = [new for each in templates for new in islice(each.new_pods(model), max(1, each.replicas))]
    with model.fork(_created(obj) for new in pods for obj in (*new.objects, new.pod)):
        return explain_pod(model, model.pods[pods[0].pod.full_name])


def _group(model: ClusterModel, template: WorkloadTemplate) -> GroupKey | None:
    """Return the pod group whose pods the scheduler places together, if a template's pods belong to one."""
    pod = model.read(template.pod)
    return group_of(pod) if is_in_group(model, pod) else None


def _created(obj: ApiObject) -> ObjectChange:
    return ObjectChange(name_of_object(obj), create=to_builtins(obj))
