"""The life of a pod from its creation to its end, as kubelets report it.

From bindings to status reports at random times, and to calls when a pod is ready or gone.
"""

from collections.abc import Callable
from random import Random

from benchmarks.living.model import (
    CRASHED,
    ENDED,
    JOB,
    MEMBER,
    READY,
    SCALED,
    STARTED,
    WAITING,
    LiveNode,
    LivePod,
    Owner,
    Pool,
    World,
)
from benchmarks.living.options import LifeOptions
from benchmarks.living.timers import Timers

# shortest and longest seconds of each step
TO_CREATING = (0.05, 0.3)
TO_STARTED = (0.5, 1.5)
TO_READY = (0.5, 2.5)
TO_STOPPED = (0.5, 1.5)
TO_DELETED = (0.1, 0.3)
# how long a finished pod of a Job stays
KEPT_SECONDS = 5.0
Range = tuple[float, float]


class PodLives:
    """All pods of a life; `on_ready` and `on_ending` are called with pods that become ready, or begin to end."""

    def __init__(self, options: LifeOptions, world: World, timers: Timers) -> None:
        self._options = options
        self._world = world
        self._timers = timers
        self._chance = Random(f"{options.seed} pods")
        self._number = 0
        self.pods: dict[str, LivePod] = {}
        # pods of Deployments that are ready
        self.pool = Pool()
        self.on_ready: Callable[[LivePod], None] = lambda pod: None
        self.on_ending: Callable[[LivePod], None] = lambda pod: None
        # status reports of pods so far
        self.reports = 0

    def create(self, owner: Owner, reason: str, *, target: str = "", replaces: LivePod | None = None) -> LivePod:
        """Create a pod that waits for a scheduler."""
        pod = self._new(owner, reason)
        pod.target = target
        pod.replaces = replaces
        self._world.create_pod(pod)
        return pod

    def create_running(self, owner: Owner, node: LiveNode) -> LivePod:
        """Create a pod on a node; `report_running` reports that it runs."""
        pod = self._new(owner, MEMBER)
        self._place(pod, node)
        self._world.create_pod(pod)
        return pod

    def report_running(self, pod: LivePod) -> None:
        """Report a pod that runs since the beginning."""
        self._become(pod, READY)
        self.pool.add(pod)
        self.on_ready(pod)

    def _new(self, owner: Owner, reason: str) -> LivePod:
        self._number += 1
        pod = LivePod(self._number, owner, reason)
        self.pods[pod.full_name] = pod
        return pod

    def _place(self, pod: LivePod, node: LiveNode) -> None:
        pod.node = node
        pod.host = node.address
        pod.started_at = self._world.date()
        node.pods[pod.full_name] = pod

    def bound(self, pod: LivePod, node: LiveNode) -> None:
        """Have the kubelet of its node run a pod."""
        if pod.node is None and not pod.ending:
            self._place(pod, node)
            self._after(TO_CREATING, self._creating, pod)

    def _creating(self, pod: LivePod) -> None:
        self._become(pod, WAITING)
        self._after(TO_STARTED, self._started, pod)

    def _started(self, pod: LivePod) -> None:
        self._become(pod, STARTED)
        self._after(TO_READY, self._ready, pod)

    def _ready(self, pod: LivePod) -> None:
        if pod.ending:
            return
        self._become(pod, READY)
        chance, options = self._chance, self._options
        if pod.reason == JOB:
            self._timers.after(chance.uniform(0.5, 1.5) * options.job_life, self._finish, pod)
        elif pod.reason == SCALED:
            self._timers.after(chance.uniform(0.5, 1.5) * options.life, self.end, pod)
        if pod.reason in (MEMBER, SCALED):
            self.pool.add(pod)
        self.on_ready(pod)
        if pod.replaces is not None:
            self.end(pod.replaces)
            pod.replaces = None

    # -- the end

    def _finish(self, pod: LivePod) -> None:
        """Report that the pod of a Job has ended; it is deleted some time later."""
        if not pod.ending:
            pod.ending = True
            self._become(pod, ENDED, last=True)
            self._timers.after(KEPT_SECONDS, self.remove, pod)

    def end(self, pod: LivePod) -> None:
        """Delete a pod as a controller does; its kubelet stops it, or it never had one."""
        if pod.ending:
            return
        pod.ending = True
        self.pool.remove(pod)
        self.on_ending(pod)
        if pod.node is None:
            self._forget(pod)
            self._world.delete_pod(pod, at_once=False)
        else:
            self._world.delete_pod(pod, at_once=False)
            self._after(TO_STOPPED, self._stopped, pod)

    def _stopped(self, pod: LivePod) -> None:
        self._become(pod, ENDED, last=True)
        self._after(TO_DELETED, self.remove, pod)

    def remove(self, pod: LivePod) -> None:
        """Delete a pod at once, as its kubelet does when it has stopped."""
        if self._forget(pod):
            self._world.delete_pod(pod, at_once=True)

    def _forget(self, pod: LivePod) -> bool:
        """Forget a pod; return whether it was known."""
        self.pool.remove(pod)
        pod.ending = True
        if pod.node is not None:
            pod.node.pods.pop(pod.full_name, None)
        return self.pods.pop(pod.full_name, None) is not None

    # -- steps

    def flap(self, pod: LivePod, seconds: float) -> None:
        """Report that a pod is not ready, and some time later that it is ready."""
        pod.busy = True
        self._become(pod, STARTED)
        self._timers.after(seconds, self._recover, pod)

    def restart(self, pod: LivePod, seconds: float) -> None:
        """Report that a container has crashed, and some time later that it runs and is ready."""
        pod.busy = True
        pod.restarts += 1
        self._become(pod, CRASHED)
        self._timers.after(seconds, self._become, pod, STARTED)
        self._timers.after(seconds + self._between(TO_READY), self._recover, pod)

    def _recover(self, pod: LivePod) -> None:
        pod.busy = False
        self._become(pod, READY)

    def resize(self, pod: LivePod, milli_cpu: int) -> None:
        """Change the CPU request of a pod; its kubelet reports the resize, and its completion later."""
        pod.busy = True
        pod.milli_cpu = milli_cpu
        pod.generation += 1
        self._world.resize_pod(pod)
        self._after(TO_CREATING, self._resizing, pod)

    def _resizing(self, pod: LivePod) -> None:
        pod.resizing = True
        self._become(pod, READY)
        self._after(TO_STARTED, self._resized, pod)

    def _resized(self, pod: LivePod) -> None:
        pod.resizing = False
        pod.reported_milli_cpu = pod.milli_cpu
        self._recover(pod)

    def _become(self, pod: LivePod, state: str, *, last: bool = False) -> None:
        """Report the state of a pod, unless it has ended meanwhile."""
        if pod.full_name in self.pods and (last or not pod.ending):
            if state != pod.state:
                pod.changed_at = self._world.date()
            pod.state = state
            self.reports += 1
            self._world.report_pod(pod)

    def _after(self, seconds: Range, function: Callable[[LivePod], None], pod: LivePod) -> None:
        self._timers.after(self._between(seconds), function, pod)

    def _between(self, seconds: Range) -> float:
        return self._chance.uniform(*seconds)
