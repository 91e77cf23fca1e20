"""PreEnqueue: who has to wait before being tried at all.

From a pod that wants to be tried to yes or no; a pod that is held back remembers who holds it, who is asked first the
next time, and which events may change that one's mind.
"""

# upstream: backend/queue/scheduling_queue.go, runPreEnqueuePlugins (v1.36)

from collections.abc import Mapping

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.answers import checked_status
from kubesched.core.framework.hooks import ask
from kubesched.core.framework.observer import PRE_ENQUEUE, Observers, Stopwatch, start
from kubesched.core.framework.plugin import PreEnqueuePlugin
from kubesched.core.framework.profile import Profile
from kubesched.core.framework.status import Code, Status
from kubesched.core.queue.queued_pod import QueuedPod
from kubesched.core.queue.requeueing import Requeueing


class Gating:
    """Asks the PreEnqueue plugins of all profiles."""

    def __init__(self, profiles: Mapping[str, Profile], requeueing: Requeueing, observers: Observers | None) -> None:
        self._profiles = profiles
        self._requeueing = requeueing
        self._observers = observers

    def holds_back(self, queued: QueuedPod) -> bool:
        """Return whether a plugin holds the pod back; if so, the pod knows which."""
        name = queued.pod.spec.scheduler_name
        profile = self._profiles.get(name)
        plugins = list(profile.pre_enqueue) if profile is not None else []
        if queued.gating_plugin:
            plugins.sort(key=lambda plugin: plugin.name != queued.gating_plugin)
        stopwatch = start(self._observers, name)
        refusal: Status | None = None
        for plugin in plugins:
            refusal = _refusal(plugin, queued.pod, stopwatch)
            if refusal is not None:
                self._remember(queued, plugin.name, refusal)
                break
        else:
            queued.gating_plugin = ""
            queued.gating_events = ()
        # differs (PreEnqueue in): the reference says Success of pods that are held back, too
        stopwatch.point(PRE_ENQUEUE, refusal, stopwatch.began)
        stopwatch.tell()
        return refusal is not None

    def _remember(self, queued: QueuedPod, plugin: str, refusal: Status) -> None:
        queued.unschedulable_plugins.add(plugin)
        queued.gating_plugin = plugin
        queued.gating_events = self._requeueing.events_of(plugin)
        queued.was_flushed = False
        if self._observers is not None:
            self._observers.pod_gated(queued.pod, plugin, refusal)


def _refusal(plugin: PreEnqueuePlugin, pod: PodInfo, stopwatch: Stopwatch) -> Status | None:
    """Return why PreEnqueue holds a pod back, or None; a plugin that raises does, and is asked again."""
    status = ask(plugin, "pre_enqueue", stopwatch, checked_status, pod)
    return None if status is None or status.code is Code.SUCCESS else status
