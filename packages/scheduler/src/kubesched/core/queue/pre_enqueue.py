"""PreEnqueue: whether a pod may enter activeQ.

From a pod to yes or no. A gated pod keeps the plugin that gated it, which runs first the next time, and the events
that the plugin registered for.
"""

# upstream: backend/queue/scheduling_queue.go, runPreEnqueuePlugins (v1.36)

from collections.abc import Mapping

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.profile import Profile
from kubesched.core.framework.calling.answers import checked_status
from kubesched.core.framework.calling.hooks import ask_timed
from kubesched.core.framework.observing.observer import PRE_ENQUEUE, UNTIMED, Observers, Stopwatch, start
from kubesched.core.framework.plugin import PreEnqueuePlugin
from kubesched.core.framework.values.status import Code, Status
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.queue.queueing_hints import QueueingHints


class PreEnqueueGate:
    """Runs the PreEnqueue plugins of a pod's profile."""

    def __init__(self, profiles: Mapping[str, Profile], hints: QueueingHints, observers: Observers) -> None:
        self._profiles = profiles
        self._hints = hints
        self._observers = observers

    def holds_back(self, queued: QueuedPod) -> bool:
        """Return whether a plugin gates the pod, and store the plugin in the pod."""
        name = queued.pod.spec.scheduler_name
        profile = self._profiles.get(name)
        plugins = list(profile.pre_enqueue) if profile is not None else []
        if queued.gating_plugin:
            plugins.sort(key=lambda plugin: plugin.name != queued.gating_plugin)
        stopwatch = start(self._observers, name)
        refusal: Status | None = None
        for plugin in plugins:
            refusal = refusal_of(plugin, queued.pod, stopwatch)
            if refusal is not None:
                self._remember(queued, plugin.name, refusal)
                break
        else:
            queued.gating_plugin = ""
            queued.gating_events = ()
        # differs (D-086): the reference reports Success for gated pods, too
        stopwatch.point(PRE_ENQUEUE, refusal, stopwatch.began)
        stopwatch.tell()
        return refusal is not None

    def _remember(self, queued: QueuedPod, plugin: str, refusal: Status) -> None:
        queued.unschedulable_plugins.add(plugin)
        queued.gating_plugin = plugin
        queued.gating_events = self._hints.events_of(plugin)
        queued.was_flushed = False
        self._observers.pod_gated(queued.pod, plugin, refusal)


def refusal_of(plugin: PreEnqueuePlugin, pod: PodInfo, stopwatch: Stopwatch = UNTIMED) -> Status | None:
    """Return why a plugin gates a pod, or None; a plugin that raises gates it."""
    status = ask_timed(stopwatch, plugin, "pre_enqueue", checked_status, pod)
    return None if status is None or status.code is Code.SUCCESS else status
