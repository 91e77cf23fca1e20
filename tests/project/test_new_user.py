"""The way of a new user: the wheel in an empty environment, the tutorial, the chart, and the doctor."""

import json
import os
import subprocess
from pathlib import Path

import pytest
from tests.support.new_environment import build_all, new_environment
from tests.support.rendering import CHART, IMAGE, WHY_NO_HELM, path_of_helm, run_helm

from kubesched import __version__
from tools.examples import DocumentRunner, run_together

ROOT = Path(__file__).parents[2]
TUTORIAL = (ROOT / "docs" / "get-started/tutorial.md").read_text()

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def programs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of programs of an environment with the wheels and the extra of the tutorial."""
    folder = tmp_path_factory.mktemp("new-user")
    return new_environment(folder / "venv", build_all(folder), frozenset({"testing"}))


def environment(programs: Path, home: Path) -> dict[str, str]:
    """Return the variables of somebody who has nothing else."""
    return {"PATH": f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin", "HOME": str(home), "LC_ALL": "C.UTF-8"}


def run(programs: Path, home: Path, *command: str, **variables: str) -> "subprocess.CompletedProcess[str]":
    """Run a command in that environment."""
    return subprocess.run(
        [str(programs / command[0]), *command[1:]],
        cwd=home,
        env={**environment(programs, home), **variables},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_pip_finds_nothing_missing_and_all_programs_are_there(programs: Path, tmp_path: Path) -> None:
    checked = run(programs, tmp_path, "python", "-m", "pip", "check")
    assert checked.returncode == 0, checked.stdout
    found = json.loads(run(programs, tmp_path, "kubesched", "version", "-o", "json").stdout)
    assert found["version"] == __version__
    # it is the wheel, not the checkout
    assert "gitCommit" not in found
    assert run(programs, tmp_path, "kube-scheduler", "--version").stdout.startswith("Kubernetes v")
    assert run(programs, tmp_path, "kubectl-kubesched", "--help").returncode == 0


def test_the_tutorial_works_as_it_is_written(programs: Path, tmp_path: Path) -> None:
    (sections,) = run_together(TUTORIAL)
    runner = DocumentRunner(tmp_path, environment(programs, tmp_path))
    assert [str(found) for section in sections for found in runner.differences(section)] == []


@pytest.mark.skipif(not path_of_helm(), reason=WHY_NO_HELM)
def test_the_chart_is_rendered_and_comes_up_on_a_cluster(programs: Path, tmp_path: Path) -> None:
    rendered = run_helm("template", "kubesched", str(CHART), *IMAGE, home=tmp_path)
    (tmp_path / "chart.yaml").write_text(rendered.stdout)
    # unknown fields are refused; 0: every pod has a node
    ran = run(programs, tmp_path, "kubesched", "try", "--nodes", "3", "-o", "json", "chart.yaml")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert "kubesched-" in ran.stdout


@pytest.mark.skipif(not path_of_helm(), reason=WHY_NO_HELM)
def test_the_doctor_finds_that_the_identity_of_the_chart_may_take_over(programs: Path, tmp_path: Path) -> None:
    rendered = run_helm("template", "kubesched", str(CHART), *IMAGE, "--namespace", "kube-system", home=tmp_path)
    (tmp_path / "chart.yaml").write_text(rendered.stdout)
    cluster = ("kubesched", "with-cluster", "--nodes", "3", "chart.yaml", "--")
    identity = "system:serviceaccount:kube-system:kubesched"
    ran = run(programs, tmp_path, *cluster, "kubesched", "doctor", "--as", identity, "-o", "json")
    assert ran.returncode == 0, ran.stdout + ran.stderr
    # above the answer stands where the cluster is
    answer = json.loads(ran.stdout[ran.stdout.index("{") :])
    assert answer["ready"] is True, answer["summary"]
    levels = {each["check"]: each["level"] for each in answer["findings"]}
    assert (levels["version"], levels["rights"]) == ("ok", "ok")
