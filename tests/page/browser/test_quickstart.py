"""The quickstart in a real browser: every view opens, and the same cluster is played to its end as a simulation."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import expect
from tests.page.browser.conftest import Opener
from tests.support.chromium import until
from tests.support.models import a_model
from tests.support.served_page import ServedPage, served_page

from kubesched.asking.sources.files import read_files
from kubesched.page.opening import opened_in_browser

pytestmark = pytest.mark.slow


@pytest.fixture
def quickstart() -> Iterator[ServedPage]:
    with served_page(a_model(*read_files(["examples/quickstart"]).objects)) as page:
        yield page


def test_every_view_opens(quickstart: ServedPage, opened: Opener) -> None:
    page = opened(quickstart.address)
    expect(page.locator("#counts")).to_contain_text("12 nodes")
    page.click("[data-view=table]")
    expect(page.locator("#table")).to_contain_text("node-a1")
    page.click("[data-view=queue]")
    expect(page.locator("#queue .firsts tbody tr").first).to_be_visible()
    page.click("[data-view=configuration]")
    expect(page.locator(".plugins")).to_contain_text("NodeResourcesFit")
    page.click("[data-view=map]")
    page.evaluate("kubesched.openPod('default', 'giant')")
    expect(page.locator("#panel .body")).to_contain_text("does not fit on any of 12 nodes")
    page.evaluate("kubesched.openNode('node-a-large')")
    expect(page.locator("#panel .body")).to_contain_text("node-a-large")


def test_the_file_that_a_browser_is_given_leads_to_the_page(
    quickstart: ServedPage, opened: Opener, monkeypatch: pytest.MonkeyPatch
) -> None:
    files: list[str] = []
    monkeypatch.setattr("webbrowser.open", files.append)
    with opened_in_browser(quickstart.address):
        page = opened(files[0], allow=("file://", quickstart.address.partition("/#")[0]))
        expect(page.locator("#counts")).to_contain_text("12 nodes")


def test_pending_pods_of_files_are_grouped_as_explain_says(quickstart: ServedPage, opened: Opener) -> None:
    page = opened(quickstart.address)
    lane = page.locator("#pending-list")
    expect(lane).to_contain_text("Fits nowhere: ")
    expect(lane).to_contain_text("Not tried yet: there is a place")
    found = page.evaluate("kubesched.server.get('/v1/pending?remedies=no')")["explanation"]
    expect(lane).to_contain_text(found["groups"][0]["cause"])
    assert page.locator(".group .number").all_inner_texts() == [
        str(each["pods"]) for each in sorted((*found["groups"], *found["others"]), key=lambda each: -each["pods"])
    ]


def test_it_is_played_to_its_end(quickstart: ServedPage, opened: Opener) -> None:
    page = opened(quickstart.address)
    page.get_by_role("button", name="Try it in a simulation").click()
    page.get_by_role("button", name="To the end").click()
    until(page, "kubesched.time.clock && kubesched.time.clock.state === 'ended'", seconds=60.0)
    expect(page.locator("#pending-list")).to_contain_text("Insufficient cpu")
    page.evaluate("kubesched.openPod('default', 'urgent')")
    expect(page.locator("#panel .body")).to_contain_text("node-")
