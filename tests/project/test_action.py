"""The GitHub Action: what it says of itself is so, and its steps start a cluster."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}
START = STEPS["Start the cluster"]


@pytest.mark.parametrize("step", STEPS.values(), ids=list(STEPS))
def test_a_script_is_bash_and_stops_at_its_first_fault(step: dict[str, Any]) -> None:
    assert step["shell"] == "bash"
    assert step["run"].startswith("set -euo pipefail\n")
    checked = subprocess.run(["bash", "-n"], input=step["run"], capture_output=True, text=True, check=False)
    assert checked.stderr == ""


@pytest.mark.parametrize("step", STEPS.values(), ids=list(STEPS))
def test_inputs_come_as_variables_since_a_script_could_be_made_of_them(step: dict[str, Any]) -> None:
    assert "${{" not in step["run"]
    for value in step["env"].values():
        (name,) = re.findall(r"^\$\{\{ inputs\.(\w+) \}\}$", value)
        assert name in ACTION["inputs"]


def test_files_that_are_installed_from_are_there() -> None:
    named = re.findall(r"\$GITHUB_ACTION_PATH/([\w.-]+)", STEPS["Install kubesched"]["run"])
    assert named == ["requirements-runtime.lock"]
    assert all((ROOT / name).exists() for name in named)


def test_inputs_have_descriptions_and_defaults() -> None:
    assert all({"description", "default"} <= set(each) for each in ACTION["inputs"].values())


@pytest.mark.slow
def test_the_steps_start_a_cluster_and_tell_where_it_is(tmp_path: Path) -> None:
    manifest = tmp_path / "namespace.yaml"
    manifest.write_text("apiVersion: v1\nkind: Namespace\nmetadata: {name: shop}\n")
    told = {name: tmp_path / name for name in ("GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH")}
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "RUNNER_TEMP": str(tmp_path),
        **{name: str(path) for name, path in told.items()},
        "NODES": "2",
        "OPTIONS": f"--zones 2 {manifest}",
        "NAME": "ci",
    }

    def run(*command: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, timeout=120
        )

    try:
        started = run("bash", "-c", START["run"])
        assert started.returncode == 0, started.stdout + started.stderr
        kubeconfig = tmp_path / "kubeconfig-ci"
        assert told["GITHUB_ENV"].read_text() == f"KUBECONFIG={kubeconfig}\n"
        assert told["GITHUB_OUTPUT"].read_text() == f"kubeconfig={kubeconfig}\n"
        assert kubeconfig.exists()
        assert '"nodes": 2' in run("kubesched", "up", "status", "ci", "-o", "json").stdout
    finally:
        ended = run("kubesched", "up", "down", "ci")
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_a_cluster_that_cannot_start_fails_the_step(tmp_path: Path) -> None:
    environment = {
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        **{name: str(tmp_path) for name in ("HOME", "RUNNER_TEMP")},
        **{name: str(tmp_path / name) for name in ("GITHUB_ENV", "GITHUB_OUTPUT")},
        "NODES": "0",
        "OPTIONS": "missing.yaml",
        "NAME": "ci",
    }
    ran = subprocess.run(
        ["bash", "-c", START["run"]], env=environment, capture_output=True, text=True, check=False, timeout=120
    )
    assert ran.returncode == 1
    assert "missing.yaml" in ran.stderr
    assert not (tmp_path / "GITHUB_ENV").exists()
