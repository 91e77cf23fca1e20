"""Writes of plugins: the status and annotations of objects, events, and evictions.

From a plugin's constructor (parameter `writer`) to the API server. A write never blocks a cycle: it is carried out in
the background and retried, and of several writes of one object that wait, the last one counts. A plugin names its
writes in `writes`, so that people know which permissions it needs: `Pod/status`, `Pod/eviction`,
`racks.v1.example.com/status`; without a subresource, its annotations.
"""

from collections.abc import Mapping, Sequence
from typing import Any, Protocol

from kubesched.api.meta import ApiObject
from kubesched.core.cluster.pod_info import PodInfo

Written = ApiObject | PodInfo


class ObjectWriter(Protocol):
    """Writes to the API server; raises PluginError for kinds that the plugin's `writes` does not name."""

    def status(self, obj: Written, status: Mapping[str, Any]) -> None:
        """Set fields of an object's status; None removes one."""

    def annotate(self, obj: Written, annotations: Mapping[str, str | None]) -> None:
        """Set annotations of an object; None removes one."""

    def event(self, obj: Written, reason: str, note: str, *, warning: bool = False) -> None:
        """Record an event that regards an object."""

    async def evict(self, pod: PodInfo) -> str:
        """Evict a pod as its PodDisruptionBudgets allow; return why it cannot be evicted now, or an empty text."""


class IdleWriter:
    """The writer of engines without a loop: nothing is written."""

    def status(self, obj: Written, status: Mapping[str, Any]) -> None:
        """Do nothing."""

    def annotate(self, obj: Written, annotations: Mapping[str, str | None]) -> None:
        """Do nothing."""

    def event(self, obj: Written, reason: str, note: str, *, warning: bool = False) -> None:
        """Do nothing."""

    async def evict(self, pod: PodInfo) -> str:
        """Refuse."""
        return "there is no API server here"


class ObjectWriters(Protocol):
    """The writers of all plugins."""

    def of(self, plugin: str, writes: Sequence[str]) -> ObjectWriter:
        """Return the writer of a plugin, which may write the kinds that it names."""


class IdleWriters:
    """Writers of engines without a loop."""

    def of(self, plugin: str, writes: Sequence[str]) -> ObjectWriter:
        """Return a writer that writes nothing."""
        return IdleWriter()
