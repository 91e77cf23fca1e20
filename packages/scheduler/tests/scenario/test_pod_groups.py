"""Groups of pods in the living scheduler: placed as a whole or not at all, whatever comes in between."""

import asyncio

import pytest
from tests.support.pod_groups import a_group, condition, evicted, member, places, play, put_members, said_of
from tests.support.world import World, live

from kubesched.core.framework.observing.observer import Observer
from kubesched.core.framework.results.outcomes import GroupAttempt
from kubesched.core.framework.values.effects import Bind, Effect
from kubesched.core.loop.scheduler import Scheduler
from kubesched.core.queue.queued_pod import Place
from kubesched.serving.metrics.registry import MetricRegistry
from kubesched.serving.metrics.scheduler_metrics import SchedulerMetrics
from kubesched.testing import a_node, a_pod

ZONE = "topology.kubernetes.io/zone"


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
        assert len(scheduler.waiting_pods) == 0
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
