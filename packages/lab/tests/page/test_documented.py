"""docs/reference/page-api.md names the page's paths, events and fields; the pictures of its guide exist."""

import asyncio
import re
from pathlib import Path
from typing import Any

import msgspec
import pytest
from aiohttp import web
from tests.support.models import a_model

from kubesched.testing import a_node, a_pod
from kubesched_lab.page.page_state import PageState
from kubesched_lab.page.server import PageServer
from kubesched_lab.page.shown.shown_cluster import ShownCluster
from tools.page_pictures import PICTURES

DOCS = Path(__file__).parents[4] / "docs"
TEXT = (DOCS / "reference/page-api.md").read_text()
GUIDE = (DOCS / "guides/questions/page.md").read_text()


def served_routes(monkeypatch: pytest.MonkeyPatch) -> set[tuple[str, str]]:
    """Return method and path of all that a page's server answers."""
    found: list[Any] = []
    add = web.Application.add_routes

    def added(app: web.Application, routes: Any) -> Any:
        found.extend(routes)
        return add(app, routes)

    monkeypatch.setattr(web.Application, "add_routes", added)

    async def story() -> None:
        server = PageServer(PageState(ShownCluster(a_model())), token="t")
        await server.start()
        await server.close()

    asyncio.run(story())
    return {(each.method, each.path) for each in found if each.path.startswith("/v1/")}


def test_the_paths_of_the_documents_are_those_that_are_served(monkeypatch: pytest.MonkeyPatch) -> None:
    told: set[tuple[str, str]] = set()
    for first in re.findall(r"^\| (`(?:GET|POST|DELETE) /v1/.*?) \|", TEXT, re.MULTILINE):
        for method, path in re.findall(r"`(GET|POST|DELETE) (/v1/[^?` ]+)", first):
            told.add((method, re.sub(r"\b(NAMESPACE|NAME)\b", lambda word: f"{{{word[0].lower()}}}", path)))
    assert told == served_routes(monkeypatch)


def test_every_field_of_the_cluster_and_every_event_is_told() -> None:
    state = PageState(ShownCluster(a_model(a_node("n"), a_pod("p"))))
    cluster = msgspec.json.decode(state.encoded())
    fields = TEXT[TEXT.index("\n## Columns\n") : TEXT.index("\n## A change of the form\n")]
    told = set(re.findall(r"`(\w+)`", fields))
    assert set(cluster) - told == set()
    for part in ("nodes", "pods"):
        assert set(cluster[part]) - told == set()
    source = (Path(__file__).parents[4] / "packages/lab/src/kubesched_lab/page/server.py").read_text()
    assert set(re.findall(r'_event\("(\w+)"', source)) - told == set()


def test_the_pictures_of_the_documents_are_those_that_the_command_makes() -> None:
    made = {f"{each.name}.png" for each in PICTURES} | {"page-time.png", "page-queue.png", "page-quickstart.png"}
    shown = set(re.findall(r"pictures/(page-[\w-]+\.png)", GUIDE))
    assert shown <= made
    assert {each.name for each in (DOCS / "pictures").glob("page-*.png")} == made
