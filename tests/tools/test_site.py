"""The documentation as a site: all pages are in its navigation, and links out of it lead to the repository."""

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
        ("up.md", "](../examples/quickstart)", f"]({REPOSITORY}/tree/main/examples/quickstart)"),
        ("up.md", "](../CHANGELOG.md#1)", f"]({REPOSITORY}/blob/main/CHANGELOG.md#1)"),
        ("contrib/peaks.md", "](../../contrib/README.md)", f"]({REPOSITORY}/blob/main/contrib/README.md)"),
        ("contrib/peaks.md", "](../plugins.md)", "](../plugins.md)"),
        ("up.md", "](plugins.md#a)", "](plugins.md#a)"),
    ],
    ids=["a folder", "a file with an anchor", "from a folder of the documentation", "within it, upwards", "within it"],
)
def test_links(page: str, link: str, led: str) -> None:
    assert with_links(f"a [b{link} c", page, REPOSITORY) == f"a [b{led} c"
