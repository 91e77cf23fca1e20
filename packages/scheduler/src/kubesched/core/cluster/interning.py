"""Names to small integers and back.

From strings (or any hashable) to dense codes that index NumPy columns. Codes are never reused.
"""

from collections.abc import Hashable
from typing import Generic, TypeVar

K = TypeVar("K", bound=Hashable)


class Interner(Generic[K]):
    """A two-way dictionary between values and codes 0, 1, 2, ..."""

    __slots__ = ("codes", "values")

    def __init__(self) -> None:
        self.codes: dict[K, int] = {}
        self.values: list[K] = []

    def __len__(self) -> int:
        return len(self.values)

    def code(self, value: K) -> int:
        """Return the code of `value`, a new one if it has none yet."""
        code = self.codes.get(value)
        if code is None:
            code = self.codes[value] = len(self.values)
            self.values.append(value)
        return code
