"""Rows of Parquet files.

From a path to rows, read in batches: a batch has as many rows as fit into `BATCH_BYTES`, and equal texts are decoded
once. pyarrow raises errors of any class for a damaged file; all of them are TraceErrors with the file and the column.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar

from kubesched.common.extras import extra_module
from kubesched_lab.simulate.errors import TraceError

T = TypeVar("T")

BATCH_ROWS: Final = 4096
BATCH_BYTES: Final = 1 << 26


def column_names(path: Path) -> list[str]:
    """Return the names of a file's columns; raises TraceError."""
    with _opened(path) as file:
        return _read(path, lambda: list(file.schema_arrow.names))


def metadata_of(path: Path) -> dict[bytes, bytes]:
    """Return the metadata that a file was written with; raises TraceError."""
    with _opened(path) as file:
        return _read(path, lambda: file.schema_arrow.metadata) or {}


def rows_of(path: Path, columns: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the rows of a file with some of its columns; raises TraceError."""
    with _opened(path, columns) as file:
        size = _read(path, lambda: _batch_rows(file.metadata))
        # threads would read ahead
        batches = _read(path, lambda: file.iter_batches(size, columns=list(columns), use_threads=False))
        while (batch := _read(path, lambda: next(batches, None))) is not None:
            cells = [
                _read(path, lambda at=at: _cells(batch.column(at)), name)  # type: ignore[misc]
                for at, name in enumerate(batch.schema.names)
            ]
            for row in zip(*cells, strict=True):
                yield dict(zip(batch.schema.names, row, strict=True))


@contextmanager
def _opened(path: Path, columns: Sequence[str] = ()) -> Iterator[Any]:
    """Open a file to read some of its columns; raises TraceError."""
    pyarrow = extra_module("pyarrow", "parquet", "Parquet")
    files = extra_module("pyarrow.parquet", "parquet", "Parquet")
    with _read(path, lambda: files.ParquetFile(path)) as file:
        if not columns:
            yield file
            return
        texts = _read(path, lambda: _text_columns(file.schema_arrow, pyarrow.types))
        again = {"read_dictionary": [name for name in columns if name in texts], "metadata": file.metadata}
        with _read(path, lambda: files.ParquetFile(path, **again)) as known:
            yield known


def _text_columns(schema: Any, types: Any) -> set[str]:
    return {
        field.name
        for field in schema
        if any(is_text(field.type) for is_text in (types.is_string, types.is_large_string, types.is_binary))
    }


def _batch_rows(metadata: Any) -> int:
    """Return the number of rows to read at once, by the size of the longest rows of a row group."""
    longest = 1.0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        longest = max(longest, group.total_byte_size / max(1, group.num_rows))
    return max(1, min(BATCH_ROWS, int(BATCH_BYTES / longest)))


def _cells(column: Any) -> list[Any]:
    """Return the values of a column; equal texts are one value."""
    if not hasattr(column, "dictionary"):
        return list(column.to_pylist())
    texts = column.dictionary.to_pylist()
    return [None if at is None else texts[at] for at in column.indices.to_pylist()]


def _read(path: Path, read: Callable[[], T], column: str = "") -> T:
    try:
        return read()
    except MemoryError:
        raise TraceError(f"{path}: cannot be read as Parquet: it takes more memory than is available") from None
    except Exception as error:
        why = str(error).partition("\n")[0] or type(error).__name__
        where = f": column {column!r}" if column else ""
        raise TraceError(f"{path}{where}: cannot be read as Parquet: {why}") from None
