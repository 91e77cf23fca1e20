"""A cache of the API server's answers to TokenReviews and SubjectAccessReviews.

It is bounded, least recently used first out, and its entries expire. Concurrent requests with the same key share one
review, which is cancelled when no request waits for it any more. Errors are not cached. For one event loop.
"""

# upstream: apiserver/pkg/authentication/token/cache, apimachinery/pkg/util/cache/lruexpirecache.go (v1.36)

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from typing import Generic, TypeVar

from kubesched.common.notes import Clock

Value = TypeVar("Value")


class AnswerCache(Generic[Value]):
    """Answers by key; `seconds` returns how long to keep an answer, 0 for not at all."""

    def __init__(self, most: int, seconds: Callable[[Value], float], clock: Clock) -> None:
        self._most = most
        self._seconds = seconds
        self._clock = clock
        self._known: OrderedDict[bytes, tuple[float, Value]] = OrderedDict()
        self._asked: dict[bytes, _Question[Value]] = {}

    def __len__(self) -> int:
        return len(self._known)

    async def get(self, key: bytes, ask: Callable[[], Awaitable[Value]]) -> Value:
        """Return the cached answer for a key, or call `ask`."""
        known = self._known.get(key)
        if known is not None and self._clock() < known[0]:
            self._known.move_to_end(key)
            return known[1]
        question = self._asked.get(key)
        if question is None:
            question = self._asked[key] = _Question(asyncio.ensure_future(ask()))
        try:
            value = await question.answer()
        finally:
            if not question.waiting:
                self._asked.pop(key, None)
        self._remember(key, value)
        return value

    def _remember(self, key: bytes, value: Value) -> None:
        self._known.pop(key, None)
        if (seconds := self._seconds(value)) > 0:
            self._known[key] = self._clock() + seconds, value
            if len(self._known) > self._most:
                self._known.popitem(last=False)


class _Question(Generic[Value]):
    """A review in flight, and how many requests wait for it."""

    def __init__(self, task: "asyncio.Future[Value]") -> None:
        self._task = task
        self.waiting = 0

    async def answer(self) -> Value:
        """Return the answer; the review is cancelled when no request waits for it any more."""
        self.waiting += 1
        try:
            return await asyncio.shield(self._task)
        finally:
            self.waiting -= 1
            if not self.waiting:
                self._task.cancel()
