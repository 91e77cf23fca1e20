"""Pods that wait in Permit, for plugins.

From the loop to plugins whose constructor has the parameter `waiting_pods`: a plugin that made pods wait allows or
rejects them in its own name.
"""

from collections.abc import Iterator
from typing import Protocol

from kubesched.core.cluster.pod_info import PodInfo


class WaitingPod(Protocol):
    """A pod that is assumed on a node and waits in Permit."""

    @property
    def pod(self) -> PodInfo:
        """Return the pod."""

    @property
    def node_name(self) -> str:
        """Return the node that the pod will be bound to."""

    @property
    def pending_plugins(self) -> list[str]:
        """Return the plugins that the pod waits for."""

    def allow(self, plugin: str) -> None:
        """Allow the pod in the name of a plugin."""

    def reject(self, plugin: str, message: str) -> bool:
        """Reject the pod; return whether it was still waiting."""


class WaitingPods(Protocol):
    """All pods that wait in Permit, whichever plugin made them wait."""

    def __iter__(self) -> Iterator[WaitingPod]: ...

    def get(self, uid: str) -> WaitingPod | None:
        """Return the waiting pod under a UID."""


class NoWaitingPods:
    """No pods: for engines without a loop."""

    def __iter__(self) -> Iterator[WaitingPod]:
        return iter(())

    def get(self, uid: str) -> WaitingPod | None:
        """Return None."""
        return None
