"""The scheduling loop for tests of plugins: plugins, arguments, time, faults, and what it tells."""

import logging
from datetime import timedelta
from typing import Any

import pytest
from msgspec.structs import replace

from kubesched import (
    Background,
    Code,
    CycleState,
    HttpClient,
    NodeRow,
    Permission,
    PermitPlugin,
    PluginError,
    PodInfo,
    PreBindPlugin,
    QueueSortPlugin,
    Status,
    Waits,
    filter_plugin,
    score_plugin,
    unschedulable,
)
from kubesched.common.virtual_time import BEGINNING
from kubesched.core.framework.values.effects import Bind, Patch
from kubesched.testing import FakeHttp, SchedulerFactory, VirtualScheduler, a_node, a_pod


@filter_plugin("QuietNodes")
def quiet_nodes(pod: PodInfo, node: NodeRow) -> Status | None:
    return unschedulable("node(s) nearly full") if node.free.milli_cpu < 100 else None


class Patient(PermitPlugin):
    """Lets pods wait."""

    name = "Patient"

    def __init__(self, args: dict[str, Any]) -> None:
        self.seconds = args.get("seconds", 10)

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        return Permission(Status(Code.WAIT), self.seconds)


class LastFirst(QueueSortPlugin):
    """The pod with the last name comes first."""

    name = "LastFirst"

    def sort_key(self, pod: PodInfo, timestamp: float) -> tuple[float, ...]:
        return (-ord(pod.name[0]),)


class Dated(PreBindPlugin):
    """Notes the date of each binding."""

    name = "Dated"

    def __init__(self, waits: Waits) -> None:
        self.waits = waits
        self.dates: list[Any] = []

    async def pre_bind(self, cycle: CycleState, pod: PodInfo, node_name: str) -> None:
        self.dates.append(self.waits.date())


def test_a_pod_is_placed_by_a_plugin_and_a_rejected_one_says_why(scheduler: SchedulerFactory) -> None:
    world = scheduler(quiet_nodes)
    world.put(a_node("full", cpu="50m"), a_pod("web"))
    world.run(seconds=5)
    assert world.node_of("web") == ""
    assert "1 node(s) nearly full" in world.message_of("web")
    assert {event.reason for event in world.events_of("web")} == {"FailedScheduling"}
    world.put(a_node("quiet", cpu="4"))
    world.run(seconds=30)
    assert world.node_of("web") == "quiet"
    assert (world.message_of("web"), world.bound_pods()) == ("", ["web"])
    world.assert_settled()


def test_arguments_reach_the_plugin_and_time_is_virtual(scheduler: SchedulerFactory) -> None:
    world = scheduler(Patient, args={"Patient": {"seconds": 100}})
    world.put(a_node("n"), a_pod("p"))
    world.run(seconds=99)
    assert not world.events_of("p"), "it waits in Permit"
    world.run(seconds=2)
    assert "timeout" in world.events_of("p")[0].message
    assert world.seconds == pytest.approx(101)


def test_a_configuration_says_itself_what_is_enabled(scheduler: SchedulerFactory) -> None:
    config = "apiVersion: kubescheduler.config.k8s.io/v1\nkind: KubeSchedulerConfiguration\n"
    world = scheduler(quiet_nodes, config=config)
    world.put(a_node("full", cpu="50m"), a_pod("web"))
    world.run(5)
    assert world.node_of("web") == "full"


def test_a_plugin_that_sorts_replaces_the_one_that_does(scheduler: SchedulerFactory) -> None:
    world = scheduler(LastFirst)
    world.put(a_pod("a"), a_pod("c"), a_pod("b"))
    world.run(1)
    world.put(a_node("n"))
    world.run(30)
    assert world.bound == ["c", "b", "a"]


def test_the_date_that_plugins_see_is_the_virtual_one(scheduler: SchedulerFactory) -> None:
    world = scheduler(Dated)
    world.run(60)
    world.put(a_node("n"), a_pod("p"))
    world.run(1)
    plugin: Any = world.plugin("Dated")
    assert BEGINNING + timedelta(seconds=60) <= plugin.dates[0] <= world.date


def test_what_the_api_refuses_is_tried_again(scheduler: SchedulerFactory) -> None:
    world = scheduler()
    world.refuse = lambda effect: "the API server is busy" if isinstance(effect, Bind) and world.seconds < 5 else ""
    world.put(a_node("n"), a_pod("p"))
    world.run(3)
    assert world.node_of("p") == ""
    world.run(30)
    assert world.node_of("p") == "n"


def test_pods_terminate_for_a_while_if_asked_to(scheduler: SchedulerFactory) -> None:
    world = scheduler()
    world.grace_seconds = 20
    world.put(a_node("n", cpu="1"), a_pod("low", cpu="1"))
    world.run(5)
    world.put(a_pod("high", cpu="1", priority=10))
    world.run(10)
    assert (world.evicted, world.node_of("high"), world.node_of("low")) == (["low"], "", "n")
    world.run(30)
    assert (world.node_of("high"), world.pod("low")) == ("n", None)


def test_a_pod_stays_until_its_grace_period_is_over_and_its_last_finalizer_is_removed(
    scheduler: SchedulerFactory,
) -> None:
    world = scheduler()
    world.grace_seconds = 20
    pod = a_pod("p", node="n")
    world.put(a_node("n"), replace(pod, metadata=replace(pod.metadata, finalizers=("f",))))
    world.call(world.delete, "Pod", "default/p")
    world.run(30)
    found = world.pod("p")
    assert found is not None
    assert found.terminating
    body = {"metadata": {"uid": pod.uid, "$deleteFromPrimitiveList/finalizers": ["f"]}}
    world.wait_for(world.perform(Patch("Pod", "default", "p", body)))
    assert world.pod("p") is None


def test_a_hook_that_raises_is_in_the_log_with_its_traceback(
    scheduler: SchedulerFactory, caplog: pytest.LogCaptureFixture
) -> None:
    @score_plugin("Broken")
    def broken(pod: PodInfo, node: NodeRow) -> int:
        raise ValueError("no such thing")

    world = scheduler(broken)
    with caplog.at_level(logging.ERROR, "kubesched.testing"):
        world.put(a_node("n"), a_node("m"), a_pod("p"))
        world.run(1)
    assert "plugin Broken failed in score" in caplog.text
    assert "no such thing" in caplog.text
    assert "Broken" in world.events_of("p")[0].message


def test_a_plugin_that_cannot_start_is_an_error_at_once(scheduler: SchedulerFactory) -> None:
    class Wrong(PermitPlugin):
        name = "Wrong"

        def __init__(self, unknown_service: Any) -> None: ...

        def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
            raise AssertionError

    with pytest.raises(PluginError, match="unknown_service"):
        scheduler(Wrong)


def test_look_ups_over_http_are_answered_by_the_test(scheduler: SchedulerFactory) -> None:
    class Outside(PermitPlugin):
        name = "Outside"

        def __init__(self, background: Background, http: HttpClient) -> None:
            self.http = http
            self.open = False
            background.every(10, self.fetch, self.apply)

        async def fetch(self) -> Any:
            return (await self.http.get("https://example.com/open")).json()

        def apply(self, found: Any) -> None:
            self.open = found["open"]

        def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
            return Permission(Status(Code.SUCCESS) if self.open else unschedulable("closed"))

    http = FakeHttp({"https://example.com/open": {"open": False}})
    world = scheduler(Outside, http=http)
    world.put(a_node("n"), a_pod("p"))
    world.run(5)
    assert "closed" in world.message_of("p")
    http.answers = {"https://example.com/open": {"open": True}}
    world.run(10)
    world.put(a_node("another"))
    world.run(20)
    assert world.node_of("p")
    assert len(http.asked) == 4


def test_functions_for_threads_are_called_at_once(scheduler: SchedulerFactory) -> None:
    class Blocking(PermitPlugin):
        name = "Blocking"
        found = 0

        def __init__(self, background: Background) -> None:
            background.every(10, lambda: 1, self.apply)

        def apply(self, found: int) -> None:
            self.found += found

        def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
            return Permission(Status(Code.SUCCESS))

    world = scheduler(Blocking)
    world.run(25)
    plugin: Any = world.plugin("Blocking")
    assert plugin.found == 3


def test_what_waits_without_end_does_not_keep_a_test_from_ending() -> None:
    with VirtualScheduler(Patient, args={"Patient": {"seconds": 1e9}}) as world:
        world.put(a_node("n"), a_pod("p"))
        world.run(5)
    world.close()
    assert world.loop.is_closed()
