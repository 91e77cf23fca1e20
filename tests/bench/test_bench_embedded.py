"""Workloads on the embedded control plane, with schedulers as processes."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from kubesched.cli import main

pytestmark = pytest.mark.slow


def test_two_schedulers_are_measured_in_turns(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    words = ["bench", "SchedulingBasic/5Nodes", "--on", "embedded", "-o", "json", "--file", str(file)]
    words += ["--against", "python -m kubesched run --config={config} --secure-port=0"]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    first, second = json.loads(file.read_text())["results"]
    assert (first["scheduler"], second["scheduler"]) == ("kubesched run", "python")
    assert first["measured"][0]["attempts"] == {"scheduled": 10}
    # without {port} there are no metrics
    assert "attempts" not in second["measured"][0]
    assert all(each["measured"][0]["pods"] == 10 for each in (first, second))


@pytest.mark.parametrize("name", ["SchedulingWithResourceClaimTemplate/fast", "SchedulingCSIPVs/5Nodes"])
def test_claims_and_volumes_are_there(name: str) -> None:
    done = CliRunner().invoke(main, ["bench", name, "--on", "embedded", "-o", "json"], catch_exceptions=False)
    assert done.exit_code == 0, done.stderr
    assert json.loads(done.stdout)["results"][0]["measured"][0]["pods"] == 10


def test_a_scheduler_that_ends_is_told() -> None:
    words = ["bench", "SchedulingBasic/5Nodes", "--on", "embedded", "--scheduler", "false {port}"]
    done = CliRunner().invoke(main, words, catch_exceptions=False)
    assert done.exit_code == 1
    assert "false has ended with exit code 1" in done.stderr
