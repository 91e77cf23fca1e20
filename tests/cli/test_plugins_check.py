"""`kubesched plugins check`: a line a check, findings below, exit codes."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from kubesched.cli import main

RIGHT = """
from kubesched import filter_plugin, unschedulable

@filter_plugin("QuietNodes")
def quiet_nodes(pod, node):
    return unschedulable("node(s) nearly full") if node.free.milli_cpu < 100 else None
"""
WRONG = RIGHT.replace('unschedulable("node(s) nearly full")', "True")


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        (RIGHT, 0, "hooks answer what they may, scores from 0 to 100: ok (60 examples)"),
        (WRONG, 3, "filter returned True; return None or a status"),
        ("import nothing_of_the_kind", 1, "importing it failed"),
    ],
    ids=["a plugin that is right", "a filter that returns True", "a file that cannot be imported"],
)
def test_the_exit_code_and_the_line_about_it(text: str, code: int, line: str, tmp_path: Path) -> None:
    file = tmp_path / "quiet.py"
    file.write_text(text)
    result = CliRunner().invoke(main, ["plugins", "check", "--examples", "60", str(file)])
    assert result.exit_code == code, result.output
    assert line in result.output
