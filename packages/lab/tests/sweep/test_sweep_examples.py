"""The examples of sweeps are what the pages say."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kubesched.cli import main


@pytest.mark.parametrize(
    ("words", "lines"),
    [
        (["examples/simulate/sweep.yaml"], 48),
        (["examples/simulate/tune.yaml", "--tune"], 1),
    ],
)
def test_examples_can_be_planned(words: list[str], lines: int) -> None:
    ran = CliRunner().invoke(main, ["sweep", *words, "--dry-run"], catch_exceptions=False)
    assert ran.exit_code == 0, ran.output
    assert len(ran.stdout.splitlines()) == lines


@pytest.mark.slow
def test_the_example_of_tuning_finds_a_better_configuration(tmp_path: Path) -> None:
    command = [sys.executable, "-m", "kubesched", "sweep", "examples/simulate/tune.yaml", "--tune", "-o", "json"]
    results = ["--results", str(tmp_path / "tuned")]
    ran = subprocess.run([*command, *results], capture_output=True, text=True, check=True, timeout=300)
    found = json.loads(ran.stdout)["trials"]
    [base] = [each["objective"] for each in found if each["name"] == "base"]
    assert found[0]["objective"] < base
    trace, config = "examples/simulate/small-batch.yaml", str(tmp_path / "tuned" / "best.yaml")
    simulated = CliRunner().invoke(main, ["simulate", trace, "--config", config], catch_exceptions=False)
    assert simulated.exit_code == 0, simulated.output
