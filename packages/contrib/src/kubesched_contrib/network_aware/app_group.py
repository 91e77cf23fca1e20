"""AppGroups: the workloads of an application, their dependencies, and the best order to place them.

From a custom object to an `AppGroupSpec`. The order is that in `status.topologyOrder`, which the controller of
scheduler-plugins writes; without it, it is computed here.
"""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from kubesched import PodInfo
from kubesched_contrib.object_fields import object_in, objects_in, text_in, whole_number_in

KIND = "appgroups.v1alpha1.appgroup.diktyo.x-k8s.io"
LABEL = "appgroup.diktyo.x-k8s.io"
WORKLOAD_LABEL = "appgroup.diktyo.x-k8s.io.workload"
UNORDERED = -1


class WorkloadDependency(NamedTuple):
    """A workload that another one communicates with, and the highest network cost between them."""

    selector: str
    max_network_cost: int


class AppGroupSpec(NamedTuple):
    """The dependencies of each workload, and its place in the order, by selector."""

    created: datetime | None
    dependencies: Mapping[str, tuple[WorkloadDependency, ...]]
    order: Mapping[str, int]


def group_of(pod: PodInfo) -> str:
    """Return the name of a pod's AppGroup, or an empty text."""
    return pod.labels.get(LABEL, "")


def workload_of(pod: PodInfo) -> str:
    """Return the selector of a pod's workload, or an empty text."""
    return pod.labels.get(WORKLOAD_LABEL, "")


def read_app_group(obj: Any) -> AppGroupSpec:
    """Return the parsed fields of an AppGroup; raises InvalidObjectError if it is invalid."""
    spec = object_in(obj.fields, "spec")
    dependencies: dict[str, tuple[WorkloadDependency, ...]] = {}
    for index, workload in enumerate(objects_in(spec, "workloads", "spec")):
        path = f"spec.workloads[{index}]"
        named = tuple(
            WorkloadDependency(
                _selector(each, f"{path}.dependencies[{number}]"),
                whole_number_in(each, "maxNetworkCost", f"{path}.dependencies[{number}]", 0),
            )
            for number, each in enumerate(objects_in(workload, "dependencies", path))
        )
        selector = _selector(workload, path)
        dependencies[selector] = dependencies.get(selector, ()) + named
    algorithm = text_in(spec, "topologySortingAlgorithm", "spec")
    computed = enumerate(topology_order(dependencies, algorithm), 1)
    order = _written_order(obj) or {name: place for place, name in computed}
    return AppGroupSpec(obj.metadata.creation_timestamp, dependencies, order)


def topology_order(dependencies: Mapping[str, Sequence[WorkloadDependency]], algorithm: str) -> list[str]:
    """Return the workloads in topological order, dependents first; cyclic ones come last.

    An algorithm that begins with Reverse reverses the order; one with Alternate takes the first, the last, the
    second, and so on. The choice of the sort algorithm makes no difference here.
    """
    waiting = dict.fromkeys(dependencies, 0)
    for needed in dependencies.values():
        for dependency in needed:
            waiting[dependency.selector] = waiting.get(dependency.selector, 0) + 1
    found: list[str] = []
    ready = [name for name, count in waiting.items() if not count]
    while ready:
        name = ready.pop(0)
        found.append(name)
        for dependency in dependencies.get(name, ()):
            waiting[dependency.selector] -= 1
            if not waiting[dependency.selector]:
                ready.append(dependency.selector)
    placed = set(found)
    found += [name for name in waiting if name not in placed]
    if algorithm.startswith("Reverse"):
        return found[::-1]
    if algorithm.startswith("Alternate"):
        turns = [name for pair in zip(found, reversed(found), strict=True) for name in pair]
        return turns[: len(found)]
    return found


def _written_order(obj: Any) -> dict[str, int]:
    status = object_in(obj.fields, "status")
    return {
        _selector(entry, f"status.topologyOrder[{index}]"): whole_number_in(
            entry, "index", f"status.topologyOrder[{index}]", 0
        )
        for index, entry in enumerate(objects_in(status, "topologyOrder", "status"))
    }


def _selector(holder: Mapping[str, Any], path: str) -> str:
    return text_in(object_in(holder, "workload", path), "selector", f"{path}.workload")
