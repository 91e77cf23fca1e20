"""The assumptions where the scheduler alone does not decide.

From a model and templates to changes of the model while they are counted, and to gaps that report the assumptions:
claims that are bound before their pods are scheduled, pods that are held back, and pods of pod groups.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.storage import StorageClass
from kubesched.core.cluster.pod_groups import GroupKey, group_of
from kubesched.model.cluster_model import ClusterModel, gates_of, name_of_object
from kubesched.model.cluster_objects import Gap
from kubesched.model.group_attempts import group_object, is_in_group
from kubesched.reports.answers import ObjectChange
from kubesched_answers.templates.workload_template import NewPod, WorkloadTemplate

_LATER = "WaitForFirstConsumer"


def bound_later(
    model: ClusterModel, templates: Sequence[WorkloadTemplate]
) -> tuple[tuple[ObjectChange, ...], tuple[Gap, ...]]:
    """Return storage classes of templates' claims as if they bound claims where the pods go, and the gaps.

    A claim of a class that binds at once is bound before its pod is scheduled, by controllers that choose the volume.
    """
    names = dict.fromkeys(each.claim.spec.storage_class_name for template in templates for each in template.claims)
    found = [model.cluster.objects.get(StorageClass, name) for name in names if name]
    classes = [each for each in found if each is not None and each.volume_binding_mode != _LATER]
    changes = tuple(
        ObjectChange(name_of_object(each), create={**to_builtins(each), "volumeBindingMode": _LATER})
        for each in classes
    )
    gaps = tuple(
        Gap(
            f"volumes of StorageClass {each.name}",
            "it binds claims before their pods are scheduled",
            "claims are counted as if their volumes were where the pods go",
        )
        for each in classes
    )
    return changes, gaps


@dataclass(frozen=True, slots=True)
class CountedGang:
    """A gang whose pods are counted one by one: how many more it needs on nodes, and which templates have its
    pods.
    """

    name: str
    needs: int
    templates: frozenset[int]

    def sentence(self, replicas: Sequence[int]) -> str:
        """Return a sentence if too few replicas fit for the gang, else an empty text."""
        fit = sum(replicas[number] for number in self.templates)
        return f"Gang {self.name} needs {self.needs}, so none of them is placed." if fit < self.needs else ""


def counted_alone(
    model: ClusterModel, templates: Sequence[WorkloadTemplate]
) -> tuple[tuple[WorkloadTemplate, ...], tuple[CountedGang, ...]]:
    """Return templates without their pod groups, so that pods are counted one by one, and the gangs among these."""
    alone: list[WorkloadTemplate] = []
    gangs: dict[GroupKey, CountedGang] = {}
    for number, template in enumerate(templates):
        pod, spec = model.read(template.pod), template.pod.spec
        key = group_of(pod)
        if key is None or not is_in_group(model, pod):
            alone.append(template)
            continue
        group = group_object(model, pod)
        gang = group.spec.scheduling_policy.gang if group is not None else None
        if gang is not None:
            needs = gang.min_count - len(model.cluster.pod_groups.state(key).scheduled)
            others = gangs[key].templates if key in gangs else frozenset()
            gangs[key] = CountedGang("/".join(key), needs, others | {number})
        spec = msgspec.structs.replace(spec, scheduling_group=None)
        alone.append(replace(template, pod=msgspec.structs.replace(template.pod, spec=spec)))
    return tuple(alone), tuple(gangs.values())


def held_back(model: ClusterModel, templates: Sequence[WorkloadTemplate]) -> Iterator[Gap]:
    """Yield the gaps for templates whose pods PreEnqueue holds back."""
    for template in templates:
        new = NewPod(template.pod) if template.per_node else next(template.new_pods(model))
        # claims that are created with the pod do not hold it back
        with model.fork(ObjectChange(name_of_object(obj), create=to_builtins(obj)) for obj in new.objects):
            pod = model.read(new.pod)
            profile = model.profile_of(pod)
            messages = [status.message for status in gates_of(profile, pod)] if profile is not None else []
        if messages:
            yield Gap(f"pods of {template}", "; ".join(messages), "they are counted as if they were not held back")
