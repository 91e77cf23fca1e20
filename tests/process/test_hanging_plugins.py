"""Plugins that hang, in a real process: noticed after a while, and the process ends so that others go on."""

import signal
import time
from contextlib import AbstractContextManager
from pathlib import Path

import pytest
from tests.support.clusters import ALONE, SHORT_LEASE, ClusterState, a_cluster_process, all_bound, bound, node_of
from tests.support.probes import fetch, free_port
from tests.support.processes import SchedulerProcess, eventually

from kubesched.testing import a_node, a_pod

NODES = [a_node("n1", cpu="4")]
LEADS = "Successfully acquired lease kube-system/kube-scheduler"
STANDS = "Attempting to acquire leader lease kube-system/kube-scheduler"
LIMIT = "--scheduling-loop-timeout=3s"
# hangs once for the pod `evil`, until the file `go` exists if it is to end at all
HANGING = """
import time
from pathlib import Path
from kubesched import filter_plugin

go, went = Path(__file__).with_name("go"), Path(__file__).with_name("went")

def sleeps():
    while not go.exists(): time.sleep(0.1)

def is_busy():
    while not go.exists(): pass

@filter_plugin("Hanging")
def hanging(pod, node):
    if pod.name == "evil" and not went.exists():
        went.touch()
        {how}()
"""
RAISING = """
import threading, time
from kubesched import FilterPlugin, PreBindPlugin, ReservePlugin

class Bad(FilterPlugin, ReservePlugin, PreBindPlugin):
    name = "Bad"

    def __init__(self):
        def for_ever():
            while True: time.sleep(1)
        {thread}

    def filter(self, cycle, pod, node):
        if pod.name == "exits": raise SystemExit(7)
        if pod.name == "interrupts": raise KeyboardInterrupt

    def reserve(self, cycle, pod, node_name):
        if pod.name == "lies": return True

    async def pre_bind(self, cycle, pod, node_name):
        if pod.name == "waits":
            import asyncio
            asyncio.get_running_loop().run_in_executor(None, time.sleep, 3600)
"""


def with_plugin(cluster: ClusterState, name: str, source: str, *flags: str) -> AbstractContextManager[SchedulerProcess]:
    """Return a scheduler with a plugin from a file."""
    file = cluster.plugin(name.lower(), source)
    profile = {"plugins": {"multiPoint": {"enabled": [{"name": name}]}}}
    return cluster.scheduler(*flags, "--plugin", str(file), config={"profiles": [profile]})


@pytest.mark.slow
@pytest.mark.parametrize("how", ["sleeps", "is_busy"])
def test_a_leader_that_hangs_is_noticed_and_another_one_goes_on(how: str, tmp_path: Path) -> None:
    port = free_port()
    serving = (f"--secure-port={port}", "--bind-address=127.0.0.1")
    source = HANGING.replace("{how}", how)
    with (
        a_cluster_process(tmp_path, NODES) as cluster,
        with_plugin(cluster, "Hanging", source, *SHORT_LEASE, LIMIT, *serving) as first,
    ):
        first.says(LEADS)
        with with_plugin(cluster, "Hanging", source, *SHORT_LEASE, LIMIT) as second:
            second.says(STANDS)
            assert fetch(port, "/livez")[0] == 200
            cluster.api.create(a_pod("evil", cpu="1"))
            for page in ("livez", "healthz"):
                text = eventually(lambda page=page: _failing(port, page), f"/{page} fails")  # type: ignore[misc]
                assert "[-]scheduling-loop failed: reason withheld" in text
            line = first.says("the scheduling loop stood still for 3 s (--scheduling-loop-timeout=3s)")
            assert line.startswith("E")
            assert "hanging.py" in first.log, "it says where it hangs"
            second.says(LEADS)
            all_bound(cluster.api, 1)
            # when it wakes up it ends, and has bound nothing
            (tmp_path / "go").touch()
            assert first.ends(10) == 1
            first.says("the scheduling loop stood still, it turns again: the process ends")


def _failing(port: int, page: str) -> str:
    code, text = fetch(port, f"/{page}")
    return text if code == 500 else ""


@pytest.mark.slow
def test_a_loop_that_does_not_wake_up_is_ended(tmp_path: Path) -> None:
    with (
        a_cluster_process(tmp_path, NODES) as cluster,
        with_plugin(cluster, "Hanging", HANGING.replace("{how}", "sleeps"), ALONE, LIMIT) as scheduler,
    ):
        cluster.api.create(a_pod("evil", cpu="1"))
        assert scheduler.ends(30) == 1
        scheduler.says("the scheduling loop stood still, it still does not turn: the process ends")
        assert node_of(cluster.api, "evil") == ""


@pytest.mark.slow
def test_a_process_that_was_stopped_as_a_whole_was_not_stuck(tmp_path: Path) -> None:
    with a_cluster_process(tmp_path, NODES) as cluster, cluster.scheduler(ALONE, LIMIT) as scheduler:
        cluster.api.create(a_pod("a", cpu="1"))
        bound(cluster.api, "a")
        scheduler.process.send_signal(signal.SIGSTOP)
        began = time.monotonic()
        eventually(lambda: time.monotonic() - began > 5, "longer than it may stand still")
        scheduler.process.send_signal(signal.SIGCONT)
        cluster.api.create(a_pod("b", cpu="1"))
        bound(cluster.api, "b")
        assert scheduler.alive


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_what_plugins_raise_does_not_end_the_process_but_a_signal_does(number: int, tmp_path: Path) -> None:
    """Threads of a plugin that never end do not keep it, either."""
    source = RAISING.replace("{thread}", "threading.Thread(target=for_ever, name='mine').start()")
    with a_cluster_process(tmp_path, NODES) as cluster, with_plugin(cluster, "Bad", source) as scheduler:
        scheduler.says(LEADS)
        for name in ("exits", "interrupts", "lies", "waits", "good"):
            cluster.api.create(a_pod(name, cpu="500m"))
        for name in ("waits", "good"):
            bound(cluster.api, name)
        scheduler.says('plugin "Bad" failed in filter: SystemExit: 7 (bad.py:')
        scheduler.says('plugin "Bad" failed in filter: KeyboardInterrupt (bad.py:')
        scheduler.says('plugin "Bad" failed in reserve: reserve returned True')
        # the room of the pod that was turned away is there for others
        cluster.api.create(a_pod("large", cpu="3"))
        bound(cluster.api, "large")
        assert scheduler.end(number, seconds=20) == 0
        scheduler.says("ended without waiting longer for threads: ")
