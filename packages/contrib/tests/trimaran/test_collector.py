"""The load of nodes in virtual time: looked up on an interval, dropped when it is stale, and told so."""

import asyncio
import logging
from typing import Any

import msgspec
import pytest
from packages.contrib.tests.looking_up import built, run, scores
from packages.contrib.tests.trimaran.loads import WATCHER, a_metric, watched
from prometheus_client import REGISTRY

from kubesched import HttpAnswer, HttpError
from kubesched.testing import FakeHttp, SchedulerFactory, VirtualScheduler, a_cluster, a_node, a_pod
from kubesched_contrib.trimaran import TargetLoadPacking
from kubesched_contrib.trimaran.sources import METRICS_API
from kubesched_contrib.trimaran.target_load_packing import TargetLoadPackingArgs

ARGS = {"TargetLoadPacking": {"watcherAddress": WATCHER, "targetUtilization": 50}}
URL = f"{WATCHER}/watcher"


def metric(name: str) -> Any:
    return REGISTRY.get_sample_value(f"kubesched_plugin_target_load_packing_{name}")


def busy(name: str, end: float) -> dict[str, Any]:
    """Return metrics in which one node is at the target, and others far beyond."""
    return watched(end, **{node: [a_metric("CPU", 50 if node == name else 99)] for node in ("n1", "n2", "n3")})


def a_world(scheduler: SchedulerFactory, http: FakeHttp) -> VirtualScheduler:
    world = scheduler(TargetLoadPacking, args=ARGS, http=http)
    world.put(*(a_node(name, cpu="1000") for name in ("n1", "n2", "n3")))
    return world


def test_pods_go_where_the_load_is_until_it_is_stale(
    scheduler: SchedulerFactory, caplog: pytest.LogCaptureFixture
) -> None:
    answers: dict[str, Any] = {URL: busy("n2", 1000)}
    with caplog.at_level(logging.INFO, "kubesched.plugins"):
        world = a_world(scheduler, FakeHttp(lambda url: answers[url]))
        world.put(a_pod("first", cpu="1m"))
        world.run(1)
        assert (world.node_of("first"), metric("load_stale"), metric("load_nodes")) == ("n2", 0, 3)
        answers[URL] = busy("n3", 1030)
        world.run(30)
        world.put(a_pod("second", cpu="1m"))
        world.run(1)
        assert (world.node_of("second"), metric("load_timestamp_seconds")) == ("n3", 1030)
        answers[URL] = HttpError("load-watcher is down")
        world.run(250)
        assert metric("load_stale") == 0, "what is known stays for a while"
        world.run(60)
        assert (metric("load_stale"), metric("load_nodes")) == (1, 0)
        world.put(*(a_pod(f"blind{number}", cpu="1m") for number in range(12)))
        world.run(1)
        assert {world.node_of(f"blind{number}") for number in range(12)} == {"n1", "n2", "n3"}
        answers[URL] = busy("n1", 1400)
        world.run(30)
        world.put(a_pod("last", cpu="1m"))
        world.run(1)
        assert (world.node_of("last"), metric("load_stale")) == ("n1", 0)
    told = [record.message for record in caplog.records if record.message != "Lookup failed"]
    assert told == [
        "Load metrics are older than 300 seconds and dropped: all nodes score 0",
        "Load metrics are available again",
    ]


def test_a_load_watcher_that_says_the_same_all_the_time_is_stale(scheduler: SchedulerFactory) -> None:
    world = a_world(scheduler, FakeHttp({URL: busy("n2", 1000)}))
    world.run(1)
    assert metric("load_stale") == 0
    world.run(330)
    assert metric("load_stale") == 1


def test_nothing_is_blocked_by_a_source_that_is_down(scheduler: SchedulerFactory) -> None:
    world = a_world(scheduler, FakeHttp({URL: HttpError("load-watcher is down")}))
    world.put(a_pod("p", cpu="1m"))
    world.run(1)
    assert world.node_of("p")
    assert metric("load_stale") == 1


class SilentHttp(FakeHttp):
    """Never answers."""

    async def get(self, url: str, **options: Any) -> HttpAnswer:
        await asyncio.get_running_loop().create_future()
        raise AssertionError("nobody answers")


def test_pods_wait_five_seconds_for_a_source_that_never_answers(
    scheduler: SchedulerFactory, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING, "kubesched.plugins"):
        world = a_world(scheduler, SilentHttp())
        world.put(a_pod("first", cpu="1m"))
        world.run(4.9)
        assert world.node_of("first") == ""
        world.run(0.3)
        assert world.node_of("first")
        world.run(60)
    assert [vars(record)["err"] for record in caplog.records] == ["TimeoutError: no answer within 60 seconds"]


def test_amounts_become_percentages_of_the_capacity() -> None:
    cluster = a_cluster(a_node("n1", cpu="4"), a_node("n2", cpu="2"))
    usage = {name: {"cpu": "1"} for name in ("n1", "n2", "late", "gone")}
    stamp = "2026-01-01T00:00:00Z"
    items = [{"metadata": {"name": name}, "timestamp": stamp, "usage": each} for name, each in usage.items()]
    http = FakeHttp({METRICS_API: {"items": items}})
    plugin, background = built(TargetLoadPacking, TargetLoadPackingArgs(target_utilization=50), cluster, http)
    run(background.look_up())
    pod = a_pod("p", cpu="0")
    assert scores(plugin, cluster, pod) == {"n1": 75, "n2": 100}
    cluster.add(a_node("late", cpu="1"))
    assert scores(plugin, cluster, pod) == {"n1": 75, "n2": 100, "late": 0}, "a node that came after the metrics"
    cluster.add(a_node("n1", cpu="8"))
    assert scores(plugin, cluster, pod)["n1"] == 63, "12.5 percent"


@pytest.mark.parametrize("instance", ["10.0.0.7", "10.0.0.7:9100", "host-7:9100"])
def test_instances_may_be_named_by_an_address(instance: str) -> None:
    addresses = {"InternalIP": "10.0.0.7", "Hostname": "host-7"}
    cluster = a_cluster(a_node("n1", cpu="4"), with_addresses(a_node("n2", cpu="4"), addresses))
    answer = watched(1000, **{instance: [a_metric("CPU", 50)], "n1": [a_metric("CPU", 25)], "else": []})
    args = TargetLoadPackingArgs(watcher_address=WATCHER, target_utilization=50)
    plugin, background = built(TargetLoadPacking, args, cluster, FakeHttp({f"{WATCHER}/watcher": answer}))
    run(background.look_up())
    assert scores(plugin, cluster, a_pod("p", cpu="0")) == {"n1": 75, "n2": 100}


def with_addresses(node: Any, addresses: dict[str, str]) -> Any:
    listed = [{"type": kind, "address": address} for kind, address in addresses.items()]
    status = {**msgspec.to_builtins(node.status), "addresses": listed}
    return msgspec.structs.replace(node, status=msgspec.convert(status, type(node.status)))
