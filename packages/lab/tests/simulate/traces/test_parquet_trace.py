"""Parquet files as traces: our columns, others by a mapping, and what is said of files that do not fit."""

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pandas
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest
import yaml

from kubesched.errors import KubeschedError
from kubesched_lab.simulate.traces.csv_mapping import mapping_of
from kubesched_lab.simulate.traces.csv_trace import trace_of_csv
from kubesched_lab.simulate.traces.parquet_trace import trace_of_mapped_parquet, trace_of_parquet
from kubesched_lab.simulate.traces.reading import read_traces
from kubesched_lab.simulate.traces.trace import ObjectDeletion, ObjectPut, PodArrival, Trace

DATA = Path(__file__).parent / "data"
MAPPINGS = Path("examples/simulate/mappings")
NODE = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n"}, "status": {"capacity": {"cpu": "4"}}}'
POD = '{"apiVersion": "v1", "kind": "Pod", "spec": {"containers": [{"name": "main", "image": "i"}]}}'
GPU = "example.com/gpu"


def file_of(folder: Path, rows: Sequence[dict[str, Any]], schema: Any = None) -> Path:
    path = folder / "trace.parquet"
    names = list(dict.fromkeys(name for row in rows for name in row))
    table = pa.Table.from_pylist([{name: row.get(name) for name in names} for row in rows], schema)
    pq.write_table(table, path)
    return path


def events(trace: Trace) -> list[tuple[Any, ...]]:
    found: list[tuple[Any, ...]] = []
    for event in trace.events(0):
        if isinstance(event, PodArrival):
            requests = dict(event.pod.spec.containers[0].resources.requests)
            found.append((event.at, event.pod.full_name, event.runs, requests, event.pod.priority))
        elif isinstance(event, ObjectPut):
            found.append((event.at, event.obj.name))
        else:
            assert isinstance(event, ObjectDeletion)
            found.append((event.at, f"-{event.full_name}"))
    return found


def test_rows_are_lines_of_a_trace_file_or_pods_by_their_sizes(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"at": 0, "object": NODE},
        {"template": "job", "object": POD},
        {"at": 1, "name": "a", "cpu": 1.5, "memory": 1 << 30, "runs": 60.0, "priority": 7, "namespace": "batch"},
        {"at": 2, "from": "job", "name": "b-{}", "count": 2, "resources": '{"example.com/gpu": 1}'},
        {"at": 3, "from": "job", "name": "c"},
        {"at": 4, "name": "d"},
        {"at": 5, "delete": "Node/n"},
    ]
    assert events(trace_of_parquet(file_of(tmp_path, rows))) == [
        (0, "n"),
        (1, "batch/a", 60, {"cpu": "1500m", "memory": "1073741824"}, 7),
        (2, "default/b-0", None, {GPU: "1"}, 0),
        (2, "default/b-1", None, {GPU: "1"}, 0),
        (3, "default/c", None, {}, 0),
        (4, "default/d", None, {}, 0),
        (5, "-n"),
    ]


@pytest.mark.parametrize(
    ("kind", "labels"),
    [
        (pa.map_(pa.string(), pa.string()), [("app", "web")]),
        (pa.struct([("app", pa.string()), ("tier", pa.string())]), {"app": "web", "tier": None}),
        (pa.string(), '{"app": "web"}'),
    ],
)
def test_labels_are_maps_structs_or_json(kind: Any, labels: Any, tmp_path: Path) -> None:
    schema = pa.schema([("at", pa.float32()), ("name", pa.string()), ("labels", kind)])
    path = file_of(tmp_path, [{"at": 0, "name": "p", "labels": labels}], schema)
    (event,) = trace_of_parquet(path).events(0)
    assert isinstance(event, PodArrival)
    assert event.pod.metadata.labels == {"app": "web"}


def test_files_of_pandas_have_an_index_and_numbers_that_may_be_missing(tmp_path: Path) -> None:
    frame = pandas.DataFrame(
        {"at": [0, 5], "name": ["a", "b"], "cpu": [1, 2.5], "priority": [7, None], "count": [None, 1.0]},
        index=["x", "y"],
    )
    frame.to_parquet(tmp_path / "t.parquet")
    found = events(trace_of_parquet(tmp_path / "t.parquet"))
    assert found == [(0, "default/a", None, {"cpu": "1000m"}, 7), (5, "default/b", None, {"cpu": "2500m"}, 0)]


def test_rows_are_read_in_batches(tmp_path: Path) -> None:
    rows = [{"at": number, "name": f"p{number}", "cpu": 1 + number % 2} for number in range(10_000)]
    found = list(trace_of_parquet(file_of(tmp_path, rows)).events(0))
    assert len(found) == 10_000
    assert isinstance(found[-1], PodArrival)
    assert (found[-1].at, found[-1].pod.name) == (9999, "p9999")


@pytest.mark.parametrize(
    ("rows", "why"),
    [
        ([{"start": 1}], "there is no column 'at'; give --mapping FILE"),
        ([{"at": 1, "cpus": 2}], "there is a column 'cpus'; columns of a trace are at, runs, count,"),
        ([{"at": 5, "name": "p"}, {"at": 1, "name": "q"}], r"row 2: `at` is 1.0, before the row above \(5.0\)"),
        ([{"at": "soon", "name": "p"}], "row 1: column 'at': Expected `float | null`, got `str`"),
        ([{"at": 1, "name": "p", "cpu": "many"}], "row 1: column 'cpu': Expected `float | null`, got `str`"),
        ([{"at": 1, "name": "p", "cpu": -1.0}], "row 1: column 'cpu' is -1; expected a number from 0"),
        ([{"at": 1, "name": "p", "labels": "{"}], "row 1: column 'labels' is not JSON"),
        ([{"at": 1, "name": "p", "labels": "[1]"}], "row 1: column 'labels': Expected `object | null`, got `array`"),
        ([{"at": 1, "object": "x"}], "row 1: column 'object' is not JSON"),
        ([{"at": 1, "object": POD, "cpu": 1.0}], "row 1: column 'cpu' is for pods without an object"),
        ([{"at": 1, "from": "none", "name": "p"}], "row 1: there is no template 'none' above"),
        ([{"at": 1, "from": "none", "name": "p", "cpu": 1.0}], "row 1: there is no template 'none' of a pod above"),
        ([{"at": 1, "cpu": 1.0}], "row 1: a copy of a template needs a `name`"),
    ],
)
def test_what_is_wrong_is_told_with_its_row_and_column(rows: list[dict[str, Any]], why: str, tmp_path: Path) -> None:
    with pytest.raises(KubeschedError, match=rf"^trace.parquet[:,] {why.replace('|', '.')}"):
        list(trace_of_parquet(file_of(tmp_path, rows)).events(0))


def test_a_file_that_is_no_parquet_is_told(tmp_path: Path) -> None:
    path = tmp_path / "x.parquet"
    path.write_text("no parquet")
    with pytest.raises(KubeschedError, match=r"x\.parquet: cannot be read as Parquet: "):
        read_traces([str(path)])
    whole = file_of(tmp_path, [{"at": number, "name": f"p{number}"} for number in range(100)]).read_bytes()
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(KubeschedError, match=r"x\.parquet: cannot be read as Parquet: "):
        read_traces([str(path)])


@pytest.mark.parametrize("name", ["alibaba-2018-batch", "google-2019", "azure-2017"])
def test_public_traces_as_parquet_are_the_pods_of_their_csv(name: str, tmp_path: Path) -> None:
    csv, document = DATA / f"{name}.csv", yaml.safe_load((MAPPINGS / f"{name}.yaml").read_text())
    mapping = mapping_of("mapping.yaml", document)
    names = pyarrow.csv.ReadOptions(column_names=mapping.columns or None)
    table = pyarrow.csv.read_csv(csv, names, pyarrow.csv.ParseOptions(invalid_row_handler=lambda row: "skip"))
    # more columns than the mapping reads
    table = table.append_column("other", pa.array([None] * len(table), pa.string()))
    pq.write_table(table, tmp_path / "t.parquet")
    found = trace_of_mapped_parquet(tmp_path / "t.parquet", mapping, lambda line: None)
    assert events(found) == events(trace_of_csv(csv, mapping, lambda line: None))


MAPPING = {
    "apiVersion": "simulate.kubesched.io/v1alpha1",
    "kind": "CsvMapping",
    "at": {"column": "start"},
    "runs": {"column": "took"},
    "name": "{job}",
}


def test_dates_and_durations_are_seconds(tmp_path: Path) -> None:
    start = datetime(2024, 5, 1, 12, tzinfo=UTC)
    rows: list[dict[str, Any]] = [
        {"start": start + timedelta(seconds=90), "took": timedelta(minutes=1), "job": b"b"},
        {"start": start, "took": timedelta(minutes=2), "job": b"a"},
        {"start": None, "took": None, "job": b"c"},
    ]
    notes: list[str] = []
    trace = trace_of_mapped_parquet(file_of(tmp_path, rows), mapping_of("m", MAPPING), notes.append)
    assert [event[:3] for event in events(trace)] == [(0, "default/a-1", 120), (90, "default/b-1", 60)]
    assert notes == ["trace.parquet: 1 rows are left out; row 3 has no start"]


def test_a_column_that_a_mapping_wants_and_a_file_lacks_is_told(tmp_path: Path) -> None:
    path = file_of(tmp_path, [{"start": 1, "job": "a"}])
    with pytest.raises(KubeschedError, match=r"trace\.parquet: there is no column 'took'; columns: start, job"):
        trace_of_mapped_parquet(path, mapping_of("m", MAPPING), lambda line: None)
