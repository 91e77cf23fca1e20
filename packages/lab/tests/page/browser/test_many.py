"""What stays usable where there is much of it: values of a label, pending pods, fingers."""

from collections.abc import Iterator

import pytest
from packages.lab.tests.page.browser.conftest import Opener
from playwright.sync_api import expect
from tests.support.chromium import until
from tests.support.models import a_model
from tests.support.served_page import ServedPage, served_page

from kubesched.testing import a_node, a_pod

pytestmark = pytest.mark.slow
BLOCKS = "kubesched.map.placed.blocks.map(({ title, nodes }) => [title, nodes])"


@pytest.fixture(scope="module")
def cluster() -> Iterator[ServedPage]:
    nodes = [
        a_node(f"n{row:04}", zone=f"z{row % 3}", labels={"serial": f"s{row:04}", "rack": f"r{row % 1000 // 2}"})
        for row in range(3000)
    ]
    waiting = [a_pod(f"{team}-{row}", cpu="99") for team in ("red", "blue") for row in range(20)]
    with served_page(a_model(*nodes, *waiting)) as page:
        yield page


def test_a_label_with_a_value_for_each_node_keeps_the_map_on_the_screen(opened: Opener, cluster: ServedPage) -> None:
    page = opened(cluster.address)
    page.select_option("#group", "serial")
    blocks = page.evaluate(BLOCKS)
    assert len(blocks) == 120
    assert blocks[-1] == ["2\u202f881 other values", 2881]
    assert sum(nodes for _, nodes in blocks) == 3000
    assert page.evaluate("kubesched.map.placed.height <= 2 * kubesched.map.over.clientHeight")
    page.select_option("#within", "rack")
    assert len(page.evaluate(BLOCKS)) < 700
    page.keyboard.press("2")
    expect(page.locator("#table tbody tr").first).to_contain_text("s0000")


def test_search_filters_the_lane(opened: Opener, cluster: ServedPage) -> None:
    page = opened(cluster.address)
    title = page.locator("#pending-title")
    expect(title).to_have_text("40 pending pods")
    page.fill("#search", "blue-")
    expect(title).to_have_text("20 pending pods found")
    expect(page.locator("#pending-list")).to_contain_text("default/blue-")
    expect(page.locator("#pending-list")).not_to_contain_text("default/red-")
    page.fill("#search", "zone=z1")
    expect(title).to_have_text("40 pending pods")
    page.fill("#search", "nobody-is-called-so")
    expect(title).to_have_text("0 pending pods found")
    cluster.put(a_pod("nobody-is-called-so", cpu="99"))
    expect(title).to_have_text("1 pending pod found")
    cluster.drop(a_pod("nobody-is-called-so", cpu="99"))
    page.fill("#search", "")
    expect(title).to_have_text("40 pending pods")


def test_causes_of_many_pods_are_told_without_looking_for_each_among_all(opened: Opener, cluster: ServedPage) -> None:
    page = opened(cluster.address)
    until(page, "kubesched.cluster.causes?.size === 40")
    looked, found = page.evaluate(
        """async () => { const { causesOf } = await import("/js/queue/lane.js"); const { cluster, server } = kubesched;
           const { explanation } = await server.get("/v1/pending?remedies=no");
           let looked = 0; const names = cluster.podName;
           cluster.podName = new Proxy(names, { get: (of, row) => { looked++; return of[row]; } });
           const found = causesOf(cluster, explanation); cluster.podName = names;
           return [looked, [...found].filter(([pod, why]) => cluster.isPending(pod) && why).length]; }"""
    )
    assert found == 40
    assert looked <= 4 * 40


def test_two_fingers_zoom_around_what_is_between_them(opened: Opener, cluster: ServedPage) -> None:
    page = opened(cluster.address, has_touch=True)
    box = page.locator("canvas.over").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    session = page.context.new_cdp_session(page)

    def touch(kind: str, apart: float) -> None:
        points = [{"x": x - apart, "y": y, "id": 1}, {"x": x + apart, "y": y, "id": 2}]
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points if kind != "touchEnd" else []})

    under = f"(({{ x, y, k }}) => [({x - box['x']} - x) / k, ({y - box['y']} - y) / k])(kubesched.map.view)"
    before = page.evaluate(under)
    touch("touchStart", 40)
    for apart in (60, 80, 120):
        touch("touchMove", apart)
    touch("touchEnd", 120)
    until(page, "kubesched.map.view.k > 2.5")
    # the browser reports one finger after the other
    assert page.evaluate(under) == pytest.approx(before, abs=12)
    assert page.evaluate("kubesched.panel.open") is False
