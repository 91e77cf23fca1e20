"""The page on screens of other sizes: windows that change, pages zoomed to 200 %, phones, and with motion."""

from collections.abc import Iterator

import pytest
from packages.lab.tests.page.browser.conftest import Opener
from playwright.sync_api import Page, expect
from tests.support.chromium import until
from tests.support.models import a_model
from tests.support.served_page import ServedPage, served_page

from kubesched.testing import a_node, a_pod

pytestmark = pytest.mark.slow
# how much of its room the map takes, across and down; of two shapes one fills at least one of them
FILLED = """(() => { const { placed, width, height, view } = kubesched.map;
    return Math.max(placed.width * view.k / width, placed.height * view.k / height); })()"""
# whether a click into the middle of an element would meet it, after it was brought into view
MET = """(element) => { element.scrollIntoView({ block: "center", inline: "center" });
    const { left, top, width, height } = element.getBoundingClientRect();
    const met = document.elementFromPoint(left + width / 2, top + height / 2);
    return width > 0 && height > 0 && (met === element || element.contains(met)); }"""
CONTROLS = (
    "header :is(button, input), .tools select, canvas.over, .zoom button, #lane-fold, #time :is(button, select, input)"
)


@pytest.fixture(scope="module")
def cluster() -> Iterator[ServedPage]:
    nodes = [a_node(f"n{row:03}", cpu="4", zone=f"z{row % 4}") for row in range(200)]
    pods = [a_pod(f"p{row}", cpu="1", node=f"n{row:03}") for row in range(200)]
    with served_page(a_model(*nodes, *pods, a_pod("giant", cpu="64"))) as page:
        yield page


@pytest.fixture
def simulated() -> Iterator[ServedPage]:
    with served_page(a_model(a_node("n1", cpu="4", zone="a"), a_node("n2", cpu="4"), a_pod("p", cpu="1"))) as page:
        yield page


def begin(page: Page) -> None:
    page.locator("#time-try").click()
    until(page, "kubesched.cluster.mode === 'simulation' && kubesched.actions.known.writable")


@pytest.mark.parametrize("panel", [False, True], ids=["alone", "beside a panel"])
def test_nodes_are_arranged_anew_when_the_window_changes(cluster: ServedPage, opened: Opener, panel: bool) -> None:
    page = opened(cluster.address, viewport={"width": 700, "height": 600})
    for width, height in ((1600, 1000), (950, 700), (1920, 800)):
        page.set_viewport_size({"width": width, "height": height})
        if panel:
            page.evaluate("kubesched.openPod('default', 'giant')")
        until(page, f"{FILLED} > 0.6 && {FILLED} <= 1.001")
        assert page.evaluate("[kubesched.map.view.x, kubesched.map.view.y]") == [0, 0]
        if panel:
            page.keyboard.press("Escape")
            until(page, f"{FILLED} > 0.6 && {FILLED} <= 1.001")


def test_whoever_sees_all_nodes_sees_those_that_come_beside_a_panel(simulated: ServedPage, opened: Opener) -> None:
    page = opened(simulated.address)
    page.evaluate("kubesched.openNode('n1')")
    simulated.put(*(a_node(f"more-{row}", zone=f"z{row % 4}") for row in range(60)))
    until(page, f"kubesched.cluster.nodeCount === 62 && kubesched.map.placed.order.length === 62 && {FILLED} > 0.6")
    assert page.evaluate("[kubesched.map.view.x, kubesched.map.view.y]") == [0, 0]
    page.keyboard.press("Escape")
    until(page, f"{FILLED} > 0.6 && {FILLED} <= 1.001")


def test_a_window_that_changes_keeps_what_was_zoomed_into(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address)
    page.evaluate("kubesched.openNode('n100'); kubesched.pointNode(kubesched.cluster.findNode('n100'))")
    page.set_viewport_size({"width": 900, "height": 600})
    seen = """(() => { const map = kubesched.map; const { x, y } = map.box(kubesched.cluster.findNode("n100"));
        return map.width < 900 && x > 0 && y > 0 && x < map.width && y < map.height; })()"""
    page.keyboard.press("Escape")
    page.set_viewport_size({"width": 880, "height": 600})
    until(page, seen)


@pytest.mark.parametrize(
    ("width", "height"), [(640, 400), (853, 480), (740, 360), (360, 640)], ids=["200 %", "150 %", "lying", "phone"]
)
def test_everything_is_reached_on_a_small_screen(
    simulated: ServedPage, opened: Opener, width: int, height: int
) -> None:
    page = opened(simulated.address, viewport={"width": width, "height": height})
    begin(page)
    for control in page.locator(CONTROLS).all():
        if control.is_visible():
            assert control.evaluate(MET), control.evaluate("element => element.outerHTML")
    assert page.locator("canvas.over").bounding_box()["height"] >= 120  # type: ignore[index]
    for view in ("table", "queue", "configuration"):
        page.locator(f"[data-view={view}]").click()
        box = page.locator(f"#{view}").bounding_box()
        assert box is not None
        assert box["height"] >= 150, view
        assert page.evaluate("document.documentElement.scrollWidth") <= width, view
    page.get_by_role("button", name="Change", exact=True).click()
    items = "[...document.querySelectorAll('#actions-menu button')]"
    assert page.evaluate(f"{items}.filter(each => !({MET})(each)).map(each => each.textContent)") == []


def test_a_lane_without_pods_leaves_its_room_to_the_map(simulated: ServedPage, opened: Opener) -> None:
    page = opened(simulated.address, viewport={"width": 360, "height": 740})
    begin(page)
    before = page.locator("#map").bounding_box()
    page.locator("#time-step").click()
    expect(page.locator("#pending-title")).to_have_text("Nothing is pending")
    after = page.locator("#map").bounding_box()
    assert before is not None
    assert after is not None
    assert after["height"] > before["height"] + 50


def test_a_hand_that_moves_the_map_ends_its_own_motion(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address, reduced_motion="no-preference")
    page.evaluate("kubesched.map.zoom(3)")
    page.evaluate("kubesched.map.fit()")
    until(page, "kubesched.map.view.k === 1 && kubesched.map.view.x === 0")
    found = page.evaluate(
        """() => new Promise((done) => { const { map } = kubesched; map.zoom(3); map.fit();
           requestAnimationFrame(() => { map.pan(500, 0); const { x } = map.view;
             setTimeout(() => done([x, map.view.x]), 400); }); })"""
    )
    assert found[0] == found[1]
