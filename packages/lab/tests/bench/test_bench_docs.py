"""docs/guides/research/benchmarking.md: its commands can be given, and it names every opcode."""

import re
import shlex
from pathlib import Path

import pytest

from kubesched_lab.bench.command import bench
from kubesched_lab.simulate.traces.perf.operations import OPCODES

PAGE = Path("docs/guides/research/benchmarking.md").read_text()
COMMANDS = re.findall(r"^\$ kubesched bench(.*)$", PAGE.replace("\\\n", " "), re.MULTILINE)


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_page_can_be_given(command: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("old.json", "admin.kubeconfig", "performance-config.yaml"):
        (tmp_path / name).touch()
    assert bench.make_context("bench", shlex.split(command)).params


def test_there_are_commands() -> None:
    assert len(COMMANDS) >= 7


def test_the_page_names_every_opcode() -> None:
    (row,) = re.findall(r"^\| opcodes \|(.*)\|$", PAGE, re.MULTILINE)
    assert {opcode for opcode in OPCODES if opcode not in row} == set()
