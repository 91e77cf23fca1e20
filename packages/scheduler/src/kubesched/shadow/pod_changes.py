"""The meaning of a change of an object for a scheduler.

From two versions of an object to the decision that they show, and to whether the scheduler reads the difference.
"""

from typing import Final, NamedTuple

import msgspec

from kubesched.api.meta import ApiObject, Condition
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod

SCHEDULED: Final = "PodScheduled"
UNSCHEDULABLE: Final = "Unschedulable"
SCHEDULER_ERROR: Final = "SchedulerError"


class WrittenDecision(NamedTuple):
    """A decision of the cluster's scheduler, as written: a node, or the reason and the message of a failure.

    A decision with both a node and a message is one of two cases. A pod that failed before is nominated to a node where
    it fits now; or, with the same message again, to a node where other pods are evicted for it.
    """

    node: str = ""
    reason: str = ""
    message: str = ""


def decision_in(before: Pod, after: Pod) -> WrittenDecision | None:
    """Return the decision that a change of a pod shows, None if it shows none.

    The binding shows the node of a pod; if PreBind takes time, a nomination without a failure shows it earlier.
    """
    if before.spec.node_name:
        return None
    if after.spec.node_name:
        return WrittenDecision(after.spec.node_name)
    new = scheduled_condition(after)
    if fails(before, after) and new is not None:
        return WrittenDecision("", new.reason, new.message)
    nominated = after.status.nominated_node_name
    if nominated and nominated != before.status.nominated_node_name and scheduled_condition(before) == new:
        return WrittenDecision(nominated, "", new.message if has_failed(after) and new is not None else "")
    return None


def fails(before: ApiObject | None, after: Pod) -> bool:
    """Return whether a change shows an attempt that failed."""
    old, new = scheduled_condition(before) if isinstance(before, Pod) else None, scheduled_condition(after)
    if new is None or not has_failed(after):
        return False
    return old is None or (old.reason, old.message) != (new.reason, new.message)


def placed(pod: Pod, node: str) -> Pod:
    """Return a copy of a pod that is bound to a node."""
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, node_name=node))


def scheduled_condition(pod: Pod) -> Condition | None:
    """Return the pod's condition PodScheduled."""
    return next((each for each in pod.status.conditions if each.type == SCHEDULED), None)


def has_failed(pod: Pod) -> bool:
    """Return whether the scheduler has tried a pod, and found no node."""
    condition = scheduled_condition(pod)
    return (
        condition is not None and condition.status == "False" and condition.reason in (UNSCHEDULABLE, SCHEDULER_ERROR)
    )


def is_own_write(before: ApiObject | None, after: ApiObject | None) -> bool:
    """Return whether a change is the kind of write that schedulers make: a binding, or a nomination."""
    if not isinstance(before, Pod) or not isinstance(after, Pod) or before.spec.node_name:
        return False
    nominated = after.status.nominated_node_name
    return bool(after.spec.node_name) or (bool(nominated) and nominated != before.status.nominated_node_name)


def matters(before: ApiObject | None, after: ApiObject | None) -> bool:
    """Return whether a change may affect a decision; the arrival of a pod and changed conditions do not."""
    if isinstance(before, Node) and isinstance(after, Node):
        return _offer(before) != _offer(after)
    if not isinstance(before, Pod) and not isinstance(after, Pod):
        return before != after
    if before is None or after is None:
        present = before if after is None else after
        assert isinstance(present, Pod)
        return bool(present.spec.node_name or present.status.nominated_node_name)
    assert isinstance(before, Pod)
    assert isinstance(after, Pod)
    return _account(before) != _account(after)


def _offer(node: Node) -> tuple[object, ...]:
    meta = node.metadata
    status = msgspec.structs.replace(node.status, conditions=())
    return meta.uid, meta.labels, meta.annotations, node.spec, status


def _account(pod: Pod) -> tuple[object, ...]:
    meta, status = pod.metadata, pod.status
    claims = status.resource_claim_statuses, status.extended_resource_claim_status
    sizes = status.resize, status.resources, status.allocated_resources, status.container_statuses
    return meta.uid, meta.labels, meta.deletion_timestamp, pod.spec, status.nominated_node_name, claims, sizes
