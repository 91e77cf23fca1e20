"""The first minute: what the page shows of a cluster before anything is clicked, and what it is asked first."""

from collections.abc import Iterator
from typing import Any

import pytest
from packages.lab.tests.page.browser.conftest import Opener
from playwright.sync_api import Page, expect
from tests.support.models import a_live_model, a_model
from tests.support.served_page import ServedPage, served_page

from kubesched.api.meta import Condition
from kubesched.api.pods import PodStatus
from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel
from kubesched.testing import a_node, a_pod
from kubesched_answers.sources.files import read_files

pytestmark = pytest.mark.slow


def told(message: str) -> PodStatus:
    return PodStatus(conditions=(Condition(type="PodScheduled", status="False", message=message),))


# what a page logs whose server ends
GOES = ("ERR_INCOMPLETE_CHUNKED_ENCODING", "ERR_CONNECTION_REFUSED")
CPU = "0/9 nodes are available: 1 node(s) were unschedulable, 3 node(s) had untolerated taint(s), 5 Insufficient cpu."
MEMORY = CPU.replace("cpu", "memory")
LATER = CPU.replace("3 node(s)", "2 node(s)").replace("5 Insufficient", "6 Insufficient")


@pytest.fixture(scope="module")
def quickstart() -> Iterator[ServedPage]:
    model = ClusterModel(read_files(["examples/quickstart"]), load_config(None))
    with served_page(model, places=True) as page:
        yield page


@pytest.fixture(scope="module")
def live() -> Iterator[ServedPage]:
    general = [
        a_node(f"ip-general-{row}", cpu="8", memory="32Gi", zone="ab"[row % 2], labels={"pool": "g"})
        for row in range(4)
    ]
    gpu = a_node(
        "ip-gpu-0",
        cpu="8",
        memory="32Gi",
        zone="a",
        labels={"pool": "gpu"},
        allocatable={"nvidia.com/gpu": 4},
        taints=["gpu=yes:NoSchedule"],
    )
    objects = [
        *general,
        gpu,
        a_node("ip-closed-0", cpu="8", memory="64Gi", zone="b", labels={"pool": "g"}, unschedulable=True),
        a_pod("busy", cpu="6", memory="2Gi", node="ip-general-0"),
        a_pod("train", cpu="1", requests={"nvidia.com/gpu": 4}, node="ip-gpu-0"),
        *(
            a_pod(f"huge-{n}", namespace="shop", cpu="30", owner="ReplicaSet/huge", status=told(CPU if n else LATER))
            for n in range(3)
        ),
        *(a_pod(f"big-{n}", namespace="shop", owner="StatefulSet/big", status=told(MEMORY)) for n in range(2)),
        a_pod("alone", status=told('node "x" not found')),
    ]
    with served_page(a_live_model(*objects)) as page:
        yield page


def texts(page: Page, selector: str) -> list[str]:
    return page.locator(selector).all_inner_texts()


class TestPlacedPods:
    def test_pods_of_manifests_are_where_the_scheduler_places_them(
        self, quickstart: ServedPage, opened: Opener
    ) -> None:
        page = opened(quickstart.address)
        expect(page.locator("#pending-title")).to_have_text("2 pending pods")
        expect(page.get_by_label("Place pods")).to_be_checked()
        page.evaluate("kubesched.openPod('default', 'train-big')")
        page.wait_for_selector('[data-shown="pod default/train-big"]')
        expect(page.locator("#panel .verdict")).to_contain_text("is on node-b-gpu")
        expect(page.locator("#panel .notice")).to_contain_text("The page has placed this pod")

    def test_the_switch_shows_them_as_the_manifests_have_them(self, quickstart: ServedPage, opened: Opener) -> None:
        page = opened(quickstart.address)
        page.get_by_label("Place pods").uncheck()
        expect(page.locator("#pending-title")).to_have_text("15 pending pods")
        page.get_by_label("Place pods").check()
        expect(page.locator("#pending-title")).to_have_text("2 pending pods")

    def test_a_simulation_begins_with_the_manifests(self, quickstart: ServedPage, opened: Opener) -> None:
        page = opened(quickstart.address)
        page.get_by_role("button", name="Try it in a simulation").click()
        expect(page.locator("#time-play")).to_be_visible()
        expect(page.locator("#pending-title")).to_have_text("15 pending pods")
        expect(page.locator("#placed-label")).to_be_hidden()
        page.get_by_role("button", name="Leave the simulation").click()
        expect(page.locator("#pending-title")).to_have_text("2 pending pods")

    def test_a_live_cluster_has_no_such_switch(self, live: ServedPage, opened: Opener) -> None:
        expect(opened(live.address).locator("#placed-label")).to_be_hidden()


class TestLane:
    def test_reasons_are_plain_words_with_their_owners(self, live: ServedPage, opened: Opener) -> None:
        page = opened(live.address)
        assert list(zip(texts(page, ".group .why"), texts(page, ".group .owners"), strict=True)) == [
            (
                "Fits nowhere: 6 lack cpu, 2 have a taint that it does not tolerate, 1 is cordoned",
                "ReplicaSet shop/huge × 3",
            ),
            (
                "Fits nowhere: 5 lack memory, 3 have a taint that it does not tolerate, 1 is cordoned",
                "StatefulSet shop/big × 2",
            ),
            ('node "x" not found', "Pod default/alone"),
        ]
        assert texts(page, ".group .why b") == ["6 lack cpu", "5 lack memory", 'node "x" not found']

    @pytest.mark.parametrize("width", [360, 1280])
    def test_no_text_of_a_group_is_cut_and_no_two_read_alike(self, opened: Opener, width: int) -> None:
        words = ("Insufficient cpu", "Too many pods", "node(s) didn't match Pod's node affinity/selector", "x" * 90)
        reasons = [[*words[: 1 + row % 4], f"no seat of {'kind ' * row}{row}"] for row in range(12)]
        parts = [", ".join(f"{9 + at} {part}" for at, part in enumerate(each)) for each in reasons]
        pods = [a_pod(f"p-{row}", status=told(f"0/99 nodes are available: {each}.")) for row, each in enumerate(parts)]
        with served_page(a_model(a_node("n"), *pods)) as served:
            page = opened(served.address, allow=GOES, viewport={"width": width, "height": 3000})
            expect(page.locator(".group")).to_have_count(len(parts))
            room = "all => all.map((each) => each.clientHeight - each.querySelector('.cause').scrollHeight)"
            left = page.locator(".group").evaluate_all(room)
            assert all(0 <= each <= 20 for each in left), left
            assert len(set(texts(page, ".group .why"))) == len(parts)

    def test_reasons_that_would_be_cut_alike_are_one_group(self, opened: Opener) -> None:
        long = [told(f"a plugin says {'x' * 200}{middle}{'y' * 200}") for middle in "ab"]
        with served_page(a_model(a_node("n"), a_pod("p", status=long[0]), a_pod("q", status=long[1]))) as served:
            page = opened(served.address, allow=GOES)
            assert texts(page, ".group .number") == ["2"]


class TestTotals:
    def test_one_line_has_what_is_requested_and_the_largest_pod(self, live: ServedPage, opened: Opener) -> None:
        page = opened(live.address)
        assert [each.strip() for each in texts(page, "#totals .total")] == [
            "15 % cpu",
            "1 % memory",
            "100 % nvidia.com/gpu",
            "6 pending",
            "largest pod that fits: 8 cpu, 32Gi",
        ]
        boxes = page.locator("#totals .total").evaluate_all("all => all.map(each => each.getBoundingClientRect().top)")
        assert len(set(boxes)) == 1
        page.locator("#totals .link").click()
        expect(page.locator("#panel h2")).to_contain_text("ip-general-")

    def test_devices_are_a_resource_free_and_taken(self, quickstart: ServedPage, opened: Opener) -> None:
        page = opened(quickstart.address)
        expect(page.locator("#totals")).to_contain_text("75 % gpu.example.com devices")
        page.select_option("#colour", "share:gpu.example.com devices")
        page.evaluate("kubesched.openNode('node-b-gpu')")
        panel = page.locator("#panel .body")
        expect(panel).to_contain_text("gpu.example.com: 1 of 2 free")
        expect(panel.locator(".devices .taken")).to_contain_text("taken by default/train-big")


class TestMap:
    def test_nodes_are_grouped_by_zone_and_pool_and_coloured_by_what_is_scarcest(
        self, live: ServedPage, opened: Opener
    ) -> None:
        page = opened(live.address)
        assert page.evaluate("kubesched.map.placed.blocks.map(block => block.title)") == ["a", "g", "gpu", "b", "g"]
        assert page.locator("#colour").input_value() == "scarcest"
        words = "(name) => kubesched.paint.words(kubesched.cluster.findNode(name))"
        assert page.evaluate(words, "ip-gpu-0") == "100 % of nvidia.com/gpu"
        assert page.evaluate(words, "ip-general-0") == "75 % of cpu"
        filled = "kubesched.map.blocksOf(kubesched.cluster.findNode('ip-gpu-0'))"
        assert page.evaluate(f"{filled}[4]") == 1, "a node whose GPUs are taken looks full"

    def test_names_are_cut_in_the_middle(self, live: ServedPage, opened: Opener) -> None:
        page = opened(live.address)
        cut: Any = page.evaluate(
            """async () => { const { fitted } = await import("./js/map/labels.js");
               const g = document.createElement("canvas").getContext("2d"); g.font = "11px sans-serif";
               return [fitted(g, "ip-highmem-00000000000017", 80), fitted(g, "n1", 80), fitted(g, "abcdef", 5)]; }"""
        )
        assert cut[0].startswith("ip-")
        assert "…" in cut[0]
        assert cut[0].endswith("17")
        assert cut[1:] == ["n1", ""]

    def test_zoom_buttons_cover_no_node_and_strokes_have_a_legend(self, live: ServedPage, opened: Opener) -> None:
        page = opened(live.address)
        box, canvas = page.locator(".zoom").bounding_box(), page.locator("canvas.over").bounding_box()
        assert box is not None
        assert canvas is not None
        assert box["y"] >= canvas["y"] + canvas["height"]
        expect(page.locator("#legend-cordoned")).to_be_visible()
        expect(page.locator("#legend-unready")).to_be_hidden()

    @pytest.mark.parametrize("scheme", ["light", "dark"])
    def test_an_empty_cell_differs_from_the_ground(self, live: ServedPage, opened: Opener, scheme: str) -> None:
        page = opened(live.address, color_scheme=scheme)
        contrast = page.evaluate(
            """() => { const style = getComputedStyle(document.documentElement);
               const bright = (name) => { const hex = style.getPropertyValue(name).trim();
                 const [r, g, b] = [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255)
                   .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
                 return 0.2126 * r + 0.7152 * g + 0.0722 * b + 0.05; };
               const [one, other] = [bright("--outline"), bright("--map")];
               return Math.max(one, other) / Math.min(one, other); }"""
        )
        assert contrast >= 3, "WCAG 2.1 asks for 3:1 between parts of a picture"


def test_a_narrow_toolbar_hints_that_it_scrolls(live: ServedPage, opened: Opener) -> None:
    page = opened(live.address, viewport={"width": 400, "height": 780})
    tools = page.locator("#node-tools")
    expect(tools).to_have_attribute("data-more", "right")
    tools.evaluate("tools => (tools.scrollLeft = tools.scrollWidth)")
    expect(tools).to_have_attribute("data-more", "left")


def test_time_marks_have_an_axis_and_names(quickstart: ServedPage, opened: Opener) -> None:
    page = opened(quickstart.address)
    ticks = """async ([from, to, most, whole]) => (await import("./js/time/marks.js")).ticksOf(from, to, most, whole)"""
    assert page.evaluate(ticks, [0, 100, 5, False]) == [0, 30, 60, 90]
    assert page.evaluate(ticks, [0, 30, 4, True]) == [0, 10, 20, 30]
    assert page.evaluate(ticks, [0, 0.4, 4, False]) == pytest.approx([0, 0.1, 0.2, 0.3, 0.4])
    page.get_by_role("button", name="Try it in a simulation").click()
    page.get_by_role("button", name="To the end").click()
    expect(page.locator("#time-kinds")).to_contain_text("bound")
    expect(page.locator("#time-kinds")).to_contain_text("preempted")
    page.get_by_role("button", name="Leave the simulation").click()
    expect(page.locator("#placed-label")).to_be_visible()


class TestHowManyFit:
    def test_pods_like_one_are_counted_from_its_panel(self, live: ServedPage, opened: Opener) -> None:
        page = opened(live.address)
        page.evaluate("kubesched.openPod('default', 'busy')")
        page.get_by_role("button", name="How many like it fit?").click()
        expect(page.locator("dialog .summary")).to_contain_text("3 replicas of Pod default/busy fit on 6 nodes")
        expect(page.locator("dialog .places li").first).to_contain_text("a")

    def test_a_pasted_manifest_is_counted(self, live: ServedPage, opened: Opener) -> None:
        page = opened(live.address, allow=("status of 422",))
        page.get_by_role("button", name="How many fit?").click()
        page.get_by_role("button", name="Count", exact=True).click()
        expect(page.locator("dialog .summary")).to_contain_text("replicas of Pod default/mine fit on 6 nodes")
        page.locator("dialog textarea").fill("kind: Pod")
        page.get_by_role("button", name="Count", exact=True).click()
        expect(page.locator("dialog .why")).not_to_be_empty()
        page.get_by_role("button", name="Close", exact=True).click()
        expect(page.locator("dialog")).to_have_count(0)
