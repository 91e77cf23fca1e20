"""Status writes: for each object the newest patch wins.

From events and status patches of pods and pod groups to the API server, beside the loop. Writes of one object are made
one after the other. A write that fails is retried with a growing delay until it succeeds, a newer write of the object
comes, or the pod is about to be bound.
"""

# upstream: util/utils.go (PatchPodStatus) (v1.36)

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kubesched.common.notes import Note
from kubesched.core.framework.values.effects import ConflictError, Effect, EffectError, Effects, Patch
from kubesched.core.loop.inbox import Tasks

# differs (D-031): the reference tries four times within half a second, and then the pod never shows why it waits
MOST_TRIES = 12
FIRST_WAIT_SECONDS = 0.1
LONGEST_WAIT_SECONDS = 30.0
# the most writes that wait for a retry; further ones are dropped, and the next attempt of their pods writes again
MOST_RETRYING = 1000


class PendingWrite:
    """The running write of one object, and the status fields that it could not write."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None]
        self.superseded = asyncio.Event()
        self.unwritten: Mapping[str, Any] = {}


class StatusWriter:
    """Writes events and status patches, at most one write at a time for each object."""

    def __init__(self, effects: Effects, tasks: Tasks, note: Note) -> None:
        self._effects = effects
        self._tasks = tasks
        self._note = note
        self._pending: dict[str, PendingWrite] = {}
        # the number of writes that wait for a retry
        self.retrying = 0

    def write(self, uid: str, effects: Sequence[Effect]) -> None:
        """Write effects of an object; the fields that an earlier write could not write are added."""
        before = self._pending.get(uid)
        if before is not None:
            before.superseded.set()
        pending = self._pending[uid] = PendingWrite()
        pending.task = self._tasks.start(self._write_all(pending, effects, before))

        def written(_: "asyncio.Task[None]") -> None:
            if self._pending.get(uid) is pending:
                del self._pending[uid]

        pending.task.add_done_callback(written)

    async def drain(self, uid: str) -> None:
        """Wait until no write of an object is running; a waiting retry is dropped."""
        pending = self._pending.get(uid)
        if pending is not None:
            pending.superseded.set()
            await asyncio.wait([pending.task])

    def drop_retries(self) -> None:
        """Drop all waiting retries."""
        for pending in self._pending.values():
            pending.superseded.set()

    async def _write_all(self, pending: PendingWrite, effects: Sequence[Effect], before: PendingWrite | None) -> None:
        if before is not None:
            await asyncio.wait([before.task])
            effects = [_with_unwritten(effect, before.unwritten) for effect in effects]
        for effect in effects:
            await self._write(effect, pending)

    async def _write(self, effect: Effect, pending: PendingWrite) -> None:
        """Carry out an effect, with retries."""
        seconds = FIRST_WAIT_SECONDS
        for _ in range(MOST_TRIES):
            try:
                await self._effects.perform(effect)
                return
            except EffectError as refused:
                about = f"pod {effect.namespace}/{effect.name}" if isinstance(effect, Patch) else "a pod"
                self._note(f"the status of {about} could not be written: {refused}")
                # the patch has no resource version, so it can be sent unchanged after a conflict
                final = refused.final and not isinstance(refused, ConflictError)
                if final or self.retrying >= MOST_RETRYING:
                    return
            if await self._superseded(pending, seconds):
                pending.unwritten = effect.body["status"] if isinstance(effect, Patch) else {}
                return
            seconds = min(2 * seconds, LONGEST_WAIT_SECONDS)

    async def _superseded(self, pending: PendingWrite, seconds: float) -> bool:
        """Wait before a retry; return whether a newer write has come meanwhile."""
        self.retrying += 1
        try:
            async with asyncio.timeout(seconds):
                await pending.superseded.wait()
            return True
        except TimeoutError:
            return False
        finally:
            self.retrying -= 1


def _with_unwritten(effect: Effect, unwritten: Mapping[str, Any]) -> Effect:
    """Return a status patch with the fields that an earlier patch could not write and this one does not set."""
    if not isinstance(effect, Patch) or not unwritten:
        return effect
    return msgspec.structs.replace(effect, body={**effect.body, "status": {**unwritten, **effect.body["status"]}})
