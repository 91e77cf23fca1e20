"""Metric families: samples by label values, counted without locks and written in Prometheus' text format.

From observations to text. A cell is bound once per combination of label values and is a plain number or a list of
counts, since some are updated in every scheduling cycle; the client library's would take several times as long as the
cycle itself. A family without cells is not written. Cells are updated by one thread, and may be read by another.
"""

# upstream: component-base/metrics/{opts,counter,histogram,options}.go (v1.36)

from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Final

import msgspec

from kubesched.api.go_numbers import shortest

ALPHA: Final = "ALPHA"
BETA: Final = "BETA"
STABLE: Final = "STABLE"
COUNTER: Final = "counter"
GAUGE: Final = "gauge"
HISTOGRAM: Final = "histogram"
UNEXPECTED: Final = "unexpected"
_ESCAPES = str.maketrans({"\\": r"\\", '"': r"\"", "\n": r"\n"})


class Metric(msgspec.Struct, frozen=True):
    """A metric's name, kind, labels and help; `buckets` are a histogram's upper bounds, without the infinite one."""

    name: str
    kind: str
    help: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()
    stability: str = ALPHA


def exponential(start: float, factor: float, count: int) -> tuple[float, ...]:
    """Return bounds that grow by a factor, rounded as the reference's are."""
    bounds = []
    for _ in range(count):
        bounds.append(start)
        start *= factor
    return tuple(bounds)


class Number:
    """The cell of a counter or a gauge."""

    __slots__ = ("value",)

    def __init__(self) -> None:
        self.value = 0.0

    def reset(self) -> None:
        """Start again."""
        self.value = 0.0

    def lines(self, family: "Family", labels: str) -> Iterator[str]:
        """Yield the cell's lines."""
        yield f"{family.metric.name}{_braced(labels)} {_number(self.value)}\n"


class Buckets:
    """The cell of a histogram."""

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value

    def reset(self) -> None:
        """Start again."""
        self.counts = [0] * (len(self.bounds) + 1)
        self.total = 0.0

    def lines(self, family: "Family", labels: str) -> Iterator[str]:
        """Yield the cell's lines."""
        # copied first, so that the count fits the buckets whatever is observed meanwhile
        counts, total, name = list(self.counts), self.total, family.metric.name
        within = f"{labels}," if labels else ""
        seen = 0
        for bound, count in zip(family.bounds, counts, strict=True):
            seen += count
            yield f'{name}_bucket{{{within}le="{bound}"}} {seen}\n'
        yield f"{name}_sum{_braced(labels)} {_number(total)}\n"
        yield f"{name}_count{_braced(labels)} {seen}\n"


Cell = Number | Buckets


class Family:
    """The cells of one metric; `allowed` are the allowed values of some labels, all other values become
    "unexpected".
    """

    def __init__(
        self, metric: Metric, allowed: Mapping[str, frozenset[str]], unexpected: Callable[[], None] = lambda: None
    ) -> None:
        self.metric = metric
        self.bounds = [*map(shortest, metric.buckets), "+Inf"]
        self._allowed = [allowed.get(label) for label in metric.labels]
        self._unexpected = unexpected
        # cells by label values as given, and by label values as written
        self._bound: dict[tuple[str, ...], Cell] = {}
        self._cells: dict[tuple[str, ...], Cell] = {}
        self._order = sorted(range(len(metric.labels)), key=metric.labels.__getitem__)

    def number(self, *values: str) -> Number:
        """Return the cell of a counter or gauge with these label values."""
        cell = self._bound.get(values) or self._bind(values)
        assert isinstance(cell, Number), f"{self.metric.name} is a {self.metric.kind}"
        return cell

    def buckets(self, *values: str) -> Buckets:
        """Return the cell of a histogram with these label values."""
        cell = self._bound.get(values) or self._bind(values)
        assert isinstance(cell, Buckets), f"{self.metric.name} is a {self.metric.kind}"
        return cell

    def bind(self, *values: str) -> None:
        """Create the cell with these label values, so that it is served with zero."""
        if values not in self._bound:
            self._bind(values)

    def values(self) -> Iterable[tuple[str, ...]]:
        """Return the label values of all cells."""
        return list(self._cells)

    def reset(self) -> None:
        """Count from zero; cells that are still referenced continue to count."""
        for cell in list(self._cells.values()):
            cell.reset()

    def _bind(self, values: tuple[str, ...]) -> Cell:
        assert len(values) == len(self.metric.labels), f"{self.metric.name} has the labels {self.metric.labels}"
        written = tuple(
            value if allowed is None or value in allowed else UNEXPECTED
            for value, allowed in zip(values, self._allowed, strict=True)
        )
        if written != values:
            self._unexpected()
        cell = self._cells.get(written)
        if cell is None:
            made = Buckets(self.metric.buckets) if self.metric.kind == HISTOGRAM else Number()
            cell = self._cells[written] = made
        self._bound[values] = cell
        return cell

    def lines(self) -> Iterator[str]:
        """Yield the family as text, nothing if it has no cells."""
        metric = self.metric
        if not self._cells:
            return
        explained = metric.help.replace("\\", r"\\").replace("\n", r"\n")
        yield f"# HELP {metric.name} [{metric.stability}] {explained}\n"
        yield f"# TYPE {metric.name} {metric.kind}\n"
        cells = [(self._labels(values), cell) for values, cell in list(self._cells.items())]
        for labels, cell in sorted(cells, key=lambda pair: pair[0]):
            yield from cell.lines(self, labels)

    def _labels(self, values: tuple[str, ...]) -> str:
        names = self.metric.labels
        return ",".join(f'{names[i]}="{values[i].translate(_ESCAPES)}"' for i in self._order)


def _braced(labels: str) -> str:
    return f"{{{labels}}}" if labels else ""


def _number(value: float) -> str:
    """Return a value as Go writes it; most are small whole numbers."""
    whole = int(value) if -1e6 < value < 1e6 else None
    return str(whole) if whole == value else shortest(value)
