"""What a rejected pod waits for: the events after which the scheduler tries it again, by plugin.

From the registrations of the plugins that rejected it to events with their meaning in plain words.
"""

from collections.abc import Collection, Iterator
from typing import Final

from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.values.events import Action, ClusterEvent, Resource
from kubesched.core.queue.queueing_hints import HintOptions, registrations_of
from kubesched.core.queue.scheduling_queue import FLUSH_AFTER_SECONDS
from kubesched.model.cluster_model import ClusterModel
from kubesched_answers.explain.pod_answer import PodWaits, WakingEvent

_NOUNS: Final = {
    Resource.POD: "a pod",
    Resource.ASSIGNED_POD: "a pod on a node",
    Resource.UNSCHEDULED_POD: "a pending pod",
    Resource.NODE: "a node",
    Resource.PERSISTENT_VOLUME: "a PersistentVolume",
    Resource.PERSISTENT_VOLUME_CLAIM: "a PersistentVolumeClaim",
    Resource.CSI_NODE: "a CSINode",
    Resource.CSI_DRIVER: "a CSIDriver",
    Resource.VOLUME_ATTACHMENT: "a VolumeAttachment",
    Resource.CSI_STORAGE_CAPACITY: "a CSIStorageCapacity",
    Resource.STORAGE_CLASS: "a StorageClass",
    Resource.RESOURCE_CLAIM: "a ResourceClaim",
    Resource.RESOURCE_SLICE: "a ResourceSlice",
    Resource.DEVICE_CLASS: "a DeviceClass",
    Resource.DEVICE_TAINT_RULE: "a DeviceTaintRule",
    Resource.POD_GROUP: "a PodGroup",
    Resource.WILDCARD: "any object",
}
_VERBS: Final = {
    Action.ADD: "{} is added",
    Action.DELETE: "{} is deleted",
    Action.UPDATE: "{} is changed",
    Action.UPDATE_NODE_ALLOCATABLE: "the allocatable resources of {} change",
    Action.UPDATE_NODE_LABEL: "the labels of {} change",
    Action.UPDATE_NODE_TAINT: "the taints of {} change, or it is uncordoned",
    Action.UPDATE_NODE_CONDITION: "the conditions of {} change",
    Action.UPDATE_NODE_ANNOTATION: "the annotations of {} change",
    Action.UPDATE_NODE_DECLARED_FEATURE: "the declared features of {} change",
    Action.UPDATE_POD_LABEL: "the labels of {} change",
    Action.UPDATE_POD_SCALE_DOWN: "the requests of {} become less",
    Action.UPDATE_POD_TOLERATION: "the tolerations of {} change",
    Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED: "the scheduling gates of {} are removed",
    Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM: "a ResourceClaim is generated for {}",
}
# changes of the waiting pod itself
_OF_THE_POD: Final = (
    Action.UPDATE_POD_TOLERATION,
    Action.UPDATE_POD_SCHEDULING_GATES_ELIMINATED,
    Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM,
)


def waits_of(model: ClusterModel, profile: Profile, plugins: Collection[str]) -> PodWaits:
    """Return the events that may help a pod which some plugins rejected."""
    gates = model.loaded.gates
    options = HintOptions(
        extenders=bool(model.loaded.config.extenders),
        pod_groups=gates.enabled("GenericWorkload"),
        hints=gates.enabled("SchedulerQueueingHints"),
    )
    found: dict[tuple[str, str], WakingEvent] = {}
    for registered in registrations_of(profile, options):
        if registered.plugin in plugins:
            for event in _single(registered.event):
                text = event.label
                found.setdefault((registered.plugin, text), WakingEvent(registered.plugin, text, meaning_of(event)))
    events = sorted(found.values(), key=lambda each: each.plugin)
    return PodWaits(tuple(events), at_latest_seconds=FLUSH_AFTER_SECONDS)


def meaning_of(event: ClusterEvent) -> str:
    """Return an event in plain words: `a node is added`."""
    own = event.resource == Resource.POD and event.action in _OF_THE_POD
    noun = "the pod" if own else _NOUNS.get(Resource(event.resource), "") if event.resource in _NOUNS else ""
    return _VERBS[event.action].format(noun or f"an object of {event.resource}")


def _single(event: ClusterEvent) -> Iterator[ClusterEvent]:
    """Yield the single events of a registration; all updates together are one."""
    left = event.action
    for action in (Action.ADD, Action.DELETE, Action.UPDATE):
        if left & action == action:
            yield ClusterEvent(event.resource, action)
            left &= ~action
    for action in Action:
        if left & action:
            yield ClusterEvent(event.resource, action)
