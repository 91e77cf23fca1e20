"""CapacityScheduling: quotas that are borrowed and taken back, in virtual time."""

import asyncio
from typing import Any

import pytest
from contrib.tests.examples import run_example
from tests.support.world import World, live

from kubesched import Registry
from kubesched.testing import a_custom_object, a_node, a_pod
from kubesched_contrib.capacity_scheduling import CapacityScheduling
from kubesched_contrib.capacity_scheduling.quotas import KIND

CONFIG = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- plugins:
    multiPoint:
      disabled: [{name: DefaultPreemption}]
      enabled: [{name: CapacityScheduling}]
"""
GPU = "example.com/gpu"


def lived(story: Any) -> World:
    registry = Registry()
    registry.register(CapacityScheduling)
    return live(story, config=CONFIG, registry=registry)


def put_quota(world: World, namespace: str, least: dict[str, Any], most: dict[str, Any] | None = None) -> None:
    spec = {"min": least} if most is None else {"min": least, "max": most}
    world.put(a_custom_object(KIND, "quota", namespace=namespace, spec=spec))


def put_pods(world: World, namespace: str, *names: str, gpus: int = 1, **options: Any) -> None:
    for name in names:
        world.put(a_pod(name, namespace=namespace, requests={GPU: gpus}, **options))


def placed(world: World, namespace: str) -> list[str]:
    return sorted(pod.name for pod in world.pods() if pod.namespace == namespace and pod.spec.node_name)


def notes(world: World, pod: str) -> list[str]:
    return [event.note for event in world.events if event.regarding.name == pod and event.reason == "FailedScheduling"]


def test_what_a_namespace_does_not_use_is_borrowed_and_taken_back() -> None:
    # scheduler-plugins 683: all is used, and the owner of a part of it comes back
    async def story(world: World, scheduler: Any) -> None:
        put_quota(world, "a", {GPU: 4}, {GPU: 5})
        put_quota(world, "b", {GPU: 1}, {GPU: 5})
        world.put(a_node("n1", allocatable={GPU: "5"}))
        put_pods(world, "a", "a1", "a2", "a3", "a4", "a5")
        await asyncio.sleep(5)
        assert len(placed(world, "a")) == 5, "a borrows what b does not use"
        put_pods(world, "b", "b1")
        await asyncio.sleep(20)
        assert placed(world, "b") == ["b1"]
        assert len(placed(world, "a")) == 4

    assert len(lived(story).evicted) == 1


def test_nobody_takes_more_than_max_even_if_there_is_room() -> None:
    async def story(world: World, scheduler: Any) -> None:
        put_quota(world, "a", {GPU: 1}, {GPU: 2})
        put_quota(world, "b", {GPU: 5})
        world.put(a_node("n1", allocatable={GPU: "8"}))
        put_pods(world, "a", "a1", "a2", "a3")
        await asyncio.sleep(5)
        assert placed(world, "a") == ["a1", "a2"]

    world = lived(story)
    assert not world.evicted
    assert "Pod a/a3 is rejected in PreFilter because ElasticQuota a is more than Max" in notes(world, "a3")[0]


def test_together_nobody_takes_more_than_all_are_sure_of() -> None:
    async def story(world: World, scheduler: Any) -> None:
        put_quota(world, "a", {GPU: 2})
        put_quota(world, "b", {GPU: 1})
        world.put(a_node("n1", allocatable={GPU: "8"}))
        put_pods(world, "a", "a1", "a2", "a3", "a4")
        await asyncio.sleep(5)
        assert len(placed(world, "a")) == 3

    world = lived(story)
    assert "Pod a/a4 is rejected in PreFilter because total ElasticQuota used is more than min" in notes(world, "a4")[0]


def test_who_borrows_evicts_only_less_important_pods_of_the_same_namespace() -> None:
    async def story(world: World, scheduler: Any) -> None:
        put_quota(world, "a", {GPU: 1})
        put_quota(world, "b", {GPU: 2})
        world.put(a_node("n1", allocatable={GPU: "3"}))
        put_pods(world, "b", "b1", "b2")
        put_pods(world, "a", "a1", priority=1)
        await asyncio.sleep(5)
        put_pods(world, "a", "a2", priority=5)
        await asyncio.sleep(20)
        assert placed(world, "a") == ["a2"]
        assert placed(world, "b") == ["b1", "b2"]

    assert lived(story).evicted == ["a1"]


def test_what_is_guaranteed_is_not_taken_whatever_the_priority() -> None:
    async def story(world: World, scheduler: Any) -> None:
        put_quota(world, "a", {GPU: 1})
        put_quota(world, "b", {GPU: 2})
        world.put(a_node("n1", allocatable={GPU: "2"}))
        put_pods(world, "b", "b1", "b2")
        await asyncio.sleep(5)
        put_pods(world, "a", "a1", priority=1000)
        await asyncio.sleep(20)
        assert placed(world, "b") == ["b1", "b2"]

    assert not lived(story).evicted


def test_no_more_is_taken_back_than_was_borrowed() -> None:
    async def story(world: World, scheduler: Any) -> None:
        put_quota(world, "a", {GPU: 3})
        put_quota(world, "b", {GPU: 3})
        world.put(a_node("n1", allocatable={GPU: "6"}))
        put_pods(world, "a", *(f"a{number}" for number in range(6)))
        await asyncio.sleep(5)
        assert len(placed(world, "a")) == 6
        put_pods(world, "b", *(f"b{number}" for number in range(5)))
        await asyncio.sleep(60)
        assert (len(placed(world, "a")), len(placed(world, "b"))) == (3, 3)

    assert len(lived(story).evicted) == 3


def test_victims_that_take_their_time_are_waited_for() -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.grace_seconds = 8
        put_quota(world, "a", {GPU: 1})
        put_quota(world, "b", {GPU: 1})
        world.put(a_node("n1", allocatable={GPU: "2"}))
        put_pods(world, "a", "a1", "a2")
        await asyncio.sleep(5)
        put_pods(world, "b", "b1")
        await asyncio.sleep(40)
        assert placed(world, "b") == ["b1"]
        assert len(placed(world, "a")) == 1

    assert len(lived(story).evicted) == 1


def test_a_quota_that_grows_helps_pods_that_waited_for_it() -> None:
    async def story(world: World, scheduler: Any) -> None:
        put_quota(world, "a", {GPU: 2}, {GPU: 1})
        world.put(a_node("n1", allocatable={GPU: "2"}))
        put_pods(world, "a", "a1", "a2")
        await asyncio.sleep(5)
        assert len(placed(world, "a")) == 1
        put_quota(world, "a", {GPU: 2}, {GPU: 2})
        await asyncio.sleep(10)
        assert placed(world, "a") == ["a1", "a2"]

    lived(story)


def test_resources_that_no_quota_names_are_not_shared() -> None:
    async def story(world: World, scheduler: Any) -> None:
        put_quota(world, "a", {GPU: 1})
        world.put(a_node("n1", cpu="4", allocatable={GPU: "2"}))
        put_pods(world, "a", "a1", cpu="1")
        await asyncio.sleep(5)
        assert placed(world, "a") == ["a1"]

    lived(story)


def test_pods_without_a_quota_are_preempted_by_priority_and_never_for_those_with_one() -> None:
    async def story(world: World, scheduler: Any) -> None:
        put_quota(world, "a", {GPU: 1})
        world.put(a_node("n1", allocatable={GPU: "1"}))
        put_pods(world, "free", "low", priority=1)
        await asyncio.sleep(5)
        put_pods(world, "a", "a1", priority=1000)
        await asyncio.sleep(20)
        assert placed(world, "free") == ["low"]
        world.delete("Pod", "a/a1")
        put_pods(world, "free", "high", priority=10)
        await asyncio.sleep(20)
        assert placed(world, "free") == ["high"]

    assert lived(story).evicted == ["low"]


def test_a_pod_that_never_preempts_says_so() -> None:
    async def story(world: World, scheduler: Any) -> None:
        put_quota(world, "a", {GPU: 1})
        put_quota(world, "b", {GPU: 1})
        world.put(a_node("n1", allocatable={GPU: "2"}))
        put_pods(world, "a", "a1", "a2")
        await asyncio.sleep(5)
        put_pods(world, "b", "b1", preemption_policy="Never")
        await asyncio.sleep(5)

    world = lived(story)
    assert not world.evicted
    assert "preemption: not eligible due to preemptionPolicy=Never." in notes(world, "b1")[0]


@pytest.mark.parametrize("field", ["min", "max"])
def test_a_quota_with_nonsense_in_it_is_named_in_the_pods_message(field: str) -> None:
    async def story(world: World, scheduler: Any) -> None:
        world.put(a_custom_object(KIND, "quota", namespace="a", spec={field: {"cpu": "lots"}}))
        world.put(a_node("n1", allocatable={GPU: "2"}))
        put_pods(world, "a", "a1")
        await asyncio.sleep(5)

    assert f"ElasticQuota a/quota: spec.{field}: cpu: " in notes(lived(story), "a1")[0]


def test_the_example_takes_back_what_was_borrowed() -> None:
    nodes = run_example("capacity-scheduling", "CapacityScheduling")
    assert sum(bool(node) for name, node in nodes.items() if name.startswith("research-")) == 4
    assert sum(bool(node) for name, node in nodes.items() if name.startswith("serving-")) == 2
