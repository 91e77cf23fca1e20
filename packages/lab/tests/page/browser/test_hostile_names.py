"""Names of clusters that mean something to a browser or to JavaScript, and links that somebody else has made."""

from pathlib import Path

import msgspec
import pytest
from msgspec.structs import replace
from packages.lab.tests.page.browser.conftest import Opener
from packages.lab.tests.page.browser.test_actions import in_menu
from playwright.sync_api import expect
from tests.support.chromium import until
from tests.support.models import a_model
from tests.support.served_page import served_page

from kubesched.api.meta import Condition
from kubesched.api.pods import Taint
from kubesched.testing import a_node, a_pod

pytestmark = pytest.mark.slow

MARKUP = "<img src=x onerror=window.steered=1>"
# what every object of JavaScript has; all but the last are valid keys of labels
INHERITED = ("constructor", "toString", "valueOf", "hasOwnProperty", "__proto__")


def test_names_that_objects_inherit_are_names_like_others(opened: Opener) -> None:
    labels = dict.fromkeys(INHERITED, "constructor")
    amounts = dict.fromkeys(INHERITED, "3")
    strange = a_node("strange", labels=labels, allocatable=amounts)
    with served_page(a_model(a_node("plain"), strange, a_pod("p", node="plain"))) as served:
        page = opened(served.address, allow=("ERR_", "Failed to load"))
        # others without these names change, and new ones come
        served.put(a_node("plain", zone="a"), a_node("new"), a_pod("q", cpu="1", node="plain"))
        until(page, f"kubesched.cluster.seq === {served.shown.seq}")
        page.evaluate("() => { window.cluster = kubesched.cluster; window.row = (name) => cluster.findNode(name); }")
        of_label = "(key) => ['plain', 'strange', 'new'].map((name) => cluster.labels.get(key).get(row(name)))"
        of_resource = "(name) => ['plain', 'strange', 'new'].map((node) => cluster.allocatable.get(name)[row(node)])"
        for name in INHERITED:
            assert page.evaluate(of_label, name) == ["", "constructor", ""]
            assert page.evaluate(of_resource, name) == [0, 3, 0]
        assert page.evaluate("Object.keys(Object.prototype).length") == 0
        page.fill("#search", "constructor=constructor")
        expect(page.locator("#found")).to_have_text("1 node, 0 pods")
        page.context.close()


def test_a_pod_with_thousands_of_resources_and_a_node_with_thousands_of_labels(opened: Opener) -> None:
    with served_page(a_model(a_node("n"), a_pod("p", node="n"))) as served:
        page = opened(served.address, allow=("ERR_", "Failed to load"))
        served.put(
            a_node("hostile", labels={f"example.com/{number}": "x" for number in range(3000)}),
            a_pod("hostile", requests={f"example.com/{number}": "1" for number in range(3000)}),
        )
        until(page, f"kubesched.cluster.seq === {served.shown.seq}")
        assert page.evaluate("kubesched.cluster.labels.size") <= 300
        assert page.evaluate("kubesched.cluster.requests.size") <= 100
        page.context.close()


@pytest.mark.parametrize("fragment", ["token=%", "token=%E0%A4%A", f"token={MARKUP}", "__proto__=1", "token="])
def test_a_link_that_somebody_else_made_starts_the_page_and_says_what_it_needs(opened: Opener, fragment: str) -> None:
    with served_page(a_model(a_node("n"))) as served:
        address = f"{served.address.partition('#')[0]}#{fragment}"
        page = opened(address, ready=False, allow=("401", "Failed to load"))
        expect(page.locator("#banner")).to_contain_text("This page needs its token")
        assert page.evaluate("window.steered") is None


def test_markup_in_names_labels_and_messages_is_text_everywhere(opened: Opener) -> None:
    condition = Condition(type="PodScheduled", status="False", reason="Unschedulable", message=MARKUP)
    waiting = replace(a_pod("waiting").status, conditions=(condition,))
    node = a_node(
        MARKUP,
        labels={MARKUP: MARKUP},
        allocatable={MARKUP: "1"},
        taints=[Taint(key=MARKUP, value=MARKUP, effect=MARKUP)],
    )
    pods = [
        a_pod(MARKUP, namespace=MARKUP, node=MARKUP, owner=f"ReplicaSet/{MARKUP}"),
        a_pod("waiting", status=waiting),
    ]
    with served_page(a_model(node, *pods)) as served:
        page = opened(served.address, allow=("ERR_", "Failed to load"))
        page.evaluate("(name) => kubesched.openNode(name)", MARKUP)
        expect(page.locator("#panel h2")).to_have_text(MARKUP)
        page.evaluate("(name) => kubesched.openPod(name, name)", MARKUP)
        expect(page.locator("#panel h2")).to_have_text(f"{MARKUP}/{MARKUP}")
        expect(page.locator("#pending-list")).to_contain_text(MARKUP)
        for view in ("table", "queue", "configuration", "map"):
            page.click(f"[data-view={view}]")
        page.fill("#search", "img")
        expect(page.locator("#results button").first).to_contain_text("<img")
        assert page.evaluate("document.querySelectorAll('img[onerror]').length") == 0
        assert page.evaluate("window.steered") is None
        page.context.close()


def test_markup_in_a_file_that_is_opened_is_text_everywhere(opened: Opener, tmp_path: Path) -> None:
    node = {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": "n1", "labels": {"zone": MARKUP}},
        "status": {"capacity": {"cpu": "4", "pods": "9", MARKUP: "1"}},
    }
    # what the validation of pods lets in
    container = {"name": "c", "image": MARKUP, "resources": {"requests": {"cpu": "1"}}}
    pods = [
        {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": name, "annotations": {"note": MARKUP}},
            "spec": {"containers": [container], "nodeName": "", "nodeSelector": selector},
            "status": {"conditions": [{"type": "Ready", "status": "False", "message": MARKUP}]},
        }
        for name, selector in (("placed", {}), ("waiting", {"zone": "elsewhere"}))
    ]
    lines = [
        {"scenario": {"version": 1, "name": MARKUP}},
        *({"at": 0, "object": each} for each in (node, *pods)),
        {"at": 5, "action": MARKUP, "turns": 0, "lines": 1},
        {"at": 5, "delete": f"Pod/{MARKUP}"},
    ]
    file = tmp_path / "hostile.jsonl"
    file.write_bytes(b"\n".join(map(msgspec.json.encode, lines)))
    bad = tmp_path / "bad.jsonl"
    bad.write_text(f'{{"at": 0, "delete": "{MARKUP}"}}\n')
    with served_page(a_model(a_node("n"))) as served:
        page = opened(served.address, allow=("ERR_", "Failed to load", "422"))
        for path, said in ((bad, MARKUP), (file, "Simulating hostile.jsonl.")):
            with page.expect_file_chooser() as choosing:
                in_menu(page, "Open a file …")
            choosing.value.set_files(path)
            expect(page.locator("#acted")).to_contain_text(said)
        until(page, "kubesched.cluster.mode === 'simulation'")
        page.evaluate("kubesched.server.post('/v1/clock', { do: 'seek', to: 'end' })")
        until(page, "kubesched.time.clock.state === 'ended'")
        for name in ("waiting", "placed"):
            page.evaluate("(name) => kubesched.openPod('default', name)", name)
            expect(page.locator("#panel h2")).to_have_text(f"default/{name}")
        page.evaluate("kubesched.openNode('n1')")
        for view in ("table", "queue", "configuration", "map"):
            page.click(f"[data-view={view}]")
        assert page.evaluate("document.querySelectorAll('img[onerror]').length") == 0
        assert page.evaluate("window.steered") is None
        page.context.close()
