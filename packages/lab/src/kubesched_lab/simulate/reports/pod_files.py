"""The lives of pods in a file: Parquet, CSV or JSON lines.

From records, while pods leave, to rows; they are written in batches, so that memory does not grow. Columns: `config`,
`seed`, and the fields of a record; `cpu` is in cores, `memory` in bytes, `resources` has the other requests as JSON.
"""

import csv
import gzip
import io
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple, Protocol

import msgspec

from kubesched.common.extras import extra_module
from kubesched.errors import KubeschedError
from kubesched_lab.simulate.measuring.pod_log import PodRecord

SUFFIXES = (".parquet", ".csv", ".csv.gz", ".jsonl", ".jsonl.gz")
BATCH = 10_000
_DIGITS = 6


class PodRow(NamedTuple):
    """A row of the file."""

    config: str
    seed: int
    namespace: str
    name: str
    priority: int
    cpu: float
    memory: int
    resources: str
    arrived: float
    bound: float | None
    ended: float | None
    end: str
    node: str
    attempts: int


# a writer for the pods of one run, by its configuration and seed
RunWriter = Callable[[str, int], Callable[[PodRecord], None]]


class _Rows(Protocol):
    """A destination of rows."""

    def add(self, row: PodRow) -> None:
        """Write a row, now or later."""


@contextmanager
def pods_file(path: Path) -> Iterator[RunWriter]:
    """Open a file for the pods of several runs; raises KubeschedError."""
    suffix = next((each for each in SUFFIXES if path.name.endswith(each)), "")
    if not suffix:
        raise KubeschedError(f"--pods {path}: expected a file that ends in {', '.join(SUFFIXES)}")
    try:
        with path.open("wb") as file, _rows(file, suffix) as rows:
            yield lambda config, seed: lambda record: rows.add(pod_row(config, seed, record))
    except OSError as error:
        raise KubeschedError(f"--pods {path}: {error.strerror or error}") from None


@contextmanager
def _rows(file: BinaryIO, suffix: str) -> Iterator[_Rows]:
    """Open a file of rows in a format; the file is complete when the block ends."""
    with ExitStack() as opened:
        if suffix == ".parquet":
            yield opened.enter_context(closing(_ParquetRows(file)))
            return
        if suffix.endswith(".gz"):
            # omit the name and the time of gzip's header
            file = opened.enter_context(gzip.GzipFile("", "wb", fileobj=file, mtime=0))  # type: ignore[assignment]
        text = opened.enter_context(io.TextIOWrapper(file, encoding="utf-8", newline=""))
        yield _CsvRows(text) if suffix.startswith(".csv") else _JsonRows(text)


def pod_row(config: str, seed: int, record: PodRecord) -> PodRow:
    """Return a record as a row of a run."""
    others = {name: amount for name, amount in record.requests.items() if name not in ("cpu", "memory") and amount}
    return PodRow(
        config=config,
        seed=seed,
        namespace=record.namespace,
        name=record.name,
        priority=record.priority,
        cpu=record.requests.get("cpu", 0) / 1000,
        memory=record.requests.get("memory", 0),
        resources=json.dumps(others, sort_keys=True) if others else "",
        arrived=round(record.arrived, _DIGITS),
        bound=None if record.bound is None else round(record.bound, _DIGITS),
        ended=None if record.left is None else round(record.left, _DIGITS),
        end=record.end,
        node=record.node,
        attempts=record.attempts,
    )


class _CsvRows:
    """Rows as CSV; missing values are empty."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self._writer = csv.writer(file, lineterminator="\n")
        self._writer.writerow(PodRow._fields)

    def add(self, row: PodRow) -> None:
        self._writer.writerow(row)


class _JsonRows:
    """Rows as JSON lines."""

    def __init__(self, file: io.TextIOWrapper) -> None:
        self._file = file

    def add(self, row: PodRow) -> None:
        self._file.write(msgspec.json.encode(row._asdict()).decode() + "\n")


class _ParquetRows:
    """Rows as Parquet, in batches."""

    def __init__(self, file: BinaryIO) -> None:
        self._pyarrow: Any = extra_module("pyarrow", "parquet", "Parquet")
        files = extra_module("pyarrow.parquet", "parquet", "Parquet")
        kinds = {str: self._pyarrow.string(), int: self._pyarrow.int64()}
        fields = [(name, kinds.get(kind, self._pyarrow.float64())) for name, kind in PodRow.__annotations__.items()]
        self._schema = self._pyarrow.schema(fields)
        self._writer = files.ParquetWriter(file, self._schema)
        self._rows: list[PodRow] = []

    def add(self, row: PodRow) -> None:
        self._rows.append(row)
        if len(self._rows) >= BATCH:
            self._flush()

    def close(self) -> None:
        """Write the remaining rows."""
        self._flush()
        self._writer.close()

    def _flush(self) -> None:
        if not self._rows:
            return
        columns = zip(zip(*self._rows, strict=True), self._schema, strict=True)
        arrays = [self._pyarrow.array(values, field.type) for values, field in columns]
        self._writer.write_table(self._pyarrow.Table.from_arrays(arrays, schema=self._schema))
        self._rows = []
