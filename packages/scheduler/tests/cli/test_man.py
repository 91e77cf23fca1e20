"""Manual pages: one for each command, in roff that `man` understands, with all that `--help` says."""

import re
import subprocess
from pathlib import Path

import click
import pytest
from click.testing import CliRunner
from tests.support.programs import needs

from kubesched.cli import COMMANDS, main
from kubesched.cli.command_tree import all_commands
from kubesched.cli.manual import ManualFormatter, pages, roff
from kubesched.run.flags import GROUPS

PAGES = pages()


def plain(page: str) -> str:
    """Return the words of a page, without the language of roff."""
    text = re.sub(r"^\.(?:SH|B|PP|TP|TH|nf|fi)\b ?", "", page, flags=re.MULTILINE)
    for escape, sign in ((r"\&", ""), (r"\fB", ""), (r"\fP", ""), (r"\-", "-"), (r"\(ti", "~"), (r"\(ha", "^")):
        text = text.replace(escape, sign)
    return text.replace(r"\e", "\\")


def test_every_command_has_a_page() -> None:
    expected = {"-".join(path) for path, _ in all_commands(("kubesched",), main)} | {
        "kube-scheduler",
        "kubectl-kubesched",
    }
    assert set(PAGES) == {f"{name}.1" for name in expected}
    assert {f"kubesched-{name}.1" for name in COMMANDS} < set(PAGES)


@pytest.mark.parametrize(
    ("path", "command"),
    [pytest.param(path, command, id=" ".join(path)) for path, command in all_commands(("kubesched",), main)],
)
def test_a_page_has_the_words_of_the_help(path: tuple[str, ...], command: click.Command) -> None:
    context = click.Context(command, info_name=" ".join(path), terminal_width=1000, max_content_width=1000)
    said = plain(PAGES["-".join(path) + ".1"]).split()
    for word in command.get_help(context).replace("Usage:", "").replace("\b", "").split():
        # headings are written in capitals
        assert word in said or word.rstrip(":").upper() in said, word


@pytest.mark.parametrize("name", ["kubesched-run.1", "kube-scheduler.1"])
def test_the_scheduler_has_all_its_flags(name: str) -> None:
    for group in GROUPS:
        for flag in group.flags:
            assert f"--{flag.name}" in plain(PAGES[name])


@pytest.mark.parametrize("name", PAGES)
def test_pages_that_are_named_exist(name: str) -> None:
    others = PAGES[name].partition(".SH SEE ALSO\n")[2]
    named = re.findall(r"([\w-]+)\(1\)", plain(others))
    assert named
    assert {f"{each}.1" for each in named} <= set(PAGES)


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("one\ntwo", ".PP\none\ntwo\n"),
        ("one\n\ntwo", ".PP\none\n.PP\ntwo\n"),
        ("one\n\n\b\na  b\n  c", ".PP\none\n.PP\n.nf\na  b\n  c\n.fi\n"),
        ("\b\nfirst\n\b\nsecond", ".PP\n.nf\nfirst\n.fi\n.PP\n.nf\nsecond\n.fi\n"),
        ("  kubesched run -v 2", ".PP\n.nf\n  kubesched run \\-v 2\n.fi\n"),
        (".hidden and 'quoted'", ".PP\n\\&.hidden and 'quoted'\n"),
        ("'quoted' first", ".PP\n\\&'quoted' first\n"),
        ("a \\ b", ".PP\na \\e b\n"),
    ],
    ids=[
        "lines of a paragraph flow",
        "an empty line divides paragraphs",
        "marked lines stay as they are",
        "one mark follows on another",
        "indented lines stay as they are",
        "a first dot is no command",
        "a first quote is no command",
        "a backslash is none of roff's",
    ],
)
def test_paragraphs(text: str, written: str) -> None:
    formatter = ManualFormatter()
    formatter.write_text(text)
    assert formatter.getvalue() == written


def test_signs_stay_what_they_are_when_they_are_copied() -> None:
    assert roff("kubesched up --data ~/a^b") == r"kubesched up \-\-data \(ti/a\(hab"


def test_the_command_writes_them_and_writes_them_again(tmp_path: Path) -> None:
    for _ in range(2):
        ran = CliRunner().invoke(main, ["man", str(tmp_path / "share" / "man")])
        assert ran.exit_code == 0, ran.output
    assert {path.name: path.read_text() for path in (tmp_path / "share/man/man1").iterdir()} == PAGES
    assert f"MANPATH={tmp_path}/share/man" in ran.output


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "man1").write_text("a file")
    ran = CliRunner().invoke(main, ["man", str(tmp_path)])
    assert ran.exit_code == 1
    assert ran.output == f"{tmp_path}/man1: file exists; give a writable folder\n"


@pytest.mark.parametrize(
    ("program", "options"),
    [
        pytest.param("groff", ["-ww", "-z", "-man", "-Kutf8"], id="groff", marks=needs("groff")),
        pytest.param("mandoc", ["-T", "lint", "-W", "error"], id="mandoc", marks=needs("mandoc")),
    ],
)
def test_a_program_that_reads_pages_has_no_complaints(program: str, options: list[str], tmp_path: Path) -> None:
    for name, text in PAGES.items():
        (tmp_path / name).write_text(text)
    command = [program, *options, *sorted(str(path) for path in tmp_path.iterdir())]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (ran.returncode, ran.stderr + ran.stdout) == (0, "")


@needs("man", "man-db")
def test_man_shows_a_page(tmp_path: Path) -> None:
    (tmp_path / "kubesched-try.1").write_text(PAGES["kubesched-try.1"])
    ran = subprocess.run(
        ["man", "-l", str(tmp_path / "kubesched-try.1")],
        env={"PATH": "/usr/bin:/bin", "MANWIDTH": "100", "LC_ALL": "C.UTF-8", "MANPAGER": "cat"},
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert "KUBESCHED-TRY(1)" in ran.stdout
    assert "  kubesched try examples/quickstart/\n" in ran.stdout
