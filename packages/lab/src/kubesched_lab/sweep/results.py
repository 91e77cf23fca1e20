"""Results of a sweep in a folder, written while it runs.

    sweep.json              the request: specification, inputs and plan (`request.py`)
    runs/part-000001...     rows of runs, as they end, some at a time
    runs.parquet            all rows in the order of the plan, after the end of the sweep; replaces the parts
    timeline/, timeline.parquet   samples over time, on request
    failures.jsonl          runs that failed, and why

From outcomes to files, and back to rows by the ids of runs. Files are written atomically. Files are Parquet, or JSON
lines, which need no library.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec

from kubesched.common.extras import extra_module
from kubesched_lab.simulate.reports.flat import flat_columns
from kubesched_lab.simulate.reports.parquet_files import write_columns
from kubesched_lab.sweep.errors import SweepError
from kubesched_lab.sweep.request import SweepRequest, write_request
from kubesched_lab.sweep.runs import RunOutcome, SweepRun
from kubesched_lab.sweep.whole_files import whole_file

FORMATS = ("parquet", "jsonl")
# a part is written after this number of runs, or of seconds
RUNS_A_PART = 50
SECONDS_A_PART = 2.0
RUNS, TIMELINE, FAILURES = "runs", "timeline", "failures.jsonl"
Row = dict[str, Any]


class SweepResults:
    """The results in a folder: existing and new ones."""

    def __init__(self, folder: Path, form: str, clock: Callable[[], float] = time.monotonic) -> None:
        if form == "parquet":
            _arrow()
        self.folder = folder
        self._form = form
        self._clock = clock
        self._flushed = clock()
        self._new: list[RunOutcome] = []
        self._failures: dict[str, str] = {}
        self.rows: dict[str, Row] = {}
        for row in self._read(RUNS):
            self.rows.setdefault(row["id"], row)

    def add(self, outcome: RunOutcome, name: str) -> None:
        """Add an outcome, which is written soon."""
        if outcome.error:
            self._failures[outcome.id] = outcome.error
            self._write_failures(name, outcome)
            return
        self.rows[outcome.id] = outcome.row
        self._new.append(outcome)
        if len(self._new) >= RUNS_A_PART or self._clock() - self._flushed >= SECONDS_A_PART:
            self.flush()

    def flush(self) -> None:
        """Write all outcomes that are not written yet."""
        self._flushed = self._clock()
        if not self._new:
            return
        # a run counts as done once its row is written, so its samples are written first
        self._write_part(TIMELINE, [sample for each in self._new for sample in _samples(each)])
        self._write_part(RUNS, [each.row for each in self._new])
        self._new = []

    def finish(self, runs: Sequence[SweepRun]) -> None:
        """Write all rows into one file, in the order of the plan, and delete the parts."""
        self.flush()
        if any(run.id in self.rows for run in runs):
            self._put_together(RUNS, [_labelled(self.rows[run.id], run) for run in runs if run.id in self.rows])
        if self._parts(TIMELINE):
            order = {run.id: number for number, run in enumerate(runs)}
            samples = [row for row in self._unique(TIMELINE) if row["id"] in order]
            self._put_together(TIMELINE, sorted(samples, key=lambda row: order[row["id"]]))

    def _put_together(self, what: str, rows: Sequence[Row]) -> None:
        """Write all rows into one file, and delete the parts."""
        parts = self._parts(what)
        self._write(self.folder / f"{what}.{self._form}", rows)
        for part in parts:
            part.unlink()
        if parts:
            (self.folder / what).rmdir()

    def begin(self, request: SweepRequest) -> None:
        """Write the request; discard earlier failures, since these runs are tried again."""
        write_request(self.folder, request)
        (self.folder / FAILURES).unlink(missing_ok=True)

    # -- files

    def _read(self, what: str) -> Iterator[Row]:
        """Yield the rows of the file of all runs, then of the parts."""
        whole = self.folder / f"{what}.{self._form}"
        for path in [*([whole] if whole.exists() else []), *self._parts(what)]:
            yield from self._read_file(path)

    def _unique(self, what: str) -> Iterator[Row]:
        """Yield each row once; a run may occur in two parts."""
        seen: set[str] = set()
        whole = self.folder / f"{what}.{self._form}"
        for path in [*([whole] if whole.exists() else []), *self._parts(what)]:
            rows = self._read_file(path)
            yield from (row for row in rows if row["id"] not in seen)
            seen.update(row["id"] for row in rows)

    def _parts(self, what: str) -> list[Path]:
        return sorted((self.folder / what).glob(f"part-*.{self._form}"))

    def _write_part(self, what: str, rows: Sequence[Row]) -> None:
        if rows:
            parts = self._parts(what)
            number = int(parts[-1].stem.partition("-")[2]) + 1 if parts else 1
            self._write(self.folder / what / f"part-{number:06}.{self._form}", rows)

    def _write(self, path: Path, rows: Sequence[Row]) -> None:
        """Write a file atomically."""
        with whole_file(path) as file:
            if self._form == "parquet":
                _write_parquet(file, rows)
            else:
                file.write_bytes(b"".join(msgspec.json.encode(row) + b"\n" for row in rows))

    def _write_failures(self, name: str, outcome: RunOutcome) -> None:
        line = msgspec.json.encode({"id": outcome.id, "run": name, "error": outcome.error}) + b"\n"
        try:
            with (self.folder / FAILURES).open("ab") as file:
                file.write(line)
        except OSError as error:
            raise SweepError(f"{self.folder / FAILURES}: {error.strerror or error}") from None

    def _read_file(self, path: Path) -> list[Row]:
        try:
            if path.suffix == ".parquet":
                return _read_parquet(path)
            rows = [msgspec.json.decode(line) for line in path.read_bytes().splitlines()]
        except (OSError, ValueError) as error:
            raise SweepError(f"{path}: cannot be read ({error}); delete it to have its runs done again") from None
        return rows


def failures_in(folder: Path) -> dict[str, str]:
    """Return the reasons of runs that failed, by id."""
    try:
        lines = (folder / FAILURES).read_bytes().splitlines()
    except FileNotFoundError:
        return {}
    found = {}
    for line in lines:
        try:
            row = msgspec.json.decode(line)
        except msgspec.DecodeError:
            # the sweep was ended while it wrote the line
            continue
        found[row["id"]] = row["error"]
    return found


def form_of(folder: Path) -> str | None:
    """Return the format of the results in a folder, None without results."""
    for form in FORMATS:
        if (folder / f"{RUNS}.{form}").exists() or any((folder / RUNS).glob(f"part-*.{form}")):
            return form
    return None


def _labelled(row: Row, run: SweepRun) -> Row:
    """Return a row under the present names of its run, which may differ from the names of an equal run."""
    figures = {key: value for key, value in row.items() if not key.startswith(("set.", "config."))}
    return {**figures, **run.label.columns}


def _samples(outcome: RunOutcome) -> Iterator[Row]:
    for values in zip(*outcome.timeline.values(), strict=True):
        yield {"id": outcome.id, **dict(zip(outcome.timeline, values, strict=True))}


def _arrow() -> Any:
    return extra_module("pyarrow.parquet", "parquet", "Results as Parquet (--format jsonl does without)")


def _write_parquet(path: Path, rows: Sequence[Row]) -> None:
    write_columns(path, {column: [row.get(column) for row in rows] for column in flat_columns(rows)})


def _read_parquet(path: Path) -> list[Row]:
    rows: Iterable[Row] = _arrow().ParquetFile(path).read().to_pylist()
    # runs of one file need not have the same figures
    return [{key: value for key, value in row.items() if value is not None} for row in rows]
