"""Programs that a machine may lack: their tests are skipped, or fail where CI says that they are needed."""

import re
from pathlib import Path

import pytest
from tests.support.programs import NAMES, is_there, needs, path_of

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("required", "found", "fails"),
    [
        ("", True, False),
        ("", False, False),
        ("fish zsh", True, False),
        ("fish zsh", False, True),
        ("fish", False, False),
    ],
    ids=[
        "it is there",
        "it is not there, and nobody needs it",
        "it is there, and needed",
        "it is needed, and not there",
        "another one is needed",
    ],
)
def test_what_is_required_has_to_be_there(
    required: str, found: bool, fails: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBESCHED_REQUIRE", required)
    if fails:
        with pytest.raises(RuntimeError, match="no zsh, though KUBESCHED_REQUIRE says that tests need it"):
            is_there("zsh", found, "no zsh")
    else:
        assert is_there("zsh", found, "no zsh") is found


def test_a_program_may_have_several_names(tmp_path: Path) -> None:
    program = tmp_path / "google-chrome"
    program.touch(0o755)
    names = ("chromium", "google-chrome")
    assert path_of("chromium", "none", names=names, path=str(tmp_path)) == str(program)


def test_a_test_without_its_program_is_skipped_with_a_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBESCHED_REQUIRE", raising=False)
    monkeypatch.setenv("PATH", "/nonexistent")
    mark = needs("promtool", "prometheus").mark
    assert (mark.args, mark.kwargs["reason"]) == ((True,), "no promtool on PATH: apt-get install prometheus")


def test_what_may_be_missing_here_is_required_once_on_github() -> None:
    text = (ROOT / ".github" / "workflows" / "tests.yml").read_text()
    lists = re.findall(r"KUBESCHED_REQUIRE(?:: |=)(.*?)(?: \.venv.*)?$", text, re.MULTILINE)
    assert sorted(" ".join(lists).split()) == sorted(NAMES)


def test_what_the_script_of_ci_finds_is_known() -> None:
    (found,) = re.findall(r"for tool in (.*?);", (ROOT / ".ci" / "run").read_text())
    assert set(found.split()) <= NAMES
