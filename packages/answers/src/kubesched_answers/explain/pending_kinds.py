"""The pending pods, by kind: pods of one kind differ for plugins only in their names.

From the model to kinds, each with its pods in the order of the scheduling queue; one evaluation answers for all pods
of a kind.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.cluster.table import NATIVE
from kubesched.core.framework.values.queue_order import active_order
from kubesched.model.cluster_model import ClusterModel

POD_SCHEDULED = "PodScheduled"


@dataclass(frozen=True, slots=True, eq=False)
class PodKind:
    """Equal pods, in the order of the queue."""

    pods: tuple[PodInfo, ...]

    @property
    def pod(self) -> PodInfo:
        """Return the pod that represents all."""
        return self.pods[0]


def pending_kinds(model: ClusterModel) -> list[PodKind]:
    """Return the kinds of the pods without a node, in the order of the scheduling queue."""
    pods = sorted((pod for pod in model.pods.values() if not pod.spec.node_name), key=queue_order)
    return kinds_of(pods)


def kinds_of(pods: Iterable[PodInfo]) -> list[PodKind]:
    """Return pods by kind, in their order."""
    kinds: dict[object, list[PodInfo]] = {}
    for pod in pods:
        # the digest covers the spec and the namespace
        key = (
            id(pod.digest),
            tuple(sorted(pod.labels.items())),
            pod.status.nominated_node_name,
            pod.status.resource_claim_statuses,
            pod.terminating,
        )
        kinds.setdefault(key, []).append(pod)
    return [PodKind(tuple(members)) for members in kinds.values()]


def since(pod: PodInfo) -> datetime | None:
    """Return when a pod became pending: the time of its condition, else of its creation."""
    for condition in pod.status.conditions:
        if condition.type == POD_SCHEDULED and condition.status == "False" and condition.last_transition_time:
            return condition.last_transition_time
    return pod.metadata.creation_timestamp


def requests_of(pod: PodInfo) -> dict[str, int]:
    """Return the resources that a pod requests, in the units of the table."""
    resources = pod.resources
    native = (resources.milli_cpu, resources.memory, resources.ephemeral_storage)
    amounts = {name: amount for name, amount in zip(NATIVE, native, strict=True) if amount}
    return {**amounts, **resources.scalar}


def queue_order(pod: PodInfo) -> tuple[int, float, str]:
    """Return the sort key of a pod in the scheduling queue: priority, then waiting time, then name."""
    waits = since(pod)
    return (*active_order(pod.priority, waits.timestamp() if waits is not None else 0.0), pod.full_name)
