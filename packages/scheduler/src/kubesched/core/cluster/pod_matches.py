"""Questions about pods that selectors match: the number of matching pods on each row.

From namespaces and selectors to `PodMatch`, one for all readers with the same question, and from a pod's namespace and
labels to the questions that count it. Questions are indexed by a label that their selectors need, so that a pod with
new labels is compared with few of them. A question exists as long as a reader refers to it.
"""

from collections import deque
from collections.abc import Collection, Iterator, Mapping
from itertools import islice
from typing import NamedTuple
from weakref import ReferenceType, WeakValueDictionary, ref

import numpy as np
from numpy.typing import NDArray

from kubesched.api.labels import Selector

# The most changes of a question that a reader can catch up with; a reader that missed more recounts all rows.
RECENT_CHANGES = 256
# The most values of a required label under which a question is found; with more it is found under the label's key.
MOST_PLACES = 64
# a label with its value, a label key, or None for questions that need no label
Place = tuple[str, str] | str | None
MatchRef = ReferenceType["PodMatch"]


class MatchKey(NamedTuple):
    """The identity of a question about pods; `namespaces` None means all of them."""

    namespaces: frozenset[str] | None
    selectors: tuple[Selector, ...]
    live_only: bool


class PodMatch:
    """The number of matching pods on each row, and the rows whose number changed last."""

    __slots__ = ("__weakref__", "_recent", "changes", "key", "rows")

    def __init__(self, key: MatchKey) -> None:
        self.key = key
        self.rows: dict[int, int] = {}
        # the number of changes of counts, and the rows of the newest ones
        self.changes = 0
        self._recent: deque[int] = deque(maxlen=RECENT_CHANGES)

    def start_with(self, counts: Mapping[int, int]) -> None:
        """Add counts before the question has a reader."""
        rows = self.rows
        if rows.keys().isdisjoint(counts):
            rows.update(counts)
        else:
            for row, count in counts.items():
                rows[row] = rows.get(row, 0) + count

    def count(self, row: int, by: int) -> None:
        """Add to the count of a row, dropping zeros."""
        count = self.rows.get(row, 0) + by
        if count:
            self.rows[row] = count
        else:
            self.rows.pop(row, None)
        self.changes += 1
        self._recent.append(row)

    def changed_since(self, changes: int) -> Collection[int] | None:
        """Return the rows whose count changed since there were `changes` changes, None if there were too many."""
        new = self.changes - changes
        if new > RECENT_CHANGES:
            return None
        return dict.fromkeys(islice(reversed(self._recent), new))

    def selects(self, namespace: str, labels: Mapping[str, str]) -> bool:
        """Return whether a live pod with these labels is counted."""
        namespaces = self.key.namespaces
        if namespaces is not None and namespace not in namespaces:
            return False
        return all(selector.matches(labels) for selector in self.key.selectors)

    def column(self, size: int) -> NDArray[np.int64]:
        """Return a new dense column of the counts."""
        column = np.zeros(size, np.int64)
        if self.rows:
            column[list(self.rows.keys())] = list(self.rows.values())
        return column


class PodMatches:
    """The questions that exist; `version` changes whenever one is added."""

    def __init__(self) -> None:
        self.version = 0
        self._by_key: WeakValueDictionary[MatchKey, PodMatch] = WeakValueDictionary()
        self._by_place: dict[Place, set[MatchRef]] = {}

    def get(self, key: MatchKey) -> PodMatch | None:
        """Return the question with this identity, if it exists."""
        return self._by_key.get(key)

    def add(self, match: PodMatch) -> None:
        """Add a question; it is dropped when nothing refers to it any more."""
        places = _places(match.key)

        def drop(dead: MatchRef) -> None:
            for place in places:
                refs = self._by_place[place]
                refs.discard(dead)
                if not refs:
                    del self._by_place[place]

        reference = ref(match, drop)
        for place in places:
            self._by_place.setdefault(place, set()).add(reference)
        self._by_key[match.key] = match
        self.version += 1

    def selecting(self, namespace: str, labels: Mapping[str, str]) -> tuple[MatchRef, ...]:
        """Return the questions that count live pods with these labels."""
        return tuple(
            reference
            for reference in self._may_select(labels)
            if (match := reference()) is not None and match.selects(namespace, labels)
        )

    def _may_select(self, labels: Mapping[str, str]) -> Iterator[MatchRef]:
        by_place = self._by_place
        yield from tuple(by_place.get(None, ()))
        for label in labels.items():
            yield from tuple(by_place.get(label, ()))
            yield from tuple(by_place.get(label[0], ()))


def _places(key: MatchKey) -> Collection[Place]:
    """Return where a question is found: under each value of a label that it needs, or under the label's key."""
    found: Collection[Place] = (None,)
    for selector in key.selectors:
        needed = selector.needed_label
        if needed is not None:
            if needed.values is not None and len(needed.values) <= MOST_PLACES:
                return [(needed.key, value) for value in needed.values]
            found = (needed.key,)
    return found
