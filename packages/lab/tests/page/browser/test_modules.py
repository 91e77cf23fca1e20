"""Modules of the page by themselves, in the browser that runs them."""

from collections.abc import Iterator
from typing import Any

import pytest
from packages.lab.tests.page.browser.conftest import Opener
from playwright.sync_api import expect
from tests.support.models import a_model
from tests.support.served_page import ServedPage, served_page

from kubesched.testing import a_node, a_pod

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def cluster() -> Iterator[ServedPage]:
    pods = [a_pod("large", cpu="2", node="n"), a_pod("small", cpu="1", node="n")]
    with served_page(a_model(a_node("n", cpu="4"), *pods)) as page:
        yield page


# a sentence: a module, an expression over it and the page, and what it gives
CASES: dict[str, tuple[str, str, Any]] = {
    "cpu in thousandths": (
        "cluster/amounts",
        "[250, 1000, 2500, 1250, 0].map((each) => it.amount('cpu', each))",
        ["250m", "1", "2.5", "1.25", "0"],
    ),
    "bytes": (
        "cluster/amounts",
        "[512 * 2 ** 20, 1.5 * 2 ** 30].map((each) => it.amount('memory', each))",
        ["512Mi", "1.5Gi"],
    ),
    "devices": ("cluster/amounts", "it.amount('nvidia.com/gpu', 3)", "3"),
    "ages": ("cluster/amounts", "[59, 3725, 200000, NaN].map(it.age)", ["59s", "1h", "2d", ""]),
    "an event that arrives in pieces": (
        "cluster/feed",
        "(() => { const text = new it.EventText(); return "
        "['event: a\\nda', 'ta: 1\\n', '\\n: still here\\n\\n', 'data: 2\\r\\n\\r\\n']"
        ".flatMap((part) => text.feed(part)).map(({ event, data }) => [event, data]); })()",
        [["a", "1"], ["message", "2"]],
    ),
    "events whose empty lines are torn": (
        "cluster/feed",
        "(() => { const text = new it.EventText(); return [...'data: 1\\r\\n\\r\\ndata: 2\\n\\ndata: 3\\n']"
        ".flatMap((part) => text.feed(part)).map(({ data }) => data); })()",
        ["1", "2"],
    ),
    "a large event in many pieces": (
        "cluster/feed",
        "(() => { const text = new it.EventText(); const piece = 'x'.repeat(65536); "
        "text.feed('data: '); for (let at = 0; at < 400; at++) text.feed(piece); "
        "return text.feed('\\n\\n').map(({ data }) => data.length); })()",
        [400 * 65536],
    ),
    "texts that no row has any more are forgotten": (
        "cluster/state",
        "(() => { const texts = new it.Texts(['', 'a'], [1, 0, 1]); "
        "for (let at = 0; at < 20000; at++) texts.set(1, `owner ${at}`); "
        "return [texts.values.length < 2000, texts.get(0), texts.get(1), texts.get(2)]; })()",
        [True, "a", "owner 19999", "a"],
    ),
    "a name with a slash": ("panel/links", "it.partsOf('default/a/b')", ["default", "a/b"]),
    "words and labels of a query": (
        "cluster/search",
        "it.wordsOf(' Web  zone=A =x ')",
        [{"text": "web"}, {"key": "zone", "value": "a"}, {"text": "=x"}],
    ),
    "what was done": (
        "actions/actions",
        "['Create Pod a', 'Drain node b: 2 pods are evicted', 'Undone: Create Pod a'].map(it.doneText)",
        ["Created Pod a", "Drain node b: 2 pods are evicted", "Undone: Create Pod a"],
    ),
    "pods fill their share of a node, the largest first": (
        "map/layout",
        "((blocks) => [blocks.length / 5, blocks[3] * blocks[4], blocks[8] * blocks[9]])"
        "(it.podBlocks(page.cluster, 0, 'cpu'))",
        [2, 0.5, 0.25],
    ),
    "the same owner has the same colour": (
        "map/colours",
        "it.kindOf('ReplicaSet/web') === it.kindOf('ReplicaSet/web')",
        True,
    ),
    "what can be told of a resource: its share, how much is requested, how much is free": (
        "map/measures",
        "(() => { const ids = it.measuresOf(page.cluster).flatMap(({ options }) => options.map(({ id }) => id));"
        "return ['share', 'used', 'free'].map((kind) => ids.filter((id) => id.startsWith(`${kind}:`)).length "
        "=== page.cluster.resources.length); })()",
        [True, True, True],
    ),
    "the amount that is requested, on a scale to the largest node": (
        "map/measures",
        "(() => { const paint = new it.Paint(page.cluster, 'used:cpu', 'dark'); "
        "return [paint.words(0), paint.ends(), paint.index[0]]; })()",
        ["3", ["0", "4"], 191],
    ),
    "brightness rises along a scale": (
        "map/colours",
        "['dark', 'light'].map((theme) => { const light = it.ramp(theme).map((each) => { const [r, g, b] = "
        "each.match(/\\d+/g).map(Number); return (theme === 'dark' ? 1 : -1) * (0.21 * r + 0.72 * g + 0.07 * b); }); "
        "return light.every((each, at) => at === 0 || each >= light[at - 1] - 0.5); })",
        [True, True],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_module(case: str, cluster: ServedPage, opened: Opener) -> None:
    module, expression, expected = CASES[case]
    page = opened(cluster.address)
    found = page.evaluate(
        f"async () => {{ const it = await import('/js/{module}.js');"
        f"const page = window.kubesched; return {expression}; }}"
    )
    assert found == (pytest.approx(expected) if isinstance(expected, list) and type(expected[0]) is int else expected)


def test_an_empty_cluster_is_shown(opened: Opener) -> None:
    with served_page(a_model()) as served:
        page = opened(served.address, allow=("ERR_", "Failed to load"))
        assert page.locator("#counts").inner_text() == "0 nodes, 0 pods"
        expect(page.locator("#map .empty")).to_have_text("The cluster has no nodes.")
        page.keyboard.press("2")
        expect(page.locator("#table")).to_contain_text("The cluster has no nodes.")
        page.keyboard.press("1")
        page.locator("canvas.over").focus()
        page.keyboard.press("ArrowRight")
        page.keyboard.press("Enter")
        served.put(a_node("first"))
        page.wait_for_selector("#counts:has-text('1 node')")
        expect(page.locator("#map .empty")).to_be_hidden()
        page.context.close()
