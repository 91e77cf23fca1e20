"""The documentation as a site: all pages are in its navigation, and links out of it lead to the repository."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml

from tools.site_links import with_links

ROOT = Path(__file__).parents[2]
SITE = yaml.safe_load((ROOT / "mkdocs.yml").read_text())
REPOSITORY = "https://host.example/kubesched"


def pages(entry: Any) -> Iterator[str]:
    """Yield the pages of a part of the navigation."""
    if isinstance(entry, str):
        yield entry
    else:
        for each in entry.values() if isinstance(entry, dict) else entry:
            yield from pages(each)


def test_every_page_is_in_the_navigation_once() -> None:
    found = list(pages(SITE["nav"]))
    assert sorted(found) == sorted(path.relative_to(ROOT / "docs").as_posix() for path in ROOT.glob("docs/**/*.md"))


def test_the_site_loads_nothing_from_elsewhere() -> None:
    assert SITE["theme"]["font"] is False
    assert "extra_javascript" not in SITE
    # with it every page asks the repository's host for the number of its stars
    assert "repo_url" not in SITE
    for path in SITE["extra_css"]:
        assert "url(" not in (ROOT / "docs" / path).read_text()


@pytest.mark.parametrize(
    ("page", "link", "led"),
    [
        ("guides/clusters/up.md", "](../../../examples/quickstart)", f"]({REPOSITORY}/tree/main/examples/quickstart)"),
        ("guides/clusters/up.md", "](../../../CHANGELOG.md#1)", f"]({REPOSITORY}/blob/main/CHANGELOG.md#1)"),
        (
            "guides/plugins/contrib/peaks.md",
            "](../../../../packages/contrib/README.md)",
            f"]({REPOSITORY}/blob/main/packages/contrib/README.md)",
        ),
        ("guides/plugins/contrib/peaks.md", "](../plugins.md)", "](../plugins.md)"),
        ("concepts/why-columns.md", "](comparison.md#a)", "](comparison.md#a)"),
    ],
    ids=["a folder", "a file with an anchor", "from a folder of the documentation", "within it, upwards", "within it"],
)
def test_links(page: str, link: str, led: str) -> None:
    assert with_links(f"a [b{link} c", page, REPOSITORY) == f"a [b{led} c"


@pytest.mark.parametrize("path", sorted(ROOT.glob("docs/**/*.md")), ids=lambda path: path.stem)
def test_headings_tables_and_lists_stand_apart_lest_the_site_takes_them_for_what_is_above(path: Path) -> None:
    together = []
    above, code = "", False
    for line in path.read_text().splitlines():
        code ^= line.startswith("```")
        begins = line.startswith(("# ", "## ", "### ", "#### "))
        begins |= line.startswith("|") and not above.startswith(("|", "<!--"))
        begins |= line.startswith(("* ", "- ", "1. ")) and not above.startswith(("* ", "- ", "  "))
        if begins and above and not code:
            together.append(line)
        above = line
    assert together == []


def test_the_site_knows_its_address_which_the_sitemap_and_the_page_for_missing_pages_need() -> None:
    urls = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]
    assert SITE["site_url"] == urls["Documentation"]
    assert SITE["site_url"].endswith("/")
