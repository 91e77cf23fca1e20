"""`kubesched plugins new`: a package that passes its own test, and nothing that was there is lost."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result

from kubesched.cli import main
from kubesched.cli.plugin_package import KINDS

ROOT = Path(__file__).parents[4]
SOURCE, EXAMPLES = ROOT / "packages/scheduler/src", ROOT / "examples" / "plugins" / "kubesched_examples"


def begun(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["plugins", "new", *arguments])


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_can_be_checked(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    assert begun("QuietNodes", "--kind", kind, "--directory", str(folder)).exit_code == 0
    assert (folder / "README.md").read_text().startswith("# QuietNodes\n")
    source = str(folder / "src" / "quiet_nodes" / "__init__.py")
    result = CliRunner().invoke(main, ["plugins", "show", "QuietNodes", "--plugin", source])
    assert "  label: str, default" in result.output, result.output


def test_its_workflow_may_only_read_and_pins_actions_as_ours_do(tmp_path: Path) -> None:
    assert begun("QuietNodes", "--directory", str(tmp_path / "made")).exit_code == 0
    text = (tmp_path / "made" / ".github" / "workflows" / "test.yaml").read_text()
    assert yaml.safe_load(text)["permissions"] == {"contents": "read"}
    used = re.findall(r"uses: .*", text)
    assert len(used) == 2
    assert set(used) <= set(re.findall(r"uses: .*", (ROOT / ".github" / "workflows" / "tests.yml").read_text()))


@pytest.mark.slow
def test_its_test_shows_whole_what_is_wrong(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    assert begun("QuietNodes", "--kind", "score", "--directory", str(folder)).exit_code == 0
    source = folder / "src" / "quiet_nodes" / "__init__.py"
    broken = re.sub(r"return 0 if node.*", 'return int(node.labels["price"])', source.read_text())
    source.write_text(broken)
    # without the options of this repository, which show more
    words = ["-m", "pytest", "-q", "-c", os.devnull, "--rootdir", ".", "-k", "contract"]
    ran = subprocess.run(
        [sys.executable, *words],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(folder / "src")},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 1, ran.stdout
    assert "failed in score: KeyError: 'price'" in ran.stdout
    assert "pods have one order in the queue" in ran.stdout


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_a_new_package_passes_its_own_test(kind: str, tmp_path: Path) -> None:
    folder = tmp_path / "made"
    assert begun("QuietNodes", "--kind", kind, "--directory", str(folder)).exit_code == 0
    ran = subprocess.run(
        [sys.executable, "-m", "pytest", "-q"], cwd=folder, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("quiet-nodes", "'quiet-nodes' is not a plugin name; use letters and digits, such as QuietNodes"),
        ("NodeName", "a plugin named NodeName already exists (in-tree)"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name: str, sentence: str, tmp_path: Path) -> None:
    result = begun(name, "--directory", str(tmp_path / "made"))
    assert result.exit_code == 1
    assert sentence in result.output
    assert not (tmp_path / "made").exists()


def test_a_folder_with_something_in_it_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine")
    result = begun("QuietNodes", "--directory", str(tmp_path))
    assert result.exit_code == 1
    assert "already exists; set --directory to an empty or new folder" in result.output
    assert [each.name for each in tmp_path.iterdir()] == ["kept"]


@pytest.mark.slow
def test_new_packages_and_the_examples_pass_mypy_strict(tmp_path: Path) -> None:
    for kind in KINDS:
        assert begun(f"Quiet{kind.title()}", "--kind", kind, "--directory", str(tmp_path / kind)).exit_code == 0
    sources = [str(tmp_path / kind / "src") for kind in KINDS]
    tests = [str(file) for file in sorted(tmp_path.glob("*/tests/*.py"))]
    ran = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--config-file", os.devnull, *sources, *tests, str(EXAMPLES)],
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": os.pathsep.join([str(SOURCE), *sources])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stdout + ran.stderr
    assert f"no issues found in {2 * len(KINDS) + 3} source files" in ran.stdout
