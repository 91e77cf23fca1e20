"""`python -m tools.page_pictures docs/pictures`: pictures of the page for the docs, made in Debian's Chromium.

From made-up clusters, the same on every machine, to PNG files: the map in dark, a decision in light, a phone, a
simulation.
"""

import random
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser
from tests.support.chromium import WHY_MISSING, chromium, path_of_chromium, until
from tests.support.models import a_model
from tests.support.served_page import served_page

from kubesched.api.meta import ApiObject, Condition
from kubesched.api.pods import PodStatus
from kubesched.core.assembly import load_config
from kubesched.model.cluster_model import ClusterModel
from kubesched.testing import a_node, a_pod
from kubesched_answers.sources.files import read_files
from kubesched_controlplane.nodes.kubelets import RUN_SECONDS

NODES, PODS = 240, 3200
APPS = ("web", "cache", "search", "mail", "billing", "train", "etl", "auth", "feed", "images")
POOLS = ("general",) * 6 + ("batch",) * 3 + ("gpu",)
WAITING: tuple[tuple[int, dict[str, Any], str], ...] = (
    (14, {"cpu": "48", "owner": "StatefulSet/warehouse"}, f"0/{NODES} nodes are available: {NODES} Insufficient cpu."),
    (
        9,
        {"requests": {"nvidia.com/gpu": 8}, "owner": "Job/train-large"},
        f"0/{NODES} nodes are available: 4 node(s) were unschedulable, {NODES - 4} Insufficient nvidia.com/gpu.",
    ),
    (
        3,
        {"cpu": "1", "node_selector": {"disk": "nvme"}, "owner": "Deployment/index"},
        f"0/{NODES} nodes are available: {NODES} node(s) didn't match Pod's node affinity/selector.",
    ),
    (2, {"cpu": "2", "owner": "Deployment/mail"}, ""),
)


class Picture(NamedTuple):
    """A view of the page: what is done before the picture is taken."""

    name: str
    scheme: str
    size: tuple[int, int]
    steps: str


# a weight is edited, and the placements that differ are shown
CONFIGURING = """
  page.views.show('configuration');
  const view = page.configuration;
  view.load()
    .then(() => view.change({ do: 'weight', plugin: 'NodeResourcesBalancedAllocation', weight: 20 }))
    .then(() => { view.all.checked = true; return view.compare(); })
"""
PICTURES = (
    Picture("page-map", "dark", (1280, 800), ""),
    Picture("page-decision", "light", (1280, 800), "page.openPod('apps', 'waits-3-000')"),
    Picture("page-configuration", "light", (1280, 800), CONFIGURING),
    Picture("page-phone", "dark", (390, 780), ""),
)


def objects() -> Iterator[ApiObject]:
    """Return nodes of three zones and three pools, pods of ten workloads, and some that wait."""
    chance = random.Random(7)
    for row in range(NODES):
        pool = chance.choice(POOLS)
        yield a_node(
            f"node-{row:03}",
            cpu="32",
            memory="128Gi",
            zone=f"zone-{'abc'[row % 3]}",
            labels={"pool": pool},
            taints=["dedicated=batch:NoSchedule"] if pool == "batch" else [],
            unschedulable=row % 71 == 1,
            allocatable={"nvidia.com/gpu": 8} if pool == "gpu" else None,
        )
        if pool == "gpu":
            gpus = {"nvidia.com/gpu": 6 + row % 3}
            yield a_pod(
                f"train-on-{row:03}", namespace="apps", cpu="2", requests=gpus, node=f"node-{row:03}", owner="Job/train"
            )
    for number in range(PODS):
        app = chance.choice(APPS)
        yield a_pod(
            f"{app}-{number:04}",
            namespace="apps",
            cpu=chance.choice(("250m", "500m", "1", "2", "4")),
            memory=chance.choice(("512Mi", "1Gi", "4Gi", "8Gi")),
            node=f"node-{int(chance.random() ** 0.75 * NODES):03}",
            owner=f"ReplicaSet/{app}",
            priority=chance.choice((0, 0, 0, 100, 1000)),
        )
    created = (datetime.now(UTC) - timedelta(minutes=4)).isoformat()
    for kind, (pods, wanted, why) in enumerate(WAITING):
        told = (Condition(type="PodScheduled", status="False", message=why),) if why else ()
        for number in range(pods):
            status = PodStatus(conditions=told)
            yield a_pod(f"waits-{kind}-{number:03}", namespace="apps", created=created, status=status, **wanted)


def batch() -> Iterator[ApiObject]:
    """Return nodes, and pods of two priorities that run for a while, more than there is room for."""
    chance = random.Random(11)
    for row in range(48):
        yield a_node(f"node-{row:02}", cpu="16", memory="64Gi", zone=f"zone-{'abc'[row % 3]}")
    for number in range(450):
        yield a_pod(
            f"{chance.choice(APPS)}-{number:03}",
            namespace="apps",
            cpu=chance.choice(("500m", "1", "2", "4")),
            memory=chance.choice(("1Gi", "2Gi", "4Gi")),
            priority=chance.choice((0, 0, 0, 1000)),
            annotations={RUN_SECONDS: str(chance.randint(20, 180))},
        )


def simulated(browser: Browser, folder: Path) -> None:
    """Write pictures of a simulation that was played to its end and taken back, and of its queue."""
    with served_page(a_model(*batch())) as served:
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="dark", reduced_motion="reduce")
        page.goto(served.address)
        until(page, "document.body.dataset.ready")
        page.click("#time-try")
        until(page, "kubesched.time.clock?.state === 'paused'", 60)
        for to, state in (("'end'", "ended"), ("35", "paused")):
            page.evaluate(f"kubesched.time.command({{ do: 'seek', to: {to} }})")
            until(page, f"kubesched.time.clock.state === '{state}'", 60)
        page.wait_for_timeout(1500)
        page.screenshot(path=folder / "page-time.png")
        page.evaluate("kubesched.views.show('queue')")
        until(page, "document.querySelector('#queue tbody td')", 60)
        page.screenshot(path=folder / "page-queue.png")
        page.context.close()


def quickstart(browser: Browser, folder: Path) -> None:
    """Write the picture of what `kubesched page --from examples/quickstart` shows."""
    with served_page(ClusterModel(read_files(["examples/quickstart"]), load_config(None)), places=True) as served:
        page = browser.new_page(viewport={"width": 1280, "height": 800}, color_scheme="dark", reduced_motion="reduce")
        page.goto(served.address)
        until(page, "document.querySelectorAll('.group').length === 2")
        page.wait_for_timeout(500)
        page.screenshot(path=folder / "page-quickstart.png")
        page.context.close()


def main(folder: Path) -> None:
    """Write all pictures."""
    if not path_of_chromium():
        sys.exit(WHY_MISSING)
    folder.mkdir(parents=True, exist_ok=True)
    with served_page(a_model(*objects())) as served, chromium() as browser:
        for picture in PICTURES:
            width, height = picture.size
            page = browser.new_page(
                viewport={"width": width, "height": height},
                color_scheme="dark" if picture.scheme == "dark" else "light",
                reduced_motion="reduce",
            )
            page.goto(served.address)
            until(page, "document.body.dataset.ready")
            page.evaluate(f"() => {{ const page = window.kubesched; {picture.steps}; }}")
            if picture.steps == CONFIGURING:
                until(page, "document.querySelector('.comparison').dataset.pods", 120)
            page.wait_for_timeout(500)
            page.screenshot(path=folder / f"{picture.name}.png")
            page.context.close()
        simulated(browser, folder)
        quickstart(browser, folder)


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "docs/pictures"))
