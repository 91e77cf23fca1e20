"""`kubesched sweep`: results as they come, reports that do not depend on how they came, errors that name the fix."""

import csv
import io
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kubesched.cli import main
from kubesched_lab.sweep import command
from kubesched_lab.sweep.executors.in_process import InProcess
from kubesched_lab.sweep.runs import RunOutcome, SweepRun, SweepSetup

WEIGHT = "profiles[0].plugins.score.enabled[NodeResourcesFit].weight"
GRID = {"configurations": [{}, {"name": "fit", "set": {WEIGHT: 5}}], "nodes": [1, 2], "seeds": "1-3"}
BROKEN = """
from kubesched import filter_plugin

@filter_plugin("Broken")
def broken(pod, node):
    raise RuntimeError("no luck")
"""


def sweep(*words: str) -> Result:
    return CliRunner().invoke(main, ["sweep", *words, "--workers", "1"], catch_exceptions=False)


def show(*words: str) -> Result:
    return CliRunner().invoke(main, ["sweep", "show", *words], catch_exceptions=False)


def test_the_table_has_a_line_for_each_point_of_the_grid(write_sweep: Any) -> None:
    ran = sweep(write_sweep(**GRID))
    assert ran.exit_code == 0, ran.output
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in ran.stdout.splitlines() if "│" in line]
    assert [row[:2] for row in rows] == [["1", "default"], ["1", "fit"], ["2", "default"], ["2", "fit"]]
    assert ran.stdout.startswith("12 runs, 3 seeds: mean and 95 % interval")
    assert "12 of 12 runs done" in ran.stderr


def test_csv_has_means_and_differences_from_the_first_configuration(write_sweep: Any) -> None:
    ran = sweep(write_sweep(**GRID), "-o", "csv", "--figures", "pods.bound,waiting.p99")
    rows = list(csv.DictReader(io.StringIO(ran.stdout)))
    assert len(rows) == 8
    assert {(row["config"], row["nodes"], row["figure"], row["runs"]) for row in rows} >= {
        ("fit", "2", "pods.bound", "3")
    }
    assert [row["difference"] for row in rows if row["figure"] == "pods.bound"] == ["", "0", "", "0"]


def test_results_are_a_row_for_each_run_in_the_order_of_the_plan(write_sweep: Any) -> None:
    from pyarrow import parquet

    sweep(write_sweep(**GRID), "--timeline")
    table = parquet.read_table("sweep-results/runs.parquet").to_pylist()
    assert [(row["config"], row["nodes"], row["seed"]) for row in table[:4]] == [
        ("default", "1", 1),
        ("default", "1", 2),
        ("default", "1", 3),
        ("fit", "1", 1),
    ]
    assert [row["config.NodeResourcesFit.weight"] for row in table[2:4]] == [None, 5]
    samples = parquet.read_table("sweep-results/timeline.parquet").to_pylist()
    assert {row["id"] for row in samples} == {row["id"] for row in table}
    assert sorted(path.name for path in Path("sweep-results").iterdir()) == [
        "runs.parquet",
        "sweep.json",
        "timeline.parquet",
    ]


class OneAfterAnother(InProcess):
    """Ends runs in another order, and may be interrupted."""

    most = 1000

    def outcomes(self, runs: Sequence[SweepRun]) -> Iterator[RunOutcome]:
        for number, outcome in enumerate(super().outcomes(list(reversed(runs)))):
            if number == self.most:
                raise KeyboardInterrupt
            yield outcome


@pytest.mark.parametrize("form", ["parquet", "jsonl"])
def test_the_report_is_the_same_bytes_after_an_interruption(
    write_sweep: Any, monkeypatch: pytest.MonkeyPatch, form: str
) -> None:
    path = write_sweep(**GRID)
    whole = sweep(path, "-o", "json", "--results", "whole", "--format", form)
    monkeypatch.setattr(command, "InProcess", OneAfterAnother)
    monkeypatch.setattr(OneAfterAnother, "most", 5)
    # click tells of Ctrl-C in a word
    assert sweep(path, "--results", "halves", "--format", form).exit_code == 1
    half = show("halves", "-o", "json")
    assert len(json.loads(half.stdout)["missing"]) == 7
    monkeypatch.setattr(OneAfterAnother, "most", 1000)
    resumed = sweep(path, "-o", "json", "--results", "halves", "--resume")
    assert "12 of 12 runs done" in resumed.stderr
    assert resumed.stdout == whole.stdout == show("halves", "-o", "json").stdout
    assert Path(f"halves/runs.{form}").read_bytes() == Path(f"whole/runs.{form}").read_bytes()


def test_results_that_are_there_are_not_touched_without_being_asked(write_sweep: Any) -> None:
    path = write_sweep(seeds="1-2")
    sweep(path)
    again = sweep(path)
    assert again.exit_code == 1
    assert (
        again.stderr
        == "sweep-results already has results: continue with --resume, or name another folder with --results\n"
    )


def test_what_changed_is_named_and_runs_that_are_the_same_are_kept(
    write_sweep: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    sweep(write_sweep(seeds="1-2"))
    path = write_sweep(seeds="2-3")
    refused = sweep(path, "--resume")
    assert refused.exit_code == 1
    assert "changed since these results were written: the specification's seeds; with --force" in refused.stderr
    done: list[int] = []

    class Counting(InProcess):
        def outcomes(self, runs: Sequence[SweepRun]) -> Iterator[RunOutcome]:
            done.extend(run.label.seed for run in runs)
            return super().outcomes(runs)

    monkeypatch.setattr(command, "InProcess", Counting)
    forced = sweep(path, "--resume", "--force", "-o", "json")
    assert done == [3]
    assert [point["runs"] for point in json.loads(forced.stdout)["points"]] == [2]
    Path("tiny.yaml").write_text(Path("tiny.yaml").read_text() + "\n")
    assert "the file tiny.yaml; with --force" in sweep(path, "--resume").stderr


def test_a_broken_run_is_told_and_the_others_go_on(write_sweep: Any) -> None:
    Path("torn.jsonl").write_text('{"at": 0, "object": {}\n')
    path = write_sweep(traces=["torn.jsonl", "tiny.yaml"], seeds="1-2")
    ran = sweep(path, "-o", "json")
    assert ran.exit_code == 3
    assert "torn, default, seed 1: failed: torn.jsonl, line 1: " in ran.stderr
    assert "2 of 4 runs done, 2 failed" in ran.stderr
    found = json.loads(ran.stdout)
    assert [each["run"] for each in found["missing"]] == ["torn, default, seed 1", "torn, default, seed 2"]
    assert [bool(point["figures"]) for point in found["points"]] == [False, True]
    assert show("sweep-results", "-o", "json").stdout == ran.stdout
    Path("torn.jsonl").write_text("\n")
    assert sweep(path, "--resume", "--force").exit_code == 0


def test_a_plugin_that_breaks_breaks_its_runs(write_sweep: Any) -> None:
    Path("mine.py").write_text(BROKEN)
    config = {"profiles": [{"plugins": {"multiPoint": {"enabled": [{"name": "Broken"}]}}}]}
    named = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration", **config}
    path = write_sweep(plugins=["mine.py"], configurations=[{}, {"name": "broken", "inline": named}], until="20s")
    ran = sweep(path)
    assert ran.exit_code == 3, ran.output
    assert "tiny, broken, seed 0: failed: " in ran.stderr
    assert 'attempts ended in an error; the first one: pod default/web-0: running "Broken" filter plugin' in ran.stderr
    assert "no luck" in ran.stderr
    assert "1 of 2 runs done, 1 failed" in ran.stderr


def test_runs_with_the_same_figures_are_simulated_once_and_have_a_row_each(write_sweep: Any) -> None:
    ran = sweep(write_sweep(traces={"a": "tiny.yaml", "b": "tiny.yaml"}, until="10s"), "--format", "jsonl")
    assert ran.exit_code == 0
    rows = [json.loads(line) for line in Path("sweep-results/runs.jsonl").read_text().splitlines()]
    assert [(row["trace"], row["run"]) for row in rows] == [("a", "a, default, seed 0"), ("b", "b, default, seed 0")]
    assert rows[0]["id"] == rows[1]["id"]


def test_speed_is_varied(write_sweep: Any) -> None:
    ran = sweep(write_sweep(speed=[1, 2]), "--figures", "pods.bound,seconds", "--file", "report.csv")
    assert ran.exit_code == 0, ran.output
    rows = list(csv.DictReader(io.StringIO(Path("report.csv").read_text())))
    assert [(row["speed"], row["figure"]) for row in rows] == [
        ("1", "pods.bound"),
        ("1", "seconds"),
        ("2", "pods.bound"),
        ("2", "seconds"),
    ]
    assert rows[0]["mean"] == rows[2]["mean"]
    assert float(rows[1]["mean"]) > float(rows[3]["mean"])


def test_a_dry_run_lists_the_runs(write_sweep: Any) -> None:
    ran = sweep(write_sweep(**GRID), "--dry-run")
    assert ran.stdout.splitlines()[0] == "tiny, default, nodes 1, seed 1"
    assert len(ran.stdout.splitlines()) == 12
    assert not Path("sweep-results").exists()


def test_parquet_that_is_not_installed_is_named(write_sweep: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "pyarrow.parquet", None)
    path = write_sweep()
    ran = sweep(path)
    assert ran.exit_code == 1
    assert ran.stderr == "Results as Parquet (--format jsonl does without) needs pip install 'kubesched[parquet]'\n"
    assert not Path("sweep-results").exists()
    assert sweep(path, "--format", "jsonl").exit_code == 0


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["none.yaml"], "'none.yaml' does not exist"),
        (["sweep.yaml", "--figures", "waiting.p9"], "--figures: there is no figure waiting.p9; there are waiting.p99"),
        (
            ["sweep.yaml", "--file", "none/report.json", "-o", "json"],
            "--file none/report.json: there is no folder none",
        ),
        (["sweep.yaml", "--file", "report.html"], "--file report.html: reports of sweeps are table, json, csv"),
        (["sweep.yaml", "--results", "tiny.yaml"], "'tiny.yaml' is a file"),
        (["show", "none"], "none: no sweep.json found; give the results folder of `kubesched sweep`"),
    ],
)
def test_wrong_input_is_told_in_a_line(write_sweep: Any, words: list[str], why: str) -> None:
    write_sweep(until="5s")
    ran = show(*words[1:]) if words[0] == "show" else sweep(*words)
    assert ran.exit_code in (1, 2)
    assert why in " ".join(ran.output.split())


def test_damaged_results_are_named(write_sweep: Any) -> None:
    path = write_sweep(until="5s")
    sweep(path)
    for name in ("runs.parquet", "sweep.json"):
        Path(f"sweep-results/{name}").write_text("torn")
        ran = sweep(path, "--resume")
        assert ran.exit_code == 1
        assert f"sweep-results/{name}: " in ran.stderr


def test_setups_are_sent_as_they_are() -> None:
    import msgspec

    setup = SweepSetup("1", {"a": ["b.yaml"]})
    assert msgspec.msgpack.decode(msgspec.msgpack.encode(setup), type=SweepSetup) == setup
