"""Event handlers: apply added, changed and deleted objects to the cluster and the queue.

From the informers' reports to the table, and to the cluster events that requeue pods. Called only between cycles.
Reports may be late, repeated or missing: each is compared, by UID, with the object of the last report.
"""

# upstream: eventhandlers.go (v1.36)

from collections.abc import Callable, Collection

from kubesched.api.devices import DeviceTaintRule, ResourceSlice
from kubesched.api.meta import ApiObject
from kubesched.api.nodes import Node
from kubesched.api.pods import Pod
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.cluster.cluster import ClusterState
from kubesched.core.cluster.kept_fields import is_report
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observing.observer import NOBODY, Observers
from kubesched.core.framework.services.waiting_pods import NoWaitingPods, WaitingPods
from kubesched.core.framework.values.events import Action, ClusterEvent, Resource
from kubesched.core.queue.scheduling_queue import WAITING_POD_ADDED, WAITING_POD_UPDATED, SchedulingQueue
from kubesched.core.queue.update_events import node_events, pod_events

Events = Collection[ClusterEvent]
NodePreCheck = Callable[[PodInfo, str], bool]

NODE_ADDED = ClusterEvent(Resource.NODE, Action.ADD)
POD_ASSIGNED = ClusterEvent(Resource.ASSIGNED_POD, Action.ADD)
POD_UPDATED = ClusterEvent(Resource.ASSIGNED_POD, Action.UPDATE)
POD_GONE = ClusterEvent(Resource.ASSIGNED_POD, Action.DELETE)
WAITING_POD_DELETED = ClusterEvent(Resource.UNSCHEDULED_POD, Action.DELETE)
RESOURCE_OF_KIND = {
    resource.rpartition("/")[2]: resource
    for resource in Resource
    if resource not in (Resource.POD, Resource.ASSIGNED_POD, Resource.UNSCHEDULED_POD, Resource.WILDCARD)
}


class EventHandlers:
    """Applies reported objects to the cluster and the queue."""

    def __init__(
        self,
        cluster: ClusterState,
        queue: SchedulingQueue,
        schedulers: Collection[str],
        gates: FeatureGates,
        now: Callable[[], float],
        *,
        observers: Observers = NOBODY,
        waiting_pods: WaitingPods | None = None,
        changed: Callable[[str], None] = lambda kind: None,
        pre_check: NodePreCheck | None = None,
    ) -> None:
        self._observers = observers
        self._waiting_pods = waiting_pods if waiting_pods is not None else NoWaitingPods()
        # called with the kind of every object that changed
        self._changed = changed
        # returns whether a waiting pod fits a node that was added or changed; None if queueing hints decide
        self._pre_check = pre_check
        self._cluster = cluster
        self._queue = queue
        self._schedulers = schedulers
        self._gates = gates
        self._now = now
        # namespace/name -> the last reported version of the pod
        self._reported: dict[str, PodInfo] = {}
        if gates.enabled("GenericWorkload"):
            cluster.keep_pod_groups()
        self._gangs = gates.enabled("GangScheduling")

    def serve(self, schedulers: Collection[str]) -> None:
        """Take in the waiting pods of these scheduler names from now on; pods that are known already are queued."""
        before, self._schedulers = self._schedulers, schedulers
        for pod in list(self._cluster.pending.values()):
            name = pod.spec.scheduler_name
            if name in schedulers and name not in before and pod.uid not in self._cluster.table.pods:
                self._put_waiting(None, pod)

    # -- any object

    def put(self, obj: ApiObject) -> None:
        """Apply an object that was added or changed."""
        self._apply(obj, self._put)

    def drop(self, obj: ApiObject) -> None:
        """Apply the deletion of an object."""
        self._apply(obj, self._drop)

    def _apply(self, obj: ApiObject, apply: Callable[[ApiObject], Events]) -> None:
        began = self._observers.clock()
        events = apply(obj)
        self._changed(type(obj).__name__)
        seconds = self._observers.clock() - began
        for event in events:
            self._observers.event_handled(event, obj, seconds)

    def _put(self, obj: ApiObject) -> Events:
        """Apply an object; return the cluster events."""
        if isinstance(obj, Pod):
            return self._put_pod(obj)
        if isinstance(obj, Node):
            return self._put_node(obj)
        kind = type(obj)
        old = self._cluster.objects.get(kind, obj.full_name)
        self._cluster.add(obj)
        events = self._requeue(_resource_of(kind), Action.ADD if old is None else Action.UPDATE, old, obj)
        if old is None or not is_report(kind.__name__, old, obj):
            self._requeue_for_tainted_slices(obj)
        return events

    def _drop(self, obj: ApiObject) -> Events:
        """Apply the deletion of an object; return the cluster events."""
        if isinstance(obj, Pod):
            known = self._reported.get(obj.full_name)
            return self._drop_pod(known) if known is not None and known.uid == obj.uid else ()
        if isinstance(obj, Node):
            events = self._requeue(Resource.NODE, Action.DELETE, obj, None)
            self._cluster.remove(obj)
            return events
        self._cluster.remove(obj)
        events = self._requeue(_resource_of(type(obj)), Action.DELETE, obj, None)
        self._requeue_for_tainted_slices(obj)
        return events

    def known_pods(self) -> list[PodInfo]:
        """Return all pods as they were last reported."""
        return list(self._reported.values())

    def latest(self, pod: PodInfo) -> PodInfo | None:
        """Return the newest version of a pod that still exists."""
        known = self._reported.get(pod.full_name)
        return known if known is not None and known.uid == pod.uid else None

    def _requeue(self, resource: Resource | str | None, action: Action, old: object, new: object) -> Events:
        if resource is None:
            return ()
        event = ClusterEvent(resource, action)
        self._queue.on_event(event, old, new, self._now())
        return (event,)

    # upstream: dynamic-resource-allocation/resourceslice/tracker/tracker.go (v1.36)
    def _requeue_for_tainted_slices(self, obj: ApiObject) -> None:
        """Requeue pods as for an update of every slice: a taint rule changes the devices that slices offer."""
        if isinstance(obj, DeviceTaintRule) and self._gates.enabled("DRADeviceTaintRules"):
            for offered in self._cluster.objects.of(ResourceSlice):
                self._requeue(Resource.RESOURCE_SLICE, Action.UPDATE, offered, offered)

    # -- nodes

    def _put_node(self, node: Node) -> Events:
        row = self._cluster.table.row_of.get(node.name)
        old = None if row is None else self._cluster.table.nodes[row]
        self._cluster.add(node)
        events = node_events(old, node, self._gates) if old is not None else [NODE_ADDED]
        pre_check = self._pre_check
        concerns = None if pre_check is None else lambda pod: pre_check(pod, node.name)
        for event in events:
            self._queue.on_event(event, old, node, self._now(), concerns)
        return events

    # -- pods

    def _put_pod(self, pod: Pod) -> Events:
        known = self._reported.get(pod.full_name)
        if known is not None and known.uid != pod.uid:
            # deleted and created again; the deletion was not reported
            self._drop_pod(known)
            known = None
        if pod.terminal:
            return self._drop_pod(known) if known is not None else ()
        info = self._cluster.reader.renew(pod, known)
        self._reported[pod.full_name] = info
        if pod.spec.node_name:
            return self._put_assigned(known, info)
        self._cluster.put_waiting(info)
        return self._put_waiting(known, info) if pod.spec.scheduler_name in self._schedulers else ()

    def _put_assigned(self, known: PodInfo | None, info: PodInfo) -> Events:
        """Add a pod to its node; an assumed pod is confirmed."""
        self._cluster.put_pod(info)
        if known is not None and known.spec.node_name:
            events = pod_events(known.pod, info.pod, self._gates)
            for event in events:
                self._queue.on_event(event, known, info, self._now())
            return _with(POD_UPDATED, events)
        self._queue.delete(info.uid)
        self._queue.on_event(POD_ASSIGNED, None, info, self._now())
        left = known is not None and info.spec.scheduler_name in self._schedulers
        return (POD_ASSIGNED, WAITING_POD_DELETED) if left else (POD_ASSIGNED,)

    def _put_waiting(self, known: PodInfo | None, info: PodInfo) -> Events:
        """Add a pod without a node to the queue, or update it there."""
        now = self._now()
        if info.uid in self._cluster.table.pods:
            # assumed: the report is older than the decision
            if info.terminating and (known is None or not known.terminating):
                self._withdraw(info)
            return (WAITING_POD_UPDATED,)
        events = [] if known is None else pod_events(known.pod, info.pod, self._gates)
        self._cluster.add_group_member(info)
        self._queue.update(info, events, now)
        if self._gangs and known is None:
            # the other pods of its gang may wait for it
            self._queue.on_event(WAITING_POD_ADDED, None, info, now)
        nominated = known.status.nominated_node_name if known is not None else ""
        if known is not None and nominated and nominated != info.status.nominated_node_name:
            if not info.status.nominated_node_name:
                self._cluster.clear_nomination(info.uid)
            self._queue.on_event(POD_GONE, known, None, now, lambda pod: pod.priority <= known.priority)
        return _with(WAITING_POD_UPDATED, events) if known is not None else (WAITING_POD_ADDED,)

    def _drop_pod(self, known: PodInfo) -> Events:
        """Remove a pod from the queue or its node."""
        del self._reported[known.full_name]
        now = self._now()
        if known.spec.node_name:
            self._cluster.remove_pod(known.uid)
            self._queue.on_event(POD_GONE, known, None, now)
            return (POD_GONE,)
        self._queue.delete(known.uid)
        self._cluster.remove_waiting(known.uid)
        if known.uid in self._cluster.table.pods:
            self._withdraw(known)
        elif known.status.nominated_node_name:
            self._queue.on_event(POD_GONE, known, None, now, lambda pod: pod.priority <= known.priority)
        return (WAITING_POD_DELETED,) if known.spec.scheduler_name in self._schedulers else ()

    def _withdraw(self, pod: PodInfo) -> None:
        """Forget an assumed pod that was deleted; a running binding fails on the API server."""
        assumed = self._cluster.table.pods[pod.uid]
        waiting = self._waiting_pods.get(pod.uid)
        if waiting is None or not waiting.reject("", "removed"):
            self._cluster.remove_pod(pod.uid)
        self._queue.on_event(POD_GONE, assumed, None, self._now())


def _resource_of(kind: type[ApiObject]) -> Resource | str | None:
    """Return the event resource of a kind, None if no plugin can register for it."""
    name = kind.__name__
    # kinds of out-of-tree plugins have the name of the registration: `foos.v1.example.com`
    return name if "." in name else RESOURCE_OF_KIND.get(name)


def _with(update: ClusterEvent, events: Events) -> Events:
    """Return the plain update event, then the more specific ones."""
    return (update, *(event for event in events if event != update))
