"""The page in a real browser: every view, on a small and on a large cluster."""

from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from packages.lab.tests.page.browser.conftest import Opener
from playwright.sync_api import Page, expect
from tests.support.chromium import until
from tests.support.models import a_model
from tests.support.served_page import ServedPage, served_page

from kubesched.api.meta import ApiObject
from kubesched.testing import a_node, a_pod
from kubesched_answers.explain.explain_pod import explain_named_pod

pytestmark = pytest.mark.slow
EVIL = "<img src=x onerror=alert(1)>"


def small() -> list[ApiObject]:
    """A cluster of two zones with something of every kind."""
    return [
        a_node("n1", cpu="4", zone="a", labels={"pool": "general", "note": EVIL}),
        a_node("n2", cpu="4", zone="a", labels={"pool": "batch"}, taints=["spot=yes:NoSchedule"]),
        a_node("n3", cpu="8", zone="b", labels={"pool": "general"}, unschedulable=True),
        a_pod("web-1", node="n1", cpu="2", memory="1Gi", owner="ReplicaSet/web"),
        a_pod("web-2", node="n3", cpu="1", memory="1Gi", owner="ReplicaSet/web", priority=5),
        a_pod("giant", cpu="16", created="2026-01-01T00:00:00Z"),
        a_pod("urgent", cpu="3", priority=1000),
        a_pod("small", namespace="apps", cpu="1"),
        a_pod("held", gates=["quota"]),
    ]


@pytest.fixture(scope="module")
def cluster() -> Iterator[ServedPage]:
    with served_page(a_model(*small())) as page:
        yield page


@pytest.fixture(scope="module")
def large_cluster() -> Iterator[ServedPage]:
    nodes = [a_node(f"node-{row:04}", cpu="32", zone=f"zone-{row % 10}") for row in range(5000)]
    pods = [a_pod(f"pod-{row:05}", cpu="1", node=f"node-{row % 5000:04}") for row in range(40_000)]
    pending = [a_pod(f"waits-{row:05}", cpu="64") for row in range(10_000)]
    with served_page(a_model(*nodes, *pods, *pending)) as page:
        yield page


def open_pod(page: Page, namespace: str, name: str) -> None:
    page.evaluate("([namespace, name]) => kubesched.openPod(namespace, name)", [namespace, name])
    page.wait_for_selector(f'[data-shown="pod {namespace}/{name}"]')


def click_node(page: Page, name: str) -> None:
    """Click into the cell of a node, beside its pods."""
    spot = page.evaluate(
        """(name) => { const map = kubesched.map; const box = map.box(kubesched.cluster.findNode(name));
           const at = map.over.getBoundingClientRect(); const [x, y] = [Math.min(8, box.w / 2), Math.min(6, box.h / 2)];
           return [at.left + box.x + x, at.top + box.y + y]; }""",
        name,
    )
    page.mouse.click(*spot)


class TestMap:
    def test_first_view_tells_what_the_cluster_is(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        expect(page.locator("#counts")).to_have_text("3 nodes, 6 pods")
        expect(page.locator("#pending-title")).to_have_text("4 pending pods")
        assert "token" not in page.url

    @pytest.mark.parametrize("colour", ["share:memory", "used:memory", "free:cpu", "pods", "priority", "owner"])
    def test_every_measure_draws_other_pixels(self, opened: Opener, cluster: ServedPage, colour: str) -> None:
        page = opened(cluster.address)
        before = page.locator("canvas.base").evaluate("canvas => canvas.toDataURL()")
        page.select_option("#colour", colour)
        page.wait_for_timeout(100)
        assert page.locator("canvas.base").evaluate("canvas => canvas.toDataURL()") != before

    def test_nodes_are_grouped_by_any_label_and_within_by_another(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        titles = "kubesched.map.placed.blocks.map(block => block.title)"
        assert page.evaluate(titles) == ["a", "batch", "general", "b", "general"]
        page.select_option("#within", "")
        assert page.evaluate(titles) == ["a", "b"]
        page.select_option("#group", "note")
        assert page.evaluate(titles)[-1] == "without it"

    def test_a_click_opens_a_node_and_the_pointer_tells_about_it(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        click_node(page, "n1")
        expect(page.locator("#panel h2")).to_have_text("n1")
        expect(page.locator("#panel .body")).to_contain_text("default/web-1")
        expect(page.locator("#panel .body")).to_contain_text("Pending pods, seen from this node")

    def test_a_pod_is_clicked_inside_its_node(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        spot = page.evaluate(
            """() => { const map = kubesched.map; const area = map.podArea(map.box(kubesched.cluster.findNode("n1")));
               const at = map.over.getBoundingClientRect();
               return [at.left + area.x + 10, at.top + area.y + area.h - 10]; }"""
        )
        page.mouse.move(*spot)
        expect(page.locator("#tooltip")).to_contain_text("default/web-1")
        page.mouse.click(*spot)
        expect(page.locator("#panel h2")).to_have_text("default/web-1")

    def test_beside_a_panel_all_nodes_stay_in_their_places(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        before = page.evaluate("[...kubesched.map.placed.x]")
        page.evaluate("kubesched.openNode('n1')")
        until(page, "kubesched.map.view.k < 1")
        assert page.evaluate("[...kubesched.map.placed.x]") == before
        page.keyboard.press("Escape")
        until(page, "kubesched.map.view.k === 1")

    def test_wheel_zooms_and_dragging_moves(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        page.mouse.move(700, 400)
        page.mouse.wheel(0, -300)
        until(page, "kubesched.map.view.k > 1")
        before = page.evaluate("kubesched.map.view.x")
        page.mouse.down()
        page.mouse.move(750, 430, steps=5)
        page.mouse.up()
        assert page.evaluate("kubesched.map.view.x") == pytest.approx(before + 50)


class TestDecision:
    def test_panel_of_a_pod_agrees_with_explain(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        open_pod(page, "default", "giant")
        answer: dict[str, Any] = explain_named_pod(cluster.shown.model, "default/giant").to_dict()
        body = page.locator("#panel .body")
        expect(body.locator(".verdict")).to_have_text(f"{answer['verdict']} {answer['summary']}")
        rejected = {reason["plugin"]: reason["count"] for reason in answer["reasons"]}
        shown = body.locator(".funnel .step:not(.end)").evaluate_all(
            "steps => steps.map(step => [step.querySelector('.plugin').textContent, "
            "-step.querySelector('.rejected').textContent.replace('−', '-')])"
        )
        assert dict(shown) == rejected
        expect(body).to_contain_text(answer["remedies"][0]["summary"])
        expect(body.locator("pre").first).to_contain_text("kubectl ")

    def test_scores_are_stacked_and_raw_on_demand(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        open_pod(page, "apps", "small")
        first = page.locator(".scores .scored").first
        expect(first).to_contain_text("n1")
        assert first.locator(".stack .part").count() > 0
        first.locator("summary").click()
        expect(first.locator("table")).to_contain_text("NodeResourcesFit")

    def test_steps_and_scores_are_read_out_as_sentences(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        open_pod(page, "default", "giant")
        steps = page.locator(".funnel summary").evaluate_all("all => all.map(each => each.ariaLabel)")
        assert "NodeUnschedulable: rejects 1 node, leaves 2" in steps
        open_pod(page, "apps", "small")
        total = page.locator(".scores .scored .left").first.inner_text()
        expect(page.locator(".scores summary").first).to_have_attribute("aria-label", f"1: n1, chosen, {total} points")

    def test_candidates_and_victims_of_preemption(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        open_pod(page, "default", "urgent")
        expect(page.locator("#panel .body")).to_contain_text("1 victim")
        page.get_by_role("button", name="default/web-1").first.click()
        expect(page.locator("#panel h2")).to_have_text("default/web-1")

    def test_a_pod_that_is_gone_is_a_sentence(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        page.evaluate("kubesched.openPod('default', 'nobody')")
        expect(page.locator("#panel .failed")).to_have_text("There is no pod default/nobody now.")


SEARCHES = {
    "a part of a name": ("web-", "0 nodes, 2 pods"),
    "a namespace": ("namespace=apps", "0 nodes, 1 pod"),
    "a label by its short key": ("zone=a", "2 nodes, 0 pods"),
    "an owner": ("replicaset/web", "0 nodes, 2 pods"),
    "a state": ("state=gated", "0 nodes, 1 pod"),
    "all words have to match": ("web- 1", "0 nodes, 1 pod"),
    "nothing": ("nothing-like-it", "0 nodes, 0 pods"),
    "markup": (EVIL, "0 nodes, 0 pods"),
}


class TestSearch:
    @pytest.mark.parametrize("case", SEARCHES)
    def test_search(self, case: str, opened: Opener, cluster: ServedPage) -> None:
        query, found = SEARCHES[case]
        page = opened(cluster.address)
        page.fill("#search", query)
        expect(page.locator("#found")).to_have_text(found)

    def test_a_result_opens(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        page.fill("#search", "giant")
        page.locator("#results button").first.click()
        expect(page.locator("#panel h2")).to_have_text("default/giant")


class TestKeyboard:
    def test_from_search_over_the_map_into_a_panel_and_back(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        page.select_option("#within", "")
        page.locator("canvas.over").focus()
        expect(page.locator("#spoken")).to_contain_text("Node n1, a, 1 pod, 50 % of cpu requested")
        beside = page.evaluate("kubesched.map.placed.y[0] === kubesched.map.placed.y[1]")
        page.keyboard.press("ArrowRight" if beside else "ArrowDown")
        expect(page.locator("#spoken")).to_contain_text("Node n2")
        page.keyboard.press("Enter")
        expect(page.locator("#panel h2")).to_have_text("n2")
        page.keyboard.press("Escape")
        expect(page.locator("#panel")).to_be_hidden()
        assert page.evaluate("document.activeElement.className") == "over"
        page.keyboard.press("/")
        page.keyboard.type("n3")
        page.keyboard.press("Enter")
        expect(page.locator("#panel h2")).to_have_text("n3")
        page.keyboard.press("Escape")
        expect(page.locator("#search")).to_be_focused()
        page.keyboard.press("Escape")
        expect(page.locator("#search")).to_have_value("")

    def test_lane_is_walked_with_arrows(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        page.locator("#pending-list button").first.focus()
        page.keyboard.press("Enter")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        expect(page.locator("#panel h2")).to_have_text("default/giant")

    def test_table_says_what_the_map_shows(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        page.get_by_role("button", name="Table").press("Enter")
        row = page.locator("#table tbody tr", has_text="n3")
        expect(row).to_contain_text("cordoned")
        expect(row).to_contain_text("1 of 8 (13 %)")
        row.get_by_role("button", name="n3").press("Enter")
        expect(page.locator("#panel h2")).to_have_text("n3")


def shown(page: Page) -> tuple[str, str]:
    """The view, and what the panel is about."""
    return page.locator("#views [aria-current=true]").inner_text(), page.evaluate("kubesched.panel.subject?.key ?? ''")


class TestWayBack:
    def test_back_and_forward_go_through_views_and_panels(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        open_pod(page, "default", "giant")
        page.click("[data-view=table]")
        page.evaluate("kubesched.openNode('n1')")
        page.keyboard.press("Escape")
        way = [("Table", ""), ("Table", "n1"), ("Table", "default/giant"), ("Map", "default/giant"), ("Map", "")]
        assert shown(page) == way[0]
        for visit in way[1:]:
            page.go_back()
            assert shown(page) == visit
        expect(page.locator("#panel")).to_be_hidden()
        for visit in reversed(way[:-1]):
            page.go_forward()
            assert shown(page) == visit
        assert "token" not in page.url

    def test_a_page_that_is_loaded_again_is_where_it_was(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        page.keyboard.press("2")
        open_pod(page, "default", "giant")
        page.reload()
        page.wait_for_selector('[data-shown="pod default/giant"]')
        assert shown(page) == ("Table", "default/giant")
        page.go_back()
        assert shown(page) == ("Table", "")

    def test_keys_change_the_view_unless_something_is_typed(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        page.keyboard.press("2")
        assert shown(page)[0] == "Table"
        expect(page.locator("#map")).to_be_hidden()
        page.keyboard.press("9")
        page.locator("#search").focus()
        page.keyboard.press("1")
        assert shown(page)[0] == "Table"
        page.locator("[data-view=map]").press("1")
        assert shown(page)[0] == "Map"


class TestLooks:
    @pytest.mark.parametrize("scheme", ["dark", "light"])
    @pytest.mark.parametrize("width", [1280, 360])
    def test_axe_finds_no_serious_fault(self, opened: Opener, cluster: ServedPage, scheme: str, width: int) -> None:
        page = opened(cluster.address, color_scheme=scheme, viewport={"width": width, "height": 740})
        found = []
        for step in (
            None,
            "kubesched.openPod('default', 'urgent')",
            "kubesched.openNode('n2')",
            "kubesched.panel.close(); kubesched.views.show('table')",
        ):
            if step:
                page.evaluate(step)
                page.wait_for_timeout(300)
            for fault in Axe().run(page).response["violations"]:
                if fault["impact"] in ("serious", "critical"):
                    found.append((step, fault["id"], [node["html"] for node in fault["nodes"]][:3]))
        assert found == []

    def test_a_chosen_theme_is_remembered(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address, color_scheme="light")
        expect(page.get_by_label("Theme", exact=True)).to_have_value("")
        page.get_by_label("Theme", exact=True).select_option("dark")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.reload()
        page.wait_for_selector("body[data-ready=yes]")
        expect(page.locator("html")).to_have_attribute("data-theme", "dark")
        page.get_by_label("Theme", exact=True).select_option("")
        expect(page.locator("html")).to_have_attribute("data-theme", "light")

    def test_nothing_is_wider_than_a_phone(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address, viewport={"width": 360, "height": 740})
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        open_pod(page, "default", "urgent")
        assert page.evaluate("document.querySelector('#panel .body').scrollWidth") <= 360
        page.click(".close")
        expect(page.locator("#panel")).to_be_hidden()

    def test_on_a_narrow_screen_the_lane_folds_and_leaves_its_room_to_the_configuration(
        self, opened: Opener, cluster: ServedPage
    ) -> None:
        page = opened(cluster.address, viewport={"width": 800, "height": 600})
        rows = page.locator("#pending-list .row").first
        height = "document.querySelector('.lane').clientHeight"
        page.get_by_role("button", name="Hide").click()
        expect(rows).to_be_hidden()
        assert page.evaluate(height) < 60
        page.get_by_role("button", name="Show", exact=True).click()
        expect(rows).to_be_visible()
        page.click("[data-view=configuration]")
        page.wait_for_selector(".plugins")
        expect(rows).to_be_hidden()
        expect(page.locator("#configuration-text")).to_be_in_viewport(ratio=0.8)
        page.get_by_role("button", name="Show", exact=True).click()
        expect(rows).to_be_visible()
        page.click("[data-view=map]")
        page.set_viewport_size({"width": 1280, "height": 800})
        expect(page.locator("#lane-fold")).to_be_hidden()
        expect(rows).to_be_visible()

    def test_names_and_labels_are_never_markup(self, opened: Opener, cluster: ServedPage) -> None:
        page = opened(cluster.address)
        page.select_option("#group", "note")
        page.click("[data-view=table]")
        expect(page.locator("#table")).to_contain_text(EVIL)
        assert page.locator("img:not(h1 img)").count() == 0


class TestLargeCluster:
    def test_every_view_opens(self, opened: Opener, large_cluster: ServedPage) -> None:
        page = opened(large_cluster.address)
        expect(page.locator("#counts")).to_have_text("5\u202f000 nodes, 50\u202f000 pods")
        assert page.locator("#pending-list .row").count() < 60
        page.locator("#pending-list button").first.click()
        page.locator("#pending-list").evaluate("list => list.scrollTo(0, 200000)")
        expect(page.locator("#pending-list .pod").first).to_contain_text("default/waits-")
        assert page.locator("#pending-list .row").count() < 60
        click_node(page, "node-0042")
        expect(page.locator("#panel .body")).to_contain_text("default/pod-00042")
        open_pod(page, "default", "waits-00000")
        expect(page.locator(".funnel .end").first).to_contain_text("5\u202f000")
        page.click("[data-view=table]")
        expect(page.locator(".pages")).to_contain_text("1–100 of 5\u202f000 nodes")
        page.click("[data-view=queue]")
        expect(page.locator("#queue .places")).to_contain_text("Not tried yet 10\u202f000")
        expect(page.locator("#queue .firsts tbody tr")).to_have_count(20)
        page.click("[data-view=configuration]")
        expect(page.locator(".plugins")).to_contain_text("NodeResourcesFit")
        page.get_by_role("button", name="Change", exact=True).click()
        expect(page.locator("#actions-menu")).to_contain_text("Try it in a simulation")

    def test_it_is_simulated_stepped_and_taken_back(self, opened: Opener, large_cluster: ServedPage) -> None:
        page = opened(large_cluster.address)
        page.locator("#time-try").click()
        until(page, "kubesched.cluster.mode === 'simulation' && kubesched.time.clock?.state === 'paused'", 120)
        expect(page.locator("#counts")).to_have_text("5\u202f000 nodes, 50\u202f000 pods")
        for cycles in (1, 2):
            page.locator("#time-step").click()
            until(page, f"kubesched.time.clock.cycles === {cycles} && kubesched.time.clock.state === 'paused'", 60)
        until(page, "kubesched.time.marks.marks.filter((mark) => mark.kind === 'failed').length === 2", 60)
        page.locator("#time-back").click()
        until(page, "kubesched.time.clock.cycles === 1 && kubesched.time.clock.state === 'paused'", 60)
        page.click("[data-view=queue]")
        expect(page.locator("#queue .places")).to_contain_text("Active 9\u202f999", timeout=60_000)
        page.locator("#time-leave").click()
        until(page, "kubesched.cluster.mode === 'files'", 60)


@pytest.fixture(scope="module")
def long_named() -> Iterator[ServedPage]:
    with served_page(a_model(a_node("n" * 253, cpu="4"), a_node("n2", cpu="4"), a_pod("giant", cpu="16"))) as page:
        yield page


WIDER = "(selector) => (({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)(document.querySelector(selector))"


def test_long_names_leave_room_for_the_rest_on_wide_and_narrow_screens(long_named: ServedPage, opened: Opener) -> None:
    page = opened(long_named.address)
    page.keyboard.press("2")
    expect(page.locator("#table thead th").last).to_be_in_viewport()
    assert not page.evaluate(WIDER, "#table")
    page.set_viewport_size({"width": 360, "height": 740})
    assert not page.evaluate(WIDER, ".about")
    assert not page.evaluate(WIDER, "html")
    page.evaluate("kubesched.openPod('default', 'giant')")
    plugin = page.locator("#panel .funnel .plugin", has_text="NodeResourcesFit").first
    expect(plugin).to_be_visible()
    box = plugin.bounding_box()
    assert box is not None
    assert box["height"] < 30, "its name is on one line"
