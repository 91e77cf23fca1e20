"""The view of the queue in a real browser: what a scheduler tells, and what pods' conditions tell."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from packages.lab.tests.page.browser.conftest import Opener
from playwright.sync_api import expect
from tests.support.models import a_model
from tests.support.served_page import ServedPage, served_page

from kubesched.testing import a_node, a_pod
from kubesched_lab.page.queue.feed import QueueFeed
from kubesched_lab.page.shown.shown_cluster import ShownCluster

pytestmark = pytest.mark.slow
NOW = 1_767_225_600.0


class ToldQueue(QueueFeed):
    """A queue as a scheduler tells it."""

    def __init__(self) -> None:
        super().__init__(ShownCluster(a_model()))

    async def answer(self, shown: ShownCluster | None = None) -> dict[str, Any]:
        waiting = {"priority": 5, "attempts": 3, "since": "2025-12-31T23:59:00Z"}
        return {
            "kind": "scheduler",
            "now": NOW,
            "beginning": None,
            "counts": {"active": 0, "backoff": 1, "unschedulable": 40, "gated": 0, "inFlight": 0},
            "history": {
                "at": [NOW - 60, NOW - 30, NOW],
                "active": [50, 0, 0],
                "backoff": [0, 0, 1],
                "unschedulable": [0, 50, 40],
                "gated": [0, 0, 0],
                "inFlight": [0, 0, None],
            },
            "moves": [{"at": NOW, "event": "NodeAdd", "from": "unschedulable", "to": "backoff", "pods": 10}],
            "moved": [{"event": "NodeAdd", "from": "unschedulable", "to": "backoff", "pods": 17}],
            "first": [
                {
                    "pod": "default/p",
                    "uid": "1",
                    "place": "backoff",
                    "backoffUntil": "2026-01-01T00:00:04Z",
                    "rejectedBy": ["NodeResourcesFit"],
                    **waiting,
                },
                {"pod": "default/q", "uid": "2", "place": "unschedulable", **waiting},
            ],
            "gaps": [],
        }


@pytest.fixture(scope="module")
def told() -> Iterator[ServedPage]:
    with served_page(a_model(a_node("n"), a_pod("p"), a_pod("q")), ToldQueue()) as page:
        yield page


def test_counts_events_and_the_first_pods(opened: Opener, told: ServedPage) -> None:
    page = opened(told.address)
    page.keyboard.press("3")
    view = page.locator("#queue")
    expect(view.locator(".places")).to_have_text("Unschedulable 40Backoff 1Gated 0Active 0In flight 0")
    moves = view.locator("section", has_text="Events that moved pods")
    expect(moves.locator("table").first.locator("tbody tr")).to_contain_text("NodeAdd10UnschedulableBackoff")
    backing = view.locator("section", has_text="Backoff: 1 pod").locator("tbody tr")
    expect(backing).to_have_text("default/p51m34.0 s moreNodeResourcesFit")
    expect(view).to_contain_text("Unschedulable: the first 1 of 40")
    view.get_by_role("button", name="default/p").click()
    expect(page.locator("#panel h2")).to_have_text("default/p")
    page.go_back()
    expect(page.locator("#panel")).to_be_hidden()
    expect(view).to_be_visible()


def test_chart_is_read_by_keys_and_as_a_table(opened: Opener, told: ServedPage) -> None:
    page = opened(told.address, timezone_id="UTC")
    page.click("[data-view=queue]")
    chart, readout = page.locator(".chart canvas"), page.locator(".readout")
    expect(readout).to_have_text("00:00:00: 40 unschedulable, 1 backoff, 0 gated, 0 active, 0 in flight")
    empty = "canvas => !canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data.some(Boolean)"
    assert not chart.evaluate(empty)
    chart.focus()
    page.keyboard.press("Home")
    expect(readout).to_have_text("23:59:00: 0 unschedulable, 0 backoff, 0 gated, 50 active, 0 in flight")
    page.keyboard.press("ArrowRight")
    expect(readout).to_contain_text("50 unschedulable")
    page.click("text=The same as a table")
    rows = page.locator("#queue details table").first.locator("tbody tr")
    expect(rows).to_have_count(3)
    expect(rows.first).to_have_text("00:00:0040100–")


def test_without_a_scheduler_the_page_says_what_is_not_known(opened: Opener) -> None:
    with served_page(a_model(a_node("n"), a_pod("p"), a_pod("held", gates=["quota"]))) as served:
        page = opened(served.address, allow=("ERR_", "Failed to load"))
        page.click("[data-view=queue]")
        expect(page.locator("#queue .places")).to_have_text("Tried in vain 0Gated 1Not tried yet 1")
        expect(page.locator("#queue .gaps")).to_contain_text("files have no scheduler")
        expect(page.locator("#queue")).not_to_contain_text("Events that moved pods")
        served.put(a_pod("p2"))
        expect(page.locator("#queue .places")).to_have_text("Tried in vain 0Gated 1Not tried yet 2")
        page.context.close()


@pytest.mark.parametrize("width", [1280, 360])
@pytest.mark.parametrize("scheme", ["dark", "light"])
def test_axe_finds_no_serious_fault(opened: Opener, told: ServedPage, width: int, scheme: str) -> None:
    page = opened(told.address, color_scheme=scheme, viewport={"width": width, "height": 740})
    page.click("[data-view=queue]")
    page.wait_for_selector("#queue[data-shown]")
    page.click("text=The same as a table")
    found = Axe().run(page).response["violations"]
    assert [
        (fault["id"], fault["nodes"][0]["html"]) for fault in found if fault["impact"] in ("serious", "critical")
    ] == []
    assert page.evaluate("document.documentElement.scrollWidth") == width
