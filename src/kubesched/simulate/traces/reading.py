"""Traces of any format, by what a file is.

From paths to one trace: .jsonl (and .jsonl.gz) are trace files; .csv has a mapping; YAML of kind Workload is generated;
other files
and folders are manifests and snapshots, all of which are there at the beginning.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

from kubesched.common.files import read_at_most
from kubesched.common.notes import Note
from kubesched.config.document import DocumentError, parse
from kubesched.simulate.errors import TraceError
from kubesched.simulate.traces.csv_mapping import mapping_of
from kubesched.simulate.traces.csv_trace import trace_of_csv
from kubesched.simulate.traces.manifest_trace import trace_of_cluster
from kubesched.simulate.traces.recorded_run_times import Durations
from kubesched.simulate.traces.trace import Trace, merged
from kubesched.simulate.traces.trace_file import trace_of_file
from kubesched.simulate.traces.workload_spec import is_workload, trace_of_workload

LARGEST_SPEC = 1 << 24


def read_traces(
    paths: Sequence[str],
    custom_kinds: Collection[str] = (),
    mapping: Path | None = None,
    note: Note = lambda line: None,
    durations: Durations = Durations.COMPLETED,
) -> Trace:
    """Return the trace in some files; raises TraceError. `mapping` is for CSV files, `durations` for recordings."""
    clusters: list[str] = []
    traces: list[Trace] = []
    for path in paths:
        if _is_trace(path):
            traces.append(trace_of_file(Path(path), durations))
        elif path.removesuffix(".gz").endswith(".csv"):
            if mapping is None:
                raise TraceError(f"{path}: a CSV file needs --mapping FILE, which says what its columns are")
            traces.append(trace_of_csv(Path(path), mapping_of(mapping.name, _document(mapping)), note))
        elif (document := _workload(path)) is not None:
            traces.append(trace_of_workload(Path(path).name, document))
        else:
            clusters.append(path)
    if clusters:
        # nodes and classes of a cluster are there before pods of other files
        traces.insert(0, trace_of_cluster(clusters, custom_kinds))
    return merged(traces)


def _is_trace(path: str) -> bool:
    return path.removesuffix(".gz").endswith(".jsonl")


def _workload(path: str) -> object:
    """Return the document of a generated trace, None for other files."""
    if not path.endswith((".yaml", ".yml")):
        return None
    text = read_at_most(path, LARGEST_SPEC)
    document = _parsed(path, text) if b"simulate." in text else None
    return document if is_workload(document) else None


def _document(path: Path) -> object:
    return _parsed(str(path), read_at_most(path, LARGEST_SPEC))


def _parsed(path: str, text: bytes) -> object:
    try:
        return parse(text)
    except DocumentError as error:
        raise TraceError(f"{path}: {error}") from None
