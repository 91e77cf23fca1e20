"""Changes through `pods/resize`: cpu and memory of containers and of the pod.

From an old and a new pod to the old pod with only its resources changed, and to problems.
"""

# upstream: pkg/registry/core/pod/strategy.go (podResizeStrategy),
# pkg/apis/core/validation/validation.go (ValidatePodResize) (v1.36)

from copy import deepcopy
from typing import Final

from kubesched.api.field_errors import forbidden, invalid
from kubesched_controlplane.api.documents import Document
from kubesched_controlplane.kinds.pod.amounts import class_of_service, resources_of
from kubesched_controlplane.kinds.pod.placement import MIRROR_POD

CONTAINERS: Final = ("containers", "initContainers")
_RESIZED: Final = ("resources", "resizePolicy")
_MUTABLE: Final = ("cpu", "memory")
_KINDS: Final = ("requests", "limits")
_OTHERS: Final = "only cpu and memory resources are mutable"


def keep_all_but_resources(new: Document, old: Document) -> None:
    """Keep the old spec but for resources and resize policies; a spec with other containers is left to validation."""
    spec, before = new.get("spec") or {}, old["spec"]
    if all(_names(spec, field) == _names(before, field) for field in CONTAINERS):
        kept = deepcopy(before)
        for field in CONTAINERS:
            for container, wanted in zip(kept.get(field) or (), spec.get(field) or (), strict=True):
                _take(container, wanted, _RESIZED)
        _take(kept, spec, ("resources",))
        new["spec"] = kept


def resize_problems(new: Document, old: Document) -> list[str]:
    """Return the problems of a resize, without the problems of the new pod itself."""
    spec, before = new["spec"], old["spec"]
    if MIRROR_POD in (old["metadata"].get("annotations") or {}):
        return [forbidden("<nil>", "static pods cannot be resized")]
    if (before.get("os") or {}).get("name") == "windows":
        return [forbidden("<nil>", "windows pods cannot be resized")]
    problems = _pod_problems(new, old)
    disorder = [problem for field in CONTAINERS for problem in _order_problems(field, spec, before)]
    if disorder:
        return problems + disorder
    for field in reversed(CONTAINERS):
        for number, (container, was) in enumerate(zip(spec.get(field) or (), before.get(field) or (), strict=True)):
            problems += _removal_problems(f"spec.{field}[{number}].resources", container, was, "resource")
    for container, was in zip(spec["containers"], before["containers"], strict=True):
        if _others_changed(container, was):
            problems.append(forbidden("spec", _OTHERS))
    first = zip(spec.get("initContainers") or (), before.get("initContainers") or (), strict=True)
    for number, (container, was) in enumerate(first):
        problems += _init_problems(f"spec.initContainers[{number}]", container, was)
    return problems


def _pod_problems(new: Document, old: Document) -> list[str]:
    """Return the problems of a resize that concern the pod, not one container."""
    problems = []
    spec, before, status = new["spec"], old["spec"], old.get("status") or {}
    if (status.get("qosClass") or class_of_service(before)) != class_of_service(spec):
        why = "Pod QOS Class may not change as a result of resizing"
        problems.append(invalid("spec", status.get("qosClass") or "", why))
    running = [each for each in status.get("containerStatuses") or () if (each.get("state") or {}).get("running")]
    if running and running[0].get("resources") is None:
        problems.append(forbidden("spec", "Pod running on node without support for resize"))
    if before.get("resources") is not None:
        if spec.get("resources") is None:
            problems.append(forbidden("spec.resources", "pod-level resources cannot be removed"))
        else:
            problems += _removal_problems("spec.resources", spec, before, "pod-level resource")
    if _others_in(spec.get("resources")) != _others_in(before.get("resources")):
        problems.append(forbidden("spec", f"{_OTHERS} at pod-level"))
    if status.get("nodeAllocatableResourceClaimStatuses"):
        problems.append(forbidden("spec", "pods with node allocatable resource claims cannot be resized"))
    return problems


def _order_problems(field: str, spec: Document, before: Document) -> list[str]:
    names, known = _names(spec, field), _names(before, field)
    if len(names) != len(known):
        return [forbidden(f"spec.{field}", f"{field} may not be added or removed on resize")]
    why = f"{field} may not be renamed or reordered on resize"
    pairs = enumerate(zip(names, known, strict=True))
    return [forbidden(f"spec.{field}[{number}].name", why) for number, (name, was) in pairs if name != was]


def _removal_problems(path: str, holder: Document, was: Document, what: str) -> list[str]:
    return [
        forbidden(f"{path}.{kind}", f"{what} {kind} cannot be removed")
        for kind in _KINDS
        if resources_of(was, kind).keys() - resources_of(holder, kind).keys()
    ]


def _init_problems(path: str, container: Document, was: Document) -> list[str]:
    problems = []
    if _others_changed(container, was):
        why = "only cpu and memory resources for init or sidecar containers are mutable"
        problems.append(forbidden(path, why))
    restarts = any(each.get("restartPolicy") == "RestartContainer" for each in container.get("resizePolicy") or ())
    if restarts and container != was and container.get("restartPolicy") != "Always":
        why = "non-sidecar init containers with a resize policy of RestartContainer cannot be resized"
        problems.append(forbidden(path, why))
    return problems


def _names(spec: Document, field: str) -> list[str]:
    return [container.get("name") or "" for container in spec.get(field) or ()]


def _take(holder: Document, source: Document, fields: tuple[str, ...]) -> None:
    for field in fields:
        if source.get(field) is None:
            holder.pop(field, None)
        else:
            holder[field] = source[field]


def _others_changed(container: Document, was: Document) -> bool:
    """Return whether a container differs in more than cpu and memory."""
    rest = {field: value for field, value in container.items() if field != "resources"}
    rest_before = {field: value for field, value in was.items() if field != "resources"}
    return rest != rest_before or _others_in(container.get("resources")) != _others_in(was.get("resources"))


def _others_in(resources: Document | None) -> Document:
    """Return resource requirements without cpu and memory."""
    found: Document = {}
    for field, value in (resources or {}).items():
        rest = {name: amount for name, amount in value.items() if name not in _MUTABLE} if field in _KINDS else value
        if rest:
            found[field] = rest
    return found
