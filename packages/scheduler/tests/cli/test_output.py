"""Printing answers: tables that fit the terminal, colours only on one, formats for programs, hostile names."""

import io
import json
import os
import pty
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner, Result
from rich.cells import cell_len
from tests.support.reports import HOSTILE, every_block

from kubesched.api.codec import to_builtins
from kubesched.cli import main
from kubesched.cli.output import FORMATS, OutputOptions, print_answer
from kubesched.model.cluster_objects import Gap
from kubesched.reports.answers import Answer
from kubesched.reports.blocks import Report, Table
from kubesched.reports.terminal import as_terminal_text
from kubesched.testing import a_node, a_pod


@dataclass(frozen=True, slots=True)
class WithGaps(Answer):
    gaps: tuple[Gap, ...]


@dataclass(frozen=True, slots=True)
class Named(Answer):
    """An answer with one name."""

    a_name: str


@pytest.fixture
def cluster_file(tmp_path: Path) -> str:
    """Return a file with a node and a pod that is too large for it."""
    objects = [a_node("n1", cpu="4"), a_pod("big", cpu="8"), a_pod("small", cpu="1")]
    path = tmp_path / "cluster.yaml"
    path.write_text(yaml.safe_dump_all([to_builtins(obj) for obj in objects]))
    return str(path)


def run(*arguments: str, columns: int = 80, **env: str) -> Result:
    return CliRunner(env={"COLUMNS": str(columns), **env}).invoke(main, arguments)


WHOLE = """\
Pod web does not fit.
web       4 CPUs
priority  web

Why web
web
NODES  REASON
    0  web 0
    1  web 1
    2  web 2
... and 2 more

Do
1. web
   web
   web
     kubectl delete pod 'web'

web
web     ████████······················  web
memory  ███████████████···············  2 of 4

  web

web

More
POD    NODES
web    web, n1 and 1 more
web-2  web
"""


def test_every_block_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert as_terminal_text(every_block(rows=5)) == WHOLE


@pytest.mark.parametrize("columns", [20, 40, 60, 120])
def test_lines_are_no_wider_than_the_terminal_but_for_commands(columns: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    report = every_block("a-name-of-some-length and more than one word")
    lines = [
        line for line in as_terminal_text(report).splitlines() if "kubectl" not in line and not line.startswith("  a-")
    ]
    assert max(map(cell_len, lines)) <= columns


def test_without_a_terminal_lines_are_wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    text = as_terminal_text(every_block("word " * 100))
    assert 100 < max(map(len, text.splitlines()[:1])) <= 120


def test_quiet_prints_the_verdict_alone() -> None:
    assert as_terminal_text(every_block(), quiet=True) == "Pod web does not fit.\n"
    assert as_terminal_text(Report("A title", [Table(("A",), [("b",)])]), quiet=True) == "A title\n"


GAPS = {
    "nothing is left out": (0, ""),
    "one thing could not be read": (1, "not in this verdict: Pod 0 outside namespace shop: forbidden\n"),
    "several things": (3, "not in this verdict: Pod 0 outside namespace shop: forbidden, and 2 more\n"),
}


@pytest.mark.parametrize(("count", "line"), GAPS.values(), ids=GAPS)
def test_quiet_says_that_a_verdict_leaves_something_out(
    count: int, line: str, capsys: pytest.CaptureFixture[str]
) -> None:
    gaps = tuple(Gap(f"Pod {number} outside namespace shop", "forbidden", "all") for number in range(count))
    print_answer(WithGaps(gaps), every_block(), OutputOptions(quiet=True))
    assert capsys.readouterr() == ("Pod web does not fit.\n", line)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_do_not_steer_the_terminal(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    text = as_terminal_text(every_block(name))
    assert re.findall("[^\\S\n ]|[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e\ud800]", text) == []


@pytest.mark.parametrize("output", FORMATS)
@pytest.mark.parametrize("name", HOSTILE)
def test_no_format_writes_control_characters(name: str, output: str, capsys: pytest.CaptureFixture[str]) -> None:
    print_answer(Named(name), every_block(name), OutputOptions(output))
    written = capsys.readouterr().out
    assert re.findall("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]", written) == []
    if "\ud800" not in name:
        if output == "json":
            assert json.loads(written) == {"aName": name}
        elif output == "yaml":
            assert yaml.safe_load(written) == {"aName": name}


def test_an_output_that_does_not_know_a_character_gets_another(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(raw, encoding="ascii"))
    print_answer(Named("x"), every_block("ü"), OutputOptions())
    sys.stdout.flush()
    assert raw.getvalue().startswith(b"Pod ? does not fit.")


def test_the_formats_of_a_command(cluster_file: str) -> None:
    arguments = ("explain", "pod", "default/big", "--from", cluster_file)
    begins = {
        "table": "Pod default/big does not fit",
        "json": '{\n  "pod": "default/big",\n  "verdict": "unschedulable"',
        "yaml": "pod: default/big\nverdict: unschedulable\n",
        "markdown": "# Pod default/big\n",
        "html": "<!doctype html>\n",
    }
    for output, text in begins.items():
        result = run(*arguments, "-o", output)
        assert (result.exit_code, result.output[: len(text)]) == (3, text)


def test_quiet_has_one_line_and_the_exit_code(cluster_file: str) -> None:
    result = run("explain", "pod", "default/big", "--from", cluster_file, "--quiet")
    assert (result.exit_code, len(result.output.splitlines())) == (3, 1)
    assert run("explain", "pod", "default/small", "--from", cluster_file, "-q").exit_code == 0


def test_quiet_does_not_go_with_formats_for_programs(cluster_file: str) -> None:
    result = run("explain", "pod", "default/big", "--from", cluster_file, "-q", "-o", "json")
    assert result.exit_code == 2
    assert "--quiet prints the verdict alone: it cannot be combined with -o json" in result.output


def on_a_terminal(*arguments: str, **env: str) -> str:
    """Return what a command writes to a terminal of 80 columns."""
    ours, theirs = pty.openpty()
    environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80", **env}
    environment = {name: value for name, value in environment.items() if value}
    with subprocess.Popen(
        [sys.executable, "-m", "kubesched", *arguments],
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        stdin=theirs,
        env=environment,
    ):
        os.close(theirs)
        written = b""
        # a terminal whose other side is closed is an error at the end of the file
        while part := _read(ours):
            written += part
    os.close(ours)
    return written.decode()


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65536)
    except OSError:
        return b""


def test_colours_are_for_terminals_that_want_them(cluster_file: str) -> None:
    arguments = ("explain", "pod", "default/big", "--from", cluster_file)
    assert "\x1b[31mPod default/big" in on_a_terminal(*arguments, NO_COLOR="")
    assert "\x1b" not in on_a_terminal(*arguments, NO_COLOR="1")
    assert "\x1b" not in on_a_terminal(*arguments, "--no-color", NO_COLOR="")
    assert "\x1b" not in run(*arguments).output


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("output", ["table", "json", "html"])
def test_a_full_disk_is_one_line(output: str, cluster_file: str) -> None:
    line = f"{sys.executable} -m kubesched explain pod default/big --from {cluster_file} -o {output} >/dev/full"
    found = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (1, "cannot write the output: No space left on device\n")


@pytest.mark.parametrize("output", ["table", "json"])
def test_a_reader_that_leaves_is_no_error(output: str, cluster_file: str) -> None:
    line = f"{sys.executable} -m kubesched explain pod default/big --from {cluster_file} -o {output} | true"
    found = subprocess.run(["sh", "-c", line], capture_output=True, text=True, check=False)
    assert (found.returncode, found.stderr) == (0, "")
