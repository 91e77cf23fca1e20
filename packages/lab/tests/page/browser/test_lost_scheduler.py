"""A page whose scheduler goes away says so, and says when it is back: a real one, killed and started again."""

import signal
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from packages.lab.tests.page.browser.conftest import Opener
from packages.lab.tests.page.test_page_of_up import CONFIGURATION, MANIFEST, a_page
from playwright.sync_api import expect
from tests.support.control_plane import a_control_plane
from tests.support.processes import SchedulerProcess, a_scheduler

pytestmark = pytest.mark.slow

# a process starts anew, on a machine that has other work
MILLISECONDS = 60_000
NODE = """\
apiVersion: v1
kind: Node
metadata: {name: node-1}
status: {allocatable: {cpu: "4", memory: 8Gi, pods: "10"}}
"""


def a_free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


@contextmanager
def serving(folder: Path, kubeconfig: str, port: int) -> Iterator[SchedulerProcess]:
    """Run a scheduler that serves its pages on a port."""
    file = folder / "config.yaml"
    file.write_text(
        f"{CONFIGURATION}clientConnection: {{kubeconfig: {kubeconfig}}}\nleaderElection: {{leaderElect: false}}\n"
    )
    access = [f"--{name}-kubeconfig={kubeconfig}" for name in ("authentication", "authorization")]
    place = ["--bind-address=127.0.0.1", f"--secure-port={port}", f"--cert-dir={folder}"]
    with a_scheduler(folder, f"--config={file}", *access, *place) as scheduler:
        yield scheduler


def test_a_scheduler_that_is_killed_and_started_again_is_told(opened: Opener, tmp_path: Path) -> None:
    manifest, port = tmp_path / "pods.yaml", a_free_port()
    manifest.write_text(f"{MANIFEST}---\n{NODE}")
    url, authority = f"https://127.0.0.1:{port}", tmp_path / "kube-scheduler.crt"
    with a_control_plane(str(manifest)) as cluster:
        kubeconfig = str(cluster.kubeconfig)
        with serving(tmp_path, kubeconfig, port) as scheduler:
            scheduler.says("Serving securely")
            words = ("--kubeconfig", kubeconfig, "--scheduler", url, "--scheduler-ca", str(authority))
            with a_page(*words, state=tmp_path) as address:
                page = opened(address)
                banner = page.locator("#banner")
                expect(banner).to_have_text("")
                page.get_by_role("button", name="Configuration").click()
                expect(page.locator(".configuration-status")).to_have_text("In force.")
                assert "podMaxBackoffSeconds: 20" in page.locator("#configuration-text").input_value()
                scheduler.end(signal.SIGKILL)
                expect(banner).to_contain_text(f"The scheduler at {url} does not answer since", timeout=MILLISECONDS)
                page.reload()
                expect(banner).to_contain_text(f"The scheduler at {url} does not answer since", timeout=MILLISECONDS)
                with serving(tmp_path, kubeconfig, port):
                    expect(banner).to_have_text(f"The scheduler at {url} is back.", timeout=MILLISECONDS)
                    expect(banner).to_have_text("", timeout=MILLISECONDS)
                # before its server
                page.close()
