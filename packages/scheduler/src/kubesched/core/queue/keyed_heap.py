"""A heap whose entries can be found, moved and removed by name.

From (name, key, value) to the value with the smallest key. Removal is lazy: an outdated entry is dropped when it comes
to the top, and the heap is rebuilt when most of it is outdated.
"""

import heapq
from collections.abc import Iterator
from typing import Any, Generic, TypeVar

V = TypeVar("V")


class KeyedHeap(Generic[V]):
    """Values by name, the one with the smallest key first; equal keys in the order of insertion."""

    __slots__ = ("_entries", "_heap", "_puts")

    def __init__(self) -> None:
        self._heap: list[tuple[Any, int, str, V]] = []
        self._entries: dict[str, tuple[Any, int, str, V]] = {}
        self._puts = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[V]:
        """Yield the values in no particular order."""
        return (entry[3] for entry in list(self._entries.values()))

    def get(self, name: str) -> V | None:
        """Return the value under a name."""
        entry = self._entries.get(name)
        return None if entry is None else entry[3]

    def put(self, name: str, key: Any, value: V) -> None:
        """Add a value, or give it another key; a value with the same key keeps its turn among equals."""
        known = self._entries.get(name)
        if known is not None and known[3] is value and known[0] == key:
            return
        self._puts += 1
        entry = (key, self._puts, name, value)
        self._entries[name] = entry
        heapq.heappush(self._heap, entry)
        if len(self._heap) > 64 and len(self._heap) > 2 * len(self._entries):
            self._heap = list(self._entries.values())
            heapq.heapify(self._heap)

    def remove(self, name: str) -> V | None:
        """Remove and return the value under a name."""
        entry = self._entries.pop(name, None)
        return None if entry is None else entry[3]

    def peek(self) -> V | None:
        """Return the value with the smallest key."""
        heap = self._heap
        while heap:
            entry = heap[0]
            if self._entries.get(entry[2]) is entry:
                return entry[3]
            heapq.heappop(heap)
        return None

    def first(self, limit: int) -> list[V]:
        """Return the values with the smallest keys, in their order, without visiting most of the rest."""
        heap, found = self._heap, list[V]()
        # the entries to visit next, with their positions in the heap; their parents were visited before
        nearest = [(heap[0], 0)] if heap else []
        while nearest and len(found) < limit:
            entry, place = heapq.heappop(nearest)
            if self._entries.get(entry[2]) is entry:
                found.append(entry[3])
            for child in (2 * place + 1, 2 * place + 2):
                if child < len(heap):
                    heapq.heappush(nearest, (heap[child], child))
        return found

    def pop(self) -> V | None:
        """Remove and return the value with the smallest key."""
        value = self.peek()
        if value is not None:
            del self._entries[heapq.heappop(self._heap)[2]]
        return value
