"""Coscheduling: gangs in virtual time; those that compete, lack a pod, or are larger than the cluster."""

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from packages.contrib.tests.examples import run_example

from kubesched import PluginError
from kubesched.testing import EngineFactory, VirtualScheduler, a_custom_object, a_node, a_pod, check_plugin
from kubesched_contrib.coscheduling import Coscheduling
from kubesched_contrib.coscheduling.pod_group import KIND, LABEL

CREATED = datetime(2026, 1, 1, tzinfo=UTC)


@contextmanager
def scheduling(**args: Any) -> Iterator[VirtualScheduler]:
    """Schedule gangs with some arguments; hold in the end that nothing is lost or left over."""
    with VirtualScheduler(Coscheduling, args={"Coscheduling": args}) as world:
        yield world
        world.run(30)
        world.assert_settled()


@pytest.fixture
def world(request: pytest.FixtureRequest) -> Iterator[VirtualScheduler]:
    """Return a scheduler of gangs; the parameters of a test are arguments of the plugin."""
    with scheduling(**getattr(request, "param", {})) as made:
        yield made


def a_group(name: str, members: int, *, age: float = 0, **spec: Any) -> Any:
    group = a_custom_object(KIND, name, namespace="default", spec={"minMember": members, **spec})
    created = CREATED + timedelta(seconds=age)
    return msgspec.structs.replace(group, metadata=msgspec.structs.replace(group.metadata, creation_timestamp=created))


def put_gang(
    world: VirtualScheduler, name: str, count: int, members: int | None = None, *, age: float = 0, **spec: Any
) -> None:
    world.put(a_group(name, members or count, age=age, **spec))
    for number in range(count):
        put_pod(world, name, number)


def put_pod(world: VirtualScheduler, gang: str, number: int, **options: Any) -> None:
    world.put(a_pod(f"{gang}-{number}", cpu="1", labels={LABEL: gang}, **options))


def placed(world: VirtualScheduler, gang: str) -> int:
    return sum(bool(pod.spec.node_name) for pod in world.pods() if pod.name.startswith(f"{gang}-"))


def notes(world: VirtualScheduler, pod: str) -> list[str]:
    return [event.message for event in world.events_of(pod)]


def test_a_gang_that_fits_is_bound_as_a_whole(world: VirtualScheduler) -> None:
    world.put(a_node("n1", cpu="4"))
    put_gang(world, "a", 4)
    world.run(5)
    assert placed(world, "a") == 4


def test_of_two_gangs_that_compete_one_is_bound_and_the_other_follows_when_it_is_gone(
    world: VirtualScheduler,
) -> None:
    put_gang(world, "a", 100)
    put_gang(world, "b", 100, age=1)
    world.run(1)
    for number in range(12):
        world.put(a_node(f"n{number}", cpu="10"))
    world.run(120)
    assert sorted((placed(world, "a"), placed(world, "b"))) == [0, 100]
    first, second = ("a", "b") if placed(world, "a") else ("b", "a")
    for number in range(100):
        world.delete("Pod", f"default/{first}-{number}")
    world.run(60)
    assert placed(world, second) == 100


def test_gangs_whose_pods_arrive_in_turns_do_not_block_each_other(world: VirtualScheduler) -> None:
    # scheduler-plugins 114, 117: each would hold some places and wait for those of the other
    for number in range(10):
        world.put(a_node(f"n{number}", cpu="10"))
    world.put(a_group("a", 100))
    world.put(a_group("b", 100))
    for number in range(100):
        put_pod(world, "a", number)
        put_pod(world, "b", number)
        world.run(0.05)
    world.run(30)
    assert sorted((placed(world, "a"), placed(world, "b"))) == [0, 100]


@pytest.mark.parametrize("world", [{"permitWaitingTimeSeconds": 600}], indirect=True)
def test_gangs_that_each_lack_a_few_places_do_not_wait_for_each_other(world: VirtualScheduler) -> None:
    # the gap of each is within ten per cent of minMember, and yet all that is left was tried
    world.put(a_group("a", 20))
    world.put(a_group("b", 20))
    for number in range(20):
        put_pod(world, "a", number)
        put_pod(world, "b", number)
    world.run(1)
    for number in range(38):
        world.put(a_node(f"n{number}", cpu="1"))
    world.run(30)
    assert sorted((placed(world, "a"), placed(world, "b"))) == [0, 20]


def test_a_gang_with_a_missing_pod_waits_without_places_until_it_comes(world: VirtualScheduler) -> None:
    world.put(a_node("n1", cpu="3"))
    put_gang(world, "a", 2, 3)
    world.run(5)
    world.put(a_pod("other", cpu="3"))
    world.run(5)
    assert world.node_of("other") == "n1", "the gang holds nothing"
    world.delete("Pod", "default/other")
    put_pod(world, "a", 2)
    world.run(15)
    assert placed(world, "a") == 3
    reason = "pre-filter pod a-0 cannot find enough sibling pods, current pods number: 2, minMember of group: 3"
    assert any(reason in note for note in notes(world, "a-0")), notes(world, "a-0")


def test_a_gang_larger_than_the_cluster_gives_its_places_back_at_once(world: VirtualScheduler) -> None:
    world.put(a_node("n1", cpu="5"))
    put_gang(world, "a", 10)
    world.run(2)
    for number in range(5):
        world.put(a_pod(f"small-{number}", cpu="1"))
    world.run(20)
    assert placed(world, "small") == 5
    assert placed(world, "a") == 0
    assert any("PodGroup default/a gets rejected due to Pod a-" in event.note for event in world.events)


def test_gangs_that_came_first_and_do_not_fit_do_not_keep_later_ones_waiting(world: VirtualScheduler) -> None:
    # scheduler-plugins 429 (with 110, 658): a gang's place in the queue was its creation for ever, so that early gangs
    # that do not fit were always tried first
    world.put(a_node("n1", cpu="6"))
    for number in range(4):
        put_gang(world, f"early{number}", 8)
    world.run(20)
    put_gang(world, "late", 4, age=20)
    world.put(a_pod("single", cpu="1"))
    for number in range(20):
        # something happens all the time that makes all of them worth another attempt
        world.put(a_pod(f"short-{number}", cpu="10m"))
        world.run(0.1)
        world.delete("Pod", f"default/short-{number}")
    assert placed(world, "late") == 4
    assert world.node_of("single") == "n1"


def test_a_gang_that_failed_comes_after_what_was_queued_before_that(world: VirtualScheduler) -> None:
    # scheduler-plugins 429: not by its creation
    keys: dict[str, tuple[float, ...]] = {}

    plugin: Any = world.plugin("Coscheduling")
    member, other = world.read(a_pod("early-0", labels={LABEL: "early"})), world.read(a_pod("other"))
    world.put(a_node("n1", cpu="6"))
    world.put(a_group("early", 8))
    world.run(1)
    now = world.loop.time()
    keys["before"] = world.call(plugin.sort_key, member, now)
    keys["other"] = world.call(plugin.sort_key, other, now)
    for number in range(8):
        put_pod(world, "early", number)
    world.run(5)
    keys["after"] = world.call(plugin.sort_key, member, now)
    assert keys["before"] < keys["other"] < keys["after"]


def test_a_gang_larger_than_the_cluster_does_not_hold_up_others_of_its_priority(world: VirtualScheduler) -> None:
    # scheduler-plugins 682: its pods activated each other without end
    world.put(a_node("n1", cpu="5"))
    put_gang(world, "huge", 50)
    world.run(5)
    put_gang(world, "b", 5, age=5)
    world.run(30)
    assert placed(world, "b") == 5
    attempts = [event for event in world.events if event.reason == "FailedScheduling"]
    assert len(attempts) < 500, "failed attempts have to end"


def test_a_gang_that_fits_is_tried_as_soon_as_one_that_does_not_gave_its_places_back(world: VirtualScheduler) -> None:
    world.put(a_node("n1", cpu="4"))
    put_gang(world, "giant", 6)
    put_gang(world, "train", 4)
    world.run(0.5)
    assert (placed(world, "train"), placed(world, "giant")) == (4, 0)


def test_gangs_that_are_all_too_large_rest(world: VirtualScheduler) -> None:
    world.put(a_node("n1", cpu="4"))
    put_gang(world, "a", 6)
    put_gang(world, "b", 6)
    world.run(60)
    assert len([event for event in world.events if event.reason == "FailedScheduling"]) < 300


def test_pods_of_a_gang_that_are_gone_do_not_count(world: VirtualScheduler) -> None:
    # scheduler-plugins 930: one pod was permitted for two, since one of the same name had a place before
    world.put(a_node("n1", cpu="1"))
    world.put(a_node("n2", cpu="1"))
    put_gang(world, "a", 2)
    world.run(5)
    assert placed(world, "a") == 2
    for number in range(2):
        world.delete("Pod", f"default/a-{number}")
    world.put(a_pod("single", cpu="1"))
    world.run(2)
    for number in range(2):
        world.put(a_pod(f"a-{number}", cpu="1", labels={LABEL: "a"}, uid=f"new-{number}"))
    world.run(20)
    assert placed(world, "a") == 0
    world.delete("Pod", "default/single")
    world.run(20)
    assert placed(world, "a") == 2


def test_a_gang_that_loses_a_pod_while_it_waits_gives_its_places_back(world: VirtualScheduler) -> None:
    world.put(a_node("n1", cpu="2"))
    world.put(a_group("a", 3))
    put_pod(world, "a", 0)
    put_pod(world, "a", 1)
    put_pod(world, "a", 2, scheduler="somebody-else")
    world.run(1)
    assert len(world.waiting_in_permit) == 2
    world.delete("Pod", "default/a-2")
    world.put(a_pod("other", cpu="2"))
    world.run(10)
    assert world.node_of("other") == "n1"


def test_pods_beyond_min_member_are_bound_as_they_fit(world: VirtualScheduler) -> None:
    world.put(a_node("n1", cpu="4"))
    put_gang(world, "a", 6, 3)
    world.run(10)
    assert placed(world, "a") == 4


def test_a_pod_whose_gang_times_out_says_so_and_the_others_go_too(world: VirtualScheduler) -> None:
    world.put(a_node("n1", cpu="4"))
    world.put(a_group("a", 3, scheduleTimeoutSeconds=10))
    for number in range(2):
        put_pod(world, "a", number)
    # held by another scheduler
    put_pod(world, "a", 2, scheduler="somebody-else")
    world.run(5)
    assert len(world.waiting_in_permit) == 2
    world.run(7)
    world.delete("Pod", "default/a-2")
    assert any("timeout" in note for note in notes(world, "a-0") + notes(world, "a-1"))


def test_min_resources_are_awaited_before_any_pod_is_tried(world: VirtualScheduler) -> None:
    world.put(a_node("n1", cpu="2"))
    put_gang(world, "a", 4, minResources={"cpu": "4"})
    world.run(5)
    assert placed(world, "a") == 0
    world.put(a_node("n2", cpu="2"))
    world.run(15)
    assert placed(world, "a") == 4
    assert any("resource gap: cpu 2000" in note for note in notes(world, "a-3")), notes(world, "a-3")


@pytest.mark.parametrize("world", [{"podGroupBackoffSeconds": 20}], indirect=True)
def test_a_gang_that_failed_rests_and_is_tried_again(world: VirtualScheduler) -> None:
    world.put(a_node("n1", cpu="2"))
    put_gang(world, "a", 4)
    world.run(5)
    world.put(a_node("n2", cpu="2"))
    world.run(10)
    assert placed(world, "a") == 0, "it backs off"
    world.run(30)
    assert placed(world, "a") == 4
    assert any("podGroup default/a failed recently" in event.note for event in world.events)


def test_gangs_come_by_priority_then_age_then_name(world: VirtualScheduler) -> None:
    world.put(a_group("late", 2, age=5))
    world.put(a_group("early", 2))
    for number in range(2):
        put_pod(world, "late", number)
        put_pod(world, "early", number)
    world.put(a_group("urgent", 1, age=9))
    put_pod(world, "urgent", 0, priority=10)
    world.run(1)
    world.put(a_node("n1", cpu="3"))
    world.run(10)
    assert (placed(world, "urgent"), placed(world, "early"), placed(world, "late")) == (1, 2, 0)


def test_a_pod_whose_group_does_not_exist_is_rejected_until_it_does(world: VirtualScheduler) -> None:
    world.put(a_node("n1", cpu="3"))
    put_pod(world, "a", 0)
    world.run(5)
    assert placed(world, "a") == 0
    world.put(a_group("a", 1))
    world.run(5)
    assert placed(world, "a") == 1
    assert any("PodGroup not found" in note for note in notes(world, "a-0"))


@pytest.mark.parametrize(
    ("args", "message"),
    [
        ({"permitWaitingTimeSeconds": -1}, "permitWaitingTimeSeconds: must not be negative"),
        ({"podGroupBackoffSeconds": -1}, "podGroupBackoffSeconds: must not be negative"),
        ({"podGroupRejectPercentage": 101}, "podGroupRejectPercentage: must be from 0 to 100"),
    ],
)
def test_arguments_that_are_wrong_are_told_at_start(engine: EngineFactory, args: dict[str, int], message: str) -> None:
    with pytest.raises(PluginError, match=message):
        engine(plugins=[Coscheduling], args={"Coscheduling": args})


def test_a_group_with_nonsense_in_it_is_named_in_the_pods_message(world: VirtualScheduler) -> None:
    world.put(a_node("n1", cpu="3"))
    put_gang(world, "a", 1, minResources={"cpu": "lots"})
    world.run(5)
    assert any("PodGroup default/a: spec.minResources: cpu: " in note for note in notes(world, "a-0")), world.events


def test_the_example_binds_the_gang_that_fits_and_nothing_of_the_other() -> None:
    nodes = run_example("coscheduling")
    assert sorted(node for name, node in nodes.items() if name.startswith("train-")) == ["node-1"] * 2 + ["node-2"] * 2
    assert [node for name, node in nodes.items() if name.startswith("giant-")] == [""] * 6


def test_it_keeps_to_the_contract() -> None:
    pods = [a_pod("a-0", labels={LABEL: "a"}), a_pod("a-1", labels={LABEL: "a"}), a_pod("other")]
    groups = [a_group("a", 2), a_group("a", 3, minResources={"cpu": "4"})]
    report = check_plugin(Coscheduling, pods=pods, objects=groups, examples=10, speed=False)
    assert report, str(report)


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
    with scheduling() as world:
        for number in range(places):
            world.put(a_node(f"n{number}", cpu="1"))
        for name, (members, _) in gangs.items():
            world.put(a_group(name, members))
        for name, number in pods:
            put_pod(world, name, number)
            world.run(order.choice((0, 0, 0.1, 2)))
        world.run(60)
        found = {name: placed(world, name) for name in gangs}
        free = places - sum(found.values())
        for name, (members, count) in gangs.items():
            assert found[name] == 0 or found[name] >= members, f"{name} is bound in part: {found}"
            wanted = members if not found[name] else 1 if found[name] < count else free + 1
            assert wanted > free, f"{name} has room and waits: {found} on {places}"
        for pod in list(world.pods()):
            world.delete("Pod", pod.full_name)
