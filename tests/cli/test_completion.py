"""Shell completion: a script for the shell, and the commands and options that a line may go on with."""

import os
import subprocess
import sys

import pytest

from kubesched.cli import COMMANDS

# which of the slow modules were imported is told at the end
CODE = """
import atexit, sys
slow = ("numpy", "msgspec", "rich", "aiohttp", "yaml")
atexit.register(lambda: print(*(name for name in slow if name in sys.modules), file=sys.stderr))
from kubesched.console import kubesched
kubesched()
"""


def completed(mode: str, line: str = "") -> tuple[list[str], str]:
    """Return what completion prints, and the slow modules that it imported."""
    words = line.split()
    environment = {
        **os.environ,
        "_KUBESCHED_COMPLETE": mode,
        "COMP_WORDS": line,
        "COMP_CWORD": str(len(words) - (not line.endswith(" "))),
    }
    found = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True, timeout=60
    )
    return found.stdout.splitlines(), found.stderr.strip()


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_gets_its_script(shell: str) -> None:
    lines, slow = completed(f"{shell}_source")
    assert "_KUBESCHED_COMPLETE" in "".join(lines)
    assert slow == ""


def test_commands_are_listed_without_importing_them() -> None:
    lines, slow = completed("bash_complete", "kubesched ")
    assert lines == [f"plain,{name}" for name in sorted(COMMANDS)]
    assert slow == ""


@pytest.mark.parametrize(
    ("line", "goes_on"),
    [
        ("kubesched sn", ["snapshot"]),
        ("kubesched explain ", ["node", "pod", "pods"]),
        ("kubesched explain po", ["pod", "pods"]),
        ("kubesched explain --fro", ["--from"]),
        ("kubesched explain pod --fro", ["--from"]),
        ("kubesched explain pod -o m", ["markdown"]),
        ("kubesched --ver", ["--version"]),
    ],
)
def test_lines_go_on(line: str, goes_on: list[str]) -> None:
    lines, _ = completed("bash_complete", line)
    assert set(goes_on) <= {each.partition(",")[2] for each in lines}
