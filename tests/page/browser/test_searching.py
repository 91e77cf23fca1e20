"""The search in a real browser: what it finds, how the keyboard goes through it, and that it is in nobody's way."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from tests.page.browser.conftest import Opener
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
    page.mouse.click(width / 2, 600)
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
