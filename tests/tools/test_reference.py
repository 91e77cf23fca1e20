"""docs/reference: pages that come from the code are as the code makes them."""

from pathlib import Path

import pytest

from kubesched.cli import COMMANDS
from kubesched.config.args import ARGS_TYPES
from tools.reference.cells import cell
from tools.reference.commands import page
from tools.reference.pages import pages

FOLDER = Path(__file__).parents[2] / "docs" / "reference"
# written by hand, or by other tools of `make docs`
OTHER_PAGES = {"answers.md", "api-compatibility.md", "differences.md", "messages.md", "plugin-api.md"}


@pytest.mark.parametrize(("name", "text"), pages().items(), ids=list(pages()))
def test_a_page_is_the_one_that_the_code_makes(name: str, text: str) -> None:
    assert (FOLDER / name).read_text() == text, "run `make docs`"


def test_every_page_is_made_by_the_code() -> None:
    assert {path.name for path in FOLDER.iterdir()} == {*pages(), *OTHER_PAGES}


def test_every_command_has_its_help() -> None:
    text = page()
    for name in COMMANDS:
        assert f"\n### kubesched {name}\n\n```text\n" in text


@pytest.mark.parametrize("plugin", ARGS_TYPES)
def test_arguments_of_plugins_are_described(plugin: str) -> None:
    assert f"\n### {plugin}Args\n" in pages()["configuration.md"]


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
    assert f"\n{line}\n" in pages()["configuration.md"]


def test_cells_stay_cells() -> None:
    assert cell("a | b\n<c>") == r"a \| b &lt;c>"
