"""CSV files by mappings: the shapes of public traces, and what is said of files that do not fit."""

from pathlib import Path
from typing import Any

import pytest
import yaml

from kubesched.errors import KubeschedError
from kubesched_lab.simulate.traces.csv_mapping import mapping_of
from kubesched_lab.simulate.traces.csv_trace import trace_of_csv
from kubesched_lab.simulate.traces.trace import PodArrival

DATA = Path(__file__).parent / "data"
MAPPINGS = Path("examples/simulate/mappings")
SMALL = {
    "apiVersion": "simulate.kubesched.io/v1alpha1",
    "kind": "CsvMapping",
    "at": {"column": "t"},
    "name": "{n}",
}


def read(file: Path, document: Any) -> tuple[list[tuple[Any, ...]], list[str]]:
    notes: list[str] = []
    trace = trace_of_csv(file, mapping_of("mapping.yaml", document), notes.append)
    found = []
    for event in trace.events(0):
        assert isinstance(event, PodArrival)
        requests = event.pod.spec.containers[0].resources.requests
        found.append(
            (event.at, event.pod.name, event.runs, requests.get("cpu"), requests.get("memory"), event.pod.priority)
        )
    return found, notes


GOLDEN = {
    "alibaba-2018-batch": (
        [
            (0, "j-1-r2-1-1", 30, "500m", "268005959", 0),
            (76, "j-1-m1-1", 30, "1000m", "405444913", 0),
            (76, "j-1-m1-2", 30, "1000m", "405444913", 0),
            (300, "j-4-m5-1", 60, "1000m", "1073741824", 0),
        ],
        [
            "alibaba-2018-batch.csv: 1 rows are left out; "
            "line 4 has a negative time or count (at 87200, runs -100.0, count 1)"
        ],
    ),
    "google-2019": (
        [
            (0, "330587238433-1-1", 600, "100m", "104857600", 0),
            (300, "330587238433-0-1", 600, "1000m", "1073741824", 200),
        ],
        [],
    ),
    "azure-2017": (
        [
            (0, "x-zsogqx-1", 2591700, "1000m", "1879048192", 0),
            (424500, "bm1dbl1a-1", 900, "2000m", "3758096384", 0),
        ],
        [],
    ),
}


@pytest.mark.parametrize("shape", GOLDEN)
def test_public_traces_are_read(shape: str) -> None:
    document = yaml.safe_load((MAPPINGS / f"{shape}.yaml").read_text())
    assert read(DATA / f"{shape}.csv", document) == GOLDEN[shape]


@pytest.mark.parametrize(
    ("change", "why"),
    [
        ({"kind": "Mapping"}, "mapping.yaml: expected kind CsvMapping of simulate.kubesched.io/v1alpha1"),
        ({"att": {}}, "mapping.yaml: Object contains unknown field `att`"),
        ({"at": {"column": "time"}}, "f.csv: there is no column 'time'; columns: t, n"),
        ({"name": "{job}"}, "f.csv: '{job}' needs 'job'; columns: t, n"),
        ({"cpu": {"column": "t", "times": "many"}}, "f.csv: column 't', times: "),
        ({"runs": {"column": "t"}, "ends": {"column": "t"}}, "mapping.yaml: give `runs` or `ends`, not both"),
        ({"delimiter": ""}, "mapping.yaml: delimiter is ''; expected one character"),
        ({"where": {"n": ["x"]}}, "f.csv: the mapping finds no pod in the rows of the file"),
        ({"template": {"spec": {"nodeSelektor": {}}}}, "f.csv: template: "),
    ],
)
def test_what_is_wrong_is_told(change: dict[str, Any], why: str, tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text("t,n\n1,a\n")
    with pytest.raises(KubeschedError) as raised:
        read(file, {**SMALL, **change})
    assert str(raised.value).startswith(why)


@pytest.mark.parametrize(("mapped", "priority"), [({}, 7), ({"priority": {"column": "t"}}, 1)])
def test_the_priority_of_the_template_counts_where_rows_have_none(
    mapped: dict[str, Any], priority: int, tmp_path: Path
) -> None:
    file = tmp_path / "f.csv"
    file.write_text("t,n\n1,a\n")
    found, _ = read(file, {**SMALL, **mapped, "template": {"spec": {"priority": 7}}})
    assert [each[-1] for each in found] == [priority]


def test_rows_that_cannot_be_read_are_counted(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_text("t,n\nsoon,a\n5,b\n1,c,d\n,e\n")
    found, notes = read(file, SMALL)
    assert [name for _, name, *_ in found] == ["b-1"]
    assert notes == ["f.csv: 3 rows are left out; line 2 has 'soon' as t, which is not a number"]


def test_a_file_that_is_no_text_is_told(tmp_path: Path) -> None:
    file = tmp_path / "f.csv"
    file.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(KubeschedError, match="cannot be read"):
        read(file, SMALL)


def test_a_column_that_yaml_reads_as_a_boolean_is_to_be_quoted() -> None:
    document = yaml.safe_load("{at: {column: t}, name: x, count: {column: n}}")
    with pytest.raises(KubeschedError) as error:
        mapping_of("mapping.yaml", {**SMALL, **document, "count": {"column": False}})
    assert str(error.value) == (
        "mapping.yaml: Expected `str`, got `bool` - at `$.count.column`; "
        "YAML reads n, y, no, yes, off and on as booleans: quote it"
    )
