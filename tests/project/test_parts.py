"""Some of the distributions without the others: what is missing is in no list, and is told in one sentence."""

import os
import subprocess
from pathlib import Path

import pytest
from tests.support.new_environment import build_wheel, new_environment
from tests.support.packages import FOLDERS

pytestmark = pytest.mark.slow

# which commands come with which distribution
COMMANDS = {
    "kubesched-scheduler": "completion config doctor evaluate man plugins run shadow version",
    "kubesched-controlplane": "controlplane try up with-cluster",
    "kubesched-answers": "capacity explain snapshot whatif",
    "kubesched-lab": "bench page record simulate sweep",
}
NODE = '{"apiVersion": "v1", "kind": "Node", "metadata": {"name": "n1"}}'


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    return {name: build_wheel(tmp_path_factory.mktemp("wheel"), FOLDERS[name]) for name in COMMANDS}


@pytest.fixture(scope="module", params=range(1, 5), ids=lambda count: list(COMMANDS)[count - 1])
def installed(
    request: pytest.FixtureRequest, wheels: dict[str, Path], tmp_path_factory: pytest.TempPathFactory
) -> tuple[Path, list[str]]:
    """Return the programs of an environment with a distribution and those that it needs, and the names of them."""
    names = list(COMMANDS)[: request.param]
    folder = tmp_path_factory.mktemp("environment")
    return new_environment(folder / "venv", [wheels[name] for name in names]), names


def run(programs: Path, home: Path, *command: str) -> "subprocess.CompletedProcess[str]":
    """Run a command of an environment."""
    return subprocess.run(
        [str(programs / command[0]), *command[1:]],
        cwd=home,
        env={"PATH": f"{programs}{os.pathsep}/usr/bin{os.pathsep}/bin", "HOME": str(home), "LC_ALL": "C.UTF-8"},
        capture_output=True,
        text=True,
        check=False,
        timeout=240,
    )


def test_pip_finds_nothing_missing(installed: tuple[Path, list[str]], tmp_path: Path) -> None:
    programs, _ = installed
    checked = run(programs, tmp_path, "python", "-m", "pip", "check")
    assert checked.returncode == 0, checked.stdout


def test_help_lists_what_is_installed_and_all_of_it_can_be_imported(
    installed: tuple[Path, list[str]], tmp_path: Path
) -> None:
    programs, names = installed
    listed = run(programs, tmp_path, "kubesched", "--help").stdout.partition("Commands:")[2]
    there = {line.split()[0] for line in listed.splitlines() if line.startswith("  ") and line[2] != " "}
    assert there == {each for name in names for each in COMMANDS[name].split()}
    # every command is imported for its page
    made = run(programs, tmp_path, "kubesched", "man", str(tmp_path / "man"))
    assert made.returncode == 0, made.stderr


def test_what_is_missing_is_named(installed: tuple[Path, list[str]], tmp_path: Path) -> None:
    programs, names = installed
    for name in COMMANDS.keys() - set(names):
        for command in COMMANDS[name].split():
            found = run(programs, tmp_path, "kubesched", command, "--help")
            assert (found.returncode, found.stdout) == (1, "")
            assert found.stderr == f"kubesched {command} needs pip install {name}\n"
    used = run(programs, tmp_path, "python", "-c", "from kubesched import Cluster")
    if "kubesched-answers" in names:
        assert used.returncode == 0, used.stderr
    else:
        assert used.stderr.endswith("Error: kubesched.Cluster needs pip install kubesched-answers\n")


def test_each_part_works(installed: tuple[Path, list[str]], tmp_path: Path) -> None:
    programs, names = installed
    (tmp_path / "node.json").write_text(NODE)
    for name, command in {
        "kubesched-scheduler": ("kube-scheduler", "--version"),
        "kubesched-controlplane": ("kubesched", "try", "node.json"),
        "kubesched-answers": ("kubectl-kubesched", "explain", "--from", "node.json"),
        "kubesched-lab": ("python", "-c", "from kubesched.simulate import simulate"),
    }.items():
        if name in names:
            found = run(programs, tmp_path, *command)
            assert found.returncode == 0, (command, found.stderr)
