"""Many label selectors at once: whether any of them matches.

From selectors to an index by a label that each needs, so that only the few selectors that may match are evaluated.
Equal selectors count once.
"""

from collections.abc import Iterable, Iterator, Mapping

from kubesched.api.labels import Selector


class SelectorSet:
    """Distinct selectors; `selectors` has them in their order."""

    __slots__ = ("_by_key", "_by_label", "_others", "selectors")

    def __init__(self, selectors: Iterable[Selector]) -> None:
        self.selectors = tuple(dict.fromkeys(selectors))
        # (key, value) -> selectors that need this value, or one of several
        self._by_label: dict[tuple[str, str], list[Selector]] = {}
        # key -> selectors that need the key
        self._by_key: dict[str, list[Selector]] = {}
        self._others: list[Selector] = []
        for selector in self.selectors:
            needed = selector.needed_label
            if needed is None:
                self._others.append(selector)
            elif needed.values is None:
                self._by_key.setdefault(needed.key, []).append(selector)
            else:
                for value in needed.values:
                    self._by_label.setdefault((needed.key, value), []).append(selector)

    def any_matches(self, labels: Mapping[str, str]) -> bool:
        """Return whether any selector matches the labels."""
        return any(selector.matches(labels) for selector in self._may_match(labels))

    def differ(self, one: Mapping[str, str], other: Mapping[str, str]) -> bool:
        """Return whether any selector matches one set of labels and not the other."""
        may_match = dict.fromkeys([*self._may_match(one), *self._may_match(other)])
        return any(selector.matches(one) != selector.matches(other) for selector in may_match)

    def _may_match(self, labels: Mapping[str, str]) -> Iterator[Selector]:
        yield from self._others
        if not self._by_label and not self._by_key:
            return
        # iterate over the labels or over the index, whichever is smaller
        if len(labels) <= len(self._by_label) + len(self._by_key):
            for key, value in labels.items():
                yield from self._by_label.get((key, value), ())
                yield from self._by_key.get(key, ())
            return
        for (key, value), selectors in self._by_label.items():
            if labels.get(key) == value:
                yield from selectors
        for key, selectors in self._by_key.items():
            if key in labels:
                yield from selectors
