"""A cache that is bounded by the total weight of its values, not by their number."""

from collections import OrderedDict
from collections.abc import Hashable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class SizedCache(Generic[Key, Value]):
    """Values by key; the least recently used are dropped when the total weight is too high."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept: OrderedDict[Key, tuple[Value, int]] = OrderedDict()
        self.weight = 0

    def __len__(self) -> int:
        return len(self._kept)

    def get(self, key: Key) -> Value | None:
        """Return the value of a key, or None."""
        found = self._kept.get(key)
        if found is None:
            return None
        self._kept.move_to_end(key)
        return found[0]

    def put(self, key: Key, value: Value, weight: int) -> None:
        """Keep a value unless it alone exceeds the limit."""
        before = self._kept.pop(key, None)
        self.weight += weight - (before[1] if before is not None else 0)
        self._kept[key] = (value, weight)
        while self.weight > self._most:
            _, (_, gone) = self._kept.popitem(last=False)
            self.weight -= gone

    def clear(self) -> None:
        """Forget everything."""
        self._kept.clear()
        self.weight = 0
