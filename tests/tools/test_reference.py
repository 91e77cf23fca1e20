"""docs/reference: pages that come from the code are as the code makes them."""

from pathlib import Path

import pytest

from kubesched.cli import COMMANDS
from kubesched.config.args import ARGS_TYPES
from tools.reference import commands, configuration
from tools.reference.cells import cell
from tools.reference.pages import PAGES

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
# written by hand, or by other tools of `make docs`
OTHER_PAGES = {
    "answers.md",
    "api-compatibility.md",
    "capacity.md",
    "differences.md",
    "explain.md",
    "limits.md",
    "messages.md",
    "page-api.md",
    "plugin-api.md",
    "questions.md",
    "remedies.md",
    "simulation-reports.md",
    "snapshots.md",
    "sweep-files.md",
    "traces.md",
    "whatif.md",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_is_the_one_that_the_code_makes(name: str) -> None:
    assert (FOLDER / name).read_text() == PAGES[name](), "run `make docs`"


def test_every_page_is_made_by_the_code() -> None:
    assert {path.relative_to(FOLDER).as_posix() for path in FOLDER.rglob("*.md")} == {*PAGES, *OTHER_PAGES}


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_its_help(name: str) -> None:
    assert commands.page(name).startswith(f"# kubesched {name}\n\n```text\n")


def test_subcommands_are_on_the_page_of_their_command() -> None:
    assert "\n## kubesched explain pod\n\n```text\n" in commands.page("explain")


@pytest.mark.parametrize("plugin", ARGS_TYPES)
def test_arguments_of_plugins_are_described(plugin: str) -> None:
    assert f"\n### {plugin}Args\n" in configuration.page()


@pytest.mark.parametrize(
    "line",
    [
        "| `leaseDuration` | duration | `15s` |",
        "| `profiles` | list of [Profile](#profile) |  |",
        "| `enableHTTPS` | boolean | `false` |",
        "| `hardPodAffinityWeight` | number | `1` |",
        "| `TaintToleration` | 3 |",
    ],
    ids=[
        "a default that is filled in",
        "a list of parts",
        "a name of its own",
        "an argument",
        "a plugin with its weight",
    ],
)
def test_what_is_written_about_the_configuration(line: str) -> None:
    assert f"\n{line}\n" in configuration.page()


def test_cells_stay_cells() -> None:
    assert cell("a | b\n<c>") == r"a \| b &lt;c>"
