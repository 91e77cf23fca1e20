"""The cluster events of an update of a pod or a node.

From two versions of an object to events, in the reference's order. Pure functions. An update of a node in fields that
scheduling does not read (a heartbeat) is no event; such an update of a pod is a plain Update, which matches only
registrations for all updates.
"""

# upstream: framework/events.go (v1.36)

from collections.abc import Iterator

from kubesched.api.meta import ResourceList
from kubesched.api.nodes import Node, NodeCondition
from kubesched.api.pods import Pod
from kubesched.api.quantity import quantity_of
from kubesched.api.resources import report_same_resources, reported_resources, scaling_request
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.pod_info import request_options
from kubesched.core.framework.values.events import Action, ClusterEvent, Resource


def pod_events(old: Pod, new: Pod, gates: FeatureGates) -> list[ClusterEvent]:
    """Return the events of a pod's update, at least one."""
    resource = Resource.ASSIGNED_POD if new.spec.node_name else Resource.UNSCHEDULED_POD
    return [ClusterEvent(resource, action) for action in _pod_actions(old, new, gates)] or [
        ClusterEvent(resource, Action.UPDATE)
    ]


# upstream: backend/queue/scheduling_queue.go, isPodUpdated (v1.36)
def is_pod_updated(old: Pod, new: Pod) -> bool:
    """Return whether an update of a waiting pod may have made it schedulable, judged without hints.

    Its status does not count, except for the claims that were generated for it.
    """
    meta, before = new.metadata, old.metadata
    return (
        (meta.labels, meta.annotations, meta.owner_references, meta.deletion_timestamp)
        != (before.labels, before.annotations, before.owner_references, before.deletion_timestamp)
        or new.spec != old.spec
        or _generated_claims(old) != _generated_claims(new)
    )


def node_events(old: Node, new: Node, gates: FeatureGates) -> list[ClusterEvent]:
    """Return the events of a node's update; none if no field that scheduling reads changed."""
    return [ClusterEvent(Resource.NODE, action) for action in _node_actions(old, new, gates)]


def _pod_actions(old: Pod, new: Pod, gates: FeatureGates) -> Iterator[Action]:
    if old.metadata.labels != new.metadata.labels:
        yield Action.UPDATE_POD_LABEL
    if _scaled_down(old, new, gates):
        yield Action.UPDATE_POD_SCALE_DOWN
    if old.spec.scheduling_gates and not new.spec.scheduling_gates:
        yield Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED
    # Tolerations can only be added, so comparing their number is enough.
    if len(old.spec.tolerations) != len(new.spec.tolerations):
        yield Action.UPDATE_POD_TOLERATION
    if gates.enabled("DynamicResourceAllocation") and _generated_claims(old) != _generated_claims(new):
        yield Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM


def _node_actions(old: Node, new: Node, gates: FeatureGates) -> Iterator[Action]:
    if old.spec.unschedulable and not new.spec.unschedulable:
        # The same action as for taints, which may follow once more.
        yield Action.UPDATE_NODE_TAINT
    if not _same_amounts(old.status.allocatable, new.status.allocatable):
        yield Action.UPDATE_NODE_ALLOCATABLE
    if old.metadata.labels != new.metadata.labels:
        yield Action.UPDATE_NODE_LABEL
    if old.spec.taints != new.spec.taints:
        yield Action.UPDATE_NODE_TAINT
    if _statuses(old.status.conditions) != _statuses(new.status.conditions):
        yield Action.UPDATE_NODE_CONDITION
    if old.metadata.annotations != new.metadata.annotations:
        yield Action.UPDATE_NODE_ANNOTATION
    if gates.enabled("NodeDeclaredFeatures") and old.status.declared_features != new.status.declared_features:
        yield Action.UPDATE_NODE_DECLARED_FEATURE


def _scaled_down(old: Pod, new: Pod, gates: FeatureGates) -> bool:
    """Return whether any request became smaller or was dropped."""
    # Summing quantities is expensive, and almost no update changes them.
    if old.spec is new.spec:
        if report_same_resources(old, new):
            return False
    elif _resource_parts(old) == _resource_parts(new):
        return False
    options = request_options(gates)
    new_requests = scaling_request(new, options)
    for name, request in scaling_request(old, options).items():
        if name not in new_requests or request.milli_value() > new_requests[name].milli_value():
            return True
    return False


def _resource_parts(pod: Pod) -> tuple[object, ...]:
    """Return all fields that a pod's requests depend on."""
    spec = pod.spec
    return spec.containers, spec.init_containers, spec.overhead, spec.resources, *reported_resources(pod)


def _generated_claims(pod: Pod) -> tuple[object, ...]:
    return pod.status.resource_claim_statuses, pod.status.extended_resource_claim_status


def _same_amounts(old: ResourceList, new: ResourceList) -> bool:
    """Return whether two lists offer the same amounts, however they are written."""
    return old == new or (
        old.keys() == new.keys() and all(quantity_of(old[name]) == quantity_of(new[name]) for name in old)
    )


def _statuses(conditions: tuple[NodeCondition, ...]) -> dict[str, str]:
    """Return the conditions without the fields that heartbeats change."""
    return {condition.type: condition.status for condition in conditions}
