"""Queueing hints for a pod that did not fit: deleted or scaled-down pods, new or larger nodes, device classes.

From events to hints. Only the objects of the event are considered, as if the node were empty; resources that the filter
ignores count here.
"""

# upstream: noderesources/fit.go, isSchedulableAfter... (v1.36)

from collections.abc import Mapping

from kubesched.api.devices import DeviceClass
from kubesched.api.nodes import Node
from kubesched.api.quantity import milli_value_of, value_of
from kubesched.api.resources import (
    CPU,
    EPHEMERAL_STORAGE,
    MEMORY,
    PODS,
    RequestOptions,
    Resources,
    filter_request,
    is_scalar_resource,
    not_negative,
    pod_requests,
    scaling_request,
)
from kubesched.core.cluster.devices.device_classes import IMPLICIT_PREFIX, DeviceClasses
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource


class FitHints:
    """The hint functions; `device_classes` is None if extended resources are not backed by devices."""

    def __init__(self, options: RequestOptions, device_classes: DeviceClasses | None) -> None:
        self._options = options
        self._device_classes = device_classes

    def registrations(self, *, queueing_hints: bool) -> tuple[Registration, ...]:
        """Return the events that can help."""
        pods = Action.DELETE
        if self._options.in_place_pod_vertical_scaling:
            pods |= Action.UPDATE_POD_SCALE_DOWN
        nodes = Action.ADD | Action.UPDATE_NODE_ALLOCATABLE
        if not queueing_hints:
            # the addition of a node may be missed then
            nodes |= Action.UPDATE_NODE_TAINT | Action.UPDATE_NODE_LABEL
        found = [
            Registration(ClusterEvent(Resource.POD, pods), self.after_pod),
            Registration(ClusterEvent(Resource.NODE, nodes), self.after_node),
        ]
        if self._device_classes is not None:
            classes = ClusterEvent(Resource.DEVICE_CLASS, Action.ADD | Action.UPDATE)
            found.append(Registration(classes, self.after_device_class))
        return tuple(found)

    # -- pods

    def after_pod(self, pod: PodInfo, old: PodInfo | None, new: PodInfo | None) -> Hint:
        """Return whether a deleted or scaled-down pod frees resources."""
        if new is None:
            held_room = old is not None and bool(old.spec.node_name or old.status.nominated_node_name)
            return Hint.when(held_room)
        if old is None or not self._options.in_place_pod_vertical_scaling:
            return Hint.QUEUE_SKIP
        return Hint.when(new.uid == pod.uid or (bool(new.spec.node_name) and self._shrank(pod, old, new)))

    def _shrank(self, pod: PodInfo, old: PodInfo, new: PodInfo) -> bool:
        """Return whether another pod now requests less of a resource that the pod requests."""
        before, after = (by_name(not_negative(scaling_request(each.pod, self._options))) for each in (old, new))
        wanted = scaling_request(pod.pod, self._options)
        return any(before.get(name, 0) > after.get(name, 0) for name, amount in wanted.items() if not amount.is_zero())

    # -- nodes

    def after_node(self, pod: PodInfo, old: Node | None, new: Node | None) -> Hint:
        """Return whether the pod fits the empty node, and the node is new or has more of a requested resource."""
        if new is None:
            return Hint.QUEUE_SKIP
        request = by_name(filter_request(pod.pod, self._options))
        offered = _offered(new)
        return Hint.when(self._fits(request, offered) and (old is None or self._grew(request, _offered(old), offered)))

    def _fits(self, request: Mapping[str, int], offered: Mapping[str, int]) -> bool:
        return offered.get(PODS, 0) >= 1 and all(
            amount <= offered.get(name, 0) or self._delegated(name, offered) for name, amount in request.items()
        )

    def _grew(self, request: Mapping[str, int], before: Mapping[str, int], after: Mapping[str, int]) -> bool:
        return after.get(PODS, 0) > before.get(PODS, 0) or any(
            after.get(name, 0) > before.get(name, 0) or self._delegated(name, after) for name in request
        )

    def _delegated(self, resource: str, offered: Mapping[str, int]) -> bool:
        """Return whether a resource is left to the devices of a class, since the node does not offer it."""
        return (
            self._device_classes is not None
            and is_scalar_resource(resource)
            and offered.get(resource, 0) <= 0
            and self._device_classes.of_resource(resource) is not None
        )

    # -- device classes

    def after_device_class(self, pod: PodInfo, old: DeviceClass | None, new: DeviceClass | None) -> Hint:
        """Return whether a class now backs a resource that the pod requests."""
        if new is None:
            return Hint.QUEUE_SKIP
        explicit = new.spec.extended_resource_name
        requested = pod_requests(pod.pod)
        if old is None:
            return Hint.when(IMPLICIT_PREFIX + new.metadata.name in requested or explicit in requested)
        return Hint.when((old.spec.extended_resource_name or "") != (explicit or "") and explicit in requested)


def by_name(resources: Resources) -> dict[str, int]:
    """Return amounts by resource name, without zeros."""
    native = {
        CPU: resources.milli_cpu,
        MEMORY: resources.memory,
        EPHEMERAL_STORAGE: resources.ephemeral_storage,
    }
    return {name: amount for name, amount in {**native, **resources.scalar}.items() if amount}


def _offered(node: Node) -> dict[str, int]:
    """Return a node's allocatable amounts by resource name; pods are counted as `pods`."""
    return {
        name: milli_value_of(raw) if name == CPU else value_of(raw) for name, raw in node.status.allocatable.items()
    }
