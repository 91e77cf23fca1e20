"""Traces of any format, by the kind of the file.

From paths to one trace. Files of other tools are recognised by their content. .jsonl (and .jsonl.gz) are trace files;
.csv needs a mapping; .parquet has our columns or needs a mapping. YAML of kind Workload is generated. YAML with test
cases of scheduler_perf has workloads, of which one is chosen. Other files and folders are manifests and snapshots,
whose objects exist from the beginning.
"""

from collections.abc import Collection, Sequence
from enum import StrEnum
from pathlib import Path

import msgspec

from kubesched.common.files import read_at_most
from kubesched.common.notes import Note
from kubesched.config.document import DocumentError, parse
from kubesched_lab.simulate.errors import TraceError
from kubesched_lab.simulate.traces.csv_mapping import mapping_of
from kubesched_lab.simulate.traces.csv_trace import trace_of_csv
from kubesched_lab.simulate.traces.foreign import foreign_reader, foreign_trace, head_of, is_map_of_msgpack
from kubesched_lab.simulate.traces.manifest_trace import trace_of_cluster
from kubesched_lab.simulate.traces.parquet_trace import (
    ROW_LINES,
    trace_of_mapped_parquet,
    trace_of_parquet,
    trace_of_row_lines,
)
from kubesched_lab.simulate.traces.perf.perf_cases import are_test_cases, runs_of, the_one
from kubesched_lab.simulate.traces.perf.perf_trace import trace_of_perf
from kubesched_lab.simulate.traces.recording.run_times import Durations
from kubesched_lab.simulate.traces.scheduler_simulator import trace_of_simulator_records
from kubesched_lab.simulate.traces.trace import Trace, merged
from kubesched_lab.simulate.traces.trace_file import trace_of_file
from kubesched_lab.simulate.traces.workload_spec import is_workload, trace_of_workload

LARGEST_SPEC = 1 << 24


def read_traces(
    paths: Sequence[str],
    custom_kinds: Collection[str] = (),
    mapping: Path | None = None,
    note: Note = lambda line: None,
    durations: Durations = Durations.COMPLETED,
    workload: str = "",
    *,
    alone: bool = False,
) -> Trace:
    """Return the trace in some files; raises TraceError.

    `mapping` is for CSV files, `durations` for recordings; `workload` chooses one of a scheduler_perf file, as
    FILE#NAME does. With `alone` a file must not refer to other files.
    """
    clusters: list[str] = []
    traces: list[Trace] = []
    for path in paths:
        if path.endswith(".parquet"):
            traces.append(_parquet(Path(path), mapping, note))
        elif path.endswith(ROW_LINES):
            traces.append(trace_of_row_lines(Path(path)))
        elif (foreign := foreign_trace(path, durations, note)) is not None:
            traces.append(foreign)
        elif _is_trace(path):
            traces.append(trace_of_file(Path(path), durations))
        elif path.removesuffix(".gz").endswith(".csv"):
            if mapping is None:
                raise TraceError(f"{path}: a CSV file needs --mapping FILE, which maps its columns")
            traces.append(trace_of_csv(Path(path), mapping_of(mapping.name, _document(mapping)), note))
        elif (document := _spec(path)) is not None:
            if is_workload(document):
                traces.append(trace_of_workload(Path(path).name, document))
            else:
                runs = runs_of(document, Path(without_workload(path)))
                run = the_one(runs, workload_in(path) or workload, path)
                traces.append(trace_of_perf(msgspec.structs.replace(run, alone=alone), note))
        else:
            clusters.append(path)
    if clusters:
        # nodes and classes of a cluster exist before pods of other files
        traces.insert(0, trace_of_cluster(clusters, custom_kinds))
    return merged(traces)


class Reading(StrEnum):
    """The way to read a file: as a whole, text or not, or line by line, or in rows."""

    TEXT = "text"
    BINARY = "binary"
    LINES = "lines"
    ROWS = "rows"


def way_of_reading(path: Path) -> Reading:
    """Return the way in which `read_traces` reads a file; raises TraceError."""
    if path.suffix == ".parquet":
        return Reading.ROWS
    if path.suffix == ROW_LINES:
        return Reading.LINES
    head = head_of(path)
    reader = foreign_reader(str(path), head)
    if reader is trace_of_simulator_records or (reader is None and _is_trace(str(path))):
        return Reading.LINES
    return Reading.BINARY if is_map_of_msgpack(head) else Reading.TEXT


def _parquet(path: Path, mapping: Path | None, note: Note) -> Trace:
    """Return the trace in a Parquet file: with our columns, or with other columns by a mapping."""
    if mapping is None:
        return trace_of_parquet(path)
    return trace_of_mapped_parquet(path, mapping_of(mapping.name, _document(mapping)), note)


def _is_trace(path: str) -> bool:
    return path.removesuffix(".gz").endswith(".jsonl")


def without_workload(path: str) -> str:
    """Return the file of FILE#NAME, or FILE itself."""
    return path if Path(path).exists() else path.partition("#")[0]


def workload_in(path: str) -> str:
    """Return the name of FILE#NAME, empty for FILE."""
    return "" if Path(path).exists() else path.partition("#")[2]


def workload_document(path: str) -> object:
    """Return the document of a generated trace, None for other files."""
    document = _spec(path)
    return document if is_workload(document) else None


def _spec(path: str) -> object:
    """Return the document of a generated trace, or of test cases of scheduler_perf; None for other files."""
    file = without_workload(path)
    if not file.endswith((".yaml", ".yml")):
        return None
    if Path(file).is_file() and Path(file).stat().st_size > LARGEST_SPEC:
        # manifests of a large cluster
        return None
    text = read_at_most(file, LARGEST_SPEC)
    if b"simulate." in text or b"workloadTemplate" in text:
        document = _parsed(file, text)
        return document if is_workload(document) or are_test_cases(document) else None
    return None


def _document(path: Path) -> object:
    return _parsed(str(path), read_at_most(path, LARGEST_SPEC))


def _parsed(path: str, text: bytes) -> object:
    try:
        return parse(text)
    except DocumentError as error:
        raise TraceError(f"{path}: {error}") from None
