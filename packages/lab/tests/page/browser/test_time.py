"""The time bar: a simulation is begun, played, stepped, taken back and left, by mouse and by keyboard."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from packages.lab.tests.page.browser.conftest import Opener
from playwright.sync_api import Page, expect
from tests.support.chromium import until
from tests.support.models import a_live_model, a_model
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
    page.keyboard.press("2")
    expect(page.locator("#table")).to_be_visible()
    page.keyboard.press("/")
    expect(page.locator("#search")).to_be_focused()
    for theme in ("light", "dark"):
        page.evaluate("(theme) => (document.documentElement.dataset.theme = theme)", theme)
        assert faults_of(page) == []
    page.set_viewport_size({"width": 360, "height": 740})
    assert page.evaluate("document.documentElement.scrollWidth <= 360")
    expect(page.locator("#time-play")).to_be_in_viewport()
    assert faults_of(page) == []


BEGAN = datetime.now(UTC).replace(microsecond=0)


def a_mark(at: float, pod: str) -> dict[str, Any]:
    return {"at": at, "kind": "bound", "pod": f"default/{pod}", "node": "n0"}


@pytest.fixture
def live_cluster() -> Iterator[ServedPage]:
    pods = [a_pod(f"p{each}", node="n0") for each in range(5)]
    with served_page(a_live_model(a_node("n0", cpu="4"), *pods)) as page:
        yield page


def test_the_marks_of_a_live_cluster_are_walked_one_by_one_and_tell_the_time_of_day(
    live_cluster: ServedPage, opened: Opener
) -> None:
    page = opened(live_cluster.address, timezone_id="UTC")
    # two of one moment before the page began, two of one moment after, and one that is seen later
    marks = [a_mark(-90, "p0"), a_mark(-90, "p1"), a_mark(30, "p2"), a_mark(30, "p3")]
    began = BEGAN.isoformat().replace("+00:00", "Z")
    answer = {"began": began, "by": "seconds", "from": -90.0, "to": 60.0, "total": 4, "marks": marks}
    page.route("**/v1/timeline*", lambda route: route.fulfill(json=answer))
    until(page, "kubesched.time.marks.marks.length === 4")

    def walked(button: str, pod: str) -> None:
        page.get_by_role("button", name=button).press("Enter")
        expect(page.locator("#panel h2")).to_have_text(f"default/{pod}")
        expect(page.get_by_role("status").filter(has_text=f"default/{pod} bound to n0")).to_be_visible()

    walked("To the mark before", "p3")
    walked("To the mark before", "p2")
    walked("To the mark before", "p1")
    expect(page.locator("#time-mark")).to_contain_text(f"{BEGAN - timedelta(seconds=90):%H:%M:%S} · ")
    walked("To the mark before", "p0")
    walked("To the mark before", "p0")
    # the marks are read again, with one more
    marks.append(a_mark(60, "p4"))
    until(page, "kubesched.time.marks.marks.length === 5")
    for pod in ("p1", "p2", "p3", "p4"):
        walked("To the next mark", pod)
    expect(page.locator("#time-mark")).to_contain_text(f"{BEGAN + timedelta(seconds=60):%H:%M:%S} · ")


def test_the_marks_of_one_moment_of_a_simulation_are_each_reached(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address)
    page.click("#time-try")
    expect(page.locator("#time-clock")).to_be_visible()
    page.click("#time-end")
    expect(page.locator("#time")).to_have_attribute("data-state", "ended")
    page.select_option("#time-by", "seconds")
    until(page, "kubesched.time.marks.marks.length > 9")
    expected = page.evaluate("kubesched.time.marks.marks.filter(({ at }) => at === 0).map(({ pod }) => pod)")
    assert len(expected) == 9
    page.evaluate("kubesched.time.jump(kubesched.time.marks.marks[0])")
    for pod in expected:
        expect(page.locator("#panel h2")).to_have_text(pod)
        page.get_by_role("button", name="To the next mark").click()
    until(page, "kubesched.time.clock.seconds > 0")
