"""The GitHub Action: what it says of itself is so, and its steps start a cluster."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.packages import DISTRIBUTIONS

ROOT = Path(__file__).parents[2]
ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text())
STEPS: dict[str, dict[str, Any]] = {step["name"]: step for step in ACTION["runs"]["steps"]}
INSTALL, START = STEPS["Install kubesched"], STEPS["Start the cluster"]
# python3 for a step: its environments have a pip that writes down what it is asked for, and installs a program
PYTHON = """#!/bin/bash
if [ "$2" = venv ]; then mkdir -p "$3/bin" && cp "$0" "$3/bin/python"; exit; fi
shift 5
echo "$@" >> "$ASKED"
touch "${0%/*}/kubesched" && chmod +x "${0%/*}/kubesched"
"""
OWN = [
    "--require-hashes -r {action}/requirements-runtime.lock -r {action}/requirements-build.lock",
    "--no-deps --no-index --no-build-isolation {action} "
    + " ".join(f"{{action}}/packages/{name}" for name in DISTRIBUTIONS),
]


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
    named = re.findall(r"\$GITHUB_ACTION_PATH/([\w.-]+)", INSTALL["run"])
    assert named == ["requirements-runtime.lock", "requirements-build.lock"]
    assert all((ROOT / name).exists() for name in named)
    assert '"$GITHUB_ACTION_PATH"/packages/{' + ",".join(DISTRIBUTIONS) + "}" in INSTALL["run"]


def test_inputs_have_descriptions_and_defaults() -> None:
    assert all({"description", "default"} <= set(each) for each in ACTION["inputs"].values())


class Installing:
    """A runner on which the first step is run, once or more often."""

    def __init__(self, folder: Path) -> None:
        (folder / "bin").mkdir()
        (folder / "bin" / "python3").write_text(PYTHON)
        (folder / "bin" / "python3").chmod(0o755)
        self.folder, self.action = folder, folder / "actions" / "v0.2.0"
        self.asked, self.path = folder / "asked", folder / "path"

    def run(self, version: str) -> int:
        """Return the exit code for a version that is asked for."""
        environment = {
            "PATH": f"{self.folder / 'bin'}{os.pathsep}{os.environ['PATH']}",
            "RUNNER_TEMP": str(self.folder / "temp"),
            "GITHUB_ACTION_PATH": str(self.action),
            "GITHUB_PATH": str(self.path),
            "ASKED": str(self.asked),
            "VERSION": version,
        }
        ran = subprocess.run(["bash", "-c", INSTALL["run"]], env=environment, capture_output=True, check=False)
        return ran.returncode

    def lines(self, file: Path) -> list[str]:
        """Return what was written into a file."""
        return file.read_text().splitlines() if file.exists() else []


@pytest.mark.parametrize(
    ("versions", "asked", "folders"),
    [
        ([""], OWN, ["v0.2.0"]),
        (["0.1.0"], ["kubesched==0.1.0"], ["0.1.0"]),
        (["0.1.0", "0.1.0"], ["kubesched==0.1.0"], ["0.1.0", "0.1.0"]),
        (["0.1.0", "0.1.1"], ["kubesched==0.1.0", "kubesched==0.1.1"], ["0.1.0", "0.1.1"]),
        (["", "0.1.1"], [*OWN, "kubesched==0.1.1"], ["v0.2.0", "0.1.1"]),
    ],
    ids=[
        "the action's own, all with hashes",
        "a version of PyPI",
        "the same once more",
        "another one",
        "another one than its own",
    ],
)
def test_what_is_asked_for_is_installed(
    versions: list[str], asked: list[str], folders: list[str], tmp_path: Path
) -> None:
    runner = Installing(tmp_path)
    assert [runner.run(version) for version in versions] == [0] * len(versions)
    assert runner.lines(runner.asked) == [line.format(action=runner.action) for line in asked]
    programs = [tmp_path / "temp" / f"kubesched-{name}" / "bin" for name in folders]
    assert runner.lines(runner.path) == [str(each) for each in programs]
    assert all(os.access(each / "kubesched", os.X_OK) for each in programs)


@pytest.mark.parametrize("version", ["0.1\n/tmp/evil", "../elsewhere", "0.1 --index-url=x"])
def test_what_is_no_version_comes_to_no_path(version: str, tmp_path: Path) -> None:
    runner = Installing(tmp_path)
    assert runner.run(version) == 1
    assert (runner.lines(runner.asked), runner.lines(runner.path)) == ([], [])


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
        "OPTIONS": f"--zones 2\n{manifest}\n",
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


def starting(folder: Path, bin_folder: Path, **inputs: str) -> "subprocess.CompletedProcess[str]":
    """Return the second step, run with some inputs and the programs of a folder."""
    environment = {
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        **{name: str(folder) for name in ("HOME", "RUNNER_TEMP")},
        **{name: str(folder / name) for name in ("GITHUB_ENV", "GITHUB_OUTPUT")},
        "NODES": "0",
        "OPTIONS": "",
        "NAME": "ci",
        **inputs,
    }
    return subprocess.run(
        ["bash", "-c", START["run"]], env=environment, capture_output=True, text=True, check=False, timeout=120
    )


@pytest.mark.slow
def test_a_cluster_that_cannot_start_fails_the_step(tmp_path: Path) -> None:
    ran = starting(tmp_path, Path(sys.executable).parent, OPTIONS="missing.yaml")
    assert ran.returncode != 0
    assert "missing.yaml" in ran.stderr
    assert not (tmp_path / "GITHUB_ENV").exists()


@pytest.mark.parametrize("options", ["", "--help", "--name ok --help", "-- --help"])
@pytest.mark.parametrize(
    "name",
    ["ci\nPATH=/tmp/evil", "ci\n", "\n", "", "-", "--help", "../up", "a b", "a=b", "a\rb", "x" * 64, "Ci", "ci-"],
)
def test_a_name_that_could_set_another_variable_starts_nothing_whatever_the_options(
    name: str, options: str, tmp_path: Path
) -> None:
    # a kubesched that takes everything
    program = tmp_path / "kubesched"
    program.write_text(f"#!/bin/sh\ntouch '{tmp_path}/ran'\n")
    program.chmod(0o755)
    ran = starting(tmp_path, tmp_path, NAME=name, OPTIONS=options)
    assert (ran.returncode, "is no name of a cluster" in ran.stdout) == (1, True)
    assert not any((tmp_path / file).exists() for file in ("GITHUB_ENV", "GITHUB_OUTPUT", "ran"))


def test_a_good_name_is_one_argument_before_the_options(tmp_path: Path) -> None:
    program = tmp_path / "kubesched"
    program.write_text(f"""#!/bin/sh\nprintf '%s\\n' "$@" > '{tmp_path}/ran'\n""")
    program.chmod(0o755)
    assert starting(tmp_path, tmp_path, NAME="ci-1", NODES="2", OPTIONS="--zones 2").returncode == 0
    kubeconfig = f"{tmp_path}/kubeconfig-ci-1"
    expected = ["up", "--detach", "--name=ci-1", f"--kubeconfig={kubeconfig}", "--nodes=2", "--zones", "2"]
    assert (tmp_path / "ran").read_text().splitlines() == expected
