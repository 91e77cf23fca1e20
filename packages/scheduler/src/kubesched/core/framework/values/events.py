"""Cluster events, and queueing hints: whether an event can make a rejected pod schedulable.

From the registrations of plugins to the queue. Names of resources and actions are the reference's.
"""

import functools
from collections.abc import Callable, Collection
from enum import Enum, IntFlag, StrEnum
from typing import Any, NamedTuple

from kubesched.core.cluster.pod_info import PodInfo


class Action(IntFlag):
    """The change of an object."""

    ADD = 1
    DELETE = 2
    UPDATE_NODE_ALLOCATABLE = 4
    UPDATE_NODE_LABEL = 8
    UPDATE_NODE_TAINT = 16
    UPDATE_NODE_CONDITION = 32
    UPDATE_NODE_ANNOTATION = 64
    UPDATE_NODE_DECLARED_FEATURE = 128
    UPDATE_POD_LABEL = 256
    UPDATE_POD_SCALE_DOWN = 512
    UPDATE_POD_TOLERATION = 1024
    UPDATE_POD_SCHEDULING_GATES_ELIMINATED = 2048
    UPDATE_POD_GENERATED_RESOURCE_CLAIM = 4096

    UPDATE = (
        UPDATE_NODE_ALLOCATABLE
        | UPDATE_NODE_LABEL
        | UPDATE_NODE_TAINT
        | UPDATE_NODE_CONDITION
        | UPDATE_NODE_ANNOTATION
        | UPDATE_NODE_DECLARED_FEATURE
        | UPDATE_POD_LABEL
        | UPDATE_POD_SCALE_DOWN
        | UPDATE_POD_TOLERATION
        | UPDATE_POD_SCHEDULING_GATES_ELIMINATED
        | UPDATE_POD_GENERATED_RESOURCE_CLAIM
    )
    ALL = ADD | DELETE | UPDATE

    @property
    def text(self) -> str:
        """Return the action as the reference writes it; only single actions, Update and All have a name."""
        name = self.name or ""
        return "" if "|" in name else "".join(word.capitalize() for word in name.split("_"))


class Resource(StrEnum):
    """The resource that changed. A registration for POD covers assigned and unscheduled pods."""

    POD = "Pod"
    ASSIGNED_POD = "AssignedPod"
    UNSCHEDULED_POD = "UnschedulablePod"
    NODE = "Node"
    PERSISTENT_VOLUME = "PersistentVolume"
    PERSISTENT_VOLUME_CLAIM = "PersistentVolumeClaim"
    CSI_NODE = "storage.k8s.io/CSINode"
    CSI_DRIVER = "storage.k8s.io/CSIDriver"
    VOLUME_ATTACHMENT = "storage.k8s.io/VolumeAttachment"
    CSI_STORAGE_CAPACITY = "storage.k8s.io/CSIStorageCapacity"
    STORAGE_CLASS = "storage.k8s.io/StorageClass"
    RESOURCE_CLAIM = "resource.k8s.io/ResourceClaim"
    RESOURCE_SLICE = "resource.k8s.io/ResourceSlice"
    DEVICE_CLASS = "resource.k8s.io/DeviceClass"
    DEVICE_TAINT_RULE = "resource.k8s.io/DeviceTaintRule"
    POD_GROUP = "scheduling.k8s.io/PodGroup"
    WILDCARD = "*"


class Hint(Enum):
    """Whether an event may make a pod schedulable."""

    QUEUE = "Queue"
    QUEUE_SKIP = "QueueSkip"

    @classmethod
    def when(cls, helps: bool) -> "Hint":
        """Return QUEUE if the event may help the pod."""
        return cls.QUEUE if helps else cls.QUEUE_SKIP


# (rejected pod, old object or None, new object or None) -> hint; an exception counts as QUEUE.
# Objects are API structs, except pods, which come as `PodInfo`. The scheduler asks once for all rejected pods with the
# same specification and labels (except pods with generated claims), so the hint must not depend on the pod's name,
# annotations or status.
HintFunction = Callable[[PodInfo, Any, Any], Hint]


class ClusterEvent(NamedTuple):
    """An event, or (in a registration) all events that it covers."""

    resource: Resource | str
    action: Action

    # upstream: framework/types.go, MatchClusterEvents (v1.36)
    def matches(self, other: "ClusterEvent") -> bool:
        """Return whether this registration covers an event.

        Events are as specific as possible: a plain Update is none of the specific actions, so that only registrations
        for all updates cover it.
        """
        if self.resource != Resource.WILDCARD and self.resource != other.resource:
            pods = (Resource.ASSIGNED_POD, Resource.UNSCHEDULED_POD)
            if not (self.resource == Resource.POD and other.resource in pods):
                return False
        return other.action & ~self.action == 0

    @property
    def label(self) -> str:
        """Return the event as metrics and logs name it."""
        return _label(self.resource, self.action)


@functools.cache
def _label(resource: str, action: Action) -> str:
    return f"{resource}{action.text}"


class Subject(NamedTuple):
    """Names of the objects that an event concerns and that a rejected pod waits for: hints run only if they overlap.

    `of_event` gets the old and the new object; None means that the event may help any pod. `of_pod` depends on the pod
    alone. The plugin defines the names, `namespace/name` of a claim for example.
    """

    of_event: Callable[[Any, Any], Collection[str] | None]
    of_pod: Callable[[PodInfo], Collection[str]]


class Registration(NamedTuple):
    """An event that can help pods which the plugin rejected, with a hint: a function that decides for each pod.

    `hint(pod, old, new)` returns a `Hint`; without a hint the event always wakes the pod. `pod` is the rejected pod as
    `PodInfo`. `old` and `new` are the object before and after the event: `old` is None when it was added, `new` is None
    when it was deleted. Pods come as `PodInfo`, other objects as API structs. A hint that raises counts as QUEUE. One
    answer serves all rejected pods with the same specification and labels, so a hint must not read the name, the
    annotations or the status of `pod`.

    If the event concerns one of many objects, `subject` excludes the pods that do not use it.
    """

    event: ClusterEvent
    hint: HintFunction | None = None
    subject: Subject | None = None


# upstream: framework/types.go, UnrollWildCardResource (v1.36)
_WATCHED_FOR_OTHERS = (
    Resource.POD,
    Resource.NODE,
    Resource.PERSISTENT_VOLUME,
    Resource.PERSISTENT_VOLUME_CLAIM,
    Resource.CSI_NODE,
    Resource.CSI_DRIVER,
    Resource.CSI_STORAGE_CAPACITY,
    Resource.STORAGE_CLASS,
    Resource.RESOURCE_CLAIM,
    Resource.DEVICE_CLASS,
)


def registrations_for_extenders(*, pod_groups: bool) -> tuple[Registration, ...]:
    """Return the registrations for extenders: all events; `pod_groups` is the GenericWorkload gate."""
    resources = (*_WATCHED_FOR_OTHERS, Resource.POD_GROUP) if pod_groups else _WATCHED_FOR_OTHERS
    return tuple(Registration(ClusterEvent(resource, Action.ALL)) for resource in resources)
