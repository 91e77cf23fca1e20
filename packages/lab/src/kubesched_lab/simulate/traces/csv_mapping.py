"""Mappings of the columns of a CSV file to the time, the size and the duration of a pod.

    apiVersion: simulate.kubesched.io/v1alpha1
    kind: CsvMapping
    columns: [task, instances, job, type, status, start, end, cpu, memory]    # without it: the first line names them
    where: {status: [Terminated]}                                             # other rows are left out
    at: {column: start}
    ends: {column: end}                 # or runs: {column: duration}
    name: "{job}-{task}"
    count: {column: instances}
    cpu: {column: cpu, times: 0.01}     # cores
    memory: {column: memory, times: 1Gi}
    priority: {column: priority}
    labels: {app: "{job}"}

From a document to a checked mapping, and from a row to a pod's figures. An empty field of a row gets its `default`;
without a default the row is left out, and counted.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import msgspec

from kubesched.api.quantity import InvalidQuantityError, value_of
from kubesched_lab.simulate.errors import TraceError

API_VERSION, KIND = "simulate.kubesched.io/v1alpha1", "CsvMapping"


class _Strict(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename="camel"):
    """A part of the document; unknown fields are errors."""


class NumberField(_Strict, frozen=True):
    """A column of numbers: each times a factor (a number, or a quantity such as 1Gi), plus an offset."""

    column: str
    times: float | str = 1.0
    plus: float = 0.0
    default: float | None = None


class CsvMapping(_Strict, frozen=True):
    """A mapping."""

    api_version: str
    kind: str
    at: NumberField
    name: str
    columns: list[str] = []
    delimiter: str = ","
    where: dict[str, list[str]] = {}
    runs: NumberField | None = None
    ends: NumberField | None = None
    count: NumberField | None = None
    cpu: NumberField | None = None
    memory: NumberField | None = None
    resources: dict[str, NumberField] = {}
    priority: NumberField | None = None
    namespace: str = "default"
    labels: dict[str, str] = {}
    template: dict[str, Any] = {}


class MappedRow(NamedTuple):
    """The pods that a row describes."""

    at: float
    runs: float | None
    name: str
    pods: int
    amounts: tuple[tuple[str, int], ...]
    # None: the priority of the template
    priority: int | None
    labels: tuple[tuple[str, str], ...]


class UnusableRowError(Exception):
    """A row is left out."""


def mapping_of(name: str, document: Any) -> CsvMapping:
    """Return the mapping of a document; raises TraceError."""
    try:
        mapping = msgspec.convert(document, CsvMapping)
    except msgspec.ValidationError as error:
        raise TraceError(f"{name}: {_explained(error)}") from None
    if (mapping.api_version, mapping.kind) != (API_VERSION, KIND):
        raise TraceError(f"{name}: expected kind {KIND} of {API_VERSION}")
    if mapping.runs is not None and mapping.ends is not None:
        raise TraceError(f"{name}: give `runs` or `ends`, not both")
    if len(mapping.delimiter) != 1:
        raise TraceError(f"{name}: delimiter is {mapping.delimiter!r}; expected one character")
    return mapping


def _explained(error: msgspec.ValidationError) -> str:
    """Return the error of a document; explain also that YAML reads a column `n` as false."""
    text = str(error)
    return f"{text}; YAML reads n, y, no, yes, off and on as booleans: quote it" if "got `bool`" in text else text


class RowReader:
    """Reads rows by a mapping; raises TraceError if a column does not exist."""

    def __init__(self, mapping: CsvMapping, columns: list[str], where: str) -> None:
        self._mapping = mapping
        self._columns = columns
        self._where = where
        self._place = {column: place for place, column in enumerate(columns)}
        self._factors: dict[NumberField, float] = {}
        self._amounts = {**mapping.resources}
        if mapping.cpu is not None:
            self._amounts["cpu"] = mapping.cpu
        if mapping.memory is not None:
            self._amounts["memory"] = mapping.memory
        for field in (mapping.at, mapping.runs, mapping.ends, mapping.count, mapping.priority, *self._amounts.values()):
            if field is not None:
                self._check(field.column)
                self._factors[field] = self._factor(field)
        for column in mapping.where:
            self._check(column)
        for text in (mapping.name, *mapping.labels.values()):
            self._filled(text, [""] * len(columns))

    def _check(self, column: str) -> None:
        if column not in self._place:
            raise TraceError(f"{self._where}: there is no column {column!r}; columns: {', '.join(self._columns)}")

    def _factor(self, field: NumberField) -> float:
        if isinstance(field.times, float):
            return field.times
        try:
            return float(value_of(field.times))
        except InvalidQuantityError as error:
            raise TraceError(f"{self._where}: column {field.column!r}, times: {error}") from None

    def read(self, row: list[str]) -> MappedRow:
        """Return the pods of a row; raises UnusableRowError."""
        mapping = self._mapping
        if len(row) != len(self._columns):
            raise UnusableRowError(f"has {len(row)} fields, expected {len(self._columns)}")
        for column, wanted in mapping.where.items():
            if row[self._place[column]] not in wanted:
                raise UnusableRowError("")
        at = self._number(mapping.at, row)
        runs = None
        if mapping.runs is not None:
            runs = self._number(mapping.runs, row)
        elif mapping.ends is not None:
            runs = self._number(mapping.ends, row) - at
        count = 1 if mapping.count is None else round(self._number(mapping.count, row))
        if at < 0 or (runs is not None and runs < 0) or count < 0:
            raise UnusableRowError(f"has a negative time or count (at {at:g}, runs {runs}, count {count})")
        amounts = tuple(
            (name, max(0, round(self._number(field, row) * (1000 if name == "cpu" else 1))))
            for name, field in self._amounts.items()
        )
        return MappedRow(
            round(at, 3),
            None if runs is None else round(runs, 3),
            self._filled(mapping.name, row),
            count,
            amounts,
            None if mapping.priority is None else round(self._number(mapping.priority, row)),
            tuple((key, self._filled(text, row)) for key, text in mapping.labels.items()),
        )

    def _number(self, field: NumberField, row: list[str]) -> float:
        text = row[self._place[field.column]].strip()
        if not text:
            if field.default is None:
                raise UnusableRowError(f"has no {field.column}")
            return field.default
        try:
            return float(text) * self._factors[field] + field.plus
        except ValueError:
            raise UnusableRowError(f"has {text!r} as {field.column}, which is not a number") from None

    def _filled(self, text: str, row: list[str]) -> str:
        values: Mapping[str, str] = dict(zip(self._columns, row, strict=True))
        try:
            return text.format_map(values)
        except (KeyError, ValueError, IndexError) as error:
            raise TraceError(f"{self._where}: {text!r} needs {error}; columns: {', '.join(self._columns)}") from None
