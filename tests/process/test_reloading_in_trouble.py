"""`kubesched run --reload` in trouble: odd files, signals at the wrong moment, kinds that are missing, replicas."""

import signal
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.support.clusters import ALONE, SHORT_LEASE, ClusterState, a_cluster_process, bound, node_of, replace
from tests.support.processes import SchedulerProcess, a_scheduler, eventually

from kubesched.testing import a_node, a_pod

pytestmark = pytest.mark.slow

Document = dict[str, Any]
RACKS = """
from kubesched import FilterPlugin

class Racks(FilterPlugin):
    name = "Racks"
    looks_up = ("racks.v1.example.com",)

    def filter(self, cycle, pod, node):
        return None
"""


FRAGILE = """
from pathlib import Path
from kubesched import FilterPlugin

class Fragile(FilterPlugin):
    name = "Fragile"

    def __init__(self):
        if not Path(__file__).with_name("database").exists():
            raise RuntimeError("no database")

    def filter(self, cycle, pod, node):
        return None
"""

HANGING = """
import time
from kubesched import FilterPlugin

class Hanging(FilterPlugin):
    name = "Hanging"

    def __init__(self):
        while True:
            time.sleep(0.1)

    def filter(self, cycle, pod, node):
        return None
"""
# takes its time to be loaded
SLOW = f"""{RACKS}
import time
from pathlib import Path

Path(__file__).with_name("loading").touch()
while not Path(__file__).with_name("go").exists():
    time.sleep(0.02)
"""


def a_config(cluster: ClusterState, *plugins: str, **fields: Any) -> str:
    """Return the text of a configuration with some filter plugins."""
    profile: Document = {"plugins": {"filter": {"enabled": [{"name": name} for name in plugins]}}}
    head = {"apiVersion": "kubescheduler.config.k8s.io/v1", "kind": "KubeSchedulerConfiguration"}
    connection = {"clientConnection": {"kubeconfig": str(cluster.kubeconfig)}}
    return yaml.safe_dump({**head, **connection, "podMaxBackoffSeconds": 1, "profiles": [profile], **fields})


@contextmanager
def reloading(cluster: ClusterState, file: Path, *flags: str) -> Iterator[SchedulerProcess]:
    arguments = ("--config", str(file), "--reload", "--secure-port=0", *flags)
    with a_scheduler(cluster.folder, *arguments, secrets=cluster.secrets) as scheduler:
        yield scheduler


def started(scheduler: SchedulerProcess) -> None:
    """Wait until it has read its file."""
    scheduler.says("Starting Kubernetes Scheduler")


def refusals(scheduler: SchedulerProcess, after: int) -> list[str]:
    """Return the lines about refused configurations, after so many others."""
    return scheduler.lines("Configuration refused")[after:]


def take_away(file: Path) -> None:
    if file.is_dir():
        file.rmdir()
    else:
        file.unlink(missing_ok=True)


def test_whatever_stands_in_the_place_of_the_file_the_last_good_one_stays(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n", cpu="99")]) as cluster:
        file = tmp_path / "scheduler.yaml"
        good = a_config(cluster)
        file.write_text(good)

        def huge() -> None:
            with file.open("wb") as writing:
                writing.truncate(100 * 2**20)

        odd: list[tuple[Callable[[], object], str]] = [
            (lambda: file.write_bytes(b""), "Object 'kind' is missing"),
            (lambda: file.write_bytes(b"\xff\xfe" + good.encode("utf-16-le")), "UTF-8"),
            (lambda: file.write_text(good[: len(good) // 2]), "--config"),
            (huge, "larger than"),
            (lambda: file.write_text("a: &a [x]\n" + "b: [" + "*a, " * 200_000 + "]"), "--config"),
            (lambda: file.mkdir(), "is a folder"),
            (lambda: file.symlink_to("nowhere"), "No such file"),
            (lambda: file.symlink_to(file), "symbolic links"),
            (lambda: None, "No such file"),
        ]
        with reloading(cluster, file, ALONE) as scheduler:
            started(scheduler)
            for number, (put, words) in enumerate(odd):
                before = len(refusals(scheduler, 0))
                take_away(file)
                put()
                if not file.exists():
                    # a file that is away is no change of its own: it may come back
                    scheduler.process.send_signal(signal.SIGHUP)
                line = eventually(partial(refusals, scheduler, before), f"{words} is refused")[0]
                assert words in line, line
                cluster.api.create(a_pod(f"p{number}"))
                assert bound(cluster.api, f"p{number}") == "n"
            take_away(file)
            replace(file, a_config(cluster, podInitialBackoffSeconds=1, percentageOfNodesToScore=7))
            assert "generation=2" in scheduler.says("Configuration reloaded")


def test_a_signal_during_the_start_and_a_thousand_later_end_nothing(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n", cpu="99")]) as cluster:
        file, slow = tmp_path / "scheduler.yaml", cluster.plugin("slow", SLOW)
        file.write_text(a_config(cluster))
        with reloading(cluster, file, ALONE, "--plugin", str(slow)) as scheduler:
            eventually((tmp_path / "loading").exists, "plugins are being loaded")
            scheduler.process.send_signal(signal.SIGHUP)
            (tmp_path / "go").touch()
            started(scheduler)
            for number in range(1000):
                scheduler.process.send_signal(signal.SIGHUP)
                if number % 100 == 0:
                    cluster.api.create(a_pod(f"p{number}"))
            for number in range(0, 1000, 100):
                assert bound(cluster.api, f"p{number}") == "n"
            replace(file, a_config(cluster, podInitialBackoffSeconds=1, percentageOfNodesToScore=7))
            assert "generation=2" in scheduler.says("Configuration reloaded")


def test_without_reload_the_signal_ends_the_process_and_a_changed_file_is_not_read(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n"), a_pod("p")]) as cluster:
        file = tmp_path / "scheduler.yaml"
        file.write_text(a_config(cluster))
        arguments = ("--config", str(file), "--secure-port=0", ALONE)
        with a_scheduler(cluster.folder, *arguments, secrets=cluster.secrets) as scheduler:
            assert bound(cluster.api, "p") == "n"
            replace(file, "profiles: [")
            cluster.api.create(a_pod("q"))
            assert bound(cluster.api, "q") == "n"
            assert not scheduler.lines("Configuration")
            assert scheduler.end(signal.SIGHUP) == -signal.SIGHUP


def test_a_plugin_that_cannot_be_built_is_refused_and_tried_when_the_file_changes(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n")]) as cluster:
        file, plugin = tmp_path / "scheduler.yaml", cluster.plugin("fragile", FRAGILE)
        file.write_text(a_config(cluster))
        with reloading(cluster, file, ALONE, "--plugin", str(plugin)) as scheduler:
            started(scheduler)
            replace(file, a_config(cluster, "Fragile"))
            assert "no database" in scheduler.says("Configuration refused")
            cluster.api.create(a_pod("p"))
            assert bound(cluster.api, "p") == "n"
            (tmp_path / "database").touch()
            scheduler.process.send_signal(signal.SIGHUP)
            assert "generation=2" in scheduler.says("Configuration reloaded")


def test_a_constructor_that_hangs_ends_the_process_which_says_where_and_another_replica_goes_on(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n")]) as cluster, ExitStack() as stack:
        plugin = cluster.plugin("hanging", HANGING)
        files = [tmp_path / "first.yaml", tmp_path / "second.yaml"]
        flags = ("--plugin", str(plugin), "--scheduling-loop-timeout=3s", *SHORT_LEASE)
        for file in files:
            file.write_text(a_config(cluster))
        first = stack.enter_context(reloading(cluster, files[0], *flags))
        first.says("Successfully acquired lease")
        second = stack.enter_context(reloading(cluster, files[1], *flags))
        second.says("Attempting to acquire")
        replace(files[0], a_config(cluster, "Hanging"))
        assert first.ends() == 1
        assert "hanging.py" in first.log, "it says where it hangs"
        cluster.api.create(a_pod("p"))
        assert bound(cluster.api, "p") == "n"
        assert second.alive


def test_replicas_reload_by_themselves_and_a_new_leader_has_what_it_reloaded_while_it_waited(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n")]) as cluster, ExitStack() as stack:
        file = tmp_path / "scheduler.yaml"
        file.write_text(a_config(cluster))
        first = stack.enter_context(reloading(cluster, file, *SHORT_LEASE))
        first.says("Successfully acquired lease")
        second = stack.enter_context(reloading(cluster, file, *SHORT_LEASE))
        second.says("Attempting to acquire")
        night = {"profiles": [{"schedulerName": "night"}]}
        replace(file, a_config(cluster, **night))
        for each in (first, second):
            each.says("Configuration reloaded")
        replace(file, "profiles: [")
        for each in (first, second):
            each.says("Configuration refused")
        assert first.end(signal.SIGKILL) == -signal.SIGKILL
        cluster.api.create(a_pod("p", scheduler="night"))
        cluster.api.create(a_pod("q"))
        assert bound(cluster.api, "p") == "n"
        assert not node_of(cluster.api, "q"), "nobody serves this name any more"


def test_a_replica_that_lists_nothing_before_it_leads_reloads_all_the_same(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n")]) as cluster, ExitStack() as stack:
        lazy, busy = tmp_path / "lazy.yaml", tmp_path / "busy.yaml"
        busy.write_text(a_config(cluster))
        lean = {"plugins": {"multiPoint": {"disabled": [{"name": "VolumeBinding"}, {"name": "VolumeZone"}]}}}
        lazy.write_text(a_config(cluster, delayCacheUntilActive=True, profiles=[lean]))
        leader = stack.enter_context(reloading(cluster, busy, *SHORT_LEASE))
        leader.says("Successfully acquired lease")
        waiting = stack.enter_context(reloading(cluster, lazy, *SHORT_LEASE))
        waiting.says("Attempting to acquire")
        # kinds come that were not watched before
        replace(lazy, a_config(cluster, delayCacheUntilActive=True))
        assert "generation=2" in waiting.says("Configuration reloaded")
        assert leader.end(signal.SIGKILL) == -signal.SIGKILL
        cluster.api.create(a_pod("p"))
        assert bound(cluster.api, "p") == "n"


def test_a_start_that_waits_for_a_kind_goes_on_when_a_reload_does_without_it(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, [a_node("n"), a_pod("p")]) as cluster:
        file, plugin = tmp_path / "scheduler.yaml", cluster.plugin("racks", RACKS)
        file.write_text(a_config(cluster, "Racks"))
        with reloading(cluster, file, ALONE, "--plugin", str(plugin)) as scheduler:
            scheduler.says("racks")
            replace(file, a_config(cluster))
            scheduler.says("Configuration reloaded")
            assert bound(cluster.api, "p") == "n"
