"""Actions in a real browser: nodes are drained and added in a simulation, and undone; files say why they are not."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from packages.lab.tests.page.browser.conftest import Opener
from playwright.sync_api import APIResponse, Page, Route, expect
from tests.support.chromium import until
from tests.support.models import a_model
from tests.support.served_page import ServedPage, served_page

from kubesched.testing import a_node, a_pod

pytestmark = pytest.mark.slow


@pytest.fixture
def cluster() -> Iterator[ServedPage]:
    objects = [
        a_node("n1", cpu="4", zone="a"),
        a_node("n2", cpu="4", zone="b"),
        a_pod("w-1", node="n1", cpu="1", owner="ReplicaSet/w"),
        a_pod("w-2", node="n1", cpu="1", owner="ReplicaSet/w"),
        a_pod("big", cpu="8"),
    ]
    with served_page(a_model(*objects)) as page:
        yield page


def in_menu(page: Page, name: str) -> None:
    page.get_by_role("button", name="Change", exact=True).click()
    page.locator("#actions-menu").get_by_role("button", name=name).click()


def to_the_end(page: Page) -> None:
    """Let all happen that happens."""
    page.evaluate("kubesched.server.post('/v1/clock', { do: 'seek', to: 'end' })")


def simulated(page: Page) -> Page:
    in_menu(page, "Try it in a simulation")
    until(page, "kubesched.cluster.mode === 'simulation' && kubesched.actions.known.writable")
    return page


def pods_of(page: Page, node: str) -> Any:
    return f"kubesched.cluster.podCount[kubesched.cluster.findNode('{node}')]"


def test_a_node_is_drained_from_its_panel_and_that_is_undone_with_the_keyboard(
    cluster: ServedPage, opened: Opener
) -> None:
    page = simulated(opened(cluster.address))
    page.evaluate("kubesched.openNode('n1')")
    page.locator("#panel").get_by_role("button", name="Drain …").click()
    page.get_by_role("dialog").get_by_role("button", name="Drain").click()
    expect(page.locator("#acted")).to_contain_text("Drain node n1: 2 pods are evicted")
    to_the_end(page)
    until(page, f"{pods_of(page, 'n2')} === 2 && {pods_of(page, 'n1')} === 0")
    expect(page.locator("#panel").get_by_role("button", name="Uncordon")).to_be_visible()
    page.locator("#panel h2").focus()
    until(page, "kubesched.actions.known.done.length === 1")
    page.keyboard.press("Control+z")
    expect(page.locator("#acted")).to_contain_text("Undone: Drain node n1")
    until(page, f"{pods_of(page, 'n1')} === 2")


def test_nodes_are_added_objects_created_and_workloads_scaled_in_dialogs(cluster: ServedPage, opened: Opener) -> None:
    page = simulated(opened(cluster.address, allow=("422",)))
    in_menu(page, "Add nodes …")
    box = page.get_by_role("dialog")
    box.get_by_label("Or a pool").fill("name=large,nodes=many")
    box.get_by_role("button", name="Add").click()
    expect(box.get_by_role("alert")).to_contain_text("nodes='many': expected a number")
    box.get_by_label("Or a pool").fill("name=large,nodes=1,cpu=16")
    box.get_by_role("button", name="Add").click()
    expect(page.locator("#acted")).to_contain_text("Added 1 node of pool large")
    to_the_end(page)
    until(page, f"{pods_of(page, 'large-1')} === 1")
    in_menu(page, "Create objects …")
    box.get_by_label("Begin with").select_option("Deployment, spread over zones")
    box.get_by_role("button", name="Create").click()
    expect(page.locator("#acted")).to_contain_text("Created Deployment web")
    until(page, "kubesched.cluster.podTotal === 6")
    page.evaluate("kubesched.openPod('default', 'w-1')")
    page.locator("#panel").get_by_role("button", name="Scale ReplicaSet/w …").click()
    box.get_by_label("Replicas").fill("4")
    box.get_by_role("button", name="Scale").click()
    until(page, "kubesched.cluster.podTotal === 8")


def test_files_say_why_nothing_can_be_done_and_axe_finds_no_fault(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address, viewport={"width": 360, "height": 740})
    page.get_by_role("button", name="Change", exact=True).press("Enter")
    expect(page.locator("#actions-menu")).to_contain_text("the cluster comes from files, which")
    expect(page.get_by_role("button", name="Add nodes …")).to_be_disabled()
    edges = page.locator("#actions-menu").evaluate(
        "menu => [menu.getBoundingClientRect().left, innerWidth - menu.getBoundingClientRect().right]"
    )
    assert min(edges) >= 0
    page.keyboard.press("Escape")
    simulated(page)
    page.evaluate("kubesched.openNode('n1')")
    page.wait_for_selector("#panel .actions")
    serious(page)
    page.keyboard.press("Escape")
    in_menu(page, "Create objects …")
    serious(page)
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)


def serious(page: Page) -> None:
    found = Axe().run(page).response["violations"]
    assert [each["id"] for each in found if each["impact"] in ("serious", "critical")] == []


def test_a_scenario_is_saved_and_opened_and_a_bad_file_is_told(
    cluster: ServedPage, opened: Opener, tmp_path: Path
) -> None:
    page = simulated(opened(cluster.address, allow=("422",)))
    page.evaluate("kubesched.actions.do({ do: 'cordon', nodes: 'n2' })")
    until(page, "kubesched.actions.known.done.length === 1")
    with page.expect_download() as saving:
        in_menu(page, "Save the scenario")
    file = tmp_path / saving.value.suggested_filename
    saving.value.save_as(file)
    assert file.read_bytes().startswith(b'{"scenario"')
    page.evaluate("kubesched.server.delete('/v1/simulation')")
    until(page, "kubesched.cluster.mode === 'files'")
    bad = tmp_path / "bad.jsonl"
    bad.write_text('{"at": 0}\n')
    for path, said in ((bad, "bad.jsonl, line 1: expected one of"), (file, "Simulating scenario.jsonl.")):
        with page.expect_file_chooser() as choosing:
            in_menu(page, "Open a file …")
        choosing.value.set_files(path)
        expect(page.locator("#acted")).to_contain_text(said)
    until(page, "kubesched.cluster.mode === 'simulation' && kubesched.actions.known.done.length === 1")
    for name in ("Export as a snapshot", "Export as manifests", "Export for kube-scheduler-simulator"):
        with page.expect_download() as saving:
            in_menu(page, name)
        assert saving.value.path().stat().st_size > 100


def test_a_panel_whose_pod_is_not_in_the_file_that_is_opened_says_so(
    cluster: ServedPage, opened: Opener, tmp_path: Path
) -> None:
    page = opened(cluster.address)
    page.evaluate("kubesched.openPod('default', 'w-1')")
    page.wait_for_selector('[data-shown="pod default/w-1"]')
    other = tmp_path / "other.yaml"
    other.write_text(
        "apiVersion: v1\nkind: Node\nmetadata: {name: only}\nstatus: {allocatable: {cpu: '1', pods: '9'}}\n"
    )
    with page.expect_file_chooser() as choosing:
        in_menu(page, "Open a file …")
    choosing.value.set_files(other)
    expect(page.locator("#panel .failed")).to_have_text("There is no pod default/w-1 now.")
    page.get_by_role("button", name="Leave the simulation").click()
    expect(page.locator("#panel .verdict")).to_contain_text("default/w-1")


@pytest.mark.parametrize(
    ("path", "asks", "known"),
    [
        ("/v1/actions", "kubesched.actions.refresh()", "kubesched.actions.known.writable"),
        ("/v1/configuration", "kubesched.configuration.load()", "!kubesched.configuration.applyButton.hidden"),
    ],
)
def test_an_answer_that_comes_late_does_not_undo_a_newer_one(
    cluster: ServedPage, opened: Opener, path: str, asks: str, known: str
) -> None:
    page = opened(cluster.address)
    page.click("[data-view=configuration]")
    page.wait_for_selector(".plugins")
    held: list[tuple[Route, APIResponse]] = []

    def answer(route: Route) -> None:
        if held:
            route.continue_()
        else:
            held.append((route, route.fetch()))

    page.route(f"**{path}", answer)
    page.evaluate(f"void {asks}")
    while not held:
        page.wait_for_timeout(20)
    page.locator("#time-try").click()
    until(page, f"kubesched.cluster.mode === 'simulation' && {known}")
    route, response = held[0]
    with page.expect_event("requestfinished", lambda request: request.url.endswith(path)):
        route.fulfill(response=response)
    page.wait_for_timeout(200)
    assert page.evaluate(known)


def test_an_edited_configuration_is_applied_and_undone(cluster: ServedPage, opened: Opener) -> None:
    page = simulated(opened(cluster.address))
    page.get_by_role("button", name="Configuration").click()
    page.wait_for_selector(".plugins")
    weight = page.get_by_label("Weight of NodeResourcesFit", exact=True)
    weight.fill("7")
    weight.press("Tab")
    expect(page.locator(".configuration-status")).to_have_text("Edited: valid.")
    page.get_by_role("button", name="Apply").click()
    until(page, "kubesched.actions.known.done.length === 1")
    expect(page.locator(".configuration-status")).to_have_text("In force.")
    in_menu(page, "Undo: Apply a configuration")
    expect(weight).to_have_value("1")
