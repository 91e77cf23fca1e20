"""Faults that schedulers have had in preemption: promises, victims, budgets. Names carry the fault's number."""

import asyncio
import gc
from collections import deque
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
import pytest
from tests.support.staging import with_plugins
from tests.support.world import World, live

from kubesched.api.meta import Condition
from kubesched.api.pods import Pod, PodStatus
from kubesched.config.types import Extender
from kubesched.core.cluster.pod_info import PodInfo
from kubesched.core.framework.plugin import FilterPlugin, Plugin, PreFilterPlugin
from kubesched.core.framework.values.cycle import CycleState
from kubesched.core.framework.values.effects import Bind, Delete, Effect, Patch
from kubesched.core.framework.values.extenders import (
    ExtenderArgs,
    ExtenderPreemptionArgs,
    ExtenderPreemptionResult,
    ExtenderResult,
)
from kubesched.core.framework.values.status import Status, unresolvable, unschedulable
from kubesched.core.framework.views.cluster_view import ClusterView
from kubesched.core.framework.views.nodes import NodeRow
from kubesched.core.loop.scheduler import Scheduler
from kubesched.testing import a_budget, a_node, a_pod, an_affinity
from kubesched.testing.builders import DELETED_AT

# -- gated pods and their promises


@pytest.mark.parametrize("how", ["as it is added", "by an update"])
def test_fault_18_a_gated_pod_keeps_the_room_that_was_promised_to_it(how: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        if how == "by an update":
            world.put(a_pod("promised", cpu="1", priority=5, gates=["hold"]))
            await asyncio.sleep(1)
        world.put(a_pod("promised", cpu="1", priority=5, gates=["hold"], nominated="n1"))
        world.put(a_pod("p", cpu="1", priority=5))
        await asyncio.sleep(30)
        assert world.node_of("p") == ""
        world.put(a_pod("promised", cpu="1", priority=5, nominated="n1"))
        await asyncio.sleep(5)

    assert live(story).node_of("promised") == "n1"


def test_fault_18_a_gated_pod_that_is_deleted_takes_its_promise_with_it() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("promised", cpu="1", priority=5, gates=["hold"], nominated="n1"))
        world.put(a_pod("p", cpu="1", priority=5))
        await asyncio.sleep(5)
        world.delete("Pod", "default/promised")
        await asyncio.sleep(20)

    assert live(story).node_of("p") == "n1"


# -- what is left of preemptions


@pytest.mark.slow
def test_fault_33_nothing_is_left_of_preemptions_that_are_over() -> None:
    kept: list[int] = []

    async def story(world: World, scheduler: Scheduler) -> None:
        world.refuse = lambda effect: "busy" if isinstance(effect, Delete) and world.random.random() < 0.2 else ""
        for number in range(2):
            world.put(a_node(f"n{number}", cpu="2"))
        for turn in range(24):
            for number in range(4):
                world.put(a_pod(f"low-{turn}-{number}", cpu="1"))
            await asyncio.sleep(2)
            for number in range(2):
                world.put(a_pod(f"high-{turn}-{number}", cpu="2", priority=10))
            # sometimes the preemptors are deleted while their victims go
            await asyncio.sleep((turn % 4) / 50)
            for pod in world.pods():
                world.delete("Pod", pod.full_name)
            await asyncio.sleep(20)
            gc.collect()
            kept.append(sum(isinstance(obj, PodInfo) for obj in gc.get_objects()))
        assert len(world.evicted) > 24
        preemptions = scheduler.engine.services.preemptions
        holders = preemptions, scheduler.cluster.nominations, scheduler.waiting_pods, scheduler.pods_in_pre_bind
        assert not left_over(scheduler.evictions, *holders)
        assert not scheduler.queue.pods()
        assert not any(scheduler.cluster.table.slots.pods)

    live(story)
    assert max(kept[12:]) <= max(kept[:12])


def left_over(*holders: Any) -> dict[str, Any]:
    """Return the collections that are not empty."""
    return {
        f"{type(holder).__name__}.{name}": value
        for holder in holders
        for name, value in vars(holder).items()
        if isinstance(value, dict | set | list | deque) and value
    }


# -- updates while victims go


@pytest.mark.parametrize(
    ("before", "after", "other"),
    [
        pytest.param({"cpu": "4"}, {"cpu": "1"}, {"cpu": "3"}, id="it asks for less"),
        pytest.param(
            {"cpu": "1", "labels": {"app": "noisy"}},
            {"cpu": "1", "labels": {"app": "quiet"}},
            {"cpu": "3", "affinity": an_affinity(apart="app=noisy@hostname")},
            id="it has other labels",
        ),
    ],
)
def test_fault_34_a_promised_pod_counts_as_it_is_now(
    before: dict[str, Any], after: dict[str, Any], other: dict[str, Any]
) -> None:
    promise: dict[str, Any] = {"priority": 5, "gates": ["hold"], "nominated": "n1"}

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_pod("promised", **before, **promise))
        world.put(a_pod("early", priority=5, **other))
        await asyncio.sleep(5)
        assert world.node_of("early") == ""
        world.delete("Pod", "default/early")
        world.put(a_pod("promised", **after, **promise))
        world.put(a_pod("late", priority=5, **other))
        await asyncio.sleep(5)
        assert world.node_of("late") == "n1"
        world.delete("Pod", "default/promised")

    live(story)


@pytest.mark.parametrize("who", ["high", "low"])
def test_fault_34_updates_of_preemptor_or_victim_meanwhile_change_nothing(who: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1"))
        await asyncio.sleep(1)
        world.effect_seconds = 5
        world.put(a_pod("high", cpu="1", priority=10))
        for turn in range(8):
            await asyncio.sleep(1)
            pod = world.pod(who)
            assert pod is not None
            metadata = msgspec.structs.replace(pod.metadata, labels={"turn": str(turn)})
            world.put(msgspec.structs.replace(pod, metadata=metadata))
            await asyncio.sleep(0.1)
            (promised,) = scheduler.cluster.nominations.on("n1")
            preemptor = scheduler.queue.get("default-high")
            assert preemptor is not None
            assert promised is preemptor.pod
        await asyncio.sleep(30)

    world = live(story)
    assert (world.node_of("high"), world.evicted) == ("n1", ["low"])


def test_fault_34_a_victim_that_is_created_again_under_its_name_is_spared() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("db-0", cpu="1", uid="first"))
        await asyncio.sleep(1)
        world.effect_seconds = 2
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(1)
        world.delete("Pod", "default/db-0")
        world.put(a_pod("db-0", cpu="1", uid="second"))
        await asyncio.sleep(60)

    world = live(story)
    again = world.pod("db-0")
    assert world.node_of("high") == "n1"
    assert again is not None
    assert (again.uid, [condition.type for condition in again.status.conditions]) == ("second", ["PodScheduled"])


# -- victims


def test_fault_35_a_victim_is_told_why_and_keeps_the_rest_of_its_status() -> None:
    seen: list[Pod] = []

    def refuse(effect: Effect) -> str:
        if isinstance(effect, Patch) and effect.name == "low":
            allowed = {"conditions", "$setElementOrder/conditions"}
            return (
                "" if effect.body["status"].keys() <= allowed else "status.qosClass: Invalid value: field is immutable"
            )
        return ""

    async def story(world: World, scheduler: Scheduler) -> None:
        world.refuse = refuse
        world.grace_seconds = 5
        conditions = (Condition(type="Ready", status="True"), Condition(type="PodScheduled", status="True"))
        running = PodStatus(phase="Running", conditions=conditions, start_time=DELETED_AT)
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1", node="n1", status=running))
        world.put(a_pod("high", cpu="1", memory="1Gi", priority=10))
        await asyncio.sleep(2)
        seen.extend(pod for pod in world.pods() if pod.name == "low")
        await asyncio.sleep(20)

    assert live(story).node_of("high") == "n1"
    (low,) = seen
    assert (low.status.phase, low.status.start_time) == ("Running", DELETED_AT)
    assert [(condition.type, condition.status) for condition in low.status.conditions] == [
        ("Ready", "True"),
        ("PodScheduled", "True"),
        ("DisruptionTarget", "True"),
    ]


DB = {"app": "db"}


@pytest.mark.parametrize(
    ("there", "cpu", "victims"),
    [
        pytest.param(
            [
                a_pod("protected", node="n1", cpu="1", labels=DB, start="2024-01-02T00:00:00+00:00"),
                a_pod("plain", node="n1", cpu="1", start="2024-01-01T00:00:00+00:00"),
            ],
            "1",
            ["plain"],
            id="who is protected stays where somebody else will do",
        ),
        pytest.param(
            [
                a_pod("protected", node="n1", cpu="2", labels=DB),
                a_pod("plain", node="n2", cpu="2", priority=5),
            ],
            "2",
            ["plain"],
            id="a node with more important pods comes before one with protected ones",
        ),
        pytest.param(
            [
                a_pod("important", node="n1", cpu="1", priority=9),
                a_pod("protected", node="n1", cpu="1", labels=DB),
                a_pod("also-protected", node="n2", cpu="2", labels=DB, priority=5),
            ],
            "2",
            ["also-protected"],
            id="where budgets break either way the most important victim decides",
        ),
    ],
)
def test_fault_36_budgets_are_broken_only_where_nothing_else_helps(
    there: Sequence[Pod], cpu: str, victims: list[str]
) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for name in sorted({pod.spec.node_name for pod in there}):
            world.put(a_node(name, cpu="2"))
        world.put(a_budget("db", "app=db", allowed=0))
        for pod in there:
            world.put(pod)
        world.put(a_pod("high", cpu=cpu, priority=10))
        await asyncio.sleep(10)

    world = live(story)
    assert world.evicted == victims
    assert world.node_of("high")


# -- PreFilter and PostFilter


class Locked(PreFilterPlugin, FilterPlugin):
    """Lets nobody in while a pod with a lock is anywhere, and says so before any node is looked at."""

    name = "Locked"
    refusal = unschedulable("locked")

    def __init__(self, cluster: ClusterView) -> None:
        self.cluster = cluster

    def pre_filter(self, cycle: CycleState, pod: PodInfo) -> Status | None:
        return self.refusal if any(has_lock(other) for other in self.cluster.pods.values()) else None

    def filter(self, cycle: CycleState, pod: PodInfo, node: NodeRow) -> Status | None:
        return self.refusal if any(has_lock(other) for other in node.pods) else None


class LockedForGood(Locked):
    """The same, and says that evictions do not help."""

    refusal = unresolvable("locked")


def has_lock(pod: PodInfo) -> bool:
    return "lock" in pod.labels


@pytest.mark.parametrize(("plugin", "victims"), [(Locked, ["low"]), (LockedForGood, [])])
def test_fault_37_preemption_follows_a_pre_filter_that_says_it_can_help(
    plugin: type[Plugin], victims: list[str]
) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1"))
        world.put(a_pod("low", node="n1", labels={"lock": ""}))
        world.put(a_pod("high", priority=10))
        await asyncio.sleep(20)

    world = live(story, **with_plugins(plugin))
    assert world.evicted == victims
    assert world.node_of("high") == ("n1" if victims else "")


def test_fault_37_nobody_is_evicted_for_a_pod_whose_claim_is_missing() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_pod("low", cpu="1"))
        await asyncio.sleep(1)
        world.put(a_pod("high", cpu="1", priority=10, volumes=["missing"]))
        await asyncio.sleep(20)

    world = live(story)
    assert (world.evicted, world.node_of("low")) == ([], "n1")


# -- extenders


class Adviser:
    """An extender that only has an opinion on preemption: whom it lets go, by node."""

    def __init__(self, answer: Mapping[str, Sequence[str]]) -> None:
        self.answer = answer
        self.asked: list[dict[str, list[str]]] = []

    async def ask(self, question: ExtenderArgs) -> ExtenderResult:
        assert isinstance(question, ExtenderPreemptionArgs)
        self.asked.append({name: [pod.name for pod in pods] for name, pods in question.victims.items()})
        return ExtenderPreemptionResult(self.answer)

    async def bind(self, extender: Extender, bind: Bind) -> str:
        raise AssertionError("it has no bind verb")


ADVISED = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
extenders:
- urlPrefix: http://adviser
  preemptVerb: preempt
"""


@pytest.mark.parametrize(
    ("answer", "victims"),
    [
        pytest.param({"n2": ["default-dear"]}, ["dear"], id="it leaves one node"),
        pytest.param({"n1": ["default-cheap", "default-more"]}, ["cheap", "more"], id="it wants more victims"),
        pytest.param({}, [], id="it leaves none"),
    ],
)
def test_fault_38_extenders_have_a_say_in_preemption(answer: dict[str, list[str]], victims: list[str]) -> None:
    adviser = Adviser(answer)

    async def story(world: World, scheduler: Scheduler) -> None:
        for name in ("n1", "n2"):
            world.put(a_node(name, cpu="2"))
        world.put(a_pod("cheap", node="n1", cpu="1"))
        world.put(a_pod("more", node="n1", cpu="1", priority=1))
        world.put(a_pod("dear", node="n2", cpu="2", priority=5))
        world.put(a_pod("high", cpu="1", priority=10))
        await asyncio.sleep(10)

    world = live(story, config=ADVISED, extender_client=lambda world: adviser)
    assert adviser.asked[0] == {"n1": ["cheap"], "n2": ["dear"]}
    assert (sorted(world.evicted), bool(world.node_of("high"))) == (victims, bool(victims))
    if not victims:
        high = world.pod("high")
        assert high is not None
        assert "preemption: no candidate node for preemption" in high.status.conditions[0].message
