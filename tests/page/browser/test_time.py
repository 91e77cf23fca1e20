"""The time bar: a simulation is begun, played, stepped, taken back and left, by mouse and by keyboard."""

from collections.abc import Iterator

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page, expect
from tests.page.browser.conftest import Opener
from tests.support.chromium import until
from tests.support.models import a_model
from tests.support.served_page import ServedPage, served_page

from kubesched.testing import a_node, a_pod

pytestmark = pytest.mark.slow
RUNS = "kubesched.io/run-seconds"


@pytest.fixture
def cluster() -> Iterator[ServedPage]:
    nodes = [a_node(f"n{each}", cpu="4", zone="a") for each in range(3)]
    pods = [a_pod(f"p{each}", cpu="2", annotations={RUNS: "20"}) for each in range(9)]
    with served_page(a_model(*nodes, *pods)) as page:
        yield page


def cycles(page: Page) -> int:
    found: int = page.evaluate("kubesched.time.clock.cycles")
    return found


def faults_of(page: Page) -> list[str]:
    return [each["id"] for each in Axe().run(page).response["violations"] if each["impact"] in ("serious", "critical")]


def test_a_simulation_is_begun_stepped_played_taken_back_and_left(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address)
    expect(page.locator("#time-play")).to_be_hidden()
    page.get_by_role("button", name="Try it in a simulation").click()
    expect(page.locator("#time-clock")).to_have_text("0:00:00 · paused · 0 scheduling cycles")
    expect(page.locator("#pending-title")).to_contain_text("9")
    page.get_by_role("button", name="Step").click()
    expect(page.locator("#time-clock")).to_have_text("0:00:00 · paused · 1 scheduling cycle")
    expect(page.locator("#pending-title")).to_contain_text("8")
    page.keyboard.press(".")
    expect(page.locator("#time-clock")).to_have_text("0:00:00 · paused · 2 scheduling cycles")
    # at one moment the slider is about scheduling cycles
    page.keyboard.press(",")
    expect(page.locator("#time-clock")).to_have_text("0:00:00 · paused · 1 scheduling cycle")
    expect(page.locator("#pending-title")).to_contain_text("8")
    expect(page.locator("#time-slider")).to_have_attribute("aria-valuetext", "after 1 scheduling cycle")
    page.select_option("#time-speed", "60")
    page.locator("canvas.over").focus()
    page.keyboard.press(" ")
    expect(page.locator("#time")).to_have_attribute("data-state", "ended")
    expect(page.locator("#pending-title")).to_have_text("Nothing is pending")
    expect(page.locator("#counts")).to_have_text("3 nodes, 0 pods")
    until(page, "kubesched.time.marks.marks.length > 9")
    # back to the first mark: a pod is bound, and opened
    page.evaluate("kubesched.time.jump(kubesched.time.marks.after(-1))")
    expect(page.locator("#counts")).to_have_text("3 nodes, 9 pods")
    expect(page.locator("#panel h2")).to_contain_text("default/p")
    expect(page.locator("#panel")).to_contain_text("on record")
    page.get_by_role("button", name="Leave the simulation").click()
    expect(page.locator("#time-play")).to_be_hidden()
    expect(page.locator("#counts")).to_have_text("3 nodes, 9 pods")


def test_the_slider_goes_back_and_the_time_bar_has_no_faults(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address)
    page.click("#time-try")
    expect(page.locator("#time-clock")).to_be_visible()
    page.click("#time-end")
    expect(page.locator("#time")).to_have_attribute("data-state", "ended")
    slider = page.get_by_role("slider", name="Time of the simulation")
    slider.focus()
    page.keyboard.press("Home")
    until(page, "kubesched.time.clock.seconds === 0 && kubesched.time.clock.state === 'paused'")
    assert cycles(page) > 0
    expect(page.locator("#time-play")).to_be_enabled()
    for theme in ("light", "dark"):
        page.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", theme)
        assert faults_of(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth <= 360")
    expect(page.locator("#time-play")).to_be_in_viewport()
    assert faults_of(page) == []
