"""TopologicalSort: the pods of an AppGroup are tried in the order of their workloads' dependencies.

From a pod's priority, its AppGroup and its workload to a key. Pods of one AppGroup and priority are adjacent in the
queue, at the creation time of the AppGroup.
"""

from dataclasses import dataclass, field
from logging import Logger

from kubesched import ClusterView, PodInfo, QueueSortPlugin, Waits
from kubesched_contrib.network_aware.app_group import KIND, UNORDERED, group_of, read_app_group, workload_of
from kubesched_contrib.read_objects import ReadObjects


@dataclass(frozen=True)
class TopologicalSortArgs:
    """The namespaces of AppGroups."""

    namespaces: tuple[str, ...] = field(default=("default",))

    def __post_init__(self) -> None:
        if not self.namespaces:
            raise ValueError("namespaces: the list is empty; name a namespace, or leave the field out")


class TopologicalSort(QueueSortPlugin):
    """Orders pods by priority, then by time; pods of an AppGroup by its order."""

    name = "TopologicalSort"
    looks_up = (KIND,)

    def __init__(
        self, cluster: ClusterView, waits: Waits, log: Logger, args: TopologicalSortArgs | None = None
    ) -> None:
        args = args or TopologicalSortArgs()
        self._namespaces = args.namespaces
        self._groups = ReadObjects(cluster, KIND, read_app_group, log)
        self._waits = waits
        # offset between the queue's clock and the date; taken once, so that all pods of a group get the same time
        self._epoch: float | None = None

    def sort_key(self, pod: PodInfo, timestamp: float) -> tuple[float, ...]:
        """Return the priority, the time of the group (or the pod), and the pod's place in the group."""
        name = group_of(pod)
        group = self._groups.first_of(self._namespaces, name) if name else None
        if group is None or group.created is None:
            return (-pod.priority, timestamp)
        if self._epoch is None:
            self._epoch = self._waits.date().timestamp() - self._waits.now()
        place = group.order.get(workload_of(pod), UNORDERED)
        return (-pod.priority, group.created.timestamp() - self._epoch, place, timestamp)
