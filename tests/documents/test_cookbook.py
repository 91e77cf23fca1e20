"""Documents whose examples are run, and print what is shown. `make docs` writes what they print."""

import os
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from kubesched.cli import main
from tools.examples import ROOT, DocumentRunner, DocumentSection, commands_in, matches, run_together, sections

RECIPES = sections((ROOT / "docs/guides/questions/cookbook.md").read_text())
# sections of other documents that are run
OTHERS = [
    section
    for name in ("docs/guides/questions/evaluating.md", "docs/verification/truth.md")
    for section in sections((ROOT / name).read_text())
]
# tests/documents/test_in_order.py runs those that need a cluster
EXAMPLES = [section for section in (*RECIPES, *OTHERS) if section.is_run]


@pytest.mark.parametrize("recipe", EXAMPLES, ids=[recipe.heading for recipe in EXAMPLES])
def test_a_recipe_prints_what_it_shows(
    recipe: DocumentSection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("KUBECONFIG", raising=False)
    differences = [str(each) for each in DocumentRunner(tmp_path).differences(recipe)]
    assert differences == [], "\n".join(differences)


@pytest.mark.slow
def test_the_tutorial_prints_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.delenv("KUBECONFIG", raising=False)
    (steps,) = run_together((ROOT / "docs/get-started/tutorial.md").read_text())
    assert len(steps) >= 4
    runner = DocumentRunner(tmp_path)
    differences = [str(each) for step in steps for each in runner.differences(step)]
    assert differences == [], "\n".join(differences)


def test_the_readme_shows_what_is_printed(tmp_path: Path) -> None:
    blocks = [
        block
        for section in sections((ROOT / "README.md").read_text())
        for block in section.blocks
        if "--from examples/asking" in block[1]
    ]
    assert blocks
    differences = [str(each) for each in DocumentRunner(tmp_path).differences(DocumentSection("", tuple(blocks)))]
    assert differences == [], "\n".join(differences)


def test_the_readme_shows_where_the_pods_of_the_quickstart_go() -> None:
    (block,) = (
        block
        for section in sections((ROOT / "README.md").read_text())
        for language, block in section.blocks
        if "NAMESPACE" in block
    )
    (command,) = commands_in(block)
    ran = CliRunner().invoke(main, [*command.line.split()[1:-1], str(ROOT / command.line.split()[-1])])
    printed = " ".join(ran.stdout.split())
    parts = [" ".join(part.split()) for part in command.output.split("\n...\n")]
    assert len(parts) >= 2
    assert [part for part in parts if part not in printed] == []


def test_there_are_recipes_and_nearly_all_are_run() -> None:
    assert len(RECIPES) >= 10
    assert {section.why_not for section in (*RECIPES, *OTHERS)} == {"", "it needs a cluster"}


def test_headings_within_code_begin_no_section() -> None:
    found = sections("# T\n\n## A\n\n```console\n$ a\n## not one\n```\n\n## B\n\n```python\nb\n```\n\n## C\n")
    assert [(each.heading, each.blocks) for each in found] == [
        ("A", (("console", "$ a\n## not one\n"),)),
        ("B", (("python", "b\n"),)),
    ]


def test_a_console_block_has_commands_and_their_outputs() -> None:
    commands = commands_in("$ a \\\n    b   # why\nout\nmore\n$ c\n")
    assert [(each.line, each.output) for each in commands] == [("a b", "out\nmore\n"), ("c", "")]


def test_a_here_document_belongs_to_its_command() -> None:
    commands = commands_in("$ a - <<END   # why\nb: 1\nEND\nout\n$ c\n")
    assert [(each.line, each.output) for each in commands] == [("a - <<END\nb: 1\nEND", "out\n"), ("c", "")]


def test_what_comes_before_the_first_heading_is_a_section() -> None:
    found = sections("# T\n\n```console\n$ a\n```\n\n## B\n\n<!-- not run: it is long -->\n\n```console\n$ b\n```\n")
    assert [(each.heading, [command.line for command in each.commands], each.why_not) for each in found] == [
        ("# T", ["a"], ""),
        ("B", ["b"], "it is long"),
    ]


@pytest.mark.parametrize(
    ("shown", "printed", "same"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\nb\n", "a\nc\n", False),
        ("a\n...\nd\n", "a\nb\nc\nd\n", True),
        ("a\n...\n", "a\nb\nc\n", True),
        ("a\n...\nd\n", "a\nb\nc\n", False),
        ("a ... and 3 more\n", "a ... and 3 more\n", True),
        ("a ... and 3 more\n", "a b and 3 more\n", False),
    ],
)
def test_an_ellipsis_of_its_own_stands_for_lines(shown: str, printed: str, same: bool) -> None:
    assert matches(shown, printed) is same
