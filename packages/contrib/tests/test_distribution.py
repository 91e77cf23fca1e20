"""The distribution: entry points, what it may import, custom resource definitions, and a page for each plugin."""

import ast
import re
import tomllib
from importlib import import_module
from pathlib import Path

import pytest
import yaml
from packages.contrib.tests.examples import PAGES, SERVER, TRY, commands_of

CONTRIB = Path(__file__).parents[1]
SOURCE = CONTRIB / "src" / "kubesched_contrib"
PROJECT = tomllib.loads((CONTRIB / "pyproject.toml").read_text())["project"]
ENTRY_POINTS: dict[str, str] = PROJECT["entry-points"]["kubesched.plugins"]


def imported(file: Path) -> set[str]:
    """Return the modules of kubesched, and of its tests, that a file imports."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text())):
        if isinstance(node, ast.ImportFrom):
            found.add(node.module or "")
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return {name for name in found if name.split(".")[0] in ("kubesched", "tests")}


def test_the_licence_comes_along() -> None:
    assert PROJECT["license-files"] == ["LICENSE"]
    assert (CONTRIB / "LICENSE").read_text() == (CONTRIB.parents[1] / "LICENSE").read_text()


@pytest.mark.parametrize("file", sorted(SOURCE.rglob("*.py")), ids=lambda file: file.stem)
def test_plugins_import_only_the_public_api(file: Path) -> None:
    assert imported(file) <= {"kubesched"}


@pytest.mark.parametrize("file", sorted((CONTRIB / "tests").glob("*.py")), ids=lambda file: file.stem)
def test_tests_import_only_what_authors_have(file: Path) -> None:
    assert imported(file) <= {"kubesched", "kubesched.testing"}


@pytest.mark.parametrize("name", ENTRY_POINTS)
def test_an_entry_point_has_the_name_of_its_plugin_and_a_page_of_documentation(name: str) -> None:
    module, _, attribute = ENTRY_POINTS[name].partition(":")
    assert getattr(import_module(module), attribute).name == name
    page = re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()
    assert (CONTRIB.parents[1] / "docs" / "guides" / "plugins" / "contrib" / f"{page}.md").is_file()
    assert f"docs/guides/plugins/contrib/{page}.md" in (CONTRIB / "README.md").read_text()
    assert (CONTRIB / "examples" / page / "config.yaml").is_file()


@pytest.mark.parametrize("file", sorted((CONTRIB / "crds").glob("*.yaml")), ids=lambda file: file.stem)
def test_a_definition_is_named_after_its_group_and_plural(file: Path) -> None:
    definition = yaml.safe_load(file.read_text())
    spec = definition["spec"]
    assert definition["metadata"]["name"] == f"{spec['names']['plural']}.{spec['group']}"
    assert file.stem == f"{spec['group']}_{spec['names']['plural']}"


@pytest.mark.parametrize("folder", sorted(path.name for path in (CONTRIB / "examples").iterdir()))
def test_pages_show_the_configuration_of_their_example(folder: str) -> None:
    config = (CONTRIB / "examples" / folder / "config.yaml").read_text().rstrip()
    page = (CONTRIB.parents[1] / "docs" / "guides" / "plugins" / "contrib" / f"{folder}.md").read_text()
    assert f"```yaml\n{config}\n```\n" in page


@pytest.mark.parametrize("page", sorted(path.stem for path in PAGES.glob("*.md")))
def test_a_page_shows_commands_that_tests_run(page: str) -> None:
    shown = commands_of(page)
    if page == "gang-defragmentation":
        # tests/documents/test_in_order.py
        assert len(shown) == 2
        return
    assert all(command.startswith((TRY, SERVER)) for command in shown)
    tests = "".join(file.read_text() for file in (CONTRIB / "tests").rglob("test_*.py"))
    assert not shown or f'"{page}"' in tests, "no test runs its example"
