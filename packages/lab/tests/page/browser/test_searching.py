"""The search in a real browser: what it finds, how the keyboard goes through it, and that it is in nobody's way."""

from collections.abc import Iterator

import pytest
from packages.lab.tests.page.browser.conftest import Opener
from playwright.sync_api import Page, expect
from tests.support.models import a_live_model
from tests.support.served_page import ServedPage, served_page

from kubesched.testing import a_node, a_pod

pytestmark = pytest.mark.slow


@pytest.fixture
def cluster() -> Iterator[ServedPage]:
    objects = [
        a_node("n1", cpu="8", zone="zone-a", labels={"pool": "general"}),
        a_node("n2", cpu="8", zone="zone-b", labels={"pool": "general"}),
        a_pod("web-1", node="n1", cpu="1"),
        a_pod("web-2", node="n2", cpu="1"),
        a_pod("web-huge", cpu="64"),
        a_pod("giant", cpu="64"),
    ]
    with served_page(a_live_model(*objects)) as page:
        yield page


# what is at the middle of each button of the header
COVERED = """() => [...document.querySelectorAll("#views button, #actions > button, #theme")].filter((button) => {
  const { left, top, width, height } = button.getBoundingClientRect();
  return document.elementFromPoint(left + width / 2, top + height / 2) !== button;
}).map((button) => button.textContent)"""


@pytest.mark.parametrize("width", [360, 800, 910, 1000, 1100, 1280, 1400, 1920])
def test_every_button_of_the_header_can_be_clicked_during_a_search(
    width: int, cluster: ServedPage, opened: Opener
) -> None:
    page = opened(cluster.address, viewport={"width": width, "height": 740})
    page.fill("#search", "web")
    expect(page.locator("#found")).to_have_text("0 nodes, 3 pods")
    page.locator("#map-legend").click(position={"x": 3, "y": 3})
    expect(page.locator("#results")).to_be_hidden()
    assert page.evaluate(COVERED) == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    release = page.locator("#origin .release")
    expect(release).to_have_text("· v1.36.4 · live")
    assert release.evaluate(
        "release => release.getBoundingClientRect().right <= release.closest('.about').getBoundingClientRect().right"
    ), "where the cluster comes from gives way to its release"
    field, count = (page.locator(each).bounding_box() for each in ("#search", "#found"))
    assert field is not None
    assert count is not None
    assert field["x"] + 60 < count["x"], "there is room for what is typed"
    assert count["x"] + count["width"] < field["x"] + field["width"]


FOUND = {
    "a label alone is about nodes": ("zone=zone-a", "1 node, 0 pods"),
    "a pod has the labels of its node": ("zone=zone-a web", "0 nodes, 1 pod"),
    "in any order": ("web- pool=general node=n2", "0 nodes, 1 pod"),
    "a pending pod has no node": ("zone=zone-a huge", "0 nodes, 0 pods"),
    "other fields beside a label": ("zone=zone-b state=bound", "0 nodes, 1 pod"),
    "a label that no node has": ("app=web", "0 nodes, 0 pods"),
}


@pytest.mark.parametrize("case", FOUND)
def test_words_and_labels(case: str, cluster: ServedPage, opened: Opener) -> None:
    query, found = FOUND[case]
    page = opened(cluster.address)
    page.fill("#search", query)
    expect(page.locator("#found")).to_have_text(found)


def test_a_label_that_no_node_has_is_explained(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address)
    page.fill("#search", "app=web")
    expect(page.locator("#results")).to_have_text("No node has a label app; labels of pods are not searched.")


def test_enter_opens_the_only_match(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address)
    page.fill("#search", "giant")
    page.keyboard.press("Enter")
    expect(page.locator("#panel h2")).to_have_text("default/giant")
    page.keyboard.press("Escape")
    expect(page.locator("#search")).to_be_focused()
    page.fill("#search", "n2")
    page.keyboard.press("Enter")
    expect(page.locator("#panel h2")).to_have_text("n2")


def entered(page: Page, sentence: str) -> None:
    page.keyboard.press("Enter")
    expect(page.locator("#spoken")).to_contain_text(sentence)


def test_enter_goes_through_nodes_and_pending_pods_also_while_the_cluster_changes(
    cluster: ServedPage, opened: Opener
) -> None:
    page = opened(cluster.address)
    page.fill("#search", "web")
    page.locator("#search").focus()
    entered(page, "Node n1")
    entered(page, "Node n2")
    cluster.put(a_pod("other", node="n1", cpu="1"))
    expect(page.locator("#counts")).to_have_text("2 nodes, 5 pods")
    entered(page, "Pending pod default/web-huge")
    expect(page.locator("#pending-list [data-marked]")).to_contain_text("default/web-huge")
    expect(page.locator("#pending-list [data-marked]")).to_be_in_viewport()
    entered(page, "Node n1")
    page.fill("#search", "")
    expect(page.locator("#pending-list [data-marked]")).to_have_count(0)


def test_arrows_go_through_the_list_and_a_change_takes_neither_focus_nor_room(
    cluster: ServedPage, opened: Opener
) -> None:
    page = opened(cluster.address)
    page.fill("#search", "web")
    page.locator("#search").press("ArrowDown")
    page.keyboard.press("ArrowDown")
    second = page.locator("#results button").nth(1)
    expect(second).to_be_focused()
    cluster.put(a_pod("other", node="n1", cpu="1"))
    expect(page.locator("#counts")).to_have_text("2 nodes, 5 pods")
    expect(second).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#panel h2")).to_have_text("default/web-2")
    page.keyboard.press("Escape")
    expect(page.locator("#search")).to_be_focused()
    expect(page.locator("#results")).to_be_hidden()
    cluster.put(a_pod("another", node="n1", cpu="1"))
    expect(page.locator("#counts")).to_have_text("2 nodes, 6 pods")
    expect(page.locator("#results")).to_be_hidden()
    page.locator("#search").press("ArrowDown")
    expect(page.locator("#results button").first).to_be_focused()
    page.keyboard.press("ArrowUp")
    expect(page.locator("#search")).to_be_focused()
