"""Coscheduling: gangs in virtual time; those that compete, lack a pod, or are larger than the cluster."""

import asyncio
from datetime import timedelta
from typing import Any

import msgspec
import pytest
from contrib.tests.examples import run_example
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.world import World, live

from kubesched import PluginError, Registry, build_engine
from kubesched.common.virtual_time import BEGINNING
from kubesched.testing import a_custom_object, a_node, a_pod
from kubesched_contrib.coscheduling import Coscheduling
from kubesched_contrib.coscheduling.pod_group import KIND, LABEL

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    queueSort: {enabled: [{name: Coscheduling}], disabled: [{name: "*"}]}
    multiPoint: {enabled: [{name: Coscheduling}]}
  pluginConfig: [{name: Coscheduling, args: ARGS}]
"""


def lived(story: Any, args: str = "{}") -> World:
    registry = Registry()
    registry.register(Coscheduling)
    return live(story, config=CONFIG.replace("ARGS", args), registry=registry)


def a_group(name: str, members: int, *, age: float = 0, **spec: Any) -> Any:
    group = a_custom_object(KIND, name, namespace="default", spec={"minMember": members, **spec})
    created = BEGINNING + timedelta(seconds=age)
    return msgspec.structs.replace(group, metadata=msgspec.structs.replace(group.metadata, creation_timestamp=created))


def put_gang(world: World, name: str, count: int, members: int | None = None, *, age: float = 0, **spec: Any) -> None:
    world.put(a_group(name, members or count, age=age, **spec))
    for number in range(count):
        put_pod(world, name, number)


def put_pod(world: World, gang: str, number: int, **options: Any) -> None:
    world.put(a_pod(f"{gang}-{number}", cpu="1", labels={LABEL: gang}, **options))


def placed(world: World, gang: str) -> int:
    return sum(bool(pod.spec.node_name) for pod in world.pods() if pod.name.startswith(f"{gang}-"))


def notes(world: World, pod: str) -> list[str]:
    return [event.note for event in world.events if event.regarding.name == pod]


def test_a_gang_that_fits_is_bound_as_a_whole() -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="4"))
        put_gang(world, "a", 4)
        await asyncio.sleep(5)
        assert placed(world, "a") == 4

    lived(story)


def test_of_two_gangs_that_compete_one_is_bound_and_the_other_follows_when_that_is_gone() -> None:
    async def story(world: World, scheduler: Any) -> None:
        put_gang(world, "a", 100)
        put_gang(world, "b", 100, age=1)
        await asyncio.sleep(1)
        for number in range(12):
            world.put(a_node(f"n{number}", cpu="10"))
        await asyncio.sleep(120)
        assert sorted((placed(world, "a"), placed(world, "b"))) == [0, 100]
        first, second = ("a", "b") if placed(world, "a") else ("b", "a")
        for number in range(100):
            world.delete("Pod", f"default/{first}-{number}")
        await asyncio.sleep(60)
        assert placed(world, second) == 100

    lived(story)


def test_gangs_whose_pods_arrive_in_turns_do_not_block_each_other() -> None:
    # scheduler-plugins 114, 117: each would hold some places and wait for those of the other
    async def story(world: World, scheduler: Any) -> None:
        for number in range(10):
            world.put(a_node(f"n{number}", cpu="10"))
        world.put(a_group("a", 100))
        world.put(a_group("b", 100))
        for number in range(100):
            put_pod(world, "a", number)
            put_pod(world, "b", number)
            await asyncio.sleep(0.05)
        await asyncio.sleep(30)
        assert sorted((placed(world, "a"), placed(world, "b"))) == [0, 100]

    lived(story)


def test_gangs_that_each_lack_a_few_places_do_not_wait_for_each_other() -> None:
    # the gap of each is within ten per cent of minMember, and yet all that is left was tried
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_group("a", 20))
        world.put(a_group("b", 20))
        for number in range(20):
            put_pod(world, "a", number)
            put_pod(world, "b", number)
        await asyncio.sleep(1)
        for number in range(38):
            world.put(a_node(f"n{number}", cpu="1"))
        await asyncio.sleep(30)
        assert sorted((placed(world, "a"), placed(world, "b"))) == [0, 20]

    lived(story, "{permitWaitingTimeSeconds: 600}")


def test_a_gang_with_a_missing_pod_waits_without_places_until_it_comes() -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="3"))
        put_gang(world, "a", 2, 3)
        await asyncio.sleep(5)
        world.put(a_pod("other", cpu="3"))
        await asyncio.sleep(5)
        assert world.node_of("other") == "n1", "the gang holds nothing"
        world.delete("Pod", "default/other")
        put_pod(world, "a", 2)
        await asyncio.sleep(15)
        assert placed(world, "a") == 3

    world = lived(story)
    reason = "pre-filter pod a-0 cannot find enough sibling pods, current pods number: 2, minMember of group: 3"
    assert any(reason in note for note in notes(world, "a-0")), notes(world, "a-0")


def test_a_gang_larger_than_the_cluster_gives_its_places_back_at_once() -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="5"))
        put_gang(world, "a", 10)
        await asyncio.sleep(2)
        for number in range(5):
            world.put(a_pod(f"small-{number}", cpu="1"))
        await asyncio.sleep(20)
        assert placed(world, "small") == 5
        assert placed(world, "a") == 0

    world = lived(story)
    assert any("PodGroup default/a gets rejected due to Pod a-" in event.note for event in world.events)


def test_gangs_that_came_first_and_do_not_fit_do_not_keep_later_ones_waiting() -> None:
    # scheduler-plugins 429 (with 110, 658): a gang's place in the queue was its creation for ever, so that early gangs
    # that do not fit were always tried first
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="6"))
        for number in range(4):
            put_gang(world, f"early{number}", 8)
        await asyncio.sleep(20)
        put_gang(world, "late", 4, age=20)
        world.put(a_pod("single", cpu="1"))
        for number in range(20):
            # something happens all the time that makes all of them worth another attempt
            world.put(a_pod(f"short-{number}", cpu="10m"))
            await asyncio.sleep(0.1)
            world.delete("Pod", f"default/short-{number}")
        assert placed(world, "late") == 4
        assert world.node_of("single") == "n1"

    lived(story)


def test_a_gang_that_failed_comes_after_what_was_queued_before_that() -> None:
    # scheduler-plugins 429: not by its creation
    keys: dict[str, tuple[float, ...]] = {}

    async def story(world: World, scheduler: Any) -> None:
        plugin = next(iter(scheduler.engine.profiles.values())).plugins["Coscheduling"]
        read = scheduler.engine.cluster.reader.read
        member, other = read(a_pod("early-0", labels={LABEL: "early"})), read(a_pod("other"))
        world.put(a_node("n1", cpu="6"))
        world.put(a_group("early", 8))
        await asyncio.sleep(1)
        keys["before"] = plugin.sort_key(member, 1.0)
        keys["other"] = plugin.sort_key(other, 1.0)
        for number in range(8):
            put_pod(world, "early", number)
        await asyncio.sleep(5)
        keys["after"] = plugin.sort_key(member, 1.0)

    lived(story)
    assert keys["before"] < keys["other"] < keys["after"]


def test_a_gang_larger_than_the_cluster_does_not_hold_up_others_of_its_priority() -> None:
    # scheduler-plugins 682: its pods activated each other without end
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="5"))
        put_gang(world, "huge", 50)
        await asyncio.sleep(5)
        put_gang(world, "b", 5, age=5)
        await asyncio.sleep(30)
        assert placed(world, "b") == 5

    world = lived(story)
    attempts = [event for event in world.events if event.reason == "FailedScheduling"]
    assert len(attempts) < 500, "failed attempts have to end"


def test_a_gang_that_fits_is_tried_as_soon_as_one_that_does_not_gave_its_places_back() -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="4"))
        put_gang(world, "giant", 6)
        put_gang(world, "train", 4)
        await asyncio.sleep(0.5)
        assert (placed(world, "train"), placed(world, "giant")) == (4, 0)

    lived(story)


def test_gangs_that_are_all_too_large_rest() -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="4"))
        put_gang(world, "a", 6)
        put_gang(world, "b", 6)
        await asyncio.sleep(60)

    assert len([event for event in lived(story).events if event.reason == "FailedScheduling"]) < 300


def test_pods_of_a_gang_that_are_gone_do_not_count() -> None:
    # scheduler-plugins 930: one pod was permitted for two, since one of the same name had a place before
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="1"))
        world.put(a_node("n2", cpu="1"))
        put_gang(world, "a", 2)
        await asyncio.sleep(5)
        assert placed(world, "a") == 2
        for number in range(2):
            world.delete("Pod", f"default/a-{number}")
        world.put(a_pod("single", cpu="1"))
        await asyncio.sleep(2)
        for number in range(2):
            world.put(a_pod(f"a-{number}", cpu="1", labels={LABEL: "a"}, uid=f"new-{number}"))
        await asyncio.sleep(20)
        assert placed(world, "a") == 0
        world.delete("Pod", "default/single")
        await asyncio.sleep(20)
        assert placed(world, "a") == 2

    lived(story)


def test_a_gang_that_loses_a_pod_while_it_waits_gives_its_places_back() -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="2"))
        world.put(a_group("a", 3))
        put_pod(world, "a", 0)
        put_pod(world, "a", 1)
        put_pod(world, "a", 2, scheduler="somebody-else")
        await asyncio.sleep(1)
        assert len(scheduler.waiting_pods) == 2
        world.delete("Pod", "default/a-2")
        world.put(a_pod("other", cpu="2"))
        await asyncio.sleep(10)
        assert world.node_of("other") == "n1"

    lived(story)


def test_pods_beyond_min_member_are_bound_as_they_fit() -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="4"))
        put_gang(world, "a", 6, 3)
        await asyncio.sleep(10)
        assert placed(world, "a") == 4

    lived(story)


def test_a_pod_whose_gang_times_out_says_so_and_the_others_go_too() -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="4"))
        world.put(a_group("a", 3, scheduleTimeoutSeconds=10))
        for number in range(2):
            put_pod(world, "a", number)
        # held by another scheduler
        put_pod(world, "a", 2, scheduler="somebody-else")
        await asyncio.sleep(5)
        assert len(scheduler.waiting_pods) == 2
        await asyncio.sleep(7)
        world.delete("Pod", "default/a-2")

    world = lived(story)
    assert any("timeout" in note for note in notes(world, "a-0") + notes(world, "a-1"))


def test_min_resources_are_awaited_before_any_pod_is_tried() -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="2"))
        put_gang(world, "a", 4, minResources={"cpu": "4"})
        await asyncio.sleep(5)
        assert placed(world, "a") == 0
        world.put(a_node("n2", cpu="2"))
        await asyncio.sleep(15)
        assert placed(world, "a") == 4

    world = lived(story)
    assert any("resource gap: cpu 2000" in note for note in notes(world, "a-3")), notes(world, "a-3")


def test_a_gang_that_failed_rests_and_is_tried_again() -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="2"))
        put_gang(world, "a", 4)
        await asyncio.sleep(5)
        world.put(a_node("n2", cpu="2"))
        await asyncio.sleep(10)
        assert placed(world, "a") == 0, "it backs off"
        await asyncio.sleep(30)
        assert placed(world, "a") == 4

    world = lived(story, "{podGroupBackoffSeconds: 20}")
    assert any("podGroup default/a failed recently" in event.note for event in world.events)


def test_gangs_come_by_priority_then_age_then_name() -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_group("late", 2, age=5))
        world.put(a_group("early", 2))
        for number in range(2):
            put_pod(world, "late", number)
            put_pod(world, "early", number)
        world.put(a_group("urgent", 1, age=9))
        put_pod(world, "urgent", 0, priority=10)
        await asyncio.sleep(1)
        world.put(a_node("n1", cpu="3"))
        await asyncio.sleep(10)
        assert (placed(world, "urgent"), placed(world, "early"), placed(world, "late")) == (1, 2, 0)

    lived(story)


def test_a_pod_whose_group_does_not_exist_is_rejected_until_it_does() -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="3"))
        put_pod(world, "a", 0)
        await asyncio.sleep(5)
        assert placed(world, "a") == 0
        world.put(a_group("a", 1))
        await asyncio.sleep(5)
        assert placed(world, "a") == 1

    assert any("PodGroup not found" in note for note in notes(lived(story), "a-0"))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ("{permitWaitingTimeSeconds: -1}", "permitWaitingTimeSeconds: must not be negative"),
        ("{podGroupBackoffSeconds: -1}", "podGroupBackoffSeconds: must not be negative"),
        ("{podGroupRejectPercentage: 101}", "podGroupRejectPercentage: must be from 0 to 100"),
    ],
)
def test_arguments_that_are_wrong_are_told_at_start(args: str, message: str) -> None:
    registry = Registry()
    registry.register(Coscheduling)
    with pytest.raises(PluginError, match=message):
        build_engine(CONFIG.replace("ARGS", args), registry=registry)


def test_a_group_with_nonsense_in_it_is_named_in_the_pods_message() -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_node("n1", cpu="3"))
        put_gang(world, "a", 1, minResources={"cpu": "lots"})
        await asyncio.sleep(5)

    world = lived(story)
    assert any("PodGroup default/a: spec.minResources: cpu: " in note for note in notes(world, "a-0")), world.events


def test_the_example_binds_the_gang_that_fits_and_nothing_of_the_other() -> None:
    nodes = run_example("coscheduling", "Coscheduling")
    assert sorted(node for name, node in nodes.items() if name.startswith("train-")) == ["node-1"] * 2 + ["node-2"] * 2
    assert [node for name, node in nodes.items() if name.startswith("giant-")] == [""] * 6


@settings(max_examples=25, deadline=None)
@given(
    sizes=st.lists(st.tuples(st.integers(1, 6), st.integers(0, 2)), min_size=1, max_size=5),
    places=st.integers(1, 12),
    order=st.randoms(use_true_random=False),
)
def test_gangs_are_bound_whole_or_not_at_all_and_none_waits_in_vain(
    sizes: list[tuple[int, int]], places: int, order: Any
) -> None:
    gangs = {f"g{number}": (members, members + more) for number, (members, more) in enumerate(sizes)}
    pods = [(name, number) for name, (_, count) in gangs.items() for number in range(count)]
    order.shuffle(pods)

    async def story(world: World, scheduler: Any) -> None:
        for number in range(places):
            world.put(a_node(f"n{number}", cpu="1"))
        for name, (members, _) in gangs.items():
            world.put(a_group(name, members))
        for name, number in pods:
            put_pod(world, name, number)
            await asyncio.sleep(order.choice((0, 0, 0.1, 2)))
        await asyncio.sleep(60)
        found = {name: placed(world, name) for name in gangs}
        free = places - sum(found.values())
        for name, (members, count) in gangs.items():
            assert found[name] == 0 or found[name] >= members, f"{name} is bound in part: {found}"
            wanted = members if not found[name] else 1 if found[name] < count else free + 1
            assert wanted > free, f"{name} has room and waits: {found} on {places}"
        for pod in list(world.pods()):
            world.delete("Pod", pod.full_name)

    lived(story)
