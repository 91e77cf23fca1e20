"""The quickstart in a real browser: every view opens, and the same cluster is played to its end as a simulation."""

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from packages.lab.tests.page.browser.conftest import Opener
from playwright.sync_api import Page, expect
from tests.support.chromium import until
from tests.support.models import a_model
from tests.support.served_page import ServedPage, served_page

from kubesched_answers.sources.files import read_files
from kubesched_lab.page.opening import opened_in_browser

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
    expect(lane).to_contain_text("Not tried yet: it fits on a node")
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
    expect(page.locator("#pending-list")).to_contain_text("Fits nowhere: 9 lack cpu")
    page.evaluate("kubesched.openPod('default', 'urgent')")
    expect(page.locator("#panel .body")).to_contain_text("node-")


def explained(pod: str) -> Any:
    """What the process `kubesched explain pod` answers; 3 is its exit code for a pod that does not fit."""
    asked = [sys.executable, "-m", "kubesched", "explain", "pod", pod, "--from", "examples/quickstart", "-o", "json"]
    found = subprocess.run(asked, capture_output=True, text=True, check=False)
    assert found.returncode in (0, 3), found.stderr
    return json.loads(found.stdout)


# what the panel shows: of each node its total, and by plugin what it adds; of each filter how many nodes it rejects
SCORES = """nodes => Object.fromEntries(nodes.map((node) => [
  node.querySelector(".plugin").firstChild.textContent,
  { total: Number(node.querySelector(".left").textContent), chosen: node.querySelector("summary .tag") !== null,
    scores: Object.fromEntries([...node.querySelectorAll("tbody tr")].map((row) =>
      [row.querySelector("th").textContent, Number(row.querySelector("td:last-child").textContent)])) }]))"""
FUNNEL = """steps => Object.fromEntries(steps.map((step) => [
  step.querySelector(".plugin").textContent, Number(step.querySelector(".rejected").textContent.replace("−", ""))]))"""


def check_scores(page: Page, placement: Any) -> None:
    shown = page.locator("#panel .scored").evaluate_all(SCORES)
    assert [node for node, score in shown.items() if score["chosen"]] == [placement["node"]]
    for expected in (placement["chosen"], *placement["runnersUp"]):
        score = shown[expected["node"]]
        assert score["total"] == expected["total"] == sum(expected["scores"].values())
        assert {plugin: each for plugin, each in score["scores"].items() if each} == {
            plugin: each for plugin, each in expected["scores"].items() if each
        }
    body = page.locator("#panel .body")
    expect(body).to_contain_text(f"{placement['node']}, out of {placement['feasible']} feasible node")
    expect(body).to_contain_text(f"Decided by: {placement['decidedBy']}")


def check_preemption(page: Page, preemption: Any) -> None:
    part = page.locator("#panel section", has=page.get_by_role("heading", name="Preemption", exact=True))
    for candidate in preemption["candidates"]:
        chosen = "chosen" if candidate["node"] == preemption["node"] else ""
        count = len(candidate["victims"])
        sentence = f"{candidate['node']}{chosen}: {count} victim{'' if count == 1 else 's'}"
        expect(part.locator(".plain > li", has_text=sentence)).to_contain_text(candidate["victims"][0]["pod"])


PODS = {
    "batch-a": "bound",
    "batch-b": "bound",
    "database-0": "schedulable",
    "train-big": "schedulable",
    "giant": "unschedulable",
    "urgent": "unschedulable",
}


@pytest.mark.parametrize("pod", PODS)
def test_the_panel_of_a_pod_agrees_with_explain(pod: str, quickstart: ServedPage, opened: Opener) -> None:
    answer = explained(pod)
    assert answer["verdict"] == PODS[pod]
    page = opened(quickstart.address)
    page.evaluate("(name) => kubesched.openPod('default', name)", pod)
    page.wait_for_selector(f'[data-shown="pod default/{pod}"]')
    body = page.locator("#panel .body")
    expect(body.locator(".verdict")).to_have_text(f"{answer['verdict']} {answer['summary']}")
    rejected: dict[str, int] = {}
    for reason in answer["reasons"]:
        rejected[reason["plugin"]] = rejected.get(reason["plugin"], 0) + reason["count"]
    if rejected:
        assert body.locator(".funnel .step:not(.end)").evaluate_all(FUNNEL) == rejected
    if answer.get("placement"):
        check_scores(page, answer["placement"])
    for remedy in answer["remedies"]:
        expect(body.locator(".remedies")).to_contain_text(remedy["summary"])
    if pod == "urgent":
        assert answer["preemption"]["candidates"]
        check_preemption(page, answer["preemption"])


def tab_to(page: Page, selector: str, key: str = "Tab") -> None:
    """Press a key until an element has the focus, as somebody without a mouse does."""
    for _ in range(120):
        if page.evaluate("(selector) => document.activeElement.matches(selector)", selector):
            return
        page.keyboard.press(key)
    raise AssertionError(f"{key} does not lead to {selector}")


def test_the_keyboard_alone_leads_from_the_first_view_to_a_funnel_and_to_an_applied_weight(
    quickstart: ServedPage, opened: Opener
) -> None:
    page = opened(quickstart.address)
    expect(page.locator("#pending-list")).to_contain_text("Fits nowhere: 9 lack cpu")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#pending-list")).to_be_focused()
    tab_to(page, ".group[title^='Fits nowhere: 9 lack cpu']", "ArrowDown")
    page.keyboard.press("Enter")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    expect(page.locator("#panel h2")).to_have_text("default/giant")
    expect(page.locator("#panel h2")).to_be_focused()
    page.wait_for_selector('[data-shown="pod default/giant"]')
    tab_to(page, ".funnel summary")
    page.keyboard.press("Enter")
    expect(page.locator(".funnel .reasons").first).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.locator("#pending-list .pod", has_text="default/giant")).to_be_focused()
    tab_to(page, "#time-try")
    page.keyboard.press("Enter")
    until(page, "kubesched.cluster.mode === 'simulation' && kubesched.actions.known.writable")
    expect(page.locator("#time-play")).to_be_focused()
    page.keyboard.press("4")
    page.wait_for_selector(".plugins")
    tab_to(page, "[data-key='weight NodeResourcesFit']", "Shift+Tab")
    page.keyboard.press("Control+a")
    page.keyboard.type("7")
    page.keyboard.press("Tab")
    expect(page.locator(".configuration-status")).to_have_text("Edited: valid.")
    tab_to(page, ".configuration-apply", "Shift+Tab")
    page.keyboard.press("Enter")
    until(page, "kubesched.actions.known.done.length === 1")
    expect(page.locator(".configuration-status")).to_have_text("In force.")
    page.keyboard.press("Control+z")
    expect(page.get_by_label("Weight of NodeResourcesFit", exact=True)).to_have_value("1")
    tab_to(page, "#time-leave")
    page.keyboard.press("Enter")
    until(page, "kubesched.cluster.mode === 'files'")
    expect(page.locator("#time-try")).to_be_focused()
