"""Metrics: exact counts and label values after small stories, by the reference's semantics."""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from tests.support.world import Story, World, live

from kubesched.config.types import Extender
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.building.registry import Registry
from kubesched.core.framework.observing.observer import Observer
from kubesched.core.framework.plugin import UNCACHED, FilterPlugin, Permission, PermitPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.effects import Bind, Delete
from kubesched.core.framework.values.events import Action, ClusterEvent, Hint, Registration, Resource
from kubesched.core.framework.values.extenders import (
    ExtenderArgs,
    ExtenderFilterArgs,
    ExtenderFilterResult,
    ExtenderPrioritizeResult,
    ExtenderResult,
)
from kubesched.core.framework.values.status import Code, Status, unschedulable
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.core.loop.gauges import read_gauges
from kubesched.core.loop.loop_events import Activate
from kubesched.core.loop.scheduler import Scheduler
from kubesched.serving.metrics.registry import MetricRegistry
from kubesched.serving.metrics.scheduler_metrics import SchedulerGauges, SchedulerMetrics
from kubesched.testing import a_node, a_pod

DEFAULT = "default-scheduler"


class Page:
    """The metrics page, read by name and labels."""

    def __init__(self) -> None:
        self.registry = MetricRegistry(others=None)
        self.metrics = SchedulerMetrics(self.registry)

    def show(self, scheduler: Scheduler) -> None:
        """Have the gauges of a scheduler on the page."""
        SchedulerGauges(self.registry, lambda: read_gauges(scheduler))

    def value(self, name: str, **labels: str) -> float:
        """Return a sample; -1 if it is not served."""
        wanted = ",".join(f'{label}="{value}"' for label, value in sorted(labels.items()))
        start = f"scheduler_{name}{{{wanted}}} " if wanted else f"scheduler_{name} "
        return next((float(line[len(start) :]) for line in self._lines() if line.startswith(start)), -1)

    def samples(self, name: str) -> dict[str, float]:
        """Return the samples of a metric that are not zero, by the values of their labels in the order of names."""
        found = {}
        for line in self._lines():
            if line.startswith(f"scheduler_{name}{{") and not line.endswith(" 0"):
                labels, _, value = line[len(name) + 11 :].rpartition("} ")
                found[" ".join(part.split('"')[1] for part in labels.split(","))] = float(value)
        return found

    def _lines(self) -> list[str]:
        return self.registry.text().splitlines()


def measured(story: Callable[[World, Scheduler, Page], Any], **options: Any) -> Page:
    """Play a story under the eyes of the metrics; return their page as it is in the end."""
    page = Page()

    async def watched(world: World, scheduler: Scheduler) -> None:
        page.show(scheduler)
        await story(world, scheduler, page)

    further: Sequence[Observer] = options.pop("observers", ())
    world = live(watched, observers=[page.metrics, *further], **options)
    assert not world.notes or further, world.notes
    return page


def with_plugins(*plugins: type) -> Registry:
    registry = Registry()
    for plugin in plugins:
        registry.register(plugin)
    return registry


def enabling(name: str) -> str:
    return f"""
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins: {{multiPoint: {{enabled: [{{name: {name}}}]}}}}
"""


# -- a pod's way


def test_a_pod_that_fits_is_counted_once_everywhere() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_node("n2", cpu="4"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(5)

    page = measured(story)
    assert page.samples("queue_incoming_pods_total") == {"UnschedulablePodAdd active": 1}
    assert page.samples("schedule_attempts_total") == {f"{DEFAULT} scheduled": 1}
    assert page.value("pod_scheduling_attempts_sum") == page.value("pod_scheduling_attempts_count") == 1
    assert page.samples("pod_scheduling_sli_duration_seconds_count") == {"1": 1}
    assert page.value("scheduling_algorithm_duration_seconds_count") == 1
    assert page.value("scheduling_attempt_duration_seconds_count", profile=DEFAULT, result="scheduled") == 1
    points = (
        "PreEnqueue",
        "PreFilter",
        "Filter",
        "PreScore",
        "Score",
        "Reserve",
        "Permit",
        "PreBind",
        "Bind",
        "PostBind",
    )
    assert page.samples("framework_extension_point_duration_seconds_count") == {
        **{f"{point} {DEFAULT} Success": 1 for point in points},
        f"PreBindPreFlight {DEFAULT} Skip": 1,
    }
    assert page.samples("event_handling_duration_seconds_count") == {
        "NodeAdd": 2,
        "UnschedulablePodAdd": 1,
        "AssignedPodAdd": 1,
        "UnschedulablePodDelete": 1,
    }
    assert page.samples("pending_pods") == {}
    assert page.samples("cache_size") == {"nodes": 2, "pods": 1}


def test_what_an_attempt_took_is_seen_in_the_buckets() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        world.effect_seconds = 0.03
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(5)

    page = measured(story)
    attempt = f'scheduler_scheduling_attempt_duration_seconds_bucket{{profile="{DEFAULT}",result="scheduled",le='
    buckets = [line for line in page.registry.text().splitlines() if line.startswith(attempt)]
    assert [line.rpartition(" ")[2] for line in buckets] == ["0"] * 5 + ["1"] * 11
    assert buckets[5] == f'{attempt}"0.032"}} 1'
    bind = {"extension_point": "Bind", "profile": DEFAULT, "status": "Success"}
    assert page.value("framework_extension_point_duration_seconds_sum", **bind) == pytest.approx(0.03)
    assert page.value("pod_scheduling_sli_duration_seconds_sum", attempts="1") == pytest.approx(0.03)


def test_gauges_show_what_is_under_way() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        world.effect_seconds = 10
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(5)
        assert page.samples("goroutines") == {"binding": 1}
        assert page.samples("cache_size") == {"nodes": 1, "pods": 1, "assumed_pods": 1}
        # permission was given, so nothing that happens matters to the pod any more
        assert page.samples("inflight_events") == {}
        await asyncio.sleep(20)

    page = measured(story)
    assert page.samples("goroutines") == {}
    assert page.value("goroutines", operation="binding") == 0
    assert page.value("cache_size", type="assumed_pods") == 0
    assert page.value("inflight_events", event="PodPopped") == 0


def test_a_pod_that_waits_for_a_node_and_gets_it() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        world.put(a_node("small", cpu="1"))
        world.put(a_pod("p", cpu="3"))
        await asyncio.sleep(0.5)
        assert page.samples("pending_pods") == {"unschedulable": 1}
        assert page.samples("unschedulable_pods") == {f"NodeResourcesFit {DEFAULT}": 1}
        world.put(a_node("large", cpu="4"))
        await asyncio.sleep(5)

    page = measured(story)
    assert page.samples("queue_incoming_pods_total") == {
        "UnschedulablePodAdd active": 1,
        "ScheduleAttemptFailure unschedulable": 1,
        "NodeAdd backoff": 1,
        # nobody else waited
        "PopFromBackoffQ active": 1,
    }
    assert page.samples("schedule_attempts_total") == {f"{DEFAULT} scheduled": 1, f"{DEFAULT} unschedulable": 1}
    assert page.samples("pod_scheduling_sli_duration_seconds_count") == {"2": 1}
    assert page.value("pod_scheduling_attempts_sum") == 2
    assert page.samples("queueing_hint_execution_duration_seconds_count") == {"NodeAdd Queue NodeResourcesFit": 1}
    assert page.value("unschedulable_pods", plugin="NodeResourcesFit", profile=DEFAULT) == 0
    assert page.value("preemption_attempts_total") == 1


def test_without_any_node_pods_back_off_as_after_an_error() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(1)
        assert page.samples("pending_pods") == {"backoff": 1}
        assert page.samples("unschedulable_pods") == {}
        await asyncio.sleep(1)
        world.put(a_node("n1", cpu="4"))
        await asyncio.sleep(10)

    page = measured(story)
    incoming = page.samples("queue_incoming_pods_total")
    assert incoming == {
        "UnschedulablePodAdd active": 1,
        "ScheduleAttemptFailure backoff": 2,
        "BackoffComplete active": 2,
    }
    assert page.samples("schedule_attempts_total") == {f"{DEFAULT} scheduled": 1, f"{DEFAULT} unschedulable": 2}


def test_gated_pods_enter_as_unschedulable_and_wait_as_gated() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("p", cpu="1", gates=["hold"]))
        await asyncio.sleep(1)
        assert page.samples("pending_pods") == {"gated": 1}
        assert page.value("pending_pods", queue="unschedulable") == 0
        assert page.samples("queue_incoming_pods_total") == {"UnschedulablePodAdd unschedulable": 1}
        assert page.samples("unschedulable_pods") == {f"SchedulingGates {DEFAULT}": 1}
        # an update that leaves the gate alone moves and counts nothing
        world.put(a_pod("p", cpu="1", gates=["hold"], labels={"a": "b"}))
        await asyncio.sleep(1)
        assert page.samples("queue_incoming_pods_total") == {"UnschedulablePodAdd unschedulable": 1}
        world.put(a_pod("p", cpu="1", labels={"a": "b"}))
        await asyncio.sleep(3)

    page = measured(story)
    assert page.samples("queue_incoming_pods_total") == {
        "UnschedulablePodAdd unschedulable": 1,
        "UnschedulablePodUpdatePodSchedulingGatesEliminated active": 1,
    }
    assert page.samples("pending_pods") == {}
    assert page.samples("unschedulable_pods") == {}
    held = page.value(
        "framework_extension_point_duration_seconds_count",
        extension_point="PreEnqueue",
        profile=DEFAULT,
        status="UnschedulableAndUnresolvable",
    )
    assert held == 1


def test_a_gated_pod_that_is_looked_at_in_vain_enters_only_if_it_had_left() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        world.put(a_node("n1", cpu="4"))
        held = a_pod("p", cpu="1", gates=["hold"])
        world.put(held)
        await asyncio.sleep(1)
        # it stays where it is
        scheduler.inbox.post(Activate([held.uid]))
        await asyncio.sleep(1)
        assert page.samples("queue_incoming_pods_total") == {"UnschedulablePodAdd unschedulable": 1}
        # the flush takes it out and puts it back
        await asyncio.sleep(330)

    page = measured(story)
    assert page.samples("queue_incoming_pods_total") == {
        "UnschedulablePodAdd unschedulable": 1,
        "UnschedulableTimeout unschedulable": 1,
    }
    assert page.samples("pending_pods") == {"gated": 1}


def test_a_binding_that_is_refused_is_an_error_and_is_given_back() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        refusals = iter(["the webhook is down"])
        world.refuse = lambda effect: next(refusals, "") if isinstance(effect, Bind) else ""
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(10)

    page = measured(story)
    assert page.samples("schedule_attempts_total") == {f"{DEFAULT} scheduled": 1, f"{DEFAULT} error": 1}
    points = page.samples("framework_extension_point_duration_seconds_count")
    assert points[f"Bind {DEFAULT} Error"] == points[f"Bind {DEFAULT} Success"] == 1
    assert points[f"Unreserve {DEFAULT} Success"] == 1
    assert page.samples("queue_incoming_pods_total")["ScheduleAttemptFailure backoff"] == 1


def test_a_binding_whose_answer_is_lost_counts_as_scheduled() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        world.lose_answer = lambda effect: isinstance(effect, Bind)
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(10)

    assert measured(story).samples("schedule_attempts_total") == {f"{DEFAULT} scheduled": 1}


def test_a_pod_deleted_while_it_is_bound_counts_as_failed() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        world.effect_seconds = 2
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(1)
        world.delete("Pod", "default/p")
        await asyncio.sleep(10)

    assert measured(story).samples("schedule_attempts_total") == {f"{DEFAULT} error": 1}


def test_attempts_from_fifteen_on_are_counted_together() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        tries = iter(["busy"] * 16)
        world.refuse = lambda effect: next(tries, "") if isinstance(effect, Bind) else ""
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(300)

    page = measured(story)
    assert page.samples("pod_scheduling_sli_duration_seconds_count") == {"15+": 1}
    assert page.value("pod_scheduling_attempts_sum") == 17


# -- permission


class Asks(PermitPlugin):
    """Makes pods wait: for a second those labelled `quick`, for ever the others."""

    name = "Asks"

    def __init__(self, waiting_pods: Any) -> None:
        self.waiting = waiting_pods

    def events_to_register(self) -> list[Registration]:
        return []

    def permit(self, cycle: CycleState, pod: PodInfo, node_name: str) -> Permission:
        if "quick" in pod.labels:
            wait = lambda: self.waiting.get(pod.uid).allow(self.name)  # noqa: E731
            asyncio.get_running_loop().call_later(1.0, wait)
        return Permission(Status(Code.WAIT), timeout_seconds=3)


def test_waits_for_permission_are_timed_by_what_they_came_to() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("quick", cpu="1", labels={"quick": ""}))
        world.put(a_pod("slow", cpu="1"))
        await asyncio.sleep(1.5)
        # the other one waits still, and events are kept for it
        assert page.samples("inflight_events") == {"PodPopped": 1, "AssignedPodAdd": 1}
        await asyncio.sleep(8)

    page = measured(story, config=enabling("Asks"), registry=with_plugins(Asks))
    assert page.samples("permit_wait_duration_seconds_count") == {"Success": 1, "Unschedulable": 1}
    assert page.value("permit_wait_duration_seconds_sum", result="Unschedulable") == pytest.approx(3, abs=0.02)
    points = page.samples("framework_extension_point_duration_seconds_count")
    assert points[f"Permit {DEFAULT} Wait"] == 2
    assert page.samples("inflight_events") == {}


# -- preemption


def crowded(world: World) -> None:
    world.put(a_node("n1", cpu="2"))
    for number in range(2):
        world.put(a_pod(f"low-{number}", cpu="1", node="n1"))


def test_a_preemption_is_counted_with_its_victims() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        crowded(world)
        world.put(a_pod("high", cpu="2", priority=10))
        await asyncio.sleep(10)
        assert world.node_of("high") == "n1"

    page = measured(story)
    assert page.value("preemption_attempts_total") == 1
    assert (page.value("preemption_victims_count"), page.value("preemption_victims_sum")) == (1, 2)
    assert page.samples("preemption_goroutines_execution_total") == {"success": 1}
    # two deletions, one after the other, of which each is a patch and a deletion, and an event
    assert page.value("preemption_goroutines_duration_seconds_sum", result="success") == pytest.approx(0.06)
    points = page.samples("framework_extension_point_duration_seconds_count")
    assert points[f"PostFilter {DEFAULT} Success"] == 1


def test_a_preemption_that_fails_says_so_and_the_preemptor_is_tried_again() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        crowded(world)
        refusals = iter(["busy"])
        world.refuse = lambda effect: next(refusals, "") if isinstance(effect, Delete) else ""
        world.put(a_pod("high", cpu="2", priority=10))
        await asyncio.sleep(20)
        assert world.node_of("high") == "n1"

    page = measured(story)
    assert page.samples("preemption_goroutines_execution_total") == {"error": 1, "success": 1}
    assert page.samples("queue_incoming_pods_total")["ForceActivate active"] == 1
    assert page.value("preemption_attempts_total") == 2


# -- flush


class Moody(FilterPlugin):
    """Rejects every node until its mood changes, of which nobody is told."""

    name = "Moody"
    good = False

    def key(self, pod: PodInfo) -> Any:
        return UNCACHED

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        return None if type(self).good else unschedulable("not in the mood")

    def events_to_register(self) -> list[Registration]:
        return []


def test_a_pod_that_only_the_flush_helped_is_counted() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        Moody.good = False
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(10)
        Moody.good = True
        await asyncio.sleep(280)
        assert page.value("pod_scheduled_after_flush_total") == 0
        await asyncio.sleep(60)

    page = measured(story, config=enabling("Moody"), registry=with_plugins(Moody))
    assert page.value("pod_scheduled_after_flush_total") == 1
    assert page.samples("queue_incoming_pods_total")["UnschedulableTimeout active"] == 1


def test_a_flush_that_did_not_help_a_gated_pod_is_not_remembered() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("p", cpu="1", gates=["hold"]))
        await asyncio.sleep(330)
        assert page.samples("queue_incoming_pods_total")["UnschedulableTimeout unschedulable"] == 1
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(5)

    page = measured(story)
    assert page.samples("schedule_attempts_total") == {f"{DEFAULT} scheduled": 1}
    assert page.value("pod_scheduled_after_flush_total") == 0


# -- hints


class Torn(FilterPlugin):
    """Rejects every node, and cannot say what would help."""

    name = "Torn"

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        return unschedulable("never") if "torn" in pod.labels else None

    def key(self, pod: PodInfo) -> Any:
        return "torn" in pod.labels

    def events_to_register(self) -> list[Registration]:
        def hint(pod: PodInfo, old: Any, new: Any) -> Hint:
            if new is not None and new.name == "n2":
                return Hint.QUEUE_SKIP
            raise RuntimeError("cannot tell")

        return [Registration(ClusterEvent(Resource.NODE, Action.ADD), hint)]


def test_hints_are_counted_by_what_they_said() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        world.put(a_node("n1", cpu="4"))
        # two of a kind: the hint is asked once
        world.put(a_pod("p", cpu="1", labels={"torn": ""}))
        world.put(a_pod("q", cpu="1", labels={"torn": ""}))
        await asyncio.sleep(1)
        world.put(a_node("n2", cpu="4"))
        await asyncio.sleep(1)
        world.put(a_node("n3", cpu="4"))
        await asyncio.sleep(1)

    page = measured(story, config=enabling("Torn"), registry=with_plugins(Torn))
    assert page.samples("queueing_hint_execution_duration_seconds_count") == {
        "NodeAdd QueueSkip Torn": 1,
        "NodeAdd Error Torn": 1,
    }


# -- extenders


class SlowExtender:
    """Answers everything with yes, after two seconds."""

    async def ask(self, question: ExtenderArgs) -> ExtenderResult:
        await asyncio.sleep(2)
        if isinstance(question, ExtenderFilterArgs):
            return ExtenderFilterResult(node_names=question.node_names)
        return ExtenderPrioritizeResult(scores={})

    async def bind(self, extender: Extender, bind: Bind) -> str:
        return ""


def test_an_extender_that_is_asked_for_priorities_is_an_operation() -> None:
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders: [{urlPrefix: "http://127.0.0.1:1", filterVerb: filter, prioritizeVerb: prioritize, weight: 1}]
"""

    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_node("n2", cpu="4"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(1)
        assert page.samples("goroutines") == {}
        await asyncio.sleep(2)
        assert page.samples("goroutines") == {"prioritizing_extender": 1}
        await asyncio.sleep(5)

    page = measured(story, config=config, extender_client=lambda world: SlowExtender())
    assert page.samples("goroutines") == {}
    # what an extender takes is part of the attempt
    assert page.value("scheduling_algorithm_duration_seconds_sum") == pytest.approx(4)


# -- fault 19: counters that leak


def held_back(world: World) -> None:
    world.put(a_pod("p", cpu="1", gates=["hold"]))


def nowhere_to_go(world: World) -> None:
    world.put(a_node("n1", cpu="1"))
    world.put(a_pod("p", cpu="9"))


def backing_off(world: World) -> None:
    # rejected once, and something happened since
    nowhere_to_go(world)
    asyncio.get_running_loop().call_later(0.2, lambda: world.put(a_node("n2", cpu="2")))


def without_nodes(world: World) -> None:
    world.put(a_pod("p", cpu="1"))


def being_bound(world: World) -> None:
    world.effect_seconds = 5
    world.put(a_node("n1", cpu="1"))
    world.put(a_pod("p", cpu="1"))


def gate_by_gate(world: World) -> None:
    # its gates are changed again and again (issue 135368)
    loop = asyncio.get_running_loop()
    for number in range(6):
        gates = ["a", "b"] if number % 2 else ["a"]
        loop.call_later(number / 10, world.put, a_pod("p", cpu="1", gates=gates))


LEAKS: dict[str, Callable[[World], None]] = {
    "while it is gated": held_back,
    "while it is gated, after updates": gate_by_gate,
    "while it is unschedulable": nowhere_to_go,
    "while it backs off after a rejection": backing_off,
    "while it backs off after an error": without_nodes,
    "while it is bound": being_bound,
}


@pytest.mark.parametrize("when", LEAKS)
def test_fault_19_nothing_is_counted_of_a_pod_that_was_deleted(when: str) -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        LEAKS[when](world)
        await asyncio.sleep(1)
        assert sum(page.samples("pending_pods").values()) + page.samples("goroutines").get("binding", 0) == 1
        world.delete("Pod", "default/p")
        await asyncio.sleep(20)

    page = measured(story)
    assert page.samples("pending_pods") == {}
    assert page.samples("unschedulable_pods") == {}
    assert page.samples("inflight_events") == {}
    assert page.samples("goroutines") == {}
    assert "pods" not in page.samples("cache_size")


def test_fault_19_gates_that_open_and_close_leave_no_trace() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        for number in range(20):
            world.put(a_pod(f"p{number}", cpu="1", gates=["hold"]))
        await asyncio.sleep(1)
        assert page.samples("pending_pods") == {"gated": 20}
        # half of them are let go before there is room, then there is
        for number in range(10):
            world.put(a_pod(f"p{number}", cpu="1"))
        await asyncio.sleep(1)
        assert sum(page.samples("pending_pods").values()) == 20
        world.put(a_node("n1", cpu="10"))
        await asyncio.sleep(20)
        assert page.samples("pending_pods") == {"gated": 10}
        for number in range(10, 20):
            world.delete("Pod", f"default/p{number}")
        await asyncio.sleep(1)

    page = measured(story)
    assert page.samples("pending_pods") == {}
    assert page.samples("unschedulable_pods") == {}


@pytest.mark.parametrize("seed", range(3))
def test_fault_19_gauges_agree_with_the_world_after_any_faults(seed: int) -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        dice = world.random
        world.refuse = lambda effect: "busy" if dice.random() < 0.2 else ""
        world.lose_answer = lambda effect: dice.random() < 0.1
        world.report_seconds = lambda: dice.random()
        for number in range(3):
            world.put(a_node(f"n{number}", cpu="4"))
        for number in range(60):
            world.put(a_pod(f"p{number}", cpu=str(dice.randint(1, 5)), priority=dice.randint(0, 2) * 10))
            if dice.random() < 0.4:
                world.delete("Pod", f"default/p{dice.randint(0, number)}")
            await asyncio.sleep(dice.random())
        world.refuse, world.lose_answer = lambda effect: "", lambda effect: False
        await asyncio.sleep(120)
        waiting = [pod for pod in world.pods() if not pod.spec.node_name]
        assert sum(page.samples("pending_pods").values()) == len(waiting)
        assert page.samples("cache_size").get("pods", 0) == len(world.pods()) - len(waiting)
        for pod in world.pods():
            world.delete("Pod", pod.full_name)
        await asyncio.sleep(10)

    page = measured_in_spite_of_notes(story, seed=seed)
    for gauge in ("pending_pods", "unschedulable_pods", "inflight_events", "goroutines"):
        assert page.samples(gauge) == {}, gauge
    # every attempt came to something
    attempts = sum(page.samples("schedule_attempts_total").values())
    assert attempts == page.value("scheduling_algorithm_duration_seconds_count")


class Quiet(Observer):
    """Hears nothing; its presence lets a story have notes."""


def measured_in_spite_of_notes(story: Callable[[World, Scheduler, Page], Any], **options: Any) -> Page:
    return measured(story, observers=[Quiet()], **options)


# -- observers that fail


class Broken(Observer):
    """Raises at every pod."""

    def attempt_began(self, pod: PodInfo) -> None:
        raise RuntimeError("broken")

    def pod_queued(self, pod: PodInfo, place: str, event: str, rejected_by: Iterable[str]) -> None:
        raise RuntimeError("broken")


def test_an_observer_that_raises_costs_no_pod_and_no_count() -> None:
    async def story(world: World, scheduler: Scheduler, page: Page) -> None:
        world.put(a_node("n1", cpu="4"))
        for number in range(4):
            world.put(a_pod(f"p{number}", cpu="1"))
        await asyncio.sleep(5)
        assert world.notes == ["observer Broken is dropped: its pod_queued failed with RuntimeError: broken"]

    page = measured(story, observers=[Broken()])
    assert page.samples("schedule_attempts_total") == {f"{DEFAULT} scheduled": 4}


def test_without_observers_nothing_is_told_and_nothing_breaks() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("p", cpu="1"))
        await asyncio.sleep(5)

    plain: Story = story
    assert live(plain).node_of("p") == "n1"
