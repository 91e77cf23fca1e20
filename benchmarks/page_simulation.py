"""`python -m benchmarks.page_simulation`: how responsive the page is while it plays a simulation in its own process.

A cluster with many pending pods is continued as a simulation and played, so that its thread schedules one pod after the
other as fast as it can. Measured in Debian's Chromium meanwhile: frame times, how long the answer about a pod takes,
and how long the pods take; then how long going back takes, and what needs a run there.
"""

import time
from resource import RUSAGE_SELF, getrusage

import click
from playwright.sync_api import Page
from rich.console import Console
from rich.table import Table
from tests.support.chromium import WHY_MISSING, chromium, path_of_chromium, until
from tests.support.models import a_model
from tests.support.served_page import served_page

from benchmarks.page_frames import RECORD, ZONES, in_frames, quantile
from kubesched.testing import a_node, a_pod

ENDED = "kubesched.time.clock?.state === 'ended'"
# go to the end of a cycle; milliseconds until it is on the map, frame included
GO = """async (cycle) => {
  const began = performance.now();
  await kubesched.time.command({ do: "seek", cycle });
  while (kubesched.time.clock.cycles !== cycle || kubesched.time.clock.state === "seeking") {
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  await new Promise(requestAnimationFrame);
  return performance.now() - began;
}"""
ASK = """() => {
  window.answers = [];
  const ask = async () => {
    for (let number = 0; window.recording; number++) {
      const began = performance.now();
      await kubesched.server.pod("default", `pod-${String(number).padStart(6, "0")}`);
      window.answers.push(performance.now() - began);
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  };
  ask();
}"""


def played(page: Page, limit: float) -> tuple[float, list[float], list[float]]:
    """Play to the end; return the seconds it took, the times between frames, and those of answers, in milliseconds."""
    page.evaluate(RECORD)
    page.evaluate(ASK)
    began = time.monotonic()
    page.click("#time-play")
    until(page, ENDED, limit)
    seconds = time.monotonic() - began
    page.evaluate("window.recording = false")
    return seconds, page.evaluate("window.deltas.slice(2)"), page.evaluate("window.answers")


@click.command()
@click.option("--nodes", default=1000, show_default=True)
@click.option("--pods", default=10_000, show_default=True)
@click.option("--limit", default=300.0, show_default=True, help="Give up after so many seconds.")
def main(nodes: int, pods: int, limit: float) -> None:
    """Measure the page while it simulates."""
    if not path_of_chromium():
        raise click.ClickException(WHY_MISSING)
    rows = Table("what", "measured", title=f"simulation of {nodes} nodes, {pods} pods")
    cells = [a_node(f"node-{each:05}", cpu="32", memory="128Gi", zone=f"z{each % ZONES}") for each in range(nodes)]
    waiting = [a_pod(f"pod-{each:06}", cpu="500m", memory="1Gi") for each in range(pods)]
    with served_page(a_model(*cells, *waiting)) as served, chromium() as browser:
        page = browser.new_page(viewport={"width": 1600, "height": 900}, reduced_motion="reduce")
        page.goto(served.address)
        page.wait_for_selector("body[data-ready=yes]", timeout=60_000)
        began = time.monotonic()
        page.click("#time-try")
        until(page, "kubesched.time.clock?.state === 'paused'", limit)
        rows.add_row("Try it in a simulation", f"{time.monotonic() - began:.1f} s")
        seconds, deltas, answers = played(page, limit)
        rows.add_row("played to its end", f"{seconds:.1f} s, {pods / seconds:.0f} pods/s")
        rows.add_row("frames meanwhile", in_frames(deltas))
        rows.add_row("answer about a pod meanwhile", f"{quantile(answers, 0.5):.0f} ms, longest {max(answers):.0f} ms")
        last = page.evaluate("kubesched.time.clock.cycles")
        for sentence, cycle in (
            ("one scheduling cycle back", last - 1),
            ("another one", last - 2),
            ("a tenth of the time back", last * 9 // 10),
            ("to the middle", last // 2),
            ("to the beginning", 0),
            ("to the end", last),
        ):
            rows.add_row(sentence, f"{page.evaluate(GO, cycle):.0f} ms")
        page.evaluate(GO, last - 1)
        began = time.monotonic()
        page.evaluate("kubesched.server.get('/v1/queue')")
        rows.add_row("the queue there, by running again", f"{time.monotonic() - began:.1f} s")
        rows.add_row("memory of the server and the benchmark", f"{getrusage(RUSAGE_SELF).ru_maxrss >> 10} MiB")
    Console(width=140).print(rows)


if __name__ == "__main__":
    main()
