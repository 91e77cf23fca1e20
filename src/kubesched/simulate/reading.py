"""Traces of any format, by what a file is.

From paths to one trace: .jsonl (and .jsonl.gz) are trace files; YAML of kind Workload is generated; other files
and folders are manifests and snapshots, all of which are there at the beginning.
"""

from collections.abc import Collection, Sequence
from pathlib import Path

from kubesched.common.files import read_at_most
from kubesched.config.document import DocumentError, parse
from kubesched.simulate.errors import TraceError
from kubesched.simulate.manifest_trace import trace_of_cluster
from kubesched.simulate.trace import Trace, merged
from kubesched.simulate.trace_file import trace_of_file
from kubesched.simulate.workload_spec import is_workload, trace_of_workload

LARGEST_SPEC = 1 << 24


def read_traces(paths: Sequence[str], custom_kinds: Collection[str] = ()) -> Trace:
    """Return the trace in some files; raises TraceError."""
    clusters: list[str] = []
    traces: list[Trace] = []
    for path in paths:
        if _is_trace(path):
            traces.append(trace_of_file(Path(path)))
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
    if b"simulate." not in text:
        return None
    try:
        document: object = parse(text)
    except DocumentError as error:
        raise TraceError(f"{path}: {error}") from None
    return document if is_workload(document) else None
