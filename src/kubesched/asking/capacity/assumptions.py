"""What is assumed where a scheduler alone does not decide.

From a model and templates to changes of the model while they are counted, and to gaps that say so: claims that are
bound before their pods are scheduled, pods that are held back, and pods of pod groups.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

import msgspec

from kubesched.api.codec import to_builtins
from kubesched.api.storage import StorageClass
from kubesched.asking.answers import ObjectChange
from kubesched.asking.cluster_objects import Gap
from kubesched.asking.group_attempts import group_object, is_in_group
from kubesched.asking.model import ClusterModel, gates_of, name_of_object
from kubesched.asking.templates.workload_template import WorkloadTemplate

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


def counted_alone(
    model: ClusterModel, templates: Sequence[WorkloadTemplate]
) -> tuple[tuple[WorkloadTemplate, ...], tuple[Gap, ...]]:
    """Return templates without their pod groups, so that pods are counted one by one, and the gaps."""
    alone: list[WorkloadTemplate] = []
    gaps: list[Gap] = []
    for template in templates:
        pod, spec = model.read(template.pod), template.pod.spec
        if is_in_group(model, pod):
            group = group_object(model, pod)
            gang = group.spec.scheduling_policy.gang if group is not None else None
            least = f": at least {gang.min_count} or none" if gang is not None else ""
            why = f"the scheduler places the pods of their pod group together{least}"
            gaps.append(Gap(f"pods of {template}", why, "they are counted one by one, whatever their group needs"))
            spec = msgspec.structs.replace(spec, scheduling_group=None)
            template = replace(template, pod=msgspec.structs.replace(template.pod, spec=spec))
        alone.append(template)
    return tuple(alone), tuple(gaps)


def held_back(model: ClusterModel, templates: Sequence[WorkloadTemplate]) -> Iterator[Gap]:
    """Yield the gaps for templates whose pods PreEnqueue holds back."""
    for template in templates:
        pod = model.read(template.pod)
        profile = model.profile_of(pod)
        messages = [status.message for status in gates_of(profile, pod)] if profile is not None else []
        if messages:
            yield Gap(f"pods of {template}", "; ".join(messages), "they are counted as if they were not held back")
