"""What an operator watches: all metrics of a process on one page, who leads, and the dump."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from tests.support.logs import a_log
from tests.support.world import World, live

from kubesched.common.virtual_time import run_in_virtual_time
from kubesched.config.feature_gates import FeatureGates
from kubesched.core.assembly import build_scheduler
from kubesched.core.loop.scheduler import Scheduler
from kubesched.run.instruments import Instruments, ObservedElection, dump
from kubesched.run.klog.options import LogOptions
from kubesched.serving.metrics.options import MetricOptions
from kubesched.testing import a_node, a_pod


def instruments(lines: list[str] | None = None) -> Instruments:
    put: Callable[[str], Any] = ([] if lines is None else lines).append
    return Instruments(a_log(LogOptions(verbosity=2), put, put), MetricOptions(), FeatureGates({}), "v1.36.4")


def test_one_page_has_everything_and_the_log_what_became_of_pods() -> None:
    lines: list[str] = []
    watched = instruments(lines)

    async def play() -> None:
        world = World()
        scheduler = world.scheduler = build_scheduler(world, observers=watched.observers)
        watched.follow(scheduler)
        running = asyncio.create_task(scheduler.run())
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(5)
        scheduler.stop()
        await running

    run_in_virtual_time(play())
    watched.requests("https://10.0.0.1:6443").answered("GET", 200)
    text = watched.registry.text()
    for line in (
        'scheduler_schedule_attempts_total{profile="default-scheduler",result="scheduled"} 1',
        'scheduler_cache_size{type="pods"} 1',
        'rest_client_requests_total{code="200",host="10.0.0.1:6443",method="GET"} 1',
        'version_info{binary="1.36.4",component="kube",emulation="1.36",min_compat="1.35"} 1',
    ):
        assert f"{line}\n" in text
    # what did not happen is there with a zero
    assert 'extension_point="Filter",plugin="NodePorts",profile="default-scheduler"} 0\n' in text
    assert "process_cpu_seconds_total " in text
    assert len(lines) == 1
    assert '"Successfully bound pod to node" pod="default/p"' in lines[0]


def test_a_tenth_of_the_cycles_is_sampled() -> None:
    observers = instruments().observers
    sampled = sum(observers.sampled() for _ in range(5000))
    assert 300 < sampled < 800


def test_who_leads_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    lines: list[str] = []
    watched = instruments(lines)
    told: list[Any] = []
    election = ObservedElection("kube-scheduler", watched.log, watched.leader, lambda: told.append("flushed"))
    monkeypatch.setattr(election, "_leave", told.append)

    def status() -> str:
        shown = 'leader_election_master_status{name="kube-scheduler"} '
        return next(line for line in watched.registry.text().splitlines() if line.startswith(shown)).removeprefix(shown)

    assert status() == "0"
    election.became_leader()
    assert status() == "1"
    election.slow_path()
    assert 'leader_election_slowpath_total{name="kube-scheduler"} 1\n' in watched.registry.text()
    election.lost("renewal took too long")
    assert status() == "0"
    # the log is written before the process ends
    assert told == ["flushed", 1]
    assert '"Leaderelection lost: renewal took too long"' in lines[0]


def test_a_dump_tells_what_the_scheduler_believes_and_what_is_wrong_with_it() -> None:
    lines: list[str] = []
    log = a_log(LogOptions(verbosity=3), lines.append, lines.append)

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="4", memory="8Gi"))
        world.put(a_pod("p", uid="uid-p", cpu="1", memory="1Gi"))
        world.put(a_pod("big", uid="uid-big", cpu="40"))
        await asyncio.sleep(1)
        dump(scheduler, world.objects.values(), log)
        # one object that the scheduler was never told of
        dump(scheduler, [*world.objects.values(), a_node("n2", cpu="1")], log)

    live(story)
    text = "".join(lines)
    resources = "&{MilliCPU:%d Memory:%d EphemeralStorage:0 AllowedPodNumber:%d ScalarResources:map[]}"
    assert (
        '"Dump of cached NodeInfo" nodes=<\n'
        "\tNode name: n1\n"
        "\tDeleted: false\n"
        f"\tRequested Resources: {resources % (1000, 2**30, 0)}\n"
        f"\tAllocatable Resources:{resources % (4000, 2**33, 110)}\n"
        "\tScheduled Pods(number: 1):\n"
        "\tname: p, namespace: default, uid: uid-p, phase: , nominated node: \n"
        " >\n"
    ) in text
    assert (
        '"Dump of scheduling queue" summary="activeQ:0; backoffQ:0; unschedulablePods:1" pods=<\n'
        "\tname: big, namespace: default, uid: uid-big, phase: , nominated node: \n"
        " >\n"
    ) in text
    assert text.count('"Cache comparer started"') == 2
    mismatches = [line for line in lines if "Cache mismatch" in line]
    assert mismatches
    assert all("n2" in line or "node count" in line for line in mismatches)
