"""Queueing hints for a pod that was rejected because of its claims.

From an event's old and new object to whether the pod may become schedulable.
"""

# upstream: dynamicresources.go, EventsToRegister, isSchedulableAfterClaimChange, isSchedulableAfterPodChange (v1.36)

from collections.abc import Collection, Sequence

from kubesched.api.devices import ResourceClaim
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource, Subject
from kubesched.core.plugins.dynamic_resources.pod_claims import NotReadyError, PodClaimFinder, used_claim_names


class DeviceHints:
    """The plugin's hints."""

    def __init__(self, finder: PodClaimFinder) -> None:
        self._finder = finder

    def registrations(self) -> Sequence[Registration]:
        """Return the events that can make devices available."""
        changed = Action.ADD | Action.UPDATE
        node_actions = Action.ADD | Action.UPDATE_NODE_LABEL | Action.UPDATE_NODE_ALLOCATABLE
        return (
            Registration(ClusterEvent(Resource.NODE, node_actions)),
            Registration(ClusterEvent(Resource.RESOURCE_CLAIM, changed), self.after_claim_change, USED_CLAIMS),
            Registration(ClusterEvent(Resource.POD, Action.UPDATE_POD_GENERATED_RESOURCE_CLAIM), self.after_pod_change),
            Registration(ClusterEvent(Resource.DEVICE_CLASS, changed)),
            Registration(ClusterEvent(Resource.RESOURCE_SLICE, changed)),
        )

    def after_claim_change(self, pod: PodInfo, old: ResourceClaim | None, new: ResourceClaim) -> Hint:
        """Return whether a new or changed claim helps: it is the pod's, or its devices were deallocated."""
        try:
            uses_it = any(claim.uid == new.uid for claim in self._finder.claims(pod))
        except NotReadyError:
            return Hint.QUEUE_SKIP
        if _let_go(old, new):
            return Hint.QUEUE
        if not uses_it or (old is not None and old.status == new.status):
            return Hint.QUEUE_SKIP
        return Hint.QUEUE

    def after_pod_change(self, pod: PodInfo, old: PodInfo | None, new: PodInfo) -> Hint:
        """Return whether the pod's own claims exist now."""
        if pod.uid != new.uid:
            return Hint.QUEUE_SKIP
        try:
            self._finder.claims(new)
        except NotReadyError:
            return Hint.QUEUE_SKIP
        return Hint.QUEUE


def _let_go(old: ResourceClaim | None, new: ResourceClaim) -> bool:
    """Return whether a claim was deallocated: any pod may need its devices."""
    return old is not None and old.status.allocation is not None and new.status.allocation is None


def _changed(old: ResourceClaim | None, new: ResourceClaim) -> Collection[str] | None:
    return None if _let_go(old, new) else (new.full_name,)


USED_CLAIMS = Subject(_changed, used_claim_names)
