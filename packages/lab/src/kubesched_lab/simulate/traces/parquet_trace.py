"""Parquet files as traces: our own columns, or other columns by a mapping.

From rows to events. Our columns are the fields of the lines of a trace file (`at`, `template`, `object` and `change` as
JSON texts, `from`, `name`, `namespace`, `count`, `runs`, `delete`), and for pods without an object `cpu` (cores),
`memory` (bytes), `resources` and `labels` (maps, structs or JSON texts) and `priority`. Cells without a value are left
out. Errors name the file, the row and the column. The page reads a file that a user opened as lines, which a separate
process writes (`write_row_lines`).
"""

import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from string import Formatter
from typing import Any, BinaryIO

import msgspec

from kubesched.api.pods import Pod
from kubesched.api.tolerant_json import UNREADABLE
from kubesched.common.notes import Note
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.admission import TraceAdmission
from kubesched_lab.simulate.traces.csv_mapping import CsvMapping, RowReader
from kubesched_lab.simulate.traces.mapped_rows import mapped_rows, sized_pod, trace_of_rows
from kubesched_lab.simulate.traces.opening import LONGEST_LINE, decoded, opened_trace
from kubesched_lab.simulate.traces.parquet_rows import column_names, metadata_of, rows_of
from kubesched_lab.simulate.traces.pod_template import admitted_pod
from kubesched_lab.simulate.traces.recording.run_times import Durations
from kubesched_lab.simulate.traces.trace import Trace, TraceEvent
from kubesched_lab.simulate.traces.trace_file import Line, LineReader

_TEXTS = ("template", "from", "name", "namespace", "delete")
_DOCUMENTS = ("object", "change")
_SIZES = ("cpu", "memory", "resources", "priority", "labels")
COLUMNS = ("at", "runs", "count", *_TEXTS, *_DOCUMENTS, *_SIZES)
# key in the file's metadata: the trace has the pods that controllers created in place of lost ones
REPLACEMENTS = b"kubesched.io/replacements"
# prefix of the templates that are created here; no file can have it
_OWN = "\0"
MOST_SIZES = 10_000
# limit of resources or labels of a row
MOST_NAMES = 1000
# suffix of a file that `write_row_lines` wrote
ROW_LINES = ".rows"


class RowSize(msgspec.Struct, frozen=True):
    """The columns of a pod without an object."""

    cpu: float | None = None
    memory: float | None = None
    resources: dict[str, int] | None = None
    priority: int | None = None
    labels: dict[str, str] | None = None


class _RowHead(msgspec.Struct, frozen=True):
    """The first of the lines of `write_row_lines`."""

    replacements: bool = False


_decode_row = msgspec.json.Decoder(dict[str, Any]).decode
_decode_head = msgspec.json.Decoder(_RowHead).decode


def trace_of_parquet(path: Path) -> Trace:
    """Return the trace in a file with our columns, which is read during the simulation; raises TraceError."""
    # pandas writes its index as a column
    names = [name for name in column_names(path) if not name.startswith("__index_level_")]
    _check(path.name, names)
    return _trace(path.name, lambda: rows_of(path, names), REPLACEMENTS in metadata_of(path))


def write_row_lines(path: Path, out: BinaryIO, most_rows: int, longest_line: int) -> None:
    """Write a file with our columns as lines that `trace_of_row_lines` reads; raises TraceError."""
    names = [name for name in column_names(path) if not name.startswith("__index_level_")]
    _check(path.name, names)
    out.write(msgspec.json.encode(_RowHead(REPLACEMENTS in metadata_of(path))) + b"\n")
    for number, row in enumerate(rows_of(path, names), 1):
        line = msgspec.json.encode({name: _plain(value) for name, value in row.items()}, enc_hook=str)
        if len(line) > longest_line:
            raise TraceError(f"{path.name}, row {number}: has more than {longest_line >> 20} MiB")
        out.write(line + b"\n")
        # one row too many, which the reader refuses
        if number > most_rows:
            break


def trace_of_row_lines(path: Path) -> Trace:
    """Return the trace in lines of `write_row_lines`; raises TraceError."""
    name = path.name.removesuffix(ROW_LINES)

    def rows() -> Iterator[dict[str, Any]]:
        with opened_trace(path) as file:
            file.readline(LONGEST_LINE)
            for number, line in enumerate(iter(lambda: file.readline(LONGEST_LINE), b""), 1):
                yield decoded(_decode_row, line, f"{name}, row {number}")

    with opened_trace(path) as file:
        head = decoded(_decode_head, file.readline(LONGEST_LINE), name)
    return _trace(name, rows, head.replacements)


def _check(name: str, columns: Sequence[str]) -> None:
    if "at" not in columns:
        raise TraceError(f"{name}: there is no column 'at'; give --mapping FILE, which maps its columns")
    unknown = [column for column in columns if column not in COLUMNS]
    if unknown:
        raise TraceError(
            f"{name}: there is a column {unknown[0]!r}; columns of a trace are {', '.join(COLUMNS)}; "
            "or give --mapping FILE"
        )


def _trace(name: str, rows: Callable[[], Iterable[Mapping[str, Any]]], has_replacements: bool = False) -> Trace:
    def events(seed: int) -> Iterator[TraceEvent]:
        reader = _PodRows(name)
        for row in rows():
            yield from reader.events_of(row)

    return Trace(name, events, has_replacements)


def trace_of_records(name: str, records: Sequence[Mapping[str, Any]]) -> Trace:
    """Return a trace of rows with our columns, such as the rows of a DataFrame; raises TraceError when it is read."""
    return _trace(name, lambda: records)


def trace_of_mapped_parquet(path: Path, mapping: CsvMapping, note: Note) -> Trace:
    """Return the pods in a file with other columns; raises TraceError."""
    names = column_names(path)
    RowReader(mapping, names, path.name)
    used = [name for name in names if name in _used_columns(mapping)]
    reader = RowReader(mapping, used, path.name)

    def rows() -> Iterator[tuple[str, list[str]]]:
        for number, row in enumerate(rows_of(path, used), 1):
            yield f"row {number}", [_text(row[name]) for name in used]

    return trace_of_rows(path.name, mapped_rows(path.name, rows(), reader, note), mapping)


def _used_columns(mapping: CsvMapping) -> set[str]:
    """Return the columns that a mapping reads; public traces have many more."""
    numbers = (mapping.at, mapping.runs, mapping.ends, mapping.count, mapping.cpu, mapping.memory, mapping.priority)
    used = {field.column for field in (*numbers, *mapping.resources.values()) if field is not None}
    for text in (mapping.name, *mapping.labels.values()):
        used |= {name.partition(".")[0].partition("[")[0] for _, name, _, _ in Formatter().parse(text) if name}
    return used | set(mapping.where)


def _text(value: Any) -> str:
    """Return a cell as text, in the form of a CSV file; dates are seconds since 1970."""
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, datetime):
        return repr((value if value.tzinfo else value.replace(tzinfo=UTC)).timestamp())
    if isinstance(value, date):
        return repr(datetime(value.year, value.month, value.day, tzinfo=UTC).timestamp())
    if isinstance(value, timedelta):
        return repr(value.total_seconds())
    return value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)


def _plain(value: Any) -> Any:
    """Return a cell as a JSON value."""
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if isinstance(value, float) and math.isinf(value):
        return str(value)
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    return value


class _PodRows:
    """Reads rows with our columns, one after the other."""

    def __init__(self, name: str) -> None:
        self._reader = LineReader(name, Durations.COMPLETED, iter(()), "row")
        self._admission = TraceAdmission()
        self._name = name
        self._sizes: dict[tuple[str, bytes], str] = {}

    def events_of(self, row: Mapping[str, Any]) -> Iterator[TraceEvent]:
        """Yield the events of a row; raises TraceError."""
        self._reader.begin()
        unknown = next((name for name in row if name not in COLUMNS), None)
        if unknown is not None:
            raise self._reader.wrong(f"there is no column {unknown!r}; columns: {', '.join(COLUMNS)}")
        given = {name: _plain(value) for name, value in row.items() if not _missing(value)}
        size = {name: given.pop(name) for name in _SIZES if name in given}
        for name in _DOCUMENTS:
            if name in given:
                given[name] = self._document(name, given[name])
        if size and (given.keys() & {"object", "change", "delete", "template"}):
            raise self._reader.wrong(f"column {next(iter(size))!r} is for pods without an object")
        if not given.keys() & {"object", "change", "delete", "template", "from"} or size:
            given["from"] = self._sized(given.get("from", ""), size)
        try:
            line = msgspec.convert(given, Line, strict=False)
        except msgspec.ValidationError as error:
            raise self._reader.wrong(_column(str(error))) from None
        yield from self._reader.events_of_line(line)

    def _document(self, name: str, value: Any) -> Any:
        if not isinstance(value, str | bytes):
            return value
        try:
            return msgspec.json.decode(value)
        except UNREADABLE as error:
            raise self._reader.wrong(f"column {name!r} is not JSON: {error}") from None

    def _sized(self, template: Any, given: dict[str, Any]) -> str:
        """Return the name of a template with the size of a row; pods of equal sizes share it."""
        for name in ("resources", "labels"):
            if name in given:
                given[name] = self._mapping(name, given[name])
        key = (str(template), msgspec.json.encode(given))
        known = self._sizes.get(key)
        if known is None:
            known = f"{_OWN}{len(self._sizes)}"
            self._reader.keep(known, self._pod(str(template), given))
            if len(self._sizes) < MOST_SIZES:
                self._sizes[key] = known
        return known

    def _mapping(self, name: str, value: Any) -> Any:
        found = value if isinstance(value, list) else self._document(name, value)
        if isinstance(value, list) and all(map(_is_pair, value)):
            # a map
            found = dict(value)
        if not isinstance(found, dict):
            return found
        if len(found) > MOST_NAMES:
            raise self._reader.wrong(f"column {name!r} has {len(found)} names; expected at most {MOST_NAMES}")
        return {key: each for key, each in found.items() if each is not None}

    def _pod(self, template: str, given: dict[str, Any]) -> Pod:
        try:
            size = msgspec.convert(given, RowSize, strict=False)
        except msgspec.ValidationError as error:
            raise self._reader.wrong(_column(str(error))) from None
        amounts = {**(size.resources or {})}
        for name, value, unit in (("cpu", size.cpu, 1000), ("memory", size.memory, 1)):
            if value is not None:
                if not 0 <= value < 1e15:
                    raise self._reader.wrong(f"column {name!r} is {value:g}; expected a number from 0")
                amounts[name] = round(value * unit)
        model = self._reader.template(template) if template else None
        if template and not isinstance(model, Pod):
            raise self._reader.wrong(f"there is no template {template!r} of a pod above")
        if not isinstance(model, Pod):
            model = admitted_pod({}, {"name": "template", "namespace": "default"}, self._admission, self._name)
        return sized_pod(model, amounts, size.priority, size.labels or {})


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2 and isinstance(value[0], str)


def _missing(value: Any) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value)) or value == ""


def _column(message: str) -> str:
    """Return a message of msgspec about a value, with its column."""
    what, at, path = message.partition(" - at `$.")
    return f"column {path.rstrip('`')!r}: {what}" if at else message
