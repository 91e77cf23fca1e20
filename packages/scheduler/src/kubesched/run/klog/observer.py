"""Scheduling in the log, with the reference's messages, keys and verbosity, which operators search for.

From observations to log messages. V(2) has the outcome for every pod, V(3) every attempt and watch event, V(4) updates
of objects, V(5) moves between the queues and the plugins' statuses.
"""

# upstream: schedule_one.go, eventhandlers.go, backend/queue, framework/preemption/executor.go (v1.36)

from collections.abc import Collection, Mapping

from kubesched.api.meta import ApiObject
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.observing.observer import (
    ATTEMPT_FAILED,
    ERROR,
    SCHEDULED,
    WAITS_FOR_PREEMPTION,
    Bound,
    FailedAttempt,
    Observer,
)
from kubesched.core.framework.results.outcomes import GroupAttempt, PostFilterResult
from kubesched.core.framework.values.events import Action, ClusterEvent, Resource
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.framework.values.texts import described
from kubesched.core.scheduling.decision import NO_NODES
from kubesched.run.klog.logs import Log
from kubesched.run.klog.secrets import without_secrets

# The lowest level at which a method logs, where it is not 0.
_LEVELS = {
    "pod_queued": 3,
    "event_handled": 3,
    "attempt_began": 3,
    "attempt_skipped": 3,
    "pre_filter_rejected": 5,
    "group_attempt_began": 3,
    "plugin_ran": 6,
    "binding_began": 3,
    "binding_failed": 1,
    "pod_bound": 2,
    "preemption_began": 2,
    "victim_skipped": 2,
    "victim_evicted": 2,
    "victim_gone": 2,
}
_TOLD_BY_NO_ATTEMPT = ("sort_key", "unreserve")
_QUEUES = {"active": "Active", "backoff": "Backoff", "unschedulable": "Unschedulable", "gated": "Unschedulable"}
_ACTIONS = {Action.ADD: ("Add", 3), Action.UPDATE: ("Update", 4), Action.DELETE: ("Delete", 3)}
_OBJECTS: Mapping[str, tuple[str, str]] = {
    Resource.NODE: ("node", "node"),
    Resource.ASSIGNED_POD: ("scheduled pod", "pod"),
    Resource.UNSCHEDULED_POD: ("unscheduled pod", "pod"),
}


class LogObserver(Observer):
    """Logs observations of the scheduler."""

    def __init__(self, log: Log) -> None:
        self._log = log

    def hears(self, hook: str) -> bool:
        """Return whether a message of a method would be written."""
        return self._log.enabled(_LEVELS.get(hook, 0))

    # -- the queue and event handlers

    def pod_queued(self, pod: PodInfo, place: str, event: str, rejected_by: Collection[str]) -> None:
        """Log the queue that a pod waits in; after a failed attempt also the plugins that rejected it."""
        values = {"pod": pod, "event": event, "queue": _QUEUES[place]}
        if event == ATTEMPT_FAILED:
            plugins = {"unschedulable plugins": frozenset(rejected_by)}
            self._log.info("Pod moved to an internal scheduling queue", v=3, **values, **plugins)
        elif place == "gated":
            self._log.info("Pod moved to an internal scheduling queue, because the pod is gated", v=5, **values)
        else:
            self._log.info("Pod moved to an internal scheduling queue", v=5, **values)

    def pod_gated(self, pod: PodInfo, plugin: str, status: Status) -> None:
        """Log the plugin that gates a pod."""
        if status.code is Code.ERROR:
            self._log.error(status.message, "Unexpected error running PreEnqueue plugin", pod=pod, plugin=plugin)
        else:
            message = "Status after running PreEnqueue plugin"
            self._log.info(message, v=4, pod=pod, plugin=plugin, status=status.message)

    def hint_failed(self, plugin: str, event: str, pod: PodInfo, raised: BaseException) -> None:
        """Log a queueing hint that raised an error."""
        self._log.error(raised, "QueueingHintFn returns error", event=event, plugin=plugin, pod=pod)

    def plugin_failed(self, plugin: str, hook: str, raised: BaseException) -> None:
        """Log failures outside of attempts; failures in an attempt are part of the attempt's message."""
        if hook in _TOLD_BY_NO_ATTEMPT:
            self._log.error(described(raised), "Plugin failed", plugin=plugin, hook=hook)

    def event_handled(self, event: ClusterEvent, obj: ApiObject, seconds: float) -> None:
        """Log an event of a watch."""
        action, known = _ACTIONS.get(event.action), _OBJECTS.get(event.resource)
        if action is None and event.resource == Resource.NODE:
            action = _ACTIONS[Action.UPDATE]
        if action is not None and known is not None:
            word, level = action
            what, key = known
            self._log.info(f"{word} event for {what}", v=level, **{key: obj})

    # -- attempts

    def attempt_began(self, pod: PodInfo) -> None:
        """Log the start of an attempt."""
        self._log.info("About to try and schedule pod", v=4, pod=pod)
        self._log.info("Attempting to schedule pod", v=3, pod=pod)

    def attempt_skipped(self, pod: PodInfo) -> None:
        """Log that a terminating pod is not scheduled."""
        if pod.terminating:
            self._log.info("Skip schedule deleting pod", v=3, pod=pod)

    def pre_filter_rejected(self, pod: PodInfo, status: Status) -> None:
        """Log the rejection of PreFilter."""
        if status.rejected:
            self._log.info("Status after running PreFilter plugins for pod", v=5, pod=pod, status=status.message)

    def post_filter_ran(self, pod: PodInfo, status: Status, plugins: Mapping[str, PostFilterResult]) -> None:
        """Log the status of PostFilter."""
        message = "Status after running PostFilter plugins for pod"
        if status.code is Code.ERROR:
            self._log.error(None, message, pod=pod, status=without_secrets(status.message))
        else:
            self._log.info(message, v=5, pod=pod, status=status.message)

    def attempt_failed(self, failed: FailedAttempt) -> None:
        """Log why a pod was not scheduled."""
        pod = failed.pod
        if failed.result == ERROR:
            self._log.error(failed.message, "Error scheduling pod; retrying", pod=pod)
        elif failed.message == NO_NODES.message:
            message = "Unable to schedule pod; no nodes are registered to the cluster; waiting"
            self._log.info(message, v=2, pod=pod)
        elif self._log.enabled(2):
            self._log.info("Unable to schedule pod; no fit; waiting", v=2, pod=pod, err=without_secrets(failed.message))

    def plugin_ran(self, plugin: str, point: str, status: str, seconds: float) -> None:
        """Log the duration of a plugin in a sampled cycle."""
        if self._log.enabled(6):
            took = f"{seconds * 1e6:.0f}µs"
            self._log.info("Plugin ran", v=6, plugin=plugin, extensionPoint=point, status=status, duration=took)

    def group_attempt_began(self, group: str) -> None:
        """Log the start of an attempt to schedule a pod group."""
        self._log.info("Attempting to schedule pod group", v=3, podGroup=group)

    def group_attempted(self, attempt: GroupAttempt) -> None:
        """Log the result of an attempt to schedule a pod group."""
        group = attempt.group
        if attempt.result == SCHEDULED:
            self._log.info(
                "Successfully scheduled a pod group",
                v=2,
                podGroup=group,
                scheduledPods=attempt.scheduled_pods,
                unschedulablePods=attempt.other_pods,
            )
        elif attempt.result == ERROR:
            pods = attempt.other_pods
            self._log.error(attempt.message, "Error scheduling pod group", podGroup=group, errorPods=pods)
        else:
            waits = attempt.result == WAITS_FOR_PREEMPTION
            message = "Pod group is waiting for preemption" if waits else "Unable to schedule a pod group"
            self._log.info(message, v=2, podGroup=group, unschedulablePods=attempt.other_pods)

    # -- bindings

    def binding_began(self, pod: PodInfo, node_name: str) -> None:
        """Log the start of a binding."""
        self._log.info("Attempting to bind pod to node", v=3, pod=pod, node=node_name)

    def binding_failed(self, pod: PodInfo, node_name: str) -> None:
        """Log a failed binding."""
        self._log.info("Failed to bind pod", v=1, pod=pod)

    def pod_bound(self, bound: Bound) -> None:
        """Log the node that a pod was bound to."""
        self._log.info(
            "Successfully bound pod to node",
            v=2,
            pod=bound.pod,
            node=bound.node_name,
            evaluatedNodes=bound.evaluated_nodes,
            feasibleNodes=bound.feasible_nodes,
        )
        if bound.after_flush:
            self._log.info("Pod scheduled after flush from unschedulablePods", v=4, pod=bound.pod)

    # -- preemption

    def preemption_began(self, preemptor: PodInfo, node_name: str, victims: int, to_evict: int) -> None:
        """Log the start of a preemption."""
        self._log.info(
            "Start the preemption asynchronously",
            v=2,
            preemptor=preemptor,
            node=node_name,
            numVictims=victims,
            numVictimsToDelete=to_evict,
        )

    def victim_skipped(self, preemptor: PodInfo, victim: PodInfo, node_name: str) -> None:
        """Log a victim that is terminating already."""
        message = "Victim Pod is already being deleted, skipping the API call for it"
        self._log.info(message, v=2, preemptor=preemptor, node=node_name, victim=victim)

    def victim_evicted(self, preemptor: PodInfo, victim: PodInfo, node_name: str, *, in_memory: bool) -> None:
        """Log an evicted victim."""
        values = {"preemptor": preemptor, "victim": victim, "node": node_name}
        if in_memory:
            self._log.info("Preemptor preempted a waiting pod", v=2, **values)
        else:
            self._log.info("Preemptor Pod preempted victim Pod", v=2, **values)

    def victim_gone(self, preemptor: PodInfo, victim: PodInfo, node_name: str) -> None:
        """Log a victim that is deleted already."""
        self._log.info("Victim Pod is already deleted", v=2, preemptor=preemptor, victim=victim, node=node_name)

    def preemption_ended(
        self, preemptor: PodInfo, node_name: str, failure: BaseException | None, seconds: float
    ) -> None:
        """Log the result of a preemption."""
        if failure is not None:
            self._log.error(failure, "Error occurred during async preemption", preemptor=preemptor, node=node_name)
        result = "success" if failure is None else "error"
        self._log.info("Async Preemption finished completely", v=2, preemptor=preemptor, node=node_name, result=result)
