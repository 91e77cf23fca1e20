"""Pods that wait in Permit, and pods in PreBind.

From Permit plugins and evictions to the binding cycle: a waiting pod is bound when every plugin has allowed it, and
fails at the first rejection, timeout or preemption. PreBind can be cancelled until the pod is bound.
"""

# upstream: framework/runtime/waiting_pods_map.go, pods_in_prebind_map.go (v1.36)

import asyncio
from collections.abc import Iterator, Mapping

from kubesched.config.golang import Duration
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.values.status import SUCCESS, Code, Status
from kubesched.core.framework.values.texts import tidy


class PermitWait:
    """The wait of one pod in Permit, for the plugins that have not allowed it yet."""

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
        """Allow the pod in the name of a plugin."""
        timer = self._timers.pop(plugin, None)
        if timer is not None:
            timer.cancel()
        if not self._timers:
            self._decide(SUCCESS)

    def reject(self, plugin: str, message: str) -> bool:
        """Reject the pod; return whether it was still waiting."""
        return self._decide(Status(Code.UNSCHEDULABLE, (tidy(str(message)),), plugin))

    def preempt(self, plugin: str, message: str) -> bool:
        """End the wait of a preemption victim; return whether it was in time: the pod is not bound."""
        return self._decide(Status(Code.ERROR, (message,), plugin)) or not self._decided.result().ok

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


class WaitingPodsMap:
    """The pods that wait for permission, by UID; a rejected one stays until its node's resources are free again."""

    def __init__(self) -> None:
        self._pods: dict[str, PermitWait] = {}

    def __len__(self) -> int:
        return len(self._pods)

    def __iter__(self) -> Iterator[PermitWait]:
        return iter(list(self._pods.values()))

    def get(self, uid: str) -> PermitWait | None:
        """Return the waiting pod under a UID."""
        return self._pods.get(uid)

    def add(self, waiting: PermitWait) -> None:
        """Let plugins find a pod."""
        self._pods[waiting.pod.uid] = waiting

    def remove(self, uid: str) -> None:
        """Forget a pod that waits no more."""
        self._pods.pop(uid, None)


class PodsInPreBind:
    """The tasks that run PreBind, by the UID of the pod; a cancelled one stays until its resources are free again."""

    def __init__(self) -> None:
        self._tasks: dict[str, tuple[asyncio.Task[Status | None], list[str]]] = {}

    def __len__(self) -> int:
        return len(self._tasks)

    def begin(self, uid: str, task: "asyncio.Task[Status | None]") -> None:
        """Note that a pod's PreBind runs."""
        self._tasks[uid] = (task, [])

    def why_cancelled(self, uid: str) -> str:
        """Return why a pod's PreBind was cancelled, an empty text if it was not."""
        found = self._tasks.get(uid)
        return found[1][0] if found is not None and found[1] else ""

    def end(self, uid: str) -> None:
        """Forget a pod."""
        self._tasks.pop(uid, None)

    def call_back(self, uid: str, message: str) -> bool:
        """Cancel a pod's PreBind; return whether it was in time: the pod is not bound."""
        found = self._tasks.get(uid)
        if found is None:
            return False
        task, reasons = found
        if not reasons and not task.done():
            reasons.append(message)
            task.cancel()
        return bool(reasons)
