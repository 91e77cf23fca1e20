"""`kubesched sweep --tune`: the same trials from the same seed, and a configuration that can be used."""

import json
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from kubesched.cli import main
from kubesched.core.assembly import load_config
from kubesched_lab.sweep import command
from kubesched_lab.sweep.executors.in_process import InProcess
from kubesched_lab.sweep.runs import RunOutcome, SweepRun

pytest.importorskip("optuna")
WEIGHT = "profiles[0].plugins.score.enabled[NodeResourcesFit].weight"
TYPE = "profiles[0].pluginConfig[NodeResourcesFit].args.scoringStrategy.type"
STRATEGY = {"choice": ["LeastAllocated", "MostAllocated"]}
TUNE = {"minimise": "waiting.mean", "parameters": {WEIGHT: {"int": [1, 9]}, TYPE: STRATEGY}, "trials": 5, "batch": 2}


def tune(*words: str) -> Result:
    command_line = ["sweep", "sweep.yaml", "--tune", "--workers", "1", *words]
    return CliRunner().invoke(main, command_line, catch_exceptions=False)


def test_the_best_trial_is_written_as_a_configuration(write_sweep: Any) -> None:
    write_sweep(tune=TUNE, seeds="1-2", until="20s")
    ran = tune("-o", "json")
    assert ran.exit_code == 0, ran.output
    found = json.loads(ran.stdout)
    assert found["objective"] == "lowest waiting.mean"
    assert len(found["trials"]) == 6
    best = found["trials"][0]
    assert best["objective"] == min(each["objective"] for each in found["trials"])
    loaded = load_config(Path("sweep-results/best.yaml").read_bytes())
    weights = {plugin.name: plugin.weight for plugin in loaded.profiles[0].points["score"]}
    assert weights["NodeResourcesFit"] == best["parameters"].get(WEIGHT, 1)
    shown = CliRunner().invoke(main, ["sweep", "show", "sweep-results", "-o", "json"])
    assert shown.stdout == ran.stdout
    assert "5 of 5 trials, lowest waiting.mean: " in ran.stderr
    assert "12 of 12 runs done" in ran.stderr


def test_a_sum_of_figures_is_weighted(write_sweep: Any) -> None:
    write_sweep(
        tune={**TUNE, "minimise": "", "maximise": {"pods.bound": 2, "pendingAtEnd": -1}, "trials": 1}, until="20s"
    )
    found = json.loads(tune("-o", "json").stdout)
    assert found["objective"] == "highest 2 x pods.bound + -1 x pendingAtEnd"
    plain = ["sweep", "sweep.yaml", "--results", "plain", "-o", "json", "--workers", "1"]
    figures = json.loads(CliRunner().invoke(main, plain).stdout)["points"][0]["figures"]
    [base] = [each for each in found["trials"] if each["name"] == "base"]
    assert base["objective"] == 2 * figures["pods.bound"]["mean"] - figures["pendingAtEnd"]["mean"]


@pytest.mark.parametrize(("trials", "left_out"), [(4, True), (19, True), (20, False)])
def test_the_importance_of_fields_is_left_out_after_few_trials(
    write_sweep: Any, monkeypatch: pytest.MonkeyPatch, trials: int, left_out: bool
) -> None:
    monkeypatch.setenv("COLUMNS", "120")
    write_sweep(tune={**TUNE, "trials": trials}, seeds="1-3")
    ran = tune()
    assert ran.exit_code == 0, ran.output
    why = f"The importance of fields is left out: {trials} trials, and fewer than 20 show chance."
    assert (why in " ".join(ran.stdout.split())) is left_out
    header = json.loads(Path("sweep-results/trials.jsonl").read_text().splitlines()[0])
    assert (header["importance"] == {}) is left_out
    assert ("│ importance " in ran.stdout) is not left_out


class Interrupted(InProcess):
    """Is interrupted after some runs."""

    left = 4

    def outcomes(self, runs: Sequence[SweepRun]) -> Iterator[RunOutcome]:
        for outcome in super().outcomes(runs):
            Interrupted.left -= 1
            if Interrupted.left < 0:
                raise KeyboardInterrupt
            yield outcome


def test_a_search_that_goes_on_finds_what_it_would_have_found(
    write_sweep: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_sweep(tune=TUNE, until="20s")
    tune("--results", "whole")
    with monkeypatch.context() as patch:
        patch.setattr(command, "InProcess", Interrupted)
        assert tune("--results", "halves").exit_code == 1
    assert len(Path("halves/trials.jsonl").read_text().splitlines()) == 4
    assert tune("--results", "halves").exit_code == 1
    resumed = tune("--results", "halves", "--resume")
    assert resumed.exit_code == 0, resumed.output
    for name in ("trials.jsonl", "best.yaml", "runs.parquet"):
        assert Path("halves", name).read_bytes() == Path("whole", name).read_bytes()


def test_other_trials_than_before_are_told(write_sweep: Any) -> None:
    write_sweep(tune=TUNE, until="10s")
    tune()
    journal = Path("sweep-results/trials.jsonl")
    header, base, first, *others = journal.read_text().splitlines()
    trial = json.loads(first)
    trial["parameters"][WEIGHT] = 77
    journal.write_text("\n".join([header, base, json.dumps(trial), *others]) + "\n")
    ran = tune("--resume")
    assert ran.exit_code == 1
    assert "sweep-results/trials.jsonl: trial 0 tried other values" in ran.stderr
    journal.write_text("torn")
    assert "sweep-results/trials.jsonl: cannot be read" in tune("--resume").stderr


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"tune": None}, "sweep.yaml: --tune needs the field `tune`: an objective and parameters"),
        ({"tune": {**TUNE, "maximise": "pods.bound"}}, "sweep.yaml: tune: expected minimise or maximise"),
        ({"tune": {**TUNE, "minimise": ""}}, "sweep.yaml: tune: expected minimise or maximise"),
        (
            {"tune": {**TUNE, "minimise": "waiting.p9"}},
            "sweep.yaml: tune: there is no figure waiting.p9; there are waiting.p9",
        ),
        ({"tune": {**TUNE, "minimise": "trace"}}, "sweep.yaml: tune: there is no figure trace"),
        ({"tune": {**TUNE, "trials": 0}}, "sweep.yaml: tune.trials is 0; expected a number from 1"),
        ({"tune": {**TUNE, "batch": 0}}, "sweep.yaml: tune.batch is 0; expected a number from 1"),
        ({"tune": {**TUNE, "samplerSeed": -1}}, "sweep.yaml: tune.samplerSeed is -1; expected"),
        ({"tune": {**TUNE, "tirals": 3}}, "sweep.yaml: Object contains unknown field `tirals` - at `$.tune`"),
        ({"tune": {**TUNE, "parameters": {}}}, "sweep.yaml: tune.parameters: expected at least one field"),
        ({"tune": {**TUNE, "parameters": {"a[": STRATEGY}}}, "sweep.yaml: tune.parameters: 'a[' is not a path"),
        ({"tune": {**TUNE, "parameters": {"a": {}}}}, "sweep.yaml: tune.parameters: a: expected one of {int: [LEAST"),
        (
            {"tune": {**TUNE, "parameters": {"a": {"int": [5, 1]}}}},
            "sweep.yaml: tune.parameters: a: the range goes from 5",
        ),
        (
            {"tune": {**TUNE, "parameters": {"a": {"int": [1.5, 2]}}}},
            "sweep.yaml: Expected `int`, got `float` - at `$.tune.",
        ),
        (
            {"tune": {**TUNE, "parameters": {"a": {"float": [0, 1], "log": True}}}},
            "sweep.yaml: tune.parameters: a: a log",
        ),
        (
            {"tune": {**TUNE, "parameters": {"a": {"choice": []}}}},
            "sweep.yaml: tune.parameters: a: choice needs at least",
        ),
        ({"tune": {**TUNE, "parameters": {"a.b": {"int": [1, 2]}}}}, "configuration trial 0: "),
        ({"tune": TUNE, "configurations": [{}, {"name": "b"}]}, "sweep.yaml: configurations: --tune changes one"),
    ],
)
def test_what_is_wrong_is_told_with_its_field(write_sweep: Any, fields: dict[str, Any], why: str) -> None:
    write_sweep(until="5s", **{key: value for key, value in fields.items() if value is not None})
    ran = tune()
    assert ran.exit_code == 1
    assert why in ran.stderr
    assert "Traceback" not in ran.stderr


def test_optuna_that_is_not_installed_is_named(write_sweep: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "optuna", None)
    write_sweep(tune=TUNE)
    ran = tune()
    assert (ran.exit_code, ran.stderr) == (1, "--tune needs pip install 'kubesched[tune]'\n")


@pytest.mark.slow
def test_the_number_of_workers_makes_no_difference(write_sweep: Any) -> None:
    write_sweep(tune={**TUNE, "trials": 20}, seeds="1-3")
    found = []
    for workers in ("1", "3"):
        words = ["sweep", "sweep.yaml", "--tune", "--workers", workers, "--results", workers]
        subprocess.run([sys.executable, "-m", "kubesched", *words], check=True, capture_output=True, timeout=120)
        found.append({path.name: path.read_bytes() for path in Path(workers).iterdir()})
    assert found[0] == found[1]
    assert json.loads(Path("1/trials.jsonl").read_text().splitlines()[0])["importance"]
