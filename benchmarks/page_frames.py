"""`python -m benchmarks.page_frames`: how fast the page is in Debian's Chromium, measured in the browser.

A cluster of many nodes and pods is served on loopback; a browser without a window and without a graphics card opens it.
Measured: the time until the first view, frame times while the map is moved and while pods change, and how long a click
on a pod takes until the panel is there and until it has its answer. With --check it ends with 1 if a goal is missed.
"""

import math
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count

import click
from playwright.sync_api import Page
from rich.console import Console
from rich.table import Table
from tests.support.chromium import WHY_MISSING, chromium, path_of_chromium, until
from tests.support.models import a_model
from tests.support.served_page import ServedPage, served_page

from kubesched.api.pods import Pod
from kubesched.testing import a_node, a_pod

ZONES = 10
# between two batches of changes
PACE = 0.1
RECORD = """() => {
  window.deltas = [];
  window.recording = true;
  let last = performance.now();
  const frame = (now) => {
    window.deltas.push(now - last);
    last = now;
    if (window.recording) requestAnimationFrame(frame);
  };
  requestAnimationFrame(frame);
}"""
SPOT = """(name) => {
  const { cluster, map } = window.kubesched;
  const pod = cluster.findPod(`default/${name}`);
  const area = map.podArea(map.box(cluster.podNode[pod]));
  const blocks = map.blocksOf(cluster.podNode[pod]);
  const at = blocks.indexOf(pod);
  const { left, top } = map.over.getBoundingClientRect();
  const x = left + area.x + (blocks[at + 1] + blocks[at + 3] / 2) * area.w;
  return [x, top + area.y + (blocks[at + 2] + blocks[at + 4] / 2) * area.h];
}"""
CLICKED = """() => {
  const clicked = (window.clicked = {});
  const body = document.querySelector("#panel .body");
  const begin = () => {
    clicked.from = performance.now();
    requestAnimationFrame(() => setTimeout(() => (clicked.panel = performance.now() - clicked.from)));
  };
  window.addEventListener("pointerup", begin, { once: true, capture: true });
  delete body.dataset.shown;
  new MutationObserver((_, observer) => {
    if (!body.dataset.shown) return;
    observer.disconnect();
    clicked.answer = performance.now() - clicked.from;
  }).observe(body, { attributes: true });
}"""
FIRST = """() => [window.shownAt,
  performance.getEntriesByType("resource").find((each) => each.name.endsWith("/v1/cluster")).duration]"""


CONFIGURING = {
    "opening the configuration": "kubesched.views.show('configuration'); await kubesched.configuration.load()",
    "a weight of the form": "await kubesched.configuration.change({ do: 'weight', plugin: 'NodeAffinity', weight: 5 })",
    "comparing placements": "await kubesched.configuration.compare()",
}


# in milliseconds; of frames a second below
GOALS = {
    "first view": 2000,
    "click on a pod until the panel is there": 100,
    "a pod that fits nowhere, until its funnel is there": 100,
    "opening the queue": 100,
    "opening the configuration": 100,
    "a weight of the form": 100,
}
LEAST_FRAMES = 30


class Measured:
    """A table of what was measured, and which of it misses its goal."""

    def __init__(self, title: str) -> None:
        self._rows = Table("what", "measured", "goal", title=title)
        self.missed: list[str] = []

    def time(self, title: str, milliseconds: float, more: str = "") -> None:
        """Add how long something takes."""
        goal = GOALS.get(title)
        self._rows.add_row(title, f"{milliseconds:.0f} ms{more}", "" if goal is None else f"{goal} ms")
        if goal is not None and milliseconds > goal:
            self.missed.append(f"{title}: {milliseconds:.0f} ms, where {goal} ms is the goal")

    def frames(self, title: str, values: list[float]) -> None:
        """Add times between frames."""
        rate = 1000 * len(values) / sum(values)
        self._rows.add_row(title, in_frames(values), f"{LEAST_FRAMES} frames/s")
        if rate < LEAST_FRAMES:
            self.missed.append(f"{title}: {rate:.0f} frames/s, where {LEAST_FRAMES} is the goal")

    def show(self) -> None:
        """Print the table."""
        Console(width=140).print(self._rows)


# what is measured, what is done, and when that has come about
ASKING = (
    ("opening the queue", "kubesched.views.show('queue')", "document.querySelector('#queue[data-shown]')"),
    (
        "a pod that fits nowhere, until its funnel is there",
        "kubesched.openPod('default', 'giant')",
        "document.querySelector('[data-shown=\"pod default/giant\"] .funnel')",
    ),
    ("until its remedies are there", "", "document.querySelector('.remedies')"),
)


def placed(number: int, node: int) -> Pod:
    return a_pod(
        f"pod-{number:06}", cpu="500m", memory="1Gi", node=f"node-{node:05}", owner=f"ReplicaSet/app-{number % 50}"
    )


@contextmanager
def changing(served: ServedPage, nodes: int, pods: int, rate: int) -> Iterator[None]:
    """Move pods to other nodes, so many a second."""
    ending = threading.Event()
    numbers = count()

    def work() -> None:
        while not ending.wait(PACE):
            batch = [next(numbers) for _ in range(round(rate * PACE))]
            served.put(*(placed(each % pods, (each * 7 + each // pods + 1) % nodes) for each in batch))

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    finally:
        ending.set()
        thread.join()


def frames(page: Page, seconds: float, *, moving: bool) -> list[float]:
    """Return the times between frames, in milliseconds; the map is moved and zoomed meanwhile, or left alone."""
    page.evaluate("kubesched.map.fit()")
    page.mouse.move(800, 450)
    page.evaluate(RECORD)
    end = time.monotonic() + seconds
    for turn in count():
        if time.monotonic() >= end:
            break
        if not moving:
            page.wait_for_timeout(100)
        elif turn % 40 < 20:
            page.mouse.wheel(0, -60 if turn % 80 < 40 else 60)
        else:
            if turn % 20 == 0:
                page.mouse.down()
            page.mouse.move(800 + 200 * math.sin(turn), 450 + 100 * math.cos(turn))
            if turn % 20 == 19:
                page.mouse.up()
    page.mouse.up()
    page.evaluate("window.recording = false")
    found: list[float] = page.evaluate("window.deltas.slice(2)")
    return found


def clicks(page: Page, pods: int) -> list[tuple[float, float]]:
    """Return how long clicks on pods take: until the panel is there, and until it has its answer; in milliseconds."""
    found = []
    for number in range(20):
        name = f"pod-{number * pods // 20:06}"
        page.evaluate(
            "(name) => { const page = window.kubesched; page.panel.close(); "
            "page.map.goTo(page.cluster.podNode[page.cluster.findPod(`default/${name}`)]); }",
            name,
        )
        page.wait_for_timeout(300)
        spot = page.evaluate(SPOT, name)
        page.evaluate(CLICKED)
        page.mouse.click(*spot)
        until(page, "window.clicked.answer && window.clicked.panel")
        found.append((page.evaluate("window.clicked.panel"), page.evaluate("window.clicked.answer")))
    return found


def asking(page: Page) -> Iterator[tuple[str, float]]:
    """Yield how long the queue takes to open, and the panel of a pod that fits nowhere, without and with remedies."""
    page.evaluate("kubesched.panel.close()")
    for title, work, done in ASKING:
        if work:
            page.evaluate(f"() => {{ window.from = performance.now(); {work}; }}")
        yield title, until(page, f"{done} ? performance.now() - window.from : 0", 60)


def configuring(page: Page) -> Iterator[tuple[str, float]]:
    """Yield how long the view of the configuration takes to open, to follow its form, and to compare placements."""
    for title, work in CONFIGURING.items():
        yield (
            title,
            page.evaluate(
                f"async () => {{ const from = performance.now(); {work}; return performance.now() - from; }}"
            ),
        )


def quantile(values: list[float], share: float) -> float:
    return sorted(values)[min(len(values) - 1, int(share * len(values)))]


def in_frames(values: list[float]) -> str:
    return (
        f"{1000 * len(values) / sum(values):.0f} frames/s; frame {quantile(values, 0.5):.0f} ms, "
        f"99 % below {quantile(values, 0.99):.0f} ms, longest {max(values):.0f} ms"
    )


@click.command()
@click.option("--nodes", default=5000, show_default=True)
@click.option("--pods", default=50_000, show_default=True)
@click.option("--rate", default=500, show_default=True, help="Pods that change in a second.")
@click.option("--seconds", default=8.0, show_default=True, help="Length of each measurement.")
@click.option("--check", "checks", is_flag=True, help="End with 1, and say what misses its goal.")
def main(nodes: int, pods: int, rate: int, seconds: float, checks: bool) -> None:
    """Measure the page in a browser."""
    if not path_of_chromium():
        raise click.ClickException(WHY_MISSING)
    found = Measured(f"{nodes} nodes, {pods} pods")
    cells = [a_node(f"node-{each:05}", cpu="32", memory="128Gi", zone=f"z{each % ZONES}") for each in range(nodes)]
    model = a_model(*cells, a_pod("giant", cpu="64"), *(placed(each, each * 7 % nodes) for each in range(pods)))
    with served_page(model) as served, chromium() as browser:
        first = []
        for _ in range(2):
            page = browser.new_page(viewport={"width": 1600, "height": 900})
            page.goto(served.address)
            until(page, "window.shownAt", 60)
            times = page.evaluate(FIRST)
            first.append(times)
            page.context.close()
        for title, (view, answer) in zip(("first view", "the same, later"), first, strict=False):
            found.time(title, view, f", of which the server's answer {answer:.0f} ms")
        page = browser.new_page(viewport={"width": 1600, "height": 900}, reduced_motion="reduce")
        page.goto(served.address)
        page.wait_for_selector("body[data-ready=yes]", timeout=60_000)
        found.frames("moving and zooming", frames(page, seconds, moving=True))
        with changing(served, nodes, pods, rate):
            found.frames(f"{rate} changes/s", frames(page, seconds, moving=False))
            found.frames(f"{rate} changes/s, moving", frames(page, seconds, moving=True))
        until(page, f"kubesched.cluster.seq === {served.shown.seq}")
        took = clicks(page, pods)
        for number, title in enumerate(("click on a pod until the panel is there", "until it has the answer")):
            values = [each[number] for each in took]
            found.time(title, quantile(values, 0.5), f", longest {max(values):.0f} ms")
        for title, milliseconds in (*asking(page), *configuring(page)):
            found.time(title, milliseconds)
    found.show()
    if checks and found.missed:
        raise click.ClickException("\n".join(found.missed))


if __name__ == "__main__":
    main()
