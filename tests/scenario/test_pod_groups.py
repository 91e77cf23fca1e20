"""Groups of pods in the living scheduler: placed as a whole or not at all, whatever comes in between."""

import asyncio
from typing import Any

import msgspec
import pytest

from kubesched.api.devices import ResourceClaim
from kubesched.api.groups import (
    BasicSchedulingPolicy,
    GangSchedulingPolicy,
    PodGroup,
    PodGroupSchedulingConstraints,
    PodGroupSchedulingPolicy,
    PodGroupSpec,
    TopologyConstraint,
)
from kubesched.api.meta import Condition, ObjectMeta
from kubesched.api.pods import Pod, PodResourceClaim, PodSchedulingGroup
from kubesched.cluster.pod_groups import PodGroups
from kubesched.config.feature_gates import FeatureGates
from kubesched.framework.effects import Bind, Delete, Effect
from kubesched.framework.observer import GroupAttempt, Observer
from kubesched.loop.scheduler import Scheduler
from kubesched.queue.queued_pod import Place
from kubesched.serving.metric_registry import MetricRegistry
from kubesched.serving.metrics import SchedulerMetrics
from kubesched.testing import a_node, a_pod
from kubesched.testing.devices import a_claiming_pod, a_device_class, a_device_request, a_resource_claim, a_slice
from kubesched.testing.world import Story, World, live

ZONE = "topology.kubernetes.io/zone"


def a_group(name: str = "g", min_count: int | None = 3, topology: str = "", **spec: Any) -> PodGroup:
    """Return a gang, or without `min_count` a basic group."""
    policy = (
        PodGroupSchedulingPolicy(basic=BasicSchedulingPolicy())
        if min_count is None
        else PodGroupSchedulingPolicy(gang=GangSchedulingPolicy(min_count=min_count))
    )
    constraints = PodGroupSchedulingConstraints(topology=(TopologyConstraint(key=topology),)) if topology else None
    meta = ObjectMeta(name=name, namespace="default", uid=f"group-{name}", generation=1)
    return PodGroup(
        metadata=meta, spec=PodGroupSpec(scheduling_policy=policy, scheduling_constraints=constraints, **spec)
    )


def member(name: str, group: str = "g", **words: Any) -> Pod:
    """Return a pod of a group that asks for a CPU."""
    return a_pod(name, **{"cpu": "1", **words}, scheduling_group=PodSchedulingGroup(pod_group_name=group))


def put_members(world: World, names: str, group: str = "g", **words: Any) -> None:
    for name in names.split():
        world.put(member(name, group, **words))


def places(world: World, names: str) -> list[str]:
    return [world.node_of(name) for name in names.split()]


def condition(world: World, name: str = "g") -> Condition | None:
    """Return what a group says about itself."""
    group = world.objects["PodGroup", f"default/{name}"]
    assert isinstance(group, PodGroup)
    return next((each for each in group.status.conditions if each.type == "PodGroupScheduled"), None)


def said_of(world: World, name: str) -> str:
    """Return why a pod waits."""
    pod = world.pod(name)
    assert pod is not None
    return next((each.message for each in pod.status.conditions if each.type == "PodScheduled"), "")


def play(story: Story, *gates: str, **options: Any) -> World:
    """Play a story with pod groups, and hold in the end that who belongs to which group is known."""

    async def whole(world: World, scheduler: Scheduler) -> None:
        await story(world, scheduler)
        await asyncio.sleep(30)
        rebuilt = PodGroups(scheduler.cluster.reader.read(pod) for pod in world.pods())
        kept = scheduler.cluster.pod_groups
        for name in [obj.name for obj in world.objects.values() if isinstance(obj, PodGroup)]:
            there, here = rebuilt.state(("default", name)), kept.state(("default", name))
            assert set(here.scheduled) == set(there.scheduled)
            assert set(here.unscheduled) == set(there.unscheduled)

    enabled = dict.fromkeys(("GenericWorkload", "GangScheduling", *gates), True)
    return live(whole, gates=FeatureGates(enabled), **options)


# -- waiting for each other


def test_a_gang_waits_until_it_is_complete_and_is_bound_together() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_group(min_count=3))
        put_members(world, "a b")
        await asyncio.sleep(60)
        assert places(world, "a b") == ["", ""]
        assert {queued.place for queued in scheduler.queue.pods()} == {Place.GATED}
        put_members(world, "c")
        await asyncio.sleep(1)
        assert places(world, "a b c") == ["n1"] * 3
        found = condition(world)
        assert found is not None
        assert (found.status, found.reason) == ("True", "Scheduled")
        assert found.last_transition_time is not None

    play(story)


def test_pods_wait_for_their_group_to_appear() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="4"))
        put_members(world, "a b")
        await asyncio.sleep(5)
        assert places(world, "a b") == ["", ""]
        world.put(a_group(min_count=2))
        await asyncio.sleep(1)
        assert places(world, "a b") == ["n1"] * 2

    play(story)


def test_a_gang_that_has_lost_a_pod_waits_for_another() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_group(min_count=2))
        put_members(world, "a b")
        await asyncio.sleep(1)
        world.delete("Pod", "default/b")
        await asyncio.sleep(1)
        world.put(a_node("n1", cpu="4"))
        await asyncio.sleep(20)
        assert places(world, "a") == [""]
        put_members(world, "c")
        await asyncio.sleep(20)
        assert places(world, "a c") == ["n1"] * 2

    play(story)


def test_a_gang_with_a_gated_pod_is_tried_again_when_the_gate_opens() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_group(min_count=2))
        put_members(world, "a")
        put_members(world, "b", gates=["later"])
        await asyncio.sleep(60)
        assert places(world, "a b") == ["", ""]
        assert said_of(world, "a").startswith("pod group is unschedulable, waiting for minCount pods")
        world.put(member("b"))
        await asyncio.sleep(1)
        assert places(world, "a b") == ["n1"] * 2

    play(story)


def test_pods_that_come_later_join_a_gang_that_is_scheduled() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="3"))
        world.put(a_group(min_count=2))
        put_members(world, "a b")
        await asyncio.sleep(1)
        put_members(world, "c d")
        await asyncio.sleep(5)
        assert sorted(places(world, "c d")) == ["", "n1"]
        found = condition(world)
        assert found is not None
        assert found.status == "True", "a group that is scheduled stays so"
        world.put(a_node("n2", cpu="3"))

    world = play(story)
    assert sorted(places(world, "c d")) == ["n1", "n2"]


# -- all or nothing


def test_a_gang_that_does_not_fit_takes_no_place_and_says_why() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(a_group(min_count=3))
        put_members(world, "a b c")
        await asyncio.sleep(60)
        assert places(world, "a b c") == [""] * 3
        assert len(scheduler.waiting) == 0
        one, *others = sorted(said_of(world, name) for name in "abc")
        assert one.startswith("0/1 nodes are available: 1 Insufficient cpu.")
        assert set(others) == {
            "pod group is unschedulable, waiting for minCount pods from a gang to be scheduled, "
            "one or more plugins asked to wait and no plugin rejected pod"
        }
        found = condition(world)
        assert found is not None
        assert (found.status, found.reason, found.message) == ("False", "Unschedulable", "pod group is unschedulable")
        # a pod alone is not in the way of the gang's pods, nor they in its
        world.put(a_pod("alone", cpu="2"))
        await asyncio.sleep(1)
        assert places(world, "alone") == ["n1"]
        world.put(a_node("n2", cpu="4"))
        await asyncio.sleep(20)
        assert places(world, "a b c") == ["n2"] * 3

    play(story)


def test_two_gangs_do_not_starve_each_other() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="3"))
        world.put(a_group("g", min_count=2))
        world.put(a_group("h", min_count=2))
        for name in ("g1", "h1", "g2", "h2"):
            put_members(world, name, group=name[0])
        await asyncio.sleep(20)
        bound = {name for name in ("g1", "h1", "g2", "h2") if world.node_of(name)}
        assert bound in ({"g1", "g2"}, {"h1", "h2"})
        for name in bound:
            world.delete("Pod", f"default/{name}")

    world = play(story)
    assert sum(bool(pod.spec.node_name) for pod in world.pods()) == 2


def test_of_a_basic_group_each_pod_is_on_its_own() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(a_group(min_count=None))
        put_members(world, "a b c")
        await asyncio.sleep(5)
        assert sorted(places(world, "a b c")) == ["", "n1", "n1"]

    play(story)


def test_pods_that_a_gang_can_do_without_wait() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(a_group(min_count=2))
        put_members(world, "a", priority=1)
        put_members(world, "b c")
        await asyncio.sleep(5)
        assert world.node_of("a") == "n1"
        assert sorted(places(world, "b c")) == ["", "n1"]

    play(story)


def test_pods_of_a_group_must_agree_on_their_scheduler() -> None:
    config = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles: [{schedulerName: default-scheduler}, {schedulerName: other}]
"""

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_group(min_count=2))
        put_members(world, "a")
        put_members(world, "b", scheduler="other")
        await asyncio.sleep(5)
        assert places(world, "a b") == ["", ""]
        assert "should have the same .spec.schedulerName set" in said_of(world, "a")
        world.delete("Pod", "default/b")
        put_members(world, "c")

    world = play(story, config=config)
    assert places(world, "a c") == ["n1"] * 2


def test_a_gang_whose_binding_is_refused_is_bound_in_the_end() -> None:
    refusals = {"b": 2}

    def refuse(effect: Effect) -> str:
        if isinstance(effect, Bind) and refusals.get(effect.name):
            refusals[effect.name] -= 1
            return "not now"
        return ""

    async def story(world: World, scheduler: Scheduler) -> None:
        world.refuse = refuse
        world.put(a_node("n1", cpu="4"))
        world.put(a_group(min_count=3))
        put_members(world, "a b c")

    world = play(story)
    assert places(world, "a b c") == ["n1"] * 3


# -- making room


def low(name: str, node: str, **words: Any) -> Pod:
    """Return a pod that is on a node and not important."""
    return a_pod(name, node=node, priority=0, phase="Running", **{"cpu": "2", **words})


def evicted(world: World) -> set[str]:
    return {effect.name for effect in world.performed if isinstance(effect, Delete)}


@pytest.mark.parametrize("gate", ["SchedulerAsyncPreemption", "WorkloadAwarePreemption"])
def test_a_gang_evicts_less_important_pods(gate: str) -> None:
    """Whether each pod finds its victims or the group as a whole does."""

    async def story(world: World, scheduler: Scheduler) -> None:
        for number in (1, 2, 3):
            world.put(a_node(f"n{number}", cpu="2"))
            world.put(low(f"low{number}", f"n{number}"))
        world.put(a_group(min_count=2, priority=10))
        put_members(world, "a b", cpu="2", priority=10)
        await asyncio.sleep(30)
        assert len(evicted(world)) == 2
        assert all(places(world, "a b"))
        assert len([event for event in world.events if event.reason == "Preempted"]) == 2

    play(story, gate)


def test_the_group_is_named_where_it_preempts_as_a_whole() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(low("low", "n1"))
        world.put(a_group(min_count=1, priority=10))
        put_members(world, "a", priority=10)
        await asyncio.sleep(10)
        assert world.node_of("a") == "n1"
        assert [event.note for event in world.events if event.reason == "Preempted"] == [
            "Preempted by podgroup group-g on node cluster"
        ]

    play(story, "WorkloadAwarePreemption")


@pytest.mark.parametrize("gate", ["SchedulerAsyncPreemption", "WorkloadAwarePreemption"])
def test_a_gang_that_fits_nowhere_all_the_same_evicts_nobody(gate: str) -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(low("low", "n1"))
        world.put(a_group(min_count=2, priority=10))
        put_members(world, "a b", cpu="2", priority=10)
        await asyncio.sleep(30)
        assert places(world, "a b low") == ["", "", "n1"]
        assert not evicted(world)

    play(story, gate)


def test_a_group_that_is_disrupted_as_a_whole_goes_as_a_whole() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for number in (1, 2):
            world.put(a_node(f"n{number}", cpu="2"))
        world.put(a_group("victims", min_count=2, priority=1, disruption_mode="PodGroup"))
        for number in (1, 2):
            world.put(member(f"v{number}", "victims", cpu="2", node=f"n{number}", priority=1, phase="Running"))
        world.put(a_group(min_count=1, priority=10))
        put_members(world, "a", cpu="2", priority=10)
        await asyncio.sleep(30)
        assert evicted(world) == {"v1", "v2"}
        assert world.node_of("a")

    play(story, "WorkloadAwarePreemption")


# -- placements


def test_a_group_stays_within_one_zone() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for name, zone in (("n1", "a"), ("n2", "b"), ("n3", "b")):
            world.put(a_node(name, cpu="2", zone=zone))
        world.put(a_group(min_count=3, topology=ZONE))
        put_members(world, "a b c")
        await asyncio.sleep(5)
        assert set(places(world, "a b c")) == {"n2", "n3"}
        # whoever comes later follows
        put_members(world, "d e")
        await asyncio.sleep(5)
        assert sorted(places(world, "d e"))[0] == ""
        assert sorted(places(world, "d e"))[1] in ("n2", "n3")

    play(story, "TopologyAwareWorkloadScheduling")


def test_a_group_that_no_zone_takes_waits_for_room_in_one() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        for name, zone in (("n1", "a"), ("n2", "b")):
            world.put(a_node(name, cpu="2", zone=zone))
        world.put(a_group(min_count=3, topology=ZONE))
        put_members(world, "a b c")
        await asyncio.sleep(20)
        assert places(world, "a b c") == [""] * 3
        found = condition(world)
        assert found is not None
        assert found.message.startswith("0/2 placements are available")
        world.put(a_node("n3", cpu="2", zone="a"))
        await asyncio.sleep(20)
        assert set(places(world, "a b c")) == {"n1", "n3"}

    play(story, "TopologyAwareWorkloadScheduling")


def test_a_group_whose_label_no_node_has_waits_for_one_that_has() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_group(min_count=2, topology="rack"))
        put_members(world, "a b")
        await asyncio.sleep(20)
        assert said_of(world, "a") == "no feasible placements found"
        world.put(a_node("n2", cpu="4", labels={"rack": "r1"}))
        await asyncio.sleep(20)
        assert places(world, "a b") == ["n2"] * 2

    play(story, "TopologyAwareWorkloadScheduling")


# -- what is reserved


def with_claims(pod: Pod, *claims: str) -> Pod:
    entries = tuple(PodResourceClaim(name=claim, resource_claim_name=claim) for claim in claims)
    return msgspec.structs.replace(pod, spec=msgspec.structs.replace(pod.spec, resource_claims=entries))


def test_a_gang_gets_its_devices_together_or_not_at_all() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_device_class())
        world.put(a_node("n1", cpu="8"))
        world.put(a_slice("n1", "d1", node="n1"))
        world.put(a_group(min_count=2))
        for name in ("a", "b"):
            world.put(a_resource_claim(name, a_device_request()))
            world.put(with_claims(member(name), name))
        await asyncio.sleep(20)
        assert places(world, "a b") == ["", ""]
        # what was promised to the first of them while the second was tried is free again
        world.put(a_resource_claim("alone", a_device_request()))
        world.put(a_claiming_pod("alone", "alone"))
        await asyncio.sleep(5)
        assert world.node_of("alone") == "n1"
        world.put(a_node("n2", cpu="8"))
        world.put(a_slice("n2", "d1", "d2", node="n2"))
        await asyncio.sleep(20)
        assert places(world, "a b") == ["n2"] * 2
        taken = []
        for name in ("a", "b"):
            claim = world.objects["ResourceClaim", f"default/{name}"]
            assert isinstance(claim, ResourceClaim)
            assert claim.status.allocation is not None
            taken += [result.device for result in claim.status.allocation.devices.results]
        assert sorted(taken) == ["d1", "d2"]

    play(story)


# -- who is told


def test_observers_are_told_what_becomes_of_groups() -> None:
    told: list[tuple[str, str, int, int]] = []

    class Listener(Observer):
        def group_attempted(self, attempt: GroupAttempt) -> None:
            told.append((attempt.group, attempt.result, attempt.scheduled_pods, attempt.other_pods))

    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="2"))
        for name, count in (("fits", 2), ("big", 3)):
            world.put(a_group(name, min_count=count))
            put_members(world, " ".join(f"{name}{number}" for number in range(count)), group=name)
            await asyncio.sleep(5)

    metrics = MetricRegistry(others=None)
    play(story, observers=[Listener(), SchedulerMetrics(metrics)])
    assert told == [("default/fits", "scheduled", 2, 0), ("default/big", "unschedulable", 0, 3)]
    page = metrics.text()
    for result in ("scheduled", "unschedulable"):
        labels = f'{{profile="default-scheduler",result="{result}"}}'
        assert f"scheduler_podgroup_schedule_attempts_total{labels} 1" in page
    assert "scheduler_podgroup_scheduling_algorithm_duration_seconds_count 2" in page


# -- without the gates, and with bad luck


def test_without_the_gates_pods_of_groups_are_pods() -> None:
    async def story(world: World, scheduler: Scheduler) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_group(min_count=3))
        put_members(world, "a b")
        await asyncio.sleep(5)
        assert sorted(places(world, "a b")) == ["", "n1"]
        assert condition(world) is None

    live(story)


@pytest.mark.parametrize("seed", range(6))
def test_no_gang_is_torn_apart_whatever_happens(seed: int) -> None:
    """Nodes and pods come and go, reports are late: of each gang enough pods are bound in the end, or none."""
    sizes: dict[str, int] = {}

    async def story(world: World, scheduler: Scheduler) -> None:
        random = world.random
        world.report_seconds = lambda: random.random() / 10
        for number in range(4):
            world.put(a_node(f"n{number}", cpu="4"))
        for number in range(12):
            name = f"g{number}"
            sizes[name] = random.randint(1, 4)
            pods = [member(f"{name}-{i}", name, priority=number % 3) for i in range(sizes[name])]
            random.shuffle(pods)
            if random.random() < 0.5:
                world.put(a_group(name, min_count=sizes[name]))
            for pod in pods:
                world.put(pod)
                await asyncio.sleep(random.random())
            world.put(a_group(name, min_count=sizes[name]))
        for number in (4, 5):
            await asyncio.sleep(5)
            world.put(a_node(f"n{number}", cpu="4"))
        await asyncio.sleep(60)

    world = play(story, seed=seed)
    victims = evicted(world)
    for name, size in sizes.items():
        pods = [pod for pod in world.pods() if pod.name.startswith(f"{name}-")]
        bound = sum(bool(pod.spec.node_name) for pod in pods)
        gone = sum(victim.startswith(f"{name}-") for victim in victims)
        assert bound + gone in (0, size), f"{bound} of {size} pods of {name} are bound"
