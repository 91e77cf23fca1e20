"""The workqueue of controllers: keys to be reconciled now or later.

From keys to calls of reconcile: a key that is added several times is reconciled once, in the loop's next turn. One
timer serves all keys that are due later.
"""

from asyncio import AbstractEventLoop, Handle, TimerHandle
from collections import deque
from collections.abc import Callable, Hashable
from heapq import heappop, heappush
from itertools import count
from math import inf
from typing import Generic, TypeVar

from kubesched_controlplane.api.statuses import ApiError

K = TypeVar("K", bound=Hashable)
# a turn ends after so many keys or so many writes, so that other tasks of the loop get their turn
MOST_IN_A_TURN = 25
MOST_WRITES_IN_A_TURN = 25
_RETRY_SECONDS = 1.0
_MOST_TRIES = 10


class Workqueue(Generic[K]):
    """Keys that wait to be reconciled."""

    def __init__(
        self,
        loop: AbstractEventLoop,
        reconcile: Callable[[K], None],
        note: Callable[[str], None],
        written: Callable[[], int] = lambda: 0,
    ) -> None:
        """`written` returns the store's resource version, by which the writes of one turn are limited."""
        self._loop = loop
        self._written = written
        self._handler = reconcile
        self._note = note
        # keys for the next turn; the queue may also hold forgotten keys
        self._ready: set[K] = set()
        self._queue: deque[K] = deque()
        # keys for later, with their time; the heap may also hold outdated times
        self._due: dict[K, float] = {}
        self._heap: list[tuple[float, int, K]] = []
        self._order = count()
        self._turn: Handle | None = None
        self._timer: TimerHandle | None = None
        # remembered, since uvloop returns a handle without a time for a timer that is due at once
        self._timer_at = inf
        self._tries: dict[K, int] = {}

    def __len__(self) -> int:
        return len(self._ready) + len(self._due)

    def add(self, key: K) -> None:
        """Queue a key for the loop's next turn."""
        if key not in self._ready:
            self._ready.add(key)
            self._queue.append(key)
        if self._turn is None:
            self._turn = self._loop.call_soon(self._work)

    def add_after(self, key: K, seconds: float) -> None:
        """Queue a key after some seconds, unless it is due sooner."""
        if seconds <= 0:
            self.add(key)
            return
        when = self._loop.time() + seconds
        if when < self._due.get(key, when + 1):
            self._due[key] = when
            heappush(self._heap, (when, next(self._order), key))
            self._set_timer()

    def seconds_left(self) -> float:
        """Return the seconds until the next key is due, infinity if there is none."""
        if self._ready:
            return 0.0
        return max(0.0, min(self._due.values()) - self._loop.time()) if self._due else inf

    def forget(self, key: K) -> None:
        """Remove a key from the queue."""
        self._ready.discard(key)
        self._due.pop(key, None)
        self._tries.pop(key, None)

    def stop(self) -> None:
        """Drop all keys."""
        self._ready.clear()
        self._queue.clear()
        self._due.clear()
        self._heap.clear()
        for handle in (self._turn, self._timer):
            if handle is not None:
                handle.cancel()
        self._turn = self._timer = None

    def _set_timer(self) -> None:
        """Set the timer to the next due time."""
        while self._heap and self._due.get(self._heap[0][2]) != self._heap[0][0]:
            heappop(self._heap)
        if self._timer is not None:
            if self._heap and self._timer_at == self._heap[0][0]:
                return
            self._timer.cancel()
            self._timer = None
        if self._heap:
            self._timer_at = self._heap[0][0]
            self._timer = self._loop.call_at(self._timer_at, self._time_has_come)

    def _time_has_come(self) -> None:
        self._timer = None
        # a loop calls up to one tick of its clock early
        now = max(self._loop.time(), self._heap[0][0]) if self._heap else 0.0
        while self._heap and self._heap[0][0] <= now:
            when, _, key = heappop(self._heap)
            if self._due.get(key) == when:
                del self._due[key]
                self.add(key)
        self._set_timer()

    def _work(self) -> None:
        self._turn = None
        left, enough = MOST_IN_A_TURN, self._written() + MOST_WRITES_IN_A_TURN
        while self._queue and left and self._written() < enough:
            left -= 1
            key = self._queue.popleft()
            if key in self._ready:
                self._ready.discard(key)
                self._reconcile(key)
        if self._ready and self._turn is None:
            self._turn = self._loop.call_soon(self._work)

    def _reconcile(self, key: K) -> None:
        try:
            self._handler(key)
            self._tries.pop(key, None)
        except ApiError as error:
            tries = self._tries[key] = self._tries.get(key, 0) + 1
            self._note(f"{key}: {error.message}")
            if (error.code in (409, 429) or error.code >= 500) and tries < _MOST_TRIES:
                self.add_after(key, _RETRY_SECONDS * 2 ** (tries - 1))
            else:
                del self._tries[key]
        except Exception as error:
            # a bug in one controller must not stop the others
            self._note(f"{key}: {type(error).__name__}: {error}")
