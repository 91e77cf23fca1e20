"""Cluster events, and the hints by which plugins say whether an event can help a pod.

From plugins (what they register for) to the queue. Names of resources and actions are the reference's.
"""

import functools
from collections.abc import Callable, Collection
from enum import Enum, IntFlag, StrEnum
from typing import Any, NamedTuple

from kubesched.core.cluster.pod_info import PodInfo


class Action(IntFlag):
    """What happened to an object."""

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
    """What it happened to. A registration for POD stands for all kinds of pods."""

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
    """Whether an event is worth another attempt."""

    QUEUE = "Queue"
    QUEUE_SKIP = "QueueSkip"

    @classmethod
    def when(cls, helps: bool) -> "Hint":
        """Return QUEUE if the event may help the pod."""
        return cls.QUEUE if helps else cls.QUEUE_SKIP


# (pod that was rejected, old object or None, new object or None) -> hint; raising counts as QUEUE.
# Objects are API structs; pods among them come as `PodInfo`. One answer serves all rejected pods of a template with the
# same labels (but for pods that claims are made for), so it must not depend on the pod's name, annotations or status.
HintFunction = Callable[[PodInfo, Any, Any], Hint]


class ClusterEvent(NamedTuple):
    """Something that happened, or (in a registration) all that is of interest."""

    resource: Resource | str
    action: Action

    # upstream: framework/types.go, MatchClusterEvents (v1.36)
    def matches(self, other: "ClusterEvent") -> bool:
        """Return whether this registration covers an event.

        An event is as specific as can be: a plain Update is none of the specific ones, so it is of interest only to
        those who registered for all updates.
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
    """What an event is about, and what a rejected pod waits for: only pods that have a name in common are asked.

    `of_event` gets the old and the new object; None means that the event may help any pod. `of_pod` depends on the pod
    alone. Names are what the plugin makes them, `namespace/name` of a claim for example.
    """

    of_event: Callable[[Any, Any], Collection[str] | None]
    of_pod: Callable[[PodInfo], Collection[str]]


class Registration(NamedTuple):
    """An event that can help pods which the plugin rejected, with the function that tells; None means: always.

    Where the event is about one of many objects, `subject` spares asking the pods that do not use it.
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
    """Return what is registered for those who cannot say what helps them; `pod_groups` is the GenericWorkload gate."""
    resources = (*_WATCHED_FOR_OTHERS, Resource.POD_GROUP) if pod_groups else _WATCHED_FOR_OTHERS
    return tuple(Registration(ClusterEvent(resource, Action.ALL)) for resource in resources)
