"""CSV files as traces, by a mapping.

From lines to rows; `mapped_rows` makes pods of them. Files that end in .gz are unpacked.
"""

import csv
import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import TextIO

from kubesched.common.notes import Note
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.csv_mapping import CsvMapping, RowReader
from kubesched_lab.simulate.traces.mapped_rows import mapped_rows, trace_of_rows
from kubesched_lab.simulate.traces.trace import Trace


def trace_of_csv(path: Path, mapping: CsvMapping, note: Note) -> Trace:
    """Return the pods in a CSV file; raises TraceError."""
    try:
        with _opened(path) as file:
            lines = csv.reader(file, delimiter=mapping.delimiter)
            reader = RowReader(mapping, mapping.columns or next(lines, []), path.name)

            def rows() -> Iterator[tuple[str, list[str]]]:
                for row in lines:
                    yield f"line {lines.line_num}", row

            return trace_of_rows(path.name, mapped_rows(path.name, rows(), reader, note), mapping)
    except (OSError, EOFError, zlib.error, UnicodeDecodeError, csv.Error) as error:
        raise TraceError(f"{path}: cannot be read: {error}") from None


def _opened(path: Path) -> TextIO:
    if path.suffix == ".gz":
        return gzip.open(path, "rt", newline="", encoding="utf-8")
    return path.open(newline="", encoding="utf-8")
