"""The page: whole, self-contained, escaped, and with a table for every picture."""

import re
import xml.etree.ElementTree as ET
from collections.abc import Sequence
from functools import cache
from html.parser import HTMLParser
from typing import Any

import msgspec
import pytest

from kubesched.core.assembly import load_config
from kubesched.core.framework.building.registry import Registry
from kubesched.testing import a_node, a_pod
from kubesched_lab.simulate.measuring.figures import Figures
from kubesched_lab.simulate.reports.html_page import as_html
from kubesched_lab.simulate.simulation import Run, simulate
from kubesched_lab.simulate.traces.trace import ObjectPut, PodArrival, Trace, TraceEvent

HOSTILE = "<script>alert('x')</script>&\"\u202e"
GPU = "example.com/gpu"


def events(seed: int) -> Sequence[TraceEvent]:
    labels = {"kubesched.io/price-per-hour": "0.5", "kubesched.io/watts": "100-200"}
    nodes = [
        ObjectPut(0, a_node(f"n{i}", cpu="4", zone=f"z{i}", labels=labels, allocatable={GPU: "3"})) for i in (0, 1)
    ]
    # more than there is room for: some wait
    pods = [PodArrival(i, a_pod(f"p{i}", cpu="2", requests={GPU: "1"}, priority=i % 2), 30.0 + seed) for i in range(12)]
    return [*nodes, *pods]


@cache
def figures(config: str = "default", seed: int = 1, warm_up: float = 0.0) -> Figures:
    trace = Trace("story", lambda seed: iter(events(seed)))
    return simulate(Run(trace, load_config(), Registry(), config, seed, warm_up=warm_up))


class Reader(HTMLParser):
    """Counts elements, checks that they are closed, and keeps their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.counts: dict[str, int] = {}
        self.attributes: set[str] = set()
        self._open: list[str] = []
        self.feed(page)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.counts[tag] = self.counts.get(tag, 0) + 1
        self.attributes |= {name for name, _ in attrs}
        if tag not in ("meta", "wbr"):
            self._open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.attributes |= {name for name, _ in attrs}

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def two_by_two(**options: Any) -> list[Figures]:
    return [figures(config, seed, **options) for config in ("default", "packed") for seed in (1, 2)]


def test_a_page_needs_nothing_else_and_every_picture_has_a_table() -> None:
    page = as_html(two_by_two(), ["kubesched", "simulate", "x.yaml"])
    reader = Reader(page)
    assert reader.attributes.isdisjoint({"src", "href", "xlink:href", "onload", "onclick", "style"})
    assert not re.search(r"https?:|url\(|@import|<script", page)
    assert reader.counts["figure"] == reader.counts["details"] == reader.counts["svg"] > 10


def test_every_picture_is_well_formed_with_a_title_and_a_description() -> None:
    for svg in re.findall(r"<svg.*?</svg>", as_html(two_by_two()), re.DOTALL):
        picture = ET.fromstring(svg)
        assert (picture.get("role"), picture[0].tag, picture[1].tag) == ("img", "title", "desc")
        assert picture[0].text
        assert picture[1].text
        for path in picture.iter("path"):
            assert re.fullmatch(r"[MLHVv0-9. -]+", path.get("d", "")), path.get("d")


def test_it_says_what_was_run() -> None:
    page = as_html(two_by_two(), ["kubesched", "simulate", "x.yaml", "--config", "two words=y.yaml"])
    assert "<pre><code>kubesched simulate x.yaml --config &#x27;two words=y.yaml&#x27;</code></pre>" in page
    for label, value in (("traces", "story"), ("configurations", "default, packed"), ("seeds", "1, 2")):
        assert f'<tr><th scope="row">{label}</th><td>{value}</td></tr>' in page
    for text in ("waiting, 99 %", f"{GPU} stranded", "cost of nodes", "energy", "By priority", "By size"):
        assert text in page


def test_texts_of_files_are_escaped() -> None:
    hostile = msgspec.structs.replace(
        figures(),
        trace=HOSTILE,
        config=HOSTILE,
        timeline={**figures().timeline, f"resources.{HOSTILE}": figures().timeline["running"]},
        waiting_by_priority={HOSTILE: figures().waiting},
        resources={HOSTILE: figures().resources["cpu"]},
    )
    page = as_html([hostile, figures("other")], [HOSTILE])
    Reader(page)
    assert "<script" not in page
    assert "\u202e" not in page


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ([figures()], "One seed has no intervals"),
        ([figures(), figures(seed=2)], "Means over seeds with 95 % intervals"),
        ([figures(warm_up=10.0)], "The warm-up has another background"),
    ],
)
def test_it_says_what_there_is(given: list[Figures], said: str) -> None:
    page = as_html(given)
    Reader(page)
    assert said in page


def test_a_simulation_in_which_nothing_happens_has_a_page() -> None:
    nothing = simulate(Run(Trace("nothing", lambda seed: iter([])), load_config(), Registry()))
    page = as_html([nothing])
    Reader(page)
    assert "No pod was bound." in page


def test_many_configurations_and_seeds_are_drawn_up_to_a_limit() -> None:
    one = figures()
    many = [
        msgspec.structs.replace(one, config=f"config-{number}", seed=seed) for number in range(10) for seed in range(8)
    ]
    page = as_html(many)
    Reader(page)
    assert 'class="curve s1 thin dashed"' in page
    assert page.count('<path class="curve s0 thin"') == 5 * page.count('class="key"')
