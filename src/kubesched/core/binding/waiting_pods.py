"""Pods that wait for permission, and pods that are being prepared for binding.

From Permit's plugins (and preemption) to the binding cycle: a waiting pod goes on when every plugin has allowed it, and
is turned away by the first rejection, timeout or preemption; a pod in PreBind can be called back until it is bound.
"""

# upstream: framework/runtime/waiting_pods_map.go, pods_in_prebind_map.go (v1.36)

import asyncio
from collections.abc import Iterator, Mapping

from kubesched.config.golang import Duration
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.status import SUCCESS, Code, Status
from kubesched.core.framework.texts import tidy


class WaitingPod:
    """A pod with the plugins that have not allowed it yet."""

    def __init__(self, pod: PodInfo, node_name: str, waits: Mapping[str, float]) -> None:
        self.pod = pod
        self.node_name = node_name
        loop = asyncio.get_running_loop()
        self._decided: asyncio.Future[Status] = loop.create_future()
        self._timers = {
            plugin: loop.call_later(seconds, self._time_out, plugin, seconds) for plugin, seconds in waits.items()
        }

    @property
    def pending_plugins(self) -> list[str]:
        """Return the plugins that the pod waits for."""
        return list(self._timers)

    def allow(self, plugin: str) -> None:
        """Let the pod go on as far as a plugin is concerned."""
        timer = self._timers.pop(plugin, None)
        if timer is not None:
            timer.cancel()
        if not self._timers:
            self._decide(SUCCESS)

    def reject(self, plugin: str, message: str) -> bool:
        """Turn the pod away; return whether it was still waiting."""
        return self._decide(Status(Code.UNSCHEDULABLE, (tidy(str(message)),), plugin))

    def preempt(self, plugin: str, message: str) -> bool:
        """Call the pod back in favour of a more important one; return whether it was still waiting."""
        return self._decide(Status(Code.ERROR, (message,), plugin))

    async def decision(self) -> Status:
        """Return success, or why the pod may not go on."""
        return await self._decided

    def _time_out(self, plugin: str, seconds: float) -> None:
        waited = Duration(nanoseconds=round(seconds * 1e9))
        self.reject(plugin, f"rejected due to timeout after waiting {waited} at plugin {plugin}")

    def _decide(self, status: Status) -> bool:
        for timer in self._timers.values():
            timer.cancel()
        if self._decided.done():
            return False
        self._decided.set_result(status)
        return True


class WaitingPods:
    """The pods that wait for permission, by UID."""

    def __init__(self) -> None:
        self._pods: dict[str, WaitingPod] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def __iter__(self) -> Iterator[WaitingPod]:
        return iter(list(self._pods.values()))

    def get(self, uid: str) -> WaitingPod | None:
        """Return the waiting pod under a UID."""
        return self._pods.get(uid)

    def add(self, waiting: WaitingPod) -> None:
        """Let plugins find a pod."""
        self._pods[waiting.pod.uid] = waiting

    def remove(self, uid: str) -> None:
        """Forget a pod that waits no more."""
        self._pods.pop(uid, None)


class PreBindingPods:
    """The pods whose PreBind is under way, with the tasks that can be called back."""

    def __init__(self) -> None:
        self._tasks: dict[str, tuple[asyncio.Task[Status | None], list[str]]] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def begin(self, uid: str, task: "asyncio.Task[Status | None]") -> None:
        """Note that a pod's PreBind runs."""
        self._tasks[uid] = (task, [])

    def end(self, uid: str) -> str:
        """Note that it is over; return why it was called back, or an empty text."""
        found = self._tasks.pop(uid, None)
        return found[1][0] if found is not None and found[1] else ""

    def call_back(self, uid: str, message: str) -> bool:
        """Stop a pod's PreBind; return whether it was in time."""
        found = self._tasks.get(uid)
        if found is None or found[0].done():
            return False
        task, reasons = found
        reasons.append(message)
        task.cancel()
        return True
