"""Reports as HTML: one page that needs nothing else, and texts that stay texts."""

import re
from html.parser import HTMLParser

import pytest
from tests.support.reports import HOSTILE, every_block

from kubesched.reports.blocks import Bars, Commands, Facts, NameList, Report, Table
from kubesched.reports.html import as_fragment, as_page

VOID = {"meta", "rect", "wbr"}


class Page(HTMLParser):
    """What a page consists of: its elements with their attributes, whether they are closed, and its text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.open: list[str] = []
        self.texts: list[str] = []
        self.feed(text)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self.open or self.open[-1] != "style":
            self.texts.append(data)


def test_the_page_needs_nothing_else_and_no_request_leaves_it() -> None:
    text = as_page(every_block())
    page = Page(text)
    assert not {name for name, _ in page.elements} & {
        "script",
        "link",
        "img",
        "iframe",
        "object",
        "embed",
        "base",
        "form",
    }
    attributes = {name for _, found in page.elements for name in found}
    assert not {name for name in attributes if name.startswith("on") or name in ("src", "action", "srcset")}
    assert all((found.get("href") or "#").startswith("#") for _, found in page.elements)
    assert "url(" not in text
    assert "@import" not in text
    policies = [found["content"] for name, found in page.elements if found.get("http-equiv")]
    assert policies == ["default-src 'none'; style-src 'unsafe-inline'"]


def test_it_is_dark_or_light_as_its_reader_prefers() -> None:
    assert "prefers-color-scheme: dark" in as_page(every_block())


def test_on_a_narrow_screen_texts_are_broken_and_not_cut() -> None:
    page = as_page(Report("T", (Table(("POD", "conf/one.yaml"), [("p", "n")]), Commands(("kubectl get pods",)))))
    assert '<th scope="col">conf/<wbr>one.yaml</th>' in page
    rules = {name.strip(): rule for name, _, rule in (part.partition("{") for part in page.split("}"))}
    assert "white-space: pre-wrap" in rules[".kubesched pre"]
    assert "min(16rem, 28vw)" in rules[".kubesched .bars svg"]
    assert "overflow-wrap: anywhere" in rules[".kubesched .facts td, .kubesched .bars td"]
    assert "nowrap" not in rules[".kubesched th"]


def test_every_block_is_shown_and_nothing_is_cut() -> None:
    page = Page(as_fragment(every_block(rows=5)))
    assert " ".join(" ".join(page.texts).split()) == (
        "Pod web Pod web does not fit. web 4 CPUs priority web Why web web NODES REASON 0 web 0 1 web 1 2 web 2 "
        "... and 2 more NODES REASON 3 web 3 4 web 4 Do web web web kubectl delete pod 'web' web web web "
        "memory 2 of 4 web web More POD NODES web web, n1 and 1 more n2 web-2 web web web NODE web n2"
    )
    # rows beyond the first, names beyond the first, and details
    assert [name for name, _ in page.elements].count("details") == 3


def test_names_of_objects_are_links_to_their_rows() -> None:
    nodes = Table(("WHY", "NODE"), [("full", "n1"), ("full", "n2"), ("again", "n1")], about="NODE", most=1)
    pods = Table(("POD", "NODE", "OTHERS"), [("p", "n1", NameList(["n2", "n1", "n3"], 1))])
    page = Page(as_page(Report("t", [Facts([("node", "n2")]), nodes, pods])))
    assert [found["id"] for name, found in page.elements if name == "tr" and "id" in found] == ["row-0", "row-1"]
    hrefs = [found["href"] for name, found in page.elements if name == "a"]
    assert hrefs == ["#row-1", "#row-0", "#row-0", "#row-1", "#row-0"], "the fact, the second row about n1, the pod's"


def test_a_fragment_has_no_links_since_a_notebook_has_several() -> None:
    text = as_fragment(every_block())
    assert "href" not in text
    assert not re.search(r"\bid=", text)


@pytest.mark.parametrize("name", HOSTILE)
def test_names_do_not_become_markup(name: str) -> None:
    hostile, tame = as_page(every_block(name)), as_page(every_block("web"))
    assert Page(hostile).elements == Page(tame).elements
    for mark in ("\x1b", "\x9b", "\u202e", "\ud800"):
        assert mark not in hostile


@pytest.mark.parametrize(
    ("amount", "whole", "width"),
    [(1, 4, "25.0"), (4, 4, "100.0"), (9, 4, "100.0"), (-1, 4, "0.0"), (1, 0, "0.0"), (0, 4, "0.0")],
)
def test_a_bar_is_as_long_as_its_share(amount: float, whole: float, width: str) -> None:
    text = as_fragment(Report("t", [Bars([("cpu", amount, "x")], whole)]))
    assert re.findall(r'class="fill" width="([^"]*)"', text) == [width]
