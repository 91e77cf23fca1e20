"""Attempts on record in the panel of a pod: records of real stories, shown from extension point to extension point."""

import re
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest
from axe_playwright_python.sync_playwright import Axe
from packages.lab.tests.page.browser.conftest import Opener
from packages.scheduler.tests.serving.decisions.test_attempt_asides import EXTENDED, Advisor, three_nodes
from packages.scheduler.tests.serving.decisions.test_recorder import Story, told
from playwright.sync_api import Page, Route, expect
from tests.support.models import a_model
from tests.support.pod_groups import a_group, put_members
from tests.support.served_page import ServedPage, served_page
from tests.support.world import World

from kubesched.config.feature_gates import FeatureGates
from kubesched.core.loop.scheduler import Scheduler
from kubesched.serving.decisions.records import DecisionRecord
from kubesched.testing import a_node, a_pod

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster() -> Iterator[ServedPage]:
    with served_page(a_model(a_node("n1"), a_node("n2"), a_pod("p"))) as page:
        yield page


def recorded(story: Story, **options: Any) -> list[DecisionRecord]:
    """The decisions of a story, in a thread: the browser's has a loop."""
    with ThreadPoolExecutor(1) as threads:
        return threads.submit(lambda: told(story, **options)).result()


def shown_with(page: Page, records: list[DecisionRecord]) -> None:
    """Open the pod as if a scheduler had these decisions on record."""

    def answer(route: Route) -> None:
        found: dict[str, Any] = route.fetch().json()
        found["explanation"]["decisions"] = msgspec.to_builtins(records[::-1])
        route.fulfill(json=found)

    page.route(re.compile(r"/v1/pods/default/p\?"), answer)
    page.evaluate("kubesched.openPod('default', 'p')")
    page.wait_for_selector('[data-shown="pod default/p"]')


def points(page: Page) -> dict[str, str]:
    found = page.locator(".points .point").evaluate_all(
        "all => all.map(each => [each.dataset.point, each.dataset.state])"
    )
    return dict(found)


def test_extenders_and_the_point_that_failed(opened: Opener, cluster: ServedPage) -> None:
    page = opened(cluster.address)
    records = recorded(three_nodes, config=EXTENDED, extender_client=lambda world: Advisor())
    shown_with(page, records)
    assert points(page) == {
        "PreEnqueue": "passed",
        "PreFilter": "passed",
        "Filter": "passed",
        "PreScore, Score": "passed",
        "Reserve": "passed",
        "Permit": "passed",
        "PreBind": "passed",
        "Bind": "failed",
    }
    filtering = page.locator(".point[data-point=Filter] .extender")
    expect(filtering).to_contain_text("2 of 3 nodes passed")
    expect(filtering).to_contain_text("1 node: haunted n0")
    expect(page.locator(".point[data-point='PreScore, Score'] .extender")).to_contain_text("n2: 9 of 10")
    expect(page.locator(".point[data-point=Bind] .extender")).to_contain_text("not now")
    assert "secret" not in page.content()
    expect(page.locator("#attempt option")).to_have_count(len(records))
    found = Axe().run(page).response["violations"]
    assert [fault["id"] for fault in found if fault["impact"] in ("serious", "critical")] == []


def test_attempts_are_switched_and_the_choice_outlives_a_refresh(opened: Opener, cluster: ServedPage) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for node in ("n1", "n2"):
            world.put(a_node(node, cpu="2"))
            world.put(a_pod(f"on-{node}", cpu="2", node=node, priority=int(node == "n1")))
        world.put(a_pod("p", cpu="2", priority=100))

    page = opened(cluster.address)
    shown_with(page, recorded(story))
    assert points(page)["Bind"] == "passed"
    page.select_option("#attempt", index=1)
    assert points(page) == {"PreEnqueue": "passed", "PreFilter": "passed", "Filter": "rejected", "PostFilter": "passed"}
    expect(page.locator(".point[data-point=Filter]")).to_contain_text("NodeResourcesFit: 2 nodes: Insufficient cpu")
    helped = page.locator(".point[data-point=PostFilter]")
    expect(helped).to_contain_text("Nominated to n2")
    helped.locator("summary").click()
    expect(helped).to_contain_text("n2chosen: 1 victim default/on-n2")
    page.evaluate("kubesched.panel.refresh()")
    page.wait_for_timeout(300)
    assert points(page)["Filter"] == "rejected"


def test_a_pod_that_its_group_holds_up_is_not_said_to_be_rejected_by_a_filter(
    opened: Opener, cluster: ServedPage
) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(a_group("g", min_count=3))
        put_members(world, "p q r")

    page = opened(cluster.address)
    gates = FeatureGates(dict.fromkeys(("GenericWorkload", "GangScheduling"), True))
    shown_with(page, [each for each in recorded(story, gates=gates) if each.pod == "default/p"])
    assert points(page) == {"PreEnqueue": "passed", "Scheduling cycle": "rejected"}
    expect(page.locator(".point[data-point='Scheduling cycle']")).to_contain_text("pod group is unschedulable")
    expect(page.locator(".attempt")).not_to_contain_text("the scheduler was busy")


def test_each_point_of_an_attempt_has_its_line(opened: Opener, cluster: ServedPage) -> None:
    page = opened(cluster.address)
    shown_with(page, recorded(three_nodes, config=EXTENDED, extender_client=lambda world: Advisor()))
    tops = page.locator(".points .point").evaluate_all("all => all.map(each => each.getBoundingClientRect().top)")
    assert len(tops) == 8
    assert tops == sorted(set(tops))
