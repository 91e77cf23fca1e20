"""`kubesched bench`: which workloads, reports, comparisons, and what is said of wrong words."""

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kubesched.cli import main
from kubesched_lab.bench.figures import Measured, RunResult, Spread, Throughput
from kubesched_lab.bench.results import as_json, document_of, lowest_ratio, read_results, summaries

BASIC = ["SchedulingBasic/5Nodes", "--in-process"]


def bench(*words: str) -> Result:
    return CliRunner().invoke(main, ["bench", *words], catch_exceptions=False)


def test_a_workload_is_run_and_shown() -> None:
    result = bench(*BASIC)
    assert result.exit_code == 0
    assert "SchedulingBasic/5Nodes" in result.stdout
    assert "10 scheduled" in result.stdout
    assert "* too short for samples of a second: number of pods divided by seconds" in result.stdout


def test_results_are_written_and_compared(tmp_path: Path) -> None:
    file = tmp_path / "old.json"
    assert bench(*BASIC, "-o", "json", "--file", str(file), "--repeat", "2").exit_code == 0
    document = json.loads(file.read_text())
    assert (document["kind"], document["on"]) == ("BenchmarkResults", "engine")
    assert document["command"][:3] == ["kubesched", "bench", "SchedulingBasic/5Nodes"]
    assert {result["workload"] for result in document["results"]} == {"SchedulingBasic/5Nodes"}
    compared = bench(*BASIC, "--compare", str(file))
    assert compared.exit_code == 0
    assert "ratios to old.json" in compared.stdout
    too_slow = bench(*BASIC, "--compare", str(file), "--fail-below", "1000")
    assert too_slow.exit_code == 3
    assert "below 1000" in too_slow.stderr


def test_a_workload_that_fails_leaves_the_others(tmp_path: Path) -> None:
    cases = tmp_path / "cases.yaml"
    cases.write_text(
        "[{name: C, workloads: [{name: none, params: {nodes: 0}}, {name: one, params: {nodes: 1}}], workloadTemplate: ["
        "{opcode: createNodes, countParam: $nodes}, {opcode: createPods, count: 1, collectMetrics: true}]}]"
    )
    result = bench(str(cases), "--in-process", "--patience", "100ms")
    assert result.exit_code == 1
    assert "Error: C/none: op 1: 0 of 1 pods of namespace namespace-1 are scheduled" in result.stderr
    assert "C/one" in result.stdout


def test_workloads_are_listed() -> None:
    result = bench("--list", "--label", "short")
    assert result.exit_code == 0
    assert "SchedulingDaemonset/5Nodes" in result.stdout
    assert "15000Nodes" not in result.stdout


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        (["Nothing"], "no workload or file is named 'Nothing'; `kubesched bench --list` shows the workloads"),
        (["missing.yaml"], "missing.yaml: no such file"),
        (["SchedulingBasic", "--label", "odd"], "--label odd: no workload has this label"),
        ([*BASIC, "--fail-below", "0.9"], "needs --compare OLD.json"),
        ([*BASIC, "--compare", "README.md"], "README.md: not results of `kubesched bench -o json`"),
        ([*BASIC, "--file", "none/a.json"], "--file none/a.json: there is no folder none"),
        ([*BASIC, "--scheduler", "x"], "--scheduler, --against and --kubeconfig need --on embedded or --on cluster"),
        ([BASIC[0], "--on", "cluster"], "--on cluster needs --kubeconfig"),
        ([BASIC[0], "--on", "embedded", "--plugin", "a"], "--plugin and --in-process are for the engine"),
        ([BASIC[0], "--on", "embedded", "--scheduler", "'"], "is not a command: No closing quotation"),
    ],
)
def test_wrong_words_are_told(words: list[str], problem: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = bench(*words)
    assert result.exit_code in (1, 2)
    assert problem in " ".join(result.stderr.split())


def result(rate: float, cpu: float = 1.0, **more: Any) -> RunResult:
    spread = Spread(1, 1, 1, 1, 1)
    measured = Measured("n", 100, 1.0, Throughput(rate), spread, spread, {"scheduled": 100}, cpu, 50.0)
    return RunResult("Case/w", more.get("scheduler", "one"), [measured])


def test_of_several_runs_the_middle_and_the_best_are_told() -> None:
    (summary,) = summaries([result(100), result(300), result(200)])
    assert (summary.throughput, summary.best, summary.runs) == (200, 300, 3)


def test_the_lowest_ratio_is_found() -> None:
    assert lowest_ratio(summaries([result(50)]), summaries([result(200)])) == (0.25, "Case/w")
    assert lowest_ratio(summaries([result(50)]), []) is None


def test_a_document_is_read_back(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    document = document_of([result(100)], "engine", ["kubesched", "bench"])
    file.write_text(as_json(document))
    assert read_results(file) == document
