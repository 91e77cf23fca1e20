"""What is written about pods that wait: one word after the other, and the last one stays.

From effects to the world, beside the loop. A write that is refused for now or not answered is tried again for a while,
unless a newer word about the pod has come or the pod is about to be bound: an old word must not be the last one.
"""

# upstream: util/utils.go (PatchPodStatus) (v1.36)

import asyncio
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from kubesched.core.framework.effects import ConflictError, Effect, EffectError, Effects, Patch
from kubesched.core.loop.inbox import Note, Tasks

# differs (a condition that cannot be written): the reference tries four times within half a second, and then the pod
# never says why it waits
MOST_TRIES = 12
FIRST_WAIT_SECONDS = 0.1
LONGEST_WAIT_SECONDS = 30.0
# so many words may wait to be tried again; further ones are left to the next attempt of their pods
MOST_PATIENT = 1000


class _Word:
    """What is being written about one pod, and what of it could not be written."""

    def __init__(self) -> None:
        self.task: asyncio.Task[None]
        self.overtaken = asyncio.Event()
        self.unsaid: Mapping[str, Any] = {}


class Telling:
    """Writes about pods."""

    def __init__(self, effects: Effects, tasks: Tasks, note: Note) -> None:
        self._effects = effects
        self._tasks = tasks
        self._note = note
        self._words: dict[str, _Word] = {}
        # how many words wait to be tried again
        self.patient = 0

    def say(self, uid: str, effects: Sequence[Effect]) -> None:
        """Write about a pod, in place of what could not be written of it so far."""
        before = self._words.get(uid)
        if before is not None:
            before.overtaken.set()
        word = self._words[uid] = _Word()
        word.task = self._tasks.start(self._say(word, effects, before))

        def said(_: "asyncio.Task[None]") -> None:
            if self._words.get(uid) is word:
                del self._words[uid]

        word.task.add_done_callback(said)

    async def quiet(self, uid: str) -> None:
        """Return when nothing is being written about a pod; what could not be written so far is not any more."""
        word = self._words.get(uid)
        if word is not None:
            word.overtaken.set()
            await asyncio.wait([word.task])

    def give_up(self) -> None:
        """Try nothing again."""
        for word in self._words.values():
            word.overtaken.set()

    async def _say(self, word: _Word, effects: Sequence[Effect], before: _Word | None) -> None:
        if before is not None:
            await asyncio.wait([before.task])
            effects = [_with_unsaid(effect, before.unsaid) for effect in effects]
        for effect in effects:
            await self._write(effect, word)

    async def _write(self, effect: Effect, word: _Word) -> None:
        """Carry out an effect, again and again if need be."""
        seconds = FIRST_WAIT_SECONDS
        for _ in range(MOST_TRIES):
            try:
                await self._effects.perform(effect)
                return
            except EffectError as refused:
                about = f"pod {effect.namespace}/{effect.name}" if isinstance(effect, Patch) else "a pod"
                self._note(f"the status of {about} could not be written: {refused}")
                # a patch names no version: whoever wrote at the same moment is done soon
                final = refused.final and not isinstance(refused, ConflictError)
                if final or self.patient >= MOST_PATIENT:
                    return
            if await self._overtaken(word, seconds):
                word.unsaid = effect.body["status"] if isinstance(effect, Patch) else {}
                return
            seconds = min(2 * seconds, LONGEST_WAIT_SECONDS)

    async def _overtaken(self, word: _Word, seconds: float) -> bool:
        """Wait a while; return whether a newer word has come."""
        self.patient += 1
        try:
            async with asyncio.timeout(seconds):
                await word.overtaken.wait()
            return True
        except TimeoutError:
            return False
        finally:
            self.patient -= 1


def _with_unsaid(effect: Effect, unsaid: Mapping[str, Any]) -> Effect:
    """Return a patch of a pod's status that also says what an earlier one could not, as far as it is still true."""
    if not isinstance(effect, Patch) or not unsaid:
        return effect
    return msgspec.structs.replace(effect, body={**effect.body, "status": {**unsaid, **effect.body["status"]}})
