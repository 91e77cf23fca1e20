"""Pods per topology domain, for terms that come and go.

From sparse counts per row to sums per domain, for each topology key that terms name. A carried term can appear and
vanish while the sums are in use: only the rows it is on are then counted again.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping
from typing import Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from kubesched.core.cluster.columns import LabelColumn, Rows
from kubesched.core.cluster.domain_counts import DomainCounts, Source
from kubesched.core.cluster.table import NodeTable

NO_ROW = -1


class Domains:
    """The sums of one topology key."""

    __slots__ = ("_sources", "column", "counts")

    def __init__(self, table: NodeTable, topology_key: str, sources: Iterable[Source]) -> None:
        # shared with the counts
        self._sources = list(sources)
        self.counts = DomainCounts(table, topology_key, self._sources)
        self.column = self.counts.column

    @property
    def idle(self) -> bool:
        """Return whether there are no sources."""
        return not self._sources

    def exchange(self, sources: Collection[Source]) -> set[int]:
        """Replace the sources; return the rows that only new or only old sources are on.

        A source can vanish while its pods still exist: when labels of the incoming pod's namespace change, so that the
        term does not select it any more. Rows that its pods have left are in the change log.
        """
        old = {(id(rows), weight): rows for rows, weight in self._sources}
        new = {(id(rows), weight): rows for rows, weight in sources}
        self._sources[:] = sources
        differing = [old[key] for key in old.keys() - new.keys()] + [new[key] for key in new.keys() - old.keys()]
        return {row for rows in differing for row in rows}

    def update(self, rows: Iterable[int]) -> Collection[int]:
        """Count some rows again; return the codes of the domains that changed."""
        return self.counts.update(rows)

    def sums(self, rows: Rows) -> NDArray[np.int64]:
        """Return the sum of each row's topology domain (0 where the label is missing)."""
        return self.counts.totals.take(self.column.codes[rows])

    def sum_at(self, row: int) -> int:
        """Return the sum of a row's domain."""
        return self.counts.totals.item(self.column.codes.item(row))


class OccupiedDomains(Domains):
    """Domains that are compared only by whether they have counted pods."""

    __slots__ = ("_occupied",)

    def __init__(self, table: NodeTable, topology_key: str, sources: Iterable[Source]) -> None:
        super().__init__(table, topology_key, sources)
        self._occupied: NDArray[np.bool_] = self.counts.totals > 0

    def update(self, rows: Iterable[int]) -> Collection[int]:
        """Count some rows again; return the codes of the domains that got their first or lost their last pod."""
        touched = self.counts.update(rows)
        totals, occupied = self.counts.totals, self._occupied
        if len(occupied) < len(totals):
            occupied = self._occupied = np.concatenate([occupied, np.zeros(len(totals) - len(occupied), np.bool_)])
        flipped = []
        for code in touched:
            now = totals.item(code) > 0
            if now != occupied.item(code):
                occupied[code] = now
                flipped.append(code)
        return flipped

    def occupied(self, rows: Rows) -> NDArray[np.bool_]:
        """Return whether there are pods in the domains of some rows; False for rows that are in none."""
        return self._occupied.take(self.column.codes[rows])

    def occupied_at(self, row: int) -> bool:
        """Return whether there are pods in a row's domain."""
        return self._occupied.item(self.column.codes.item(row))


D = TypeVar("D", bound=Domains)
SourcesByKey = Mapping[str, Collection[Source]]


def sources_by_key(sources: Iterable[tuple[str, Source]]) -> SourcesByKey:
    """Return sources by topology key; sources with the same rows are merged, their weights added."""
    found: dict[str, dict[int, Source]] = {}
    for key, (rows, weight) in sources:
        of_key = found.setdefault(key, {})
        _, known = of_key.get(id(rows), (rows, 0))
        of_key[id(rows)] = (rows, known + weight)
    return {key: list(of_key.values()) for key, of_key in found.items()}


class Touched(NamedTuple):
    """A domain that changed."""

    column: LabelColumn
    code: int

    def only_row(self, changed: Collection[int]) -> int:
        """Return the one row of the domain if it is among the changed ones, else NO_ROW."""
        if self.column.counts[self.code] == 1:
            codes = self.column.codes
            for row in changed:
                if codes.item(row) == self.code:
                    return row
        return NO_ROW

    def rows(self, size: int) -> NDArray[np.intp]:
        """Return all rows of the domain."""
        return np.flatnonzero(self.column.codes[:size] == self.code)


class Tally(Generic[D]):
    """The domains of all topology keys that some terms name."""

    __slots__ = ("_by_key", "_kind", "_recount", "_table")

    def __init__(self, table: NodeTable, kind: type[D]) -> None:
        self._table = table
        self._kind = kind
        self._by_key: dict[str, D] = {}
        # topology key -> rows to be counted again with the next update, even if they do not change
        self._recount: dict[str, Iterable[int]] = {}

    def __iter__(self) -> Iterator[D]:
        return iter(self._by_key.values())

    def __len__(self) -> int:
        return len(self._by_key)

    @property
    def pods(self) -> int:
        """Return how many pods are counted, once per topology key."""
        return sum(domains.counts.pods for domains in self._by_key.values())

    def start(self, sources: SourcesByKey) -> None:
        """Count everything from these sources."""
        self._by_key = {key: self._kind(self._table, key, of_key) for key, of_key in sources.items()}
        self._recount = {}

    def exchange(self, sources: SourcesByKey) -> None:
        """Replace the sources; the next update counts from them."""
        for key in sources.keys() - self._by_key.keys():
            self._by_key[key] = self._kind(self._table, key, ())
        for key, domains in self._by_key.items():
            self._recount[key] = domains.exchange(sources.get(key, ()))

    def update(self, rows: Collection[int]) -> list[Touched]:
        """Count some rows again; return the domains that changed, as their kind sees it."""
        touched = []
        if not self._recount:
            for domains in self._by_key.values():
                for code in domains.update(rows):
                    touched.append(Touched(domains.column, code))
            return touched
        recount, self._recount = self._recount, {}
        for key, domains in list(self._by_key.items()):
            touched += [Touched(domains.column, code) for code in domains.update({*rows, *recount[key]})]
            if domains.idle:
                del self._by_key[key]
        return touched
