"""The view of the configuration in a real browser: text and form follow each other; differences are those of whatif."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from axe_playwright_python.sync_playwright import Axe
from click.testing import CliRunner
from packages.lab.tests.page.browser.conftest import Opener
from playwright.sync_api import Page, expect
from tests.support.chromium import until
from tests.support.models import a_model
from tests.support.served_page import ServedPage, served_page

from kubesched.api.codec import to_builtins
from kubesched.api.meta import ApiObject
from kubesched.config.document import dump
from kubesched.testing import a_node, a_pod, an_affinity
from kubesched_answers.cli.whatif import whatif_command

pytestmark = pytest.mark.slow


def cluster_objects() -> list[ApiObject]:
    """Pods that prefer nodes by a label, against nodes that are emptier: weights decide."""
    nodes = [
        a_node(f"n{row}", cpu="8", memory="16Gi", labels={"disk": "ssd" if row < 2 else "hdd"}) for row in range(6)
    ]
    placed = [a_pod(f"old-{row}", node=f"n{row % 2}", cpu="2", memory="4Gi") for row in range(4)]
    prefers = an_affinity(prefer_nodes=(100, "disk=ssd"))
    waiting = [a_pod(f"new-{row}", cpu="1", memory="1Gi", affinity=prefers) for row in range(6)]
    return [*nodes, *placed, *waiting]


@pytest.fixture(scope="module")
def cluster() -> Iterator[ServedPage]:
    with served_page(a_model(*cluster_objects())) as page:
        yield page


def of_whatif(tmp_path: Any, *options: str) -> Any:
    """Return what `kubesched whatif` answers about the same cluster."""
    file = tmp_path / "cluster.yaml"
    file.write_text(
        dump({"apiVersion": "v1", "kind": "List", "items": [to_builtins(each) for each in cluster_objects()]})
    )
    found = CliRunner().invoke(whatif_command, ["--from", str(file), "--compare", *options, "-o", "json"])
    assert found.exit_code == 0, found.output
    return json.loads(found.output)


def opened_view(page: Page) -> Page:
    page.get_by_role("button", name="Configuration").click()
    page.wait_for_selector(".plugins")
    return page


def weigh(page: Page, plugin: str, weight: int) -> None:
    field = page.get_by_label(f"Weight of {plugin}", exact=True)
    field.fill(str(weight))
    field.press("Tab")
    until(page, f"document.getElementById('configuration-text').value.includes('weight: {weight}')")


def shown_differences(page: Page) -> dict[str, tuple[str, str]]:
    page.wait_for_selector("#configuration .comparison[data-pods]")
    rows = page.eval_on_selector_all(
        "#configuration .differences > tbody > tr",
        """rows => rows.map(row =>
             [row.dataset.pod, ...[...row.querySelectorAll('td[data-node]')].map(each => each.dataset.node)])""",
    )
    return {pod: (first, second) for pod, first, second in rows}


@pytest.mark.parametrize("options", [(), ("--reschedule", "all")], ids=["pending pods", "all pods"])
def test_an_edited_weight_shows_the_differences_of_whatif(
    opened: Opener, cluster: ServedPage, tmp_path: Any, options: tuple[str, ...]
) -> None:
    page = opened_view(opened(cluster.address))
    weigh(page, "NodeResourcesFit", 50)
    if options:
        page.get_by_label("with all pods rescheduled").check()
    page.get_by_role("button", name="Compare placements").click()
    expected = of_whatif(tmp_path, "--weight", "NodeResourcesFit=50", *options)
    assert expected["differences"]
    wanted = {each["pod"]: (each.get("firstNode", ""), each.get("secondNode", "")) for each in expected["differences"]}
    assert shown_differences(page) == wanted
    expect(page.locator(".configuration-status")).to_contain_text(f"Of {expected['pods']} pods {len(wanted)} ")
    first = expected["differences"][0]
    scores = page.locator(f"tr[data-pod='{first['pod']}'] details").last
    scores.locator("summary").click()
    for node in first["firstScores"]:
        expect(scores).to_contain_text(str(node["total"]))


def test_text_and_form_follow_each_other(opened: Opener, cluster: ServedPage) -> None:
    page = opened_view(opened(cluster.address))
    text = page.locator("#configuration-text")
    text.fill(text.input_value() + "# keep me\npodMaxBackoffSeconds: 30\n")
    expect(page.get_by_label("Longest backoff, seconds")).to_have_value("30")
    expect(page.locator(".configuration-status")).to_have_text("Edited: valid.")
    weigh(page, "TaintToleration", 9)
    assert "# keep me" in text.input_value()
    page.get_by_label("ImageLocality is enabled").uncheck()
    until(page, "document.getElementById('configuration-text').value.includes('- name: ImageLocality')")
    page.get_by_role("button", name="Back to the one in force").click()
    expect(page.locator(".configuration-status")).to_have_text("In force.")
    expect(page.get_by_label("ImageLocality is enabled")).to_be_checked()


def test_faults_are_told_with_their_place_and_lead_there(opened: Opener, cluster: ServedPage) -> None:
    page = opened_view(opened(cluster.address))
    text = page.locator("#configuration-text")
    text.fill(text.input_value() + "parallelism: many\n")
    fault = page.locator("#configuration-faults li")
    expect(fault).to_contain_text('Line 5, column 14 parallelism: cannot use string "many" as int32')
    expect(page.get_by_role("button", name="Compare placements")).to_be_disabled()
    fault.get_by_role("button").click()
    assert page.evaluate("document.activeElement.selectionStart") == text.input_value().index("many")
    text.fill("")
    expect(page.locator("#configuration-faults")).to_contain_text("is missing")
    text.fill("a: [")
    expect(page.locator("#configuration-faults")).to_contain_text("did not find expected node content")


def test_the_keyboard_and_screen_readers_reach_everything(opened: Opener, cluster: ServedPage) -> None:
    page = opened(cluster.address, viewport={"width": 360, "height": 740})
    page.locator("canvas.over").focus()
    page.keyboard.press(str(page.locator("#views button").count()))
    page.wait_for_selector(".plugins")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    page.locator("summary", has_text="NodeResourcesFit").press("Enter")
    weigh(page, "NodeResourcesFit", 4)
    page.get_by_role("button", name="Compare placements").press("Enter")
    page.wait_for_selector("#configuration .comparison[data-pods]")
    assert serious_faults(page) == []


def serious_faults(page: Page) -> list[tuple[str, str]]:
    """What axe finds, in light and in dark."""
    found = []
    for scheme in ("light", "dark"):
        page.evaluate(f"document.documentElement.dataset.theme = '{scheme}'")
        faults = Axe().run(page).response["violations"]
        found += [(scheme, each["id"]) for each in faults if each["impact"] in ("serious", "critical")]
    return found


def test_a_text_with_a_fault_leaves_the_form_readable_and_says_that_it_is_behind(
    cluster: ServedPage, opened: Opener
) -> None:
    page = opened_view(opened(cluster.address))
    behind = page.get_by_text("this form shows the last valid text")
    expect(behind).to_be_hidden()
    text = page.locator("#configuration-text")
    right = text.input_value()
    text.fill(right + "parallelism: many\n")
    expect(behind).to_be_visible()
    assert serious_faults(page) == []
    text.fill(right)
    expect(behind).to_be_hidden()


def test_on_a_phone_the_columns_of_a_comparison_keep_their_words(cluster: ServedPage, opened: Opener) -> None:
    page = opened(cluster.address, viewport={"width": 360, "height": 740})
    page.locator("[data-view=configuration]").click()
    page.wait_for_selector(".plugins")
    weight = page.get_by_label("Weight of NodeAffinity", exact=True)
    weight.fill("0")
    weight.press("Tab")
    expect(page.locator(".configuration-status")).to_have_text("Edited: valid.")
    page.get_by_role("button", name="Compare placements").click()
    heads = page.locator(".differences > thead th")
    expect(heads.nth(1)).to_be_visible()
    assert heads.evaluate_all("all => all.every(each => each.getBoundingClientRect().height < 60)")
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_a_comparison_says_when_the_text_has_changed_since(cluster: ServedPage, opened: Opener) -> None:
    page = opened_view(opened(cluster.address))
    weigh(page, "NodeResourcesFit", 50)
    page.get_by_role("button", name="Compare placements").click()
    assert shown_differences(page)
    old = page.get_by_text("The text has changed since: compare again.")
    expect(old).to_be_hidden()
    text = page.locator("#configuration-text")
    compared = text.input_value()
    text.fill("a: [")
    expect(old).to_be_visible()
    text.fill(compared)
    expect(old).to_be_hidden()
    weigh(page, "NodeResourcesFit", 60)
    expect(old).to_be_visible()
