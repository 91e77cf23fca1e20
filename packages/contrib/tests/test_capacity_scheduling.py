"""CapacityScheduling: quotas that are borrowed and taken back, in virtual time."""

from collections.abc import Iterator
from typing import Any

import pytest
from packages.contrib.tests.examples import run_example

from kubesched.testing import SchedulerFactory, VirtualScheduler, a_budget, a_custom_object, a_node, a_pod, check_plugin
from kubesched_contrib.capacity_scheduling import CapacityScheduling
from kubesched_contrib.capacity_scheduling.quotas import KIND
from kubesched_contrib.capacity_scheduling.status import quantity

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


@pytest.fixture
def world(scheduler: SchedulerFactory) -> Iterator[VirtualScheduler]:
    """Return a scheduler with quotas; hold in the end that nothing is lost or left over."""
    made = scheduler(CapacityScheduling, config=CONFIG)
    yield made
    made.run(30)
    made.assert_settled()


def put_quota(
    world: VirtualScheduler, namespace: str, least: dict[str, Any], most: dict[str, Any] | None = None
) -> None:
    spec = {"min": least} if most is None else {"min": least, "max": most}
    world.put(a_custom_object(KIND, "quota", namespace=namespace, spec=spec))


def put_pods(world: VirtualScheduler, namespace: str, *names: str, gpus: int = 1, **options: Any) -> None:
    for name in names:
        world.put(a_pod(name, namespace=namespace, requests={GPU: gpus}, **options))


def notes(world: VirtualScheduler, pod: str) -> list[str]:
    return [event.message for event in world.events_of(pod, pod[0]) if event.reason == "FailedScheduling"]


def test_what_a_namespace_does_not_use_is_borrowed_and_taken_back(world: VirtualScheduler) -> None:
    # scheduler-plugins 683: all is used, and the owner of a part of it comes back
    put_quota(world, "a", {GPU: 4}, {GPU: 5})
    put_quota(world, "b", {GPU: 1}, {GPU: 5})
    world.put(a_node("n1", allocatable={GPU: "5"}))
    put_pods(world, "a", "a1", "a2", "a3", "a4", "a5")
    world.run(5)
    assert len(world.bound_pods("a")) == 5, "a borrows what b does not use"
    put_pods(world, "b", "b1")
    world.run(20)
    assert world.bound_pods("b") == ["b1"]
    assert len(world.bound_pods("a")) == 4
    assert len(world.evicted) == 1


def test_nobody_takes_more_than_max_even_if_there_is_room(world: VirtualScheduler) -> None:
    put_quota(world, "a", {GPU: 1}, {GPU: 2})
    put_quota(world, "b", {GPU: 5})
    world.put(a_node("n1", allocatable={GPU: "8"}))
    put_pods(world, "a", "a1", "a2", "a3")
    world.run(5)
    assert world.bound_pods("a") == ["a1", "a2"]
    assert not world.evicted
    assert "Pod a/a3 is rejected in PreFilter because ElasticQuota a is more than Max" in notes(world, "a3")[0]


def test_together_nobody_takes_more_than_all_are_sure_of(world: VirtualScheduler) -> None:
    put_quota(world, "a", {GPU: 2})
    put_quota(world, "b", {GPU: 1})
    world.put(a_node("n1", allocatable={GPU: "8"}))
    put_pods(world, "a", "a1", "a2", "a3", "a4")
    world.run(5)
    assert len(world.bound_pods("a")) == 3
    assert "Pod a/a4 is rejected in PreFilter because total ElasticQuota used is more than min" in notes(world, "a4")[0]


def test_who_borrows_evicts_only_less_important_pods_of_the_same_namespace(world: VirtualScheduler) -> None:
    put_quota(world, "a", {GPU: 1})
    put_quota(world, "b", {GPU: 2})
    world.put(a_node("n1", allocatable={GPU: "3"}))
    put_pods(world, "b", "b1", "b2")
    put_pods(world, "a", "a1", priority=1)
    world.run(5)
    put_pods(world, "a", "a2", priority=5)
    world.run(20)
    assert world.bound_pods("a") == ["a2"]
    assert world.bound_pods("b") == ["b1", "b2"]
    assert world.evicted == ["a1"]


def test_what_is_guaranteed_is_not_taken_whatever_the_priority(world: VirtualScheduler) -> None:
    put_quota(world, "a", {GPU: 1})
    put_quota(world, "b", {GPU: 2})
    world.put(a_node("n1", allocatable={GPU: "2"}))
    put_pods(world, "b", "b1", "b2")
    world.run(5)
    put_pods(world, "a", "a1", priority=1000)
    world.run(20)
    assert world.bound_pods("b") == ["b1", "b2"]
    assert not world.evicted


def test_no_more_is_taken_back_than_was_borrowed(world: VirtualScheduler) -> None:
    put_quota(world, "a", {GPU: 3})
    put_quota(world, "b", {GPU: 3})
    world.put(a_node("n1", allocatable={GPU: "6"}))
    put_pods(world, "a", *(f"a{number}" for number in range(6)))
    world.run(5)
    assert len(world.bound_pods("a")) == 6
    put_pods(world, "b", *(f"b{number}" for number in range(5)))
    world.run(60)
    assert (len(world.bound_pods("a")), len(world.bound_pods("b"))) == (3, 3)
    assert len(world.evicted) == 3


def test_victims_that_take_their_time_are_waited_for(world: VirtualScheduler) -> None:
    world.grace_seconds = 8
    put_quota(world, "a", {GPU: 1})
    put_quota(world, "b", {GPU: 1})
    world.put(a_node("n1", allocatable={GPU: "2"}))
    put_pods(world, "a", "a1", "a2")
    world.run(5)
    put_pods(world, "b", "b1")
    world.run(40)
    assert world.bound_pods("b") == ["b1"]
    assert len(world.bound_pods("a")) == 1
    assert len(world.evicted) == 1


def test_a_quota_that_grows_helps_pods_that_waited_for_it(world: VirtualScheduler) -> None:
    put_quota(world, "a", {GPU: 2}, {GPU: 1})
    world.put(a_node("n1", allocatable={GPU: "2"}))
    put_pods(world, "a", "a1", "a2")
    world.run(5)
    assert len(world.bound_pods("a")) == 1
    put_quota(world, "a", {GPU: 2}, {GPU: 2})
    world.run(10)
    assert world.bound_pods("a") == ["a1", "a2"]


def test_resources_that_no_quota_names_are_not_shared(world: VirtualScheduler) -> None:
    put_quota(world, "a", {GPU: 1})
    world.put(a_node("n1", cpu="4", allocatable={GPU: "2"}))
    put_pods(world, "a", "a1", cpu="1")
    world.run(5)
    assert world.bound_pods("a") == ["a1"]


def test_pods_without_a_quota_are_preempted_by_priority_and_never_for_those_with_one(world: VirtualScheduler) -> None:
    put_quota(world, "a", {GPU: 1})
    world.put(a_node("n1", allocatable={GPU: "1"}))
    put_pods(world, "free", "low", priority=1)
    world.run(5)
    put_pods(world, "a", "a1", priority=1000)
    world.run(20)
    assert world.bound_pods("free") == ["low"]
    world.delete("Pod", "a/a1")
    put_pods(world, "free", "high", priority=10)
    world.run(20)
    assert world.bound_pods("free") == ["high"]
    assert world.evicted == ["low"]


def test_a_pod_that_never_preempts_says_so(world: VirtualScheduler) -> None:
    put_quota(world, "a", {GPU: 1})
    put_quota(world, "b", {GPU: 1})
    world.put(a_node("n1", allocatable={GPU: "2"}))
    put_pods(world, "a", "a1", "a2")
    world.run(5)
    put_pods(world, "b", "b1", preemption_policy="Never")
    world.run(5)
    assert not world.evicted
    assert "preemption: not eligible due to preemptionPolicy=Never." in notes(world, "b1")[0]


@pytest.mark.parametrize("field", ["min", "max"])
def test_a_quota_with_nonsense_in_it_is_named_in_the_pods_message(world: VirtualScheduler, field: str) -> None:
    world.put(a_custom_object(KIND, "quota", namespace="a", spec={field: {"cpu": "lots"}}))
    world.put(a_node("n1", allocatable={GPU: "2"}))
    put_pods(world, "a", "a1")
    world.run(5)
    assert f"ElasticQuota a/quota: spec.{field}: cpu: " in notes(world, "a1")[0]


def test_the_example_takes_back_what_was_borrowed() -> None:
    nodes = run_example("capacity-scheduling")
    assert sum(bool(node) for name, node in nodes.items() if name.startswith("research-")) == 4
    assert sum(bool(node) for name, node in nodes.items() if name.startswith("serving-")) == 2


def test_a_disruption_budget_is_violated_only_if_nothing_else_helps(world: VirtualScheduler) -> None:
    world.put(a_budget("kept", "app=kept", namespace="a", allowed=0))
    put_quota(world, "a", {GPU: 1})
    put_quota(world, "b", {GPU: 2})
    world.put(a_node("n1", allocatable={GPU: "3"}))
    # without the budget the less important one would go
    put_pods(world, "a", "kept", labels={"app": "kept"})
    put_pods(world, "a", "a1", "a2", priority=5)
    world.run(5)
    put_pods(world, "b", "b1")
    world.run(30)
    assert world.evicted in (["a1"], ["a2"])
    assert "kept" in world.bound_pods("a")
    put_pods(world, "b", "b2")
    world.run(30)
    assert sorted(world.evicted) == ["a1", "a2"]


def test_it_keeps_to_the_contract() -> None:
    quotas = [a_custom_object(KIND, "quota", namespace="default", spec={"min": {"cpu": "4"}, "max": {"cpu": "8"}})]
    report = check_plugin(CapacityScheduling, objects=quotas, examples=10, speed=False)
    assert report, str(report)


# -- status


def used(world: VirtualScheduler, namespace: str) -> Any:
    quota: Any = world.objects[KIND, f"{namespace}/quota"]
    return (quota.status or {}).get("used")


def test_the_status_says_what_pods_on_nodes_take(world: VirtualScheduler) -> None:
    world.put(a_node("n1", cpu="8", memory="32Gi", allocatable={GPU: "4"}))
    put_quota(world, "a", {GPU: 2, "cpu": "4"}, {"memory": "8Gi"})
    world.run(5)
    assert used(world, "a") == {GPU: "0", "cpu": "0", "memory": "0"}
    put_pods(world, "a", "a1", cpu="1500m", memory="3Gi")
    put_pods(world, "a", "waits", gpus=9)
    world.run(5)
    assert used(world, "a") == {GPU: "1", "cpu": "1500m", "memory": "3Gi"}
    world.delete("Pod", "a/a1")
    world.run(5)
    assert used(world, "a") == {GPU: "0", "cpu": "0", "memory": "0"}


def test_a_resource_that_nobody_takes_any_more_leaves_the_status(world: VirtualScheduler) -> None:
    world.put(a_node("n1", cpu="8", allocatable={GPU: "4"}))
    put_quota(world, "a", {"cpu": "4"})
    put_pods(world, "a", "a1")
    world.run(5)
    assert used(world, "a") == {GPU: "1", "cpu": "0"}
    world.delete("Pod", "a/a1")
    world.run(5)
    assert used(world, "a") == {"cpu": "0"}


def test_a_status_that_is_right_is_not_written_and_wakes_nobody(world: VirtualScheduler) -> None:
    world.put(a_node("n1", allocatable={GPU: "4"}))
    put_quota(world, "a", {GPU: 1}, {GPU: 1})
    put_pods(world, "a", "a1", "a2")
    world.run(200)
    patches = [effect for effect in world.performed if getattr(effect, "kind", "") == KIND]
    assert len(patches) <= 2
    assert len(notes(world, "a2")) == 1, "a status helps no pod"


@pytest.mark.parametrize(
    ("resource", "amount", "text"),
    [
        ("cpu", 250, "250m"),
        ("cpu", 2000, "2"),
        ("memory", 2**31, "2Gi"),
        ("memory", 3 * 2**20, "3Mi"),
        ("memory", 1000, "1000"),
        ("memory", 0, "0"),
        (GPU, 2048, "2048"),
    ],
)
def test_amounts_are_written_as_quantities(resource: str, amount: int, text: str) -> None:
    assert quantity(resource, amount) == text
