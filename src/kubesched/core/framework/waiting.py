"""Pods that wait for permission, as plugins see them.

From the loop to plugins whose constructor asks for `waiting`: a plugin that made pods wait at Permit finds them here,
and allows or rejects them in its own name, one by one or all of a kind.
"""

from collections.abc import Iterator
from typing import Protocol

from kubesched.core.cluster.pod_info import PodInfo


class PodThatWaits(Protocol):
    """A pod that has its node and waits for permission to be bound."""

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
        """Let the pod go on as far as a plugin is concerned."""

    def reject(self, plugin: str, message: str) -> bool:
        """Turn the pod away; return whether it was still waiting."""


class PodsThatWait(Protocol):
    """All pods that wait for permission, those of other plugins included."""

    def __iter__(self) -> Iterator[PodThatWaits]: ...

    def get(self, uid: str) -> PodThatWaits | None:
        """Return the waiting pod under a UID."""


class NobodyWaits:
    """For engines without a loop: there is nobody to wait."""

    def __iter__(self) -> Iterator[PodThatWaits]:
        return iter(())

    def get(self, uid: str) -> PodThatWaits | None:
        """Return None."""
        return None
