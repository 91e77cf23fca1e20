"""Where reports go: forms by `-o` and by the name of the file, and files of pods."""

import csv
import gzip
import json
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner, Result

from kubesched.cli import main

TRACE = "examples/simulate/small.jsonl"
DATA = Path(__file__).parent / "data"


def simulate(*words: object) -> Result:
    return CliRunner().invoke(main, ["simulate", TRACE, *map(str, words)], catch_exceptions=False)


@pytest.mark.parametrize(
    ("words", "beginning"),
    [
        (["--file", "x.json"], '{\n  "runs"'),
        (["--file", "x.csv"], "figure,unit,config"),
        (["--file", "x.txt"], "small.jsonl"),
        (["-o", "json", "--file", "x.json"], '{\n  "runs"'),
        (["-o", "csv", "--file", "x"], "figure,unit,config"),
    ],
)
def test_the_name_of_the_file_says_the_form(words: list[str], beginning: str, tmp_path: Path) -> None:
    *others, name = words
    assert simulate(*others, tmp_path / name).exit_code == 0
    assert (tmp_path / name).read_text().startswith(beginning)


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["-o", "csv", "--file", "x.json"], "--file x.json is for json, and -o says csv: leave out -o, or rename"),
        (["-o", "parquet"], "-o parquet needs --file FOLDER or --file NAME.parquet"),
        (["--file", "/proc/none/x.json"], "--file /proc/none/x.json: there is no folder /proc/none"),
        (["--file", "/proc/none/x.parquet"], "--file /proc/none/x.parquet: No such file or directory"),
        (["--file", "/proc/none/x.txt"], "--file /proc/none/x.txt: there is no folder /proc/none"),
        (["--pods", "/proc/none/x.csv"], "--pods /proc/none/x.csv: No such file or directory"),
        (["--pods", "/proc/none/x.parquet"], "--pods /proc/none/x.parquet: No such file or directory"),
        (["--pods", "pods.txt"], "--pods pods.txt: expected a file that ends in .parquet, .csv"),
    ],
)
def test_what_cannot_be_written_is_told(words: list[str], why: str) -> None:
    ran = simulate(*words)
    assert ran.exit_code == 1
    assert why in " ".join(ran.output.split())


def test_parquet_has_a_row_a_run_and_a_row_a_sample(tmp_path: Path) -> None:
    simulate("--seeds", "1-2", "-o", "parquet", "--file", tmp_path / "out")
    runs = pq.read_table(tmp_path / "out" / "runs.parquet").to_pylist()
    assert [(each["seed"], each["pods.bound"], each["waiting.largest"]) for each in runs] == [(1, 7, 30), (2, 7, 30)]
    samples = pq.read_table(tmp_path / "out" / "timeline.parquet")
    assert samples.column_names[:5] == ["config", "seed", "at", "pending", "running"]
    assert set(samples["seed"].to_pylist()) == {1, 2}


def test_parquet_files_may_have_a_name_and_are_the_same_to_the_byte(tmp_path: Path) -> None:
    files = []
    for name in ("a", "b"):
        simulate("--file", tmp_path / f"{name}.parquet", "--pods", tmp_path / f"{name}.pods.parquet")
        files.append([path.read_bytes() for path in sorted(tmp_path.glob(f"{name}.*"))])
    assert len(files[0]) == 3
    assert files[0] == files[1]


@pytest.mark.parametrize(
    ("option", "name"), [("--file", "small.csv"), ("--file", "small.txt"), ("--pods", "small.pods.jsonl")]
)
def test_reports_are_those_that_were_looked_at(option: str, name: str, tmp_path: Path) -> None:
    # to renew one: kubesched simulate examples/simulate/small.jsonl --seeds 1-2 OPTION NAME, in the folder of DATA
    assert simulate("--seeds", "1-2", option, tmp_path / name).exit_code == 0
    assert (tmp_path / name).read_text() == (DATA / name).read_text()


POD = {
    "config": "default",
    "seed": 0,
    "namespace": "default",
    "name": "job-0",
    "priority": 0,
    "cpu": 3.0,
    "memory": 0,
    "resources": "",
    "arrived": 10.0,
    "bound": 10.0,
    "ended": 60.0,
    "end": "lost",
    "node": "node-0",
    "attempts": 1,
}


def pods_in(path: Path) -> list[dict[str, Any]]:
    if path.suffix == ".parquet":
        rows: list[dict[str, Any]] = pq.read_table(path).to_pylist()
        return rows
    text = gzip.decompress(path.read_bytes()).decode() if path.suffix == ".gz" else path.read_text()
    if ".jsonl" in path.name:
        return [json.loads(line) for line in text.splitlines()]
    return list(csv.DictReader(text.splitlines()))


@pytest.mark.parametrize("name", ["p.parquet", "p.csv", "p.csv.gz", "p.jsonl", "p.jsonl.gz"])
def test_a_row_a_pod(name: str, tmp_path: Path) -> None:
    assert simulate("--pods", tmp_path / name).exit_code == 0
    rows = pods_in(tmp_path / name)
    assert list(rows[0]) == list(POD)
    assert len(rows) == 7
    assert {row["end"] for row in rows} == {"ended", "lost"}


def test_pods_of_all_runs_are_in_one_file(tmp_path: Path) -> None:
    simulate("--seeds", "1-2", "--pods", tmp_path / "p.jsonl")
    assert {row["seed"] for row in pods_in(tmp_path / "p.jsonl")} == {1, 2}
