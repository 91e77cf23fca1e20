"""`kubesched version`: for people, as JSON and as YAML; with the commit where it is known."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner

from kubesched import __version__
from kubesched.api.release import GIT_VERSION
from kubesched.cli import main, version

COMMIT = "0123456789abcdef0123456789abcdef01234567"


def printed(*arguments: str) -> str:
    """Return what the command prints."""
    ran = CliRunner().invoke(main, ["version", *arguments])
    assert ran.exit_code == 0, ran.output
    return ran.output


def test_the_fields_are_there_and_json_and_yaml_agree() -> None:
    found = json.loads(printed("-o", "json"))
    assert found == yaml.safe_load(printed("-o", "yaml"))
    assert (found["version"], found["kubernetesVersion"]) == (__version__, GIT_VERSION)
    assert {"pythonVersion", "pythonImplementation", "platform", "packages"} <= set(found)
    assert "numpy" in found["packages"]


def test_people_read_a_few_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "git_commit", lambda: COMMIT)
    first, second, *_ = printed().splitlines()
    assert first == f"kubesched {__version__} (0123456789ab)"
    assert second == f"Kubernetes {GIT_VERSION}"


def test_an_unknown_commit_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(version, "git_commit", lambda: "")
    assert printed().splitlines()[0] == f"kubesched {__version__}"
    assert "gitCommit" not in json.loads(printed("-o", "json"))


def test_a_wrong_form_is_told() -> None:
    ran = CliRunner().invoke(main, ["version", "-o", "xml"])
    assert ran.exit_code == 2
    assert "'text', 'json', 'yaml'" in ran.output


class Distribution:
    """A distribution with a file about where it was installed from."""

    def __init__(self, text: str | None) -> None:
        self._text = text

    def read_text(self, name: str) -> str | None:
        return self._text if name == "direct_url.json" else None


@pytest.mark.parametrize(
    ("text", "commit"),
    [
        (json.dumps({"url": "https://host", "vcs_info": {"vcs": "git", "commit_id": COMMIT}}), COMMIT),
        (json.dumps({"url": "file:///folder", "dir_info": {"editable": True}}), ""),
        (None, ""),
        ("{torn", ""),
        ("[]", ""),
    ],
    ids=["pip install git+https", "pip install -e", "from an index", "a torn file", "a file of something else"],
)
def test_pip_has_written_down_the_commit(text: str | None, commit: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.metadata.distribution", lambda name: Distribution(text))
    monkeypatch.setattr(version, "_checked_out_commit", lambda folder: "")
    assert version.git_commit() == commit


def a_checkout(folder: Path) -> Path:
    (folder / "packages" / "scheduler" / "src" / "kubesched").mkdir(parents=True)
    (folder / ".git").mkdir()
    return folder


@pytest.mark.parametrize(
    ("answer", "commit"),
    [
        (subprocess.CompletedProcess([], 0, f"{COMMIT}\n", ""), COMMIT),
        (subprocess.CompletedProcess([], 128, "HEAD\n", "fatal: no commits yet"), ""),
        (FileNotFoundError("git"), ""),
        (subprocess.TimeoutExpired("git", 5), ""),
    ],
    ids=["a commit", "no commit yet", "no git", "git hangs"],
)
def test_git_is_asked_in_a_checkout(answer: Any, commit: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*arguments: Any, **options: Any) -> Any:
        if isinstance(answer, Exception):
            raise answer
        return answer

    monkeypatch.setattr("subprocess.run", run)
    assert version._checked_out_commit(a_checkout(tmp_path)) == commit


def test_an_installed_package_in_a_repository_of_somebody_else_has_no_commit(tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    assert version._checked_out_commit(tmp_path) == ""
