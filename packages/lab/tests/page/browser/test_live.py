"""The page while the cluster changes, and when its server goes away."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from packages.lab.tests.page.browser.conftest import Opener
from playwright.sync_api import expect
from tests.support.chromium import until
from tests.support.models import a_model
from tests.support.served_page import ServedPage, served_page

from kubesched.testing import a_node, a_pod
from kubesched_lab.page.shown.shown_cluster import LOST, THERE

pytestmark = pytest.mark.slow


@pytest.fixture
def cluster() -> Iterator[ServedPage]:
    with served_page(a_model(a_node("n1", zone="a"), a_node("n2", zone="b"), a_pod("p", cpu="1"))) as page:
        yield page


def test_changes_arrive_and_sums_follow(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address)
    cluster.put(
        a_pod("p", cpu="1", node="n1"),
        a_node("n3", zone="c"),
        *(a_pod(f"q{row}", cpu="10m", node="n3") for row in range(100)),
    )
    expect(page.locator("#counts")).to_have_text("3 nodes, 101 pods")
    expect(page.locator("#pending-title")).to_have_text("Nothing is pending")
    share = "(name) => kubesched.cluster.share('cpu', kubesched.cluster.findNode(name))"
    assert page.evaluate(share, "n1") == 0.25
    assert page.evaluate(share, "n3") == pytest.approx(0.25)
    cluster.drop(*(a_pod(f"q{row}", cpu="10m", node="n3") for row in range(100)))
    cluster.drop(a_node("n3", zone="c"))
    expect(page.locator("#counts")).to_have_text("2 nodes, 1 pod")
    assert page.evaluate("kubesched.map.placed.blocks.map(block => block.title)") == ["a", "b"]


def test_sums_by_change_are_those_of_reading_all_again(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address)
    for turn in range(5):
        cluster.put(
            *(
                a_pod(f"r{row}", cpu=f"{(row * 7 + turn) % 11}m", node=f"n{(row + turn) % 2 + 1}")
                for row in range(turn, 60, turn + 1)
            )
        )
        cluster.drop(*(a_pod(f"r{row}", node="n1") for row in range(turn, 60, 5)))
    until(page, f"kubesched.cluster.seq === {cluster.shown.seq}")
    sums = "JSON.stringify([...kubesched.cluster.requested].map(([name, column]) => [name, [...column].slice(0, 2)]))"
    before = page.evaluate(sums)
    page.reload()
    page.wait_for_selector("body[data-ready=yes]")
    assert page.evaluate(sums) == before


def test_panel_of_a_pod_follows_the_pod(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address)
    page.evaluate("kubesched.openPod('default', 'p')")
    page.wait_for_selector("[data-shown]")
    before = page.locator(".verdict").inner_text()
    cluster.put(a_pod("p", cpu="1", node="n2"))
    expect(page.locator(".verdict")).not_to_have_text(before)


def test_a_panel_says_when_its_pod_or_node_is_gone_and_asks_nobody(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address)
    for kind, key, opening, gone in (
        ("pod", "default/p", "kubesched.openPod('default', 'p')", a_pod("p", cpu="1")),
        ("node", "n2", "kubesched.openNode('n2')", a_node("n2", zone="b")),
    ):
        page.evaluate(opening)
        page.wait_for_selector(f'[data-shown="{kind} {key}"]')
        cluster.drop(gone)
        expect(page.locator("#panel .failed")).to_have_text(f"There is no {kind} {key} now.")


def test_a_server_that_goes_away_and_comes_back(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address, allow=("ERR_", "Failed to load resource"))
    cluster.stop()
    expect(page.locator("#banner")).to_contain_text("The connection to the page's server is lost")
    cluster.call(cluster.shown.put, a_node("n9"))
    cluster.start()
    expect(page.locator("#banner")).to_have_text("Connected again.")
    expect(page.locator("#counts")).to_have_text("3 nodes, 1 pod")


def test_a_cluster_that_is_lost_and_comes_back(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address)
    cluster.call(cluster.shown.report_source, LOST, "connection refused")
    expect(page.locator("#banner")).to_have_text(
        "The cluster is lost: connection refused. The page shows its last known state."
    )
    cluster.call(cluster.shown.report_source, THERE)
    expect(page.locator("#banner")).to_have_text("The cluster is back.")


def test_without_its_token_the_page_says_what_to_do(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address.partition("#")[0], ready=False, allow=("401",))
    expect(page.locator("#banner")).to_contain_text("open the address that kubesched page printed")


def test_an_address_that_is_pasted_into_the_tab_of_the_page_brings_its_token(
    cluster: ServedPage, opened: Opener
) -> None:
    page = opened(cluster.address.partition("#")[0], ready=False, allow=("401",))
    expect(page.locator("#banner")).to_contain_text("This page needs its token")
    page.goto(cluster.address)
    page.wait_for_selector("body[data-ready=yes]")
    expect(page.locator("#counts")).to_have_text("2 nodes, 1 pod")
    expect(page.locator("#banner")).to_be_empty()
    assert "token" not in page.url


def test_ages_of_pending_pods_grow_while_nothing_changes(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address)
    cluster.put(a_pod("q", created=datetime.now(UTC).isoformat()))
    age = page.locator("#pending-list .pod", has_text="default/q").locator(".age")
    expect(age).to_have_text(re.compile(r"^\d+s$"))
    before = age.inner_text()
    expect(age).not_to_have_text(before)


def test_the_first_arrow_key_in_the_lane_leads_to_its_first_row(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address)
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.locator("#pending-list")).to_be_focused()
    page.keyboard.press("ArrowDown")
    expect(page.locator("#pending-list button").first).to_be_focused()
