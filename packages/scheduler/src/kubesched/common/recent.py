"""A dictionary of bounded size and weight that forgets the least recently used entries."""

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from typing import Final, Generic, TypeVar, cast

K = TypeVar("K", bound=Hashable)
V = TypeVar("V")

# the key of the mark: entries before it were not used since the last call of `forget_unused`
_MARK: Final = object()


class Recent(Generic[K, V]):
    """Values by key; a value that exceeds the weight alone is not kept."""

    __slots__ = ("_entries", "_heaviest", "limit", "weight")

    def __init__(self, limit: int, heaviest: int) -> None:
        self.limit = limit
        self.weight = 0
        self._heaviest = heaviest
        self._entries: OrderedDict[object, tuple[V | None, int]] = OrderedDict()

    def __len__(self) -> int:
        return len(self._entries) - (_MARK in self._entries)

    def values(self) -> Iterator[V]:
        """Yield all values, which does not count as a use."""
        return (cast("V", value) for key, (value, _) in self._entries.items() if key is not _MARK)

    def get(self, key: K) -> V | None:
        """Return the value, and make it the most recently used one."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def put(self, key: K, value: V, weight: int) -> None:
        """Add a value; a known key keeps its weight."""
        if weight > self._heaviest:
            return
        entry = (value, weight)
        kept = self._entries.setdefault(key, entry)
        if kept is not entry:
            if kept[0] is not value:
                self._entries[key] = (value, kept[1])
            return
        self.weight += weight
        while self.weight > self._heaviest or (len(self._entries) > self.limit and len(self) > self.limit):
            self._forget_oldest()

    def forget_unused(self) -> int:
        """Drop the entries that were not used since the last call; return their number."""
        before = len(self)
        while _MARK in self._entries:
            self._forget_oldest()
        gone = before - len(self)
        self._entries[_MARK] = (None, 0)
        return gone

    def clear(self) -> None:
        """Drop all entries."""
        self._entries.clear()
        self.weight = 0

    def _forget_oldest(self) -> None:
        self.weight -= self._entries.popitem(last=False)[1][1]
