"""The writers of plugins on the scheduler's loop.

From writes of plugins to effects, one at a time for each object. A write that fails is retried, later each time; one
that the server refuses for good, or again and again, is logged under the plugin's name and dropped.
"""

import asyncio
import logging
from collections.abc import Mapping, Sequence
from typing import Any

from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.services.object_writer import ObjectWriter, Written
from kubesched.core.framework.values.effects import EffectError, Effects, Emit, Evict, NotFoundError, Patch
from kubesched.core.framework.values.texts import tidy
from kubesched.errors import PluginError

MOST_TRIES = 8
FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 30.0


class PluginWriters:
    """Makes the writers of plugins."""

    def __init__(self, effects: Effects) -> None:
        self._effects = effects

    def of(self, plugin: str, writes: Sequence[str]) -> ObjectWriter:
        """Return the writer of a plugin, which may write the kinds that it names."""
        return PluginWriter(plugin, writes, self._effects)


class PluginWriter:
    """The writer of one plugin."""

    def __init__(self, plugin: str, writes: Sequence[str], effects: Effects) -> None:
        self._plugin = plugin
        self._writes = frozenset(writes)
        self._effects = effects
        self._log = logging.getLogger(f"kubesched.plugins.{plugin}")
        # (kind/subresource, UID) -> what has to be written; a key whose write is under way has a task
        self._waiting: dict[tuple[str, str], Patch] = {}
        self._tasks: dict[tuple[str, str], asyncio.Task[None]] = {}

    def status(self, obj: Written, status: Mapping[str, Any]) -> None:
        """Set fields of an object's status."""
        self._patch(obj, "status", {"status": dict(status)})

    def annotate(self, obj: Written, annotations: Mapping[str, str | None]) -> None:
        """Set annotations of an object."""
        self._patch(obj, "", {"metadata": {"annotations": dict(annotations)}})

    def event(self, obj: Written, reason: str, note: str, *, warning: bool = False) -> None:
        """Record an event that regards an object."""
        regarding = obj.pod if isinstance(obj, PodInfo) else obj
        self._effects.submit(Emit(regarding, "Warning" if warning else "Normal", reason, self._plugin, tidy(note)))

    async def evict(self, pod: PodInfo) -> str:
        """Evict a pod as its budgets allow; return why it cannot be evicted now, or an empty text."""
        self._check("Pod", "eviction")
        try:
            await self._effects.perform(Evict(pod.namespace, pod.name, pod.uid))
        except NotFoundError:
            # the object was deleted
            return ""
        except EffectError as refused:
            return str(refused)
        return ""

    def _patch(self, obj: Written, subresource: str, change: dict[str, Any]) -> None:
        kind = "Pod" if isinstance(obj, PodInfo) else type(obj).__name__
        self._check(kind, subresource)
        key = f"{kind}/{subresource}", obj.uid
        waiting = self._waiting.get(key)
        body = _merged(waiting.body if waiting is not None else {"metadata": {"uid": obj.uid}}, change)
        self._waiting[key] = Patch(kind, obj.metadata.namespace, obj.metadata.name, body, subresource)
        if key not in self._tasks:
            self._tasks[key] = asyncio.get_running_loop().create_task(self._write(key))

    def _check(self, kind: str, subresource: str) -> None:
        wanted = f"{kind}/{subresource}" if subresource else kind
        if wanted not in self._writes:
            raise PluginError(
                f"plugin {self._plugin!r} writes {wanted}, which it does not declare; add it to its `writes`"
            )

    async def _write(self, key: tuple[str, str]) -> None:
        """Write what waits for an object until nothing waits."""
        try:
            while key in self._waiting:
                await self._write_one(key)
        finally:
            del self._tasks[key]

    async def _write_one(self, key: tuple[str, str]) -> None:
        pause = FIRST_PAUSE_SECONDS
        for attempt in range(1, MOST_TRIES + 1):
            # the newest patch: a later write has replaced an earlier one
            patch = self._waiting.pop(key)
            try:
                await self._effects.perform(patch)
                return
            except NotFoundError:
                return
            except EffectError as refused:
                if refused.final or attempt == MOST_TRIES:
                    about = f"{patch.kind} {patch.namespace}/{patch.name}"
                    self._log.warning("Object not written", extra={"object": about, "err": str(refused)})
                    return
            newer = self._waiting.get(key)
            self._waiting[key] = patch if newer is None else _after(patch, newer)
            await asyncio.sleep(pause)
            pause = min(2 * pause, LONGEST_PAUSE_SECONDS)


def _after(patch: Patch, newer: Patch) -> Patch:
    return Patch(newer.kind, newer.namespace, newer.name, _merged(patch.body, newer.body), newer.subresource)


def _merged(body: Mapping[str, Any], change: Mapping[str, Any]) -> dict[str, Any]:
    """Return a patch with a later one on top of it; unlike a merge, fields to be removed stay in it."""
    merged = dict(body)
    for field, value in change.items():
        old = merged.get(field)
        merged[field] = _merged(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged
