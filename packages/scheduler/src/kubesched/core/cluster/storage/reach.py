"""Things that only some nodes can use: free volumes, storage pools.

From things, each with a node selector, to the first eligible thing that each of many rows can use. Terms on values of
a few labels (a volume of a host, of a zone and a rack) are gathered over the combinations that occur, whatever the
number of nodes and things; other terms are evaluated once, and again when labels change.

`Offers` keeps things in arrays while they are added and removed: the position of a removed thing stays reserved for it,
a new thing gets one on the next `settle`.
"""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import product
from typing import Final, Generic, TypeVar

import msgspec
import numpy as np
from numpy.typing import NDArray

from kubesched.api import labels
from kubesched.api.meta import ApiObject
from kubesched.api.node_selectors import CompiledNodeSelector, CompiledTerm, compile_node_selector
from kubesched.api.pods import NodeSelector
from kubesched.core.cluster.changes import Reads
from kubesched.core.cluster.columns import LabelColumn, Rows
from kubesched.core.cluster.following import Cursor
from kubesched.core.cluster.node_matching import count_of, matching_rows
from kubesched.core.cluster.table import NodeTable

# Stands for no position; larger than every position.
NONE: Final = np.iinfo(np.int32).max
# The most labels of a term, and the most combinations of their values, that are looked up one by one; a larger term is
# matched as a whole.
MOST_LABELS: Final = 3
MOST_COMBINATIONS: Final = 64
# The most removed things (or half of the existing ones, if that is more) before positions are assigned again.
MOST_GONE: Final = 256

Positions = NDArray[np.int32]
T = TypeVar("T", bound=ApiObject)

# a selector without requirements
_ANYWHERE = (CompiledTerm(),)
_ANY_OF = (labels.IN, labels.EQUALS, labels.DOUBLE_EQUALS)


# upstream: component-helpers/storage/volume/helpers.go, CheckNodeAffinity (v1.36)
@lru_cache(16384)
def reaching_nodes(selector: NodeSelector) -> CompiledNodeSelector:
    """Return a volume's node selector compiled; its field requirements are dropped, since only labels are matched."""
    terms = compile_node_selector(selector).terms
    return CompiledNodeSelector(tuple(msgspec.structs.replace(term, fields=()) for term in terms))


class Reach:
    """The rows that can use each thing; a thing is its position in `selectors`, where None means every row."""

    def __init__(self, table: NodeTable, selectors: Sequence[CompiledNodeSelector | None]) -> None:
        by_labels: dict[tuple[str, ...], list[tuple[tuple[str, ...], int]]] = {}
        by_term: dict[CompiledTerm, list[int]] = {}
        for position, selector in enumerate(selectors):
            # one matching term is enough
            for term in _ANYWHERE if selector is None else selector.terms:
                choices = _label_choices(term)
                if choices is None:
                    by_term.setdefault(term, []).append(position)
                else:
                    keys, combinations = choices
                    by_labels.setdefault(keys, []).extend((values, position) for values in combinations)
        self._groups: list[_Group] = [
            *(_ByLabels(table, keys, pairs) for keys, pairs in by_labels.items()),
            *(_ByTerm(table, term, positions) for term, positions in by_term.items()),
        ]

    def first(self, rows: Rows, eligible: NDArray[np.bool_], taken: Sequence[Positions] = ()) -> Positions:
        """Return for each row the first eligible position that it can use, or NONE.

        Each array in `taken` names one position per row that does not count there.
        """
        found = np.full(count_of(rows), NONE, np.int32)
        for group in self._groups:
            np.minimum(found, group.first(rows, eligible, taken), out=found)
        return found


class _Group(ABC):
    """Things whose terms are evaluated in one way."""

    @abstractmethod
    def first(self, rows: Rows, eligible: NDArray[np.bool_], taken: Sequence[Positions]) -> Positions:
        """Return for each row the first eligible position of the group, or NONE."""


class _ByLabels(_Group):
    """Things for nodes with certain values of certain labels."""

    def __init__(self, table: NodeTable, keys: tuple[str, ...], pairs: Iterable[tuple[tuple[str, ...], int]]) -> None:
        self._table = table
        self._keys = keys
        # the values of a term, one per label, and the position of its thing
        self._pairs = list(dict.fromkeys(pairs))
        # for each row the code of its combination of values
        self._row_codes: NDArray[np.intp] = np.zeros(0, np.intp)
        self._code_count = 0
        # of each pair with a combination that occurs, by code, then by position
        self._codes: NDArray[np.intp] = np.zeros(0, np.intp)
        self._positions: Positions = np.zeros(0, np.int32)
        self._cursor = Cursor(table, Reads.LABELS)

    def first(self, rows: Rows, eligible: NDArray[np.bool_], taken: Sequence[Positions]) -> Positions:
        """Return for each row the first eligible position with the row's values, or NONE."""
        if self._cursor.advance() is not None:
            self._resolve()
        chosen = eligible[self._positions]
        positions, codes = self._positions[chosen], self._codes[chosen]
        ends = np.cumsum(np.bincount(codes, minlength=self._code_count))
        of_row = self._row_codes[rows]
        starts = np.zeros(self._code_count, np.intp)
        starts[1:] = ends[:-1]
        return _first_not_taken(positions, starts[of_row], ends[of_row], taken)

    def _resolve(self) -> None:
        """Number the combinations of values that occur, and find the pairs with these."""
        size = self._table.size
        columns = [self._table.label(key) for key in self._keys]
        row_numbers = np.zeros(size, np.int64)
        for column in columns:
            row_numbers = row_numbers * len(column) + column.codes[:size]
        distinct, inverse = np.unique(row_numbers, return_inverse=True)
        code_of = {number: code for code, number in enumerate(distinct.tolist())}
        numbered = ((code_of.get(_number(columns, values)), position) for values, position in self._pairs)
        known = sorted((code, position) for code, position in numbered if code is not None)
        self._row_codes = inverse.reshape(size)
        self._code_count = len(distinct)
        self._codes = np.array([code for code, _ in known], np.intp)
        self._positions = np.array([position for _, position in known], np.int32)


def _number(columns: Sequence[LabelColumn], values: tuple[str, ...]) -> int:
    """Return the number of a combination of values, one per column, or a number that no row has."""
    number = 0
    for column, value in zip(columns, values, strict=True):
        code = column.of_value.get(value)
        if code is None:
            return -1
        number = number * len(column) + code
    return number


class _ByTerm(_Group):
    """Things for the nodes that one selector term matches."""

    def __init__(self, table: NodeTable, term: CompiledTerm, positions: Sequence[int]) -> None:
        self._table = table
        self._term = term
        self._positions = np.array(positions, np.int32)
        self._mask: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self._cursor = Cursor(table, Reads.LABELS)

    def first(self, rows: Rows, eligible: NDArray[np.bool_], taken: Sequence[Positions]) -> Positions:
        """Return for each matching row the first eligible position, else NONE."""
        if self._cursor.advance() is not None:
            self._mask = matching_rows(self._table, self._term, slice(0, self._table.size))
        positions = self._positions[eligible[self._positions]]
        ends = np.where(self._mask[rows], len(positions), 0)
        return _first_not_taken(positions, np.zeros(len(ends), np.intp), ends, taken)


def _label_choices(term: CompiledTerm) -> tuple[tuple[str, ...], list[tuple[str, ...]]] | None:
    """Return the labels and the combinations of values of a term; None if it has too many or other operators."""
    requirements = term.labels.requirements
    keys = tuple(requirement.key for requirement in requirements)
    if not 0 < len(keys) <= MOST_LABELS or len(set(keys)) < len(keys) or term.problems or term.labels.matches_nothing:
        return None
    if not all(requirement.operator in _ANY_OF for requirement in requirements):
        return None
    combinations = list(product(*(requirement.values for requirement in requirements)))
    return (keys, combinations) if len(combinations) <= MOST_COMBINATIONS else None


def _first_not_taken(
    positions: Positions, starts: NDArray[np.intp], ends: NDArray[np.intp], taken: Sequence[Positions]
) -> Positions:
    """Return for each row the first of `positions` from its start to its end that is not taken there, or NONE."""
    if not len(positions):
        return np.full(len(starts), NONE, np.int32)
    candidates = _at(positions, starts, ends)
    # each array takes one position per row at most
    for _ in taken:
        clashes = np.zeros(len(starts), np.bool_)
        for others in taken:
            clashes |= candidates == others
        clashes &= candidates != NONE
        if not clashes.any():
            break
        starts = starts + clashes
        candidates = _at(positions, starts, ends)
    return candidates


def _at(positions: Positions, indices: NDArray[np.intp], ends: NDArray[np.intp]) -> Positions:
    within = positions[np.minimum(indices, len(positions) - 1)]
    return np.where(indices < ends, within, np.int32(NONE))


class Offers(ABC, Generic[T]):
    """Things at positions; removed things leave gaps. Read only after `settle`."""

    def __init__(self, table: NodeTable) -> None:
        self._table = table
        self.things: list[T] = []
        self.present: NDArray[np.bool_] = np.zeros(0, np.bool_)
        self.reach = Reach(table, ())
        self._positions: dict[str, int] = {}
        self._waiting: dict[str, T] = {}
        self._gone = 0

    def __len__(self) -> int:
        return len(self.things) - self._gone + len(self._waiting)

    def __iter__(self) -> Iterator[T]:
        """Yield all things, in no particular order."""
        yield from (thing for thing, here in zip(self.things, self.present.tolist(), strict=True) if here)
        yield from self._waiting.values()

    def add(self, thing: T) -> None:
        """Add a thing, under a name that is not in use."""
        position = self._positions.get(thing.full_name)
        if position is not None and self.same_place(self.things[position], thing):
            self.things[position] = thing
            self.present[position] = True
            self._gone -= 1
            self.placed(position)
        else:
            self._waiting[thing.full_name] = thing

    def discard(self, full_name: str) -> None:
        """Remove a thing."""
        if self._waiting.pop(full_name, None) is None:
            position = self._positions.get(full_name)
            if position is not None and self.present[position]:
                self.present[position] = False
                self._gone += 1

    def settle(self) -> None:
        """Give positions to the things that were added since the last call."""
        if self._waiting or self._gone > max(MOST_GONE, len(self.things) // 2):
            self.things = self.in_order(list(self))
            self._waiting = {}
            self._gone = 0
            self.present = np.ones(len(self.things), np.bool_)
            self._positions = {thing.full_name: position for position, thing in enumerate(self.things)}
            self.reach = Reach(self._table, [self.selector(thing) for thing in self.things])
            self.laid_out()

    # -- overridden for each kind of things

    @abstractmethod
    def selector(self, thing: T) -> CompiledNodeSelector | None:
        """Return the selector of the nodes that can use a thing; None for all."""

    @abstractmethod
    def same_place(self, old: T, new: T) -> bool:
        """Return whether a thing that is added again under its name can have its old position."""

    def in_order(self, things: list[T]) -> list[T]:
        """Return things in the order of their positions."""
        return things

    def placed(self, position: int) -> None:
        """Update the columns for a thing that has its old position again."""

    @abstractmethod
    def laid_out(self) -> None:
        """Recompute the columns after positions were assigned again."""
